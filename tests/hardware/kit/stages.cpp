#include "tests/hardware/kit/stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <thread>

namespace lanewise::kit {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSets[] = {"ptx", "sass", "gcn"};
constexpr const char* kWaves[] = {"lane", "packed"};
constexpr const char* kChecks[] = {"alloc", "arena", "off"};

/// What the first minutes on a card are for: what only it can answer, then whether it is right, how
/// quick it is, and last what takes long and rarely finds anything.
int worth_of(const std::string& stage) {
  constexpr std::pair<const char*, int> kWorth[] = {
      {"facts", 9},         {"truth/operators", 8}, {"truth/matrix", 8}, {"truth/textures", 8},
      {"truth/errors", 7},  {"truth/speed", 7},     {"truth/litmus", 7}, {"truth/latency", 7},
      {"truth/chase", 7},   {"truth/memory", 1},    {"truth/", 5},       {"exec/dev_", 1},
      {"exec/cub_sort", 1}, {"exec/", 6},           {"device/soak", 1},  {"device/compile", 3},
      {"device/", 5},       {"selftest/", 4},       {"values/", 4},      {"streams/", 3},
      {"bench/", 3},        {"programs/", 2}};
  for (const auto& [begin, worth] : kWorth)
    if (stage.starts_with(begin)) return worth;
  return 0;
}

class Lister {
 public:
  explicit Lister(const Plan& plan) : p_(plan) {}

  std::vector<Stage> all() {
    facts();
    exec();
    selftest();
    programs();
    streams();
    values();
    bench();
    device();
    truth();
    for (Stage& s : stages_) s.worth = worth_of(s.name);
    std::ranges::stable_sort(stages_, std::greater(), &Stage::worth);
    for (const Stage& s : p_.planted) stages_.push_back(s);
    return std::move(stages_);
  }

 private:
  std::string program(const std::string& name) const { return p_.programs + "/" + name; }

  void add(const std::string& name, std::vector<std::string> words, double limit) {
    words[0] = program(words[0]);
    Stage s{name, {std::move(words), {{"LANEWISE_TEST_DEVICE", p_.device}}, limit}};
    if (!fs::exists(s.command.words[0])) s.skipped = "the kit has no " + s.command.words[0];
    stages_.push_back(std::move(s));
  }

  /// What a program lists, a line each.
  std::vector<std::string> listed(const std::string& name, std::vector<std::string> options) const {
    std::vector<std::string> lines;
    options.insert(options.begin(), program(name));
    if (!fs::exists(options[0])) return lines;
    run_command({std::move(options), {{"LANEWISE_TEST_DEVICE", p_.device}}, 60},
                [&](const std::string& line, bool error) {
                  if (!error) lines.push_back(line);
                });
    return lines;
  }

  void facts() { add("facts", {"kit_device", "facts", "--device", p_.device}, 120); }

  /// CUDA and HIP programs with results of the host, through `lanewise exec`.
  void exec() {
    std::vector<fs::path> files;
    if (!fs::is_directory(p_.exec)) return;
    for (const auto& entry : fs::recursive_directory_iterator(p_.exec)) {
      const std::string ending = entry.path().extension().string();
      if (ending == ".hip5" || ending.starts_with(".cuda")) files.push_back(entry.path());
    }
    std::ranges::sort(files);
    for (const fs::path& file : files) {
      const std::string name = file.stem().string();
      // They want arguments, several devices or NVRTC, or have a mistake on purpose.
      if (name == "errors" || name == "jit" || name == "drv_devices" || name == "blur_first")
        continue;
      if (p_.slice && file.filename() != "vector_add.cuda13" && file.extension() != ".hip5")
        continue;
      if (p_.slice && file.extension() == ".hip5" && name != "hip_vector_add") continue;
      std::error_code refused;  // where the folder is not ours to change
      fs::permissions(file, fs::perms::owner_exec, fs::perm_options::add, refused);
      add("exec/" + file.filename().string(),
          {"lanewise", "exec", "--device", p_.device, "--fault-exit-code", "0", file.string()},
          150);
      stages_.back().expects = name + ": ok";
      if (name == "dev_barriers" || name == "dev_grid_sync")
        stages_.back().skipped = "barriers of all blocks are the reference engine's";
    }
  }

  /// A family each: a case that hangs, or loses the device, costs its own family.
  void selftest() {
    std::vector<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(p_.suite))
      if (entry.path().extension() == ".lw") files.push_back(entry.path().string());
    std::ranges::sort(files);
    for (const std::string& file : files) {
      const std::string family = fs::path(file).stem().string();
      if (p_.slice && family != "ptx_st") continue;
      const std::string folder = p_.scratch + "/suite/" + family;
      fs::create_directories(folder);
      std::error_code exists;
      fs::create_symlink(fs::absolute(file), folder + "/" + family + ".lw", exists);
      std::vector<std::string> words = {"lanewise", "selftest", "--suite",   folder,
                                        "--device", p_.device,  "--verbose", "--json"};
      if (p_.slice) words.emplace_back("--quick");
      add("selftest/" + family, words, 300);
    }
  }

  void programs() {
    const std::string jobs =
        std::to_string(std::clamp(std::thread::hardware_concurrency() / 2, 1U, 8U));
    for (const char* set : kSets)
      for (const char* wave : kWaves)
        for (const char* check : kChecks) {
          if (p_.slice && std::string(set) + wave + check != "ptxlaneoff") continue;
          std::vector<std::string> words = {
              "fuzz_programs", "--isa",    set,       "--wave", wave,      "--memcheck",
              check,           "--device", p_.device, "--out",  p_.scratch};
          for (const char* w : {"--jobs", p_.slice ? "1" : jobs.c_str(), "--seed", "1"})
            words.emplace_back(w);
          words.emplace_back(p_.slice ? "--programs" : "--seconds");
          words.emplace_back(p_.slice ? "2" : "20");
          add(fmt::format("programs/{}-{}-{}", set, wave, check), words, 200);
        }
  }

  void streams() {
    for (const char* family : {"ptx", "sass", "sass-atomic", "gcn", "gcn-format"})
      for (const char* wave : kWaves)
        for (const char* check : kChecks) {
          const std::string name = fmt::format("{}-{}-{}", family, wave, check);
          if (p_.slice && name != "ptx-lane-arena" && name != "sass-packed-off" &&
              name != "gcn-packed-alloc")
            continue;
          add("streams/" + name,
              {"fuzz_streams", "--family", family, "--wave", wave, "--memcheck", check, "--device",
               p_.device, "--out", p_.scratch, p_.slice ? "--cases" : "--seconds",
               p_.slice ? "300" : "5"},
              300);
        }
  }

  /// The cases of the value tests that compare values; others prove the tables on the host.
  void values() {
    for (const char* set : kSets) {
      const std::string name = fmt::format("test_values_{}", set);
      for (const std::string& line :
           listed(name, {"--list-test-cases", "--no-version", "--no-colors"})) {
        if (!line.starts_with("values: ") && !line.starts_with("gcn values: ")) continue;
        if (line.find("of the table") != line.npos || line.find(" taken out ") != line.npos ||
            line.find("stands in a case") != line.npos)
          continue;
        if (p_.slice && line != "values: carries") continue;
        std::string pattern = line;  // a comma would end the pattern
        std::ranges::replace(pattern, ',', '?');
        add(fmt::format("values/{}/{}", set, line.substr(line.find(": ") + 2)),
            {name, "--no-version", "--no-colors", "--test-case=" + pattern}, 240);
        stages_.back().command.environment["LANEWISE_VALUE_ROWS"] = "1";
      }
    }
  }

  /// A row each, in the order of `lanewise bench --list`. The tracker's own rows need no device.
  void bench() {
    for (const std::string& row : listed("lanewise", {"bench", "--device", p_.device, "--list"})) {
      if (row.starts_with("cache/") || (p_.slice && row != "glsl/copy1/off")) continue;
      std::string pattern = "^" + row + "$";
      for (size_t at = 0; (at = pattern.find('.', at)) != std::string::npos; at += 2)
        pattern.insert(at, "\\");
      add("bench/" + row,
          {"lanewise", "bench", "--device", p_.device, "--filter", pattern, "--json", "--limit",
           "100", "--repeats", p_.slice ? "1" : "3"},
          120);
    }
  }

  void device() {
    for (const char* what : {"compile", "copy", "large"}) {
      std::vector<std::string> words = {"kit_device", what, "--device", p_.device};
      if (p_.slice) words.emplace_back("--small");
      add(fmt::format("device/{}", what), words, 300);
    }
    add("device/soak", {"soak", "--device", p_.device, "--launches", p_.slice ? "500" : "500000"},
        300);
  }

  void truth() {
    const std::vector<std::string> tables = listed("cuda_truth", {"--list"});
    for (const std::string& table : tables) {
      std::vector<std::string> words = {"cuda_truth", "--table", table, "--device", p_.device};
      if (p_.slice) words.emplace_back("--small");
      add("truth/" + table, words, 250);
    }
  }

  const Plan& p_;
  std::vector<Stage> stages_;
};

}  // namespace

std::vector<Stage> stages(const Plan& plan) {
  return Lister(plan).all();
}

}  // namespace lanewise::kit
