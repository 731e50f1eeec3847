#include "runtime/isa/gcn/lowering/analysis/lane_slot_owners.hpp"

#include <algorithm>

#include "runtime/isa/gcn/lowering/analysis/analysis.hpp"

namespace lanewise::gcn {
namespace {

constexpr unsigned kWaveLanes = 64;

bool names(const Instruction& i, unsigned vector) {
  return std::ranges::any_of(i.operands, [&](const Operand& o) {
    return !o.immediate && o.code <= kVgpr0 + vector && kVgpr0 + vector < o.code + o.count;
  });
}

bool is_call(const Instruction& i) {
  return i.row->kind == Kind::call;
}

/// Control may come to the next instruction.
bool goes_on(const Instruction& i) {
  return !ends_block(i) || (i.row->kind == Kind::branch && i.row->meaning.count != 0);
}

/// One dword of the register alone goes to memory, or comes from there.
bool moves(const Instruction& i, Kind kind, unsigned vector) {
  const bool plain = i.row->kind == kind && i.row->encoding == Encoding::mubuf &&
                     i.row->moves_dwords() && !i.lds && !i.tfe;
  const Operand* data = plain ? i.operand(Slot::vdata) : nullptr;
  return data != nullptr && data->code == kVgpr0 + vector && data->count == 1;
}
bool same_place(const Instruction& a, const Instruction& b) {
  const auto same = [&](Slot slot) {
    const Operand *x = a.operand(slot), *y = b.operand(slot);
    return x->code == y->code && x->immediate == y->immediate && x->value == y->value;
  };
  return !a.offen && !a.idxen && !a.addr64 && !b.offen && !b.idxen && !b.addr64 &&
         a.offset == b.offset && same(Slot::srsrc) && same(Slot::soffset);
}

/// Of a register on the paths through a function: bits of what it may be.
enum State : unsigned { kUnsaved = 1, kAsBefore = 2, kChanged = 4 };

}  // namespace

std::optional<LaneAccess> lane_access(const Instruction& i) {
  constexpr unsigned kMostInline = kZero + 64;
  if (i.row->kind != Kind::across || !i.row->has(Slot::ssrc1)) return {};
  if (i.form != Form::plain || i.clamp || i.gds || i.omod != 0) return {};
  for (const Operand& o : i.operands)
    if (o.neg || o.abs) return {};
  const bool writes = i.row->has(Slot::vdst);
  const Operand& lane = *i.operand(Slot::ssrc1);
  const unsigned vector = i.operand(writes ? Slot::vdst : Slot::src0)->code;
  const bool known = !lane.immediate && lane.code >= kZero && lane.code <= kMostInline;
  if (!known || vector < kVgpr0) return {};
  return LaneAccess{vector - kVgpr0, (lane.code - kZero) % kWaveLanes, writes};
}

LaneSlotOwners::LaneSlotOwners(const Kernel& kernel, const CallTargets& calls, bool trusting)
    : kernel_(kernel), calls_(calls) {
  for (unsigned n = 0; n < kernel.state.workitem_ids; ++n) otherwise_used_.insert(n);
  for (const Instruction& i : kernel.code) {
    const auto access = lane_access(i);
    for (const Operand& o : i.operands)
      for (unsigned code = o.code; !o.immediate && code < o.code + o.count; ++code)
        if (code >= kVgpr0 && !(access && code == kVgpr0 + access->vector))
          otherwise_used_.insert(code - kVgpr0);
  }
  find_parts();
  calls_known_ = find_calls(calls, trusting);
}

void LaneSlotOwners::find_parts() {
  parts_.push_back({0, kernel_.code.size(), {}, {}, {}});
  for (const Label& f : kernel_.functions) {
    if (f.index == 0 || f.index >= kernel_.code.size() || f.index == parts_.back().begin) continue;
    parts_.back().end = f.index;
    parts_.push_back({f.index, kernel_.code.size(), {}, {}, {}});
  }
  part_of_.resize(kernel_.code.size());
  for (size_t p = 0; p < parts_.size(); ++p)
    std::fill(part_of_.begin() + static_cast<ptrdiff_t>(parts_[p].begin),
              part_of_.begin() + static_cast<ptrdiff_t>(parts_[p].end), p);
}

bool LaneSlotOwners::find_calls(const CallTargets& calls, bool trusting) {
  for (Part& p : parts_) p.calls = p.leaves = p.reaches = {};
  const auto enter = [&](size_t from, size_t to) {
    if (to >= part_of_.size()) return true;
    const bool call = is_call(kernel_.code[from]);
    const size_t part = part_of_[to];
    if (!call && part == part_of_[from]) return true;
    Part& own = parts_[part_of_[from]];
    if (parts_[part].begin == to) {
      (call ? own.calls : own.leaves).insert(part);
      return true;
    }
    // What goes on behind a call is that call's return.
    return is_call(kernel_.code[to - 1]);
  };
  for (const auto& [from, targets] : calls.targets) {
    if (trusting && !calls.certain.contains(from)) continue;
    for (const size_t to : targets)
      if (!enter(from, to)) return false;
  }
  for (size_t n = 0; n < kernel_.code.size(); ++n) {
    const Instruction& i = kernel_.code[n];
    if (i.row->kind == Kind::branch && !enter(n, branch_target(kernel_, n))) return false;
    if (goes_on(i) && !enter(n, n + 1)) return false;
  }
  for (Part& p : parts_) {
    std::vector<size_t> work(p.calls.begin(), p.calls.end());
    while (!work.empty()) {
      const size_t next = work.back();
      work.pop_back();
      if (!p.reaches.insert(next).second) continue;
      work.insert(work.end(), parts_[next].calls.begin(), parts_[next].calls.end());
      work.insert(work.end(), parts_[next].leaves.begin(), parts_[next].leaves.end());
    }
  }
  return true;
}

/// The instruction turned EXEC on for all lanes, and nothing but saves and restores is in between.
bool LaneSlotOwners::all_lanes_on(size_t index) const {
  while (index-- > 0) {
    const Instruction& i = kernel_.code[index];
    const Kind kind = i.row->kind;
    if (i.row->encoding == Encoding::mubuf && (kind == Kind::load || kind == Kind::store)) continue;
    const Operand* from = i.operand(Slot::ssrc0);
    const Operand* to = i.operand(Slot::sdst);
    if (from == nullptr || to == nullptr || from->immediate || from->code != kMinusOne)
      return false;
    const Meaning& m = i.row->meaning;
    if (i.row->does(kWritesExec)) return m.op == ir::Op::or_ && !m.invert && !m.invert_result;
    return to->code == kExecLo && to->count == 2 && m.op == ir::Op::mov;
  }
  return false;
}

LaneSlotOwners::Use LaneSlotOwners::find_use(const Part& part, unsigned vector) const {
  const Instruction* save = nullptr;
  const auto in_place = [&](size_t n, Kind kind) {
    const Instruction& i = kernel_.code[n];
    return save != nullptr && moves(i, kind, vector) && same_place(i, *save) && all_lanes_on(n);
  };
  bool lanes = false, others = false;
  for (size_t n = part.begin; n < part.end; ++n) {
    const Instruction& i = kernel_.code[n];
    if (!names(i, vector)) continue;
    if (save == nullptr && part.begin != 0 && moves(i, Kind::store, vector)) save = &i;
    const auto access = lane_access(i);
    const bool lane = access && access->vector == vector;
    lanes = lanes || lane;
    others = others || !(lane || in_place(n, Kind::store) || in_place(n, Kind::load));
  }
  if (!lanes && !others && save == nullptr) return Use::none;
  if (part.begin == 0) return others ? Use::other : Use::lanes;
  if (save == nullptr) return Use::other;

  std::vector<unsigned> in(part.end - part.begin);
  std::vector<size_t> work;
  const auto reach = [&](size_t n, unsigned state) {
    if (n < part.begin || n >= part.end) return (state & kChanged) == 0;
    unsigned& before = in[n - part.begin];
    if ((before | state) == before) return true;
    before |= state;
    work.push_back(n);
    return true;
  };
  reach(part.begin, kUnsaved);
  while (!work.empty()) {
    const size_t n = work.back();
    work.pop_back();
    const Instruction& i = kernel_.code[n];
    unsigned state = in[n - part.begin];
    if (names(i, vector)) {
      const auto access = lane_access(i);
      const bool reads_lane = access && access->vector == vector && !access->writes;
      if (in_place(n, Kind::store)) {
        if ((state & kChanged) != 0) return Use::other;
        state = kAsBefore;
      } else if (in_place(n, Kind::load)) {
        if ((state & kUnsaved) != 0) return Use::other;
        state = kAsBefore;
      } else if (!reads_lane) {
        if ((state & kUnsaved) != 0) return Use::other;
        state = kChanged;
      }
    }
    bool returned = true;
    if (const auto jump = calls_.targets.find(n); jump != calls_.targets.end() && !is_call(i))
      for (const size_t to : jump->second) returned = reach(to, state) && returned;
    if (i.row->kind == Kind::branch) returned = reach(branch_target(kernel_, n), state) && returned;
    if (goes_on(i) || is_call(i)) returned = reach(n + 1, state) && returned;
    if (!returned) return Use::other;
  }
  return others ? Use::saved : Use::saved_lanes;
}

LaneSlotOwners::Use LaneSlotOwners::use_of(size_t part, unsigned vector) {
  const auto [use, fresh] = uses_.try_emplace({part, vector}, Use::none);
  if (fresh) use->second = find_use(parts_[part], vector);
  return use->second;
}

bool LaneSlotOwners::owns(size_t part, unsigned vector) {
  if (!calls_known_ || (part == 0 && vector < kernel_.state.workitem_ids)) return false;
  if (use_of(part, vector) != (part == 0 ? Use::lanes : Use::saved_lanes)) return false;
  return std::ranges::all_of(parts_[part].reaches, [&](size_t called) {
    const Use use = use_of(called, vector);
    return called != part && (use == Use::none || use == Use::saved_lanes || use == Use::saved);
  });
}

std::optional<size_t> LaneSlotOwners::owner(size_t instruction) {
  const auto access = lane_access(kernel_.code[instruction]);
  if (!access || access->vector >= 256) return std::nullopt;
  if (!otherwise_used_.contains(access->vector)) return 0;
  const size_t part = part_of_[instruction];
  if (!owns(part, access->vector)) return std::nullopt;
  answered_.emplace(part, access->vector);
  return part + 1;
}

std::vector<size_t> LaneSlotOwners::naming(size_t owner, unsigned vector) const {
  std::vector<size_t> out;
  const Part& part = parts_[owner - 1];
  for (size_t n = part.begin; n < part.end; ++n)
    if (names(kernel_.code[n], vector)) out.push_back(n);
  return out;
}

bool LaneSlotOwners::confirmed(const CallTargets& calls) {
  calls_known_ = find_calls(calls, false);
  return std::ranges::all_of(answered_,
                             [&](const auto& answer) { return owns(answer.first, answer.second); });
}

}  // namespace lanewise::gcn
