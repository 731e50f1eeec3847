// cuda_truth: what a card of NVIDIA's computes and does, through its own driver, beside what
// Lanewise makes of the same PTX. A JSON object a line; docs/hardware.md says what becomes of it.
#define DOCTEST_CONFIG_IMPLEMENT  // the value cases check themselves with it
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <unistd.h>

#include <CLI/CLI.hpp>

#include "tests/hardware/device/rows.hpp"
#include "tests/hardware/truth/both.hpp"

using namespace lanewise;
using namespace lanewise::truth;

namespace lanewise::truth {
namespace {
std::string own_table, own_device, own_preset;  ///< what `start_again` passes on
bool own_small = false;
}  // namespace

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
      {"matrix", matrix_table},        {"textures", texture_table},
      {"memory", memory_table},        {"left-out", left_out_table}};
  return list;
}

void start_again(const std::string& table, const Resume& resume) {
  if (own_table == "all") throw CudaError("a form of " + table + " faults: ask that table alone");
  std::vector<std::string> words = {"cuda_truth",
                                    "--table",
                                    table,
                                    "--device",
                                    own_device,
                                    "--from",
                                    fmt::format("{}", resume.from),
                                    "--alone",
                                    fmt::format("{}", resume.alone),
                                    "--faults",
                                    fmt::format("{}", resume.faults)};
  if (!own_preset.empty()) words.insert(words.end(), {"--preset", own_preset});
  if (resume.wrong) words.emplace_back("--wrong");
  if (own_small) words.emplace_back("--small");
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& w : words) arguments.push_back(w.data());
  arguments.push_back(nullptr);
  std::fflush(stdout);
  ::execv("/proc/self/exe", arguments.data());
  throw std::runtime_error("cannot start again after a fault");
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

/// The preset that is meant for such a card.
std::string preset_of(const Card& card) {
  if (!own_preset.empty()) return own_preset;
  const Facts& f = card.facts();
  const int target = 10 * f.major + f.minor;
  return target >= 90 ? "gh100" : target >= 80 ? "ga100" : target >= 70 ? "gv100" : "gp102";
}

int run(const std::string& wanted, const std::string& device, bool small, const Resume& resume) {
  std::optional<Card> card;
  try {
    card.emplace();
  } catch (const NoCuda& e) {
    return kit::skip(e.what());
  }
  if (resume.faults + resume.alone == 0) print_card(*card);
  Bench bench{*card, Device::open(device), small, resume, preset_of(*card)};
  bool known = false, right = !resume.wrong;
  for (const Table& t : tables()) {
    if (wanted != "all" && wanted != t.name) continue;
    known = true;
    right = t.run(bench, t.name) && right;
  }
  if (known) return right ? kit::kPassed : kit::kWrong;
  std::fprintf(stderr, "cuda_truth: there is no table '%s'\n", wanted.c_str());
  return kit::kUsage;
}

int start(int argc, char** argv) {
  std::string table = "all", device = "auto", file;
  bool small = false, list = false;
  Resume resume;
  CLI::App app("cuda_truth: the card beside Lanewise, through NVIDIA's driver");
  app.add_option("--table", table, "all, or one of --list")->capture_default_str();
  app.add_option("--device", device, "Lanewise's side")->capture_default_str();
  app.add_option("--check", file, "only hold --device to a table file of a card");
  app.add_option("--preset", own_preset, "whose caches stand beside the card's; by its target");
  app.add_flag("--small", small, "a little of each");
  app.add_option("--from", resume.from, "set by itself after a fault: forms that are done");
  app.add_option("--alone", resume.alone, "likewise: next forms that get a kernel each");
  app.add_option("--faults", resume.faults, "likewise: forms that have faulted");
  app.add_flag("--wrong", resume.wrong, "likewise: a row has differed");
  app.add_flag("--list", list, "print the names of the tables only");
  CLI11_PARSE(app, argc, argv);
  if (list) {
    for (const Table& t : tables()) std::puts(t.name.c_str());
    return 0;
  }
  doctest::Context context;
  context.setAsDefaultForAssertsOutOfTestCases();
  if (!file.empty()) {
    Device opened = Device::open(device);
    return check_table(opened, file) ? kit::kPassed : kit::kWrong;
  }
  own_table = table;
  own_device = device;
  own_small = small;
  return run(table, device, small, resume);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return start(argc, argv);
  } catch (const Error& e) {
    std::fprintf(stderr, "cuda_truth: %s\n", e.what());
    return static_cast<int>(e.kind());
  } catch (const std::exception& e) {  // the driver's errors among them
    std::fprintf(stderr, "cuda_truth: %s\n", e.what());
    return kit::kDeviceError;
  }
}
