// Rows in aligned columns, as kubectl prints them. Cells are cleaned of control characters. Pure.
#pragma once

#include <string>
#include <vector>

#include "json/value.h"

namespace muster::story {

class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header);

  void add(std::vector<std::string> cells);  // fewer cells than columns are filled up
  bool empty() const { return rows_.empty(); }

  // What has not been printed yet, the header first of all. Columns keep the width that they have
  // when they are first printed, unless a cell is wider: rows of a watch stay below each other.
  std::string take(bool with_header = true);

 private:
  std::string line(const std::vector<std::string>& cells) const;

  std::vector<std::string> header_;
  std::vector<std::size_t> widths_;
  std::vector<std::vector<std::string>> rows_;
  bool header_printed_ = false;
};

// Of a server's Table: the columns shown, with those of low priority if `wide`.
struct TableColumns {
  std::vector<std::string> names;
  std::vector<std::size_t> positions;  // among a row's cells
};
TableColumns columns_of(json::Value table, bool wide);
std::vector<std::string> cells_of(json::Value row, const TableColumns& columns);

}  // namespace muster::story
