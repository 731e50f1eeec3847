// The cache figures of `lanewise bench` in a program that builds quickly: bench_cache [REPEATS
// [TRACE]].
#include <fmt/format.h>

#include <cstdlib>

#include "runtime/bench/cache/cache_figures.hpp"

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? std::atoi(argv[1]) : 3;
  bool wrong = false;
  for (const lanewise::bench::Benchmark& b : lanewise::bench::cache_benchmarks()) {
    if (argc > 2 && b.name != std::string("cache/") + argv[2]) continue;
    const lanewise::bench::Figure f = b.measure(static_cast<unsigned>(repeats));
    fmt::print("{:<14} engine {:>7.1f}  plain {:>7.1f}  ratio {:.2f}  {:>6.1f} MiB  {}\n", f.name,
               f.value, f.other, f.ratio(), f.more.back().second / (1 << 20), f.wrong);
    wrong = wrong || !f.wrong.empty();
  }
  return wrong ? 1 : 0;
}
