#include "controllers/garbage/owners.h"

namespace muster::controllers::garbage {

Answer Owners::remembered(const Place& place) {
  if (absent_.find(place) != nullptr) return Answer::kAbsent;
  const Duration* const said = present_.find(place);
  if (said == nullptr || *said + kYesHolds <= client_.loop().monotonic()) return Answer::kNotAsked;
  return Answer::kPresent;
}

std::span<const Answer> Owners::found(const client::QueueKey& key, const Item& item) {
  const auto at = inquiries_.find(key);
  if (at == inquiries_.end()) return {};
  Inquiry& inquiry = at->second;
  if (!same_references(inquiry.object->meta(), item.meta())) {
    inquiries_.erase(at);
    return {};
  }
  inquiry.object = item.object;
  return inquiry.answers;
}

void Owners::ask(const client::QueueKey& key, const Item& item,
                 const std::vector<Question>& questions) {
  Inquiry& inquiry = inquiries_[key];
  if (!inquiry.object) {
    inquiry = {.serial = ++last_inquiry_,
               .object = item.object,
               .answers = std::vector<Answer>(item.meta().owners.size(), Answer::kNotAsked)};
  }
  for (const auto& [reference, place] : questions) {
    if (const Answer known = remembered(place); known != Answer::kNotAsked) {
      inquiry.answers[reference] = known;
      continue;
    }
    const auto [at, is_new] = askers_.try_emplace(place);
    if (at->second.insert({key, inquiry.serial, reference}).second) ++inquiry.open;
    if (is_new) waiting_.push_back(place);
  }
  if (inquiry.open == 0) return wake_(key, Duration::zero());
  pump();
}

void Owners::pump() {
  while (under_way_ < kMaxUnderWay && !waiting_.empty()) {
    const Place place = std::move(waiting_.front());
    waiting_.pop_front();
    ++under_way_;
    client_.get(*place.resource, place.ns, place.name,
                [this, place, alive = alive_](const Result<std::string>& answer) {
                  if (!*alive) return;
                  --under_way_;
                  took_answer(place, answer);
                  pump();
                });
  }
}

void Owners::took_answer(const Place& place, const Result<std::string>& answer) {
  Answer said = Answer::kNotAsked;
  if (answer && api::decode_meta(*answer).uid == place.uid) {
    present_.at(place) = client_.loop().monotonic();
    said = Answer::kPresent;
  } else if (answer || answer.error().code == Code::kNotFound) {
    absent_.at(place) = true;
    said = Answer::kAbsent;
  }
  const auto askers = askers_.extract(place);
  for (const Asker& asker : askers.mapped()) tell(asker, said);
}

void Owners::tell(const Asker& asker, Answer answer) {
  const auto at = inquiries_.find(asker.key);
  const bool current = at != inquiries_.end() && at->second.serial == asker.inquiry;
  if (current) {
    at->second.answers[asker.reference] = answer;
    --at->second.open;
  }
  if (answer == Answer::kNotAsked) return wake_(asker.key, kRetry);
  if (!current || at->second.open == 0) wake_(asker.key, Duration::zero());
}

}  // namespace muster::controllers::garbage
