// lanewise bench: figures of the runtime on a device, and of the cache tracker on one core.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>

#include "lanewise/lanewise.hpp"
#include "runtime/bench/cache/cache_figures.hpp"
#include "runtime/bench/device/device_figures.hpp"
#include "runtime/cli/commands.hpp"
#include "runtime/cli/progress.hpp"

namespace lanewise::cli {
namespace {

struct BenchArgs {
  std::string device = "auto", filter;
  uint32_t repeats = 3;
  bool json = false, list = false;
};

std::regex pattern(const std::string& text) {
  try {
    return std::regex(text);
  } catch (const std::regex_error&) {
    throw Error(ErrorKind::usage,
                fmt::format("--filter '{}': expected a regular expression", text));
  }
}

std::vector<bench::Benchmark> chosen(const BenchArgs& a) {
  std::vector<bench::Benchmark> all = bench::device_benchmarks(a.device);
  for (bench::Benchmark& b : bench::cache_benchmarks()) all.push_back(std::move(b));
  const std::regex wanted = pattern(a.filter);
  std::string names;
  for (const bench::Benchmark& b : all) names += (names.empty() ? "" : ", ") + b.name;
  std::erase_if(all, [&](const bench::Benchmark& b) { return !std::regex_search(b.name, wanted); });
  if (all.empty())
    throw Error(ErrorKind::usage,
                fmt::format("--filter '{}' matches none of: {}", a.filter, names));
  return all;
}

nlohmann::ordered_json to_json(const bench::Figure& f) {
  nlohmann::ordered_json j = {{"name", f.name}, {"unit", f.unit}, {"value", f.value}};
  if (!f.beside.empty()) {
    j["beside"] = f.beside;
    j["other"] = f.other;
    j["ratio"] = f.ratio();
  }
  for (const auto& [key, value] : f.more) j[key] = value;
  if (!f.wrong.empty()) j["wrong"] = f.wrong;
  return j;
}

/// A line as soon as it is measured.
void print_figure(const bench::Figure& f) {
  fmt::print("{:<16} {:>10.2f} {:<13}", f.name, f.value, f.unit);
  if (!f.beside.empty())
    fmt::print("{:<13} {:>10.2f}  ratio {:>5.2f}", f.beside, f.other, f.ratio());
  for (const auto& [key, value] : f.more) fmt::print("  {} {:.10g}", key, value);
  fmt::print("{}{}\n", f.wrong.empty() ? "" : "  WRONG: ", f.wrong);
  std::fflush(stdout);
}

int run_bench(const BenchArgs& a) {
  const std::vector<bench::Benchmark> all = chosen(a);
  if (a.list) {
    for (const bench::Benchmark& b : all) fmt::print("{}\n", b.name);
    return 0;
  }
  // The tracker's figures need none, but a device that was named has to exist.
  const bool on_device =
      a.device != "auto" || std::ranges::any_of(all, [](const bench::Benchmark& b) {
        return b.name.rfind("cache/", 0) != 0;
      });
  const std::string device = on_device ? Device::open(a.device).info().name : "";
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  if (!a.json && on_device) fmt::print("device: {}\n", device);
  bool wrong = false;
  for (const bench::Benchmark& b : all) {
    const Progress progress("measuring " + b.name);
    const bench::Figure f = b.measure(a.repeats);
    wrong = wrong || !f.wrong.empty();
    if (a.json)
      list.push_back(to_json(f));
    else
      print_figure(f);
  }
  if (a.json) {
    nlohmann::ordered_json j;
    j["device"] = on_device ? nlohmann::ordered_json(device) : nlohmann::ordered_json(nullptr);
    j["benchmarks"] = std::move(list);
    fmt::print("{}\n", j.dump(2));
  }
  return wrong ? 1 : 0;
}

}  // namespace

void add_bench(const Command& app) {
  const Command sub =
      app.command("bench", "measure the runtime on a device, and the cache tracker");
  auto a = std::make_shared<BenchArgs>();
  sub.option("--device", a->device, "auto, reference, an index or part of a name or driver");
  sub.option("--filter", a->filter, "only benchmarks whose name this regular expression finds");
  sub.option("--repeats", a->repeats, "how often each is measured (3)").between(1, 1000);
  sub.flag("--list", a->list, "print the names only");
  sub.flag("--json", a->json, "print one JSON object");
  sub.does([a] { return run_bench(*a); });
}

}  // namespace lanewise::cli
