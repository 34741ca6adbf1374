#include "story/graph_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/terminal_text.h"
#include "story/stages.h"

namespace muster::story {
namespace {

std::string size_of(const api::ReplicatedJob& entry) {
  const std::string pods = fmt::format("{} {}", entry.pods(), entry.pods() == 1 ? "pod" : "pods");
  return entry.replicas == 1 ? pods : fmt::format("{} jobs, {}", entry.replicas, pods);
}

// How many steps lead to each of them.
std::map<std::string, std::size_t> depths_of(const api::JobSet& set,
                                             const std::vector<Edge>& edges) {
  std::map<std::string, std::size_t> depths;
  // An entry depends only on those above it.
  for (const auto& entry : set.replicated_jobs) {
    std::size_t depth = 0;
    for (const Edge& edge : edges) {
      if (edge.to == entry.name) depth = std::max(depth, depths[edge.from] + 1);
    }
    depths[entry.name] = depth;
  }
  return depths;
}

// One line per replicated job in the order of starting, indented by what must come before it.
std::string as_text(const api::JobSet& set, const std::vector<Edge>& edges) {
  const Standing standing = standing_of(set);
  const auto depths = depths_of(set, edges);
  std::vector<const api::ReplicatedJob*> order;
  for (const auto& entry : set.replicated_jobs) order.push_back(&entry);
  std::ranges::stable_sort(order, {}, [&](const auto* entry) { return depths.at(entry->name); });
  std::string out = fmt::format("{} ({})\n", plain_text(set.meta.name), standing.state);
  for (const api::ReplicatedJob* entry : order) {
    const std::size_t depth = depths.at(entry->name);
    const auto stage = std::ranges::find(standing.stages, entry->name, &Stage::name);
    std::string why;
    for (const Edge& edge : edges) {
      if (edge.to != entry->name) continue;
      why +=
          fmt::format("{}{} is {}", why.empty() ? "when " : ", ", plain_text(edge.from), edge.when);
    }
    out += fmt::format("{}{}{} [{}] {}{}{}\n", std::string(depth * 3, ' '),
                       depth == 0 ? "* " : "`> ", plain_text(entry->name), size_of(*entry),
                       word_for(stage->state), why.empty() ? "" : "   ", why);
  }
  return out;
}

// A name in quotes of DOT and Mermaid.
std::string quoted(std::string_view name) {
  std::string out = plain_text(name);
  std::ranges::replace(out, '"', '\'');
  return fmt::format("\"{}\"", out);
}

std::string as_dot(const api::JobSet& set, const std::vector<Edge>& edges) {
  std::string out =
      fmt::format("digraph {} {{\n  rankdir=LR;\n  node [shape=box];\n", quoted(set.meta.name));
  for (const auto& entry : set.replicated_jobs) {
    const std::string label = fmt::format("{}\\n{}", plain_text(entry.name), size_of(entry));
    out += fmt::format("  {} [label=\"{}\"];\n", quoted(entry.name), label);
  }
  for (const Edge& edge : edges)
    out +=
        fmt::format("  {} -> {} [label=\"{}\"];\n", quoted(edge.from), quoted(edge.to), edge.when);
  return out + "}\n";
}

std::string as_mermaid(const api::JobSet& set, const std::vector<Edge>& edges) {
  std::string out = "flowchart LR\n";
  std::map<std::string, std::size_t> number;
  for (const auto& entry : set.replicated_jobs) {
    const std::size_t id = number.size();
    number[entry.name] = id;
    out +=
        fmt::format("  n{}[{}]\n", id, quoted(fmt::format("{} ({})", entry.name, size_of(entry))));
  }
  for (const Edge& edge : edges)
    out += fmt::format("  n{} -->|{}| n{}\n", number[edge.from], edge.when, number[edge.to]);
  return out;
}

}  // namespace

std::vector<Edge> edges_of(const api::JobSet& set) {
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < set.replicated_jobs.size(); ++i) {
    const auto& entry = set.replicated_jobs[i];
    for (const auto& dependency : entry.depends_on) {
      const bool ready = dependency.status == api::DependencyStatus::kReady;
      edges.push_back({dependency.name, entry.name, ready ? "Ready" : "Complete"});
    }
    if (set.in_order && i > 0)
      edges.push_back({set.replicated_jobs[i - 1].name, entry.name, "Ready"});
  }
  return edges;
}

std::string graph(const api::JobSet& set, std::string_view form) {
  const std::vector<Edge> edges = edges_of(set);
  if (form == "dot") return as_dot(set, edges);
  if (form == "mermaid") return as_mermaid(set, edges);
  return as_text(set, edges);
}

}  // namespace muster::story
