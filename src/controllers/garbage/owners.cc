#include "controllers/garbage/owners.h"

namespace muster::controllers::garbage {

Answer Owners::answer(const Place& place) {
  if (absent_.find(place) != nullptr) return Answer::kAbsent;
  const Time* const said = present_.find(place);
  if (said == nullptr || *said + kYesHolds <= client_.loop().clock().now())
    return Answer::kNotAsked;
  return Answer::kPresent;
}

void Owners::ask(const Place& place, const client::QueueKey& who) {
  const auto [at, is_new] = askers_.try_emplace(place);
  at->second.insert(who);
  if (!is_new) return;
  waiting_.push_back(place);
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
  Duration delay{};
  if (answer && api::decode_meta(*answer).uid == place.uid) {
    present_.at(place) = client_.loop().clock().now();
  } else if (answer || answer.error().code == Code::kNotFound) {
    absent_.at(place) = true;
  } else {
    delay = kRetry;
  }
  const auto askers = askers_.extract(place);
  for (const client::QueueKey& key : askers.mapped()) wake_(key, delay);
}

}  // namespace muster::controllers::garbage
