#include "server/media_type.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <vector>

#include "base/ascii.h"

namespace muster::server {
namespace {

constexpr std::string_view kTypes =
    "application/json, application/yaml, application/vnd.kubernetes.protobuf";
constexpr std::string_view kStreamTypes =
    ", application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";
// A header with more alternatives than this is not read further.
constexpr std::size_t kMaxClauses = 32;

struct Clause {
  std::string type;
  double quality = 1;
  std::string as, group, version;
};

std::string_view trim(std::string_view text) {
  const std::size_t from = text.find_first_not_of(" \t");
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(" \t") - from + 1);
}

std::string_view next_part(std::string_view& text, char separator) {
  const std::size_t at = text.find(separator);
  const std::string_view part = trim(text.substr(0, at));
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return part;
}

Clause parse_clause(std::string_view text) {
  Clause clause{.type = media_type(text)};
  next_part(text, ';');
  while (!text.empty()) {
    std::string_view parameter = next_part(text, ';');
    const std::string_view name = next_part(parameter, '=');
    const std::string value(trim(parameter));
    if (name == "q") clause.quality = std::strtod(value.c_str(), nullptr);
    if (name == "as") clause.as = value;
    if (name == "g") clause.group = value;
    if (name == "v") clause.version = value;
  }
  return clause;
}

std::vector<Clause> parse_accept(std::string_view accept) {
  std::vector<Clause> clauses;
  while (!accept.empty() && clauses.size() < kMaxClauses) {
    const std::string_view part = next_part(accept, ',');
    if (!part.empty()) clauses.push_back(parse_clause(part));
  }
  std::ranges::stable_sort(clauses, std::greater<>(), &Clause::quality);
  return clauses;
}

std::optional<Encoding> encoding_of(std::string_view type, bool custom) {
  if (type == "*/*" || type == "application/*" || type == "application/json")
    return Encoding::kJson;
  if (type == "application/yaml") return Encoding::kYaml;
  if (type == "application/vnd.kubernetes.protobuf" && !custom) return Encoding::kProtobuf;
  return std::nullopt;
}

// What a clause's as= asks for; nothing if it cannot be given.
std::optional<Shape> shape_of(const Clause& clause, const AcceptRules& rules) {
  if (clause.as.empty()) return Shape::kObject;
  if (!rules.reshape || clause.group != "meta.k8s.io") return std::nullopt;
  const bool known_version = clause.version == "v1" || clause.version == "v1beta1";
  if (clause.as == "Table" && known_version) return Shape::kTable;
  if ((clause.as == "PartialObjectMetadata" || clause.as == "PartialObjectMetadataList") &&
      known_version) {
    return Shape::kPartial;
  }
  return std::nullopt;
}

Error none_of(std::string_view types) {
  return {.code = Code::kNotAcceptable,
          .message = fmt::format("406: Not Acceptable\n\nAvailable representations: {}", types)};
}

Error not_acceptable(bool known_type, const AcceptRules& rules) {
  if (known_type) {
    return {.code = Code::kNotAcceptable,
            .message = fmt::format("only the following media types are accepted: {}", kTypes)};
  }
  return none_of(fmt::format("{}{}", kTypes, rules.watchable ? kStreamTypes : std::string_view()));
}

}  // namespace

Status check_accept(std::string_view accept, std::initializer_list<std::string_view> types) {
  const std::vector<Clause> clauses = parse_accept(accept);
  const bool fits = clauses.empty() || std::ranges::any_of(clauses, [&](const Clause& clause) {
                      return clause.type == "*/*" || clause.type == "application/*" ||
                             std::ranges::find(types, clause.type) != types.end();
                    });
  if (fits) return {};
  return std::unexpected(none_of(fmt::format("{}", fmt::join(types, ", "))));
}

Result<Accepted> negotiate(std::string_view accept, const AcceptRules& rules) {
  const std::vector<Clause> clauses = parse_accept(accept);
  if (clauses.empty()) return Accepted{};
  bool known_type = false;
  for (const Clause& clause : clauses) {
    known_type |= encoding_of(clause.type, false).has_value();
    const std::optional<Encoding> encoding = encoding_of(clause.type, rules.custom);
    const std::optional<Shape> shape = shape_of(clause, rules);
    if (!encoding || !shape) continue;
    return Accepted{*encoding, *shape, clause.as.empty() ? "v1" : clause.version};
  }
  return std::unexpected(not_acceptable(known_type, rules));
}

std::string media_type(std::string_view content_type) {
  return lower_case(trim(content_type.substr(0, content_type.find(';'))));
}

Result<Encoding> body_encoding(std::string_view content_type, bool custom) {
  const std::string type = media_type(content_type);
  if (type.empty()) return Encoding::kJson;
  const std::optional<Encoding> encoding = encoding_of(type, custom);
  if (encoding && type.find('*') == std::string::npos) return *encoding;
  return fail(
      Code::kUnsupportedMediaType,
      fmt::format(
          "the body of the request was in an unknown format - accepted media types include: {}",
          kTypes));
}

}  // namespace muster::server
