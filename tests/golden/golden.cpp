// golden FOLDER [--update]: translates kernels for the profile vega10 and compares their SPIR-V
// text with the files in FOLDER, so that what a change costs shows in its diff. Needs no device.
#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "runtime/bench/pairs/guest_text.hpp"
#include "runtime/bench/pairs/pair.hpp"
#include "runtime/spirv/translate.hpp"
#include "tests/golden/normalise.hpp"

using namespace lanewise;

namespace {

struct Kernel {
  const bench::Pair* pair;
  Memcheck memcheck;
  std::string file() const {
    return fmt::format("{}{}.spvasm", pair->name, memcheck == Memcheck::off ? ".off" : "");
  }
};

/// Every benchmark checked, but for those that cross lanes (their waves are run in other modes,
/// whose code is as long as a book), those that differ in their GLSL only, and those that read
/// textures, whose code is for what is bound; of each kind of access one unchecked.
std::vector<Kernel> all_kernels() {
  static const std::set<std::string> unchecked{
      "copy1", "copy4",   "saxpy",      "transpose", "sgemm",     "hist",       "dsum",
      "scan",  "atomics", "saxpy.sass", "hist.sass", "saxpy.gcn", "unpack.gcn", "table.gcn"};
  std::vector<Kernel> all;
  for (const bench::Pair& pair : bench::all_pairs()) {
    if (pair.crosses_lanes || pair.name.ends_with(".unrolled") || pair.texture.name != nullptr)
      continue;
    all.push_back({&pair, Memcheck::alloc});
    if (unchecked.contains(pair.name)) all.push_back({&pair, Memcheck::off});
  }
  return all;
}

std::string text_of(const Kernel& k) {
  Device device = Device::open("profile:vega10");
  const std::string source(bench::guest_text(k.pair->file));
  const auto words = device.load_text(source, k.pair->isa, k.pair->file)
                         .kernel(k.pair->kernel)
                         .spirv(bench::launch_options(*k.pair, k.memcheck));
  if (const std::string wrong = spirv::validate(words); !wrong.empty())
    throw std::runtime_error(k.file() + ": spirv-val: " + wrong);
  return golden::normalise(spirv::disassemble(words));
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string first_difference(const std::string& expected, const std::string& found) {
  std::istringstream a(expected), b(found);
  std::string x, y;
  for (int line = 1;; ++line) {
    const bool more_a = static_cast<bool>(std::getline(a, x));
    const bool more_b = static_cast<bool>(std::getline(b, y));
    if (!more_a && !more_b) return "no difference";
    if (!more_a || !more_b || x != y)
      return fmt::format("line {}: '{}' was '{}'", line, more_b ? y : "", more_a ? x : "");
  }
}

int run(const std::string& folder, bool update) {
  std::set<std::string> wanted;
  int changed = 0;
  for (const Kernel& k : all_kernels()) {
    const std::string path = folder + "/" + k.file(), found = text_of(k);
    wanted.insert(k.file());
    const std::string expected = contents(path);
    if (expected == found) continue;
    ++changed;
    if (update) {
      std::ofstream(path, std::ios::binary) << found;
    } else {
      fmt::print("{}: {}\n", k.file(), first_difference(expected, found));
    }
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".spvasm") || wanted.contains(name)) continue;
    ++changed;
    fmt::print("{}: no kernel has this name\n", name);
    if (update) std::filesystem::remove(entry.path());
  }
  if (update) {
    fmt::print("{} of {} files changed\n", changed, wanted.size());
    return 0;
  }
  if (changed != 0)
    fmt::print(
        "{} files differ. If that is meant, look at the diff after: cmake --build --preset "
        "release --target update_golden\n",
        changed);
  return changed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) {
    fmt::print(stderr, "usage: golden FOLDER [--update]\n");
    return 2;
  }
  return run(argv[1], argc > 2 && std::strcmp(argv[2], "--update") == 0);
} catch (const std::exception& error) {
  fmt::print(stderr, "golden: {}\n", error.what());
  return 1;
}
