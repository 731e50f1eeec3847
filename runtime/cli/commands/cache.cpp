// lanewise cache TRACE, lanewise cache merge PART..., lanewise trace convert IN OUT.
#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>

#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/commands/run_trace.hpp"
#include "runtime/cli/options.hpp"
#include "runtime/cli/process/progress.hpp"
#include "runtime/cli/process/streams.hpp"
#include "runtime/cli/process/watchdog.hpp"
#include "runtime/support/json_document.hpp"

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
      .suggests({"trace.interleave=round-robin", "trace.interleave=serial", "trace.resident="})
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
  std::string shard, part, sample;
};

struct MergeArgs {
  std::vector<std::string> parts, reports, fail_on;
  bool json = false, partial = false;
};

/// Of a trace that was read. One that ends early is no success unless it may.
int exit_code(const TraceFacts& trace, bool may_end_early) {
  return trace.complete || may_end_early ? 0 : static_cast<int>(ErrorKind::guest);
}

/// "2/8"
struct Fraction {
  uint32_t above, below;
};
Fraction fraction(const std::string& option, const std::string& text, const char* expected) {
  Fraction f{};
  const char *at = text.data(), *const end = at + text.size();
  const auto [slash, above] = std::from_chars(at, end, f.above);
  if (above == std::errc() && slash != end && *slash == '/') {
    const auto [last, below] = std::from_chars(slash + 1, end, f.below);
    if (below == std::errc() && last == end && f.below != 0) return f;
  }
  throw Error(ErrorKind::usage, fmt::format("{} {}: expected {}", option, text, expected));
}

/// What holds of the whole trace cannot be reported of a part of L2.
void refuse_whole(const CacheArgs& args, const std::string& option) {
  const auto refuse = [&](const std::string& other, const char* why) {
    throw Error(ErrorKind::usage, fmt::format("{} cannot be had with {}: {}", other, option, why));
  };
  const char* all = "it looks at all sets of L2";
  if (args.compare) refuse("--compare", all);
  if (args.reuse) refuse("--reuse", "reuse distances are those of all requests");
  if (args.sets) refuse("--sets", all);
  for (const std::string& path : args.reports)
    if (const std::string format = report_format(path); format == "html" || format == "perfetto")
      refuse("--report " + path, "it draws all sets of L2");
}

void set_share(CacheOptions& options, const CacheArgs& args) {
  if (args.shard.empty() != args.part.empty())
    throw Error(ErrorKind::usage, "--shard I/N and -o PART go together");
  if (!args.shard.empty()) {
    const Fraction f = fraction("--shard", args.shard, "I/N, with I from 0 to N - 1");
    if (f.above >= f.below)
      throw Error(ErrorKind::usage, fmt::format("--shard {}: parts of {} are numbered from 0 to {}",
                                                args.shard, f.below, f.below - 1));
    if (!args.sample.empty())
      throw Error(ErrorKind::usage, "--sample cannot be had with --shard: it has few sets already");
    refuse_whole(args, "--shard");
    if (args.json || !args.reports.empty() || !args.fail_on.empty())
      throw Error(ErrorKind::usage,
                  "--json, --report and --fail-on cannot be had with --shard: a "
                  "part has no report, 'lanewise cache merge' makes it");
    options.shard = f.above;
    options.shards = f.below;
    options.part_file = args.part;
  }
  if (args.sample.empty()) return;
  const Fraction f = fraction("--sample", args.sample, "1/N");
  if (f.above != 1)
    throw Error(ErrorKind::usage, fmt::format("--sample {}: expected 1/N", args.sample));
  refuse_whole(args, "--sample");
  options.sample = f.below;
}

void warn(const TraceFacts& trace) {
  for (const std::string& w : trace.warnings) say("lanewise: warning: {}\n", w);
  if (!trace.complete) say("lanewise: warning: {}\n", trace.note);
}

int run_cache(const CacheArgs& args) {
  const Watchdog watchdog(args.read.timeout, Watchdog::Parts::end_at_once);
  CacheOptions options = cache_options(args);
  set_share(options, args);
  const Cache cache = [&] {
    Progress progress("reading " + args.trace);
    set_reading(options, args.read, progress);
    return Cache::read(args.trace, options);
  }();
  const TraceFacts trace = cache.facts();
  warn(trace);
  if (options.shards != 0) {
    fmt::print("part {} of {} of {} events: {}\n", options.shard, options.shards, trace.events,
               args.part);
    return exit_code(trace, args.read.partial);
  }
  fmt::print("{}", cache.report(args.json ? "json" : "txt"));
  if (write_reports(cache, args.reports, args.fail_on)) return 1;
  return exit_code(trace, args.read.partial);
}

int merge_parts(const MergeArgs& args) {
  for (const std::string& rule : args.fail_on) Cache::check_rule(rule);
  for (const std::string& path : args.reports) {
    if (const std::string format = report_format(path); format == "html" || format == "perfetto")
      throw Error(ErrorKind::usage,
                  fmt::format("--report {}: parts have kept nothing to draw", path));
    check_writable(path);
  }
  const Cache cache = Cache::merge(args.parts);
  const TraceFacts trace = cache.facts();
  warn(trace);
  fmt::print("{}", cache.report(args.json ? "json" : "txt"));
  if (write_reports(cache, args.reports, args.fail_on)) return 1;
  return exit_code(trace, args.partial);
}

int convert_trace(const std::string& in, const std::string& out, const ReadArgs& args, bool json) {
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
  if (json)
    fmt::print("{}", json_document(nlohmann::json{{"in", in},
                                                  {"out", out},
                                                  {"events", trace.events},
                                                  {"complete", trace.complete},
                                                  {"note", trace.note},
                                                  {"warnings", trace.warnings}}));
  else
    fmt::print("{} events\n", trace.events);
  return exit_code(trace, args.partial);
}

void add_merge(const Command& cache) {
  const Command sub = cache.command("merge", "put the parts of --shard together: the whole report");
  sub.stands_alone();
  auto a = std::make_shared<MergeArgs>();
  sub.option("PART", a->parts,
             "what each `lanewise cache --shard I/N -o PART` wrote, all N of them")
      .required();
  sub.option("--report", a->reports, "write a report too: FILE.txt, .json, .csv or .sarif")
      .repeated();
  sub.option("--fail-on", a->fail_on, "exit code 1 on a rule (H1 ... H18), E, W or any")
      .suggests(ValueKind::rule)
      .split_at(',');
  sub.flag("--partial", a->partial, "exit code 0 for a trace that ends early, too");
  sub.json(a->json);
  sub.examples(
      {"lanewise run samples/kernels/saxpy.ptx --grid 4 --block 256 --arg i32:1000 --arg f32:2 "
       "--arg zero:f32[1000] --arg zero:f32[1000] --trace saxpy.lwt",
       "lanewise cache saxpy.lwt --preset gv100 --shard 0/2 -o part0.json",
       "lanewise cache saxpy.lwt --preset gv100 --shard 1/2 -o part1.json",
       "lanewise cache merge part0.json part1.json"});
  sub.does([a] { return merge_parts(*a); });
}

}  // namespace

void add_cache(const Command& app) {
  const Command sub = app.command("cache", "what the caches of a GPU do with a memory trace");
  auto a = std::make_shared<CacheArgs>();
  sub.option("TRACE", a->trace,
             ".lwt, .traceg, .trace, kernelslist, .din or mem_trace's output; also .gz, .xz, .zst")
      .required();
  sub.option("--preset", a->presets, "a GPU, file:PRESET.json, or several (commas)")
      .suggests(ValueKind::preset)
      .split_at(',')
      .required();
  sub.option("--report", a->reports,
             "write a report too: FILE.txt, .json, .csv, .sarif, .html or .perfetto.json")
      .repeated();
  sub.option("--fail-on", a->fail_on, "exit code 1 on a rule (H1 ... H18), E, W or any")
      .suggests(ValueKind::rule)
      .split_at(',');
  add_analysis_options(sub, *a);
  sub.option("--shard", a->shard,
             "I/N: of L2 the part I (from 0) of N alone, for `lanewise cache merge`; needs -o");
  sub.option("-o", a->part, "with --shard: the file that gets the part");
  sub.option("--sample", a->sample,
             "1/N: one L2 set in N, drawn at random; L2's counters are estimates with intervals");
  add_read_options(sub, a->read);
  sub.json(a->json);
  add_merge(sub);
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
  auto json = std::make_shared<bool>(false);
  convert.json(*json);
  convert.examples(
      {"lanewise run samples/kernels/saxpy.ptx --grid 1 --block 32 --arg i32:32 --arg f32:2 "
       "--arg zero:f32[32] --arg zero:f32[32] --trace small.lwt",
       "lanewise trace convert small.lwt small.din"});
  convert.does([=] { return convert_trace(*in, *out, *read, *json); });
}

}  // namespace lanewise::cli
