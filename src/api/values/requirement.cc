#include "api/values/requirement.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "api/values/names.h"

namespace muster::api {
namespace {

using Op = Requirement::Op;

void invalid_joined(const Path& path, std::string_view value, const Faults& faults,
                    FieldErrors& errors) {
  if (!faults.empty()) errors.invalid(path, value, fmt::format("{}", fmt::join(faults, "; ")));
}

std::string joined(const FieldErrors& errors) {
  std::vector<std::string> texts;
  for (const Cause& cause : errors.causes()) texts.push_back(cause.field + ": " + cause.message);
  if (texts.size() == 1) return texts[0];
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

// Upstream prints a missing list as null.
std::string value_list(const std::vector<std::string>& values) {
  std::vector<std::string> quoted;
  quoted.reserve(values.size());
  for (const std::string& value : values) quoted.push_back(quote(value));
  return values.empty() ? "null" : fmt::format("[{}]", fmt::join(quoted, ","));
}

enum class Token : std::uint8_t {
  kEnd,
  kWord,
  kIn,
  kNotIn,
  kComma,
  kOpen,
  kClose,
  kNot,
  kEquals,
  kDoubleEquals,
  kNotEquals,
  kGreater,
  kLess,
  kUnknown
};

struct Lexeme {
  Token token = Token::kEnd;
  std::string text;
};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool is_symbol(char c) { return std::string_view("=!(),><").find(c) != std::string_view::npos; }

Lexeme next_symbol(std::string_view text) {
  if (text.starts_with("==")) return {Token::kDoubleEquals, "=="};
  if (text.starts_with("!=")) return {Token::kNotEquals, "!="};
  switch (text[0]) {
    case '=':
      return {Token::kEquals, "="};
    case '!':
      return {Token::kNot, "!"};
    case '(':
      return {Token::kOpen, "("};
    case ')':
      return {Token::kClose, ")"};
    case ',':
      return {Token::kComma, ","};
    case '>':
      return {Token::kGreater, ">"};
    case '<':
      return {Token::kLess, "<"};
    default:
      return {Token::kUnknown, std::string(text.substr(0, 1))};
  }
}

std::vector<Lexeme> scan(std::string_view text) {
  std::vector<Lexeme> lexemes;
  for (;;) {
    while (!text.empty() && is_blank(text[0])) text.remove_prefix(1);
    if (text.empty()) break;
    if (is_symbol(text[0])) {
      lexemes.push_back(next_symbol(text));
    } else {
      const auto end =
          std::ranges::find_if(text, [](char c) { return is_blank(c) || is_symbol(c); });
      const auto word = text.substr(0, static_cast<std::size_t>(end - text.begin()));
      const auto token = word == "in" ? Token::kIn : word == "notin" ? Token::kNotIn : Token::kWord;
      lexemes.push_back({token, std::string(word)});
    }
    text.remove_prefix(lexemes.back().text.size());
  }
  lexemes.push_back({});
  return lexemes;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : lexemes_(scan(text)) {}
  Result<std::vector<Requirement>> parse();

 private:
  // `in` and `notin` are words where no operator can stand.
  Token peek() const {
    const Token token = lexemes_[at_].token;
    return token == Token::kIn || token == Token::kNotIn ? Token::kWord : token;
  }
  const Lexeme& take() {
    const Lexeme& taken = lexemes_[at_];
    if (taken.token != Token::kEnd) ++at_;
    return taken;
  }
  std::unexpected<Error> expected(std::string_view what) const {
    return fail(Code::kBadRequest,
                fmt::format("found '{}', expected: {}", lexemes_[at_].text, what));
  }
  Result<Requirement> parse_requirement();
  Status parse_operator(Requirement& requirement);
  Result<std::vector<std::string>> parse_values();
  Result<std::vector<std::string>> parse_value_list();
  Result<std::vector<std::string>> parse_exact_value();

  std::vector<Lexeme> lexemes_;  // ends in kEnd
  std::size_t at_ = 0;
};

Result<std::vector<Requirement>> Parser::parse() {
  std::vector<Requirement> requirements;
  while (peek() != Token::kEnd) {
    if (peek() != Token::kWord && peek() != Token::kNot)
      return expected("!, identifier, or 'end of string'");
    auto requirement = parse_requirement();
    if (!requirement) {
      return fail(Code::kBadRequest, "unable to parse requirement: " + requirement.error().message);
    }
    requirements.push_back(*std::move(requirement));
    if (peek() == Token::kEnd) break;
    if (peek() != Token::kComma) return expected("',' or 'end of string'");
    take();
    if (peek() != Token::kWord && peek() != Token::kNot) return expected("identifier after ','");
  }
  std::ranges::stable_sort(requirements, {}, &Requirement::key);
  return requirements;
}

Result<Requirement> Parser::parse_requirement() {
  Requirement requirement;
  const bool negated = peek() == Token::kNot;
  if (negated) take();
  if (peek() != Token::kWord) return expected("identifier");
  requirement.key = take().text;
  FieldErrors errors;
  invalid_joined(Path(), requirement.key, check_qualified_name(requirement.key), errors);
  if (!errors.empty()) return fail(Code::kBadRequest, joined(errors));

  if (negated) {
    requirement.op = Op::kNotExists;
  } else if (peek() != Token::kEnd && peek() != Token::kComma) {
    MUSTER_CHECK(parse_operator(requirement));
  }
  MUSTER_CHECK(check_requirement(requirement));
  return requirement;
}

Status Parser::parse_operator(Requirement& requirement) {
  bool list = false;
  switch (lexemes_[at_].token) {
    case Token::kIn:
    case Token::kNotIn:
      list = true;
      requirement.op = lexemes_[at_].token == Token::kIn ? Op::kIn : Op::kNotIn;
      break;
    case Token::kEquals:
    case Token::kDoubleEquals:
      requirement.op = Op::kIn;
      requirement.exact = true;
      break;
    case Token::kNotEquals:
      requirement.op = Op::kNotIn;
      requirement.exact = true;
      break;
    case Token::kGreater:
      requirement.op = Op::kGreater;
      break;
    case Token::kLess:
      requirement.op = Op::kLess;
      break;
    default:
      return expected("in, notin, =, ==, !=, gt, lt");
  }
  take();
  MUSTER_TRY(requirement.values, list ? parse_values() : parse_exact_value());
  std::ranges::sort(requirement.values);
  requirement.values.erase(std::unique(requirement.values.begin(), requirement.values.end()),
                           requirement.values.end());
  return {};
}

Result<std::vector<std::string>> Parser::parse_values() {
  if (peek() != Token::kOpen) {
    // No comma here, unlike in the other messages.
    return fail(Code::kBadRequest, fmt::format("found '{}' expected: '('", lexemes_[at_].text));
  }
  take();
  if (peek() == Token::kClose) {
    take();
    return std::vector<std::string>{""};
  }
  if (peek() != Token::kWord && peek() != Token::kComma) return expected("',', ')' or identifier");
  return parse_value_list();
}

// Values between the parentheses; nothing before, between or after commas is the empty value.
Result<std::vector<std::string>> Parser::parse_value_list() {
  std::vector<std::string> values;
  for (;;) {
    if (peek() == Token::kWord) {
      values.push_back(take().text);
      if (peek() == Token::kClose) break;
      if (peek() != Token::kComma) return expected("',' or ')'");
    } else if (peek() == Token::kComma) {
      if (values.empty()) values.emplace_back();
      take();
      if (peek() == Token::kClose || peek() == Token::kComma) values.emplace_back();
      if (peek() == Token::kClose) break;
    } else {
      return expected("',', or identifier");
    }
  }
  take();
  return values;
}

Result<std::vector<std::string>> Parser::parse_exact_value() {
  if (peek() == Token::kEnd || peek() == Token::kComma) return std::vector<std::string>{""};
  if (peek() != Token::kWord) return expected("identifier");
  return std::vector<std::string>{take().text};
}

}  // namespace

std::optional<std::int64_t> to_integer(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Status check_requirement(const Requirement& requirement) {
  FieldErrors errors;
  const Path values("values");
  const auto wrong_values = [&](std::string_view why) {
    errors.add("FieldValueInvalid", values,
               fmt::format("Invalid value: {}: {}", value_list(requirement.values), why));
  };
  invalid_joined(Path("key"), requirement.key, check_qualified_name(requirement.key), errors);
  switch (requirement.op) {
    case Op::kIn:
    case Op::kNotIn:
      if (requirement.values.empty())
        wrong_values("for 'in', 'notin' operators, values set can't be empty");
      break;
    case Op::kExists:
    case Op::kNotExists:
      if (!requirement.values.empty())
        wrong_values("values set must be empty for exists and does not exist");
      break;
    case Op::kGreater:
    case Op::kLess:
      if (!to_integer(requirement.values.at(0))) {
        errors.invalid(values.index(0), requirement.values[0],
                       "for 'Gt', 'Lt' operators, the value must be an integer");
      }
      break;
  }
  for (std::size_t i = 0; i < requirement.values.size(); ++i) {
    const std::string& value = requirement.values[i];
    invalid_joined(values.index(i).key(requirement.key), value, check_label_value(value), errors);
  }
  if (errors.empty()) return {};
  return fail(Code::kBadRequest, joined(errors));
}

bool is_met(const Requirement& requirement, std::optional<std::string_view> value) {
  const auto listed = [&] {
    return std::ranges::find(requirement.values, *value) != requirement.values.end();
  };
  switch (requirement.op) {
    case Op::kExists:
      return value.has_value();
    case Op::kNotExists:
      return !value.has_value();
    case Op::kIn:
      return value && listed();
    case Op::kNotIn:
      return !value || !listed();
    case Op::kGreater:
    case Op::kLess: {
      if (!value) return false;
      const auto have = to_integer(*value);
      const auto bound = to_integer(requirement.values.at(0));
      if (!have || !bound) return false;
      return requirement.op == Op::kGreater ? *have > *bound : *have < *bound;
    }
  }
  return false;
}

Result<std::vector<Requirement>> parse_requirements(std::string_view text) {
  return Parser(text).parse();
}

}  // namespace muster::api
