// Tables: what `kubectl get` shows of each kind (spec: apimachinery 7.3).
//
// Built-in kinds are rendered by code, one function per kind; custom resources by the paths of
// their printer columns. The caller builds the Table around the rows.
#pragma once

#include <vector>

#include "api/schema/registry.h"
#include "base/time.h"
#include "json/json_path.h"
#include "json/value.h"

namespace muster::api {

class Row;

// The columns that we add behind upstream's: WAITING FOR of a JobSet.
const std::vector<Column>& added_columns(const Resource& resource);

// Makes the rows of one resource. Cheap to build, once per Table; the resource must outlive it.
// May be used by several threads.
class TableRenderer {
 public:
  explicit TableRenderer(const Resource& resource);

  // columnDefinitions: name, type, format, description and priority of each column.
  json::Value definitions(json::Arena& arena) const;

  // Appends one cell per column to the array `cells`, whose arena takes the text.
  void append_cells(json::Value object, Time now, json::Value cells) const;

  // The conditions of a row: an array for pods that have ended, null for everything else.
  json::Value row_conditions(json::Arena& arena, json::Value object) const;

 private:
  struct PathColumn {
    std::string type;
    std::optional<json::JsonPath> path;  // none: always an empty cell
  };
  void append_by_path(const PathColumn& column, Row& row) const;

  const Resource& resource_;
  void (*row_)(Row& row) = nullptr;  // of built-in kinds
  std::vector<PathColumn> by_path_;  // all columns of custom resources, none of built-in kinds
};

}  // namespace muster::api
