// Cache operators and policies: which loads hit after lines came in one way and are asked for in
// another. Each load is timed by itself; beside it stands what the tracker says for the card's
// preset.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/cache/chase/target.hpp"
#include "runtime/cache/dialects/policy_word.hpp"
#include "runtime/cache/engine/engine.hpp"
#include "runtime/trace/site_text.hpp"
#include "tests/hardware/device/rows.hpp"
#include "tests/hardware/truth/both.hpp"

namespace lanewise::truth {
namespace {

using kit::Json;

constexpr uint32_t kLines = 512;  ///< 64 KiB: in L1 together with what the kernel itself needs
constexpr uint32_t kLine = 128;
constexpr uint64_t kGroupBytes = uint64_t{256} * 32;  ///< that a group of a sweep reads
constexpr uint64_t kBase = uint64_t{1} << 41;
constexpr double kAlike = 0.03;  ///< shares that lie no further apart count as the same

/// `A` in the text is the address.
struct Phase {
  const char* name;  ///< as the tracker reads it
  std::string code;
};

Phase load(const char* form) {
  return {form, fmt::format("{} %r2, [A];", form)};
}
Phase store(const char* form) {
  return {form, fmt::format("{} [A], %r5;", form)};
}
Phase prefetch(const char* form) {
  return {form, fmt::format("{} [A];", form)};
}

const std::vector<Phase>& fills() {
  static const std::vector<Phase> list = {load("ld.global.ca.u32"),
                                          load("ld.global.cg.u32"),
                                          load("ld.global.cs.u32"),
                                          load("ld.global.lu.u32"),
                                          load("ld.global.cv.u32"),
                                          load("ld.global.nc.u32"),
                                          load("ld.volatile.global.u32"),
                                          load("ld.relaxed.gpu.global.u32"),
                                          load("ld.global.L1::evict_first.u32"),
                                          load("ld.global.L1::evict_last.u32"),
                                          load("ld.global.L1::no_allocate.u32"),
                                          store("st.global.wb.u32"),
                                          store("st.global.cg.u32"),
                                          store("st.global.cs.u32"),
                                          store("st.global.wt.u32"),
                                          prefetch("prefetch.global.L1"),
                                          prefetch("prefetch.global.L2")};
  return list;
}
const std::vector<Phase>& reloads() {
  static const std::vector<Phase> list = {load("ld.global.ca.u32"), load("ld.global.nc.u32"),
                                          load("ld.global.cg.u32"), load("ld.global.cv.u32"),
                                          load("ld.relaxed.gpu.global.u32")};
  return list;
}

std::string with_address(std::string code) {
  for (size_t at = 0; (at = code.find("[A]", at)) != std::string::npos; ++at)
    code.replace(at, 3, "[%d3]");
  return code;
}

/// One lane fills all lines, then asks for each; the times of the second come back. Times lie in
/// shared memory meanwhile. With `fill` empty nothing comes in before.
std::string kernel_text(const Card& card, const std::string& fill, const std::string& reload) {
  return card.header() + fmt::format(R"(.visible .entry k(.param .u64 lines, .param .u64 out)
{{
.shared .align 4 .b8 times[{0}];
.reg .b64 %d<8>; .reg .b32 %r<8>; .reg .pred %p;
ld.param.u64 %d1, [lines];
ld.param.u64 %d2, [out];
mov.u32 %r5, 0;
mov.u32 %r1, 0;
mov.u64 %d3, %d1;
FILL:
{1}
add.u64 %d3, %d3, {4};
add.u32 %r1, %r1, 1;
setp.lt.u32 %p, %r1, {3};
@%p bra FILL;
membar.cta;
mov.u32 %r1, 0;
mov.u64 %d3, %d1;
mov.u32 %r4, times;
ASK:
mov.u64 %d5, %clock64;
{2}
st.shared.u32 [%r4], %r2;
mov.u64 %d6, %clock64;
sub.s64 %d6, %d6, %d5;
cvt.u32.u64 %r3, %d6;
st.shared.u32 [%r4], %r3;
add.u64 %d3, %d3, {4};
add.u32 %r4, %r4, 4;
add.u32 %r1, %r1, 1;
setp.lt.u32 %p, %r1, {3};
@%p bra ASK;
mov.u32 %r1, 0;
mov.u32 %r4, times;
GIVE:
ld.shared.u32 %r3, [%r4];
st.global.u32 [%d2], %r3;
add.u32 %r4, %r4, 4;
add.u64 %d2, %d2, 4;
add.u32 %r1, %r1, 1;
setp.lt.u32 %p, %r1, {3};
@%p bra GIVE;
ret;
}}
)",
                                     4 * kLines, with_address(fill), with_address(reload), kLines,
                                     kLine);
}

/// What createpolicy is asked for, as its qualifiers; empty for loads without a hint.
std::string create_policy(const std::string& policy) {
  return policy.empty() ? "" : "createpolicy.fractional." + policy + ";\n";
}

/// Reads a buffer from one end to the other, so that L2 holds nothing else.
std::string sweep_text(const Card& card, const std::string& policy = {}) {
  const std::string load = policy.empty() ? "ld.global.cg.u32 %r3, [%d1];"
                                          : "ld.global.cg.L2::cache_hint.u32 %r3, [%d1], %d4;";
  return card.header() + R"(.visible .entry sweep(.param .u64 p, .param .u64 out)
{
.reg .b64 %d<5>; .reg .b32 %r<5>; .reg .pred %p;
ld.param.u64 %d1, [p];
ld.param.u64 %d2, [out];
mov.u32 %r1, %tid.x;
mov.u32 %r2, %ctaid.x;
mad.lo.u32 %r1, %r2, 256, %r1;
mul.wide.u32 %d3, %r1, 32;
add.u64 %d1, %d1, %d3;
)" + create_policy(policy) +
         load + R"(
setp.ne.u32 %p, %r3, 0;
@%p st.global.u32 [%d2], %r3;
ret;
}
)";
}

/// The word that an instruction of the card makes.
std::string policy_text(const Card& card, const std::string& instruction) {
  return card.header() + R"(.visible .entry k(.param .u64 out)
{
.reg .b64 %d<5>;
ld.param.u64 %d2, [out];
mov.u64 %d1, 0x7f0012345000;
)" + instruction +
         R"(
st.global.u64 [%d2], %d4;
ret;
}
)";
}

struct Policy {
  const char *name, *text;
  cache::Class primary, secondary;
  double fraction;
};
constexpr Policy kPolicies[] = {
    {"no policy", "", cache::Class::normal, cache::Class::unchanged, 1},
    {"evict_first", "L2::evict_first.b64 %d4, 1.0", cache::Class::first, cache::Class::unchanged,
     1},
    {"evict_last", "L2::evict_last.b64 %d4, 1.0", cache::Class::last, cache::Class::unchanged, 1},
    {"evict_unchanged", "L2::evict_unchanged.b64 %d4, 1.0", cache::Class::unchanged,
     cache::Class::unchanged, 1},
    {"evict_normal", "L2::evict_normal.b64 %d4, 1.0", cache::Class::normal, cache::Class::unchanged,
     1},
    {"half evict_last, half evict_first", "L2::evict_last.L2::evict_first.b64 %d4, 0.5",
     cache::Class::last, cache::Class::first, 0.5}};
uint64_t word_of(const Policy& p) {
  return *p.text == 0 ? 0 : cache::fractional_policy(p.primary, p.secondary, p.fraction);
}

/// How many of the second phase's loads hit.
struct Hits {
  double l1 = 0, l2 = 0;
  bool like(const Hits& o) const {
    return std::fabs(l1 - o.l1) <= kAlike && std::fabs(l2 - o.l2) <= kAlike;
  }
};

/// The tracker's caches, at their start with whatever `engine` holds.
class Model {
 public:
  explicit Model(const std::string& preset) : engine_(cache::load_preset(preset), nullptr) {
    engine_.set_site(&counters_);
  }

  Hits ask(const std::string& form, uint64_t at, uint32_t lines) {
    const cache::SiteCounters before = counters_;
    run(form, at, lines, 0);
    const double all = lines;
    const auto l1 = counters_.l1_hits - before.l1_hits, l2 = counters_.l2_hits - before.l2_hits;
    return {static_cast<double>(l1) / all, static_cast<double>(l2) / all};
  }
  void run(const std::string& form, uint64_t at, uint32_t lines, uint64_t policy,
           bool whole_lines = false) {
    trace::Site site = trace::site_from_text(trace::Dialect::ptx, form);
    if (policy != 0) {
      site.hinted = true;
      site.policy = policy;
    }
    const cache::Plan plan = engine_.plan(site, trace::Space::global);
    for (uint32_t n = 0; n < lines; ++n) {
      cache::Access a;
      a.block = kBase + at + uint64_t{n} * kLine;
      a.mask = whole_lines ? ~cache::Mask{} : cache::byte_range(0, 4);
      if (site.kind == trace::OpKind::control)
        engine_.control(
            form.ends_with("L1") ? cache::Effect::prefetch_l1 : cache::Effect::prefetch_l2, site,
            false, a);
      else
        engine_.run(plan, a);
    }
  }
  void kernel_begin() { engine_.kernel_begin(0); }

 private:
  cache::SiteCounters counters_;
  cache::Engine engine_;
};

class Operators {
 public:
  Operators(Bench& bench, std::string name)
      : card_(bench.card),
        preset_(bench.preset),
        name_(std::move(name)),
        l2_(static_cast<uint64_t>(std::max(card_.facts().l2_bytes, 1 << 20))),
        sweep_bytes_(bench.small ? 1 << 16 : 2 * l2_),
        sweep_(card_.load(sweep_text(card_))),
        other_(card_.allocate(sweep_bytes_)),
        lines_(card_.allocate(std::max<uint64_t>(uint64_t{kLines} * kLine, l2_))),
        out_(card_.allocate(uint64_t{4} * kLines)) {
    const auto zero = [](Memory& m, uint64_t bytes) {
      const std::vector<std::byte> zeros(bytes);
      m.write(zeros);
    };
    zero(*other_, sweep_bytes_);
    zero(*lines_, std::max<uint64_t>(uint64_t{kLines} * kLine, l2_));
    calibrate();
  }

  void pair(const Phase& fill, const Phase& reload) {
    Json row = {{"kind", "truth"},
                {"name", fmt::format("{}/{} then {}", name_, fill.name, reload.name)},
                {"table", name_},
                {"state", "measured"}};
    try {
      evict();
      const Hits card = put(row, times(fill.code, reload.code));
      Model model(preset_);
      model.kernel_begin();
      model.run(fill.name, 0, kLines, 0);
      put_model(row, card, model.ask(reload.name, 0, kLines));
    } catch (const Refused& e) {
      row["state"] = "refused";
      row["why"] = e.what();
    }
    kit::print_row(row);
  }

  /// A set of lines comes into L2 under a policy; others stream through; which of the set are left?
  void policy(const Policy& p, double share_of_l2, double stream) {
    const auto bytes = [&](double share) {
      return static_cast<uint64_t>(share * static_cast<double>(l2_)) / kGroupBytes * kGroupBytes;
    };
    const uint64_t set = bytes(share_of_l2), rest = std::min(sweep_bytes_, bytes(stream));
    Json row = {{"kind", "truth"},
                {"name", fmt::format("{}/{} {:.2f} of L2, then a stream of {:.2f}", name_, p.name,
                                     share_of_l2, stream)},
                {"table", name_},
                {"state", "measured"}};
    try {
      evict();
      sweep(*card_.load(sweep_text(card_, p.text)), *lines_, set);
      sweep(*sweep_, *other_, rest);
      const Hits card = put(row, times("", "ld.global.cg.u32 %r2, [A];"));
      Model model(preset_);
      const auto lines = [](uint64_t of) { return static_cast<uint32_t>(of / kLine); };
      model.kernel_begin();
      model.run("ld.global.cg.u32", uint64_t{1} << 37, lines(sweep_bytes_), 0, true);
      model.kernel_begin();
      model.run("ld.global.cg.u32", 0, lines(set), word_of(p), true);
      model.kernel_begin();
      model.run("ld.global.cg.u32", uint64_t{1} << 36, lines(rest), 0, true);
      model.kernel_begin();
      put_model(row, card, model.ask("ld.global.cg.u32", 0, kLines));
    } catch (const Refused& e) {
      row["state"] = "refused";
      row["why"] = e.what();
    }
    kit::print_row(row);
  }

  /// The bits of a policy, which the manual does not give.
  bool word(const std::string& what, const std::string& instruction, uint64_t ours) {
    Json row = {
        {"kind", "truth"}, {"name", fmt::format("{}/word of {}", name_, what)}, {"table", name_}};
    bool right = true;
    try {
      const auto out = card_.allocate(sizeof(uint64_t));
      card_.load(policy_text(card_, instruction))
          ->launch("k", {}, std::vector<std::vector<std::byte>>{argument(out->address())});
      std::vector<uint64_t> got(1);
      out->read(std::as_writable_bytes(std::span(got)));
      right = got[0] == ours;
      row["state"] = right ? "same" : "different";
      row["found"] = fmt::format("{:016x}", got[0]);
      row["model"] = fmt::format("{:016x}", ours);
    } catch (const Refused& e) {
      row["state"] = "refused";
      row["why"] = e.what();
    }
    kit::print_row(row);
    return right;
  }

 private:
  void sweep(const Program& program, const Memory& memory, uint64_t bytes) {
    const auto groups = static_cast<uint32_t>(bytes / kGroupBytes);
    if (groups == 0) return;
    program.launch(
        "sweep", {{groups, 1, 1}, {256, 1, 1}},
        std::vector<std::vector<std::byte>>{argument(memory.address()), argument(out_->address())});
  }
  /// L2 holds plain lines of another buffer.
  void evict() {
    card_.reset_persisting_lines();
    sweep(*sweep_, *other_, sweep_bytes_);
  }

  Words times(const std::string& fill, const std::string& reload) {
    const auto program = card_.load(kernel_text(card_, fill, reload));
    program->launch("k", {},
                    std::vector<std::vector<std::byte>>{argument(lines_->address()),
                                                        argument(out_->address())});
    Words t(kLines);
    out_->read(std::as_writable_bytes(std::span(t)));
    return t;
  }
  static double median(Words t) {
    std::ranges::nth_element(t, t.begin() + kLines / 2);
    return t[kLines / 2];
  }

  /// What a hit in L1, one in L2 and a miss take.
  void calibrate() {
    evict();
    const double memory = median(times("", "ld.global.cg.u32 %r2, [A];"));
    const double second = median(times("", "ld.global.cg.u32 %r2, [A];"));
    const double first = median(times("ld.global.ca.u32 %r2, [A];", "ld.global.ca.u32 %r2, [A];"));
    l1_below_ = (first + second) / 2;
    l2_below_ = (second + memory) / 2;
    for (const auto& [what, cycles] : {std::pair{"L1", first}, {"L2", second}, {"memory", memory}})
      kit::print_row(kit::figure(fmt::format("{}/load from {}", name_, what), cycles, "cycles"));
  }

  Hits put(Json& row, const Words& t) const {
    Hits h;
    for (const uint32_t cycles : t) {
      h.l1 += cycles < l1_below_ ? 1.0 / kLines : 0;
      h.l2 += cycles >= l1_below_ && cycles < l2_below_ ? 1.0 / kLines : 0;
    }
    put_hits(row, "card", h);
    row["cycles"] = median(t);
    return h;
  }
  static void put_model(Json& row, const Hits& card, const Hits& model) {
    put_hits(row, "model", model);
    if (card.like(model)) row["state"] = "same";
  }
  static void put_hits(Json& row, const std::string& key, const Hits& h) {
    row[key + "_l1"] = std::round(h.l1 * 1000) / 1000;
    row[key + "_l2"] = std::round(h.l2 * 1000) / 1000;
  }

  const Card& card_;
  std::string preset_;
  std::string name_;
  uint64_t l2_, sweep_bytes_;
  std::shared_ptr<const Program> sweep_;
  std::unique_ptr<Memory> other_, lines_, out_;
  double l1_below_ = 0, l2_below_ = 0;
};

}  // namespace

bool operator_table(Bench& bench, const std::string& name) {
  Operators operators(bench, name);
  bool right = true;
  for (const Policy& p : kPolicies)
    if (*p.text != 0) right = operators.word(p.name, create_policy(p.text), word_of(p)) && right;
  right =
      operators.word(
          "a range",
          "createpolicy.range.L2::evict_last.L2::evict_first.b64 %d4, [%d1], 0x100000, 0x400000;",
          cache::range_policy(cache::Class::last, cache::Class::first, 0x7f0012345000, 0x100000,
                              0x400000)) &&
      right;
  for (const Phase& fill : fills())
    for (const Phase& reload : reloads()) {
      if (bench.small && (&fill != &fills()[0] || &reload != &reloads()[0])) continue;
      operators.pair(fill, reload);
    }
  if (bench.small) return right;
  for (const double share : {0.25, 0.5, 0.75})
    for (const double stream : {0.5, 1.0, 2.0})
      for (const Policy& p : kPolicies) operators.policy(p, share, stream);
  return right;
}

}  // namespace lanewise::truth
