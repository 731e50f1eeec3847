// fuzz_streams: random streams of every family, literal oracle against every engine.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <fstream>

#include "tests/fuzz/streams/shrink.hpp"
#include "tests/support/devices.hpp"

using namespace lanewise;
using namespace lanewise::fuzz;

namespace {

struct Options {
  std::string family = "all", device = "all", out = ".", memcheck = "mix", wave = "auto";
  uint64_t cases = 2000, seed = 1;
  unsigned waves = 8;
  double seconds = 0;  ///< 0: as many cases as asked
};

const std::map<std::string, std::vector<Memcheck>> kMemchecks = {
    {"arena", {Memcheck::arena}},
    {"alloc", {Memcheck::alloc}},
    {"off", {Memcheck::off}},
    {"mix", {Memcheck::arena, Memcheck::alloc, Memcheck::off}}};
const std::map<std::string, std::vector<WaveMode>> kWaves = {
    {"auto", {WaveMode::automatic}},
    {"lane", {WaveMode::lane}},
    {"packed", {WaveMode::packed}},
    {"serial", {WaveMode::serial}},
    {"mix", {WaveMode::lane, WaveMode::packed}}};

/// What the options say of one program: where they leave a choice, one after the other.
Mode mode_of(const Options& o, uint64_t seed) {
  const auto& checks = kMemchecks.at(o.memcheck);
  const auto& waves = kWaves.at(o.wave);
  return {checks[seed % checks.size()], waves[seed % waves.size()]};
}
std::string words_of(const Mode& mode) {
  const auto has = [&](const auto& choice) { return choice.second == std::vector{mode.check}; };
  return fmt::format("--memcheck {} --wave {}", std::ranges::find_if(kMemchecks, has)->first,
                     mode.wave == WaveMode::automatic ? "auto" : name(mode.wave));
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Target {
  std::string label;
  std::shared_ptr<Engine> engine;
  double seconds = 0;
};

std::vector<Target> targets(const Options& o) {
  std::vector<Target> list;
  for (const test::TestEngine& e : test::engines_named(o.device))
    list.push_back({e.label, e.engine, 0});
  return list;
}

void report(const Options& o, const Family& family, uint64_t seed, const Target& t,
            const Batch::Mismatch& m) {
  const std::string mode = words_of(mode_of(o, seed));
  fmt::print("MISMATCH {} seed {} {} on {}: {}\n", family.name, seed, mode, t.label, m.what);
  const std::string note = fmt::format("fuzz_streams --family {} --seed {} --waves {} {} on {}",
                                       family.name, seed, o.waves, mode, t.label);
  const Shrunk s = shrink(m.suspects, *t.engine, note);
  if (s.script.empty()) return;
  const std::string path = fmt::format("{}/fuzz_{}_{}_{}.lw", o.out, family.name, seed, t.label);
  std::ofstream(path) << s.script;
  fmt::print("{}: {}\n", path, s.fails ? "fails when run alone" : "does not fail alone");
  if (s.fails && s.script.size() < 2000) fmt::print("{}", s.script);
}

/// Runs one family; how many programs went wrong.
unsigned run_family(const Options& o, const Family& family, std::vector<Target> list) {
  const double end = now() + o.seconds;
  uint64_t cases = 0, reaching = 0, faulting = 0, seed = o.seed;
  unsigned programs = 0, wrong = 0;
  for (; o.seconds > 0 ? now() < end : cases < o.cases; ++seed, ++programs) {
    Batch batch(family, seed, o.waves, mode_of(o, seed));
    for (Target& t : list) {
      const double start = now();
      const auto mismatch = batch.run(*t.engine);
      t.seconds += now() - start;
      if (!mismatch) continue;
      report(o, family, seed, t, *mismatch);
      if (++wrong >= 5) return wrong;
    }
    cases += batch.cases();
    reaching += batch.reaching();
    faulting += batch.faulting();
  }
  fmt::print("{}: {} cases in {} programs ({} reach memory, {} fault), {} mismatches;", family.name,
             cases, programs, reaching, faulting, wrong);
  for (const Target& t : list) fmt::print(" {} {:.1f} s", t.label, t.seconds);
  fmt::print("\n");
  std::fflush(stdout);
  return wrong;
}

void add_options(CLI::App& app, Options& o) {
  std::string names;
  for (const Family& f : families()) names += " " + f.name;
  app.add_option("--family", o.family, "all, or one of" + names)->capture_default_str();
  app.add_option(
         "--device", o.device,
         "all, reference, lavapipe, lavapipe25, swiftshader, auto, or part of a device's name")
      ->capture_default_str();
  app.add_option("--cases", o.cases, "per family: one instruction in one lane is a case")
      ->capture_default_str();
  app.add_option("--seconds", o.seconds, "instead of --cases: per family");
  app.add_option("--seed", o.seed, "of the first program; the next has the next")
      ->capture_default_str();
  app.add_option("--waves", o.waves, "in one dispatch")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  app.add_option("--memcheck", o.memcheck, "mix: one program after the other")
      ->capture_default_str()
      ->check(CLI::IsMember(kMemchecks));
  app.add_option("--wave", o.wave, "mix: lane and packed, one program after the other")
      ->capture_default_str()
      ->check(CLI::IsMember(kWaves));
  app.add_option("--out", o.out, "folder for scripts of what goes wrong")->capture_default_str();
}

int run(const Options& o) {
  unsigned wrong = 0, known = 0;
  const std::vector<Target> list = targets(o);
  for (const Family& f : families()) {
    if (o.family != "all" && o.family != f.name) continue;
    ++known;
    wrong += run_family(o, f, list);
  }
  if (known == 0 || list.empty()) {
    fmt::print(stderr, "fuzz_streams: no such {}\n", known == 0 ? "family" : "device");
    return 2;
  }
  if (test::validation_messages() != 0) fmt::print("the validation layer complained\n");
  return wrong == 0 && test::validation_messages() == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app("Random streams: literal oracle, reference engine and Vulkan devices, bit for bit");
  add_options(app, o);
  CLI11_PARSE(app, argc, argv);
  try {
    return run(o);
  } catch (const std::exception& e) {
    fmt::print(stderr, "fuzz_streams: {}\n", e.what());
    return 3;
  }
}
