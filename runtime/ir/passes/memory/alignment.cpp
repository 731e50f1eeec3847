#include "runtime/ir/passes/memory/alignment.hpp"

#include <algorithm>
#include <bit>
#include <vector>

namespace lanewise::ir {
namespace {

/// How many low bits of each register are surely zero, at most kMost.
using Zeros = std::vector<uint8_t>;
constexpr uint8_t kMost = 16;
/// Of a pointer argument: launches that promise it pass multiples of 16 bytes.
constexpr uint8_t kPointer = 4;

uint8_t zeros_of(uint64_t value) {
  return static_cast<uint8_t>(std::min<int>(std::countr_zero(value), kMost));
}

class Alignment {
 public:
  Alignment(Program& p, bool aligned_pointers) : p_(p), pointers_(aligned_pointers) {}

  void run() {
    in_.resize(p_.blocks.size());
    in_[0].assign(p_.regs.size(), 0);
    std::vector<uint32_t> work = {0};
    while (!work.empty()) {
      const uint32_t b = work.back();
      work.pop_back();
      Zeros known = in_[b];
      for (const Inst& i : p_.blocks[b].insts) step(i, known);
      for (const uint32_t t : p_.blocks[b].term.targets)
        if (merge(in_[t], known)) work.push_back(t);
    }
    for (uint32_t b = 0; b < p_.blocks.size(); ++b) {
      if (in_[b].empty()) continue;
      Zeros known = in_[b];
      for (Inst& i : p_.blocks[b].insts) {
        settle(i, known);
        step(i, known);
      }
    }
  }

 private:
  static bool merge(Zeros& into, const Zeros& from) {
    if (into.empty()) {
      into = from;
      return true;
    }
    bool changed = false;
    for (size_t r = 0; r < into.size(); ++r) {
      if (from[r] >= into[r]) continue;
      into[r] = from[r];
      changed = true;
    }
    return changed;
  }

  static void settle(Inst& i, const Zeros& known) {
    if (!i.mem || i.mem->align != AlignRule::any || i.src.empty()) return;
    const uint8_t needed = zeros_of(std::bit_ceil(i.mem->alignment()));
    const uint8_t offset = zeros_of(static_cast<uint64_t>(i.mem->offset));
    if (std::min(of(i.src[0], known), offset) >= needed) i.mem->align = AlignRule::force;
  }

  static uint8_t of(const Operand& o, const Zeros& known) {
    if (o.is_imm()) return zeros_of(o.imm);
    return o.is_reg() ? known[o.index] : uint8_t{0};
  }

  /// The low word of a pointer argument, read whole or dword by dword.
  uint8_t loaded(const Inst& i, size_t n) const {
    const Mem& m = *i.mem;
    if (!pointers_ || m.space != Space::param || !i.src[0].is_imm() || size_of(m.elem) < 4)
      return 0;
    const uint64_t at = i.src[0].imm + static_cast<uint64_t>(m.offset) + n * size_of(m.elem);
    const auto is_there = [at](const Param& p) { return p.pointer && p.offset == at; };
    return std::ranges::any_of(p_.params, is_there) ? kPointer : uint8_t{0};
  }

  uint8_t result(const Inst& i, const Zeros& known) const {
    const auto src = [&](size_t n) { return of(i.src[n], known); };
    const auto sum = [](unsigned a, unsigned b) {
      return static_cast<uint8_t>(std::min<unsigned>(a + b, kMost));
    };
    switch (i.op) {
      case Op::mov:
      case Op::neg:
      case Op::zext64:
      case Op::sext64:
      case Op::trunc32:
      case Op::zext8:
      case Op::zext16:
      case Op::sext16:
      case Op::pack64:
      case Op::unpack64:
        return src(0);
      case Op::select:
        return std::min(src(1), src(2));
      case Op::add:
      case Op::sub:
      case Op::or_:
      case Op::xor_:
        return std::min(src(0), src(1));
      case Op::and_:
        return std::max(src(0), src(1));
      case Op::addc:
      case Op::subb:
        return i.src[2].is_imm() && i.src[2].imm == 0 ? std::min(src(0), src(1)) : uint8_t{0};
      case Op::mul:
      case Op::mulwide:
        return sum(src(0), src(1));
      case Op::shl:
        return i.src[1].is_imm()
                   ? sum(src(0), static_cast<unsigned>(std::min<uint64_t>(i.src[1].imm, kMost)))
                   : src(0);
      case Op::shr:
        if (!i.src[1].is_imm() || i.src[1].imm >= src(0)) return 0;
        return static_cast<uint8_t>(src(0) - i.src[1].imm);
      default:
        return 0;
    }
  }

  void step(const Inst& i, Zeros& known) const {
    // All operands are read before the first result is written.
    const uint8_t first = i.op == Op::load || i.dst.empty() ? uint8_t{0} : result(i, known);
    for (size_t n = 0; n < i.dst.size(); ++n) {
      if (!i.dst[n].valid()) continue;
      const uint8_t now = i.op == Op::load ? loaded(i, n) : n == 0 ? first : uint8_t{0};
      uint8_t& place = known[i.dst[n].id];
      place = i.guard.always() ? now : std::min(now, place);
    }
  }

  Program& p_;
  bool pointers_;
  std::vector<Zeros> in_;
};

}  // namespace

void find_alignment(Program& program, bool aligned_pointers) {
  constexpr uint64_t kMostStates = uint64_t{1} << 26;
  bool any = false;
  for (const Block& b : program.blocks)
    for (const Inst& i : b.insts) any = any || (i.mem && i.mem->align == AlignRule::any);
  // Without an answer such accesses take the long way, which is right for every address.
  if (!any || program.blocks.size() * program.regs.size() > kMostStates) return;
  Alignment(program, aligned_pointers).run();
}

}  // namespace lanewise::ir
