// lanewise cache TRACE, lanewise trace convert IN OUT.
#include <fmt/format.h>

#include <memory>

#include "runtime/cache/reports/report.hpp"
#include "runtime/cache/reports/tracker_set.hpp"
#include "runtime/cli/commands.hpp"
#include "runtime/cli/process/streams.hpp"
#include "runtime/trace/formats.hpp"

namespace lanewise::cli {
namespace {

struct CacheArgs {
  std::string trace;
  std::vector<std::string> presets, reports, fail_on;
  bool json = false;
};

void warn(const trace::ReadResult& r) {
  if (!r.complete) say("lanewise: warning: {}\n", r.note);
}

int run_cache(const CacheArgs& args) {
  // A rule that does not exist is found out before the work.
  for (const std::string& rule : args.fail_on) cache::fails_on(rule, {});
  cache::TrackerSet trackers(args.presets, cache::options_for(args.reports));
  warn(trace::read_any(args.trace, trackers.sink()));
  const auto runs = trackers.runs();
  fmt::print("{}", args.json ? cache::json_report(runs) : cache::text_report(runs));
  for (const std::string& path : args.reports) cache::write_report(path, runs);
  const std::vector<cache::Verdict> verdicts = cache::verdicts(runs);
  for (const std::string& rule : args.fail_on)
    if (cache::fails_on(rule, verdicts)) return 1;
  return 0;
}

}  // namespace

void add_cache(const Command& app) {
  const Command sub = app.command("cache", "what the caches of a GPU do with a memory trace");
  auto a = std::make_shared<CacheArgs>();
  sub.option("TRACE", a->trace, ".lwt, .traceg, .trace, kernelslist or .din").required();
  sub.option("--preset", a->presets, "a GPU, file:PRESET.json, or several (commas)")
      .split_at(',')
      .required();
  sub.option("--report", a->reports, "write a report too: FILE.txt, .json, .csv, .sarif or .html")
      .repeated();
  sub.option("--fail-on", a->fail_on, "exit code 1 on a rule (H1 ... H18), E, W or any")
      .split_at(',');
  sub.flag("--json", a->json, "print JSON");
  sub.examples(
      {"lanewise run samples/kernels/saxpy.ptx --grid 4 --block 256 --arg i32:1000 --arg f32:2 "
       "--arg zero:f32[1000] --arg zero:f32[1000] --trace saxpy.lwt",
       "lanewise cache saxpy.lwt --preset gv100"});
  sub.does([a] { return run_cache(*a); });
}

void add_trace(const Command& app) {
  const Command sub = app.command("trace", "memory traces");
  sub.needs_command();
  const Command convert = sub.command("convert", "to another format, by file ending");
  auto in = std::make_shared<std::string>(), out = std::make_shared<std::string>();
  convert.option("IN", *in, ".lwt, .traceg, .trace, kernelslist or .din").required();
  convert.option("OUT", *out, ".lwt, .traceg (Accel-Sim), .din or .json (Perfetto)").required();
  convert.examples(
      {"lanewise run samples/kernels/saxpy.ptx --grid 1 --block 32 --arg i32:32 --arg f32:2 "
       "--arg zero:f32[32] --arg zero:f32[32] --trace small.lwt",
       "lanewise trace convert small.lwt small.din"});
  convert.does([=] {
    const std::unique_ptr<trace::Sink> sink = trace::open_output(*out);
    const trace::ReadResult r = trace::read_any(*in, *sink);
    warn(r);
    fmt::print("{} events\n", r.events);
    return 0;
  });
}

}  // namespace lanewise::cli
