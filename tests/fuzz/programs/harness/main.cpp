// fuzz_programs: random programs with control flow, on every engine against what their tree says.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "tests/fuzz/programs/harness/campaign.hpp"
#include "tests/fuzz/programs/harness/export.hpp"

using namespace lanewise;
using namespace lanewise::programs;

namespace {

struct Arguments {
  std::string isa = "all", wave = "auto", memcheck = "mix", schedule = "all", across = "all",
              passes = "mix", show, exported;
  CampaignOptions campaign;
};

const std::map<std::string, WaveMode> kWaves = {{"auto", WaveMode::automatic},
                                                {"lane", WaveMode::lane},
                                                {"packed", WaveMode::packed},
                                                {"serial", WaveMode::serial}};
const std::map<std::string, std::vector<Memcheck>> kMemchecks = {
    {"arena", {Memcheck::arena}},
    {"alloc", {Memcheck::alloc}},
    {"off", {Memcheck::off}},
    {"mix", {Memcheck::arena, Memcheck::alloc, Memcheck::off}}};
const std::map<std::string, std::vector<WaveSchedule>> kSchedules = {
    {"automatic", {WaveSchedule::automatic}},
    {"until_stop", {WaveSchedule::until_stop}},
    {"lockstep", {WaveSchedule::lockstep}},
    {"all", {WaveSchedule::automatic, WaveSchedule::until_stop, WaveSchedule::lockstep}}};
const std::map<std::string, Choices::Across> kAcross = {{"none", Choices::Across::none},
                                                        {"uniform", Choices::Across::uniform},
                                                        {"all", Choices::Across::all}};

using Passes = CampaignOptions::Passes;
const std::map<std::string, Passes> kPasses = {
    {"off", Passes::off}, {"on", Passes::on}, {"mix", Passes::mix}};

template <typename T>
std::vector<std::string> names(const std::map<std::string, T>& map) {
  std::vector<std::string> list;
  for (const auto& [name, value] : map) list.push_back(name);
  return list;
}

void add_options(CLI::App& app, Arguments& a) {
  CampaignOptions& c = a.campaign;
  app.add_option("--isa", a.isa, "all, ptx, sass, gcn")->capture_default_str();
  app.add_option("--device", c.device,
                 "all, reference, lavapipe, lavapipe25, swiftshader, part of a device's name, or "
                 "profile:NAME, which only makes modules and validates them")
      ->capture_default_str();
  app.add_option("--wave", a.wave)->capture_default_str()->check(CLI::IsMember(names(kWaves)));
  app.add_option("--schedule", a.schedule, "of the reference engine")
      ->capture_default_str()
      ->check(CLI::IsMember(names(kSchedules)));
  app.add_option("--memcheck", a.memcheck, "mix: one program after the other")
      ->capture_default_str()
      ->check(CLI::IsMember(names(kMemchecks)));
  app.add_option("--across", a.across, "where operations across lanes stand")
      ->capture_default_str()
      ->check(CLI::IsMember(names(kAcross)));
  app.add_option("--passes", a.passes, "of the IR; mix: with and without on the reference engine")
      ->capture_default_str()
      ->check(CLI::IsMember(names(kPasses)));
  app.add_option("--programs", c.programs, "of each instruction set")->capture_default_str();
  app.add_option("--seconds", c.seconds, "instead of --programs: for each instruction set");
  app.add_option("--seed", c.seed, "of the first program; the next has the next")
      ->capture_default_str();
  app.add_option("--shrink", c.shrink_seconds, "seconds for each program that goes wrong")
      ->capture_default_str();
  app.add_option("--jobs", c.jobs, "threads, each with devices of its own")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  app.add_option("--out", c.out, "folder for scripts of what goes wrong")->capture_default_str();
  app.add_option("--show", a.show, "only print the program of --seed: text, script, runtime");
  app.add_option("--export", a.exported,
                 "only write a conformance script of --programs programs, which must be right on "
                 "the reference engine, to this folder");
}

int run(const Arguments& a) {
  unsigned known = 0;
  bool right = true;
  for (const InstructionSet& set : instruction_sets()) {
    if (a.isa != "all" && a.isa != set.name) continue;
    ++known;
    if (!a.show.empty())
      show(set, a.campaign, a.show);
    else if (!a.exported.empty())
      export_scripts(set, a.campaign.seed, a.campaign.programs, a.campaign.choices, a.exported);
    else
      right = run_campaign(set, a.campaign) && right;
  }
  if (known != 0) return right ? 0 : 1;
  fmt::print(stderr, "fuzz_programs: no printer for '{}'\n", a.isa);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments a;
  CLI::App app("Random programs with control flow: their trees against every engine, bit for bit");
  add_options(app, a);
  CLI11_PARSE(app, argc, argv);
  a.campaign.wave = kWaves.at(a.wave);
  a.campaign.schedules = kSchedules.at(a.schedule);
  a.campaign.memchecks = kMemchecks.at(a.memcheck);
  a.campaign.choices.across = kAcross.at(a.across);
  a.campaign.passes = kPasses.at(a.passes);
  // Each program is compiled once.
  ::setenv("MESA_SHADER_CACHE_DISABLE", "true", 0);
  try {
    return run(a);
  } catch (const std::exception& e) {
    fmt::print(stderr, "fuzz_programs: {}\n", e.what());
    return 3;
  }
}
