#include <algorithm>

#include "runtime/ir/make.hpp"
#include "runtime/ir/passes/passes.hpp"
#include "runtime/ir/passes/values/numbering.hpp"
#include "runtime/ir/passes/values/values.hpp"

namespace lanewise::ir {
namespace {

using Key = std::vector<uint64_t>;
struct KeyHash {
  size_t operator()(const Key& key) const {
    uint64_t h = 0x9e3779b97f4a7c15;
    for (const uint64_t word : key) h = (h ^ word) * 0xff51afd7ed558ccd ^ (h >> 29);
    return h;
  }
};

class Common {
 public:
  explicit Common(Program& p) : p_(p), numbers_(p) {
    // What is kept across a stop where lanes take turns is kept in memory, lane by lane: it is
    // computed again instead.
    local_ = !convergence_uniform(p);
  }

  bool run() {
    for (const uint32_t b : numbers_.blocks()) {
      numbers_.enter(b);
      if (local_) ++region_;
      std::vector<Inst> kept;
      kept.reserve(p_.blocks[b].insts.size());
      for (Inst& i : p_.blocks[b].insts) {
        numbers_.next();
        if (!merge(i, kept)) kept.push_back(std::move(i));
      }
      p_.blocks[b].insts = std::move(kept);
    }
    return changed_;
  }

 private:
  struct Known {
    std::vector<Reg> regs;
    std::vector<uint32_t> numbers;
  };

  void put(uint64_t word) { key_.push_back(word); }

  void make_key(const Inst& i) {
    key_.clear();
    const auto byte = [](auto v) { return static_cast<uint64_t>(static_cast<uint8_t>(v)); };
    put(byte(i.op) | byte(plain_type(i)) << 8 | byte(i.from) << 16 | byte(i.cond) << 24 |
        byte(i.round) << 32 | byte(i.ftz) << 40 | byte(i.sat) << 41 | byte(i.mode) << 48);
    put(region_);
    for (const Operand& o : i.src) put(numbers_.of(o));
    if (commutes(i) && key_[2] > key_[3]) std::swap(key_[2], key_[3]);
    if (i.mem) {
      const Mem& m = *i.mem;
      put(byte(m.elem) | byte(m.count) << 8 | byte(m.align_bytes) << 16 | byte(m.align) << 24);
      put(static_cast<uint64_t>(m.offset));
      // An address is computed at the width of its register.
      const bool wide = !i.src[0].is_reg() || p_.regs[i.src[0].index].width == Width::b64;
      put(wide ? 1 : 0);
    }
    if (i.buffer) {
      const BufferAccess& b = *i.buffer;
      put(byte(b.gen) | byte(b.idxen) << 8 | byte(b.offen) << 9 | byte(b.addr64) << 10 |
          byte(b.format_op) << 11 | byte(b.offset32) << 12 | byte(b.soffset_swizzled) << 13 |
          byte(b.element_offset) << 16 | byte(b.payload_bytes) << 24 |
          uint64_t{b.inst_offset} << 32);
    }
  }

  bool usable(const Known& k, const Inst& i) {
    for (size_t d = 0; d < i.dst.size(); ++d) {
      if (numbers_.of(k.regs[d].id) != k.numbers[d]) return false;
      for (size_t e = 0; e < i.dst.size(); ++e) {
        if (d != e && k.regs[d] == i.dst[e]) return false;  // overwritten before it is read
      }
    }
    return true;
  }

  const Known* find(const Inst& i) {
    const auto at = table_.find(key_);
    return at != table_.end() && usable(at->second, i) ? &at->second : nullptr;
  }

  /// True when copies stand for the instruction.
  bool merge(const Inst& i, std::vector<Inst>& to) {
    if (local_ && (i.op == Op::barrier || info(i.op).trait == OpTrait::wave)) ++region_;
    if (!repeatable(i)) {
      numbers_.write_all(i);
      return false;
    }
    make_key(i);
    const Known* known = find(i);
    if (known == nullptr && !i.guard.always()) {
      // Under one guard in one state the operation has had its effect as well.
      put(uint64_t{numbers_.of(i.guard.reg.id)} << 1 | (i.guard.negate ? 1 : 0));
      known = find(i);
    }
    if (known != nullptr) {
      copy(i, *known, to);
      changed_ = true;
      return true;
    }
    numbers_.write_all(i);
    Known k{i.dst, {}};
    for (const Reg r : i.dst) k.numbers.push_back(numbers_.of(r.id));
    table_.insert_or_assign(key_, std::move(k));
    return false;
  }

  void copy(const Inst& i, const Known& known, std::vector<Inst>& to) {
    for (size_t d = 0; d < i.dst.size(); ++d) {
      Inst move = move_at(i, p_.regs[i.dst[d].id].width, i.dst[d], known.regs[d]);
      numbers_.write_all(move);
      to.push_back(std::move(move));
    }
  }

  Program& p_;
  Numbering numbers_;
  std::unordered_map<Key, Known, KeyHash> table_;
  Key key_;
  uint64_t region_ = 0;
  bool local_ = false, changed_ = false;
};

}  // namespace

bool merge_common(Program& program, const PassOptions&) {
  return Common(program).run();
}

}  // namespace lanewise::ir
