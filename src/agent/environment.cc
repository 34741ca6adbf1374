#include "agent/environment.h"

#include <fmt/format.h>

#include <map>

namespace muster::agent {
namespace {

using json::Value;

// metadata.labels['a/b'], metadata.name, spec.nodeName, status.podIP …
Result<std::string> field(Value pod, std::string_view path) {
  for (const std::string_view map : {"metadata.labels", "metadata.annotations"}) {
    if (!path.starts_with(map) || !path.substr(map.size()).starts_with("['") ||
        !path.ends_with("']"))
      continue;
    const std::string_view key = path.substr(map.size() + 2, path.size() - map.size() - 4);
    return std::string(pod.get({"metadata", map.substr(9)}).get(key).as_string());
  }
  const std::size_t dot = path.find('.');
  const Value found = dot == std::string_view::npos
                          ? Value()
                          : pod.get({path.substr(0, dot), path.substr(dot + 1)});
  if (!found.is_string()) return fail(Code::kInvalid, fmt::format("the pod has no field {}", path));
  return std::string(found.as_string());
}

// $(NAME) of a variable that is set; $$ is a dollar; everything else stays.
std::string expand(std::string_view text, const std::map<std::string, std::string>& variables) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$' || i + 1 == text.size()) {
      out += text[i];
    } else if (text[i + 1] == '$') {
      out += text[i++];
    } else if (const std::size_t end = text.find(')', i);
               text[i + 1] == '(' && end != std::string_view::npos) {
      const auto at = variables.find(std::string(text.substr(i + 2, end - i - 2)));
      out += at != variables.end() ? std::string_view(at->second) : text.substr(i, end - i + 1);
      i = end;
    } else {
      out += text[i];
    }
  }
  return out;
}

Result<std::map<std::string, std::string>> variables_of(Value pod, Value container) {
  std::map<std::string, std::string> variables;
  for (const Value entry : container.get("env").items()) {
    const std::string name(entry.get("name").as_string());
    const Value from = entry.get("valueFrom");
    if (from.is_null()) {
      variables[name] = expand(entry.get("value").as_string(), variables);
    } else if (const Value ref = from.get("fieldRef"); !ref.is_null()) {
      MUSTER_TRY(variables[name], field(pod, ref.get("fieldPath").as_string()));
    } else {
      return fail(
          Code::kInvalid,
          fmt::format("variable {}: only value and fieldRef are known to this runtime yet", name));
    }
  }
  return variables;
}

}  // namespace

Result<ProcessSpec> process_spec(Value pod, Value container,
                                 const std::vector<std::string>& inherited) {
  MUSTER_TRY(const auto variables, variables_of(pod, container));
  ProcessSpec spec;
  for (const std::string_view part : {"command", "args"}) {
    for (const Value word : container.get(part).items())
      spec.argv.push_back(expand(word.as_string(), variables));
  }
  if (spec.argv.empty()) {
    return fail(
        Code::kInvalid,
        fmt::format(
            "container {} has no command; the process runtime runs this host's own programs and "
            "cannot take one from an image",
            container.get("name").as_string()));
  }
  for (const auto& entry : inherited) {
    if (!variables.contains(entry.substr(0, entry.find('=')))) spec.environment.push_back(entry);
  }
  for (const auto& [name, value] : variables) spec.environment.push_back(name + "=" + value);
  spec.working_directory = container.get("workingDir").as_string();
  return spec;
}

}  // namespace muster::agent
