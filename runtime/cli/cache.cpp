// lanewise cache TRACE, lanewise trace convert IN OUT.
#include <fmt/format.h>

#include <memory>

#include "runtime/cli/commands.hpp"
#include "runtime/cli/options.hpp"
#include "runtime/cli/process/progress.hpp"
#include "runtime/cli/process/streams.hpp"
#include "runtime/cli/process/watchdog.hpp"
#include "runtime/cli/run_trace.hpp"

namespace lanewise::cli {
namespace {

/// How a trace is read.
struct ReadArgs {
  std::vector<std::string> policies;
  bool partial = false;
  double timeout = 0;
};

void add_read_options(const Command& sub, ReadArgs& args) {
  sub.option("--policy", args.policies,
             "trace.interleave=round-robin|serial and trace.resident=GROUPS: the order of warps in "
             "a .traceg (repeat)")
      .repeated();
  sub.flag("--partial", args.partial, "exit code 0 for a trace that ends early, too");
  add_timeout_option(sub, args.timeout);
}

void set_reading(CacheOptions& options, const ReadArgs& args, Progress& progress) {
  options.progress = [&progress](uint64_t done, uint64_t whole) { progress.done(done, whole); };
  options.policies = args.policies;
}

struct CacheArgs {
  std::string trace;
  ReadArgs read;
  std::vector<std::string> presets, reports, fail_on, sources;
  bool json = false, compare = false, reuse = false, sets = false;
};

/// Of a trace that was read. One that ends early is no success unless it may.
int exit_code(const TraceFacts& trace, const ReadArgs& args) {
  return trace.complete || args.partial ? 0 : static_cast<int>(ErrorKind::guest);
}

void warn(const TraceFacts& trace) {
  for (const std::string& w : trace.warnings) say("lanewise: warning: {}\n", w);
  if (!trace.complete) say("lanewise: warning: {}\n", trace.note);
}

int run_cache(const CacheArgs& args) {
  const Watchdog watchdog(args.read.timeout, Watchdog::Parts::end_at_once);
  CacheOptions options = cache_options(args);
  const Cache cache = [&] {
    Progress progress("reading " + args.trace);
    set_reading(options, args.read, progress);
    return Cache::read(args.trace, options);
  }();
  const TraceFacts trace = cache.facts();
  warn(trace);
  fmt::print("{}", cache.report(args.json ? "json" : "txt"));
  if (write_reports(cache, args.reports, args.fail_on)) return 1;
  return exit_code(trace, args.read);
}

int convert_trace(const std::string& in, const std::string& out, const ReadArgs& args) {
  Watchdog watchdog(args.timeout, Watchdog::Parts::end_at_once);
  watchdog.files_are("the output file is incomplete");
  CacheOptions options;
  options.trace_file = out;
  const TraceFacts trace = [&] {
    Progress progress("reading " + in);
    set_reading(options, args, progress);
    return Cache::read(in, options).facts();
  }();
  warn(trace);
  fmt::print("{} events\n", trace.events);
  return exit_code(trace, args);
}

}  // namespace

void add_cache(const Command& app) {
  const Command sub = app.command("cache", "what the caches of a GPU do with a memory trace");
  auto a = std::make_shared<CacheArgs>();
  sub.option("TRACE", a->trace,
             ".lwt, .traceg, .trace, kernelslist, .din or mem_trace's output; also .gz, .xz, .zst")
      .required();
  sub.option("--preset", a->presets, "a GPU, file:PRESET.json, or several (commas)")
      .split_at(',')
      .required();
  sub.option("--report", a->reports,
             "write a report too: FILE.txt, .json, .csv, .sarif, .html or .perfetto.json")
      .repeated();
  sub.option("--fail-on", a->fail_on, "exit code 1 on a rule (H1 ... H18), E, W or any")
      .split_at(',');
  add_analysis_options(sub, *a);
  add_read_options(sub, a->read);
  sub.flag("--json", a->json, "print JSON");
  sub.examples(
      {"lanewise run samples/kernels/saxpy.ptx --grid 4 --block 256 --arg i32:1000 --arg f32:2 "
       "--arg zero:f32[1000] --arg zero:f32[1000] --trace saxpy.lwt",
       "lanewise cache saxpy.lwt --preset gv100",
       "lanewise cache saxpy.lwt --preset gv100,infinite --compare --reuse --sets"});
  sub.does([a] { return run_cache(*a); });
}

void add_trace(const Command& app) {
  const Command sub = app.command("trace", "memory traces");
  sub.needs_command();
  const Command convert = sub.command("convert", "to another format, by file ending");
  auto in = std::make_shared<std::string>(), out = std::make_shared<std::string>();
  auto read = std::make_shared<ReadArgs>();
  convert
      .option("IN", *in,
              ".lwt, .traceg, .trace, kernelslist, .din or mem_trace's output; also .gz, .xz, .zst")
      .required();
  convert.option("OUT", *out, ".lwt, .traceg (Accel-Sim), .din or .json (Perfetto)").required();
  add_read_options(convert, *read);
  convert.examples(
      {"lanewise run samples/kernels/saxpy.ptx --grid 1 --block 32 --arg i32:32 --arg f32:2 "
       "--arg zero:f32[32] --arg zero:f32[32] --trace small.lwt",
       "lanewise trace convert small.lwt small.din"});
  convert.does([=] { return convert_trace(*in, *out, *read); });
}

}  // namespace lanewise::cli
