// The rules of metadata that all kinds share (spec: apimachinery 3.2, 3.3, 6.1).
#pragma once

#include "admission/kind.h"
#include "api/values/names.h"

namespace muster::admission {

// Of the same owner more than once, only the first reference stays; a warning says so.
void drop_repeated_owners(const Context& context, Value object);

// What a client cannot change is put back: creation and deletion times, generation, an empty uid.
void restore_metadata(Value object, Value old);

// Names, namespace, labels, annotations, owners, finalizers.
void validate_metadata(const Context& context, const Kind& kind, Value object, FieldErrors& errors);

// Of built-in kinds besides: a finalizer has a domain or is one of the well-known ones.
void validate_finalizer_domains(Value object, FieldErrors& errors);

// What may not change, and what may not be added while the object is being deleted.
void validate_metadata_update(Value object, Value old, FieldErrors& errors);

// The faults of a name or of a prefix of names (generateName).
api::Faults check_name(NameRule rule, std::string_view name, bool prefix);

}  // namespace muster::admission
