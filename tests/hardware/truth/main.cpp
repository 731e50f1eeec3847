// cuda_truth: what a card of NVIDIA's computes and does, through its own driver, beside what
// Lanewise makes of the same PTX. A JSON object a line; docs/hardware.md says what becomes of it.
#define DOCTEST_CONFIG_IMPLEMENT  // the value cases check themselves with it
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "tests/hardware/device/rows.hpp"
#include "tests/hardware/truth/both.hpp"

using namespace lanewise;
using namespace lanewise::truth;

namespace lanewise::truth {

const std::vector<Table>& tables() {
  static const std::vector<Table> list = {
      {"values-integer", value_table}, {"values-float", value_table},
      {"values-convert", value_table}, {"values-bits", value_table},
      {"values-compare", value_table}, {"values-move", value_table},
      {"values-video", value_table},   {"values-approx", value_table},
      {"errors", error_table},         {"atomics", atomic_table},
      {"waves", wave_table},           {"speed", speed_table},
      {"litmus", litmus_table},        {"latency", latency_table},
      {"operators", operator_table},   {"chase", chase_table},
      {"memory", memory_table},        {"left-out", left_out_table}};
  return list;
}

}  // namespace lanewise::truth

namespace {

void print_card(const Card& card) {
  const Facts& f = card.facts();
  kit::print_row({{"kind", "fact"},
                  {"name", "card"},
                  {"card", f.name},
                  {"cuda_driver", f.driver},
                  {"target", card.target()},
                  {"ptx", card.ptx_version()},
                  {"multiprocessors", f.multiprocessors},
                  {"l2_bytes", f.l2_bytes},
                  {"memory", f.memory}});
}

int run(const std::string& wanted, const std::string& device, bool small) {
  std::optional<Card> card;
  try {
    card.emplace();
  } catch (const NoCuda& e) {
    return kit::skip(e.what());
  }
  print_card(*card);
  Bench bench{*card, Device::open(device), small};
  bool known = false, right = true;
  for (const Table& t : tables()) {
    if (wanted != "all" && wanted != t.name) continue;
    known = true;
    right = t.run(bench, t.name) && right;
  }
  if (known) return right ? kit::kPassed : kit::kWrong;
  std::fprintf(stderr, "cuda_truth: there is no table '%s'\n", wanted.c_str());
  return kit::kUsage;
}

}  // namespace

int main(int argc, char** argv) {
  std::string table = "all", device = "auto", file;
  bool small = false, list = false;
  CLI::App app("cuda_truth: the card beside Lanewise, through NVIDIA's driver");
  app.add_option("--table", table, "all, or one of --list")->capture_default_str();
  app.add_option("--device", device, "Lanewise's side")->capture_default_str();
  app.add_option("--check", file, "only hold --device to a table file of a card");
  app.add_flag("--small", small, "a little of each");
  app.add_flag("--list", list, "print the names of the tables only");
  CLI11_PARSE(app, argc, argv);
  if (list) {
    for (const Table& t : tables()) std::puts(t.name.c_str());
    return 0;
  }
  doctest::Context context;
  context.setAsDefaultForAssertsOutOfTestCases();
  try {
    if (!file.empty()) {
      Device opened = Device::open(device);
      return check_table(opened, file) ? kit::kPassed : kit::kWrong;
    }
    return run(table, device, small);
  } catch (const Error& e) {
    std::fprintf(stderr, "cuda_truth: %s\n", e.what());
    return static_cast<int>(e.kind());
  } catch (const std::exception& e) {  // the driver's errors among them
    std::fprintf(stderr, "cuda_truth: %s\n", e.what());
    return kit::kDeviceError;
  }
}
