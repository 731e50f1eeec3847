#include "runtime/cli/commands/stream_script.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "runtime/api/behind.hpp"
#include "runtime/cli/process/streams.hpp"
#include "runtime/script/script.hpp"
#include "runtime/support/input_file.hpp"
#include "runtime/support/json_document.hpp"
#include "runtime/trace/joined.hpp"

namespace lanewise::cli {
namespace {

script::RunOptions options_for(const std::string& file) {
  script::RunOptions o;
  o.directory = std::filesystem::path(file).parent_path().string();
  return o;
}

/// As it was printed.
Diagnostic print(const std::string& file, const std::string& name, const Diagnostic& d) {
  Diagnostic named = d;
  if (!name.empty()) named.message = fmt::format("\"{}\": {}", name, d.message);
  say("{}\n", format(file, named));
  return named;
}

nlohmann::json to_json(const script::CaseResult& r) {
  nlohmann::json messages = nlohmann::json::array();
  for (const auto* list : {&r.diagnostics, &r.failures})
    for (const Diagnostic& d : *list)
      messages.push_back({{"line", d.line}, {"column", d.column}, {"message", d.message}});
  nlohmann::json j = {
      {"name", r.name}, {"line", r.line}, {"passed", r.ok()}, {"messages", messages}};
  if (!r.unsupported.empty()) j["unsupported"] = r.unsupported;
  return j;
}

}  // namespace

bool is_script(const std::string& file) {
  return std::filesystem::path(file).extension() == ".lw";
}

CheckedScript check_script(const std::string& file, size_t max_errors) {
  const script::Script s = script::parse(read_file(file), max_errors);
  CheckedScript out;
  out.cases = s.cases.size();
  out.ok = s.ok();
  for (const Diagnostic& d : s.diagnostics) out.diagnostics.push_back(print(file, {}, d));
  if (!out.ok) return out;
  for (const script::Case& c : s.cases) {
    const script::CaseResult r = script::check(c, options_for(file));
    for (const auto* list : {&r.diagnostics, &r.failures})
      for (const Diagnostic& d : *list)
        if (max_errors == 0 || out.diagnostics.size() < max_errors)
          out.diagnostics.push_back(print(file, r.name, d));
    out.ok = out.ok && r.ok();
  }
  return out;
}

int run_script(const std::string& file, const std::string& device, bool json,
               const TraceArgs& trace, Watchdog& watchdog) {
  watchdog.files_are("every file is a whole one, old or new");
  if (trace.exact)
    throw Error(ErrorKind::usage,
                "a stream script says itself where its caches are exact: cache \"PRESET\" exact");
  const script::Script s = script::parse(read_file(file), 100);
  if (!s.ok()) throw CompileError(file, s.diagnostics);
  for (const Diagnostic& d : s.diagnostics) print(file, {}, d);
  const CacheOptions traced = trace_options(trace);
  const std::unique_ptr<Engine> engine = host::open_engine(device);
  std::optional<Cache> cache;
  std::optional<trace::Joined> joined;
  if (trace.any()) {
    const detail::CCacheOptions how(traced);
    cache = Cache::from_c(host::cache_of_nothing(
        *how.get(), fmt::format("{}, run on {}", file, engine->info().name)));
    joined.emplace(host::sink_behind(cache->c_handle()));
  }
  script::RunOptions options = options_for(file);
  options.events = joined ? &*joined : nullptr;
  size_t failed = 0, done = 0;
  nlohmann::json cases = nlohmann::json::array();
  for (const script::Case& c : s.cases) {
    if (joined) joined->next();
    const script::CaseResult r = script::run(c, *engine, options);
    watchdog.done(++done, "cases");
    if (json) cases.push_back(to_json(r));
    if (!json) fmt::print("{}", r.printed);
    for (const auto* list : {&r.diagnostics, &r.failures})
      for (const Diagnostic& d : *list) print(file, r.name, d);
    if (!r.unsupported.empty())
      print(file, r.name, {r.line, 1, "not supported by this device: " + r.unsupported, false});
    failed += r.ok() ? 0 : 1;
  }
  const bool found = cache && finish_trace(*cache, trace, json);
  if (json) {
    nlohmann::json out = {{"device", engine->info().name},
                          {"tier", engine->info().tier},
                          {"file", file},
                          {"passed", s.cases.size() - failed},
                          {"failed", failed},
                          {"cases", cases}};
    if (cache) out["cache"] = trace_json(*cache, trace);
    fmt::print("{}", json_document(out));
  } else {
    fmt::print("{}: {} of {} cases passed on {}\n", file, s.cases.size() - failed, s.cases.size(),
               engine->info().name);
  }
  return failed == 0 && !found ? 0 : 1;
}

}  // namespace lanewise::cli
