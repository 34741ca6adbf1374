// What the text of every stored object must be, besides unharmed: what serves it relies on that.
#pragma once

#include <string>

#include "store/durability.h"

namespace muster::store {

// The fault in words, with the name of the record; empty if the text is a JSON object whose
// metadata bears a resourceVersion and the record's name and namespace. A checksum cannot tell: it
// fits whatever was written. Any thread.
std::string fault_in_text(const Record& record);

// "revision 7 (pods default/a)"; printable whatever the record holds.
std::string name_of(const Record& record);

}  // namespace muster::store
