#include "runtime/ir/passes/memory/pointers.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "runtime/ir/passes/flow/cfg.hpp"
#include "runtime/layout/addresses.hpp"
#include "runtime/layout/launch_block.hpp"

namespace lanewise::ir {
namespace {

constexpr uint64_t kMostStates = uint64_t{1} << 20;  // of both kinds
constexpr uint32_t kSlots = 63;
constexpr uint32_t kFirstVariable = 64;  ///< slots from here on are variables
/// In Value::from: a value read from memory that may be part of a pointer.
constexpr uint64_t kFromMemory = uint64_t{1} << kSlots;
/// A mask below this picks bits out of a word; a pointer does not survive it.
constexpr uint64_t kFewBits = 0x10000;

/// What a register holds, or half of what a pair of them holds.
struct Value {
  enum class Kind : uint8_t {
    unset,
    number,      ///< no pointer
    pointer,     ///< parameter or variable `slot` plus an offset
    parameters,  ///< the address of the parameters plus `offset`
    any
  };
  Kind kind = Kind::unset;
  uint32_t slot = 0;    ///< of eight bytes; from kFirstVariable on a variable
  uint32_t offset = 0;  ///< of `parameters`
  uint64_t from = 0;    ///< of numbers and offsets: slots whose values are in them, bit by slot

  bool is(Kind k) const { return kind == k; }
  bool operator==(const Value&) const = default;
};
using Kind = Value::Kind;

Value number(uint64_t from = 0) {
  return {Kind::number, 0, 0, from};
}
const Value kAny{Kind::any, 0, 0, 0};

/// The slot of a pointer that is a parameter.
uint64_t own(const Value& v) {
  return v.slot < kSlots ? uint64_t{1} << v.slot : 0;
}
/// What a number computed from it depends on.
uint64_t parts(const Value& v) {
  if (v.is(Kind::any)) return kFromMemory;
  if (!v.is(Kind::pointer)) return v.from;
  return v.from | (v.slot < kSlots ? own(v) : kFromMemory);
}

/// One or the other. A lane that holds a plain number where another one holds a pointer has nothing
/// to reach through it.
Value join(const Value& a, const Value& b) {
  if (a.is(Kind::unset) || a == b) return b;
  if (b.is(Kind::unset)) return a;
  if (a.is(Kind::number) && b.is(Kind::pointer)) return join(b, a);
  const bool number_too = a.is(Kind::pointer) && b.is(Kind::number);
  const bool alike = a.kind == b.kind && a.slot == b.slot && a.offset == b.offset;
  if ((!alike && !number_too) || a.is(Kind::any)) return kAny;
  Value both = a;
  both.from |= b.from;
  return both;
}

/// A pointer, moved by a number.
Value moved(const Value& a, const Value& by) {
  if (a.is(Kind::number) && by.is(Kind::number)) return number(a.from | by.from);
  if (!a.is(Kind::pointer) || !by.is(Kind::number)) return kAny;
  Value sum = a;
  sum.from |= by.from;
  return sum;
}
Value sum(const Value& a, const Value& b) {
  return a.is(Kind::number) ? moved(b, a) : moved(a, b);
}
Value difference(const Value& a, const Value& b) {
  if (a.is(Kind::pointer) && b.is(Kind::pointer)) return number(parts(a) | parts(b));
  return moved(a, b);
}

bool reaches_arena(Space space) {
  return space == Space::global || space == Space::generic || space == Space::constant ||
         space == Space::code;
}

class Pointers {
 public:
  explicit Pointers(Program& p)
      : p_(p), graph_(block_graph(p)), order_(reverse_postorder(graph_)) {}

  PointerParams run() {
    forget_pointers(p_);
    if (!follow()) return {};
    each_access_with([&](const Values& values, Inst& access) { mark(values, access); });
    return settle();
  }

  void load_parameters() {
    if (!follow()) return;
    each_access_with([&](const Values& values, Inst& access) { make_direct(values, access); });
  }

 private:
  using Values = std::vector<Value>;  ///< by register

  /// GCN writes vector registers under EXEC, so what a register holds is known better of the lanes
  /// for which that mask holds.
  struct State {
    Values all, active;         ///< of all lanes, and of those for which mask_ holds
    std::vector<bool> implies;  ///< by predicate register: where it holds, mask_ does
  };

  /// The predicate that guards most.
  void find_mask() {
    std::vector<uint32_t> uses(p_.regs.size(), 0);
    for (const Block& block : p_.blocks)
      for (const Inst& inst : block.insts)
        if (!inst.guard.always()) ++uses[inst.guard.reg.id];
    const auto most = std::ranges::max_element(uses);
    mask_ = most == uses.end() || *most == 0 ? kNone : static_cast<uint32_t>(most - uses.begin());
  }
  bool in_mask(const State& state, Reg pred) const {
    return pred.valid() && (pred.id == mask_ || state.implies[pred.id]);
  }
  const Values& seen_by(const State& state, const Inst& inst) const {
    return !inst.guard.negate && in_mask(state, inst.guard.reg) ? state.active : state.all;
  }

  static bool is_access(const Inst& inst) {
    return (inst.op == Op::load || inst.op == Op::store || inst.op == Op::atom) && inst.mem &&
           reaches_arena(inst.mem->space) && !inst.src.empty();
  }

  template <typename Do>
  void each_access(Do what) {
    for (Block& block : p_.blocks)
      for (Inst& inst : block.insts)
        if (is_access(inst)) what(inst);
  }

  bool wanted() {
    bool some = false;
    each_access([&](const Inst&) { some = true; });
    return some && (p_.param_bytes != 0 || !p_.variables.empty());
  }

  /// What registers hold where blocks begin; false where that is not looked into.
  bool follow() {
    if (p_.blocks.empty() || !wanted()) return false;
    if (2 * uint64_t{p_.blocks.size()} * p_.regs.size() > kMostStates) return false;
    find_mask();
    in_.assign(p_.blocks.size(), {});
    in_[0].all.assign(p_.regs.size(), Value{});
    in_[0].active = in_[0].all;
    in_[0].implies.assign(p_.regs.size(), false);
    std::vector<bool> waits(p_.blocks.size(), false);
    waits[0] = true;
    for (bool again = true; again;) {
      again = false;
      for (const uint32_t b : order_.nodes) {
        if (!waits[b]) continue;
        waits[b] = false;
        State out = in_[b];
        for (const Inst& inst : p_.blocks[b].insts) define(out, inst);
        for (const uint32_t next : graph_.succs[b]) {
          if (!merge(in_[next], out)) continue;
          waits[next] = again = true;
        }
      }
    }
    return true;
  }

  static bool merge(State& into, const State& state) {
    if (into.all.empty()) {
      into = state;
      return true;
    }
    bool changed = merge(into.all, state.all);
    changed = merge(into.active, state.active) || changed;
    for (size_t r = 0; r < state.implies.size(); ++r) {
      if (!into.implies[r] || state.implies[r]) continue;
      into.implies[r] = false;
      changed = true;
    }
    return changed;
  }
  static bool merge(Values& into, const Values& values) {
    bool changed = false;
    for (size_t r = 0; r < values.size(); ++r) {
      const Value both = join(into[r], values[r]);
      if (both == into[r]) continue;
      into[r] = both;
      changed = true;
    }
    return changed;
  }

  template <typename Do>
  void each_access_with(Do what) {
    for (const uint32_t b : order_.nodes) {
      State state = in_[b];
      for (Inst& inst : p_.blocks[b].insts) {
        const Inst before = inst;
        if (is_access(inst)) what(seen_by(state, inst), inst);
        define(state, before);
      }
    }
  }

  void mark(const Values& values, Inst& access) {
    const Value at = value(values, access.src[0]);
    if (!at.is(Kind::pointer) || (at.from & kFromMemory) != 0) return;
    found_.push_back({&access, at.slot, at.from & ~own(at)});
  }

  /// The dispatch packet and what else a launch lays down behind the parameters.
  bool in_launch_block(uint64_t offset, uint32_t bytes) const {
    const uint64_t begin = p_.needs.block_offset;
    return begin != 0 && offset >= begin && offset + bytes <= begin + guest::kLaunchBlockBytes;
  }

  void make_direct(const Values& values, Inst& access) const {
    const Value at = value(values, access.src[0]);
    if (access.op != Op::load || access.event != 0 || is_strong(access)) return;
    if (!at.is(Kind::parameters) || !access.guard.always()) return;
    Mem& mem = *access.mem;
    const uint64_t offset = at.offset + static_cast<uint64_t>(mem.offset);
    if (mem.space == Space::global && in_launch_block(offset, mem.bytes()))
      mem.space = Space::constant;
    if (offset % 4 != 0 || offset + mem.bytes() > p_.param_bytes) return;
    access.src[0] = Operand::immediate(offset);
    mem.space = Space::param;
    mem.offset = 0;
  }

  /// A parameter that some access goes through is a pointer; offsets that it is part of are not.
  PointerParams settle() {
    uint64_t pointers = 0;
    for (const Found& f : found_)
      if (f.slot < kSlots) pointers |= uint64_t{1} << f.slot;
    std::erase_if(found_, [&](const Found& f) { return (f.from & pointers) != 0; });
    // Parameters are counted first.
    std::stable_partition(found_.begin(), found_.end(),
                          [](const Found& f) { return f.slot < kSlots; });
    PointerParams result;
    std::vector<uint32_t> slots;
    uint64_t numbers = 0;
    for (const Found& f : found_) {
      const auto known = std::ranges::find(slots, f.slot);
      const auto n = static_cast<uint32_t>(known - slots.begin());
      if (known == slots.end()) {
        if (slots.size() == kMostPointers) continue;
        slots.push_back(f.slot);
        if (f.slot < kSlots) {
          result.through.push_back(8 * f.slot);
          result.alignments.push_back(1);
        } else {
          result.variables.push_back(p_.variables[f.slot - kFirstVariable]);
        }
      }
      const Mem& mem = *f.access->mem;
      if (f.slot < kSlots && mem.align != AlignRule::any)
        result.alignments[n] = std::max(result.alignments[n], std::bit_ceil(mem.alignment()));
      f.access->mem->pointer = n;
      numbers |= f.from;
    }
    for (uint32_t slot = 0; slot < kSlots; ++slot)
      if ((numbers >> slot & 1) != 0) result.in_offsets.push_back(8 * slot);
    return result;
  }

  /// The address of a module's variable, or its lower half, is an immediate; so is one in a window.
  static bool may_be_address(uint64_t imm) {
    if (imm >= guest::kSharedWindow && imm < guest::kLocalWindow + guest::kWindowSize) return true;
    constexpr uint64_t kFirst = 0x1000'0000, kEnd = uint64_t{1} << 41;
    constexpr uint64_t kSmallNegative = 0xffff'0000;
    return imm >= kFirst && imm < kEnd && !(imm >= kSmallNegative && imm <= 0xffff'ffff);
  }

  /// The variable that holds this address or ends there.
  std::optional<Value> variable_at(uint64_t address) const {
    for (size_t n = 0; n < p_.variables.size(); ++n)
      if (const Variable& v = p_.variables[n]; address - v.address <= v.size)
        return Value{Kind::pointer, kFirstVariable + static_cast<uint32_t>(n), 0, 0};
    return std::nullopt;
  }

  Value value(const Values& values, const Operand& o) const {
    if (o.is_imm()) {
      if (const auto variable = variable_at(o.imm)) return *variable;
      return may_be_address(o.imm) ? kAny : number();
    }
    if (!o.is_reg()) return kAny;
    const Value& v = values[o.index];
    return v.is(Kind::unset) ? number() : v;  // read before it is written: 0
  }

  void define(State& state, const Inst& inst) const {
    const bool under_mask = inst.guard.reg.id == mask_ && !inst.guard.always();
    define(state.all, inst, inst.guard.always());
    if (!under_mask || !inst.guard.negate)
      define(state.active, inst, inst.guard.always() || under_mask);
    for (const Reg dst : inst.dst)
      if (dst.valid() && p_.regs[dst.id].width == Width::pred) define_predicate(state, inst, dst);
  }

  void define(Values& values, const Inst& inst, bool surely) const {
    for (size_t d = 0; d < inst.dst.size(); ++d) {
      if (!inst.dst[d].valid()) continue;
      results_[d % results_.size()] =
          p_.regs[inst.dst[d].id].width == Width::pred ? number() : result(values, inst, d);
    }
    for (size_t d = 0; d < inst.dst.size(); ++d) {
      if (!inst.dst[d].valid()) continue;
      Value& held = values[inst.dst[d].id];
      const Value& made = results_[d % results_.size()];
      held = surely ? made : join(value(values, inst.dst[d]), made);
    }
  }

  /// Where the mask only loses lanes, what is known of the others still is.
  void define_predicate(State& state, const Inst& inst, Reg dst) const {
    const bool one = inst.op == Op::mov || inst.op == Op::and_;
    const bool narrow = one && std::ranges::any_of(inst.src, [&](const Operand& o) {
                          return o.is_reg() && in_mask(state, o.reg());
                        });
    if (dst.id != mask_) {
      state.implies[dst.id] = narrow && (inst.guard.always() || state.implies[dst.id]);
      return;
    }
    state.implies.assign(state.implies.size(), false);
    if (!narrow || !inst.guard.always()) {
      state.active = state.all;
    } else if (inst.op == Op::mov && inst.src[0].index != mask_) {
      state.implies[inst.src[0].index] = true;
    }
  }

  Value result(const Values& values, const Inst& inst, size_t d) const {
    const auto src = [&](size_t i) { return value(values, inst.src[i]); };
    switch (inst.op) {
      case Op::mov:
      case Op::trunc32:
      case Op::unpack64:
      case Op::readfirst:
      case Op::readlane:
      case Op::shfl:
        return src(0);
      case Op::sreg:
        return special(static_cast<SReg>(inst.mode));
      case Op::pack64:
        return paired(src(0), src(1));
      case Op::zext64:
      case Op::sext64:
        return number(src(0).is(Kind::any) ? 0 : parts(src(0)));
      case Op::add:
      case Op::addc:
        return sum_of(inst, src(0), src(1));
      case Op::sub:
      case Op::subb:
        return difference(src(0), src(1));
      case Op::and_:
      case Op::or_:
      case Op::xor_:
        return masked(inst, inst.src[0].is_imm() ? number() : src(0),
                      inst.src[1].is_imm() ? number() : src(1));
      case Op::select:
        return join(src(1), src(2));
      case Op::mul:
      case Op::mulhi:
      case Op::mulwide:
      case Op::div:
      case Op::rem:
      case Op::shl:
      case Op::shf_l:
        return computed(values, inst);
      case Op::shr:
        return inst.type == Type::u64 || inst.type == Type::s64
                   ? number(parts(src(0)) | parts(src(1)))
                   : computed(values, inst);
      case Op::load:
        return loaded(values, inst, d);
      case Op::buffer_address:
        return through_descriptor(values, inst);
      case Op::atom:
        return kAny;
      default:
        return mixed(values, inst);
    }
  }

  /// Where a window begins is an address, too: what is in it belongs to no parameter.
  static Value special(SReg which) {
    if (which == SReg::param_base) return {Kind::parameters, 0, 0, 0};
    return which == SReg::shared_window || which == SReg::local_window ? kAny : number();
  }

  /// An index, a size: what was read from memory is no pointer any more.
  Value computed(const Values& values, const Inst& inst) const {
    uint64_t from = 0;
    for (const Operand& o : inst.src) {
      const Value v = value(values, o);
      if (!v.is(Kind::any)) from |= parts(v);
    }
    return number(from);
  }

  /// Anything may come out of words of a pointer.
  Value mixed(const Values& values, const Inst& inst) const {
    uint64_t from = 0;
    for (const Operand& o : inst.src) {
      const Value v = value(values, o);
      if (!v.is(Kind::number)) return kAny;
      from |= v.from;
    }
    return number(from);
  }

  static Value paired(const Value& low, const Value& high) {
    if (low.is(Kind::number) && high.is(Kind::number)) return number(low.from | high.from);
    if (low.is(Kind::parameters) && high.is(Kind::parameters)) return low;
    // The upper half of a variable's address is a number, mostly 0.
    if (low.is(Kind::pointer) && low.slot >= kFirstVariable && high.is(Kind::number))
      return moved(low, high);
    // That of a descriptor's base is bits of a word with other fields.
    if (low.is(Kind::pointer) && high.is(Kind::number) && high.from != 0 && high.from == own(low))
      return moved(low, high);
    if (!low.is(Kind::pointer) || !high.is(Kind::pointer) || low.slot != high.slot) return kAny;
    return join(low, high);
  }

  static Value sum_of(const Inst& inst, const Value& a, const Value& b) {
    const auto constant = [](const Operand& o) { return o.is_imm(); };
    if (a.is(Kind::parameters) && constant(inst.src[1])) return further(a, inst.src[1].imm);
    if (b.is(Kind::parameters) && constant(inst.src[0])) return further(b, inst.src[0].imm);
    // The upper half takes the carry.
    if (inst.op == Op::addc && a.is(Kind::parameters) && b == number()) return a;
    return sum(a, b);
  }
  static Value further(Value parameters, uint64_t by) {
    parameters.offset += static_cast<uint32_t>(by);
    return parameters;
  }

  static Value masked(const Inst& inst, const Value& a, const Value& b) {
    if (inst.op == Op::and_) {
      for (size_t i = 0; i < 2; ++i)
        if (inst.src[i].is_imm() && inst.src[i].imm < kFewBits)
          return number(a.is(Kind::any) || b.is(Kind::any) ? 0 : parts(a) | parts(b));
    }
    return sum(a, b);
  }

  Value loaded(const Values& values, const Inst& inst, size_t d) const {
    const Mem& mem = *inst.mem;
    std::optional<uint64_t> at;
    if (mem.space == Space::param && inst.src[0].is_imm()) {
      at = inst.src[0].imm + static_cast<uint64_t>(mem.offset);
    } else if (const Value v = value(values, inst.src[0]); v.is(Kind::parameters)) {
      at = v.offset + static_cast<uint64_t>(mem.offset);
    }
    const uint32_t size = size_of(mem.elem);
    if (!at) return size < 4 ? number() : kAny;
    if (size < 4) return number();
    const uint64_t byte = *at + d * size;
    if (byte % size != 0 || byte + size > laid_down() || byte / 8 >= kSlots) return kAny;
    return {Kind::pointer, static_cast<uint32_t>(byte / 8), 0, 0};
  }

  /// The parameters, and the block behind them: it holds the descriptor of scratch memory.
  uint32_t laid_down() const {
    const uint32_t block = p_.needs.block_offset;
    return block == 0 ? p_.param_bytes : block + guest::kLaunchBlockBytes;
  }

  /// The address that a descriptor makes: its base and 32-bit offsets, or with addr64 its base and
  /// the vector address.
  Value through_descriptor(const Values& values, const Inst& inst) const {
    const auto src = [&](size_t i) { return value(values, inst.src[i]); };
    const auto offset = [&](size_t i) {
      return src(i).is(Kind::any) ? number() : number(parts(src(i)));
    };
    const Value base = sum(paired(src(0), src(1)), offset(6));
    if (inst.buffer && inst.buffer->addr64) return sum(base, paired(src(4), src(5)));
    return sum(base, sum(offset(4), offset(5)));
  }

  struct Found {
    Inst* access;
    uint32_t slot;
    uint64_t from;
  };
  Program& p_;
  Graph graph_;
  BlockOrder order_;
  std::vector<State> in_;  ///< by block
  uint32_t mask_ = kNone;  ///< find_mask()
  std::vector<Found> found_;
  mutable std::array<Value, 16> results_;
};

}  // namespace

PointerParams find_pointers(Program& program) {
  return Pointers(program).run();
}

void forget_pointers(Program& program) {
  for (Block& block : program.blocks)
    for (Inst& inst : block.insts)
      if (inst.mem) inst.mem->pointer = kNone;
}

void narrow_generic(Program& program) {
  for (Block& block : program.blocks)
    for (Inst& inst : block.insts)
      if (inst.mem && inst.mem->pointer != kNone && inst.mem->space == Space::generic)
        inst.mem->space = Space::global;
}

bool addresses_parameters(const Program& program) {
  return any_inst(program, [](const Inst& i) {
    return i.op == Op::sreg && i.mode == static_cast<uint8_t>(SReg::param_base);
  });
}

void load_parameters(Program& program) {
  Pointers(program).load_parameters();
}

}  // namespace lanewise::ir
