#include "agent/inputs/environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "agent/inputs/downward.h"
#include "agent/inputs/expand.h"
#include "agent/inputs/limits.h"
#include "base/base64.h"
#include "base/utf8.h"

namespace muster::agent {
namespace {

using json::Value;

// Counts what execve would have to take, while it is made. What is replaced later counts, too: the
// work of making it is bounded as well.
class ExecRoom {
 public:
  // `describe` names the word, for the message.
  template <class Describe>
  Status take(std::size_t bytes, const Describe& describe) {
    if (bytes > kMostWord) return too_long(describe());
    left_ -= std::min(left_, bytes + 1 + sizeof(char*));
    if (left_ > 0) return {};
    return fail(Code::kTooLarge,
                fmt::format("arguments and environment have more than {} bytes, the most that a "
                            "program can be given",
                            kMostWords));
  }

  static std::unexpected<Error> too_long(const std::string& what) {
    return fail(Code::kTooLarge,
                fmt::format("{} has more than {} bytes, the most that a program can be given", what,
                            kMostWord));
  }

 private:
  std::size_t left_ = kMostWords;
};

constexpr std::size_t kMostOfAName = 64;  // in messages

std::string variable_called(std::string_view name) {
  return fmt::format("environment variable {}", cut_utf8(name, kMostOfAName));
}

// Appends the words, filled in. `part` names them in messages.
Status add_words(std::vector<std::string>& argv, Value words, std::string_view part,
                 const Variables& variables, ExecRoom& room) {
  for (const Value word : words.items()) {
    const auto describe = [&, number = argv.size()] {
      return fmt::format("word {} of the command line ({})", number, part);
    };
    auto text = expand(word.as_string(), variables, kMostWord);
    if (!text) return ExecRoom::too_long(describe());
    MUSTER_CHECK(room.take(text->size(), describe));
    argv.push_back(*std::move(text));
  }
  return {};
}

// The pod's own variables, in the order in which they were first named.
class Builder {
 public:
  Builder(Value pod, Value container, const PodFacts& facts, const Objects& objects, ExecRoom& room)
      : pod_(pod),
        container_(container),
        ns_(pod.get({"metadata", "namespace"}).as_string()),
        facts_(facts),
        objects_(objects),
        room_(room) {}

  Status add_all() {
    for (const Value source : container_.get("envFrom").items()) MUSTER_CHECK(add_source(source));
    for (const Value entry : container_.get("env").items()) MUSTER_CHECK(add_entry(entry));
    return {};
  }

  const std::vector<std::string>& order() const { return order_; }
  Variables& variables() { return variables_; }

 private:
  Status set(std::string name, std::string value) {
    MUSTER_CHECK(room_.take(name.size() + 1 + value.size(), [&] { return variable_called(name); }));
    // The kernel would cut it there, and the program would see half a key.
    if (value.find('\0') != std::string::npos)
      return fail(Code::kInvalid,
                  fmt::format("{} can't contain null (\\x00)", variable_called(name)));
    if (!variables_.contains(name)) order_.push_back(name);
    variables_[std::move(name)] = std::move(value);
    return {};
  }

  Status add_source(Value source) {
    const std::string prefix(source.get("prefix").as_string());
    const Value map = source.get("configMapRef");
    const Value secret = source.get("secretRef");
    if (map.is_null() && secret.is_null()) return {};
    const Value reference = map.is_null() ? secret : map;
    MUSTER_TRY(const Value object, referenced(reference, !secret.is_null()));
    for (const auto& [key, value] : object.get("data").members()) {
      MUSTER_TRY(std::string text, text_of(value, !secret.is_null()));
      MUSTER_CHECK(set(prefix + std::string(key), std::move(text)));
    }
    return {};
  }

  Status add_entry(Value entry) {
    std::string name(entry.get("name").as_string());
    const std::string_view literal = entry.get("value").as_string();
    const Value from = entry.get("valueFrom");
    if (!literal.empty() || from.is_null()) {
      auto filled_in = expand(literal, variables_, kMostWord);
      if (!filled_in) return ExecRoom::too_long(variable_called(name));
      return set(std::move(name), *std::move(filled_in));
    }
    MUSTER_TRY(std::optional<std::string> value, value_from(from));
    return value ? set(std::move(name), *std::move(value)) : Status();
  }

  // Nothing if it is optional and not there.
  Result<std::optional<std::string>> value_from(Value from) {
    if (const Value field = from.get("fieldRef"); !field.is_null())
      return field_value(pod_, field.get("fieldPath").as_string(), facts_);
    if (const Value resource = from.get("resourceFieldRef"); !resource.is_null())
      return resource_value(pod_, container_, resource, facts_);
    if (const Value key = from.get("configMapKeyRef"); !key.is_null()) return key_of(key, false);
    if (const Value key = from.get("secretKeyRef"); !key.is_null()) return key_of(key, true);
    return fail(Code::kInvalid, fmt::format("unknown source of a variable: {}",
                                            from.empty() ? "" : from.members()[0].key));
  }

  Result<std::optional<std::string>> key_of(Value reference, bool is_secret) {
    MUSTER_TRY(const Value object, referenced(reference, is_secret));
    const std::string_view key = reference.get("key").as_string();
    const Value value = object.get("data").get(key);
    if (!value.is_null()) return text_of(value, is_secret);
    if (reference.get("optional").as_bool()) return std::nullopt;
    return fail(Code::kNotFound, fmt::format("couldn't find key {} in {} {}/{}", key,
                                             is_secret ? "Secret" : "ConfigMap", ns_,
                                             reference.get("name").as_string()));
  }

  // Null if it is optional and not there.
  Result<Value> referenced(Value reference, bool is_secret) {
    const std::string_view name = reference.get("name").as_string();
    const Value object = is_secret ? objects_.secret(ns_, name) : objects_.config_map(ns_, name);
    if (!object.is_null() || reference.get("optional").as_bool()) return object;
    return fail(Code::kNotFound,
                fmt::format("{} \"{}\" not found", is_secret ? "secret" : "configmap", name));
  }

  static Result<std::string> text_of(Value value, bool is_base64) {
    if (!is_base64) return std::string(value.as_string());
    auto bytes = decode_base64(value.as_string());
    if (!bytes) return fail(Code::kInvalid, "secret data is not base64");
    return *std::move(bytes);
  }

  Value pod_;
  Value container_;
  std::string_view ns_;
  const PodFacts& facts_;
  const Objects& objects_;
  ExecRoom& room_;
  Variables variables_;
  std::vector<std::string> order_;
};

// What the node sets for every process; of two of the same name the later one counts.
void add_own(std::vector<std::string>& out, const PodFacts& facts, const Variables& pods) {
  std::vector<std::string_view> all(facts.inherited.begin(), facts.inherited.end());
  if (facts.image != nullptr) {
    const auto& image = facts.image->environment;
    all.insert(all.end(), image.begin(), image.end());
  }
  const std::string hostname = "HOSTNAME=" + facts.hostname;
  if (!facts.hostname.empty()) all.emplace_back(hostname);
  all.insert(all.end(), facts.devices.begin(), facts.devices.end());
  const auto name_of = [](std::string_view entry) { return entry.substr(0, entry.find('=')); };
  std::map<std::string_view, std::size_t> last;
  for (std::size_t i = 0; i < all.size(); ++i) last[name_of(all[i])] = i;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string_view name = name_of(all[i]);
    if (last[name] == i && !pods.contains(name)) out.emplace_back(all[i]);
  }
}

// What the image runs, as far as the container does not say it.
std::vector<std::string> image_words(Value container, const Image& image) {
  if (!container.get("command").empty() || image.argv.empty()) return {};
  if (container.get("args").empty()) return image.argv;
  return {image.argv.front()};
}

Result<std::vector<std::string>> words_of(Value container, const Variables& variables,
                                          const Image* image, ExecRoom& room) {
  std::vector<std::string> argv;
  if (image != nullptr) argv = image_words(container, *image);
  for (const std::string_view part : {"command", "args"})
    MUSTER_CHECK(add_words(argv, container.get(part), part, variables, room));
  const std::string_view name = container.get("name").as_string();
  for (const std::string& word : argv) {
    if (word.find('\0') != std::string::npos)
      return fail(Code::kInvalid,
                  fmt::format("container {}: an argument can't contain null (\\x00)", name));
  }
  if (!argv.empty()) return argv;
  return fail(Code::kInvalid,
              fmt::format("container {} has no command; {}", name,
                          image != nullptr
                              ? "its image names none either"
                              : "the process runtime runs this host's own programs and cannot take "
                                "one from an image"));
}

}  // namespace

Result<CommandLine> command_line(Value pod, Value container, const PodFacts& facts,
                                 const Objects& objects) {
  ExecRoom room;
  Builder builder(pod, container, facts, objects, room);
  MUSTER_CHECK(builder.add_all());
  CommandLine line;
  MUSTER_TRY(line.argv, words_of(container, builder.variables(), facts.image, room));
  add_own(line.environment, facts, builder.variables());
  for (const std::string& name : builder.order())
    line.environment.push_back(name + "=" + builder.variables()[name]);
  line.working_directory = container.get("workingDir").as_string();
  if (line.working_directory.empty() && facts.image != nullptr)
    line.working_directory = facts.image->working_directory;
  line.variables = std::move(builder.variables());
  return line;
}

Result<std::vector<std::string>> probe_command(Value container, Value command) {
  Variables literal;
  for (const Value entry : container.get("env").items())
    literal[std::string(entry.get("name").as_string())] = entry.get("value").as_string();
  std::vector<std::string> argv;
  ExecRoom room;
  MUSTER_CHECK(add_words(argv, command, "probe", literal, room));
  return argv;
}

}  // namespace muster::agent
