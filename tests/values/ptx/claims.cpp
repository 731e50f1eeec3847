// Every form of the instruction table has what it claims.
#include "tests/values/claims.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/isa/ptx/lower.hpp"
#include "tests/values/ptx/ptx.hpp"

namespace values::ptx {

namespace {

constexpr const char* kMemory = "values move between memory and registers";
constexpr const char* kMatrix = "values of a whole warp";
constexpr const char* kOrder = "has no value, only an order";
constexpr const char* kControl = "has no value, only a next instruction";
constexpr const char* kTexels = "values are texels in memory";
constexpr const char* kCache = "has no value, only an effect on caches";

/// Addresses of 32 bits end with .version 7.8, the values' module is later.
std::vector<Elsewhere> with_narrow_addresses(std::vector<Elsewhere> list) {
  for (const std::string to : {"cvta.", "cvta.to."})
    for (const std::string space : {"global", "const", "local", "shared", "shared::cta",
                                    "shared::cluster", "param", "param::entry"})
      list.push_back({to + space + ".u32", "unit/ptx/check_instructions.cpp", "cvta",
                      "a 32-bit address comes back as it was"});
  // Without a mask they end with sm_62 or .version 6.3.
  for (const std::string form :
       {"shfl.up.b32", "shfl.down.b32", "shfl.bfly.b32", "shfl.idx.b32", "vote.any.pred",
        "vote.all.pred", "vote.uni.pred", "vote.ballot.b32"})
    list.push_back({form, "unit/ptx/check_instructions.cpp", "without a mask",
                    "the form with a mask of all lanes has its values"});
  return list;
}

/// Where the proof stands of what has an effect and no value, or values in memory.
const std::vector<Elsewhere>& elsewhere() {
  static const std::vector<Elsewhere> list = with_narrow_addresses({
      {"ld.*", "differential/ptx_rows.cpp", "\"ld\"", kMemory},
      {"ldu.*", "differential/ptx_rows.cpp", "\"ldu\"", kMemory},
      {"st.*", "differential/ptx_rows.cpp", "\"st\"", kMemory},
      {"atom.*", "differential/ptx_rows.cpp", "\"atom\"", kMemory},
      {"red.*", "differential/ptx_rows.cpp", "\"red\"", kMemory},
      {"cp.async.*", "unit/ptx/memory_forms.cpp", "partial asynchronous copies fill up with zeros",
       kMemory},
      {"mma.*", "kernels/matrix.cpp", "mma: sums of floats follow the rule", kMatrix},
      {"wmma.*", "kernels/matrix_memory.cpp", "wmma: tiles go through fragments", kMatrix},
      {"ldmatrix.*", "kernels/matrix_memory.cpp", "ldmatrix", kMatrix},
      {"stmatrix.*", "kernels/matrix_memory.cpp", "stmatrix", kMatrix},
      {"movmatrix.*", "kernels/matrix_memory.cpp", "movmatrix", kMatrix},
      {"mbarrier.*", "kernels/mbarrier.cpp", "mbarrier", "a state in memory"},
      {"red.async.*", "kernels/mbarrier.cpp", "red.async", kMemory},
      {"cp.reduce.*", "kernels/mbarrier.cpp", "cp.reduce", kMemory},
      {"setmaxnreg.*", "kernels/mbarrier.cpp", "setmaxnreg", "a hint to hardware"},
      {"createpolicy.fractional.*", "unit/ptx/memory_forms.cpp", "policy words: fractions",
       "words by the manual's examples, for every pair of priorities"},
      {"createpolicy.cvt.*", "differential/ptx_rows.cpp", "\"createpolicy\"", "moves its operand"},
      {"createpolicy.range.*", "unit/ptx/memory_forms.cpp", "policy words: ranges",
       "words of constant and computed ranges"},
      {"prefetch*", "differential/ptx_rows.cpp", "\"prefetch\"", kCache},
      {"discard.*", "differential/ptx_rows.cpp", "\"discard\"", kCache},
      {"applypriority.*", "differential/ptx_rows.cpp", "\"applypriority\"", kCache},
      {"fence.*", "differential/ptx_litmus.cpp", "fence", kOrder},
      {"membar.*", "differential/ptx_litmus.cpp", "membar", kOrder},
      {"bar.*", "differential/forward_progress.cpp", "barriers with ids and counts", kOrder},
      {"barrier.*", "differential/forward_progress.cpp", "barriers with ids and counts", kOrder},
      {"bra*", "unit/ptx/run.cpp", "loops, jump tables and early returns", kControl},
      {"brx.*", "unit/ptx/run.cpp", "brx.idx", kControl},
      {"call*", "kernels/floating.cpp", "calls: structs by value", kControl},
      {"ret*", "unit/ptx/run.cpp", "early returns in functions", kControl},
      {"exit", "unit/ptx/lower_control.cpp", "exit;", kControl},
      {"alloca.*", "pairs/stack.cpp", "\"alloca\"", "an address; what lies there is the guest's"},
      {"stacksave.*", "pairs/stack.cpp", "\"alloca\"", "an address that only stackrestore reads"},
      {"stackrestore.*", "pairs/stack.cpp", "\"alloca\"", "where the next alloca begins"},
      {"tex.*", "kernels/textures.cpp", "tex.2d.v4", kTexels},
      {"tld4.*", "kernels/textures.cpp", "tld4.r", kTexels},
      {"txq.*", "kernels/surfaces.cpp", "txq.", kTexels},
      {"suq.*", "kernels/surfaces.cpp", "suq.", kTexels},
      {"istypep.*", "kernels/surfaces.cpp", "istypep.", kTexels},
      {"suld.*", "kernels/surfaces.cpp", "suld.b", kTexels},
      {"sust.*", "kernels/surfaces.cpp", "sust.p", kTexels},
      {"sured.*", "kernels/surfaces.cpp", "sured.b", kTexels},
      {"trap", "unit/ptx/run.cpp", "comes to malloc traps", kControl},
  });
  return list;
}

std::vector<TableRow> table_rows() {
  std::vector<TableRow> rows;
  for (const auto& f : lanewise::ptx::claimed_forms())
    rows.push_back({f.coverage.form, f.claim, f.runs});
  return rows;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases = wave::cases();
  std::vector<Op> all = ops();
  for (Op& op : move::extra_ops()) all.push_back(std::move(op));
  for (const Op& op : all) {
    Case c;
    c.row = op.form;
    c.tuples = {{}};
    if (op.near) c.bound = Bound{op.bound, {}};
    cases.push_back(std::move(c));
  }
  return cases;
}

}  // namespace

TEST_CASE("every form of the table has what it claims") {
  const auto bad = complaints(table_rows(), all_cases(), elsewhere(), LANEWISE_TEST_DATA);
  for (size_t n = 0; n < std::min<size_t>(bad.size(), 40); ++n) FAIL_CHECK(bad[n]);
  CHECK(bad.size() == 0);
}

TEST_CASE("a form whose case is taken out is named") {
  std::vector<Case> cases = all_cases();
  for (const std::string form : {"prmt.b32.rc16", "cvt.rzi.s16.f64", "shfl.sync.up.b32"}) {
    std::vector<Case> fewer = cases;
    std::erase_if(fewer, [&](const Case& c) { return c.row == form; });
    CHECK(fewer.size() < cases.size());
    const auto bad = complaints(table_rows(), fewer, elsewhere(), LANEWISE_TEST_DATA);
    CHECK(bad == std::vector<std::string>{form + ": has no value case"});
  }
}

}  // namespace values::ptx
