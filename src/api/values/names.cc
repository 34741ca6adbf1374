#include "api/values/names.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"

namespace muster::api {
namespace {

constexpr std::size_t kMaxLabel = 63;
constexpr std::size_t kMaxSubdomain = 253;
constexpr std::size_t kMaxPortName = 15;
constexpr int kMaxAnnotationsBytes = 256 * 1024;

constexpr std::string_view kLabelRegex = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
constexpr std::string_view kSubdomainRegex =
    R"([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)";
constexpr std::string_view kDns1035Regex = "[a-z]([-a-z0-9]*[a-z0-9])?";
constexpr std::string_view kQualifiedRegex = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
constexpr std::string_view kLabelValueRegex = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?";
constexpr std::string_view kConfigKeyRegex = "[-._a-zA-Z0-9]+";

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_lower_alnum(char c) { return is_lower(c) || is_digit(c); }
bool is_alnum(char c) { return is_lower_alnum(c) || (c >= 'A' && c <= 'Z'); }
bool is_name_char(char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; }

bool is_dns_label(std::string_view text) {
  return !text.empty() && is_lower_alnum(text.front()) && is_lower_alnum(text.back()) &&
         std::ranges::all_of(text, [](char c) { return is_lower_alnum(c) || c == '-'; });
}

bool is_dns_subdomain(std::string_view text) {
  for (;;) {
    const auto dot = text.find('.');
    if (!is_dns_label(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool is_name_part(std::string_view text) {
  return !text.empty() && is_alnum(text.front()) && is_alnum(text.back()) &&
         std::ranges::all_of(text, is_name_char);
}

std::string too_many_characters(std::size_t max) {
  return fmt::format("must be no more than {} characters", max);
}
std::string too_many_bytes(std::size_t max) {
  return fmt::format("must be no more than {} bytes", max);
}

// The comma before "or" and the blank after it are upstream's.
std::string mismatch(std::string_view message, std::string_view regex,
                     std::initializer_list<std::string_view> examples) {
  std::string text = fmt::format("{} (e.g. ", message);
  bool first = true;
  for (const std::string_view example : examples) {
    text += fmt::format("{}'{}', ", first ? "" : " or ", example);
    first = false;
  }
  return text + fmt::format("regex used for validation is '{}')", regex);
}

std::string subdomain_mismatch() {
  return mismatch(
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
      "'.', "
      "and must start and end with an alphanumeric character",
      kSubdomainRegex, {"example.com"});
}

std::string name_part_mismatch() {
  return mismatch(
      "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
      "alphanumeric character",
      kQualifiedRegex, {"MyName", "my.name", "123-abc"});
}

void check_key_prefix(std::string_view prefix, Faults& faults) {
  if (prefix.empty()) {
    faults.push_back("prefix part must be non-empty");
    return;
  }
  if (prefix.size() > kMaxSubdomain)
    faults.push_back("prefix part " + too_many_bytes(kMaxSubdomain));
  if (!is_dns_subdomain(prefix)) faults.push_back("prefix part " + subdomain_mismatch());
}

}  // namespace

Faults check_dns1123_subdomain(std::string_view text) {
  Faults faults;
  if (text.size() > kMaxSubdomain) faults.push_back(too_many_characters(kMaxSubdomain));
  if (!is_dns_subdomain(text)) faults.push_back(subdomain_mismatch());
  return faults;
}

Faults check_dns1123_label(std::string_view text) {
  Faults faults;
  if (text.size() > kMaxLabel) faults.push_back(too_many_characters(kMaxLabel));
  if (is_dns_label(text)) return faults;
  if (is_dns_subdomain(text)) {
    faults.push_back("must not contain dots");
  } else {
    faults.push_back(mismatch(
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
        "and must start and end with an alphanumeric character",
        kLabelRegex, {"my-name", "123-abc"}));
  }
  return faults;
}

Faults check_dns1035_label(std::string_view text) {
  Faults faults;
  if (text.size() > kMaxLabel) faults.push_back(too_many_characters(kMaxLabel));
  if (!is_dns_label(text) || !is_lower(text.front())) {
    faults.push_back(mismatch(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with "
        "an alphabetic character, and end with an alphanumeric character",
        kDns1035Regex, {"my-name", "abc-123"}));
  }
  return faults;
}

Faults check_qualified_name(std::string_view text) {
  Faults faults;
  std::string_view name = text;
  if (const auto slash = text.find('/'); slash != std::string_view::npos) {
    name = text.substr(slash + 1);
    if (name.find('/') != std::string_view::npos) {
      return {"a valid label key " + name_part_mismatch() +
              " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"};
    }
    check_key_prefix(text.substr(0, slash), faults);
  }
  if (name.empty()) {
    faults.push_back("name part must be non-empty");
  } else if (name.size() > kMaxLabel) {
    faults.push_back("name part " + too_many_bytes(kMaxLabel));
  }
  if (!is_name_part(name)) faults.push_back("name part " + name_part_mismatch());
  return faults;
}

Faults check_label_value(std::string_view text) {
  Faults faults;
  if (text.size() > kMaxLabel) faults.push_back(too_many_bytes(kMaxLabel));
  if (!text.empty() && !is_name_part(text)) {
    faults.push_back(mismatch(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
        "'.', and must start and end with an alphanumeric character",
        kLabelValueRegex, {"MyValue", "my_value", "12345"}));
  }
  return faults;
}

Faults check_config_key(std::string_view text) {
  Faults faults;
  if (text.size() > kMaxSubdomain) faults.push_back(too_many_characters(kMaxSubdomain));
  if (text.empty() || !std::ranges::all_of(text, is_name_char)) {
    faults.push_back(
        mismatch("a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
                 kConfigKeyRegex, {"key.name", "KEY_NAME", "key-name"}));
  }
  if (text == "." || text == "..") {
    faults.push_back(fmt::format("must not be '{}'", text));
  } else if (text.starts_with("..")) {
    faults.push_back("must not start with '..'");
  }
  return faults;
}

Faults check_port_name(std::string_view text) {
  Faults faults;
  if (text.size() > kMaxPortName) faults.push_back(too_many_characters(kMaxPortName));
  if (text.empty() ||
      !std::ranges::all_of(text, [](char c) { return is_lower_alnum(c) || c == '-'; })) {
    faults.push_back("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  if (!std::ranges::any_of(text, is_lower))
    faults.push_back("must contain at least one letter (a-z)");
  if (text.find("--") != std::string_view::npos)
    faults.push_back("must not contain consecutive hyphens");
  if (text.starts_with('-') || text.ends_with('-')) {
    faults.push_back("must not begin or end with a hyphen");
  }
  return faults;
}

Faults check_env_name(std::string_view text) {
  if (text.empty()) return {"environment variable name must be non-empty"};
  if (std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~' && c != '='; })) return {};
  return {
      "a valid environment variable name must consist only of printable ASCII characters other "
      "than '='"};
}

Faults check_path_segment(std::string_view text) {
  if (text == "." || text == "..") return {fmt::format("may not be '{}'", text)};
  Faults faults;
  for (const char c : {'/', '%'}) {
    if (text.find(c) != std::string_view::npos)
      faults.push_back(fmt::format("may not contain '{}'", c));
  }
  return faults;
}

void validate_labels(json::Value labels, const Path& path, FieldErrors& errors) {
  for (const json::Member& label : labels.members()) {
    for (const std::string& fault : check_qualified_name(label.key)) {
      errors.invalid(path, label.key, fault);
    }
    for (const std::string& fault : check_label_value(label.value.as_string())) {
      errors.invalid(path, label.value.as_string(), fault);
    }
  }
}

void validate_annotations(json::Value annotations, const Path& path, FieldErrors& errors) {
  std::size_t bytes = 0;
  for (const json::Member& annotation : annotations.members()) {
    // Annotation keys may have upper case letters in their prefix.
    for (const std::string& fault : check_qualified_name(lower_case(annotation.key))) {
      errors.invalid(path, annotation.key, fault);
    }
    bytes += annotation.key.size() + annotation.value.as_string().size();
  }
  if (std::cmp_greater(bytes, kMaxAnnotationsBytes)) errors.too_long(path, kMaxAnnotationsBytes);
}

}  // namespace muster::api
