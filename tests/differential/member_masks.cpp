// Member masks from sm_70 on: an operation waits for each lane of its mask that has not ended, in
// whatever iteration or depth of a recursion it stands. Random programs with masks of all lanes, of
// some and of groups that lanes name apart; the model runs each lane by itself and shares nothing
// with the runtime. Packed mode may refuse a launch loudly, and gives no other value.
// The same programs for sm_50 and sm_60, where lanes keep to one tree: the second model runs them
// in step. LANEWISE_MASK_PROGRAMS=N asks for N programs, LANEWISE_RANDOM_SEED for other ones,
// LANEWISE_MASK_WAVE=lane, packed or serial for that mode of the devices alone.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>

#include "tests/differential/ptx_kernel.hpp"
#include "tests/oracle/member_masks.hpp"

namespace member_masks {

using namespace lanewise;
using namespace lanewise::test;

namespace {

using ::oracle::masks::Condition;
using ::oracle::masks::InStep;
using ::oracle::masks::Kind;
using ::oracle::masks::Members;
using ::oracle::masks::model;
using ::oracle::masks::Program;
using ::oracle::masks::Statement;

struct Random {
  std::mt19937 rng;
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(rng() % n); }
  bool one_in(uint32_t n) { return below(n) == 0; }
};

// --- the generator ------------------------------------------------------------------------------

class Generator {
 public:
  explicit Generator(uint32_t seed) : r_{std::mt19937(seed)} {}
  Program make() {
    Program p;
    p.kernel = list(3, 0, true);
    p.before = list(2, 0, false);
    p.after = list(2, 0, false);
    p.depth_shift = r_.below(4);
    return p;
  }

 private:
  std::vector<Statement> list(uint32_t depth, uint32_t loops, bool calls) {
    std::vector<Statement> out;
    const uint32_t count = 1 + r_.below(3);
    for (uint32_t i = 0; i < count; ++i) out.push_back(statement(depth, loops, calls));
    return out;
  }
  Statement statement(uint32_t depth, uint32_t loops, bool calls) {
    Statement s;
    const uint32_t what = r_.below(depth == 0 ? 6 : 12);
    if (what < 1) {
      s.number = r_.rng() | 1;
    } else if (what < 6) {
      constexpr Kind kOps[] = {Kind::ballot, Kind::any,   Kind::shuffle,
                               Kind::sum,    Kind::match, Kind::sync};
      s.kind = kOps[r_.below(6)];
      s.members = members();
    } else if (what < 8) {
      s.kind = Kind::branch;
      s.condition = condition(loops);
      s.body = list(depth - 1, loops, calls);
      if (r_.one_in(2)) s.otherwise = list(depth - 1, loops, calls);
    } else if (what < 10 && loops < 2) {
      s.kind = Kind::loop;
      s.number = r_.below(4);
      s.trips = r_.one_in(2) ? 0 : 2 + r_.below(3);
      s.body = list(depth - 1, loops + 1, calls);
    } else if (what == 10 && calls) {
      s.kind = Kind::call;
    } else {
      s.kind = Kind::branch;
      s.condition = condition(loops);
      Statement leave;
      leave.kind = loops > 0 && r_.one_in(2) ? Kind::leave : Kind::mix;
      leave.number = r_.rng() | 1;
      s.body = {leave};
    }
    return s;
  }
  Members members() {
    constexpr uint32_t kBits[] = {0, 0, 0, 1, 2, 4, 3, 16, 24, 8};
    const uint32_t bits = kBits[r_.below(10)];
    return {bits, bits == 0 && r_.one_in(2)};
  }
  Condition condition(uint32_t loops) {
    Condition c;
    c.counter = loops > 0 && !r_.one_in(3);
    c.mask = r_.one_in(2) ? 1 : 3;
    c.by_lane = c.counter && !r_.one_in(3);
    c.shift = c.counter ? 0 : r_.below(5);
    c.other_shift = r_.below(4);
    c.value = r_.below(c.mask + 1);
    return c;
  }
  Random r_;
};

// --- as PTX -------------------------------------------------------------------------------------

class Printer {
 public:
  Printer(const Program& p, const std::string& target) : p_(p), target_(target) {}
  std::string kernel() {
    const std::string registers =
        ".reg .b32 %state, %lane, %depth, %full, %t<6>, %c<4>; .reg .b64 %rd<6>; .reg .pred %p, "
        "%q;\n";
    list(p_.before, 0, "");
    line("setp.le.u32 %p, %depth, 1");
    line("@%p bra bottom");
    line("sub.u32 %t0, %depth, 1");
    call("%t0");
    text_ += "bottom:\n";
    list(p_.after, 0, "");
    const std::string body = std::exchange(text_, "");
    list(p_.kernel, 0, "");
    const std::string main = std::exchange(text_, "");
    return ".version 8.0\n.target " + target_ +
           "\n.address_size 64\n"
           ".func (.param .b32 out) f(.param .b32 in, .param .b32 n)\n{\n" +
           registers +
           "ld.param.b32 %state, [in]; ld.param.b32 %depth, [n]; mov.u32 %lane, %laneid; mov.b32 "
           "%full, -1;\n" +
           body +
           "st.param.b32 [out], %state;\nret;\n}\n"
           ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n" +
           registers +
           "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %lane, %laneid; "
           "mad.lo.u32 %state, %lane, 77, 5; ld.global.u32 %full, [%rd1];\n" +
           main +
           "mov.u32 %t0, %tid.x; mad.wide.u32 %rd2, %t0, 4, %rd2; st.global.u32 [%rd2], "
           "%state;\nret;\n}\n";
  }

 private:
  template <typename... Args>
  void line(const std::string& format, const Args&... args) {
    text_ += "  " + fmt::format(fmt::runtime(format), args...) + ";\n";
  }
  std::string label() { return fmt::format("L{}", labels_++); }
  void list(const std::vector<Statement>& all, uint32_t loops, const std::string& leave) {
    for (const Statement& s : all) statement(s, loops, leave);
  }
  void call(const std::string& depth) {
    text_ += "  { .param .b32 a; .param .b32 b; .param .b32 r;\n";
    line("st.param.b32 [a], %state");
    line("st.param.b32 [b], {}", depth);
    line("call (r), f, (a, b)");
    line("ld.param.b32 %state, [r]");
    text_ += "  }\n";
  }
  void statement(const Statement& s, uint32_t loops, const std::string& leave) {
    switch (s.kind) {
      case Kind::mix:
        return line("mad.lo.u32 %state, %state, 2654435761, {}", s.number);
      case Kind::branch: {
        const Condition& c = s.condition;
        const std::string other = label(), end = label();
        line("shr.u32 %t0, {}, {}", c.counter ? fmt::format("%c{}", loops - 1) : "%lane", c.shift);
        line("and.b32 %t0, %t0, {}", c.mask);
        line("shr.u32 %t1, %lane, {}", c.other_shift);
        line("and.b32 %t1, %t1, {}", c.mask);
        line("setp.ne.u32 %p, %t0, {}", c.by_lane ? "%t1" : std::to_string(c.value));
        line("@%p bra {}", other);
        list(s.body, loops, leave);
        if (!s.otherwise.empty()) line("bra {}", end);
        text_ += other + ":\n";
        list(s.otherwise, loops, leave);
        text_ += end + ":\n";
        return;
      }
      case Kind::leave:
        return line("bra {}", leave);
      case Kind::loop: {
        const std::string again = label(), out = label();
        line("mov.u32 %c{}, 0", loops);
        text_ += again + ":\n";
        list(s.body, loops + 1, out);
        line("add.u32 %c{0}, %c{0}, 1", loops);
        if (s.trips != 0) {
          line("setp.lt.u32 %p, %c{}, {}", loops, s.trips);
        } else {
          line("shr.u32 %t0, %lane, {}", s.number);
          line("and.b32 %t0, %t0, 3");
          line("setp.le.u32 %p, %c{}, %t0", loops);
        }
        line("@%p bra {}", again);
        text_ += out + ":\n";
        return;
      }
      case Kind::call:
        line("shr.u32 %t0, %lane, {}", p_.depth_shift);
        line("and.b32 %t0, %t0, 3");
        line("add.u32 %t0, %t0, 1");
        return call("%t0");
      default:
        return operation(s);
    }
  }
  std::string members(const Members& m) {
    if (m.bits == 0) return m.constant ? "0xffffffff" : "%full";
    line("mov.b32 %t2, %full");
    for (uint32_t bit = 0; bit < 5; ++bit) {
      if ((m.bits >> bit & 1) == 0) continue;
      uint32_t without = 0;
      for (uint32_t i = 0; i < 32; ++i) without |= uint32_t{(i >> bit & 1) == 0} << i;
      line("and.b32 %t3, %lane, {}", 1U << bit);
      line("setp.eq.u32 %q, %t3, 0");
      line("selp.b32 %t3, {}, {}, %q", without, ~without);
      line("and.b32 %t2, %t2, %t3");
    }
    return "%t2";
  }
  void operation(const Statement& s) {
    const std::string mask = members(s.members);
    switch (s.kind) {
      case Kind::ballot:
        line("and.b32 %t0, %state, 128");
        line("setp.ne.u32 %q, %t0, 0");
        line("vote.sync.ballot.b32 %t1, %q, {}", mask);
        break;
      case Kind::any:
        line("and.b32 %t0, %state, 0xe00");
        line("setp.eq.u32 %q, %t0, 0");
        line("vote.sync.any.pred %q, %q, {}", mask);
        line("selp.b32 %t1, 1, 0, %q");
        break;
      case Kind::shuffle:
        line("shr.u32 %t0, %state, 11");
        line("and.b32 %t0, %t0, 31");
        line("shfl.sync.idx.b32 %t1, %state, %t0, 31, {}", mask);
        break;
      case Kind::sum:
        line("redux.sync.add.u32 %t1, %state, {}", mask);
        break;
      case Kind::match:
        line("and.b32 %t0, %state, 0x300");
        line("match.any.sync.b32 %t1, %t0, {}", mask);
        break;
      default:
        return line("bar.warp.sync {}", mask);
    }
    line("xor.b32 %state, %state, %t1");
    line("mul.lo.u32 %state, %state, 2654435761");
  }

  const Program& p_;
  std::string target_;
  std::string text_;
  uint32_t labels_ = 0;
};

ir::Program kernel_of(const std::string& text) {
  const ptx::ParseResult parsed = ptx::parse(text, 0);
  REQUIRE_MESSAGE(parsed.ok(), parsed.diagnostics[0].message);
  ptx::LowerResult lowered = ptx::lower(parsed.module);
  REQUIRE_MESSAGE(lowered.diagnostics.empty(), lowered.diagnostics[0].message);
  return lowered.module.kernels.at(0);
}

uint32_t asked(const char* variable, uint32_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
}

struct Case {
  uint32_t seed, lanes;
  bool rendezvous;
  std::string text;
  ir::Program program;
  std::vector<uint32_t> expected;
};

/// Older targets have these operations alone.
void keep_old_operations(std::vector<Statement>& all) {
  for (Statement& s : all) {
    if (s.kind == Kind::sum) s.kind = Kind::shuffle;
    if (s.kind == Kind::match) s.kind = Kind::ballot;
    keep_old_operations(s.body);
    keep_old_operations(s.otherwise);
  }
}

/// Of random programs those whose lanes do not wait for ever.
std::vector<Case> cases(uint32_t first, uint32_t count, bool rendezvous) {
  std::vector<Case> out;
  for (uint32_t seed = first; out.size() < count; ++seed) {
    Program p = Generator(seed).make();
    if (!rendezvous)
      for (auto* list : {&p.kernel, &p.before, &p.after}) keep_old_operations(*list);
    const uint32_t lanes = seed % 3 == 0 ? 32 : seed % 3 == 1 ? 45 : 23;
    std::vector<uint32_t> expected;
    bool ends = true;
    for (uint32_t begin = 0; ends && begin < lanes; begin += 32) {
      const uint32_t wave = std::min(32U, lanes - begin);
      const auto states = rendezvous ? model(p, wave) : InStep(p, wave).run();
      ends = states.has_value();
      if (ends) expected.insert(expected.end(), states->begin(), states->end());
    }
    if (!ends) continue;
    const char* target = rendezvous ? "sm_80" : seed % 2 != 0 ? "sm_50" : "sm_60";
    const std::string text = Printer(p, target).kernel();
    if (text.find(".sync") == std::string::npos) continue;
    out.push_back({seed, lanes, rendezvous, text, kernel_of(text), expected});
  }
  return out;
}

Outcome run_case(const Case& c, Engine& engine, WaveMode mode, WaveSchedule schedule) {
  const std::vector<uint32_t> input = {0xffffffff};
  return run_on(engine, c.program, {1, 1, 1}, {c.lanes, 1, 1}, input, c.lanes,
                [&](LaunchRequest& request) {
                  request.wave = mode;
                  request.schedule = schedule;
                });
}

void check(const Case& c, Engine& engine, const std::string& label, WaveMode mode,
           WaveSchedule schedule, uint32_t& exact, uint32_t& loud) {
  CAPTURE(c.seed);
  CAPTURE(label);
  CAPTURE(name(mode));
  CAPTURE(c.text);
  Outcome got;
  try {
    got = run_case(c, engine, mode, schedule);
  } catch (const Error& e) {
    const std::string why = e.what();
    CAPTURE(why);
    const auto says = [&](const char* what) { return why.find(what) != std::string::npos; };
    // A driver's compiler cannot take everything, packed mode not every tree, lane mode no
    // operation where lanes may be apart; all are reported.
    const bool refused = mode == WaveMode::lane ? says("cannot run in lane mode")
                                                : !c.rendezvous && mode == WaveMode::packed &&
                                                      says("cannot be kept together");
    CHECK((refused || says("too large for this driver")));
    loud += refused ? 1 : 0;
    return;
  }
  if (got.fault_count != 0) {
    // A driver that ends loops after so many iterations reports that, and nothing else is known.
    const Fault& first = got.faults.at(0);
    if (mode == WaveMode::serial && first.kind == FaultKind::step_budget && first.address == 1) {
      ++loud;
      return;
    }
    CHECK_MESSAGE(got.faults.at(0).kind == FaultKind::wave_divergence, describe(got));
    CHECK(mode != WaveMode::serial);
    CHECK(label != "reference");
    ++loud;
    return;
  }
  CHECK(got.words == c.expected);
  ++exact;
}

}  // namespace

namespace {

std::optional<WaveMode> asked_mode() {
  const char* text = std::getenv("LANEWISE_MASK_WAVE");
  for (const WaveMode mode : {WaveMode::lane, WaveMode::packed, WaveMode::serial})
    if (text != nullptr && text == std::string(name(mode))) return mode;
  return {};
}

void check_on_engines(const std::vector<Case>& all) {
  const std::optional<WaveMode> only = asked_mode();
  uint32_t exact = 0, loud = 0, number = 0;
  for (const Case& c : all) {
    for (const TestEngine& engine : engines_in_turn()) {
      uint32_t ran = 0, none = 0;
      if (engine.label == "reference") {
        for (const WaveSchedule schedule : {WaveSchedule::until_stop, WaveSchedule::lockstep})
          check(c, *engine.engine, engine.label, WaveMode::automatic, schedule, ran, none);
        continue;
      }
      check(c, *engine.engine, engine.label, only.value_or(WaveMode::packed), {}, exact, loud);
      if (only) continue;
      // Serial mode takes drivers long: some programs.
      if (number++ % 8 == 0)
        check(c, *engine.engine, engine.label, WaveMode::automatic, {}, ran, none);
    }
  }
  MESSAGE(exact, " launches in ", only ? name(*only) : "packed", " mode were exact, ", loud,
          " ended loudly");
  if (number > 20) CHECK(exact > number / 4);
}

}  // namespace

TEST_CASE("member masks: random programs, each lane modelled by itself") {
  check_on_engines(
      cases(asked("LANEWISE_RANDOM_SEED", 1), asked("LANEWISE_MASK_PROGRAMS", 40), true));
}

TEST_CASE("member masks: random programs for older targets, lanes in step") {
  check_on_engines(
      cases(asked("LANEWISE_RANDOM_SEED", 1), asked("LANEWISE_MASK_PROGRAMS", 16), false));
}

}  // namespace member_masks
