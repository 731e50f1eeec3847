// Checks become instructions of their own, so that what is known here costs nothing at run time.
#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <optional>

#include "runtime/ir/passes/passes.hpp"
#include "runtime/ir/passes/values/under_guard.hpp"
#include "runtime/layout/addresses.hpp"

namespace lanewise::ir {
namespace {

bool is_access(const Inst& inst) {
  return inst.op == Op::load || inst.op == Op::store || inst.op == Op::atom;
}
uint64_t low_bits(const Mem& mem) {
  return std::bit_ceil(mem.alignment()) - 1;
}

class Checks {
 public:
  Checks(Program& program, const CheckFacts& facts)
      : program_(program), facts_(facts), writes_(program.regs.size()) {
    if (!facts.off) numbers_.emplace(program, LaunchNumbers{facts.block, false, true});
  }

  void run() {
    judge();
    auto verdict = verdicts_.begin();
    for (block_ = 0; block_ < program_.blocks.size(); ++block_) {
      Block& block = program_.blocks[block_];
      std::vector<Inst> insts;
      insts.reserve(block.insts.size());
      for (inst_ = 0; inst_ < block.insts.size(); ++inst_) {
        Inst& inst = block.insts[inst_];
        if (is_access(inst) && !inst.mem->checked) settle(inst, *verdict++, insts);
        // Answers do not outlive the registers that they are about.
        for (const Reg dst : inst.dst)
          if (dst.valid()) ++writes_[dst.id];
        insts.push_back(std::move(inst));
      }
      block.insts = std::move(insts);
    }
  }

 private:
  struct Verdict {
    bool legal = true, aligned = false;
  };
  static constexpr size_t kPlaceWords = 8;
  using Question = std::array<uint64_t, kPlaceWords + 4>;

  /// While instructions are where the analysis has seen them.
  void judge() {
    for (block_ = 0; block_ < program_.blocks.size(); ++block_) {
      for (inst_ = 0; inst_ < program_.blocks[block_].insts.size(); ++inst_) {
        Inst& inst = program_.blocks[block_].insts[inst_];
        if (!is_access(inst) || inst.mem->checked) continue;
        Verdict verdict;
        where_it_happens_.reset();
        if (!facts_.off) verdict.legal = always_legal(inst);
        if (!verdict.legal) verdict.aligned = is_aligned(inst, inst.mem->offset);
        verdicts_.push_back(verdict);
      }
    }
  }

  void settle(Inst& access, const Verdict& verdict, std::vector<Inst>& insts) {
    Operand allowed = Operand::immediate(1);
    if (!verdict.legal) allowed = ask(access, verdict, insts);
    access.src.push_back(allowed);
    access.mem->checked = true;
  }

  Reg ask(const Inst& access, const Verdict& verdict, std::vector<Inst>& insts) {
    Inst check = check_of(access);
    if (verdict.aligned) check.mem->align = AlignRule::any;
    auto [answer, fresh] = asked_.try_emplace(question_of(check));
    if (fresh) {
      answer->second = program_.add_reg(Width::pred);
      check.dst = {answer->second};
      insts.push_back(std::move(check));
    }
    return answer->second;
  }

  /// Checks of a block with one question have one answer.
  Question question_of(const Inst& check) const {
    const Mem& m = *check.mem;
    Question q{block_,
               check.mode,
               static_cast<uint64_t>(m.space),
               m.bytes(),
               m.alignment(),
               static_cast<uint64_t>(m.align),
               m.pointer,
               static_cast<uint64_t>(m.offset)};
    size_t at = kPlaceWords;
    for (const Operand& o : check.src) {
      q[at++] = static_cast<uint64_t>(o.kind) << 32 | o.index;
      q[at++] = o.is_reg() ? writes_[o.index] : o.imm;
    }
    return q;
  }

  /// Says no more than matters, so that many accesses ask the same.
  Inst check_of(const Inst& access) const {
    Inst check;
    check.op = Op::check;
    check.src = {access.src[0],
                 access.guard.always() ? Operand::immediate(1) : Operand(access.guard.reg)};
    check.mem = access.mem;
    check.mem->cache = {};
    check.site = access.site;
    const auto with = [&](bool set, CheckMode bit) {
      if (set) check.mode |= static_cast<uint8_t>(bit);
    };
    with(!access.guard.always() && access.guard.negate, CheckMode::negate);
    const Space space = access.mem->space;
    with(access.op != Op::load &&
             (facts_.allocations || facts_.read_only_end || space == Space::param),
         CheckMode::write);
    with(access.op == Op::atom && space == Space::generic, CheckMode::atomic);
    return check;
  }

  /// Legal in every launch: every address that it can have lies inside its space, and is aligned.
  bool always_legal(Inst& access) const {
    Mem& mem = *access.mem;
    if (mem.space == Space::code) return true;  // the host's own code
    if (mem.certain != Certain::no) return certain(access);
    if (mem.space == Space::generic && facts_.keeps_spaces) return false;
    if (mem.space == Space::generic) return legal_in_window(access) || legal_in_variable(access);
    if (access.op != Op::load && mem.space == Space::param) return false;
    if (access.op == Op::atom && mem.space == Space::local) return false;
    if (const auto size = size_of_space(mem.space)) return fits(access, mem.offset, *size);
    return lies_in_variable(access);
  }

  /// What is certain of generic addresses is that they lie in the arena.
  bool certain(Inst& access) const {
    Mem& mem = *access.mem;
    if (mem.space == Space::generic && access.event == 0 && !facts_.keeps_spaces)
      mem.space = Space::global;
    return true;
  }

  /// A variable is there as long as its module is.
  bool lies_in_variable(const Inst& access) const {
    if (!ir::wide_space(access.mem->space)) return false;
    return std::ranges::any_of(program_.variables, [&](const Variable& v) {
      if (v.read_only && access.op != Op::load) return false;
      const int64_t offset = access.mem->offset - static_cast<int64_t>(v.address);
      return (v.address & low_bits(*access.mem)) == 0 && fits(access, offset, v.size);
    });
  }

  bool legal_in_variable(Inst& access) const {
    if (!lies_in_variable(access)) return false;
    access.mem->space = Space::global;
    return true;
  }

  /// A generic address that can only be one of shared or local memory is an offset there. A traced
  /// access stays what it is: the trace asks for its generic address.
  bool legal_in_window(Inst& access) const {
    if (access.event != 0) return false;
    Mem& mem = *access.mem;
    for (const auto& [space, window] :
         {std::pair{Space::shared, guest::kSharedWindow}, {Space::local, guest::kLocalWindow}}) {
      const int64_t offset = mem.offset - static_cast<int64_t>(window);
      if (space == Space::local && access.op == Op::atom) continue;
      if (!fits(access, offset, *size_of_space(space))) continue;
      mem.space = space;
      mem.offset = offset;
      return true;
    }
    return false;
  }

  bool fits(const Inst& access, int64_t offset, uint64_t size) const {
    if (fits(access, numbers_->use(block_, inst_, 0), offset, size)) return true;
    if (!where_it_happens_) where_it_happens_ = UnderGuard(*numbers_, block_, inst_).use(0);
    return fits(access, *where_it_happens_, offset, size);
  }
  bool fits(const Inst& access, const Known& at, int64_t offset, uint64_t size) const {
    const Mem& mem = *access.mem;
    // Sums that may wrap are not looked into.
    constexpr uint64_t kReach = uint64_t{1} << 31;
    if (at.most >= kReach || offset >= int64_t{kReach} || offset < -int64_t{kReach}) return false;
    const int64_t least = static_cast<int64_t>(at.least) + offset;
    const int64_t most = static_cast<int64_t>(at.most) + offset;
    if (least < 0 || mem.bytes() > size || static_cast<uint64_t>(most) > size - mem.bytes())
      return false;
    return mem.align != AlignRule::trap || is_aligned(access, offset);
  }

  bool is_aligned(const Inst& access, int64_t offset) const {
    const uint64_t low = low_bits(*access.mem);
    return (numbers_->use(block_, inst_, 0).zero & ~static_cast<uint64_t>(offset) & low) == low;
  }

  std::optional<uint64_t> size_of_space(Space space) const {
    switch (space) {
      case Space::param:
        return facts_.params;
      case Space::shared:
        return facts_.shared;
      case Space::local:
        return facts_.local;
      default:
        return {};
    }
  }

  Program& program_;
  CheckFacts facts_;
  std::optional<Numbers> numbers_;
  uint32_t block_ = 0;  ///< where the access is that is looked at
  size_t inst_ = 0;
  mutable std::optional<Known> where_it_happens_;  ///< the address, by guard and branches, too
  std::vector<Verdict> verdicts_;                  ///< of accesses, in order
  std::map<Question, Reg> asked_;
  std::vector<uint64_t> writes_;  ///< [register] so far
};

}  // namespace

void insert_checks(Program& program, const CheckFacts& facts) {
  Checks(program, facts).run();
}

}  // namespace lanewise::ir
