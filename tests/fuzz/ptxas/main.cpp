// Random PTX kernels, the vendor's assembler at -O0 and -O3, and this front end: three forms that
// must compute the same. Needs ptxas of CUDA 11.8, later releases have no sm_50; without it exit
// status 77, a skipped test.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>

#include "runtime/diff/diff.hpp"
#include "tests/fuzz/ptxas/generate.hpp"

namespace {

constexpr int kSkipped = 77;
constexpr unsigned kKernels = 16;  // a file

struct Options {
  uint64_t seed = 1;
  size_t kernels = 48;
  bool forms = false;  ///< each instruction by itself
  double seconds = 0;  ///< instead of a number of kernels
  std::string program = "ptxas", folder = std::filesystem::temp_directory_path(),
              device = "reference";
};

int shell(const std::string& line) {
  return std::system(line.c_str());
}

std::vector<lanewise::diff::Input> inputs() {
  std::vector<lanewise::diff::Input> out;
  const struct {
    const char* type;
    unsigned size;
  } kTypes[] = {{"u32", 4}, {"u64", 8}, {"f32", 4}, {"f64", 8}};
  for (const unsigned each : {ptxas::kInputs, ptxas::kResults})
    for (const auto& t : kTypes) {
      lanewise::diff::Input in;
      in.kind = lanewise::diff::Input::Kind::buffer;
      in.name = t.type;
      in.type = t.type;
      in.bytes.resize(size_t{ptxas::kThreads} * each * t.size);
      in.filled = true;
      out.push_back(std::move(in));
    }
  return out;
}

/// Files of one seed; they stay where something was found.
struct Files {
  std::string ptx, o0, o3;
};

class Fuzzer {
 public:
  explicit Fuzzer(Options options) : options_(std::move(options)) {}

  int run() {
    if (!usable()) {
      fmt::print("{} is not here or does not know sm_50: skipped\n", options_.program);
      return kSkipped;
    }
    const auto end = std::chrono::steady_clock::now() +
                     std::chrono::milliseconds(static_cast<int64_t>(1e3 * options_.seconds));
    if (options_.forms)
      every_form();
    else
      for (uint64_t seed = options_.seed; more(end); ++seed) file(seed);
    fmt::print("{} kernels, {} pairs equal, {} different, {} undecided\n", kernels_, equal_,
               different_, undecided_);
    return different_ + undecided_ == 0 ? 0 : 1;
  }

 private:
  bool more(std::chrono::steady_clock::time_point end) const {
    return options_.seconds > 0 ? std::chrono::steady_clock::now() < end
                                : kernels_ < options_.kernels;
  }
  bool assemble(const std::string& level, const std::string& from, const std::string& to) const {
    return shell(fmt::format("'{}' -arch=sm_50 {} '{}' -o '{}' 2>>'{}.err'", options_.program,
                             level, from, to, from)) == 0;
  }
  bool usable() const {
    const std::string path = options_.folder + "/lanewise-ptxas-try.ptx";
    std::ofstream(path) << ptxas::header() << ".visible .entry k() { ret; }\n";
    return assemble("-O3", path, path + ".cubin");
  }

  void file(uint64_t seed) {
    std::vector<std::string> kernels;
    for (unsigned n = 0; n < kKernels; ++n)
      kernels.push_back(ptxas::kernel(fmt::format("k{}", n), static_cast<ptxas::Family>(n % 3),
                                      seed * kKernels + n));
    compare(kernels, seed);
  }

  /// Each instruction in a kernel of its own.
  void every_form() {
    uint64_t number = 0;
    std::vector<std::string> kernels;
    for (unsigned family = 0; family < 3; ++family)
      for (size_t form = 0;; ++form) {
        const std::string text =
            ptxas::single(fmt::format("k{}", kernels.size()), static_cast<ptxas::Family>(family),
                          form, options_.seed + number);
        if (!text.empty()) kernels.push_back(text);
        if (kernels.size() == kKernels || (text.empty() && !kernels.empty())) {
          compare(kernels, number++);
          kernels.clear();
        }
        if (text.empty()) break;
      }
  }

  void compare(const std::vector<std::string>& kernels, uint64_t seed) {
    const std::string base = fmt::format("{}/lanewise-ptxas-{}", options_.folder, seed);
    const Files files = {base + ".ptx", base + ".O0.cubin", base + ".O3.cubin"};
    {
      std::ofstream out(files.ptx);
      out << ptxas::header();
      for (const std::string& kernel : kernels) out << kernel;
    }
    if (!assemble("-O0", files.ptx, files.o0) || !assemble("-O3", files.ptx, files.o3))
      throw std::runtime_error(options_.program + " refuses " + files.ptx);
    bool found = false;
    for (size_t n = 0; n < kernels.size(); ++n) {
      ++kernels_;
      for (const std::string& cubin : {files.o0, files.o3})
        found |= !pair(files.ptx, cubin, fmt::format("k{}", n), seed);
    }
    if (!found)
      for (const std::string& path : {files.ptx, files.o0, files.o3, files.ptx + ".err"})
        std::filesystem::remove(path);
  }

  bool pair(const std::string& a, const std::string& b, const std::string& kernel, uint64_t seed) {
    using lanewise::diff::Verdict;
    lanewise::diff::Request r;
    r.a.file = a;
    r.b.file = b;
    r.a.kernel = r.b.kernel = kernel;
    r.device = options_.device;
    r.options.block = {ptxas::kThreads};
    r.inputs = inputs();
    r.seed = seed;
    r.tries = 4;
    r.shrink_seconds = 2;
    try {
      return judged(lanewise::diff::compare_kernels(r), a, b, kernel);
    } catch (const lanewise::Error& e) {
      ++undecided_;
      fmt::print("{} {} {}: {}\n", a, b, kernel, e.what());
      return false;
    }
  }

  bool judged(const lanewise::diff::Report& r, const std::string& a, const std::string& b,
              const std::string& kernel) {
    using lanewise::diff::Verdict;
    (r.verdict == Verdict::equal       ? equal_
     : r.verdict == Verdict::different ? different_
                                       : undecided_)++;
    if (r.verdict == Verdict::equal) return true;
    fmt::print("{} {} {}: {}\n", a, b, kernel, r.why);
    if (r.first)
      fmt::print("  {}\n  A {} {}\n  B {} {}\n", r.first->where, r.first->a,
                 r.first->store_a ? r.first->store_a->place.text : "no store", r.first->b,
                 r.first->store_b ? r.first->store_b->place.text : "no store");
    return false;
  }

  Options options_;
  size_t kernels_ = 0, equal_ = 0, different_ = 0, undecided_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Random PTX kernels beside what the vendor's assembler makes of them");
  app.add_option("--kernels", options.kernels, "how many");
  app.add_flag("--forms", options.forms, "each instruction in a kernel of its own");
  app.add_option("--seconds", options.seconds, "how long, in place of a number");
  app.add_option("--seed", options.seed, "of the first file");
  app.add_option("--ptxas", options.program, "the assembler, release 11.8");
  app.add_option("--device", options.device, "where all forms run");
  app.add_option("--folder", options.folder, "for the files");
  CLI11_PARSE(app, argc, argv);
  try {
    return Fuzzer(options).run();
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 2;
  }
}
