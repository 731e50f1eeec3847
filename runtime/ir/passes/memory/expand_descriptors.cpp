// GCN buffer addresses whose descriptor has constant fields: the formulas of
// docs/gcn-addressing.md with them filled in. The general path decodes all of it in every lane.
#include <algorithm>
#include <optional>

#include "runtime/ir/builder.hpp"
#include "runtime/ir/format_bytes.hpp"
#include "runtime/ir/passes/passes.hpp"
#include "runtime/ir/passes/values/numbers.hpp"

namespace lanewise::ir {
namespace {

constexpr uint64_t kAddressMask = (uint64_t{1} << 48) - 1;

/// Arithmetic that leaves out what constants decide.
class Arithmetic {
 public:
  explicit Arithmetic(Builder& b) : b_(b) {}

  Operand add(Type type, Operand x, Operand y) {
    const uint64_t mask = size_of(type) == 8 ? ~uint64_t{0} : 0xffffffff;
    if (x.is_imm() && y.is_imm()) return imm((x.imm + y.imm) & mask);
    if (is_zero(x)) return y;
    if (is_zero(y)) return x;
    return b_.make(Op::add, type, {x, y});
  }
  Operand and_(Type type, Operand x, uint64_t mask) {
    if (x.is_imm()) return imm(x.imm & mask);
    return b_.make(Op::and_, type, {x, imm(mask)});
  }
  Operand shl(Type type, Operand x, uint32_t by) {
    const uint64_t mask = size_of(type) == 8 ? ~uint64_t{0} : 0xffffffff;
    if (x.is_imm()) return imm((x.imm << by) & mask);
    return b_.make(Op::shl, type, {x, imm(by)});
  }
  Operand shr(Operand x, uint32_t by) {
    if (x.is_imm()) return imm(x.imm >> by);
    return b_.make(Op::shr, Type::u32, {x, imm(by)});
  }
  Operand wide(Operand low, Operand high) {
    if (low.is_imm() && high.is_imm()) return imm(low.imm | high.imm << 32);
    return b_.make(Op::pack64, Type::u64, {low, high});
  }
  Operand product(Operand x, uint64_t by) {
    if (x.is_imm()) return imm(x.imm * by);
    if (by == 0) return imm(0);
    if (by == 1) return wide(x, imm(0));
    const Reg r = b_.reg(Width::b64);
    b_.emit(Op::mulwide, Type::u32, {r}, {x, imm(by)});
    return r;
  }
  Operand low(Operand x) {
    if (x.is_imm()) return imm(x.imm & 0xffffffff);
    const Reg r = b_.reg(Width::b32);
    b_.emit(Op::trunc32, Type::u32, {r}, {x});
    return r;
  }
  Operand is(Cond cond, Type type, Operand x, Operand y) {
    if (x.is_imm() && y.is_imm()) return imm(cond == Cond::lt ? x.imm < y.imm : x.imm <= y.imm);
    const Reg r = b_.reg(Width::pred);
    b_.emit(Op::icmp, type, {r}, {x, y}).cond = cond;
    return r;
  }
  Operand both(Operand x, Operand y) {
    if (x.is_imm()) return x.imm != 0 ? y : x;
    if (y.is_imm()) return y.imm != 0 ? x : y;
    const Reg r = b_.reg(Width::pred);
    b_.emit(Op::and_, Type::pred, {r}, {x, y});
    return r;
  }
  /// x - y, not below 0.
  Operand saturating_sub(Operand x, Operand y) {
    if (x.is_imm() && y.is_imm()) return imm(x.imm > y.imm ? x.imm - y.imm : 0);
    if (is_zero(y)) return x;
    return b_.make(Op::sub, Type::u32, {x, b_.make(Op::min, Type::u32, {x, y})});
  }

 private:
  static bool is_zero(const Operand& o) { return o.is_imm() && o.imm == 0; }
  Builder& b_;
};

/// The fields of a descriptor that decide how an address is made.
struct Fields {
  uint32_t w1 = 0;  ///< the upper half alone; the lower one belongs to the base
  uint32_t w3 = 0;
};

/// The word without its `low` lowest bits, where the others are known.
std::optional<uint32_t> above(const Known& word, unsigned low) {
  const auto wanted = static_cast<uint32_t>(0xffffffffU << low);
  if (word.none() || ((word.zero | word.one) & wanted) != wanted) return {};
  return static_cast<uint32_t>(word.one) & wanted;
}

/// `known(source)` of the instruction.
template <typename Sources>
std::optional<Fields> fields_of(const Inst& inst, const Sources& known) {
  if (inst.op != Op::buffer_address || !inst.guard.always()) return {};
  const auto w3 = above(known(3), 0);
  if (!w3) return {};
  if (inst.buffer->addr64) return Fields{0, *w3};
  const auto w1 = above(known(1), 16);
  if (!w1) return {};
  return Fields{*w1, *w3};
}

class Expansion {
 public:
  Expansion(Builder& b, const Inst& inst, const Fields& fields)
      : b_(b), x_(b), inst_(inst), access_(*inst.buffer), w1_(fields.w1), w3_(fields.w3) {}

  void run() {
    b_.set_site(inst_.site);
    if (access_.addr64)
      full_address();
    else
      decoded();
  }

 private:
  uint32_t field(uint32_t word, unsigned low, unsigned bits) const {
    return word >> low & ((1U << bits) - 1);
  }
  /// Payload 0 asks for the size of the descriptor's format.
  uint32_t payload() const {
    if (access_.payload_bytes != 0) return access_.payload_bytes;
    return std::max<uint32_t>(kFormatBytes[field(w3_, 15, 4)], 1);
  }
  bool bound() const { return w3_ >> 30 == 0; }

  Operand base() { return x_.wide(inst_.src[0], x_.and_(Type::u32, inst_.src[1], 0xffff)); }
  void set(Operand address, Operand in_range) {
    b_.emit(Op::mov, Type::u64, {inst_.dst[0]}, {address});
    b_.emit(Op::mov, Type::pred, {inst_.dst[1]}, {bound() ? in_range : imm(0)});
  }

  void full_address() {
    const Operand vector = x_.wide(inst_.src[4], inst_.src[5]);
    Operand at = x_.add(Type::u64, base(), x_.wide(inst_.src[6], imm(0)));
    at = x_.add(Type::u64, x_.add(Type::u64, at, vector),
                imm(uint64_t{access_.inst_offset} + access_.element_offset));
    set(x_.and_(Type::u64, at, kAddressMask), imm(1));
  }

  void decoded() {
    const bool gfx8 = access_.gen == BufferAccess::Gen::gfx8, swizzle = w1_ >> 31 != 0;
    const bool add_tid = field(w3_, 23, 1) != 0;
    uint64_t stride = field(w1_, 16, 14);
    if (gfx8 && add_tid && !access_.format_op) stride |= field(w3_, 15, 4) << 14;
    const Operand soffset = inst_.src[6];
    const bool early = swizzle && access_.soffset_swizzled;

    Operand index = access_.idxen ? inst_.src[4] : imm(0);
    if (add_tid) index = x_.add(Type::u32, index, lane());
    Operand offset =
        x_.add(Type::u32, access_.offen ? inst_.src[5] : imm(0), imm(access_.inst_offset));
    if (early) offset = x_.add(Type::u32, offset, soffset);

    const Operand wide_offset =
        x_.add(Type::u64, x_.wide(offset, imm(0)), imm(access_.element_offset));
    Operand inside = swizzle ? swizzled(index, wide_offset, stride)
                             : x_.add(Type::u64, x_.product(index, stride), wide_offset);
    if (access_.offset32) inside = x_.and_(Type::u64, inside, 0xffffffff);
    Operand start = base();
    if (!early) start = x_.add(Type::u64, start, x_.wide(soffset, imm(0)));

    Operand in_range = imm(1);
    if (stride != 0 && (!gfx8 || swizzle)) {
      in_range = x_.is(Cond::lt, Type::u32, index, inst_.src[2]);
      if (gfx8 || access_.idxen || add_tid)
        in_range = x_.both(in_range, x_.is(Cond::lt, Type::u32, offset, imm(stride)));
    } else {
      const Operand limit = x_.saturating_sub(inst_.src[2], soffset);
      in_range = x_.is(Cond::le, Type::u64, x_.add(Type::u64, inside, imm(payload())),
                       x_.wide(limit, imm(0)));
    }
    set(x_.add(Type::u64, start, inside), in_range);
  }

  Operand lane() {
    const Reg r = b_.reg(Width::b32);
    b_.emit(Op::sreg, Type::u32, {r}, {}).mode = static_cast<uint8_t>(SReg::laneid);
    return r;
  }

  Operand swizzled(Operand index, Operand offset, uint64_t stride) {
    const uint32_t is_shift = 3 + field(w3_, 21, 2), es_shift = 1 + field(w3_, 19, 2);
    const uint64_t es_mask = (uint64_t{1} << es_shift) - 1;
    const Operand rows = x_.add(Type::u64, x_.product(x_.shr(index, is_shift), stride),
                                x_.and_(Type::u64, offset, ~es_mask));
    const Operand column =
        x_.shl(Type::u32, x_.and_(Type::u32, index, (1U << is_shift) - 1), es_shift);
    const Operand rest = x_.add(Type::u32, column, x_.and_(Type::u32, x_.low(offset), es_mask));
    return x_.add(Type::u64, x_.shl(Type::u64, rows, is_shift), x_.wide(rest, imm(0)));
  }

  Builder& b_;
  Arithmetic x_;
  const Inst& inst_;
  const BufferAccess& access_;
  uint32_t w1_ = 0, w3_ = 0;
};

using AllFields = std::vector<std::vector<std::optional<Fields>>>;

bool expand(Program& program, const AllFields& fields) {
  Builder b(program);
  bool changed = false;
  for (uint32_t n = 0; n < program.blocks.size(); ++n) {
    if (std::ranges::none_of(fields[n], [](const auto& f) { return f.has_value(); })) continue;
    std::vector<Inst> old = std::move(program.blocks[n].insts);
    program.blocks[n].insts.clear();
    b.set_block(n);
    changed = true;
    for (size_t i = 0; i < old.size(); ++i) {
      if (fields[n][i])
        Expansion(b, old[i], *fields[n][i]).run();
      else
        program.blocks[n].insts.push_back(std::move(old[i]));
    }
  }
  return changed;
}

}  // namespace

bool expand_descriptors(Program& program) {
  const auto asks = [&](const auto& wanted) {
    return any_inst(program,
                    [&](const Inst& i) { return i.op == Op::buffer_address && wanted(i); });
  };
  if (!asks([](const Inst&) { return true; })) return false;
  std::optional<Numbers> numbers;
  if (asks([](const Inst& i) { return i.src[1].is_reg() || i.src[3].is_reg(); }))
    numbers.emplace(program, LaunchNumbers{});
  AllFields fields(program.blocks.size());
  for (uint32_t n = 0; n < program.blocks.size(); ++n)
    for (size_t i = 0; i < program.blocks[n].insts.size(); ++i) {
      const Inst& inst = program.blocks[n].insts[i];
      fields[n].push_back(fields_of(inst, [&](size_t s) {
        if (inst.src[s].is_imm()) return Known::exactly(inst.src[s].imm, 32);
        return numbers ? numbers->use(n, i, s) : Known::any(32);
      }));
    }
  return expand(program, fields);
}

}  // namespace lanewise::ir
