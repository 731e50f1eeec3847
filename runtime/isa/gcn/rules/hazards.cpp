// Registers that are read or overwritten while a load into them may still be on its way. The
// hardware does not wait by itself; here every load is complete at once, so this is only ever a
// warning.
#include "runtime/isa/gcn/rules/hazards.hpp"

#include <fmt/format.h>

#include <array>

#include "runtime/isa/gcn/lowering/semantics.hpp"
#include "runtime/isa/gcn/text/operands/register_text.hpp"

namespace lanewise::gcn {
namespace {

constexpr uint8_t kArrived = 255;
enum WaitCounter { kVm, kLgkm };

/// Per register and counter: how many later operations of that counter were issued since the load.
/// On several ways the smallest number counts, so what is reported can happen.
struct Pending {
  std::array<std::array<uint8_t, 512>, 2> later;
  bool scalar_loads = false;  ///< these come back in any order: only lgkmcnt(0) is certain

  Pending() {
    for (auto& counter : later) counter.fill(kArrived);
  }
  bool merge(const Pending& o) {
    bool changed = o.scalar_loads && !scalar_loads;
    scalar_loads = scalar_loads || o.scalar_loads;
    for (size_t c = 0; c < 2; ++c)
      for (size_t r = 0; r < 512; ++r)
        if (o.later[c][r] < later[c][r]) {
          later[c][r] = o.later[c][r];
          changed = true;
        }
    return changed;
  }
  void issue(WaitCounter c) {
    for (uint8_t& n : later[c])
      if (n < kArrived - 1) ++n;
  }
  void start(WaitCounter c, unsigned first, unsigned count) {
    for (unsigned r = first; r < first + count && r < 512; ++r) later[c][r] = 0;
  }
  void wait(WaitCounter c, unsigned most) {
    if (c == kLgkm && scalar_loads && most != 0) return;
    for (uint8_t& n : later[c])
      if (n != kArrived && n >= most) n = kArrived;
    if (c == kLgkm) scalar_loads = scalar_loads && most != 0;
  }
};

bool is_flat(const Instruction& i) {
  return i.row->encoding == Encoding::flat;
}
bool is_vector_memory(const Instruction& i) {
  return is_flat(i) || i.row->encoding == Encoding::mimg ||
         (is_buffer(i.row->encoding) && i.operand(Slot::srsrc) != nullptr);
}
bool is_store(const Instruction& i) {
  return i.row->kind == Kind::store;
}

struct Range {
  unsigned first, count;
};
/// Registers that the instruction fills when its memory answers.
Range loaded(const Instruction& i) {
  if (is_vector_memory(i) && !is_flat(i)) {
    const bool atomic = i.row->kind == Kind::atomic;
    if (is_store(i) || i.lds || (atomic && !i.glc)) return {0, 0};
    if (const Operand* image = i.operand(Slot::idata)) return {image->code, image->count};
    const unsigned wide = ir::size_of(i.row->meaning.type) == 8 ? 2 : 1;
    return {i.operand(Slot::vdata)->code,
            (atomic ? wide : i.row->operands[0].count) + (i.tfe ? 1U : 0U)};
  }
  if (i.row->encoding == Encoding::ds || is_flat(i))
    if (const Operand* d = i.operand(Slot::vdst)) return {d->code, d->count};
  if (i.row->encoding == Encoding::smrd)
    if (const Operand* d = i.operand(Slot::sdst)) return {d->code, d->count};
  return {0, 0};
}

void step(const Instruction& i, Pending& p) {
  if (i.operand(Slot::waitcnt) != nullptr) {
    const uint32_t v = i.operand(Slot::waitcnt)->value;
    if ((v & 15) != 15) p.wait(kVm, v & 15);
    if ((v >> 8 & 15) != 15) p.wait(kLgkm, v >> 8 & 15);
    return;
  }
  const bool scalar = i.row->encoding == Encoding::smrd, lds = i.row->encoding == Encoding::ds;
  if (!scalar && !lds && !is_vector_memory(i)) return;
  const WaitCounter c = scalar || lds ? kLgkm : kVm;
  p.issue(c);
  const Range r = loaded(i);
  p.start(c, r.first, r.count);
  if (scalar && r.count != 0) p.scalar_loads = true;
}

class Checker {
 public:
  Checker(const Kernel& k, const Analysis& a) : k_(k), a_(a), in_(a.blocks.size()) {}

  std::vector<Diagnostic> run() {
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t b = 0; b < a_.blocks.size(); ++b) {
        Pending p = in_[b];
        for (size_t n = a_.blocks[b].begin; n < a_.blocks[b].end; ++n) step(k_.code[n], p);
        for (size_t s : a_.blocks[b].successors) changed = in_[s].merge(p) || changed;
      }
    }
    for (size_t b = 0; b < a_.blocks.size(); ++b) {
      Pending p = in_[b];
      for (size_t n = a_.blocks[b].begin; n < a_.blocks[b].end; ++n) {
        look(n, p);
        step(k_.code[n], p);
      }
    }
    return std::move(out_);
  }

 private:
  /// The register that is meant, where it is known to be another than the one that is named.
  unsigned register_of(size_t index, size_t operand) const {
    const Instruction& i = k_.code[index];
    const auto mode = a_.indexed.find(index);
    const auto bit = index_bit(i, operand);
    const unsigned named = i.operands[operand].code;
    if (mode == a_.indexed.end() || !bit || !mode->second.what || !mode->second.index) return named;
    return (*mode->second.what >> *bit & 1) != 0 ? named + *mode->second.index : named;
  }
  /// Loads into registers that wait for an older load of the same kind stay in order.
  void look(size_t index, const Pending& p) {
    const Instruction& i = k_.code[index];
    const Range own = loaded(i);
    for (size_t n = 0; n < i.operands.size(); ++n) {
      const Operand& o = i.operands[n];
      if (o.immediate || o.count == 0) continue;
      const unsigned first = register_of(index, n);
      for (unsigned r = first; r < first + o.count && r < 512; ++r) {
        const bool in_order = own.count != 0 && r >= own.first && r < own.first + own.count;
        const bool pending = p.later[kVm][r] != kArrived || p.later[kLgkm][r] != kArrived;
        if (!pending || in_order) continue;
        const bool vm = p.later[kVm][r] != kArrived;
        out_.push_back(
            diagnostic(k_, i,
                       fmt::format("{} is used while a load into it may be outstanding, expected "
                                   "s_waitcnt {} before",
                                   register_name(r, 1, k_.gen), vm ? "vmcnt" : "lgkmcnt"),
                       true));
        return;
      }
    }
  }

  const Kernel& k_;
  const Analysis& a_;
  std::vector<Pending> in_;
  std::vector<Diagnostic> out_;
};

}  // namespace

std::vector<Diagnostic> hazards(const Kernel& kernel, const Analysis& analysis) {
  return Checker(kernel, analysis).run();
}

}  // namespace lanewise::gcn
