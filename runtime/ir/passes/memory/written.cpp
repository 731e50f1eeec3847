#include "runtime/ir/passes/memory/written.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "runtime/ir/make.hpp"
#include "runtime/layout/addresses.hpp"

namespace lanewise::ir {
namespace {

constexpr uint32_t kWordBytes = 32;  ///< of memory that a word of a map is about

/// What one access needs in front of it.
class AroundAccess {
 public:
  AroundAccess(Program& program, const WrittenMaps& maps, const Inst& access,
               std::vector<Inst>& out)
      : program_(program), maps_(maps), access_(access), mem_(*access.mem), out_(out) {}

  void run() {
    const Operand happens = happens_at_all();
    const Operand address = forced();
    if (mem_.space == Space::shared) return look_small(Space::shared, address, happens);
    if (mem_.space == Space::local) return look_small(Space::local, address, happens);
    Operand elsewhere = happens;
    if (mem_.space == Space::generic) {
      elsewhere = look_in_window(Space::shared, guest::kSharedWindow, address, elsewhere);
      elsewhere = look_in_window(Space::local, guest::kLocalWindow, address, elsewhere);
    }
    look_in_arena(address, elsewhere);
  }

 private:
  Reg make(Op op, Type type, std::vector<Operand> src, Width width) {
    out_.push_back(instruction(op, type, {program_.add_reg(width)}, std::move(src), access_.site));
    return out_.back().dst[0];
  }
  Reg u32(Op op, Operand a, Operand b) { return make(op, Type::u32, {a, b}, Width::b32); }
  Reg u64(Op op, Operand a, Operand b) { return make(op, Type::u64, {a, b}, Width::b64); }
  Reg shift64(Op op, Operand a, uint32_t n) { return u64(op, a, Operand::immediate(n)); }
  Reg both(Operand a, Operand b) { return make(Op::and_, Type::pred, {a, b}, Width::pred); }
  Reg compare(Type type, Cond cond, Operand a, Operand b) {
    const Reg result = make(Op::icmp, type, {a, b}, Width::pred);
    out_.back().cond = cond;
    return result;
  }
  Reg negated(Operand p) {
    return make(Op::xor_, Type::pred, {p, Operand::immediate(1)}, Width::pred);
  }

  /// The predicate of the access, its guard included.
  Operand happens_at_all() {
    const Operand& allowed = access_.src.back();
    if (allowed.is_reg() || access_.guard.always()) return allowed;
    return access_.guard.negate ? Operand(negated(access_.guard.reg)) : access_.guard.reg;
  }

  bool wide() const { return ir::wide_space(mem_.space); }

  /// As the emitter computes it: the offset wraps at the operand's width, then low bits are
  /// dropped.
  Operand forced() {
    const uint64_t low =
        mem_.align == AlignRule::force ? std::bit_ceil(mem_.alignment()) - uint64_t{1} : 0;
    const Operand& base = access_.src[0];
    const auto offset = static_cast<uint64_t>(mem_.offset);
    if (base.is_imm()) {
      const uint64_t sum = (base.imm + offset) & ~low;
      return Operand::immediate(wide() ? sum : sum & 0xffffffff);
    }
    Operand at = base;
    const bool narrow = program_.regs[base.index].width != Width::b64;
    if (narrow || !wide()) {
      if (!narrow) at = make(Op::trunc32, Type::u32, {at}, Width::b32);
      if (static_cast<uint32_t>(offset) != 0)
        at = u32(Op::add, at, Operand::immediate(static_cast<uint32_t>(offset)));
      if (low != 0) at = u32(Op::and_, at, Operand::immediate(~static_cast<uint32_t>(low)));
      return wide() ? Operand(make(Op::zext64, Type::u64, {at}, Width::b64)) : at;
    }
    if (offset != 0) at = u64(Op::add, at, Operand::immediate(offset));
    if (low != 0) at = u64(Op::and_, at, Operand::immediate(~low));
    return at;
  }

  /// Of shared or local memory, at a 32-bit offset.
  void look_small(Space space, Operand offset, Operand happens) {
    const uint32_t map = space == Space::shared ? maps_.shared : maps_.local;
    if (map == 0) return;  // there is none of it: every access faults
    if (space == Space::shared && maps_.given)
      happens =
          both(happens, compare(Type::u32, Cond::lt, offset, Operand::immediate(*maps_.given)));
    const Reg word = u32(Op::shr, offset, Operand::immediate(5));
    look(space, u32(Op::shl, word, Operand::immediate(2)), map, offset, happens);
  }

  /// Returns where the access happens outside the window.
  Operand look_in_window(Space space, uint64_t window, Operand address, Operand happens) {
    const Reg from = u64(Op::sub, address, Operand::immediate(window));
    const Reg inside =
        both(happens, compare(Type::u64, Cond::lt, from, Operand::immediate(guest::kWindowSize)));
    look_small(space, make(Op::trunc32, Type::u32, {from}, Width::b32), inside);
    return both(happens, negated(inside));
  }

  /// Imported memory, beyond the map, is somebody else's: it counts as written.
  void look_in_arena(Operand address, Operand happens) {
    const Reg map = make(Op::sreg, Type::u64, {}, Width::b64);
    out_.back().mode = static_cast<uint8_t>(SReg::written_map);
    const Reg inside = both(happens, compare(Type::u64, Cond::lt, address, map));
    const Reg from = u64(Op::sub, address, Operand::immediate(guest::kArenaBase));
    const Reg word = shift64(Op::shl, shift64(Op::shr, from, 5), 2);
    look(Space::global, u64(Op::add, map, word), 0,
         make(Op::trunc32, Type::u32, {address}, Width::b32), inside);
  }

  /// Elements of bytes [first, first + 32) that the access touches, one bit a byte.
  uint32_t touched(uint32_t first) const {
    const uint32_t element = size_of(mem_.elem);
    uint32_t mask = 0;
    for (uint32_t n = first; n < std::min(mem_.bytes(), first + kWordBytes); ++n) {
      const bool sink =
          access_.op == Op::store && access_.src[1 + n / element].kind == Operand::Kind::none;
      const bool unused = (mem_.used_bytes >> n & 1) == 0;
      if (!sink && !unused) mask |= 1U << (n - first);
    }
    return mask;
  }

  /// The alignment that the address has for sure, a power of two.
  uint32_t alignment() const {
    return mem_.align == AlignRule::any ? 1 : std::bit_ceil(mem_.alignment());
  }

  /// `at` + `offset` is the map's word for the byte at `address`, of which only the low bits count.
  void look(Space space, Reg at, uint32_t offset, Operand address, Operand happens) {
    std::optional<Reg> missing;
    const bool starts_word = alignment() >= kWordBytes;
    Operand bit = Operand::immediate(0);
    if (!starts_word) bit = u32(Op::and_, address, Operand::immediate(kWordBytes - 1));
    for (uint32_t first = 0; first < mem_.bytes(); first += kWordBytes) {
      const uint32_t mask = touched(first);
      if (mask == 0) continue;
      const uint32_t bytes = std::min(mem_.bytes() - first, kWordBytes);
      const uint32_t word = offset + first / kWordBytes * 4;
      const Operand all = Operand::immediate(mask);
      look_at_word(space, at, word, starts_word ? all : Operand(u32(Op::shl, all, bit)), happens,
                   missing);
      if (alignment() >= std::bit_ceil(bytes)) continue;
      // The rest lies in the next word: nothing of it when the shift is by all 32.
      const Reg rest = u32(Op::sub, Operand::immediate(kWordBytes), bit);
      look_at_word(space, at, word + 4, u32(Op::shr, all, rest), happens, missing);
    }
    if (missing)
      report(both(happens, compare(Type::u32, Cond::ne, *missing, Operand::immediate(0))));
  }

  Mem map_access(Space space, uint32_t offset) const {
    Mem m;
    m.space = space;
    m.offset = offset;
    m.order = space == Space::local ? Order::weak : Order::relaxed;
    m.scope = space == Space::local ? Scope::none : Scope::gpu;
    m.checked = true;
    return m;
  }

  Inst& access_map(Op op, Space space, Reg at, uint32_t offset) {
    out_.push_back(instruction(op, Type::u32, {}, {at}, access_.site));
    out_.back().mem = map_access(space, offset);
    return out_.back();
  }

  /// Bits of `mask` that the word does not have join `missing` where the access reads; where it
  /// writes, they are set. An atomic does both in one step, so that of several lanes one gets the
  /// report.
  void look_at_word(Space space, Reg at, uint32_t offset, Operand mask, Operand happens,
                    std::optional<Reg>& missing) {
    const bool reads = access_.op != Op::store, writes = access_.op != Op::load;
    Reg old;
    if (writes && space != Space::local) {
      Inst& set = access_map(Op::atom, space, at, offset);
      set.mem->atom = AtomOp::or_;
      set.src.push_back(mask);
      set.src.push_back(happens);
      if (reads) set.dst = {old = program_.add_reg(Width::b32)};
    } else {
      old = program_.add_reg(Width::b32);
      Inst& load = access_map(Op::load, space, at, offset);
      load.dst = {old};
      load.src.push_back(happens);
    }
    if (writes && space == Space::local) {
      const Reg set = u32(Op::or_, old, mask);
      Inst& store = access_map(Op::store, space, at, offset);
      store.src.push_back(set);
      store.src.push_back(happens);
    }
    if (!reads) return;
    const Reg lacks = u32(Op::and_, make(Op::not_, Type::u32, {old}, Width::b32), mask);
    missing = missing ? u32(Op::or_, *missing, lacks) : lacks;
  }

  void report(Reg unwritten) {
    Inst check = instruction(Op::check, Type::none, {program_.add_reg(Width::pred)},
                             {access_.src[0], unwritten}, access_.site);
    check.mem = mem_;
    check.mem->cache = {};
    check.mode = static_cast<uint8_t>(CheckMode::unwritten);
    out_.push_back(std::move(check));
  }

  Program& program_;
  const WrittenMaps& maps_;
  const Inst& access_;
  const Mem& mem_;
  std::vector<Inst>& out_;
};

bool is_looked_at(const Inst& inst) {
  return (inst.op == Op::load || inst.op == Op::store || inst.op == Op::atom) &&
         inst.mem->space != Space::param && inst.mem->space != Space::code;
}

}  // namespace

uint32_t small_map_bytes(uint64_t bytes) {
  return bytes == 0 ? 0 : static_cast<uint32_t>((bytes + kWordBytes - 1) / kWordBytes + 1) * 4;
}

void insert_written_checks(Program& program, const WrittenMaps& maps) {
  for (Block& block : program.blocks) {
    std::vector<Inst> insts;
    insts.reserve(block.insts.size());
    for (Inst& inst : block.insts) {
      if (is_looked_at(inst)) AroundAccess(program, maps, inst, insts).run();
      insts.push_back(std::move(inst));
    }
    block.insts = std::move(insts);
  }
}

}  // namespace lanewise::ir
