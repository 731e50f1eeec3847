#include "runtime/reference/decode.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "runtime/guest/event_words.hpp"
#include "runtime/ir/passes/flow/liveness.hpp"
#include "runtime/ir/signature.hpp"
#include "runtime/ir/wave_ops.hpp"
#include "runtime/reference/decode_order.hpp"
#include "runtime/reference/memory/memory.hpp"
#include "runtime/reference/waves/control.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::reference {
namespace {

using ir::Op;
using ir::Operand;
using ir::Width;

Action action_of(Op op) {
  switch (op) {
    case Op::mov:
      return Action::mov;
    case Op::select:
      return Action::select;
    case Op::sreg:
      return Action::sreg;
    case Op::addc:
    case Op::subb:
      return Action::carry;
    case Op::icmp:
      return Action::icmp;
    case Op::fcmp:
      return Action::fcmp;
    case Op::f2f:
    case Op::f2i:
    case Op::i2f:
      return Action::convert;
    case Op::load:
      return Action::load;
    case Op::store:
      return Action::store;
    case Op::atom:
      return Action::atom;
    case Op::cachectl:
    case Op::fence:
    case Op::async_note:
      return Action::nothing;
    case Op::buffer_address:
      return Action::buffer_address;
    case Op::fmt_bytes:
    case Op::fmt_legal:
    case Op::fmt_unpack:
    case Op::fmt_pack:
    case Op::srgb:
      return Action::format;
    case Op::report:
      return Action::report;
    case Op::maskbit:
    case Op::mbcnt:
      return Action::mask;
    case Op::dot:
      return Action::dot;
    case Op::barrier:
      return Action::barrier;
    case Op::trap:
      return Action::trap;
    default:
      break;
  }
  if (ir::info(op).trait == ir::OpTrait::wave) return Action::wave;
  if (op >= Op::pack64 && op <= Op::sext16) return Action::narrow;
  return op >= Op::fadd && op <= Op::ftanh_approx ? Action::floating : Action::integer;
}

class Decoder {
 public:
  Decoder(const ir::Program& program, Wishes wishes, const ir::WaveOrder* order = nullptr)
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
    link();
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
    for (uint32_t b = 0; b < program_.blocks.size(); ++b) {
      positions_.push_back(position);
      const std::vector<ir::Inst>& insts = program_.blocks[b].insts;
      for (size_t i = 0; i < insts.size(); ++i) position += is_once(b, i) ? 0 : 1;
      ++position;
    }
    out_.codes.reserve(position);
  }

  /// `width` none: either of the two that numbers have.
  Slot register_slot(ir::Reg reg, std::optional<Width> width) const {
    if (reg.id >= program_.regs.size()) reject("register out of range");
    const Width have = program_.regs[reg.id].width;
    if (width ? have != *width : have == Width::pred)
      reject("register " + std::to_string(reg.id) + " does not have the operand's width");
    return out_.slots[reg.id];
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
        return register_slot(operand.reg(), width);
      case Operand::Kind::symbol:
        reject("symbol " + symbol_name(operand.index) + " is not bound to an address");
      case Operand::Kind::imm:
        break;
    }
    if (width == Width::pred) return constant(operand.imm != 0, Width::pred);
    return constant(width == Width::b32 ? operand.imm & 0xffffffff : operand.imm,
                    width.value_or(Width::b64));
  }

  std::string symbol_name(uint32_t index) const {
    return index < program_.symbols.size() ? program_.symbols[index].name : "?";
  }

  /// Fixed signatures say how many operands there are; the others are checked one by one.
  void check_shape(const ir::Inst& inst, std::string_view signature) const {
    const size_t colon = signature.find(':');
    if (signature.find('*') != std::string_view::npos) return check_open_shape(inst);
    if (inst.dst.size() != colon || inst.src.size() != signature.size() - colon - 1) {
      reject(std::string(ir::info(inst.op).name) + " has the wrong number of operands");
    }
    if (inst.op == Op::redux && !inst.mem) reject("redux names no operation");
    if (inst.op == Op::buffer_address && !inst.buffer) reject("buffer_address has no flags");
  }

  void check_open_shape(const ir::Inst& inst) const {
    if (inst.op == Op::barrier || inst.op == Op::cachectl || inst.op == Op::fence) return;
    if (!inst.mem || inst.mem->bytes() == 0) reject("memory instruction without an element type");
    const size_t n = inst.mem->count;
    if (n > kMaxElements) reject("more than 16 elements in one access");
    const bool two = ir::takes_two(inst.mem->atom);
    size_t sources = 1, results = 0;
    if (inst.op == Op::load) results = n;
    if (inst.op == Op::store) sources += n;
    if (inst.op == Op::atom) sources += two ? 2 * n : n;
    if (inst.op == Op::atom && !inst.dst.empty()) results = n;
    if (inst.src.size() != sources || inst.dst.size() != results) {
      reject(std::string(ir::info(inst.op).name) + " has the wrong number of operands");
    }
    const auto alignment = inst.mem->align_bytes;
    if ((alignment & (alignment - 1)) != 0) reject("alignment is no power of two");
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
    for (size_t i = 0; i < inst.dst.size(); ++i) {
      const ir::Reg reg = inst.dst[i];
      list.push_back(reg.valid() ? register_slot(reg, ir::result_width(inst, i)) : unused_);
    }
    for (size_t i = 0; i < inst.src.size(); ++i) {
      const bool may_be_absent = inst.op == Op::store && i > 0;
      if (inst.src[i].kind == Operand::Kind::none && !may_be_absent) reject("operand is missing");
      list.push_back(source(inst.src[i], ir::source_width(inst, i)));
    }
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
    remember(list, n);
  }

  void add_access(Code& code, const ir::Inst& inst) {
    code.mem = &*inst.mem;
    code.offset = static_cast<uint64_t>(inst.mem->offset);
    if (!wide_address(inst)) code.keep = 0xffffffff;
    code.address_bits = code.keep;
    if (inst.op != Op::load && inst.op != Op::store && inst.op != Op::atom) return;
    code.bytes = inst.mem->bytes();
    code.access = out_.accesses++;
    code.same_address = inst.src[0].is_imm();
    const uint64_t low = alignment_mask(inst.mem->alignment());
    if (inst.mem->align == ir::AlignRule::force) code.keep &= ~low;
    if (inst.mem->align == ir::AlignRule::trap) code.aligned = low;
  }

  /// The pool may still move, so the pointers are set in link().
  void remember(const std::vector<uint32_t>& list, size_t results) {
    last_start_ = {out_.pool.size(), out_.pool.size() + results};
    out_.pool.insert(out_.pool.end(), list.begin(), list.end());
  }

  void decode_inst(const ir::Inst& inst, bool once) {
    check_shape(inst, ir::info(inst.op).signature);
    Code code;
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
      code.guard = offset_of(register_slot(inst.guard.reg, Width::pred));
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
    (once ? out_.once : out_.codes).push_back(code);
    (once ? once_starts_ : starts_).push_back(last_start_);
  }

  void find_origin(Code& code) const {
    const ir::WaveOrder::Origin& from = order_->origins[block_];
    code.added = code.inst < from.added || code.inst >= from.added + from.count;
    code.block = from.block;
    code.inst -= from.added;
  }

  size_t targets_wanted(const ir::Terminator& term) const {
    switch (term.kind) {
      case ir::Terminator::Kind::jump:
        return 1;
      case ir::Terminator::Kind::branch:
        return 2;
      case ir::Terminator::Kind::switch_:
        return term.cases.size() + 1;
      default:
        return 0;
    }
  }

  void decode_terminator(const ir::Terminator& term) {
    constexpr Action kActions[] = {Action::jump, Action::branch, Action::switch_, Action::exit};
    Code code;
    code.action = kActions[static_cast<size_t>(term.kind)];
    code.term = &term;
    if (code.action == Action::branch) {
      code.guard = offset_of(term.cond.always() ? constant(1, Width::pred)
                                                : register_slot(term.cond.reg, Width::pred));
      code.negate = !term.cond.always() && term.cond.negate;
    }
    if (code.action == Action::switch_) {
      const Slot selector = source(term.selector, Width::b32);
      if (selector == ir::kNone) reject("switch without a selector");
      code.s0 = offset_of(selector);
    }
    code.counts = term.counts;
    if (term.targets.size() != targets_wanted(term)) reject("terminator has a wrong target count");
    std::vector<uint32_t> list;
    for (const uint32_t target : term.targets) {
      if (target >= program_.blocks.size()) reject("jump to a block that does not exist");
      list.push_back(positions_[target]);
    }
    remember(list, 0);
    finish(code, term.site);
  }

  void decode_block(uint32_t b) {
    block_ = b;
    inst_ = 0;
    const std::vector<ir::Inst>& insts = program_.blocks[b].insts;
    for (size_t i = 0; i < insts.size(); ++i) decode_inst(insts[i], is_once(b, i));
    decode_terminator(program_.blocks[b].term);
  }

  void link() {
    const Finder find = host_finder();
    const auto link = [&](std::vector<Code>& codes, const std::vector<Start>& starts) {
      for (size_t i = 0; i < codes.size(); ++i) {
        Code& code = codes[i];
        code.dst = code.targets = out_.pool.data() + starts[i].results;
        code.src = out_.pool.data() + starts[i].sources;
        Control::set_handlers(code, find, wishes_);
      }
    };
    link(out_.codes, starts_);
    link(out_.once, once_starts_);
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
    std::vector<bool> read(program_.regs.size(), true);
    if (!out_.reads_other_lanes && !wishes_.watched) read = ir::liveness(program_).in[0];
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

  struct Start {
    size_t results = 0, sources = 0;
  };

  const ir::Program& program_;
  Wishes wishes_;
  const ir::WaveOrder* order_;
  DecodedProgram out_;
  std::vector<uint32_t> positions_;
  std::vector<Start> starts_, once_starts_;
  Start last_start_;
  std::vector<bool> once_;  ///< [instruction of the first block]
  std::map<std::pair<uint64_t, Width>, Slot> constants_;
  std::vector<ir::Inst> kinds_;
  Slot unused_ = 0;
  std::set<uint32_t> of_copies_;  ///< sites of notes
  uint32_t block_ = 0, inst_ = 0;
};

}  // namespace

DecodedProgram decode(const ir::Program& program, Wishes wishes) {
  return Decoder(program, wishes).run();
}

DecodedProgram decode(const ir::WaveOrder& order, Wishes wishes) {
  return Decoder(order.tree.program, wishes, &order).run();
}

}  // namespace lanewise::reference
