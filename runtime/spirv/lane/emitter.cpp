#include "runtime/spirv/lane/emitter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/ir/signature.hpp"
#include "runtime/layout/lane_clock.hpp"
#include "runtime/spirv/binary/library.hpp"
#include "runtime/support/enum_set.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::spirv {
namespace {

/// Width of source `index` as the operation's signature gives it.
ir::Width width_of_source(const ir::Inst& inst, size_t index) {
  const std::string_view letters = ir::signature(inst.op).src;
  const char letter = index < letters.size() ? letters[index] : 'T';
  return ir::letter_width(inst, letter).value_or(ir::width_of(inst.type));
}

void collect_flags(const std::vector<ir::Node>& nodes, std::vector<bool>& always,
                   std::vector<bool>& assigned) {
  for (const ir::Node& node : nodes) {
    if (node.kind == ir::Node::Kind::if_) always[node.cond.reg.id] = true;
    if (node.kind == ir::Node::Kind::assign) always[node.reg.id] = assigned[node.reg.id] = true;
    collect_flags(node.body, always, assigned);
    collect_flags(node.otherwise, always, assigned);
  }
}

/// The result lies below the least normal number whatever the operands are: where subnormals are
/// flushed, a compiler can see that it is a zero.
bool always_small(const ir::Inst& inst) {
  constexpr uint64_t kLeastNormal = 0x00800000;
  const auto immediate = [&](size_t n) { return n < inst.src.size() && inst.src[n].is_imm(); };
  switch (inst.op) {
    case ir::Op::zext8:
    case ir::Op::zext16:
    case ir::Op::popc:
    case ir::Op::clz:
      return true;
    case ir::Op::and_:
      return std::ranges::any_of(
          inst.src, [&](const ir::Operand& o) { return o.is_imm() && o.imm < kLeastNormal; });
    case ir::Op::shr:
      return !ir::is_signed(inst.type) && immediate(1) && inst.src[1].imm > 8;
    case ir::Op::bfe:
      return !ir::is_signed(inst.type) && immediate(2) && inst.src[2].imm < 24;
    case ir::Op::load:
      return inst.mem && ir::size_of(inst.mem->elem) < 4 && !ir::is_signed(inst.mem->elem);
    default:
      return false;
  }
}

bool asks_about_zero(const ir::Inst& inst) {
  static constexpr EnumSet<ir::Op> kSums{ir::Op::fadd, ir::Op::fsub,        ir::Op::fmul,
                                         ir::Op::fdiv, ir::Op::fdiv_approx, ir::Op::ffma};
  return kSums.has(inst.op) && (inst.type == ir::Type::f32 || inst.type == ir::Type::f64);
}

/// Operands of such instructions that have several definitions. A constant is hidden where it is
/// moved into one, often in front of a loop, and not where the loop reads it.
std::vector<bool> merged_operands(const ir::Program& program) {
  std::vector<bool> read(program.regs.size(), false);
  std::vector<uint32_t> definitions(program.regs.size(), 0);
  for (const ir::Block& block : program.blocks) {
    for (const ir::Inst& inst : block.insts) {
      for (const ir::Reg dst : inst.dst) ++definitions[dst.id];
      if (!asks_about_zero(inst)) continue;
      for (const ir::Operand& o : inst.src)
        if (o.is_reg()) read[o.index] = true;
    }
  }
  for (size_t i = 0; i < read.size(); ++i) read[i] = read[i] && definitions[i] > 1;
  return read;
}

/// Can a compiler evaluate the instruction, given the registers that it knows?
template <typename Known>
bool gives_constant(const ir::Inst& inst, Known known) {
  if (always_small(inst)) return true;
  if (ir::info(inst.op).trait != ir::OpTrait::pure || inst.op == ir::Op::sreg) return false;
  return std::ranges::all_of(inst.src,
                             [&](const ir::Operand& o) { return !o.is_reg() || known(o.index); });
}

/// Registers with a definition that a compiler can evaluate; they grow until nothing changes.
std::vector<bool> constant_registers(const ir::Program& program, const std::vector<bool>& merged) {
  std::vector<bool> constant(program.regs.size(), false);
  for (bool changed = true; changed;) {
    changed = false;
    for (const ir::Block& block : program.blocks) {
      for (const ir::Inst& inst : block.insts) {
        if (!gives_constant(inst, [&](uint32_t reg) { return constant[reg]; })) continue;
        for (const ir::Reg dst : inst.dst) {
          const bool hidden = inst.op == ir::Op::mov && merged[dst.id];
          if (hidden || constant[dst.id]) continue;
          constant[dst.id] = changed = true;
        }
      }
    }
  }
  return constant;
}

}  // namespace

bool LaneEmitter::constant_here(uint32_t reg) const {
  return written_here_[reg] == this_block_ ? constant_now_[reg] : constant_[reg];
}
bool LaneEmitter::may_be_constant(size_t index) const {
  const ir::Operand& operand = inst_->src[index];
  return !operand.is_reg() || constant_here(operand.index);
}

/// Guests reuse registers: inside a block it counts what one holds, not what it ever does.
void LaneEmitter::follow_constants(const ir::Inst& inst) {
  if (constant_.empty()) return;
  const bool known = gives_constant(inst, [&](uint32_t reg) { return constant_here(reg); });
  for (const ir::Reg dst : inst.dst) {
    if (!dst.valid()) continue;
    const bool hidden = inst.op == ir::Op::mov && merged_[dst.id];
    // Under a guard the register may keep what it had.
    const bool kept = !inst.guard.always() && constant_here(dst.id);
    constant_now_[dst.id] = (known && !hidden) || kept;
    written_here_[dst.id] = this_block_;
  }
}

bool LaneEmitter::hides_move() const {
  return !merged_.empty() && merged_[inst_->dst[0].id] && may_be_constant(0);
}

Id LaneEmitter::hidden(Id bits, ir::Width width) {
  if (width == ir::Width::b32) return m_.word(spv::OpBitwiseOr, {bits, hidden_zero_});
  if (!m_.int64()) return m_.make64(hidden(m_.lo(bits), ir::Width::b32), m_.hi(bits));
  const Id zero = m_.op(spv::OpUConvert, m_.b64_type, {hidden_zero_});
  return m_.op(spv::OpBitwiseOr, m_.b64_type, {bits, zero});
}

LaneEmitter::LaneEmitter(ModuleBuilder& module, const ir::Structured& code, const Options& options,
                         const Target& target, const Shape& shape, const Frame& frame)
    : m_(module),
      code_(code),
      program_(code.program),
      options_(options),
      target_(target),
      shape_(shape),
      frame_(frame),
      live_(ir::liveness(code.program)) {
  const size_t count = program_.regs.size();
  make_slots();
  live_across_.assign(count, false);
  always_.assign(count, false);
  zeroed_.assign(count, false);
  carried_.assign(count, false);
  written_at_.assign(count, 0);
  if (!target.quirks.folds_zero) return;
  merged_ = merged_operands(program_);
  constant_ = constant_registers(program_, merged_);
  constant_now_ = constant_;
  written_here_.assign(count, 0);
}

void LaneEmitter::make_slots() {
  const size_t count = program_.regs.size();
  slots_.resize(shape_.packed ? shape_.lanes_per_invocation : 1);
  for (uint32_t n = 0; n < slots_.size(); ++n) {
    Slot& slot = slots_[n];
    slot.number = n;
    slot.state = frame_.states.at(n);
    slot.variables.assign(count, spv::NoResult);
    slot.cache.assign(count, spv::NoResult);
  }
  slot_ = slots_.data();
}

/// Where a register of the current slot lives.
LaneEmitter::Slot& LaneEmitter::holder(uint32_t reg) {
  return !shared_.empty() && shared_[reg] ? slots_[0] : *slot_;
}

/// Becomes a loop around a compare and swap where the device lacks the operation.
bool LaneEmitter::is_retry_loop(const ir::Inst& inst) {
  return inst.op == ir::Op::atom ||
         (inst.op == ir::Op::store && inst.mem && ir::size_of(inst.mem->elem) < 4);
}
bool LaneEmitter::has_retry_loops() const {
  return ir::any_inst(program_, is_retry_loop);
}

void LaneEmitter::find_variables() {
  for (const auto* sets : {&live_.in, &live_.out})
    for (const auto& set : *sets)
      for (const uint32_t reg : set) live_across_[reg] = true;
  // The conditions of ifs are read after their block has ended, whatever the block's live-out says.
  collect_flags(code_.body, always_, zeroed_);
  if (!live_.in.empty())
    for (const uint32_t reg : live_.in[0]) zeroed_[reg] = true;
  for (size_t i = 0; i < frame_.carried.size(); ++i) {
    if (frame_.carried[i] == spv::NoResult) continue;
    slot_->variables[i] = frame_.carried[i];
    always_[i] = true;
    zeroed_[i] = false;
  }
  for (size_t i = 0; i < always_.size(); ++i) live_across_[i] = live_across_[i] || always_[i];
}

void LaneEmitter::initialise_variables() {
  for (size_t i = 0; i < program_.regs.size(); ++i) {
    if (!zeroed_[i]) continue;
    const auto reg = static_cast<uint32_t>(i);
    const auto set = [&] {
      m_.create_store(m_.constant(program_.regs[i].width, 0), variable(reg));
    };
    if (masked() && !shared_[reg]) {
      in_slots([&](uint32_t) { set(); });
    } else {
      set();
    }
  }
}

void LaneEmitter::run() {
  slot_->lane = m_.create_load(frame_.lane);
  group_ = m_.create_load(frame_.group);
  if (target_.quirks.folds_zero || (!m_.int64() && has_retry_loops()))
    hidden_zero_ = launch_word(kLaunchSpareWord);
  find_variables();
  if (masked()) {
    subgroup_lane_ = m_.create_load(frame_.subgroup_lane);
    m_.note_below(subgroup_lane_, target_.subgroup_size);
    plan_slots();
  }
  initialise_variables();
  if (masked()) start_masks();
  prepare_limits();
  if (shape_.versions) {
    find_parameters();
    count_asking_blocks();
    one_row_ = has_one_row();
  }
  start_ = m_.build_point();
  Block* first = m_.new_block();
  m_.set_build_point(first);
  nodes(code_.body);
  if (!m_.terminated()) leave();
  m_.set_build_point(start_);
  m_.create_branch(first);
}

/// A value that is the same throughout the launch, computed where the function begins: in front of
/// all that uses it, loops and branches.
Id LaneEmitter::at_start(const std::function<Id()>& value) {
  if (at_start_) return value();
  Block* here = m_.build_point();
  m_.set_build_point(start_);
  at_start_ = true;
  const Id made = value();
  at_start_ = false;
  m_.set_build_point(here);
  return made;
}

Id LaneEmitter::variable(uint32_t reg) {
  Id& id = holder(reg).variables[reg];
  if (id == spv::NoResult) {
    id = m_.create_variable(spv::StorageClassFunction, m_.type_of(program_.regs[reg].width));
  }
  return id;
}

Id LaneEmitter::read(uint32_t reg) {
  Slot& slot = holder(reg);
  Id& known = slot.cache[reg];
  if (known != spv::NoResult) return known;
  if (const ir::Inst* load = parameter_.empty() ? nullptr : parameter_[reg]) {
    const ir::Inst* current = std::exchange(inst_, load);
    const Ids elements = load_parameter(parameter_offset());
    inst_ = current;
    for (size_t i = 0; i < elements.size(); ++i)
      if (load->dst[i].valid() && load->dst[i].id == reg) known = elements[i];
    slot.cached.push_back(reg);
    return known;
  }
  if (const ir::Inst* made = of_lane_.empty() ? nullptr : of_lane_[reg]) {
    known = made_of_lane(*made);
    slot.cached.push_back(reg);
    return known;
  }
  // A register that is live nowhere across blocks and not written yet has no value: zero.
  known = live_across_[reg] || carried_[reg] ? m_.create_load(variable(reg))
                                             : m_.constant(program_.regs[reg].width, 0);
  slot.cached.push_back(reg);
  return known;
}

void LaneEmitter::write(uint32_t reg, Id value) {
  Slot& slot = holder(reg);
  if (slot.cache[reg] == spv::NoResult) slot.cached.push_back(reg);
  slot.cache[reg] = value;
  slot.dirty.push_back(reg);
  written_at_[reg] = ++writes_;
}

void LaneEmitter::flush(const std::function<bool(uint32_t)>& wanted) {
  stored_.resize(program_.regs.size(), false);
  Slot* const current = slot_;
  for (Slot& slot : slots_) {
    slot_ = &slot;
    for (const uint32_t reg : slot.dirty) {
      if (stored_[reg] || !(always_[reg] || (wanted && wanted(reg)))) continue;
      stored_[reg] = true;
      m_.create_store(slot.cache[reg], variable(reg));
    }
    for (const uint32_t reg : slot.dirty) stored_[reg] = false;
    slot.dirty.clear();
  }
  slot_ = current;
}

LaneEmitter::KnownValues LaneEmitter::known_values() const {
  KnownValues known;
  known.reserve(slot_->cached.size());
  for (const uint32_t reg : slot_->cached) known.emplace_back(reg, slot_->cache[reg]);
  return known;
}

void LaneEmitter::set_known_values(const KnownValues& known) {
  for (const uint32_t reg : slot_->cached) slot_->cache[reg] = spv::NoResult;
  slot_->cached.clear();
  for (const auto& [reg, value] : known) {
    slot_->cached.push_back(reg);
    slot_->cache[reg] = value;
  }
}

void LaneEmitter::forget() {
  for (Slot& slot : slots_) {
    for (const uint32_t reg : slot.cached) slot.cache[reg] = spv::NoResult;
    slot.cached.clear();
  }
}

/// Paths meet: what was known where they parted, and none of them has written, still is.
void LaneEmitter::forget_but(const KnownValues& known, uint32_t before) {
  forget();
  for (const auto& [reg, value] : known) {
    if (value == spv::NoResult || written_at_[reg] > before) continue;
    slot_->cache[reg] = value;
    slot_->cached.push_back(reg);
  }
}

Id LaneEmitter::guard_value(const ir::Guard& guard) {
  if (guard.always()) return m_.b(true);
  const Id value = read(guard.reg.id);
  return guard.negate ? m_.negated(value) : value;
}

Id LaneEmitter::value_of(const ir::Operand& operand, ir::Width width) {
  switch (operand.kind) {
    case ir::Operand::Kind::reg:
      return read(operand.index);
    case ir::Operand::Kind::imm:
      return m_.constant(width, operand.imm);
    case ir::Operand::Kind::symbol:
      unsupported("its symbol has no address yet");
    case ir::Operand::Kind::none:
      break;
  }
  return m_.constant(width, 0);
}

Id LaneEmitter::src(size_t index) {
  return src_as(index, width_of_source(*inst_, index));
}
Id LaneEmitter::src_as(size_t index, ir::Width width) {
  return value_of(inst_->src[index], width);
}

void LaneEmitter::set_results(const Values& values) {
  set_all({values.first, values.second, values.third, values.fourth});
}

/// At least as many results as destinations, or those are left alone.
void LaneEmitter::set_all(Ids results) {
  const Id guard = inst_->guard.always() ? spv::NoResult : guard_value(inst_->guard);
  const size_t count = std::min(results.size(), inst_->dst.size());
  // All old values are read before the first is replaced.
  for (size_t i = 0; i < count; ++i) {
    const ir::Reg reg = inst_->dst[i];
    if (!reg.valid()) continue;
    // Lanes that are inactive keep what some block reads; the rest dies where it was made.
    const bool kept = masked() && live_across_[reg.id] && !shared_[reg.id];
    const Id taken = kept ? both(guard, active()) : guard;
    if (taken != spv::NoResult) results[i] = m_.select(taken, results[i], read(reg.id));
  }
  for (size_t i = 0; i < count; ++i)
    if (inst_->dst[i].valid()) write(inst_->dst[i].id, results[i]);
}

bool LaneEmitter::has_library(std::string_view name) const {
  return library::find(name) != nullptr;
}

Id LaneEmitter::library(std::string_view name, Id result_type, std::span<const Id> args) {
  if (!m_.imports(name) && !has_library(name)) {
    unsupported(fmt::format("this device cannot run it and there is no emulation ({})", name));
  }
  return m_.call(name, result_type, args);
}

void LaneEmitter::unsupported(const std::string& why) const {
  std::string_view op = ir::info(inst_->op).name;
  if (op.ends_with('_')) op.remove_suffix(1);
  std::string text(op);
  if (inst_->type != ir::Type::none) text += fmt::format(".{}", ir::name(inst_->type));
  uint32_t line = 0;
  if (inst_->site < program_.sites.size()) {
    const ir::Site& place = program_.sites[inst_->site];
    if (!place.text.empty()) text = place.text;
    line = place.line;
  }
  throw Error(ErrorKind::guest, line != 0
                                    ? fmt::format("instruction '{}' (line {}): {}", text, line, why)
                                    : fmt::format("instruction '{}': {}", text, why));
}

namespace {
Id once(std::unordered_map<uint32_t, Id>& known, uint32_t word, const std::function<Id()>& load) {
  Id& value = known[word];
  if (value == spv::NoResult) value = load();
  return value;
}
}  // namespace

Id LaneEmitter::push_word(uint32_t word) {
  const auto load = [&] {
    const Id pointer =
        m_.op(spv::OpAccessChain, m_.make_pointer(spv::StorageClassPushConstant, m_.uint_type),
              {frame_.push, m_.u(0), m_.u(word)});
    return m_.create_load(pointer);
  };
  return at_start_ ? once(push_words_, word, load) : load();
}

Id LaneEmitter::launch_word(uint32_t word) {
  const auto load = [&] { return library("lw_launch", m_.uint_type, {m_.u(word)}); };
  return at_start_ ? once(launch_words_, word, load) : load();
}

/// guest::lane_clock()
Id LaneEmitter::tick() {
  constexpr uint32_t kReads = guest::kClockReads, kShift = guest::kClockShift;
  const auto word = [&](spv::Op op, Id a, Id b) { return m_.word(op, {a, b}); };
  const Id n = m_.create_load(frame_.clock);
  m_.create_store(word(spv::OpIAdd, n, m_.u(1)), frame_.clock);
  const Id all = word(spv::OpUDiv, n, m_.u(kReads)), most = m_.u(guest::kClockDoublings);
  const Id doublings = m_.select(m_.test(spv::OpULessThan, {all, most}), all, most);
  const Id rest = word(spv::OpISub, n, word(spv::OpIMul, doublings, m_.u(kReads)));
  const Id reads = word(spv::OpIAdd, rest, m_.u(kReads));
  const Id shift = word(spv::OpIAdd, doublings, m_.u(kShift));
  return m_.make64(word(spv::OpShiftLeftLogical, reads, shift),
                   word(spv::OpShiftRightLogical, reads, word(spv::OpISub, m_.u(32), shift)));
}

}  // namespace lanewise::spirv
