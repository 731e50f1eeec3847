// Vector registers by number: v_movrel, and every vector instruction in the index mode. The number
// is the same in all lanes. What lies past the wave's registers reads as v0; an instruction whose
// result would lie there does nothing.
#include <array>

#include "runtime/isa/gcn/lowering/analysis/index_mode.hpp"
#include "runtime/isa/gcn/lowering/values.hpp"

namespace lanewise::gcn {

namespace {

/// Codes past the guest's registers, and past those of lane forms and output modifiers.
constexpr unsigned kCounted = kVgpr0 + 264, kMostDwords = 4;

/// How many registers further: a number that is known, or a value.
class Distance {
 public:
  Distance(LowerContext& c, ir::Operand number) : c_(c), number_(number) {}

  bool known() const { return number_.is_imm(); }
  /// The register itself; none when it does not exist.
  std::optional<unsigned> place(unsigned first, unsigned count) const {
    const uint64_t at = first + number_.imm;
    return at + count <= end() ? std::optional(static_cast<unsigned>(at)) : std::nullopt;
  }
  std::vector<ir::Operand> read(unsigned first, unsigned count) {
    std::vector<ir::Operand> out;
    const unsigned from = known() ? place(first, count).value_or(kVgpr0) : kVgpr0;
    for (unsigned k = 0; k < count; ++k) out.emplace_back(c_.vgpr(from + k));
    if (known()) return out;
    for (unsigned code = first; code + count <= end(); ++code)
      for (unsigned k = 0; k < count; ++k)
        out[k] = c_.make(Op::select, Type::u32, {is(code - first), c_.vgpr(code + k), out[k]});
    return out;
  }
  /// `values` are registers that no guest register is; `in_all_lanes`: whatever EXEC says.
  void write(unsigned first, const std::vector<Reg>& values, bool in_all_lanes) {
    const auto count = static_cast<unsigned>(values.size());
    for (unsigned code = first; code + count <= end(); ++code)
      for (unsigned k = 0; k < count; ++k) {
        const Reg to = c_.vgpr(code + k);
        const Reg next = c_.make(Op::select, Type::u32, {is(code - first), values[k], to});
        if (in_all_lanes)
          c_.emit(Op::mov, Type::u32, {to}, {next});
        else
          c_.emit_vector(Op::mov, Type::u32, {to}, {next});
      }
  }

 private:
  unsigned end() const { return kVgpr0 + c_.kernel().vgprs(); }
  Reg is(unsigned n) {
    while (is_.size() <= n)
      is_.push_back(
          c_.compare(Cond::eq, Type::u32, number_, imm(static_cast<uint32_t>(is_.size()))));
    return is_[n];
  }

  LowerContext& c_;
  ir::Operand number_;
  std::vector<Reg> is_;
};

ir::Operand m0(LowerContext& c) {
  return c.read_known({.code = kM0, .label = {}});
}

}  // namespace

/// Source, result or both lie M0 registers further.
void lower_movrel(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const Meaning& m = i.row->meaning;
  const Operand &dst = *i.operand(Slot::vdst), &src = *i.operand(Slot::src0);
  if (src.code < kVgpr0 && m.moves_source)
    throw Unsupported("the register to read from must be a VGPR");
  if (i.clamp) throw Unsupported("clamp on an integer result is not supported");
  Distance further(c, m0(c));
  ir::Operand value = v.u32(0);
  if (m.moves_source) value = further.read(src.code, 1)[0];
  if (!m.moves_result) return v.put(value);
  // A copy: the value may be one of the registers that are written.
  const Reg copy = v.make(Op::mov, {value});
  if (!further.known()) return further.write(dst.code, {copy}, false);
  if (const auto to = further.place(dst.code, 1))
    c.emit_vector(Op::mov, Type::u32, {c.vgpr(*to)}, {copy});
}

/// Index and names of the operands go to their parts of M0; whether the mode is on is known to
/// constants().
void lower_index_mode(LowerContext& c, const Instruction& i) {
  const Operand *index = i.operand(Slot::ssrc0), *what = i.operand(Slot::gpr_idx);
  if (index == nullptr && what == nullptr) return;
  const uint32_t replaced = (index != nullptr ? 0xffU : 0U) | (what != nullptr ? 0xf000U : 0U);
  Reg word = c.make(Op::and_, Type::u32, {m0(c), imm(~replaced)});
  if (index != nullptr) {
    const Reg low = c.make(Op::and_, Type::u32, {c.read_known(*index), imm(0xff)});
    word = c.make(Op::or_, Type::u32, {word, low});
  }
  if (what != nullptr) word = c.make(Op::or_, Type::u32, {word, imm(what->value << 12)});
  c.write32(kM0, word);
}

namespace {

/// One instruction in the index mode, made one whose operands are registers of our own.
class Counted {
 public:
  Counted(LowerContext& c, const Instruction& i, const IndexMode& mode)
      : c_(c), mode_(mode), plain_(i) {}

  void run(const std::function<void(const Instruction&)>& compute) {
    for (size_t n = 0; n < plain_.operands.size(); ++n)
      if (const auto bit = index_bit(plain_, n); bit && is_counted(*bit)) {
        if (plain_.row->operands[n].slot == Slot::vdst)
          result_ = n;
        else
          take_source(n, *bit);
      }
    if (!result_) return compute(plain_);
    Operand& to = plain_.operands[*result_];
    const unsigned first = to.code, count = plain_.row->operands[*result_].count;
    Distance& further = distance(kResult);
    if (further.known()) {
      const auto place = further.place(first, count);
      if (!place) return;
      to.code = *place;
      return compute(plain_);
    }
    if (writes_mask())
      throw Unsupported(
          "a result whose register is counted (s_set_gpr_idx_on) beside a mask that is read");
    to.code = code_of(kResult);
    const bool whole = leaves_parts();
    if (whole) copy(further.read(first, count), to.code);
    compute(plain_);
    std::vector<Reg> values;
    for (unsigned k = 0; k < count; ++k) values.push_back(c_.vgpr(to.code + k));
    further.write(first, values, whole);
  }

 private:
  static constexpr unsigned kResult = 3;

  static unsigned code_of(unsigned bit) { return kCounted + kMostDwords * bit; }
  bool is_counted(unsigned bit) const { return !mode_.what || (*mode_.what >> bit & 1) != 0; }

  /// Where it is not known which operands are counted, the others are counted by 0.
  Distance& distance(unsigned bit) {
    std::optional<Distance>& d = distances_.at(mode_.what ? 0 : bit);
    if (d) return *d;
    if (mode_.what && mode_.index) return d.emplace(c_, imm(*mode_.index));
    const ir::Operand word = c_.read32({.code = kM0, .label = {}});
    const Reg index = c_.make(Op::and_, Type::u32, {word, imm(0xff)});
    if (mode_.what) return d.emplace(c_, index);
    const Reg named = c_.make(Op::and_, Type::u32, {word, imm(0x1000U << bit)});
    const Reg off = c_.compare(Cond::eq, Type::u32, named, imm(0));
    return d.emplace(c_, c_.make(Op::select, Type::u32, {off, imm(0), index}));
  }

  void take_source(size_t n, unsigned bit) {
    Operand& from = plain_.operands[n];
    const unsigned count = plain_.row->operands[n].count;
    Distance& further = distance(bit);
    if (further.known()) {
      from.code = further.place(from.code, count).value_or(kVgpr0);
      return;
    }
    copy(further.read(from.code, count), code_of(bit));
    from.code = code_of(bit);
  }
  /// In all lanes: some instructions read those of others.
  void copy(const std::vector<ir::Operand>& values, unsigned to) {
    for (unsigned k = 0; k < values.size(); ++k)
      c_.emit(Op::mov, Type::u32, {c_.vgpr(to + k)}, {values[k]});
  }

  /// The instruction is to do nothing at all where its register does not exist.
  bool writes_mask() const {
    const Row& row = *plain_.row;
    return (row.has(Slot::mask_dst) || row.does(kWritesVcc)) && c_.mask_live;
  }
  /// Reads what its result held, or writes only parts of it, or lanes that EXEC has off.
  bool leaves_parts() const {
    const Sdwa& parts = plain_.sdwa;
    const bool keeps = plain_.form == Form::sdwa && parts.dst_sel != kSelDword &&
                       parts.dst_unused == kUnusedPreserve;
    return plain_.row->does(kReadsDst) || plain_.row->kind == Kind::across || keeps;
  }

  LowerContext& c_;
  const IndexMode& mode_;
  Instruction plain_;
  std::optional<size_t> result_;
  std::array<std::optional<Distance>, 4> distances_;
};

}  // namespace

void lower_indexed(LowerContext& c, const Instruction& i, const IndexMode& mode,
                   const std::function<void(const Instruction&)>& plain) {
  if (!mode.known) throw Unsupported(kIndexModeDepends);
  if (i.row->meaning.moves_source || i.row->meaning.moves_result)
    throw Unsupported(i.row->name + " in the index mode of registers is not documented");
  Counted(c, i, mode).run(plain);
}

}  // namespace lanewise::gcn
