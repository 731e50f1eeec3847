#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/cli/arg_spec.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/options.hpp"
#include "runtime/cli/process/progress.hpp"
#include "runtime/cli/process/streams.hpp"
#include "runtime/cli/process/watchdog.hpp"
#include "runtime/diff/diff.hpp"
#include "runtime/support/json_document.hpp"

namespace lanewise::cli {
namespace {

struct DiffArgs {
  DiffArgs() {
    launch.grid = std::string("2");
    launch.block = std::string("64");
  }
  std::string file_a, file_b, kernel, kernel_b, target_a, target_b, device = "reference", save;
  std::vector<std::string> args;
  LaunchArgs launch;
  uint32_t seed = 1, tries = 8;
  bool json = false;
};

diff::Input input_of(const ArgSpec& spec, const std::string& text) {
  if (spec.kind == ArgSpec::Kind::texture)
    throw Error(ErrorKind::usage,
                fmt::format("--arg {}: diff makes inputs of buffers and numbers alone", text));
  diff::Input in;
  in.name = text;
  if (spec.kind == ArgSpec::Kind::scalar) {
    in.bytes = spec.scalar;
    in.integer = spec.integer;
    in.is_signed = spec.is_signed;
  } else if (spec.kind == ArgSpec::Kind::local) {
    in.kind = diff::Input::Kind::local;
    in.local_bytes = spec.local_bytes;
  } else {
    in.kind = diff::Input::Kind::buffer;
    in.type = spec.array.type;
    in.bytes = spec.array.bytes;
    in.filled = spec.kind == ArgSpec::Kind::zero || spec.kind == ArgSpec::Kind::out;
  }
  return in;
}

diff::Request request_of(const DiffArgs& a, std::string& reported) {
  diff::Request r;
  r.a = {a.file_a, a.kernel, a.target_a};
  r.b = {a.file_b, a.kernel_b.empty() ? a.kernel : a.kernel_b, a.target_b};
  r.device = a.device;
  r.options = to_options(a.launch);
  r.options.timeout_seconds = 0;  // all the launches share one limit
  r.seed = a.seed;
  r.tries = a.tries;
  for (const std::string& text : a.args) r.inputs.push_back(input_of(parse_arg(text), text));
  if (a.args.empty()) r.inputs = diff::guess_inputs(r.a, r.options, reported);
  return r;
}

const char* verdict_name(diff::Verdict v) {
  static constexpr const char* kNames[] = {"equal", "different", "undecided"};
  return kNames[static_cast<size_t>(v)];
}

std::string dims(const Dim3& d) {
  return fmt::format("{},{},{}", d.x, d.y, d.z);
}

std::string place_text(const std::string& file, const std::optional<diff::Store>& s) {
  if (!s) return fmt::format("{}: does not store there", file);
  const std::string place = s->place.line != 0 ? fmt::format("{}:{}", file, s->place.line)
                                               : fmt::format("{}, pc {:#x}", file, s->place.pc);
  return fmt::format("{}: {}, group {}, thread {}", place, s->place.text, s->group, s->lane);
}

/// What is left of the made-up inputs.
void print_inputs(const diff::Report& r) {
  constexpr size_t kShown = 8;
  for (size_t i = 0; i < r.inputs.size(); ++i) {
    const diff::Input& in = r.inputs[i];
    if (!in.filled) continue;
    const size_t size = npy::element_size(in.type);
    std::string text;
    size_t others = 0, shown = 0;
    for (size_t n = 0; n < in.bytes.size() / size; ++n) {
      const auto* at = in.bytes.data() + n * size;
      if (std::all_of(at, at + size, [](std::byte b) { return b == std::byte{0}; })) continue;
      if (shown++ < kShown)
        text += fmt::format(" [{}] = {}", n, diff::value_text(in.type, at));
      else
        ++others;
    }
    if (others != 0) text += fmt::format(" and {} others", others);
    fmt::print("  argument {} ({}):{}\n", i + 1, in.name, text.empty() ? " zeros" : text);
  }
}

void print_difference(const diff::Report& r, const DiffArgs& a) {
  fmt::print("  {} element{} with grid {} and block {} (made small in {} runs); inputs:\n",
             r.different, r.different == 1 ? "" : "s", dims(r.options.grid), dims(r.options.block),
             r.runs);
  print_inputs(r);
  const diff::Site& s = *r.first;
  fmt::print("first differing store: {}\n  A {} {}\n  B {} {}\n", s.where, s.a,
             place_text(a.file_a, s.store_a), s.b, place_text(a.file_b, s.store_b));
}

void print_open(const diff::Report& r) {
  if (r.bound != 0) {
    fmt::print("  floats may differ by {:.3g}; {} differ, by {:.3g} at most, because of:\n",
               r.bound, r.within, r.largest);
    for (const diff::FreeOp& op : r.free_ops) fmt::print("    {} ({})\n", op.text, op.why);
  }
  if (r.nan_payloads != 0) fmt::print("  {} NaNs differ in their payload\n", r.nan_payloads);
  if (r.pointers != 0)
    fmt::print("  {} elements are pointers to the same place of a buffer, at another address\n",
               r.pointers);
  for (const std::string& note : r.notes) fmt::print("  {}\n", note);
}

nlohmann::json store_json(const std::string& value, const std::optional<diff::Store>& s) {
  nlohmann::json j = {{"value", value}, {"store", nullptr}};
  if (s)
    j["store"] = {{"text", s->place.text},
                  {"line", s->place.line},
                  {"pc", s->place.pc},
                  {"group", s->group},
                  {"thread", s->lane}};
  return j;
}

nlohmann::json report_json(const diff::Report& r, const DiffArgs& a) {
  nlohmann::json open = nlohmann::json::array(), faults = nlohmann::json::array();
  for (const diff::FreeOp& op : r.free_ops) open.push_back({{"text", op.text}, {"why", op.why}});
  for (const FaultReport& f : r.faults)
    faults.push_back({{"kind", name(f.kind)}, {"text", f.text}, {"line", f.line}, {"pc", f.pc}});
  nlohmann::json j = {{"verdict", verdict_name(r.verdict)},
                      {"kernels", {r.kernel_a, r.kernel_b}},
                      {"device", a.device},
                      {"seed", a.seed},
                      {"tries", r.tries},
                      {"why", r.why},
                      {"faults", faults},
                      {"bound", r.bound},
                      {"within_bound", r.within},
                      {"largest_within_bound", r.largest},
                      {"nan_payloads", r.nan_payloads},
                      {"pointers", r.pointers},
                      {"open", open},
                      {"notes", r.notes},
                      {"different_elements", r.different},
                      {"first", nullptr}};
  if (r.first)
    j["first"] = {{"where", r.first->where},
                  {"grid", dims(r.options.grid)},
                  {"block", dims(r.options.block)},
                  {"a", store_json(r.first->a, r.first->store_a)},
                  {"b", store_json(r.first->b, r.first->store_b)}};
  return j;
}

/// The inputs of a difference, one file for each buffer.
void save_inputs(const diff::Report& r, const std::string& prefix) {
  for (size_t i = 0; i < r.inputs.size(); ++i) {
    const diff::Input& in = r.inputs[i];
    if (in.kind != diff::Input::Kind::buffer) continue;
    const uint64_t count = in.bytes.size() / npy::element_size(in.type);
    write_array(fmt::format("{}{}.npy", prefix, i + 1), {in.type, {count}, in.bytes});
  }
}

/// The kernels to compare: the one that was named, or all that both files have.
std::vector<std::string> kernels_of(const DiffArgs& a) {
  if (!a.kernel.empty() || !a.kernel_b.empty() || !a.args.empty()) return {a.kernel};
  const std::vector<std::string> first = diff::kernel_names({a.file_a, "", a.target_a});
  const std::vector<std::string> second = diff::kernel_names({a.file_b, "", a.target_b});
  if (first.empty() || second.empty()) return {""};  // what is wrong is reported where it is read
  std::vector<std::string> both;
  for (const std::string& name : first)
    if (std::ranges::find(second, name) != second.end()) both.push_back(name);
  if (both.empty())
    throw Error(ErrorKind::usage, fmt::format("{} and {} have no kernel of one name; name two with "
                                              "--kernel and --kernel-b",
                                              a.file_a, a.file_b));
  return both;
}

void print_report(const diff::Report& r, const DiffArgs& a, const std::string& reported) {
  fmt::print("{}: {} in {} and {}, {} inputs from seed {}{}{}\n", verdict_name(r.verdict),
             r.kernel_a, a.file_a, a.file_b, r.tries, a.seed, r.why.empty() ? "" : ": ", r.why);
  if (!reported.empty()) fmt::print("  arguments chosen: {}\n", reported);
  print_open(r);
  if (r.first) print_difference(r, a);
  if (!r.faults.empty()) say("{}", format(r.faults.front()));
}

diff::Report compare(DiffArgs a, const std::vector<std::string>& kernels, size_t which,
                     std::string& reported) {
  a.kernel = kernels[which];
  Progress progress(fmt::format("comparing {} and {}", a.file_a, a.file_b));
  if (kernels.size() > 1) progress.done(which, kernels.size());
  return diff::compare_kernels(request_of(a, reported));
}

int run(const DiffArgs& a) {
  Watchdog watchdog(a.launch.timeout, Watchdog::Parts::end_at_once);
  watchdog.files_are("every file is a whole one, old or new");
  bool different = false, undecided = false;
  nlohmann::json all = nlohmann::json::array();
  const std::vector<std::string> kernels = kernels_of(a);
  for (size_t which = 0; which < kernels.size(); ++which) {
    std::string reported;
    const diff::Report r = compare(a, kernels, which, reported);
    watchdog.done(which + 1, "kernels");
    different |= r.verdict == diff::Verdict::different;
    undecided |= r.verdict == diff::Verdict::undecided;
    if (!a.save.empty() && r.verdict == diff::Verdict::different) save_inputs(r, a.save);
    if (a.json)
      all.push_back(report_json(r, a));
    else
      print_report(r, a, reported);
  }
  if (a.json) fmt::print("{}", json_document(kernels.size() == 1 ? all[0] : all));
  return different ? 1 : undecided ? 2 : 0;
}

}  // namespace

void add_diff(const Command& app) {
  const Command sub = app.command("diff", "run two forms of one kernel on the same random inputs");
  auto a = std::make_shared<DiffArgs>();
  sub.option("A", a->file_a, "PTX, SASS or GCN, text or object").required();
  sub.option("B", a->file_b, "another form of the same kernel").required();
  sub.option("--kernel", a->kernel, "which kernel, when the files hold several");
  sub.option("--kernel-b", a->kernel_b, "its name in B, where it has another one");
  sub.option("--target-a", a->target_a, "target in place of the one that A names")
      .suggests(ValueKind::target);
  sub.option("--target-b", a->target_b, "target in place of the one that B names")
      .suggests(ValueKind::target);
  sub.option("--arg", a->args, "argument as `run` takes it; zero: and out: are filled at random")
      .suggests(arg_beginnings())
      .repeated();
  sub.option("--seed", a->seed, "of the random inputs");
  sub.option("--tries", a->tries, "how many inputs").between(1, 100000);
  sub.option("--device", a->device, "where both run (default: reference)")
      .suggests(ValueKind::device);
  sub.option("--save", a->save, "PREFIX of .npy files for the inputs of a difference");
  add_launch_options(sub, a->launch);
  sub.json(a->json);
  sub.examples(
      {"lanewise diff tests/kernels/data/ptx/saxpy.sm75.ptx tests/kernels/data/ptx/saxpy.clang.ptx "
       "--device reference"});
  sub.does([a] { return run(*a); });
}

}  // namespace lanewise::cli
