#include <algorithm>
#include <numeric>
#include <set>
#include <string_view>

#include "runtime/ir/make.hpp"
#include "runtime/ir/passes/passes.hpp"
#include "runtime/ir/wave_ops.hpp"

namespace lanewise::ir {
namespace {

class PhaseSplitter {
 public:
  explicit PhaseSplitter(const Program& p, const WaveOrder* order = nullptr) : order_(order) {
    out_.program = p;
    out_.resume = out_.program.add_reg(Width::b32, std::string("resume"));
    out_.barrier_id = out_.program.add_reg(Width::b32, std::string("barrier_id"));
    out_.barrier_count = out_.program.add_reg(Width::b32, std::string("barrier_count"));
    if (!has_wave_ops(p)) return;
    WaveRegs& w = out_.wave;
    for (Reg* reg : {&w.kind, &w.low, &w.high, &w.b, &w.c, &w.members, &w.result0, &w.result1})
      *reg = out_.program.add_reg(Width::b32, std::string("wave"));
  }

  Phases run() {
    add_entry();
    origins_.resize(out_.program.blocks.size());
    for (uint32_t b = 0; b < origins_.size(); ++b) origins_[b] = {b == start_ ? 0 : b, 0};
    // Splitting appends the rest of a block as a new block, which the loop then reaches.
    for (uint32_t b = 1; b < out_.program.blocks.size(); ++b) split(b);
    for (uint32_t b = 1; b < out_.program.blocks.size(); ++b) {
      Block& block = out_.program.blocks[b];
      if (block.term.kind == Terminator::Kind::exit && !waits_.contains(b)) {
        block.insts.push_back(set(out_.resume, Operand::immediate(kPhaseEnded), block.term.site));
      }
    }
    number_stops();
    write_entry();
    find_carried();
    return std::move(out_);
  }

 private:
  static Inst set(Reg reg, Operand value, uint32_t site, Guard guard = {}) {
    Inst i = instruction(Op::mov, Type::u32, {reg}, {value}, site);
    i.guard = guard;
    return i;
  }

  /// Block 0 becomes the dispatch on `resume`; the kernel's own entry moves.
  void add_entry() {
    auto& blocks = out_.program.blocks;
    start_ = static_cast<uint32_t>(blocks.size());
    for (Block& b : blocks) {
      std::replace(b.term.targets.begin(), b.term.targets.end(), 0U, start_);
    }
    blocks.push_back(std::move(blocks[0]));
    blocks[0] = Block{};
  }

  /// Cuts the block behind its first stop.
  void split(uint32_t b) {
    auto& blocks = out_.program.blocks;
    for (size_t i = 0; i < blocks[b].insts.size(); ++i) {
      const Inst inst = blocks[b].insts[i];
      if (inst.op == Op::trap) {
        // The lane ends here, so it must not be resumed.
        const Inst ended = set(out_.resume, Operand::immediate(kPhaseEnded), inst.site, inst.guard);
        blocks[b].insts.insert(blocks[b].insts.begin() + static_cast<ptrdiff_t>(i), ended);
        ++i;
      } else if (inst.op == Op::barrier || info(inst.op).trait == OpTrait::wave) {
        cut(b, i, inst);
        return;
      }
    }
  }

  void cut(uint32_t b, size_t at, Inst stop) {
    auto& blocks = out_.program.blocks;
    const bool wave = stop.op != Op::barrier;
    const auto rest = static_cast<uint32_t>(blocks.size());
    const Origin origin{origins_[b].block, origins_[b].index + at};
    Block after;
    after.label = blocks[b].label;
    after.insts.assign(blocks[b].insts.begin() + static_cast<ptrdiff_t>(at) + 1,
                       blocks[b].insts.end());
    after.term = std::move(blocks[b].term);
    blocks[b].insts.resize(at);
    blocks[b].term = {};
    blocks.push_back(std::move(after));
    origins_.push_back({origin.block, origin.index + 1});
    uint32_t wait = b, resumed = rest;
    if (!stop.guard.always()) {
      wait = add_block(blocks[b].label);
      blocks[b].term = branch_on(stop.guard, wait, rest, stop.site);
      stop.guard = {};
      if (wave) {
        // Lanes that pass by have no result to take.
        resumed = add_block(blocks[b].label);
        blocks[resumed].term.kind = Terminator::Kind::jump;
        blocks[resumed].term.targets = {rest};
        blocks[resumed].term.site = stop.site;
      }
    }
    if (wave) {
      suspend(blocks[wait].insts, stop);
      take_results(blocks[resumed].insts, stop);
    } else {
      suspend_at_barrier(blocks[wait].insts, stop);
    }
    const uint32_t k = static_cast<uint32_t>(out_.stops.size()) + 1;
    blocks[wait].insts.push_back(set(out_.resume, Operand::immediate(k), stop.site));
    blocks[wait].term.site = stop.site;
    waits_.insert(wait);
    stops_.push_back({origin, wait, resumed});
    out_.stops.push_back(std::move(stop));
  }

  uint32_t add_block(const std::string& label) {
    out_.program.blocks.push_back({label, {}, {}});
    origins_.emplace_back();  // holds no stop
    return static_cast<uint32_t>(out_.program.blocks.size() - 1);
  }

  void suspend_at_barrier(std::vector<Inst>& insts, const Inst& barrier) {
    if (!barrier.src[0].is_imm())
      insts.push_back(set(out_.barrier_id, barrier.src[0], barrier.site));
    if (!barrier.src[1].is_imm())
      insts.push_back(set(out_.barrier_count, barrier.src[1], barrier.site));
    if (out_.wave.kind.valid())
      insts.push_back(set(out_.wave.kind, Operand::immediate(0), barrier.site));
  }

  void suspend(std::vector<Inst>& insts, const Inst& stop) {
    const WaveRegs& w = out_.wave;
    const int members = member_operand(stop.op);
    const auto give = [&](Reg reg, int operand) {
      insts.push_back(set(reg, stop.src[static_cast<size_t>(operand)], stop.site));
    };
    const size_t values = members < 0 ? stop.src.size() : static_cast<size_t>(members);
    if (values > 0) give_value(insts, stop);
    if (values > 1) give(w.b, 1);
    if (values > 2) give(w.c, 2);
    if (members >= 0) {
      give(w.members, members);
    } else {
      insts.push_back(set(w.members, Operand::immediate(0xffffffff), stop.site));
    }
    const uint32_t kind = wave_kind(out_.kinds, stop) + 1;
    const bool waits = is_rendezvous(out_.program, stop.op);
    insts.push_back(
        set(w.kind, Operand::immediate(waits ? kind | kRendezvousKind : kind), stop.site));
  }

  /// The first operand as two words; a predicate as 0 or 1.
  void give_value(std::vector<Inst>& insts, const Inst& stop) {
    const WaveRegs& w = out_.wave;
    const std::string_view signature = info(stop.op).signature;
    const char letter = signature[signature.find(':') + 1];
    Inst give = set(w.low, stop.src[0], stop.site);
    if (letter == 'p') {
      give.op = Op::select;
      give.src = {stop.src[0], Operand::immediate(1), Operand::immediate(0)};
    } else if (letter == 'T' && width_of(stop.type) == Width::b64) {
      give.op = Op::unpack64;
      give.type = Type::none;
      give.dst = {w.low, w.high};
    }
    insts.push_back(std::move(give));
  }

  void take_results(std::vector<Inst>& insts, const Inst& stop) {
    std::vector<Inst> taken;
    const Reg results[] = {out_.wave.result0, out_.wave.result1};
    for (size_t i = 0; i < stop.dst.size(); ++i) {
      if (!stop.dst[i].valid()) continue;
      Inst take = set(stop.dst[i], results[i], stop.site);
      const Width width = out_.program.regs[stop.dst[i].id].width;
      if (width == Width::pred) {
        take.op = Op::icmp;
        take.cond = Cond::ne;
        take.src.push_back(Operand::immediate(0));
      } else if (width == Width::b64) {
        take.op = Op::pack64;
        take.type = Type::none;
        take.src = {results[0], results[1]};
      }
      taken.push_back(std::move(take));
    }
    insts.insert(insts.begin(), taken.begin(), taken.end());
  }

  /// Splitting meets the stops in another order than the program lists them.
  void number_stops() {
    std::vector<uint32_t> order(stops_.size());
    std::iota(order.begin(), order.end(), 0U);
    const auto rank = [&](uint32_t stop) {
      const Origin& at = stops_[stop].origin;
      const uint32_t block = order_ != nullptr ? order_->places[at.block].position : at.block;
      return std::pair(block, at.index);
    };
    std::sort(order.begin(), order.end(),
              [&](uint32_t a, uint32_t b) { return rank(a) < rank(b); });
    std::vector<Inst> stops;
    for (uint32_t k = 0; k < order.size(); ++k) {
      const Stop& stop = stops_[order[k]];
      out_.program.blocks[stop.wait].insts.back().src[0] = Operand::immediate(k + 1);
      resume_at_.push_back(stop.resumed);
      stops.push_back(std::move(out_.stops[order[k]]));
      if (order_ != nullptr) out_.places.push_back(order_->places[stop.origin.block]);
    }
    out_.stops = std::move(stops);
  }

  void write_entry() {
    auto& blocks = out_.program.blocks;
    Terminator t;
    t.kind = Terminator::Kind::switch_;
    t.selector = out_.resume;
    t.cases.push_back(0);
    t.targets.push_back(start_);
    for (size_t k = 0; k < resume_at_.size(); ++k) {
      t.cases.push_back(k + 1);
      t.targets.push_back(resume_at_[k]);
    }
    t.targets.push_back(static_cast<uint32_t>(blocks.size()));
    blocks.push_back({"ended", {}, {}});
    blocks[0].label = "resume";
    blocks[0].term = std::move(t);
  }

  void find_carried() {
    const Liveness live = liveness(out_.program);
    std::set<uint32_t> carried;
    for (const uint32_t b : resume_at_) carried.insert(live.in[b].begin(), live.in[b].end());
    // Between the phases the engine reads a reduction's operand and writes its result.
    for (const Inst& barrier : out_.stops) {
      if (barrier.op == Op::readlane && barrier.src[0].is_reg())
        carried.insert(barrier.src[0].index);  // also of lanes that are elsewhere or have ended
      if (barrier.op != Op::barrier) continue;
      for (const Reg r : barrier.dst) carried.insert(r.id);
      if (barrier.src.size() > 2 && barrier.src[2].is_reg()) carried.insert(barrier.src[2].index);
    }
    // ... and what counts the iterations that a lane stops in.
    for (const WaveOrder::Place& place : out_.places)
      for (const WaveOrder::Loop& loop : place.loops) carried.insert(loop.iteration.id);
    carried.erase(out_.resume.id);
    carried.erase(out_.wave.result0.id);
    carried.erase(out_.wave.result1.id);
    for (const uint32_t r : carried) out_.carried.push_back(Reg{r});
  }

  /// Where an instruction stood in the input.
  struct Origin {
    uint32_t block = 0;
    size_t index = 0;
  };
  struct Stop {
    Origin origin;
    uint32_t wait, resumed;
  };

  const WaveOrder* order_;
  Phases out_;
  uint32_t start_ = 0;
  std::vector<Origin> origins_;  ///< [block], of its first instruction
  std::vector<Stop> stops_;
  std::vector<uint32_t> resume_at_;
  std::set<uint32_t> waits_;  ///< blocks whose exit is the end of a phase, not of the lane
};

}  // namespace

uint32_t wave_kind(std::vector<Inst>& kinds, const Inst& inst) {
  const auto same = [&](const Inst& k) {
    // What readlane reads is not passed on: engines look the register up.
    return k.op == inst.op && k.type == inst.type && k.mode == inst.mode && k.mem == inst.mem &&
           (inst.op != Op::readlane || k.src[0] == inst.src[0]);
  };
  const auto found = std::ranges::find_if(kinds, same);
  const auto index = static_cast<uint32_t>(found - kinds.begin());
  if (found == kinds.end()) kinds.push_back(inst);
  return index;
}

bool has_wave_ops(const Program& program) {
  return any_inst(program, [](const Inst& i) { return info(i.op).trait == OpTrait::wave; });
}

Phases split_phases(const Program& program) {
  return PhaseSplitter(program).run();
}

Phases split_phases(const WaveOrder& order) {
  return PhaseSplitter(order.tree.program, &order).run();
}

}  // namespace lanewise::ir
