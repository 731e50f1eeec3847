// Approximate functions: errors in units of the last place over a sweep of all exponents, of the
// card and of Lanewise, against long double.
#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "tests/hardware/device/rows.hpp"
#include "tests/hardware/truth/both.hpp"

namespace lanewise::truth {
namespace {

using kit::Json;

struct Function {
  const char* form;
  long double (*exact)(long double);
  long double most = INFINITY;  ///< the largest |x| that counts
};

constexpr long double kPi = 3.14159265358979323846L;
const Function kFunctions[] = {
    {"rcp.approx.f32", [](long double x) { return 1 / x; }},
    {"rcp.approx.ftz.f32", [](long double x) { return 1 / x; }},
    {"sqrt.approx.f32", [](long double x) { return std::sqrt(x); }},
    {"sqrt.approx.ftz.f32", [](long double x) { return std::sqrt(x); }},
    {"rsqrt.approx.f32", [](long double x) { return 1 / std::sqrt(x); }},
    {"rsqrt.approx.ftz.f32", [](long double x) { return 1 / std::sqrt(x); }},
    {"sin.approx.f32", [](long double x) { return std::sin(x); }, kPi},
    {"cos.approx.f32", [](long double x) { return std::cos(x); }, kPi},
    {"lg2.approx.f32", [](long double x) { return std::log2(x); }},
    {"lg2.approx.ftz.f32", [](long double x) { return std::log2(x); }},
    {"ex2.approx.f32", [](long double x) { return std::exp2(x); }},
    {"ex2.approx.ftz.f32", [](long double x) { return std::exp2(x); }},
    {"tanh.approx.f32", [](long double x) { return std::tanh(x); }},
};

std::string kernel_text(const Card& card, const std::string& form) {
  return card.header() + fmt::format(R"(.visible .entry k(.param .u64 in, .param .u64 out)
{{
  .reg .b32 %r<4>; .reg .f32 %f<3>; .reg .b64 %d<4>;
  ld.param.u64 %d1, [in];
  ld.param.u64 %d2, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r1, %r2, 256, %r1;
  mul.wide.u32 %d3, %r1, 4;
  add.u64 %d1, %d1, %d3;
  add.u64 %d2, %d2, %d3;
  ld.global.f32 %f1, [%d1];
  {} %f2, %f1;
  st.global.f32 [%d2], %f2;
  ret;
}}
)",
                                     form);
}

struct Deviation {
  double ulps = 0, absolute = 0;
  uint32_t at = 0;  ///< the operand of the largest error in ulps
};

Deviation error_of(const Function& f, const Words& in, const Words& got) {
  Deviation e;
  for (size_t i = 0; i < in.size(); ++i) {
    const long double x = std::bit_cast<float>(in[i]), y = std::bit_cast<float>(got[i]);
    if (!std::isfinite(x) || std::fabs(x) > f.most || std::fabs(x) < 0x1p-126L) continue;
    const long double exact = f.exact(x);
    if (!std::isfinite(exact) || !std::isfinite(y) || std::fabs(exact) < 0x1p-126L ||
        std::fabs(exact) > 0x1.fffffep127L)
      continue;
    const long double difference = std::fabs(y - exact);
    const double ulps = static_cast<double>(difference / std::ldexp(1.0L, std::ilogb(exact) - 23));
    e.absolute = std::max(e.absolute, static_cast<double>(difference));
    if (ulps > e.ulps) e = {ulps, e.absolute, in[i]};
  }
  return e;
}

}  // namespace

/// Neither result needs to be the other's; what differs is how a result becomes exact one day.
bool error_table(Bench& bench, const std::string& name) {
  const uint32_t count = bench.small ? 1024 : 1 << 22;
  Words in(count);
  // An odd step visits low bits, too.
  for (uint32_t i = 0; i < count; ++i)
    in[i] = static_cast<uint32_t>(i * (0x100000000 / count)) + i % (0x100000000 / count);
  for (const Function& f : kFunctions) {
    if (bench.small && std::string_view(f.form) != "ex2.approx.f32") continue;
    Json row = {{"kind", "truth"}, {"name", fmt::format("{}/{}", name, f.form)}, {"table", name}};
    Job job{kernel_text(bench.card, f.form),
            "k",
            {{count / 256, 1, 1}, {256, 1, 1}},
            {in, Words(count)}};
    try {
      const Words card = on_card(bench.card, job)[1], ours = on_ours(bench.ours, job)[1];
      size_t differing = 0, first = 0;
      for (size_t i = 0; i < count; ++i)
        if (card[i] != ours[i] && differing++ == 0) first = i;
      const Deviation theirs = error_of(f, in, card), own = error_of(f, in, ours);
      row["state"] = differing == 0 ? "same" : "measured";
      row["operands"] = count;
      row["differing"] = differing;
      row["card_ulps"] = theirs.ulps;
      row["card_at"] = fmt::format("{:08x}", theirs.at);
      row["ours_ulps"] = own.ulps;
      row["card_absolute"] = theirs.absolute;
      row["ours_absolute"] = own.absolute;
      if (differing != 0)
        row["first"] = fmt::format("{:08x}: card {:08x}, Lanewise {:08x}", in[first], card[first],
                                   ours[first]);
    } catch (const Refused& e) {
      row["state"] = "refused";
      row["why"] = e.what();
    }
    kit::print_row(row);
  }
  return true;
}

}  // namespace lanewise::truth
