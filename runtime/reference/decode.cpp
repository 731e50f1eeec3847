#include "runtime/reference/decode.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "runtime/guest/event_words.hpp"
#include "runtime/ir/passes/flow/liveness.hpp"
#include "runtime/ir/signature.hpp"
#include "runtime/ir/texture.hpp"
#include "runtime/ir/wave_ops.hpp"
#include "runtime/reference/decode_order.hpp"
#include "runtime/reference/lanes/handlers.hpp"
#include "runtime/reference/memory/memory.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::reference {
namespace {

using ir::Op;
using ir::Operand;
using ir::Width;

/// By the order of ir/ops.def: where each run of operations of one action begins.
struct Run {
  Op first;
  Action action;
};
constexpr Run kRuns[] = {{Op::mov, Action::mov},
                         {Op::select, Action::select},
                         {Op::sreg, Action::sreg},
                         {Op::pack64, Action::narrow},
                         {Op::add, Action::integer},
                         {Op::addc, Action::carry},
                         {Op::and_, Action::integer},
                         {Op::icmp, Action::icmp},
                         {Op::fadd, Action::floating},
                         {Op::fcmp, Action::fcmp},
                         {Op::fround, Action::floating},
                         {Op::f2f, Action::convert},
                         {Op::fdiv_approx, Action::floating},
                         {Op::dot, Action::dot},
                         {Op::load, Action::load},
                         {Op::store, Action::store},
                         {Op::atom, Action::atom},
                         {Op::cachectl, Action::nothing},
                         {Op::buffer_address, Action::buffer_address},
                         {Op::fmt_bytes, Action::format},
                         {Op::barrier, Action::barrier},
                         {Op::trap, Action::trap},
                         {Op::report, Action::report},
                         {Op::ballot, Action::wave},
                         {Op::maskbit, Action::mask},
                         {Op::vote_any, Action::wave},
                         {Op::mbcnt, Action::mask},
                         {Op::async_note, Action::nothing}};
static_assert(std::ranges::is_sorted(kRuns, {}, &Run::first));

/// What mbarrier.test_wait and try_wait become: the state is loaded, and its parity compared with
/// that of a state or with the one that was asked for.
bool asks_for_phase(std::span<const ir::Inst> at) {
  if (at[0].op != Op::load || at.size() < 3 || at[1].op != Op::xor_ || at[2].op != Op::icmp)
    return false;
  const auto reads = [](const ir::Inst& inst, ir::Reg value) {
    return inst.src[0].is_reg() && inst.src[0].index == value.id;
  };
  return at[0].mem->elem == ir::Type::u64 && at[0].mem->order != ir::Order::weak &&
         at[1].site == at[0].site && at[2].site == at[0].site && reads(at[1], at[0].dst[0]) &&
         reads(at[2], at[1].dst[0]);
}

PhaseCode phase_of(std::span<const ir::Inst> insts, size_t at) {
  if (asks_for_phase(insts.subspan(at))) return PhaseCode::load;
  return at > 0 && asks_for_phase(insts.subspan(at - 1)) ? PhaseCode::difference : PhaseCode::none;
}

Action action_of(Op op) {
  return (std::ranges::upper_bound(kRuns, op, {}, &Run::first) - 1)->action;
}

class Decoder {
 public:
  Decoder(const ir::Program& program, Wishes wishes, const ir::WaveOrder* order)
      : program_(program), wishes_(wishes), order_(order) {
    out_.order = order;
    out_.stride = program.wave_lanes > 32 ? 64 : 32;
    out_.counts_clocks = reads_clocks(program);
    out_.reads_other_lanes = ir::has_wave_ops(program);
    wishes_.watched = wishes_.watched || out_.counts_clocks;
  }

  DecodedProgram run() {
    place_registers();
    if (!wishes_.watched && !wishes_.touched && !wishes_.counted) once_ = done_once(program_);
    place_blocks();
    for (const ir::Block& block : program_.blocks)
      for (const ir::Inst& inst : block.insts)
        if (inst.op == ir::Op::async_note) of_copies_.insert(inst.site);
    for (uint32_t b = 0; b < program_.blocks.size(); ++b) decode_block(b);
    rank_blocks();
    find_zeroed();
    out_.registers.resize((out_.registers.size() + 63) / 64 * 64);
    out_.blocks = std::move(positions_);
    return std::move(out_);
  }

 private:
  /// A register of that width more, whose lanes all have this value.
  Slot add_slot(Width width, uint64_t bits) {
    const size_t at = out_.registers.size(), stride = out_.stride;
    const auto append = [&](auto value, size_t times) {
      out_.registers.resize(at + times * sizeof(value));
      for (size_t i = 0; i < times; ++i)
        std::memcpy(out_.registers.data() + at + i * sizeof(value), &value, sizeof(value));
    };
    if (width == Width::pred) append(bits != 0 ? ~uint64_t{0} : uint64_t{0}, 1);
    if (width == Width::b32) append(static_cast<uint32_t>(bits), stride);
    if (width == Width::b64) append(bits, stride);
    return static_cast<Slot>(at) | static_cast<Slot>(width);
  }
  void align_slots() { out_.registers.resize((out_.registers.size() + 63) / 64 * 64); }

  /// Those of one width lie together, so that the words of lanes are aligned.
  void place_registers() {
    out_.slots.resize(program_.regs.size());
    for (const Width width : {Width::pred, Width::b32, Width::b64}) {
      for (size_t r = 0; r < program_.regs.size(); ++r)
        if (program_.regs[r].width == width) out_.slots[r] = add_slot(width, 0);
      align_slots();
    }
    unused_ = add_slot(Width::b64, 0);
  }

  [[noreturn]] void reject(const std::string& what) const {
    throw Error(ErrorKind::guest, "kernel " + program_.name + ", block " + std::to_string(block_) +
                                      ", instruction " + std::to_string(inst_) + ": " + what);
  }

  bool is_once(uint32_t block, size_t inst) const {
    return block == 0 && inst < once_.size() && once_[inst];
  }

  void place_blocks() {
    uint32_t position = 0;
    size_t pool = 0;
    for (uint32_t b = 0; b < program_.blocks.size(); ++b) {
      positions_.push_back(position);
      const std::vector<ir::Inst>& insts = program_.blocks[b].insts;
      for (size_t i = 0; i < insts.size(); ++i) position += is_once(b, i) ? 0 : 1;
      for (const ir::Inst& inst : insts) pool += inst.dst.size() + inst.src.size();
      pool += program_.blocks[b].term.targets.size();
      ++position;
    }
    out_.codes.reserve(position);
    out_.pool.reserve(pool);
  }

  Slot constant(uint64_t bits, Width width) {
    const auto [it, is_new] = constants_.try_emplace({bits, width}, 0);
    if (is_new) {
      align_slots();
      it->second = add_slot(width, bits);
    }
    return it->second;
  }

  Slot source(const Operand& operand, std::optional<Width> width) {
    switch (operand.kind) {
      case Operand::Kind::none:
        return ir::kNone;
      case Operand::Kind::reg:
        return out_.slots[operand.index];
      case Operand::Kind::symbol:
        reject("symbol " + program_.symbols[operand.index].name + " is not bound to an address");
      case Operand::Kind::imm:
        break;
    }
    if (width == Width::pred) return constant(operand.imm != 0, Width::pred);
    return constant(width == Width::b32 ? operand.imm & 0xffffffff : operand.imm,
                    width.value_or(Width::b64));
  }

  /// Offsets in the small spaces have 32 bits, whatever register they come in.
  bool wide_address(const ir::Inst& inst) const {
    if (!inst.mem || inst.src.empty()) return true;
    if (!ir::wide_space(inst.mem->space)) return inst.mem->space == ir::Space::code;
    const Operand& address = inst.src[0];
    return !address.is_reg() || program_.regs[address.index].width == Width::b64;
  }

  void add_operands(Code& code, const ir::Inst& inst) {
    std::vector<Slot> list;
    for (const ir::Reg reg : inst.dst) list.push_back(out_.slots[reg.id]);
    for (size_t i = 0; i < inst.src.size(); ++i)
      list.push_back(source(inst.src[i], ir::source_width(inst, i)));
    const auto at = [&](size_t i) {
      return offset_of(i < list.size() && list[i] != ir::kNone ? list[i] : unused_);
    };
    const size_t n = inst.dst.size();
    code.sources = static_cast<uint8_t>(inst.src.size());
    code.same_operands = std::ranges::all_of(inst.src, [](const Operand& o) { return o.is_imm(); });
    code.results = static_cast<uint8_t>(n);
    code.d0 = n > 0 ? at(0) : offset_of(unused_);
    code.d1 = n > 1 ? at(1) : offset_of(unused_);
    code.s0 = at(n), code.s1 = at(n + 1), code.s2 = at(n + 2), code.s3 = at(n + 3);
    code.dst = keep(list);
    code.src = code.dst + n;
  }

  void add_access(Code& code, const ir::Inst& inst) {
    code.mem = &*inst.mem;
    code.offset = static_cast<uint64_t>(inst.mem->offset);
    if (!wide_address(inst)) code.keep = 0xffffffff;
    code.address_bits = code.keep;
    if (inst.op != Op::load && inst.op != Op::store && inst.op != Op::atom) return;
    if (inst.mem->count > kMaxElements) reject("more than 16 elements in one access");
    code.bytes = inst.mem->bytes();
    code.access = out_.accesses++;
    code.same_address = inst.src[0].is_imm();
    const uint64_t low = alignment_mask(inst.mem->alignment());
    if (inst.mem->align == ir::AlignRule::force) code.keep &= ~low;
    if (inst.mem->align == ir::AlignRule::trap) code.aligned = low;
  }

  /// The pool has capacity for all lists, so that it stays where it is.
  const uint32_t* keep(const std::vector<uint32_t>& list) {
    const uint32_t* kept = out_.pool.data() + out_.pool.size();
    out_.pool.insert(out_.pool.end(), list.begin(), list.end());
    return kept;
  }

  void decode_inst(const ir::Inst& inst, bool once, PhaseCode phase) {
    if (inst.op == Op::check || ir::is_texture(inst.op))
      reject(std::string(ir::info(inst.op).name) + " is no operation of an engine");
    Code code;
    code.phase = phase;
    code.action = action_of(inst.op);
    code.op = inst.op;
    code.type = inst.type;
    code.from = inst.from;
    code.cond = inst.cond;
    code.flags = {inst.round, inst.ftz, inst.sat, inst.mode};
    code.mode = inst.mode;
    if (!inst.guard.always()) {
      code.guarded = true;
      code.negate = inst.guard.negate;
      code.guard = offset_of(out_.slots[inst.guard.reg.id]);
    }
    add_operands(code, inst);
    if (inst.mem) add_access(code, inst);
    code.buffer = inst.buffer ? &*inst.buffer : nullptr;
    code.event = inst.event;
    if (inst.event != 0) code.form = guest::event_form(inst, 0);
    if (code.action == Action::wave) {
      code.kind = ir::wave_kind(kinds_, inst);
      code.rendezvous = ir::is_rendezvous(program_, inst.op);
    }
    finish(code, inst.site, once);
  }

  void finish(Code& code, uint32_t site, bool once = false) {
    code.site = site;
    code.of_copy = of_copies_.contains(site);
    code.place = code.block = block_;
    code.inst = inst_++;
    if (order_ != nullptr) find_origin(code);
    set_handlers(code, find_, wishes_);
    (once ? out_.once : out_.codes).push_back(code);
  }

  void find_origin(Code& code) const {
    const ir::WaveOrder::Origin& from = order_->origins[block_];
    code.added = code.inst < from.added || code.inst >= from.added + from.count;
    code.block = from.block;
    code.inst -= from.added;
  }

  void decode_terminator(const ir::Terminator& term) {
    constexpr Action kActions[] = {Action::jump, Action::branch, Action::switch_, Action::exit};
    Code code;
    code.action = kActions[static_cast<size_t>(term.kind)];
    code.term = &term;
    if (code.action == Action::branch) {
      code.guard =
          offset_of(term.cond.always() ? constant(1, Width::pred) : out_.slots[term.cond.reg.id]);
      code.negate = !term.cond.always() && term.cond.negate;
    }
    if (code.action == Action::switch_) code.s0 = offset_of(source(term.selector, Width::b32));
    code.counts = term.counts;
    std::vector<uint32_t> list;
    for (const uint32_t target : term.targets) list.push_back(positions_[target]);
    code.targets = keep(list);
    finish(code, term.site);
  }

  void decode_block(uint32_t b) {
    block_ = b;
    inst_ = 0;
    const std::vector<ir::Inst>& insts = program_.blocks[b].insts;
    for (size_t i = 0; i < insts.size(); ++i)
      decode_inst(insts[i], is_once(b, i), phase_of(insts, i));
    decode_terminator(program_.blocks[b].term);
  }

  void rank_blocks() {
    const std::vector<uint32_t> order = meeting_order(program_);
    uint32_t rank = 0;
    for (const uint32_t b : order) {
      uint32_t at = positions_[b];
      do out_.codes[at].rank = rank++;
      while (out_.codes[at++].action < Action::jump);
    }
  }

  /// What the others have held before, nobody reads.
  void find_zeroed() {
    const bool all = out_.reads_other_lanes || wishes_.watched;
    std::vector<bool> read(program_.regs.size(), all);
    if (!all) {
      const ir::Liveness live = ir::liveness(program_);
      for (const uint32_t r : live.in[0]) read[r] = true;
    }
    for (size_t i = 0; i < once_.size(); ++i)
      for (const ir::Reg r : program_.blocks[0].insts[i].dst)
        if (once_[i]) read[r.id] = false;
    for (const Width width : {Width::pred, Width::b32, Width::b64})
      for (size_t r = 0; r < read.size(); ++r) {
        if (!read[r] || program_.regs[r].width != width) continue;
        const uint32_t at = offset_of(out_.slots[r]);
        const uint32_t bytes =
            width == Width::pred ? 8 : out_.stride * (width == Width::b32 ? 4 : 8);
        const bool follows =
            !out_.zeroed.empty() && out_.zeroed.back().offset + out_.zeroed.back().bytes == at;
        if (follows)
          out_.zeroed.back().bytes += bytes;
        else
          out_.zeroed.push_back({at, bytes});
      }
  }

  const ir::Program& program_;
  Wishes wishes_;
  const ir::WaveOrder* order_;
  const Finder find_ = host_finder();
  DecodedProgram out_;
  std::vector<uint32_t> positions_;
  std::vector<bool> once_;  ///< [instruction of the first block]
  std::map<std::pair<uint64_t, Width>, Slot> constants_;
  std::vector<ir::Inst> kinds_;
  Slot unused_ = 0;
  std::set<uint32_t> of_copies_;  ///< sites of notes
  uint32_t block_ = 0, inst_ = 0;
};

}  // namespace

DecodedProgram decode(const ir::Program& program, Wishes wishes, const ir::WaveOrder* order) {
  return Decoder(program, wishes, order).run();
}

}  // namespace lanewise::reference
