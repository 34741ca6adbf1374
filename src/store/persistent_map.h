// An ordered map whose versions share what they have in common.
//
// Copying a map is one reference count. Changing a copy leaves every other copy as it was: the
// nodes on the way to the change are copied, all others are shared. A node that no other version
// can reach is changed in place, so a hundred changes between two copies copy the top of the tree
// once, not a hundred times.
//
// A weight-balanced tree (Adams 1993, with the balance parameters 3 and 2 that Hirai and Yamamoto
// proved sound), because its weights also answer "how many keys lie before this one". Each value is
// one node of 24 bytes more than the value; the key is read from the value.
//
// Any number of threads may read and copy a map; to change it or to assign to it needs it
// exclusively.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace muster::store {

// KeyOf: a stateless function object, Value -> std::string_view that stays valid as long as the
// value.
template <class Value, class KeyOf>
class PersistentMap {
 public:
  std::size_t size() const { return size_of(root_); }

  // Null pointer if absent; valid until this map is changed or destroyed.
  const Value* find(std::string_view key) const {
    const Node* at = root_.get();
    while (at != nullptr) {
      const int order = key.compare(at->key);
      if (order == 0) return &at->value;
      at = (order < 0 ? at->left : at->right).get();
    }
    return nullptr;
  }

  // Inserts, or replaces the value that has the same key.
  void put(Value value) { put(root_, value); }

  bool erase(std::string_view key) {
    if (find(key) == nullptr) return false;  // or else the way there would be copied for nothing
    erase(root_, key);
    return true;
  }

  // The number of keys before `key`.
  std::size_t rank(std::string_view key) const {
    std::size_t before = 0;
    for (const Node* at = root_.get(); at != nullptr;) {
      if (key.compare(at->key) <= 0) {
        at = at->left.get();
      } else {
        before += size_of(at->left) + 1;
        at = at->right.get();
      }
    }
    return before;
  }

  // Calls visit(value) in the order of keys, beginning with the first that is not before `from`,
  // until it returns false.
  template <class Visit>
  void visit_from(std::string_view from, Visit&& visit) const {
    visit_from(root_.get(), from, visit);
  }

  // For tests: the order of the keys, the weights and the balance are as they must be.
  bool sound() const { return sound(root_.get()); }

 private:
  struct Node;

  // A counted reference to a node.
  class Ref {
   public:
    Ref() = default;
    explicit Ref(Node* fresh) : node_(fresh) {}
    Ref(const Ref& other) : node_(other.node_) {
      if (node_ != nullptr) node_->references.fetch_add(1, std::memory_order_relaxed);
    }
    Ref(Ref&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
    Ref& operator=(Ref other) noexcept {
      std::swap(node_, other.node_);
      return *this;
    }
    ~Ref() {
      if (node_ != nullptr && node_->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
        delete node_;
    }

    Node* get() const { return node_; }
    Node* operator->() const { return node_; }
    explicit operator bool() const { return node_ != nullptr; }

   private:
    Node* node_ = nullptr;
  };

  struct Node {
    explicit Node(Value v) : value(std::move(v)), key(KeyOf()(value)) {}
    Node(const Node& other)
        : size(other.size),
          left(other.left),
          right(other.right),
          value(other.value),
          key(other.key) {}

    void set(Value v) {
      value = std::move(v);
      key = KeyOf()(value);
    }

    std::atomic<std::uint32_t> references{1};
    std::uint32_t size = 1;
    Ref left;
    Ref right;
    Value value;
    std::string_view key;
  };

  static std::size_t size_of(const Ref& tree) { return tree ? tree->size : 0; }
  static std::size_t weight(const Ref& tree) { return size_of(tree) + 1; }

  // Makes the node that `at` refers to one that only `at` can reach. The owner of `at` must be
  // exclusive already. If the count is one, no other thread can raise it: it would need a reference
  // to copy.
  static Node& own(Ref& at) {
    if (at->references.load(std::memory_order_acquire) != 1) at = Ref(new Node(*at.get()));
    return *at.get();
  }

  static bool put(Ref& at, Value& value) {
    if (!at) {
      at = Ref(new Node(std::move(value)));
      return true;
    }
    Node& node = own(at);
    const int order = KeyOf()(value).compare(node.key);
    if (order == 0) {
      node.set(std::move(value));
      return false;
    }
    const bool grown = put(order < 0 ? node.left : node.right, value);
    if (grown) settle(at);
    return grown;
  }

  static void erase(Ref& at, std::string_view key) {
    Node& node = own(at);
    const int order = key.compare(node.key);
    if (order != 0) {
      erase(order < 0 ? node.left : node.right, key);
    } else if (!node.left || !node.right) {
      at = Ref(std::move(node.left ? node.left : node.right));
      return;
    } else {
      node.set(take_first(node.right));
    }
    settle(at);
  }

  static Value take_first(Ref& at) {
    Node& node = own(at);
    if (node.left) {
      Value first = take_first(node.left);
      settle(at);
      return first;
    }
    Value first = std::move(node.value);
    at = Ref(std::move(node.right));
    return first;
  }

  // After one insertion or removal below an owned node: its size, and the balance of its two sides.
  static void settle(Ref& at) {
    Node& node = *at.get();
    if (weight(node.right) > kDelta * weight(node.left)) {
      if (weight(node.right->left) >= kGamma * weight(node.right->right)) rotate_right(node.right);
      rotate_left(at);
    } else if (weight(node.left) > kDelta * weight(node.right)) {
      if (weight(node.left->right) >= kGamma * weight(node.left->left)) rotate_left(node.left);
      rotate_right(at);
    } else {
      recount(node);
    }
  }

  static void recount(Node& node) {
    node.size = static_cast<std::uint32_t>(1 + size_of(node.left) + size_of(node.right));
  }

  static void rotate_left(Ref& at) {
    Node& old_top = own(at);
    Node& new_top = own(old_top.right);
    Ref top = std::move(old_top.right);
    old_top.right = std::move(new_top.left);
    recount(old_top);
    new_top.left = std::move(at);
    recount(new_top);
    at = std::move(top);
  }

  static void rotate_right(Ref& at) {
    Node& old_top = own(at);
    Node& new_top = own(old_top.left);
    Ref top = std::move(old_top.left);
    old_top.left = std::move(new_top.right);
    recount(old_top);
    new_top.right = std::move(at);
    recount(new_top);
    at = std::move(top);
  }

  template <class Visit>
  static bool visit_from(const Node* at, std::string_view from, Visit& visit) {
    if (at == nullptr) return true;
    if (from.compare(at->key) > 0) return visit_from(at->right.get(), from, visit);
    return visit_from(at->left.get(), from, visit) && visit(at->value) &&
           visit_all(at->right.get(), visit);
  }

  template <class Visit>
  static bool visit_all(const Node* at, Visit& visit) {
    return at == nullptr || (visit_all(at->left.get(), visit) && visit(at->value) &&
                             visit_all(at->right.get(), visit));
  }

  static bool sound(const Node* at) {
    if (at == nullptr) return true;
    if (at->key.data() != KeyOf()(at->value).data()) return false;
    const Node* left = at->left.get();
    const Node* right = at->right.get();
    if (left != nullptr && left->key >= at->key) return false;
    if (right != nullptr && right->key <= at->key) return false;
    if (at->size != 1 + size_of(at->left) + size_of(at->right)) return false;
    if (weight(at->left) > kDelta * weight(at->right)) return false;
    if (weight(at->right) > kDelta * weight(at->left)) return false;
    return sound(left) && sound(right);
  }

  static constexpr std::size_t kDelta = 3;  // one side weighs at most so many times the other
  static constexpr std::size_t kGamma = 2;  // decides between one rotation and two

  Ref root_;
};

}  // namespace muster::store
