// Traces that are derived, held against traces that the reference engine records: random kernels
// whose lanes part, loop, leave early, wait for each other and fault.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "runtime/events/collector.hpp"
#include "runtime/events/derive/paths.hpp"
#include "tests/unit/reference/support.hpp"

// Names of its own: these files are compiled together.
namespace derived_traces {
namespace {

using namespace lanewise;
using namespace lanewise::test;

constexpr uint64_t kArena = 1 << 16, kFirst = guest::kArenaBase + 0x1000, kFirstBytes = 0x3000,
                   kSecond = guest::kArenaBase + 0x8000, kSecondBytes = 0x1004,
                   kParams = guest::kArenaBase + 0xf000;

class Lines final : public trace::Sink {
 public:
  std::vector<std::string> lines;
  void kernel(const trace::Kernel& k) override { lines.push_back("kernel " + k.name); }
  void site(const trace::Site& s) override {
    lines.push_back(
        fmt::format("site {} {} {}", static_cast<int>(s.kind), static_cast<int>(s.space), s.bytes));
  }
  void buffer(const trace::Buffer& b) override { lines.push_back("buffer " + b.name); }
  void event(const trace::Event& e) override {
    const trace::WaveRecord& r = e.wave;
    if (e.kind != trace::EventKind::wave) {
      lines.push_back(fmt::format("event {}", static_cast<int>(e.kind)));
      return;
    }
    std::string line = fmt::format("{} {}.{} {:x} {} {:x}+{}", r.site, r.group, r.wave, r.mask,
                                   static_cast<int>(r.mode), r.base, r.stride);
    for (const int64_t d : r.deltas) line += fmt::format(" {}", d);
    lines.push_back(std::move(line));
  }
};

/// Writes kernels at random.
class Author {
 public:
  Author(std::mt19937& rng, uint32_t wave_lanes) : rng_(rng) {
    program.name = "test";
    program.wave_lanes = wave_lanes;
    program.local_bytes = 64;
    program.param_bytes = 24;
    program.params = {{"a", 0, 8, 8, true, Type::u64},
                      {"b", 8, 8, 8, true, Type::u64},
                      {"n", 16, 4, 4, false, Type::u32},
                      {"m", 20, 4, 4, false, Type::u32}};
    program.sites.resize(400);
    b_.set_block(b_.add_block());
    new_site();
  }

  ir::Program write() {
    for (const auto which :
         {ir::SReg::tid_x, ir::SReg::tid_y, ir::SReg::tid_z, ir::SReg::ctaid_x, ir::SReg::ctaid_y,
          ir::SReg::ctaid_z, ir::SReg::linear_tid, ir::SReg::laneid, ir::SReg::warpid,
          ir::SReg::ntid_x, ir::SReg::nctaid_x}) {
      words_.push_back(b_.reg(Width::b32));
      b_.emit(Op::sreg, Type::u32, {words_.back()}, {}).mode = static_cast<uint8_t>(which);
    }
    for (const uint32_t offset : {16, 20}) words_.push_back(parameter(Type::u32, offset));
    if (chance(30)) words_.push_back(parameter_in_memory());
    pointers_ = {parameter(Type::u64, 0), parameter(Type::u64, 8)};
    preds_.push_back(compare());
    statements(6 + one_in(12), 0);
    b_.exit();
    return program;
  }

  ir::Program program;

 private:
  uint32_t one_in(uint32_t n) { return static_cast<uint32_t>(rng_() % n); }
  bool chance(uint32_t percent) { return one_in(100) < percent; }
  void new_site() {
    if (site_ + 1 < program.sites.size()) b_.set_site(++site_);
  }

  Reg parameter(Type type, uint32_t offset) {
    const Reg r = b_.reg(ir::width_of(type));
    b_.emit(Op::load, Type::none, {r}, {imm(offset)}).mem = TestKernel::mem(type, ir::Space::param);
    return r;
  }
  /// As GCN code reads them; sometimes at an address that its rule bends or refuses.
  Reg parameter_in_memory() {
    const Reg base = b_.reg(Width::b64), r = b_.reg(Width::b32);
    b_.emit(Op::sreg, Type::u64, {base}, {}).mode = static_cast<uint8_t>(ir::SReg::param_base);
    ir::Inst& load = b_.emit(Op::load, Type::none, {r}, {base});
    load.mem = TestKernel::mem(Type::u32, ir::Space::global, chance(70) ? 16 : 14 + one_in(12));
    load.mem->align = static_cast<ir::AlignRule>(one_in(3));
    return r;
  }
  Operand word() {
    if (chance(20)) return imm(one_in(70));
    if (chance(3)) return imm(static_cast<uint32_t>(-1) - one_in(40));
    return words_[one_in(static_cast<uint32_t>(words_.size()))];
  }
  Reg compare() {
    const Reg p = b_.reg(Width::pred);
    b_.emit(Op::icmp, chance(50) ? Type::u32 : Type::s32, {p}, {words_[one_in(11)], word()}).cond =
        static_cast<ir::Cond>(one_in(6));
    return p;
  }
  ir::Guard guard() { return {preds_[one_in(static_cast<uint32_t>(preds_.size()))], chance(50)}; }

  void calculate() {
    static constexpr Op kOps[] = {Op::add,  Op::add, Op::sub, Op::mul, Op::min, Op::max,
                                  Op::and_, Op::or_, Op::shl, Op::shr, Op::div, Op::rem};
    const Op op = kOps[one_in(std::size(kOps))];
    const bool small = op == Op::shl || op == Op::mul || op == Op::shr;
    const Operand second = small                            ? imm(one_in(5))
                           : op == Op::and_                 ? imm(chance(50) ? 31 : ~uint32_t{3})
                           : op == Op::or_                  ? imm(one_in(4))
                           : op >= Op::div && op <= Op::rem ? imm(uint64_t{1} << one_in(6))
                                                            : word();
    const bool overwrites = chance(15);
    const Reg to =
        overwrites ? words_[one_in(static_cast<uint32_t>(words_.size()))] : b_.reg(Width::b32);
    if (overwrites && chance(50)) b_.set_guard(guard());
    b_.emit(op, chance(50) ? Type::u32 : Type::s32, {to}, {word(), second});
    b_.set_guard({});
    if (!overwrites) words_.push_back(to);
  }

  void decide() {
    const Reg p = compare();
    if (chance(30)) {
      const Reg both = b_.reg(Width::pred);
      b_.emit(chance(50) ? Op::and_ : Op::xor_, Type::pred, {both},
              {p, preds_[one_in(static_cast<uint32_t>(preds_.size()))]});
      preds_.push_back(both);
    }
    preds_.push_back(p);
  }

  /// One access, or the components of one.
  void access() {
    new_site();
    const Type type = chance(70) ? Type::u32 : chance(50) ? Type::u64 : Type::u8;
    const bool local = chance(8);
    Reg address;
    if (local) {
      address = b_.make(Op::and_, Type::u32, {word(), imm(chance(80) ? 0x3c : 0xff)});
    } else {
      const Reg bytes = b_.reg(Width::b64);
      const uint32_t step = chance(90) ? std::max(ir::size_of(type), 4U) : 1 + one_in(40);
      b_.emit(Op::mulwide, chance(70) ? Type::u32 : Type::s32, {bytes}, {word(), imm(step)});
      address = b_.make(Op::add, Type::u64, {pointers_[one_in(2)], bytes});
    }
    const uint32_t components = chance(20) ? 2 + one_in(3) : 1;
    if (chance(25)) b_.set_guard(guard());
    const auto rule = static_cast<ir::AlignRule>(one_in(3));
    const auto kind = one_in(3);
    const auto space = local        ? ir::Space::local
                       : chance(70) ? ir::Space::global
                                    : ir::Space::generic;
    int64_t offset = 4 * int64_t{one_in(4)};
    for (uint32_t i = 0; i < components; ++i) {
      one_access(kind, type, space, rule, address, offset);
      offset += chance(90) ? ir::size_of(type) : 16;
    }
    b_.set_guard({});
  }

  void one_access(uint32_t kind, Type type, ir::Space space, ir::AlignRule rule, Reg address,
                  int64_t offset) {
    ir::Mem mem = TestKernel::mem(type, space, offset);
    mem.align = rule;
    const Width width = ir::width_of(type);
    const Operand value = width == Width::b64 ? imm(5) : word();
    const Reg loaded = b_.reg(width);
    if (kind == 0) {
      b_.emit(Op::store, Type::none, {}, {address, value}).mem = mem;
    } else if (kind == 1 && type == Type::u32 && space != ir::Space::local) {
      mem.atom_type = type;
      b_.emit(Op::atom, Type::none, {loaded}, {address, value}).mem = mem;
    } else {
      b_.emit(Op::load, Type::none, {loaded}, {address}).mem = mem;
      if (type == Type::u32 && chance(2)) words_.push_back(loaded);
    }
  }

  void fence() {
    new_site();
    ir::Inst& inst = b_.emit(chance(50) ? Op::fence : Op::cachectl, Type::none, {}, {});
    inst.mem = TestKernel::mem(Type::u32);
    inst.mem->scope = ir::Scope::gpu;
    inst.mem->order = ir::Order::seq_cst;
    if (inst.op == Op::fence) return;
    inst.mode = static_cast<uint8_t>(ir::CacheCtl::invalidate_all);
    if (chance(50)) return;
    inst.mode = static_cast<uint8_t>(ir::CacheCtl::prefetch_l2);
    inst.src = {pointers_[one_in(2)]};
  }

  void statements(uint32_t count, uint32_t depth) {
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t what = one_in(100);
      if (what < 40) {
        calculate();
      } else if (what < 50) {
        decide();
      } else if (what < 75) {
        access();
      } else if (what < 80) {
        fence();
      } else if (what < 86) {
        wait(depth);
      } else if (what < 92 && depth < 2) {
        branch(depth);
      } else if (what < 97 && depth < 2) {
        loop(depth);
      } else if (depth == 0 && chance(20)) {
        leave();
      }
    }
  }

  /// Sometimes for lanes that will not come.
  void wait(uint32_t depth) {
    const bool careful = depth == 0 || chance(60);
    if (chance(15)) b_.set_guard(guard());
    if (chance(20)) {
      const Reg p = b_.reg(Width::pred);
      const Operand members = careful ? imm(0xffffffff) : chance(50) ? imm(0xff) : word();
      b_.emit(Op::vote_all, Type::none, {p}, {preds_[0], members});
    } else {
      const uint32_t id = careful ? 0 : one_in(2), lanes = careful ? 0 : 32 * one_in(2);
      b_.emit(Op::barrier, Type::none, {}, {imm(id), imm(lanes)});
    }
    b_.set_guard({});
  }

  /// Values made in a branch stay: lanes that were not there have what the register held.
  void branch(uint32_t depth) {
    const bool both = chance(50);
    const uint32_t yes = b_.add_block(), no = b_.add_block(), after = b_.add_block();
    const auto known = words_.size();
    b_.branch(guard(), yes, both ? no : after);
    b_.set_block(yes);
    statements(1 + one_in(4), depth + 1);
    b_.jump(after);
    b_.set_block(no);
    if (both) statements(1 + one_in(4), depth + 1);
    b_.jump(after);
    b_.set_block(after);
    words_.resize(known);
  }

  void loop(uint32_t depth) {
    const uint32_t body = b_.add_block(), after = b_.add_block();
    const Reg i = b_.reg(Width::b32);
    b_.emit(Op::mov, Type::u32, {i}, {imm(0)});
    const Operand end = chance(60) ? imm(1 + one_in(4))
                                   : Operand(b_.make(Op::and_, Type::u32, {words_[0], imm(3)}));
    b_.jump(body);
    b_.set_block(body);
    const auto known = words_.size();
    words_.push_back(b_.make(Op::mov, Type::u32, {i}));
    statements(1 + one_in(4), depth + 1);
    words_.resize(known);
    b_.emit(Op::add, Type::u32, {i}, {i, imm(1)});
    const Reg more = b_.reg(Width::pred);
    b_.emit(Op::icmp, Type::u32, {more}, {i, end}).cond = ir::Cond::lt;
    b_.branch({more, false}, body, after);
    b_.set_block(after);
  }

  void leave() {
    const uint32_t out = b_.add_block(), on = b_.add_block();
    b_.branch(guard(), out, on);
    b_.set_block(out);
    if (chance(20)) b_.emit(Op::trap, Type::none, {}, {});
    b_.exit();
    b_.set_block(on);
  }

  std::mt19937& rng_;
  ir::Builder b_{program};
  std::vector<Reg> words_, preds_, pointers_;
  uint32_t site_ = 0;
};

Dim3 random_block(std::mt19937& rng) {
  static constexpr Dim3 kBlocks[] = {{32, 1, 1}, {64, 1, 1}, {96, 1, 1}, {33, 1, 1}, {7, 1, 1},
                                     {8, 8, 1},  {16, 4, 2}, {64, 2, 1}, {5, 3, 2},  {1, 40, 1}};
  return kBlocks[rng() % std::size(kBlocks)];
}

struct Count {
  size_t programs = 0, derived = 0, parted = 0, events = 0;
};

void compare_once(uint32_t seed, Count& count) {
  std::mt19937 rng(seed);
  ir::Program program = Author(rng, rng() % 4 == 0 ? 64 : 32).write();
  REQUIRE(ir::verify(program).empty());
  const auto engine = reference::make_engine();
  engine->reserve(kArena);
  LaunchRequest request;
  request.program = &program;
  request.grid = {static_cast<uint32_t>(1 + rng() % 4), static_cast<uint32_t>(1 + rng() % 2),
                  static_cast<uint32_t>(1 + rng() % 2)};
  request.block = random_block(rng);
  request.memcheck = static_cast<Memcheck>(rng() % 3);
  const std::vector<Allocation> allocations = {{kFirst, kFirstBytes, "a", false},
                                               {kSecond, kSecondBytes, "b", rng() % 4 == 0},
                                               {kParams, 24, "params", true}};
  request.allocations = allocations;
  request.params.resize(24);
  const uint64_t pointers[] = {kFirst + 64 * (rng() % 4), kSecond - 4 * (rng() % 2)};
  const uint32_t numbers[] = {static_cast<uint32_t>(rng() % 300), static_cast<uint32_t>(rng() % 9)};
  std::memcpy(request.params.data(), pointers, sizeof pointers);
  std::memcpy(request.params.data() + 16, numbers, sizeof numbers);
  request.param_address = kParams;
  engine->write(kParams, request.params);

  Lines recorded, derived;
  events::Collector recorder(recorded), deriver(derived);
  recorder.number_points(program);
  request.events = &recorder;
  engine->launch(request);

  deriver.number_points(program);
  ++count.programs;
  const auto paths = deriver.paths_of(request, kArena);
  if (paths == nullptr) return;
  ++count.derived;
  count.parted += paths->paths.size() > 1 ? 1 : 0;
  count.events += recorded.lines.size();
  deriver.begin(request, kArena);
  deriver.groups(request, *paths, false);
  deriver.end();
  CAPTURE(seed);
  const std::vector<std::string>&have = derived.lines, &want = recorded.lines;
  const size_t at = static_cast<size_t>(std::ranges::mismatch(have, want).in1 - have.begin());
  CAPTURE(at);
  CHECK((at == have.size() ? "end" : have[at]) == (at == want.size() ? "end" : want[at]));
}

}  // namespace

TEST_CASE("derived traces are what the reference engine records") {
  const char* first = std::getenv("LANEWISE_DERIVED_SEED");
  const char* programs = std::getenv("LANEWISE_DERIVED_PROGRAMS");
  const auto seed = static_cast<uint32_t>(first != nullptr ? std::atol(first) : 26);
  const auto most = static_cast<uint32_t>(programs != nullptr ? std::atol(programs) : 600);
  Count count;
  for (uint32_t i = 0; i < most; ++i) compare_once(seed + i, count);
  CAPTURE(count.programs);
  CAPTURE(count.derived);
  CAPTURE(count.parted);
  CHECK(count.derived * 2 > count.programs);
  CHECK(count.parted * 8 > count.programs);
  CHECK(count.events > 20 * count.programs);
}

}  // namespace derived_traces
