#include "story/text_table.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/terminal_text.h"
#include "json/write.h"

namespace muster::story {
namespace {

constexpr std::size_t kGap = 3;

char upper_case(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

std::string upper_case(std::string text) {
  for (char& c : text) c = upper_case(c);
  return text;
}

std::size_t letters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

TextTable::TextTable(std::vector<std::string> header) : header_(std::move(header)) {
  for (std::string& name : header_) {
    name = upper_case(plain_text(name));
    widths_.push_back(letters(name));
  }
}

void TextTable::add(std::vector<std::string> cells) {
  cells.resize(header_.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i] = plain_text(cells[i]);
    widths_[i] = std::max(widths_[i], letters(cells[i]));
  }
  rows_.push_back(std::move(cells));
}

std::string TextTable::line(const std::vector<std::string>& cells) const {
  std::string out;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    out += cells[i];
    if (i + 1 < cells.size()) out.append(widths_[i] - letters(cells[i]) + kGap, ' ');
  }
  while (out.ends_with(' ')) out.pop_back();
  return out + "\n";
}

std::string TextTable::take(bool with_header) {
  std::string out;
  if (with_header && !header_printed_ && !rows_.empty()) out += line(header_);
  header_printed_ |= !rows_.empty();
  for (const auto& row : rows_) out += line(row);
  rows_.clear();
  return out;
}

TableColumns columns_of(json::Value table, bool wide) {
  TableColumns columns;
  const auto definitions = table.get("columnDefinitions").items();
  for (std::size_t i = 0; i < definitions.size(); ++i) {
    if (!wide && definitions[i].get("priority").as_int() > 0) continue;
    columns.names.emplace_back(definitions[i].get("name").as_string());
    columns.positions.push_back(i);
  }
  return columns;
}

std::vector<std::string> cells_of(json::Value row, const TableColumns& columns) {
  std::vector<std::string> cells;
  for (const std::size_t position : columns.positions) {
    const json::Value cell = row.get("cells").item(position);
    cells.push_back(cell.is_string() ? std::string(cell.as_string())
                    : cell.is_null() ? "<none>"
                                     : json::write(cell));
  }
  return cells;
}

}  // namespace muster::story
