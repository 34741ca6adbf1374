// Paths that are about no object: health, version, metrics, discovery, OpenAPI.
#include <algorithm>
#include <array>

#include "json/write.h"
#include "server/errors.h"
#include "server/handlers.h"
#include "server/media_type.h"

namespace muster::server {
namespace {

std::string version_body(const VersionInfo& version) {
  json::Arena arena;
  const json::Value out = json::Value::object(arena);
  out.set("major", "1");
  out.set("minor", "36");
  out.set("emulationMajor", "1");
  out.set("emulationMinor", "36");
  out.set("minCompatibilityMajor", "1");
  out.set("minCompatibilityMinor", "35");
  out.set("gitVersion", version.git_version);
  out.set("gitCommit", version.git_commit);
  out.set("gitTreeState", "clean");
  out.set("buildDate", version.build_date);
  out.set("goVersion", "none");
  out.set("compiler", "g++");
  out.set("platform", "linux/amd64");
  return json::write_pretty(out) + "\n";
}

// --- Health ---

struct Check {
  std::string name;
  std::string trouble;  // empty: all is well
};

std::vector<Check> checks_of(const Core& core, bool ready) {
  std::vector<Check> checks;
  checks.push_back({"ping", ""});
  checks.push_back({"store", core.store.trouble()});
  if (ready) checks.push_back({"startup", core.not_ready()});
  return checks;
}

std::string verbose_text(const std::vector<Check>& checks, std::string_view endpoint, bool passed) {
  std::string out;
  for (const Check& check : checks) {
    out += check.trouble.empty() ? fmt::format("[+]{} ok\n", check.name)
                                 : fmt::format("[-]{} failed: {}\n", check.name, check.trouble);
  }
  return out + fmt::format("{} check {}\n", endpoint, passed ? "passed" : "failed");
}

// /healthz, /livez, /readyz; ?verbose, ?exclude=NAME; /livez/NAME is one check.
void answer_health(const CallPtr& call, std::string_view endpoint, std::string_view only) {
  std::vector<Check> checks = checks_of(*call->core, endpoint == "readyz");
  const std::vector<std::string> excluded = call->info.query.all("exclude");
  std::erase_if(checks, [&](const Check& check) {
    return (!only.empty() && check.name != only) ||
           std::ranges::find(excluded, check.name) != excluded.end();
  });
  if (!only.empty() && checks.empty()) return call->answer_text(404, "404 page not found\n");
  const bool passed =
      std::ranges::all_of(checks, [](const Check& check) { return check.trouble.empty(); });
  if (passed && !call->info.query.has("verbose")) return call->answer_text(200, "ok");
  call->answer_text(passed ? 200 : 500, verbose_text(checks, endpoint, passed));
}

bool answer_health_path(const CallPtr& call) {
  static constexpr std::array<std::string_view, 3> kEndpoints{"healthz", "livez", "readyz"};
  std::string_view path = call->info.path;
  if (path.starts_with('/')) path.remove_prefix(1);
  const std::size_t slash = path.find('/');
  const std::string_view endpoint = path.substr(0, slash);
  if (std::ranges::find(kEndpoints, endpoint) == kEndpoints.end()) return false;
  answer_health(call, endpoint,
                slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1));
  return true;
}

// --- Discovery ---

constexpr std::string_view kAggregatedType =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

bool wants_aggregated(std::string_view accept) {
  return accept.find("g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList") !=
             std::string_view::npos ||
         (accept.find("as=APIGroupDiscoveryList") != std::string_view::npos &&
          accept.find("v=v2;") != std::string_view::npos);
}

// Documents are built once; only their chunk is made anew. The core outlives the exchange's use of
// it through the call.
void answer_document(const CallPtr& call, const api::Document& document,
                     std::string_view content_type, bool cached) {
  http::Headers more{{"Vary", "Accept"}};
  if (cached) {
    more.emplace_back("Etag", document.etag);
    more.emplace_back("Cache-Control", "public");
    if (call->header("If-None-Match") == document.etag)
      return call->answer(304, "", {}, std::move(more));
  }
  std::vector<http::Chunk> body;
  body.push_back({document.body, call->core});
  if (content_type == "application/json")
    return call->answer_json(200, std::move(body), std::move(more));
  call->answer(200, content_type, std::move(body), std::move(more));
}

// Whether the client has been refused because it takes none of the types.
bool refused(const CallPtr& call, std::initializer_list<std::string_view> types) {
  const Status accepts = check_accept(call->header("Accept"), types);
  if (!accepts) call->answer_error(accepts.error());
  return !accepts;
}

bool refused_discovery(const CallPtr& call) {
  return refused(call,
                 {"application/json", "application/yaml", "application/vnd.kubernetes.protobuf"});
}

bool answer_discovery(const CallPtr& call) {
  std::string_view path = call->info.path;
  if (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const api::Discovery& discovery = call->core->discovery;
  if (wants_aggregated(call->header("Accept"))) {
    if (const api::Document* document = discovery.aggregated(path)) {
      answer_document(call, *document, kAggregatedType, true);
      return true;
    }
  }
  if (path == "/api") {
    if (refused_discovery(call)) return true;
    call->answer_json(200, Call::chunks(discovery.api_versions(call->core->server_address())),
                      {{"Vary", "Accept"}});
    return true;
  }
  if (const api::Document* document = discovery.legacy(path)) {
    if (refused_discovery(call)) return true;
    answer_document(call, *document, "application/json", false);
    return true;
  }
  if (path != "/") return false;
  json::Arena arena;
  const json::Value out = json::Value::object(arena);
  const json::Value paths = out.array_at("paths");
  std::vector<std::string> all = discovery.paths();
  for (const char* more : {"/apis/", "/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3",
                           "/readyz", "/version"})
    all.emplace_back(more);
  std::ranges::sort(all);
  for (const std::string& each : all) paths.push_back(json::Value::string(arena, each));
  call->answer_json(200, json::write(out) + "\n");
  return true;
}

// --- OpenAPI ---

constexpr std::string_view kOpenApiV2 = "/openapi/v2";
constexpr std::string_view kOpenApi = "/openapi/v3";
// kubectl asks by the first name, with a character that types may not have.
constexpr std::string_view kOldProtobufType =
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
constexpr std::string_view kProtobufType =
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

constexpr std::string_view kOldProtobufTypeV3 =
    "application/com.github.proto-openapi.spec.v3@v1.0+protobuf";
constexpr std::string_view kProtobufTypeV3 =
    "application/com.github.proto-openapi.spec.v3.v1.0+protobuf";

// The first form that the client names and that there is.
void answer_open_api_v2(const CallPtr& call) {
  std::string_view accept = call->header("Accept");
  if (accept.empty()) accept = "*/*";
  while (!accept.empty()) {
    const std::size_t comma = std::min(accept.find(','), accept.size());
    const std::string type = media_type(accept.substr(0, comma));
    accept.remove_prefix(std::min(comma + 1, accept.size()));
    const api::OpenApi& open_api = call->core->open_api;
    if (type == kProtobufType || type == kOldProtobufType)
      return answer_document(call, open_api.v2_protobuf(), kProtobufType, true);
    if (type == "application/json" || type == "application/*" || type == "*/*")
      return answer_document(call, open_api.v2(), "application/json", true);
  }
  call->answer(406, "", {});
}

// A document asked for by its hash never changes; by another hash the client is sent to the right
// one.
void answer_open_api_document(const CallPtr& call, std::string_view path,
                              const api::Document& document) {
  const std::string url = api::OpenApi::url(path, document);
  const std::string_view right_hash = std::string_view(url).substr(url.rfind('=') + 1);
  const std::string_view hash = call->info.query.get("hash");
  http::Headers more{{"Etag", document.etag}, {"Vary", "Accept"}};
  if (!hash.empty() && hash != right_hash) {
    more.emplace_back("Location", url);
    return call->answer(301, "application/json", {}, std::move(more));
  }
  if (!hash.empty()) more.emplace_back("Cache-Control", "public, immutable");
  if (call->header("If-None-Match") == document.etag)
    return call->answer(304, "", {}, std::move(more));
  std::vector<http::Chunk> body;
  body.push_back({document.body, call->core});
  call->answer(200, "application/json", std::move(body), std::move(more));
}

bool answer_open_api(const CallPtr& call) {
  std::string_view path = call->info.path;
  if (path == kOpenApiV2) {
    answer_open_api_v2(call);
    return true;
  }
  if (!path.starts_with(kOpenApi)) return false;
  path.remove_prefix(kOpenApi.size());
  if (path.empty() || path == "/") {
    std::vector<http::Chunk> body;
    body.push_back({call->core->open_api.index().body, call->core});
    call->answer(200, "text/plain; charset=utf-8", std::move(body));
    return true;
  }
  if (!path.starts_with('/')) return false;
  path.remove_prefix(1);
  const api::Document* document = call->core->open_api.find(path);
  if (document == nullptr) {
    call->answer(404, "", {});
  } else if (!check_accept(call->header("Accept"),
                           {"application/json", kProtobufTypeV3, kOldProtobufTypeV3})) {
    call->answer(406, "", {});
  } else {
    answer_open_api_document(call, path, *document);
  }
  return true;
}

// A group that is served, in a version that is not, or the other way round.
bool below_known_group(const Call& call) {
  std::string_view path = call.info.path;
  if (path.starts_with("/api/")) return true;
  if (!path.starts_with("/apis/")) return false;
  path.remove_prefix(6);
  const std::string_view group = path.substr(0, path.find('/'));
  return std::ranges::any_of(call.core->registry.groups(),
                             [&](const api::GroupVersions& g) { return g.group == group; });
}

}  // namespace

void answer_general(const CallPtr& call) {
  const std::string& path = call->info.path;
  if (call->info.verb != "get" && call->info.verb != "head")
    return call->answer_error(method_not_allowed());
  if (answer_health_path(call)) return;
  if (path == "/version" || path == "/version/") {
    if (refused(call, {"application/json"})) return;
    return call->answer_json(200, version_body(call->core->options.version));
  }
  if (path == "/metrics") {
    return call->answer(200, "text/plain; version=0.0.4; charset=utf-8",
                        Call::chunks(call->core->metrics.text()));
  }
  if (answer_discovery(call) || answer_open_api(call)) return;
  if (below_known_group(*call)) return call->answer_error(unknown_path());
  call->answer_text(404, "404 page not found\n");
}

}  // namespace muster::server
