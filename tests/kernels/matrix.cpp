// mma: every shape and type on random and edge inputs, against the literal oracle.
#include "tests/kernels/matrix_forms.hpp"

using namespace kernels;
using namespace kernels::mma;

namespace {

std::vector<Form> float_forms() {
  std::vector<Form> all;
  for (const unsigned sm : {75U, 80U, 90U})
    for (const std::string sum : {"f32", "f16"}) {
      all.push_back({16, 8, 8, "f16", "f16", sum, sm});
      if (sm >= 80) all.push_back({16, 8, 16, "f16", "f16", sum, sm});
    }
  for (const unsigned sm : {80U, 89U, 90U}) {
    for (const unsigned k : {8U, 16U}) all.push_back({16, 8, k, "bf16", "bf16", "f32", sm});
    for (const unsigned k : {4U, 8U}) all.push_back({16, 8, k, "tf32", "tf32", "f32", sm});
  }
  for (const unsigned sm : {89U, 90U})
    for (const unsigned k : {16U, 32U})
      for (const std::string a : {"e4m3", "e5m2"})
        for (const std::string b : {"e4m3", "e5m2"})
          for (const std::string sum : {"f32", "f16"}) all.push_back({16, 8, k, a, b, sum, sm});
  all.push_back({8, 8, 4, "f64", "f64", "f64", 80});
  for (const unsigned k : {4U, 8U, 16U}) all.push_back({16, 8, k, "f64", "f64", "f64", 90});
  return all;
}

std::vector<Form> integer_forms() {
  std::vector<Form> all;
  for (const unsigned bits : {8U, 4U})
    for (const std::string a : {"s", "u"})
      for (const std::string b : {"s", "u"})
        for (const std::string between : {"", ".satfinite"}) {
          const std::string x = a + std::to_string(bits), y = b + std::to_string(bits);
          const unsigned k = 128 / bits;
          all.push_back({8, 8, k, x, y, "s32", 80, "", between});
          all.push_back({16, 8, k, x, y, "s32", 80, "", between});
          all.push_back({16, 8, 2 * k, x, y, "s32", 80, "", between});
        }
  for (const std::string behind : {".xor.popc", ".and.popc"}) {
    all.push_back({8, 8, 128, "b1", "b1", "s32", 80, "", "", behind});
    all.push_back({16, 8, 128, "b1", "b1", "s32", 80, "", "", behind});
    all.push_back({16, 8, 256, "b1", "b1", "s32", 80, "", "", behind});
  }
  return all;
}

}  // namespace

TEST_CASE("mma: sums of floats follow the rule of their generation") {
  uint64_t seed = 58;  // devices run one of each case (runs_here)
  for (const Form& f : float_forms())
    if (runs_here(seed))
      run(f, seed++);
    else
      ++seed;
}

TEST_CASE("mma: sums by fma, policy mma.accumulate") {
  uint64_t seed = 549;
  for (const Form& f :
       {Form{16, 8, 16, "f16", "f16", "f32", 80}, Form{16, 8, 16, "f16", "f16", "f16", 80},
        Form{16, 8, 8, "bf16", "bf16", "f32", 80}, Form{16, 8, 8, "tf32", "tf32", "f32", 80},
        Form{16, 8, 32, "e4m3", "e5m2", "f32", 89}})
    if (runs_here(seed))
      run(f, seed++, "fma");
    else
      ++seed;
}

TEST_CASE("mma: sums of integers and bits") {
  uint64_t seed = 1000;
  for (const Form& f : integer_forms())
    if (runs_here(seed))
      run(f, seed++);
    else
      ++seed;
}
