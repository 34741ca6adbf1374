#include "admission/rules/checks.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace muster::admission {

bool require_text(Value object, std::string_view key, const Path& path, FieldErrors& errors,
                  std::string_view detail) {
  if (!text_of(object, key).empty()) return true;
  errors.required(path.child(key), detail);
  return false;
}

void validate_not_negative(Value object, std::string_view key, const Path& path,
                           FieldErrors& errors) {
  if (int_of(object, key) < 0) errors.invalid(path.child(key), object.get(key), kNotNegative);
}

void validate_range(Value object, std::string_view key, std::int64_t least, std::int64_t most,
                    const Path& path, FieldErrors& errors) {
  const std::int64_t number = int_of(object, key, least);
  if (number < least || number > most)
    errors.invalid(path.child(key), object.get(key),
                   fmt::format("must be between {} and {}, inclusive", least, most));
}

void validate_choice(Value object, std::string_view key,
                     std::initializer_list<std::string_view> choices, const Path& path,
                     FieldErrors& errors) {
  const Value value = object.get(key);
  if (value.is_null() || std::ranges::find(choices, value.as_string()) != choices.end()) return;
  errors.not_supported(path.child(key), value.as_string(), {choices.begin(), choices.size()});
}

void require_choice(Value object, std::string_view key,
                    std::initializer_list<std::string_view> choices, const Path& path,
                    FieldErrors& errors) {
  if (require_text(object, key, path, errors)) validate_choice(object, key, choices, path, errors);
}

void require_unchanged(Value object, Value old, std::string_view key, const Path& path,
                       FieldErrors& errors) {
  if (!json::equal(object.get(key), old.get(key)))
    errors.invalid(path.child(key), object.get(key), kImmutable);
}

void validate_port(Value port, const Path& path, FieldErrors& errors) {
  if (port.is_string())
    add_faults(errors, path, port.as_string(), api::check_port_name(port.as_string()));
  else if (port.as_int() < 1 || port.as_int() > 65535)
    errors.invalid(path, port.is_null() ? Value::of(0) : port,
                   "must be between 1 and 65535, inclusive");
}

void validate_domain_prefixed_path(std::string_view text, const Path& path, FieldErrors& errors) {
  if (text.empty()) return errors.required(path);
  const auto slash = text.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == text.size())
    return errors.invalid(path, text, "must be a domain-prefixed path (such as \"acme.io/foo\")");
  const std::string_view host = text.substr(0, slash);
  const std::string_view rest = text.substr(slash + 1);
  add_faults(errors, path, host, api::check_dns1123_subdomain(host));
  constexpr std::string_view kPathLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/-._~%!$&'()*+,;=:";
  if (rest.find_first_not_of(kPathLetters) != std::string_view::npos)
    errors.invalid(
        path, rest,
        R"(Invalid path (regex used for validation is '[A-Za-z0-9/\-._~%!$&'()*+,;=:]+'))");
}

bool is_ipv4(std::string_view text) {
  in_addr address;
  return inet_pton(AF_INET, std::string(text).c_str(), &address) == 1;
}

bool is_ip(std::string_view text) {
  in6_addr address;
  return is_ipv4(text) || inet_pton(AF_INET6, std::string(text).c_str(), &address) == 1;
}

}  // namespace muster::admission
