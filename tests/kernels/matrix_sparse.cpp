// mma.sp: every shape, type and selector, against the literal oracle.
#include "tests/kernels/matrix_forms.hpp"

using namespace kernels;
using namespace kernels::mma;

namespace {

Form sparse(const Form& f, const std::string& kind, unsigned selector) {
  Form s = f;
  s.sparse = kind;
  s.selector = selector;
  return s;
}

/// All selectors that a form has, in one spelling or the other.
void run_all(const Form& f, unsigned selectors, uint64_t& seed) {
  for (unsigned selector = 0; selector < selectors; ++selector) {
    const std::string kind = (seed & 1) != 0 ? "sp" : "sp::ordered_metadata";
    if (runs_here(seed)) run(sparse(f, kind, selector), seed);
    ++seed;
  }
}

}  // namespace

TEST_CASE("mma.sp: sums of floats") {
  uint64_t seed = 2000;
  for (const unsigned sm : {80U, 90U}) {
    for (const std::string sum : {"f32", "f16"}) {
      run_all({16, 8, 16, "f16", "f16", sum, sm}, 4, seed);
      run_all({16, 8, 32, "f16", "f16", sum, sm}, 2, seed);
    }
    run_all({16, 8, 16, "bf16", "bf16", "f32", sm}, 4, seed);
    run_all({16, 8, 32, "bf16", "bf16", "f32", sm}, 2, seed);
    run_all({16, 8, 8, "tf32", "tf32", "f32", sm}, 4, seed);
    run_all({16, 8, 16, "tf32", "tf32", "f32", sm}, 2, seed);
  }
  for (const unsigned sm : {89U, 90U})
    for (const std::string a : {"e4m3", "e5m2"})
      for (const std::string b : {"e4m3", "e5m2"}) run_all({16, 8, 64, a, b, "f32", sm}, 1, seed);
  for (const std::string a : {"e4m3", "e5m2"}) {
    const Form f{16, 8, 64, a, "e5m2", "f16", 120};
    if (runs_here(seed)) run(sparse(f, "sp::ordered_metadata", 0), seed);
    ++seed;
  }
}

TEST_CASE("mma.sp: sums of integers") {
  uint64_t seed = 3040;  // so that devices run one of them (runs_here)
  for (const unsigned bits : {8U, 4U})
    for (const std::string a : {"s", "u"})
      for (const std::string b : {"s", "u"})
        for (const std::string between : {"", ".satfinite"}) {
          const std::string x = a + std::to_string(bits), y = b + std::to_string(bits);
          run_all({16, 8, 256 / bits, x, y, "s32", 80, "", between}, 2, seed);
          run_all({16, 8, 512 / bits, x, y, "s32", 80, "", between}, 1, seed);
        }
}

TEST_CASE("mma.sp: a selector that names no lanes is refused") {
  const Form f{16, 8, 32, "f16", "f16", "f32", 80, "", "", "", "sp", 2};
  CHECK_THROWS_WITH(device().load_text(kernel_text(f), lanewise::Isa::ptx).kernel("k"),
                    doctest::Contains("a selector of 2 with this shape has no meaning"));
}
