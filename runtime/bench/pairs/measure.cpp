#include "runtime/bench/pairs/measure.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/bench/pairs/problems.hpp"
#include "runtime/bench/pairs/sides.hpp"

namespace lanewise::bench {
namespace {

std::string name_of(const Pair& pair, Memcheck memcheck) {
  const char* const checks = memcheck == Memcheck::off     ? "/off"
                             : memcheck == Memcheck::arena ? "/arena"
                                                           : "";
  return fmt::format("glsl/{}{}", pair.name, checks);
}

double median(std::vector<double> v) {
  std::ranges::sort(v);
  return v[v.size() / 2];
}

/// Both sides in turn, each from the same contents; the first round compiles and does not count.
Figure beside_glsl(const Pair& pair, const std::string& selector, Memcheck memcheck,
                   unsigned repeats) {
  Figure f{.name = name_of(pair, memcheck), .unit = "ms", .beside = "GLSL"};
  const Problem problem = pair.problem();
  NativeSide native(pair, problem, selector);
  GuestSide guest(pair, problem, selector, memcheck);
  std::vector<double> ours, theirs, ratios, cpu_ratios;
  for (unsigned i = 0; i < 1 + 3 * repeats; ++i) {
    const Cost a = native.run(), b = guest.run();
    if (i == 0) continue;
    theirs.push_back(a.ms);
    ours.push_back(b.ms);
    ratios.push_back(b.ms / a.ms);
    cpu_ratios.push_back(b.cpu_ms / a.cpu_ms);
  }
  if (const std::string wrong = guest.wrong(); !wrong.empty()) f.wrong = "translated: " + wrong;
  if (const std::string wrong = native.wrong(); !wrong.empty()) f.wrong += "GLSL: " + wrong;
  f.value = median(ours);
  f.other = median(theirs);
  f.more = {{"ratio_min", std::ranges::min(ratios)},
            {"ratio_median", median(ratios)},
            {"ratio_max", std::ranges::max(ratios)},
            {"best_ms", std::ranges::min(ours)},
            {"glsl_best_ms", std::ranges::min(theirs)}};
  if (guest.on_cpu()) f.more.emplace_back("cpu_ratio", median(cpu_ratios));
  f.note = guest.mode() == "lane" ? "" : guest.mode() + " mode";
  return f;
}

/// The code of any launch, or of the one that is timed.
enum class Launch { any, timed };

TranslatedKernel words_of(const Pair& pair, const std::string& selector, Memcheck memcheck,
                          Launch launch) {
  if (launch == Launch::timed) {
    const Problem problem = pair.problem();
    return GuestSide(pair, problem, selector, memcheck).translated();
  }
  Device device = Device::open(selector);
  const Buffer texels = device.allocate(uint64_t{kSide} * kSide * 4, "p0");
  const Kernel kernel = guest_module(pair, device, texels).kernel(pair.kernel);
  return kernel.translated(launch_options(pair, memcheck));
}

CodeFigure code_of(const Pair& pair, const std::string& selector, Memcheck memcheck,
                   Launch launch) {
  CodeFigure f;
  f.name = name_of(pair, memcheck) + (launch == Launch::timed ? "/launch" : "");
  f.counts = !pair.own && !pair.crosses_lanes;
  vulkan::StatisticsCompiler compiler(selector);
  f.device = compiler.info().name;
  f.driver = compiler.info().driver;
  f.glsl = compiler.native(native_words(pair.glsl, false));
  try {
    const TranslatedKernel made = words_of(pair, selector, memcheck, launch);
    const uint32_t lanes = pair.isa == Isa::gcn ? 64 : 32;
    f.translated = compiler.translated(made.spirv, made.wave_mode == "packed" ? lanes : 0);
  } catch (const Error& error) {
    f.failed = error.what();
  }
  return f;
}

}  // namespace

std::vector<Benchmark> pair_benchmarks(const std::string& selector) {
  std::vector<Benchmark> all;
  if (selector == "reference") return all;  // no GLSL runs there
  for (const Pair& pair : all_pairs())
    for (const Memcheck memcheck : {Memcheck::alloc, Memcheck::off})
      all.push_back({.name = name_of(pair, memcheck),
                     .measure =
                         [&pair, selector, memcheck](unsigned repeats) {
                           return beside_glsl(pair, selector, memcheck, repeats);
                         },
                     .alone = true});
  return all;
}

std::vector<CodeBenchmark> code_benchmarks(const std::string& selector) {
  std::vector<CodeBenchmark> all;
  for (const Pair& pair : all_pairs())
    for (const Memcheck memcheck : {Memcheck::alloc, Memcheck::arena, Memcheck::off})
      for (const Launch launch : {Launch::any, Launch::timed})
        all.push_back({name_of(pair, memcheck) + (launch == Launch::timed ? "/launch" : ""),
                       [&pair, selector, memcheck, launch] {
                         return code_of(pair, selector, memcheck, launch);
                       }});
  return all;
}

}  // namespace lanewise::bench
