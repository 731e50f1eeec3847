#include "runtime/explain/recorder.hpp"

#include <algorithm>

namespace lanewise::explain {
namespace {

constexpr size_t kNoVisit = ~size_t{0};

std::vector<uint64_t> values_of(const std::vector<ir::Reg>& regs,
                                const reference::Registers& registers) {
  std::vector<uint64_t> out;
  for (const ir::Reg r : regs) out.push_back(r.valid() ? registers[r.id] : 0);
  return out;
}

std::vector<uint64_t> values_of(const std::vector<ir::Operand>& operands,
                                const reference::Registers& registers) {
  std::vector<uint64_t> out;
  for (const ir::Operand& o : operands) out.push_back(o.is_reg() ? registers[o.index] : o.imm);
  return out;
}

}  // namespace

Recorder::Recorder(const Query& query) : query_(query) {
  engine_ = reference::make_engine([this](const reference::Step& s) { step(s); },
                                   [this](const reference::Touch& t) { touch(t); });
}

LaunchResult Recorder::launch(const LaunchRequest& request) {
  lanes_.clear();
  now_ = nullptr;
  if (!query_.launch || *query_.launch == launches_) {
    auto recording = std::make_unique<Recording>();
    recording->program = *request.program;
    recording->grid = request.grid;
    recording->block = request.block;
    if (!request.program->params.empty())
      recording->parameters = {request.param_address, request.params.size(), "the parameters"};
    // Their allocation has a name in brackets, and none of the kernel's accesses is near it.
    for (const Allocation& a : request.allocations)
      if (!a.name.starts_with('(')) recording->allocations.push_back(a);
    now_ = recording.get();
    recordings_.push_back(std::move(recording));
  }
  ++launches_;
  LaunchResult result = engine_->launch(request);
  now_ = nullptr;
  return result;
}

bool Recorder::wanted_place(const uint32_t (&group)[3], uint32_t lane) const {
  if (now_ == nullptr || (query_.lane && *query_.lane != lane)) return false;
  const Dim3& grid = now_->grid;
  return group[0] + uint64_t{grid.x} * (group[1] + uint64_t{grid.y} * group[2]) == query_.group;
}

bool Recorder::wanted_site(uint32_t site) const {
  if (site >= now_->program.sites.size()) return false;
  const ir::Site& s = now_->program.sites[site];
  return !s.text.empty() && (query_.line == 0 || s.line == query_.line);
}

/// Results of the latest instruction are in the registers once the lane comes to its next one.
void Recorder::settle(Lane& lane, const reference::Registers& registers) {
  if (lane.open == kNoVisit) return;
  Executed& last = now_->visits[lane.open].steps.back();
  last.after = values_of(last.inst->dst, registers);
  last.settled = true;
  lane.open = kNoVisit;
}

void Recorder::step(const reference::Step& s) {
  if (!wanted_place(s.group, s.lane)) return;
  Lane& lane = lanes_[s.lane];
  settle(lane, s.registers);
  const ir::Inst& inst = now_->program.blocks[s.block].insts[s.inst];
  const bool forward = std::pair(s.block, s.inst) > std::pair(lane.block, lane.inst);
  const bool same = inst.site == lane.site && forward;
  lane.block = s.block;
  lane.inst = s.inst;
  if (!same) {
    lane.site = inst.site;
    lane.visit = kNoVisit;
    if (!wanted_site(inst.site)) return;
    const uint32_t time = ++lane.times[inst.site];
    uint32_t& most = now_->times[inst.site];
    most = std::max(most, time);
    if (query_.visit != 0 && time != query_.visit) return;
    now_->cut = now_->visits.size() >= kMaxVisits;
    if (!now_->cut) {
      lane.visit = now_->visits.size();
      now_->visits.push_back({s.lane, inst.site, {}});
    }
  }
  if (lane.visit == kNoVisit) return;
  Executed e;
  e.inst = &inst;
  e.ran = inst.guard.always() || (s.registers[inst.guard.reg.id] != 0) != inst.guard.negate;
  e.sources = values_of(inst.src, s.registers);
  e.before = values_of(inst.dst, s.registers);
  now_->visits[lane.visit].steps.push_back(std::move(e));
  lane.open = lane.visit;
}

void Recorder::touch(const reference::Touch& t) {
  if (!wanted_place(t.group, t.lane)) return;
  const Lane& lane = lanes_[t.lane];
  if (lane.open != kNoVisit) now_->visits[lane.open].steps.back().touch = t;
}

}  // namespace lanewise::explain
