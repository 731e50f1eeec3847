#include "runtime/diff/watcher.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace lanewise::diff {
namespace {

constexpr size_t kMostWrites = size_t{1} << 22;

double magnitude(ir::Type type, uint64_t bits) {
  if (type == ir::Type::f64) return std::fabs(std::bit_cast<double>(bits));
  if (type == ir::Type::f32)
    return std::fabs(static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits))));
  return 65504;  // half precision has nothing larger
}

}  // namespace

Watcher::Watcher(WaveSchedule schedule, bool last_group_first)
    : schedule_(schedule), last_group_first_(last_group_first) {
  engine_ = reference::make_engine([this](const reference::Step& s) { step(s); },
                                   [this](const reference::Touch& t) { touch(t); });
}

LaunchResult Watcher::launch(const LaunchRequest& request) {
  program_ = *request.program;
  freedom_ = std::make_unique<Freedom>(program_);
  grid_ = request.grid;
  writes_.clear();
  lanes_.clear();
  LaunchRequest scheduled = request;
  scheduled.schedule = schedule_;
  scheduled.last_group_first = last_group_first_;
  return engine_->launch(scheduled);
}

uint64_t Watcher::linear(const uint32_t (&group)[3]) const {
  return group[0] + uint64_t{grid_.x} * (group[1] + uint64_t{grid_.y} * group[2]);
}

void Watcher::step(const reference::Step& s) {
  if (!freedom_->any()) return;
  Lane& lane = lanes_[{linear(s.group), s.lane}];
  if (lane.open != nullptr) {
    const double size = magnitude(lane.open->type, s.registers[lane.open->dst[0].id]);
    const bool absolute =
        lane.open->op == ir::Op::fsin_approx || lane.open->op == ir::Op::fcos_approx;
    if (std::isfinite(size)) lane.error += lane.relative * (absolute ? 1.0 : size);
    lane.open = nullptr;
  }
  lane.relative = freedom_->error(s.block, s.inst);
  const ir::Inst& inst = program_.blocks[s.block].insts[s.inst];
  if (lane.relative != 0 && !inst.dst.empty() && inst.dst[0].valid()) lane.open = &inst;
}

void Watcher::touch(const reference::Touch& t) {
  const bool memory = t.space == ir::Space::global || t.space == ir::Space::generic;
  if (!t.write || t.fault != FaultKind::none || !memory) return;
  if (writes_.size() == kMostWrites) {
    all_writes_ = false;
    return;
  }
  writes_.push_back(
      {t.address, linear(t.group), t.bytes, t.lane, program_.blocks[t.block].insts[t.inst].site});
}

double Watcher::bound() const {
  double most = 0;
  for (const auto& [place, lane] : lanes_) most = std::max(most, lane.error);
  return most;
}

}  // namespace lanewise::diff
