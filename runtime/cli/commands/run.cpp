#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>

#include "lanewise/lanewise.hpp"
#include "runtime/cli/arg_spec.hpp"
#include "runtime/cli/array_values.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/commands/run_trace.hpp"
#include "runtime/cli/commands/stream_script.hpp"
#include "runtime/cli/input.hpp"
#include "runtime/cli/options.hpp"
#include "runtime/cli/process/progress.hpp"
#include "runtime/cli/process/streams.hpp"
#include "runtime/cli/process/unchecked.hpp"
#include "runtime/cli/process/watchdog.hpp"
#include "runtime/support/findings/costs.hpp"
#include "runtime/support/findings/counters.hpp"
#include "runtime/support/json_document.hpp"
#include "runtime/support/output_file.hpp"

namespace lanewise::cli {
namespace {

struct RunArgs {
  std::string kernel, isa, target, device = "auto";
  std::vector<std::string> files, args;
  const std::string& file() const { return files.front(); }
  LaunchArgs launch;
  TraceArgs trace;
  findings::Options findings;
  std::string counters;
  bool json = false;
};

/// The arguments on the device: buffers stay alive until their contents are written back.
struct BoundArgs {
  std::vector<ArgSpec> specs;
  std::vector<Buffer> buffers;  ///< one per spec, empty handle for scalars
  std::vector<Texture> textures;
  std::vector<Arg> values;
  uint32_t local_bytes = 0;
};

/// Of two arrays for one file the first would be lost.
void refuse_shared_files(const std::vector<ArgSpec>& specs) {
  std::set<std::string> written;
  for (const ArgSpec& s : specs)
    if (!s.write_to.empty() && !written.insert(s.write_to).second)
      throw Error(ErrorKind::usage,
                  fmt::format("two arguments are to be written to '{}'", s.write_to));
}

BoundArgs bind_args(Device& device, const std::vector<std::string>& texts, bool checks_written) {
  BoundArgs b;
  for (const std::string& text : texts) b.specs.push_back(parse_arg(text));
  for (const ArgSpec& s : b.specs)
    if (!s.write_to.empty()) check_writable(s.write_to);
  refuse_shared_files(b.specs);
  for (const ArgSpec& s : b.specs) {
    Buffer buffer;
    if (s.kind == ArgSpec::Kind::scalar) {
      b.values.push_back(s.value());
    } else if (s.kind == ArgSpec::Kind::local) {
      // A dynamic LDS argument is its offset behind what came before, 16-aligned.
      b.values.emplace_back(b.local_bytes);
      b.local_bytes = (b.local_bytes + static_cast<uint32_t>(s.local_bytes) + 15) / 16 * 16;
    } else {
      buffer = device.allocate(s.array.bytes.size(), s.path);
      // Zeros that were asked for are contents; an output has none before the kernel writes it.
      const bool zeros = s.kind == ArgSpec::Kind::zero && checks_written;
      if (zeros || (s.kind != ArgSpec::Kind::zero && s.kind != ArgSpec::Kind::out)) {
        buffer.write(std::span<const std::byte>(s.array.bytes));
      }
      if (s.kind == ArgSpec::Kind::texture) {
        b.textures.push_back(device.texture(s.texture, buffer));
        b.values.emplace_back(b.textures.back());
      } else {
        b.values.emplace_back(buffer);
      }
    }
    b.buffers.push_back(buffer);
  }
  return b;
}

/// All that shall be written is read back before the first file is touched.
double write_back(BoundArgs& b, Watchdog& watchdog) {
  const auto start = std::chrono::steady_clock::now();
  for (size_t i = 0; i < b.specs.size(); ++i) {
    ArgSpec& s = b.specs[i];
    if (!s.write_to.empty() || s.prints) b.buffers[i].read(std::span<std::byte>(s.array.bytes));
  }
  watchdog.files_are("its output files were being written: each is a whole one, old or new");
  for (const ArgSpec& s : b.specs)
    if (!s.write_to.empty()) write_array(s.write_to, s.array);
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

bool writes_files(const BoundArgs& b) {
  return std::ranges::any_of(b.specs, [](const ArgSpec& s) { return !s.write_to.empty(); });
}

void print_values(const BoundArgs& b) {
  for (const ArgSpec& s : b.specs)
    if (s.prints) fmt::print("{}", values_text(s.array));
}
/// One text for each `print:` argument, in their order.
nlohmann::json printed_values(const BoundArgs& b) {
  nlohmann::json out = nlohmann::json::array();
  for (const ArgSpec& s : b.specs)
    if (s.prints) out.push_back({{"argument", s.path}, {"values", values_text(s.array)}});
  return out;
}

/// A launch that was given up, or whose device is gone: what the buffers hold is still the user's.
[[noreturn]] void give_up(const Error& error, BoundArgs& bound, Watchdog& watchdog) {
  const bool late = error.kind() == ErrorKind::budget;
  if (!late && error.kind() != ErrorKind::device) throw;
  const std::string what =
      late ? fmt::format("{} (--timeout {})", error.what(), watchdog.seconds()) : error.what();
  if (!writes_files(bound)) throw Error(error.kind(), what);
  std::string files = "the output files hold the buffers as they stood";
  try {
    write_back(bound, watchdog);
  } catch (const Error& e) {
    files = fmt::format("the buffers could not be kept: {}", e.what());
  }
  throw Error(error.kind(), fmt::format("{}; {}", what, files));
}

nlohmann::json to_json(const FaultReport& f) {
  nlohmann::json j = {{"kind", name(f.kind)},
                      {"kernel", f.kernel},
                      {"pc", f.pc},
                      {"line", f.line},
                      {"text", f.text},
                      {"lane", f.lane},
                      {"wave", f.wave},
                      {"group", {f.group.x, f.group.y, f.group.z}},
                      {"address", f.address},
                      {"size", f.size},
                      {"nearest_allocation", nullptr}};
  if (!f.nearest_allocation.empty()) {
    j["nearest_allocation"] = f.nearest_allocation;
    j["allocation"] = {{"name", f.allocation},
                       {"address", f.allocation_address},
                       {"size", f.allocation_size},
                       {"freed", f.allocation_freed},
                       {"offset", static_cast<int64_t>(f.address - f.allocation_address)}};
  }
  if (!f.parameter.empty()) {
    j["parameter"] = f.parameter;
    j["parameter_allocation"] = {{"name", f.parameter_allocation},
                                 {"address", f.parameter_allocation_address}};
  }
  if (!f.space.empty()) {
    j["space"] = f.space;
    j["space_size"] = f.space_size;
  }
  if (f.kind == FaultKind::data_race || f.kind == FaultKind::order_dependent ||
      !f.other_access.empty()) {
    j["other"] = {
        {"access", f.other_access}, {"text", f.other_text},
        {"source", f.other_source}, {"pc", f.other_pc},
        {"line", f.other_line},     {"lane", f.other_lane},
        {"wave", f.other_wave},     {"group", {f.other_group.x, f.other_group.y, f.other_group.z}}};
    j["value_before"] = f.value_before;
    j["value_after"] = f.value_after;
    j["times"] = f.times;
    if (!f.other_schedule.empty()) j["other"]["schedule"] = f.other_schedule;
  }
  // Texts and numbers that nothing above has.
  detail::each_fault_field(f, f, [&](std::string_view name, const auto& value, const auto&) {
    using Value = std::remove_cvref_t<decltype(value)>;
    if (name.starts_with("allocation") || name.starts_with("parameter") ||
        name.starts_with("other_"))
      return;
    if constexpr (std::is_same_v<Value, std::string> || std::is_arithmetic_v<Value>)
      if (value != Value{}) j.emplace(name, value);
  });
  return j;
}

nlohmann::json to_json(const Result& r, const Device& device, const std::string& kernel,
                       double readback_ms, const RunTrace& trace) {
  nlohmann::json faults = nlohmann::json::array();
  for (const FaultReport& f : r.faults) faults.push_back(to_json(f));
  return {{"device", device.info().name},
          {"tier", device.info().tier},
          {"kernel", kernel},
          {"wave_mode", r.wave_mode},
          {"wave_reason", r.wave_reason},
          {"times_ms",
           {{"parse", r.times.parse_ms},
            {"translate", r.times.translate_ms},
            {"pipeline", r.times.pipeline_ms},
            {"dispatch", r.times.dispatch_ms},
            {"readback", readback_ms}}},
          {"printed", r.printed},
          {"faults", faults},
          {"fault_count", r.fault_count},
          {"policies", r.policies.map()},
          {"profile", r.profile.empty() ? nlohmann::json() : nlohmann::json::parse(r.profile)},
          {"cache", trace.json()}};
}

void print_faults(const std::vector<FaultReport>& faults, uint64_t count) {
  constexpr size_t kShown = 4;
  for (size_t i = 0; i < std::min(kShown, faults.size()); ++i) {
    say("{}", format(faults[i]));
  }
  if (count > kShown) {
    const bool races = faults.front().kind == FaultKind::data_race;
    say("... {} {} in all\n", count, races ? "races" : "lanes faulted");
  }
}

/// Prints the faults that count, and writes all findings; the exit code.
int conclude(const RunArgs& a, const Result& r, findings::Output& output,
             const std::string& kernel) {
  output.add_subject(kernel);
  std::vector<FaultReport> counted;
  for (const FaultReport& f : r.faults)
    if (output.add(findings::of_fault(f, format(f), a.file()))) counted.push_back(f);
  const uint64_t reported = r.faults.size();
  if (counted.size() == reported) {
    if (!r.ok()) print_faults(counted, r.fault_count);
  } else {
    print_faults(counted, counted.size());
  }
  if (!r.profile.empty()) {
    findings::Costs costs;
    costs.add(r.profile, kernel, a.file());
    for (findings::Finding& f : costs.findings())
      if (const std::string text = f.report; output.add(std::move(f)) && !a.json)
        fmt::print("{}\n", text);
  }
  for (const std::string& line : output.finish()) say("{}\n", line);
  const bool unseen = counted.empty() && reported != 0 && r.fault_count > reported;
  if (unseen)
    say("{} more lanes faulted than the {} that are reported, so not all of them are suppressed\n",
        r.fault_count - reported, reported);
  if (counted.empty() && !unseen) return 0;
  const bool budget = std::ranges::any_of(
      counted, [](const FaultReport& f) { return f.kind == FaultKind::step_budget; });
  return static_cast<int>(budget ? ErrorKind::budget : ErrorKind::guest);
}

/// Everything but the device is set by the script itself.
int run_stream(const RunArgs& a) {
  LaunchArgs known;
  known.timeout = a.launch.timeout;
  if (!a.kernel.empty() || !a.args.empty() || !a.isa.empty() || !a.target.empty() ||
      !(a.launch == known) || a.findings.any()) {
    throw Error(ErrorKind::usage,
                "a stream script takes --device, --json, --timeout, --trace, --cache and what "
                "belongs to them; all else stands in the script");
  }
  Watchdog watchdog(known.timeout, Watchdog::Parts::end_at_once);
  return run_script(a.file(), a.device, a.json, a.trace, watchdog);
}

/// What could only be found behind the launch.
void check_counters(const RunArgs& a, const LaunchOptions& options) {
  if (a.counters.empty()) return;
  const auto check = options.policies.find("check");
  if (check == options.policies.end() || check->second.find("perf") == std::string::npos)
    throw Error(ErrorKind::usage, "--counters needs --check perf");
  check_writable(a.counters);
}

void write_counters(const RunArgs& a, const std::string& profile, const std::string& kernel,
                    const LaunchOptions& options) {
  findings::Counters counters;
  const Dim3 &grid = options.grid, &block = options.block;
  const std::string why = counters.add(
      profile, {a.file(), kernel, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}});
  if (!why.empty()) throw Error(ErrorKind::guest, "--counters: " + why);
  write_file(a.counters, counters.csv());
}

int run(const RunArgs& a) {
  if (const auto script = std::ranges::find_if(a.files, is_script); script != a.files.end()) {
    if (a.files.size() == 1) return run_stream(a);
    throw Error(ErrorKind::usage, fmt::format("'{}' is a stream script, which runs alone: programs "
                                              "can be linked, scripts cannot",
                                              *script));
  }
  need_sizes(a.launch);
  findings::Output output(a.findings);
  LaunchOptions options = to_options(a.launch);
  check_counters(a, options);
  Watchdog watchdog(options.timeout_seconds);
  Device device = Device::open(a.device);
  const Module module = load_input(device, a.files, to_isa(a.isa), a.target);
  for (const Diagnostic& w : module.warnings()) say("{}\n", format(a.file(), w));
  const Kernel kernel = module.kernel(a.kernel);
  RunTrace trace(device, a.trace, a.file());
  const auto check = options.policies.find("check");
  BoundArgs bound =
      bind_args(device, a.args,
                check != options.policies.end() && check->second.find("init") != std::string::npos);
  options.dynamic_shared += bound.local_bytes;
  options.timeout_seconds = watchdog.left();
  Result result;
  try {
    const Progress progress("running " + kernel.name());
    std::optional<UncheckedAccess> unchecked;
    if (options.memcheck == Memcheck::off) unchecked.emplace();
    result = kernel.launch(options, bound.values);
  } catch (const Error& e) {
    give_up(e, bound, watchdog);
  }
  // Written back even after faults: the buffers that were fine are the user's.
  const double readback_ms = write_back(bound, watchdog);
  const bool failed = trace.finish(a.json);
  if (!a.json) {
    fmt::print("{}", result.printed);
    print_values(bound);
  }
  if (a.json) {
    nlohmann::json j = to_json(result, device, kernel.name(), readback_ms, trace);
    j["arguments"] = printed_values(bound);
    fmt::print("{}", json_document(std::move(j)));
  } else if (result.ok()) {
    fmt::print("{}: done on {} in {:.2f} ms ({} mode)\n", kernel.name(), device.info().name,
               result.times.dispatch_ms, result.wave_mode);
  }
  const int code = conclude(a, result, output, kernel.name());
  if (!a.counters.empty()) write_counters(a, result.profile, kernel.name(), options);
  return code == 0 && failed ? static_cast<int>(ErrorKind::guest) : code;
}

}  // namespace

void add_run(const Command& app) {
  const Command sub = app.command("run", "run a kernel");
  auto a = std::make_shared<RunArgs>();
  sub.option("FILE", a->files,
             "PTX, SASS or GCN text or object, or a file with code of nvcc in it; - for standard "
             "input; several of them are linked; or a .lw script")
      .required();
  sub.option("--kernel", a->kernel, "which kernel, when the file holds several");
  add_isa_option(sub, a->isa);
  sub.option("--target", a->target, "sm_80, sm_52, gfx803, ... in place of the one the file names")
      .suggests(ValueKind::target);
  sub.option("--arg", a->args,
             "kernel argument, in parameter order (repeat): TYPE:VALUE, hex:BYTES, in:FILE.npy, "
             "in:FILE.npz:NAME, out:FILE.npy:TYPE[N,M], inout:FILE.npy[:OUT.npy], zero:TYPE[N,M], "
             "iota:TYPE[N,M], "
             "random:TYPE[N,M][:SEED], print:TYPE[N,M], local:BYTES, "
             "tex:FILE.npy[:filter=linear,address=clamp,...]; TYPE is "
             "u8 i8 u16 i16 u32 i32 u64 i64 f16 f32 f64")
      .suggests(arg_beginnings())
      .repeated();
  sub.option("--device", a->device, "auto, reference, an index or part of a name or driver")
      .suggests(ValueKind::device);
  add_launch_options(sub, a->launch);
  add_trace_options(sub, a->trace);
  add_finding_options(sub, a->findings);
  sub.option("--counters", a->counters,
             "with --check perf: write counters with Nsight Compute's names to FILE.csv, as ncu "
             "--csv does");
  sub.json(a->json);
  sub.examples(
      {"lanewise run samples/kernels/saxpy.ptx --grid 4 --block 256 --arg i32:1000 --arg f32:2 "
       "--arg zero:f32[1000] --arg zero:f32[1000]",
       "lanewise run tests/conformance/ptx_loops.lw --device reference"});
  sub.does([a] { return run(*a); });
}

}  // namespace lanewise::cli
