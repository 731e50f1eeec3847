#include "tests/hardware/kit/stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <thread>

namespace lanewise::kit {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSets[] = {"ptx", "sass", "gcn"};

class Lister {
 public:
  explicit Lister(const Plan& plan) : p_(plan) {}

  std::vector<Stage> all() {
    facts();
    selftest();
    programs();
    streams();
    values();
    bench();
    device();
    truth();
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
      for (const char* wave : {"lane", "packed"})
        for (const char* check : {"alloc", "arena", "off"}) {
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
    for (const char* family : {"ptx", "sass", "sass-atomic", "gcn", "gcn-format"}) {
      if (p_.slice && std::string(family) != "ptx") continue;
      add(fmt::format("streams/{}", family),
          {"fuzz_streams", "--family", family, "--device", p_.device, "--out", p_.scratch,
           p_.slice ? "--cases" : "--seconds", p_.slice ? "300" : "20"},
          150);
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
      add("truth/" + table, words, 500);
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
