// isa_gate PROGRAM FOLDER [--update] [--slower PERCENT] [bench options]: holds what the GPU
// compiler that the environment names makes of the benchmark kernels against the table in FOLDER. 0
// good, 1 worse, 77 (skipped) when there is no such compiler, or no table for its version. --slower
// says how much slower the figures are taken to be: how the gate itself is tested.
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "tests/bench/isa/table.hpp"

using namespace lanewise::isa_gate;

namespace {

constexpr int kSkipped = 77;

std::string output_of(const std::string& command, int& code) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  std::string text;
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
  const int status = pclose(pipe);
  code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  return text;
}

void slow_down(Table& table, double percent) {
  for (auto& [name, c] : table) {
    c.instructions = static_cast<long>(static_cast<double>(c.instructions) * (1 + percent / 100));
    c.throughput = static_cast<long>(static_cast<double>(c.throughput) * (1 + percent / 100));
  }
}

void say(const char* what, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) std::cout << what << ": " << line << "\n";
}

Table read(const std::string& path) {
  std::ifstream file(path);
  return parse(std::string((std::istreambuf_iterator<char>(file)), {}));
}

int judge(const std::string& path, const Table& found) {
  const Verdict verdict = compare(read(path), found);
  say("WORSE", verdict.worse);
  say("UNKNOWN", verdict.other);
  say("better", verdict.better);
  if (!verdict.good())
    std::cout << "If that is meant: cmake --build --preset release --target update_isa_tables\n";
  else if (!verdict.better.empty())
    std::cout << "The table should learn this: cmake --build --preset release --target "
                 "update_isa_tables\n";
  else
    std::cout << found.size() << " figures as in " << path << "\n";
  return verdict.good() ? 0 : 1;
}

int run(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: isa_gate PROGRAM FOLDER [--update] [--slower PERCENT] [bench options]\n";
    return 2;
  }
  bool update = false, all = true;
  double slower = 0;
  std::string command = std::string("'") + argv[1] + "' bench --isa --json";
  for (int i = 3; i < argc; ++i) {
    if (std::strcmp(argv[i], "--update") == 0)
      update = true;
    else if (std::strcmp(argv[i], "--slower") == 0 && i + 1 < argc)
      slower = std::atof(argv[++i]);
    else {
      all = all && std::strcmp(argv[i], "--filter") != 0;
      command += std::string(" '") + argv[i] + "'";
    }
  }
  // What the limit lets through must not depend on what was compiled here before.
  setenv("MESA_SHADER_CACHE_DISABLE", "true", 1);
  setenv("LANEWISE_CACHE_DIR", "off", 1);
  int code = 0;
  if (all && !update) {
    const std::string one = output_of(command + " --filter '^glsl/copy1$'", code);
    const std::string path = code == 0 ? std::string(argv[2]) + "/" + file_name(one) : "";
    if (std::filesystem::exists(path)) {
      const Table known = read(path);
      for (const auto& [name, c] : known)
        if (c.failed) std::cout << "not tried, as the table says: " << name << "\n";
      command += " --filter '" + compiled_only(known) + "'";
    }
  }
  const std::string json = output_of(command, code);
  if (code == 3) {
    std::cout << "SKIPPED: no such compiler here\n";
    return kSkipped;
  }
  Table found = from_json(json);
  say("not compiled", failures(json));
  if (slower != 0) slow_down(found, slower);
  const std::string path = std::string(argv[2]) + "/" + file_name(json);
  if (update) {
    std::ofstream(path) << print(found);
    std::cout << "wrote " << path << ", " << found.size() << " figures\n";
    return 0;
  }
  if (!std::filesystem::exists(path)) {
    std::cout << "SKIPPED: there is no table " << path << " for this driver's version\n";
    return kSkipped;
  }
  return judge(path, found);
}

}  // namespace

int main(int argc, char** argv) try {
  return run(argc, argv);
} catch (const std::exception& error) {
  std::cerr << "isa_gate: " << error.what() << "\n";
  return 1;
}
