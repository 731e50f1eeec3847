// lanewise bench: figures of the runtime on a device, translated kernels beside hand-written GLSL,
// and the cache tracker on one core. With --isa, what the driver's compiler makes of the kernels.
#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "lanewise/lanewise.hpp"
#include "runtime/bench/cache/cache_figures.hpp"
#include "runtime/bench/device/device_figures.hpp"
#include "runtime/bench/device/launch_figures.hpp"
#include "runtime/cli/commands/bench_rows.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/options.hpp"
#include "runtime/cli/process/child.hpp"
#include "runtime/cli/process/progress.hpp"
#include "runtime/cli/process/watchdog.hpp"
#include "runtime/support/json_document.hpp"

namespace lanewise::cli {
namespace {

struct BenchArgs {
  std::string device = "auto", filter;
  uint32_t repeats = 3, limit = 60;
  double timeout = 0;
  bool json = false, list = false, isa = false, in_process = false;
};

/// A row that can be measured, here or in a process of its own.
struct Row {
  std::string name;
  bool alone = false;
  std::function<Json()> measure;
};

std::regex pattern(const std::string& text) {
  try {
    return std::regex(text);
  } catch (const std::regex_error&) {
    throw Error(ErrorKind::usage,
                fmt::format("--filter '{}': expected a regular expression", text));
  }
}

std::vector<Row> code_rows(const BenchArgs& a) {
  std::vector<Row> rows;
  for (const bench::CodeBenchmark& b : bench::code_benchmarks(a.device))
    rows.push_back({b.name, true, [b] {
                      const bench::CodeFigure f = b.measure();
                      Json row = to_row(f);
                      row["device"] = f.device;
                      row["driver"] = f.driver;
                      return row;
                    }});
  return rows;
}

std::vector<Row> time_rows(const BenchArgs& a) {
  std::vector<bench::Benchmark> all = bench::device_benchmarks(a.device);
  for (const auto& more : {bench::launch_benchmarks(a.device), bench::pair_benchmarks(a.device),
                           bench::cache_benchmarks()})
    all.insert(all.end(), more.begin(), more.end());
  std::vector<Row> rows;
  rows.reserve(all.size());
  for (const bench::Benchmark& b : all)
    rows.push_back(
        {b.name, b.alone, [b, repeats = a.repeats] { return to_row(b.measure(repeats)); }});
  return rows;
}

std::vector<Row> chosen(const BenchArgs& a) {
  std::vector<Row> all = a.isa ? code_rows(a) : time_rows(a);
  const std::regex wanted = pattern(a.filter);
  std::string names;
  for (const Row& r : all) names += (names.empty() ? "" : ", ") + r.name;
  std::erase_if(all, [&](const Row& r) { return !std::regex_search(r.name, wanted); });
  if (all.empty())
    throw Error(ErrorKind::usage,
                fmt::format("--filter '{}' matches none of: {}", a.filter, names));
  return all;
}

std::string exactly(const std::string& name) {
  return fmt::format("^{}$", std::regex_replace(name, std::regex("\\."), "\\."));
}

std::string last_line(std::string text) {
  constexpr std::string_view kPrefix = "lanewise: error: ";
  while (text.ends_with('\n')) text.pop_back();
  text.erase(0, text.rfind('\n') + 1);
  if (text.starts_with(kPrefix)) text.erase(0, kPrefix.size());
  return text;
}

/// The row as another process measures it: neither a driver that does not come to an end nor one
/// that crashes takes the rest with it. Compiling is limited by processor time, which a busy host
/// does not stretch.
Json measured_exclusively(const BenchArgs& a, const std::string& name) {
  std::vector<std::string> arguments{"bench",
                                     "--device",
                                     a.device,
                                     "--filter",
                                     exactly(name),
                                     "--repeats",
                                     std::to_string(a.repeats),
                                     "--json",
                                     "--in-process"};
  if (a.isa) arguments.push_back("--isa");
  const double clock = a.isa ? 10.0 * a.limit : a.limit;
  const ChildOutput child = run_child(arguments, a.isa ? a.limit : 0, clock);
  if (child.expired)
    return failed_row(
        name, fmt::format("not done within {} s{}", a.limit, a.isa ? " of processor time" : ""));
  const Json j = Json::parse(child.out, nullptr, false);
  const Json rows = j.is_object() ? j.value("benchmarks", Json::array()) : Json::array();
  if (rows.size() != 1)
    return failed_row(name, child.err.empty() ? fmt::format("ended with code {}", child.code)
                                              : last_line(child.err));
  return rows.front();
}

Json measured(const BenchArgs& a, const Row& row, size_t before, size_t rows) {
  Progress progress("measuring " + row.name);
  progress.done(before, rows);
  return row.alone && !a.in_process ? measured_exclusively(a, row.name) : row.measure();
}

/// The device is the same in every row, and named once.
void take_device(Json& row, Json& head) {
  for (const char* key : {"device", "driver"}) {
    if (!row.contains(key)) continue;
    head[key] = row[key];
    row.erase(key);
  }
}

/// Only a device can be asked for its name; the tracker's figures need none.
Json head_of(const BenchArgs& a, const std::vector<Row>& rows) {
  const bool on_device = a.device != "auto" || std::ranges::any_of(rows, [](const Row& r) {
                           return r.name.rfind("cache/", 0) != 0;
                         });
  if (!on_device) return {{"device", nullptr}};
  const DeviceInfo info = Device::open(a.device).info();
  if (!a.isa && !info.profile.empty())
    throw Error(ErrorKind::device,
                fmt::format("{} compiles kernels and runs none; use bench --isa", info.name));
  return {{"device", info.name}, {"driver", info.driver}};
}

int run_bench(const BenchArgs& a) {
  Watchdog watchdog(a.timeout, Watchdog::Parts::end_at_once);
  const std::vector<Row> rows = chosen(a);
  if (a.list) {
    Json names = Json::array();
    for (const Row& r : rows) names.push_back({{"name", r.name}});
    if (a.json) fmt::print("{}", json_document(Json{{"benchmarks", names}}));
    for (const Row& r : rows)
      if (!a.json) fmt::print("{}\n", r.name);
    return 0;
  }
  Json head = a.in_process ? Json::object() : head_of(a, rows);
  if (!a.json && head.contains("driver")) {
    fmt::print("device: {} ({})\n", head["device"].get<std::string>(),
               head["driver"].get<std::string>());
    if (a.isa) print_code_heading();
  }
  Json list = Json::array();
  bool wrong = false, failed = false;
  for (const Row& r : rows) {
    Json row = measured(a, r, list.size(), rows.size());
    watchdog.done(list.size() + 1, "benchmarks");
    if (!a.in_process) take_device(row, head);
    wrong = wrong || row.contains("wrong");
    failed = failed || row.contains("failed");
    if (!a.json) a.isa ? print_code(row) : print_figure(row);
    list.push_back(std::move(row));
  }
  const Json means = a.isa ? code_means(list) : Json();
  if (a.isa && !a.json) print_code_means(means);
  if (a.json) {
    head["benchmarks"] = std::move(list);
    if (a.isa) head["geometric_means"] = means;
    fmt::print("{}", json_document(std::move(head)));
  }
  return wrong || failed ? 1 : 0;
}

}  // namespace

void add_bench(const Command& app) {
  const Command sub = app.command(
      "bench", "measure translated kernels beside GLSL, the runtime, and the cache tracker");
  auto a = std::make_shared<BenchArgs>();
  sub.option("--device", a->device, "auto, reference, an index or part of a name or driver")
      .suggests(ValueKind::device);
  sub.option("--filter", a->filter, "only benchmarks whose name this regular expression finds");
  sub.option("--repeats", a->repeats, "how often each is measured (3)").between(1, 1000);
  sub.option("--limit", a->limit, "seconds that a kernel beside GLSL may take in all (60)")
      .between(1, 100000);
  add_timeout_option(sub, a->timeout);
  sub.flag("--isa", a->isa, "the statistics of the driver's compiler instead of times");
  sub.flag("--in-process", a->in_process, "kernels beside GLSL run here, without a limit");
  sub.flag("--list", a->list, "print the names only");
  sub.json(a->json);
  sub.does([a] { return run_bench(*a); });
}

}  // namespace lanewise::cli
