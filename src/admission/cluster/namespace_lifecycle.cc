#include "admission/cluster/namespace_lifecycle.h"

#include <fmt/format.h>

#include "admission/rules/refusal.h"
#include "api/views/meta.h"

namespace muster::admission {

Status check_namespace(const Context& context) {
  if (context.operation != Operation::kCreate || !context.resource->namespaced) return {};
  const std::string_view found = context.view->find("", "namespaces", "", context.ns);
  if (found.empty())
    return std::unexpected(Error{.code = Code::kNotFound,
                                 .message = fmt::format("namespaces \"{}\" not found", context.ns),
                                 .name = std::string(context.ns),
                                 .kind = "namespaces"});
  if (!api::decode_meta(found).deletion_time) return {};
  Error error = refusal(context, fmt::format("unable to create new content in namespace {} because "
                                             "it is being terminated",
                                             context.ns));
  error.causes.push_back({.reason = "NamespaceTerminating",
                          .message = fmt::format("namespace {} is being terminated", context.ns),
                          .field = "metadata.namespace"});
  return std::unexpected(std::move(error));
}

}  // namespace muster::admission
