// Litmus shapes with counts: how often each outcome was seen on the card and through Lanewise. Two
// threads share two cells; many pairs run at once. Forbidden outcomes are those of the PTX memory
// model.
#include <fmt/format.h>

#include <map>

#include "tests/hardware/device/rows.hpp"
#include "tests/hardware/truth/both.hpp"

namespace lanewise::truth {
namespace {

using kit::Json;

constexpr uint32_t kPair = 64;       ///< two warps: pairs of one group are lanes of different warps
constexpr uint32_t kCellWords = 64;  ///< X and Y lie in lines of their own

/// In the code X and Y are the cells, S the scope. Thread 0 leaves its result in %r1, thread 1 in
/// %r2 and %r3; what none sets is 9.
struct Shape2 {
  const char* name;
  const char* thread0;
  const char* thread1;
  const char* forbidden;  ///< "r1 r2 r3" as digits, or empty
};

constexpr Shape2 kShapes[] = {
    {"MP-weak", "st.global.u32 [X], 1; st.global.u32 [Y], 1;",
     "ld.global.u32 %r2, [Y]; ld.global.u32 %r3, [X];", ""},
    {"MP-relaxed", "st.relaxed.S.global.u32 [X], 1; st.relaxed.S.global.u32 [Y], 1;",
     "ld.relaxed.S.global.u32 %r2, [Y]; ld.relaxed.S.global.u32 %r3, [X];", ""},
    {"MP-release-acquire", "st.global.u32 [X], 1; st.release.S.global.u32 [Y], 1;",
     "ld.acquire.S.global.u32 %r2, [Y]; ld.global.u32 %r3, [X];", "910"},
    {"MP-fences",
     "st.relaxed.S.global.u32 [X], 1; fence.acq_rel.S; st.relaxed.S.global.u32 [Y], 1;",
     "ld.relaxed.S.global.u32 %r2, [Y]; fence.acq_rel.S; ld.relaxed.S.global.u32 %r3, [X];", "910"},
    {"SB-relaxed", "st.relaxed.S.global.u32 [X], 1; ld.relaxed.S.global.u32 %r1, [Y];",
     "st.relaxed.S.global.u32 [Y], 1; ld.relaxed.S.global.u32 %r2, [X];", ""},
    {"SB-fence.sc", "st.relaxed.S.global.u32 [X], 1; fence.sc.S; ld.relaxed.S.global.u32 %r1, [Y];",
     "st.relaxed.S.global.u32 [Y], 1; fence.sc.S; ld.relaxed.S.global.u32 %r2, [X];", "009"},
    {"LB-relaxed", "ld.relaxed.S.global.u32 %r1, [X]; st.relaxed.S.global.u32 [Y], 1;",
     "ld.relaxed.S.global.u32 %r2, [Y]; st.relaxed.S.global.u32 [X], 1;", ""},
    {"LB-fences",
     "ld.relaxed.S.global.u32 %r1, [X]; fence.acq_rel.S; st.relaxed.S.global.u32 [Y], 1;",
     "ld.relaxed.S.global.u32 %r2, [Y]; fence.acq_rel.S; st.relaxed.S.global.u32 [X], 1;", "119"},
    {"CoRR-weak", "st.global.u32 [X], 1;", "ld.global.u32 %r2, [X]; ld.global.u32 %r3, [X];", ""},
    {"CoRR-relaxed", "st.relaxed.S.global.u32 [X], 1;",
     "ld.relaxed.S.global.u32 %r2, [X]; ld.relaxed.S.global.u32 %r3, [X];", "910"},
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// Pair n has its cells at n * 2 lines. Scope cta: lanes l and l + 32 of one group; else the same
/// lane of two groups.
std::string kernel_text(const Card& card, const Shape2& s, const std::string& scope) {
  const auto code = [&](const char* text) {
    return replaced(
        replaced(replaced(text, "[X]", "[%d1]"), "[Y]", fmt::format("[%d1+{}]", 4 * kCellWords)),
        ".S.", "." + scope + ".");
  };
  const auto side = [&](const char* text) {
    return replaced(code(text), ".S;", "." + scope + ";");
  };
  const std::string pair =
      scope == "cta" ? "and.b32 %r7, %r5, 31; mad.lo.u32 %r7, %r6, 32, %r7; shr.u32 %r8, %r5, 5;"
                     : "shr.u32 %r7, %r6, 1; mad.lo.u32 %r7, %r7, 64, %r5; and.b32 %r8, %r6, 1;";
  return card.header() + fmt::format(R"(.visible .entry k(.param .u64 cells, .param .u64 out)
{{
  .reg .b32 %r<10>; .reg .b64 %d<5>; .reg .pred %p;
  ld.param.u64 %d1, [cells];
  ld.param.u64 %d2, [out];
  mov.u32 %r5, %tid.x;
  mov.u32 %r6, %ctaid.x;
  {}
  mul.wide.u32 %d3, %r7, {};
  add.u64 %d1, %d1, %d3;
  mul.wide.u32 %d3, %r7, 16;
  add.u64 %d2, %d2, %d3;
  setp.ne.u32 %p, %r8, 0;
  mov.u32 %r1, 9; mov.u32 %r2, 9; mov.u32 %r3, 9;
  @%p bra SECOND;
  {}
  st.global.u32 [%d2], %r1;
  bra DONE;
SECOND:
  {}
  st.global.u32 [%d2+4], %r2;
  st.global.u32 [%d2+8], %r3;
DONE:
  ret;
}}
)",
                                     pair, 8 * kCellWords, side(s.thread0), side(s.thread1));
}

using Counts = std::map<std::string, uint64_t>;

void count(const Words& out, Counts& counts) {
  for (size_t i = 0; i + 2 < out.size(); i += 4)
    ++counts[fmt::format("{}{}{}", out[i], out[i + 1], out[i + 2])];
}

}  // namespace

bool litmus_table(Bench& bench, const std::string& name) {
  const uint32_t groups = bench.small ? 2 : 256, rounds = bench.small ? 2 : 100;
  const uint32_t pairs = groups * kPair / 2;
  bool right = true;
  for (const char* scope : {"cta", "gpu", "sys"})
    for (const Shape2& s : kShapes) {
      if (bench.small && std::string_view(s.name) != "MP-fences") continue;
      Job job{kernel_text(bench.card, s, scope),
              "k",
              {{groups, 1, 1}, {kPair, 1, 1}},
              {Words(pairs * 2 * kCellWords), Words(pairs * 4, 7)}};
      Json row = {{"kind", "truth"},
                  {"name", fmt::format("{}/{}.{}", name, s.name, scope)},
                  {"table", name}};
      try {
        Counts card, ours;
        for (uint32_t n = 0; n < rounds; ++n) count(on_card(bench.card, job)[1], card);
        for (uint32_t n = 0; n < std::max(1U, rounds / 10); ++n)
          count(on_ours(bench.ours, job)[1], ours);
        const bool bad =
            *s.forbidden != 0 && (card.contains(s.forbidden) || ours.contains(s.forbidden));
        right = right && !ours.contains(s.forbidden);
        row["state"] = bad ? "forbidden" : "counted";
        if (bad) row["first"] = fmt::format("{} was seen", s.forbidden);
        row["card"] = card;
        row["ours"] = ours;
      } catch (const Refused& e) {
        row["state"] = "refused";
        row["why"] = e.what();
      }
      kit::print_row(row);
    }
  return right;
}

}  // namespace lanewise::truth
