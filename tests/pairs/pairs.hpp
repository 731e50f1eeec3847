// CUDA programs as nvcc compiled them for sm_50, as PTX and as a cubin: both must give what the
// host computes, bit for bit (-fmad=false leaves the compiler no freedom).
#pragma once

#include <algorithm>
#include <type_traits>

#include "tests/kernels/support.hpp"
#include "tests/support/shares.hpp"

namespace pairs {

using kernels::device;
using kernels::random_floats;
using kernels::random_ints;
using lanewise::Buffer;
using lanewise::LaunchOptions;

/// Both forms of a program, one after the other. Each is loaded anew: modules have variables.
template <typename Test>
void both(const std::string& name, Test test,
          const std::vector<std::string>& endings = {".ptx", ".cubin"},
          const std::string& folder = "/pairs/data/") {
  size_t place = 0;
  for (const char c : name) place += static_cast<unsigned char>(c);
  if (!lanewise::test::runs_here(place, 9)) return;
  const bool reference = device().info().name == "reference";
  for (const std::string& ending : endings) {
    // What is compiled from PTX comes to devices through other tests.
    if (ending == ".ptx" && !reference && !lanewise::test::every_device()) continue;
    const std::string file = LANEWISE_TEST_DATA + folder + name + ending;
    CAPTURE(file);
    lanewise::Module module = device().load_file(file);
    test(module);
  }
}

/// The same of a program of the corpus, which nvcc compiled as it does by default, and ptxas for
/// later targets, too. Those come to devices when every device is asked for.
template <typename Test>
void both_of_corpus(const std::string& name, Test test) {
  std::vector<std::string> endings = {".ptx", ".cubin"};
  if (device().info().name == "reference" || lanewise::test::every_device())
    endings.insert(endings.end(), {".sm_53.cubin", ".sm_61.cubin"});
  both(name, test, endings, "/kernels/data/sass/");
}

template <typename T>
Buffer zeros(size_t n, T value = {}) {
  return device().buffer(std::vector<T>(n, value));
}

/// Bit for bit, but any NaN equals any NaN; the first difference is shown.
template <typename T>
void check_contents(const Buffer& buffer, const std::vector<T>& want) {
  const std::vector<T> got = buffer.read<T>();
  REQUIRE(got.size() >= want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    if (std::memcmp(&got[i], &want[i], sizeof(T)) == 0) continue;
    if constexpr (std::is_floating_point_v<T>)
      if (std::isnan(got[i]) && std::isnan(want[i])) continue;
    CAPTURE(i);
    CHECK(+got[i] == +want[i]);
    FAIL_CHECK("element differs");
    return;
  }
  CHECK(got.size() >= want.size());
}

/// Whole numbers from low to high.
template <typename T>
std::vector<T> ints_between(size_t n, uint64_t seed, int64_t low, int64_t high) {
  std::vector<T> out(n);
  size_t i = 0;
  for (const uint64_t x : random_ints<uint64_t>(n, seed))
    out[i++] =
        static_cast<T>(low + static_cast<int64_t>(x % static_cast<uint64_t>(high - low + 1)));
  return out;
}

inline std::vector<double> random_doubles(size_t n, uint64_t seed, double low = -10,
                                          double high = 10) {
  std::vector<double> out(n);
  size_t i = 0;
  for (const uint64_t x : random_ints<uint64_t>(n, seed))
    out[i++] = low + (high - low) * (static_cast<double>(x >> 11) * 0x1p-53);
  return out;
}

inline std::vector<uint8_t> bytes_of(const std::string& s) {
  return {s.begin(), s.end()};
}
inline std::string some_text(size_t n, uint64_t seed, const std::string& letters) {
  std::string s;
  for (const uint64_t x : random_ints<uint64_t>(n, seed)) s += letters[x % letters.size()];
  return s;
}

}  // namespace pairs
