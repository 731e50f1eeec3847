#include "runtime/reference/decode.hpp"

#include <string>
#include <string_view>
#include <unordered_map>

#include "runtime/guest/event_words.hpp"
#include "runtime/ir/wave_ops.hpp"
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
    case Op::add:
      return Action::add;
    case Op::sub:
      return Action::sub;
    case Op::mul:
      return Action::mul;
    case Op::and_:
      return Action::bit_and;
    case Op::or_:
      return Action::bit_or;
    case Op::xor_:
      return Action::bit_xor;
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
      return Action::nothing;
    case Op::buffer_address:
      return Action::buffer_address;
    case Op::fmt_bytes:
    case Op::fmt_legal:
    case Op::fmt_unpack:
    case Op::fmt_pack:
      return Action::format;
    case Op::report:
      return Action::report;
    case Op::maskbit:
    case Op::mbcnt:
      return Action::mask;
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
  explicit Decoder(const ir::Program& program, const ir::WaveOrder* order = nullptr)
      : program_(program), order_(order) {
    out_.order = order;
    out_.registers.assign(program.regs.size() + 1, 0);  // one more: results nobody wants
  }

  DecodedProgram run() {
    place_blocks();
    for (uint32_t b = 0; b < program_.blocks.size(); ++b) decode_block(b);
    link();
    out_.blocks = std::move(positions_);
    return std::move(out_);
  }

 private:
  uint32_t unused() const { return static_cast<uint32_t>(program_.regs.size()); }

  [[noreturn]] void reject(const std::string& what) const {
    throw Error(ErrorKind::guest, "kernel " + program_.name + ", block " + std::to_string(block_) +
                                      ", instruction " + std::to_string(inst_) + ": " + what);
  }

  void place_blocks() {
    uint32_t position = 0;
    for (const ir::Block& block : program_.blocks) {
      positions_.push_back(position);
      position += static_cast<uint32_t>(block.insts.size()) + 1;
    }
    out_.codes.reserve(position);
  }

  uint32_t read_register(ir::Reg reg) const {
    if (reg.id >= program_.regs.size()) reject("register out of range");
    return reg.id;
  }

  uint32_t write_register(ir::Reg reg) const { return reg.valid() ? read_register(reg) : unused(); }

  uint32_t constant(uint64_t bits) {
    const auto [it, is_new] =
        constants_.try_emplace(bits, static_cast<uint32_t>(out_.registers.size()));
    if (is_new) out_.registers.push_back(bits);
    return it->second;
  }

  uint32_t source(const Operand& operand, Width width) {
    switch (operand.kind) {
      case Operand::Kind::none:
        return ir::kNone;
      case Operand::Kind::reg:
        return read_register(operand.reg());
      case Operand::Kind::symbol:
        reject("symbol " + symbol_name(operand.index) + " is not bound to an address");
      case Operand::Kind::imm:
        break;
    }
    if (width == Width::pred) return constant(operand.imm != 0);
    return constant(width == Width::b32 ? operand.imm & 0xffffffff : operand.imm);
  }

  std::string symbol_name(uint32_t index) const {
    return index < program_.symbols.size() ? program_.symbols[index].name : "?";
  }

  static Width width_of(char letter, const ir::Inst& inst) {
    switch (letter) {
      case 'T':
        return ir::width_of(inst.type);
      case 'F':
        return ir::width_of(inst.from);
      case 'p':
        return Width::pred;
      case 'w':
        return Width::b32;
      default:
        return Width::b64;
    }
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

  Width operand_width(const ir::Inst& inst, std::string_view sources, size_t i) const {
    if (sources != "*") return width_of(sources[i], inst);
    if (inst.op == Op::barrier) return i == 2 ? Width::pred : Width::b32;
    return Width::b64;
  }

  bool wide_address(const ir::Inst& inst) const {
    if (!inst.mem || inst.src.empty()) return true;
    // Offsets in the small spaces have 32 bits, whatever register they come in.
    const ir::Space space = inst.mem->space;
    if (space == ir::Space::shared || space == ir::Space::local || space == ir::Space::param)
      return false;
    const Operand& address = inst.src[0];
    return !address.is_reg() || program_.regs[address.index].width == Width::b64;
  }

  void add_operands(Code& code, const ir::Inst& inst, std::string_view signature) {
    const std::string_view sources = signature.substr(signature.find(':') + 1);
    std::vector<uint32_t> list;
    for (const ir::Reg reg : inst.dst) list.push_back(write_register(reg));
    for (size_t i = 0; i < inst.src.size(); ++i) {
      const bool may_be_absent = inst.op == Op::store && i > 0;
      if (inst.src[i].kind == Operand::Kind::none && !may_be_absent) reject("operand is missing");
      list.push_back(source(inst.src[i], operand_width(inst, sources, i)));
    }
    const auto at = [&](size_t i) { return i < list.size() ? list[i] : unused(); };
    const size_t n = inst.dst.size();
    code.sources = static_cast<uint8_t>(inst.src.size());
    code.d0 = n > 0 ? at(0) : unused();
    code.d1 = n > 1 ? at(1) : unused();
    code.s0 = at(n), code.s1 = at(n + 1), code.s2 = at(n + 2), code.s3 = at(n + 3);
    remember(list, n);
  }

  /// The pool may still move, so the pointers are set in link().
  void remember(const std::vector<uint32_t>& list, size_t results) {
    starts_.push_back({out_.pool.size(), out_.pool.size() + results});
    out_.pool.insert(out_.pool.end(), list.begin(), list.end());
  }

  void decode_inst(const ir::Inst& inst) {
    const std::string_view signature = ir::info(inst.op).signature;
    check_shape(inst, signature);
    Code code;
    code.action = action_of(inst.op);
    code.op = inst.op;
    code.type = inst.type;
    code.from = inst.from;
    code.cond = inst.cond;
    code.flags = {inst.round, inst.ftz, inst.sat, inst.mode};
    code.mode = inst.mode;
    code.result_mask = ir::width_of(inst.type) == Width::b64 ? ~uint64_t{0} : 0xffffffff;
    if (!inst.guard.always()) {
      code.guarded = true;
      code.negate = inst.guard.negate;
      code.guard = read_register(inst.guard.reg);
    }
    add_operands(code, inst, signature);
    code.wide_address = wide_address(inst);
    code.mem = inst.mem ? &*inst.mem : nullptr;
    code.buffer = inst.buffer ? &*inst.buffer : nullptr;
    code.event = inst.event;
    if (inst.event != 0) code.form = guest::event_form(inst, 0);
    if (code.action == Action::wave) {
      code.kind = ir::wave_kind(kinds_, inst);
      code.rendezvous = ir::is_rendezvous(program_, inst.op);
    }
    finish(code, inst.site);
  }

  void finish(Code& code, uint32_t site) {
    code.site = site;
    code.place = code.block = block_;
    code.inst = inst_++;
    if (order_ != nullptr) find_origin(code);
    out_.codes.push_back(code);
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
      code.guard = term.cond.always() ? constant(1) : read_register(term.cond.reg);
      code.negate = !term.cond.always() && term.cond.negate;
    }
    if (code.action == Action::switch_) code.s0 = source(term.selector, Width::b32);
    if (code.s0 == ir::kNone) reject("switch without a selector");
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
    for (const ir::Inst& inst : program_.blocks[b].insts) decode_inst(inst);
    decode_terminator(program_.blocks[b].term);
  }

  void link() {
    for (size_t i = 0; i < out_.codes.size(); ++i) {
      Code& code = out_.codes[i];
      code.dst = code.targets = out_.pool.data() + starts_[i].results;
      code.src = out_.pool.data() + starts_[i].sources;
    }
  }

  struct Start {
    size_t results, sources;
  };

  const ir::Program& program_;
  const ir::WaveOrder* order_;
  DecodedProgram out_;
  std::vector<uint32_t> positions_;
  std::vector<Start> starts_;
  std::unordered_map<uint64_t, uint32_t> constants_;
  std::vector<ir::Inst> kinds_;
  uint32_t block_ = 0, inst_ = 0;
};

}  // namespace

DecodedProgram decode(const ir::Program& program) {
  return Decoder(program).run();
}

DecodedProgram decode(const ir::WaveOrder& order) {
  return Decoder(order.tree.program, &order).run();
}

}  // namespace lanewise::reference
