#include "json/sort_keys.h"

#include <algorithm>

namespace muster::json {

void sort_all_keys(Value value) {
  for (const Value item : value.items()) sort_all_keys(item);
  for (const Member& member : value.members()) sort_all_keys(member.value);
  if (!std::ranges::is_sorted(value.members(), {}, &Member::key)) value.sort_keys();
}

}  // namespace muster::json
