#include "runtime/events/derive/paths.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "runtime/events/derive/bounds.hpp"
#include "runtime/events/derive/deciding.hpp"
#include "runtime/events/derive/places.hpp"
#include "runtime/guest/event_words.hpp"
#include "runtime/ir/passes/passes.hpp"
#include "runtime/ir/signature.hpp"
#include "runtime/ir/wave_ops.hpp"
#include "runtime/layout/addresses.hpp"

namespace lanewise::events {
namespace {

using ir::Op;

constexpr size_t kMostPaths = 256;
constexpr size_t kMostEvents = 1 << 14;  ///< of all paths together
constexpr size_t kMostSteps = 1 << 16;   ///< instructions followed
constexpr uint64_t kBarriers = 16;       ///< of a group; other numbers are faults

/// Lanes that have taken the same path.
struct Front {
  std::vector<Value> regs;
  std::vector<Bounds> bounds;
  std::vector<Form> not_zero;
  Path events;
  uint32_t block = 0;
  size_t inst = 0;
  uint32_t node = 0;
};

class Follower {
 public:
  Follower(const LaunchRequest& request, const Plan& plan, uint64_t arena_bytes)
      : request_(request),
        program_(*request.program),
        plan_(plan),
        arena_bytes_(arena_bytes),
        extents_(extents_of(request)),
        wanted_(deciding(program_)) {}

  std::shared_ptr<const Paths> run() {
    paths_->nodes.emplace_back();
    Front& start = fronts_.emplace_back();
    start.regs.resize(program_.regs.size());
    while (!fronts_.empty()) {
      Front f = std::move(fronts_.back());
      fronts_.pop_back();
      if (!follow(f)) return nullptr;
      if (paths_->paths.size() == kMostPaths) return nullptr;
      paths_->nodes[f.node].path = static_cast<uint32_t>(paths_->paths.size());
      paths_->paths.push_back(joined(f.events));
    }
    return names_members_ && paths_->paths.size() > 1 ? nullptr : paths_;
  }

 private:
  enum class Next : uint8_t { on, again, end, give_up };

  /// To the end of a path. False: nothing is known about the launch.
  bool follow(Front& f) {
    for (;;) {
      if (++steps_ > kMostSteps) return false;
      const ir::Block& block = program_.blocks[f.block];
      const bool inside = f.inst < block.insts.size();
      const Next next = inside ? step(f, block.insts[f.inst]) : leave(f, block.term);
      if (next == Next::end) return true;
      if (next == Next::give_up) return false;
      if (next == Next::on && inside) ++f.inst;
    }
  }

  /// False: the lanes may wait for others for ever, which ends them. Barriers of one number that
  /// wait for all lanes open sooner or later; so do operations of the lanes that are active.
  bool will_go_on(const Front& f, const ir::Inst& inst) {
    if (inst.op == Op::barrier) {
      const auto source = [&](size_t i) {
        return i < inst.src.size() ? value(f, inst.src[i], 32) : Value::of(Form());
      };
      const Value id = source(0), count = source(1);
      const bool plain = id.is_constant() && id.form.constant < kBarriers && count.is_constant() &&
                         count.form.constant == 0 &&
                         static_cast<ir::BarrierKind>(inst.mode) != ir::BarrierKind::arrive;
      if (!plain || (barrier_ && *barrier_ != id.form.constant)) return false;
      barrier_ = id.form.constant;
      return true;
    }
    const ir::Operand& members = inst.src[static_cast<size_t>(ir::member_operand(inst.op))];
    const bool active = members.is_imm() && members.imm == 0xffffffff;
    names_members_ = names_members_ || !active;
    return true;
  }

  bool decides(const ir::Inst& inst) const {
    return inst.event != 0 || inst.op == Op::trap || waits_for_others(inst) ||
           std::ranges::any_of(inst.dst, [&](ir::Reg r) { return r.valid() && wanted_[r.id]; });
  }

  Next step(Front& f, const ir::Inst& inst) {
    if (!decides(inst)) return Next::on;
    if (!inst.guard.always()) {
      const auto holds = truth(f, f.regs[inst.guard.reg.id]);
      if (!holds) return stuck();
      if (*holds == inst.guard.negate) return Next::on;
    }
    if (inst.op == Op::trap) return Next::end;
    if (waits_for_others(inst) && !will_go_on(f, inst)) return Next::give_up;
    if (inst.event != 0 && !note(f, inst)) return Next::give_up;
    return compute(f, inst);
  }

  /// Where the last question has parted the lanes, those that are followed try again.
  Next stuck() {
    if (!parted_) return Next::give_up;
    parted_ = false;
    return Next::again;
  }

  Next leave(Front& f, const ir::Terminator& t) {
    f.inst = 0;
    switch (t.kind) {
      case ir::Terminator::Kind::exit:
        return Next::end;
      case ir::Terminator::Kind::jump:
        f.block = t.targets[0];
        return Next::on;
      case ir::Terminator::Kind::branch: {
        bool taken = true;
        if (!t.cond.always()) {
          f.inst = program_.blocks[f.block].insts.size();
          const auto holds = truth(f, f.regs[t.cond.reg.id]);
          if (!holds) return stuck();
          taken = *holds != t.cond.negate;
        }
        f.inst = 0;
        f.block = t.targets[taken ? 0 : 1];
        return Next::on;
      }
      case ir::Terminator::Kind::switch_: {
        const Value v = value(f, t.selector, 32);
        if (!v.is_constant()) return Next::give_up;
        const auto known = std::ranges::find(t.cases, v.form.constant);
        f.block = t.targets[static_cast<size_t>(known - t.cases.begin())];
        return Next::on;
      }
    }
    return Next::give_up;
  }

  // --- values --------------------------------------------------------------------------------

  static Value value(const Front& f, const ir::Operand& o, unsigned bits) {
    if (o.is_reg()) return f.regs[o.index];
    return o.is_imm() ? Value::of(cut(Form::of(o.imm), bits)) : Value();
  }

  std::optional<bool> truth(Front& f, const Value& v) {
    if (v.kind == Value::Kind::test) {
      const auto answer = decide(f, v.test);
      return answer ? std::optional(*answer != v.negated) : std::nullopt;
    }
    if (!v.is_constant()) return std::nullopt;
    return v.form.constant != 0;
  }

  /// The answer of the lanes that are followed. When some have one and some the other they part:
  /// nothing now, and an answer when they are asked again.
  std::optional<bool> decide(Front& f, const Test& test) {
    const Sum sum_of(test.form);
    const Bounds* known = bounds_of(f, sum_of);
    if (known == nullptr) return std::nullopt;
    const auto [low, high] = sum_of.whole(*known);
    if (test.is_zero) {
      if (low > 0 || high < 0 || std::ranges::find(f.not_zero, test.form) != f.not_zero.end())
        return false;
      if (low == 0 && high == 0) return true;
    } else {
      if (high < 0) return true;
      if (low >= 0) return false;
    }
    events_ += f.events.size();  // both sides keep them
    if (events_ <= kMostEvents && fronts_.size() + paths_->paths.size() + 1 < kMostPaths)
      part(f, test, sum_of);
    return std::nullopt;
  }

  Bounds* bounds_of(Front& f, const Sum& s) const {
    const auto known = std::ranges::find(f.bounds, s.factor, &Bounds::factor);
    if (known != f.bounds.end()) return &*known;
    const auto e = extents_.bounded(Form{0, s.factor});
    if (!e) return nullptr;
    f.bounds.push_back({s.factor, e->low, e->high});
    return &f.bounds.back();
  }

  void part(Front& f, const Test& test, const Sum& s) {
    const auto yes = static_cast<uint32_t>(paths_->nodes.size());
    PathNode& node = paths_->nodes[f.node];
    node.ends = false;
    node.test = test;
    node.yes = yes;
    node.no = yes + 1;
    paths_->nodes.resize(paths_->nodes.size() + 2);
    Front other = f;
    other.node = yes + 1;
    f.node = yes;
    if (test.is_zero) {
      s.at_most(*bounds_of(f, s), 0);
      s.at_least(*bounds_of(f, s), 0);
      other.not_zero.push_back(test.form);
    } else {
      s.at_most(*bounds_of(f, s), -1);
      s.at_least(*bounds_of(other, s), 0);
    }
    fronts_.push_back(std::move(other));
    parted_ = true;
  }

  Next compute(Front& f, const ir::Inst& inst) {
    if (inst.dst.empty()) return Next::on;
    Results results;
    if (inst.op == Op::load) {
      return load(f, inst);
    } else if (inst.op == Op::sreg) {
      results[0] = special_register(static_cast<ir::SReg>(inst.mode), request_, extents_);
    } else if (inst.op == Op::buffer_address) {
      return buffer_address(f, inst);
    } else if (is_predicate_copy(inst)) {
      results[0] = value(f, inst.src[0], 1);
      if (inst.op == Op::not_) results[0] = opposite(results[0]);
    } else {
      std::array<Form, 4> sources;
      if (inst.src.size() > sources.size() || inst.dst.size() > results.size())
        return set(f, inst, results);
      for (size_t i = 0; i < inst.src.size(); ++i) {
        const auto width = ir::source_width(inst, i);
        if (!width) return set(f, inst, {});
        if (*width == ir::Width::pred) {
          const Value v = value(f, inst.src[i], 1);
          if (v.kind == Value::Kind::unknown) return set(f, inst, {});
          const auto holds = truth(f, v);
          if (!holds) return stuck();
          sources[i] = Form::of(*holds ? 1 : 0);
          continue;
        }
        const Value v = value(f, inst.src[i], *width == ir::Width::b64 ? 64 : 32);
        if (v.kind != Value::Kind::form) return set(f, inst, {});
        sources[i] = v.form;
      }
      results = linear_results(inst, std::span(sources).first(inst.src.size()), extents_,
                               [&](const Test& test) { return decide(f, test); });
      if (parted_) return stuck();
    }
    return set(f, inst, results);
  }

  /// Followed as the arithmetic that it is for a descriptor that all lanes share.
  Next buffer_address(Front& f, const ir::Inst& inst) {
    if (parts_.regs.empty()) parts_.regs = program_.regs;
    parts_.regs.resize(program_.regs.size());
    ir::Inst known = inst;
    known.guard = {};
    for (ir::Operand& o : known.src)
      if (const Value v = value(f, o, 32); v.is_constant())
        o = ir::Operand::immediate(v.form.constant);
    parts_.blocks.assign(1, {{}, {known}, {}});
    if (!ir::expand_descriptors(parts_)) return set(f, inst, {});
    f.regs.resize(std::max(f.regs.size(), parts_.regs.size()));
    for (const ir::Inst& part : parts_.blocks[0].insts)
      if (const Next next = compute(f, part); next != Next::on) return next;
    return Next::on;
  }

  static bool is_predicate_copy(const ir::Inst& inst) {
    return inst.type == ir::Type::pred && (inst.op == Op::mov || inst.op == Op::not_);
  }
  static Value opposite(Value v) {
    if (v.kind == Value::Kind::test) v.negated = !v.negated;
    if (v.kind == Value::Kind::form) v.form.constant ^= 1;
    return v;
  }

  static Next set(Front& f, const ir::Inst& inst, const Results& results) {
    for (size_t i = 0; i < inst.dst.size(); ++i)
      if (inst.dst[i].valid()) f.regs[inst.dst[i].id] = i < results.size() ? results[i] : Value();
    return Next::on;
  }

  /// Parameters alone are known: they lie in memory that nobody writes.
  Next load(Front& f, const ir::Inst& inst) const {
    const ir::Mem& mem = *inst.mem;
    std::optional<uint64_t> offset;
    if (const Value a = value(f, inst.src[0], 64); a.is_constant()) {
      const uint64_t address = a.form.constant + static_cast<uint64_t>(mem.offset);
      const bool straight =
          mem.align == ir::AlignRule::any || address % std::bit_ceil(mem.alignment()) == 0;
      if (mem.space == ir::Space::param && straight) offset = address;
      if (ir::wide_space(mem.space) && straight) offset = address - request_.param_address;
    }
    const unsigned size = ir::size_of(mem.elem);
    for (size_t i = 0; i < inst.dst.size(); ++i) {
      Value v;
      if (offset && *offset + i * size + size <= request_.params.size() &&
          *offset < request_.params.size())
        v = Value::of(Form::of(parameter(mem.elem, *offset + i * size)));
      if (inst.dst[i].valid()) f.regs[inst.dst[i].id] = v;
    }
    return Next::on;
  }

  uint64_t parameter(ir::Type elem, uint64_t offset) const {
    uint64_t bits = 0;
    const unsigned size = ir::size_of(elem);
    std::memcpy(&bits, request_.params.data() + offset, size);
    if (size >= 4 || !ir::is_signed(elem)) return bits;
    const unsigned unused = 32 - 8 * size;
    return static_cast<uint32_t>(static_cast<int32_t>(bits << unused) >> unused);
  }

  // --- events --------------------------------------------------------------------------------

  /// False: the event's lanes or its address is not known.
  bool note(Front& f, const ir::Inst& inst) {
    const Point& p = plan_.point(inst.event);
    if (p.policy || p.hinted || ++events_ > kMostEvents) return false;
    PathEvent e{inst.event, {}, true, 0};
    if (p.address) {
      const bool wide =
          !inst.src[0].is_reg() || program_.regs[inst.src[0].index].width == ir::Width::b64;
      const Value v = value(f, inst.src[0], 64);
      if (v.kind != Value::Kind::form) return false;
      e.address = sum(v.form, Form::of(static_cast<uint64_t>(inst.mem->offset)));
      if (!wide) {
        const auto exact = extents_.as_unsigned(e.address, 32);
        if (!exact) return false;
        e.address = exact->form;
      }
      const uint64_t low = (uint64_t{1} << p.drop) - 1;
      if (even_bits(e.address) < p.drop) return false;
      if ((e.address.constant & low) != 0) {
        if (p.rule != ir::AlignRule::force) return true;  // a fault: no lane says it
        e.address.constant &= ~low;
      }
      if (p.rule == ir::AlignRule::trap && even_bits(e.address) < alignment_bits(p)) return false;
      e.mapped = is_mapped(p, e.address);
      if (!p.arena) e.address.constant += p.base;
    }
    f.events.push_back(e);
    return true;
  }

  static unsigned alignment_bits(const Point& p) {
    return static_cast<unsigned>(std::countr_zero(p.alignment));
  }

  /// Do lanes say it wherever in the launch they are?
  bool is_mapped(const Point& p, const Form& address) const {
    if (!p.arena) return true;
    const auto e = extents_.bounded(sum(address, Form::of(~guest::kArenaBase + 1)));
    return e && e->low >= 0 && static_cast<uint64_t>(e->high) < arena_bytes_;
  }

  /// Components that follow each other in memory as in the program are one access.
  Path joined(const Path& components) const {
    Path out;
    for (size_t i = 0; i < components.size(); ++i) {
      PathEvent e = components[i];
      const Point& p = plan_.point(e.point);
      if (p.components != 0 && follow_each_other(components, i, p.components)) {
        e.components = p.components;
        for (size_t k = 1; k <= p.components; ++k) e.mapped = e.mapped && components[i + k].mapped;
        i += p.components;
      }
      out.push_back(e);
    }
    return out;
  }

  bool follow_each_other(const Path& path, size_t first, uint32_t count) const {
    if (first + count >= path.size()) return false;
    Form next = path[first].address;
    for (size_t k = first; k <= first + count; ++k) {
      if (path[k].point != path[first].point + (k - first) || path[k].address != next) return false;
      next = sum(next, Form::of(plan_.point(path[k].point).bytes));
    }
    return true;
  }

  const LaunchRequest& request_;
  const ir::Program& program_;
  const Plan& plan_;
  uint64_t arena_bytes_;
  Extents extents_;
  std::vector<bool> wanted_;
  std::shared_ptr<Paths> paths_ = std::make_shared<Paths>();
  std::vector<Front> fronts_;
  ir::Program parts_;  ///< of the current descriptor: registers, and one block
  size_t steps_ = 0, events_ = 0;
  bool parted_ = false;              ///< by the last question
  std::optional<uint64_t> barrier_;  ///< the number of all barriers so far
  bool names_members_ = false;       ///< of an operation across lanes, which waits for them
};

/// Lanes that use up their steps end where the forms do not say.
bool worth_following(const LaunchRequest& request) {
  return request.step_budget >= kMostSteps && request.program->wave_lanes <= 64;
}

}  // namespace

std::shared_ptr<const Paths> find_paths(const LaunchRequest& request, const Plan& plan,
                                        uint64_t arena_bytes) {
  if (!worth_following(request)) return nullptr;
  return Follower(request, plan, arena_bytes).run();
}

}  // namespace lanewise::events
