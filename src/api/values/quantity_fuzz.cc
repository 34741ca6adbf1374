// Whatever parses must print as text that parses to the same amount and prints the same again.
#include "api/values/quantity.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using muster::api::Quantity;
  const auto quantity = Quantity::parse({reinterpret_cast<const char*>(data), size});
  if (!quantity) return 0;
  const auto again = Quantity::parse(quantity->text());
  MUSTER_ASSERT(again && *again == *quantity, "the text of a quantity is that quantity");
  MUSTER_ASSERT(again->text() == quantity->text(), "the text of a quantity is canonical");
  Quantity rounded = quantity->rounded_up_to_milli();
  MUSTER_ASSERT(quantity->is_negative() ? rounded <= *quantity : rounded >= *quantity,
                "rounds away from zero");
  rounded -= rounded;
  MUSTER_ASSERT(rounded.is_zero(), "nothing is left");
  return 0;
}
