#include "runtime/script/run/wrap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "runtime/ir/builder.hpp"

namespace lanewise::script {
namespace {

using ir::imm;
using ir::Op;
using ir::Operand;
using ir::Reg;
using ir::SReg;
using ir::Type;
using ir::Width;

class Wrapper {
 public:
  Wrapper(ir::Program& p, const HiddenRegisters& h, const Dim3& grid, const Dim3& block)
      : p_(p), b_(p), h_(h), grid_(grid), block_(block), guest_regs_(p.regs.size()) {}

  void run() {
    const std::vector<uint32_t> ends = exits();
    if (p_.isa != ir::Isa::gcn) insert_entry();
    const uint32_t body = p_.blocks[0].term.targets[0];
    const uint32_t epilogue = b_.add_block("registers_out");
    for (const uint32_t end : ends) {
      b_.set_block(p_.isa == ir::Isa::gcn ? end : end + 1);
      b_.jump(epilogue);
    }
    b_.set_block(0);
    prologue(body, epilogue);
    b_.set_block(epilogue);
    store_registers();
    b_.exit();
  }

 private:
  std::vector<uint32_t> exits() const {
    std::vector<uint32_t> out;
    for (uint32_t n = 0; n < p_.blocks.size(); ++n)
      if (p_.blocks[n].term.kind == ir::Terminator::Kind::exit) out.push_back(n);
    return out;
  }

  /// A block of its own in front: the old first one may be the head of a loop. On GCN the front end
  /// has made one, which fills the registers that the hardware does.
  void insert_entry() {
    for (ir::Block& block : p_.blocks)
      for (uint32_t& target : block.term.targets) ++target;
    ir::Block entry;
    entry.label = "registers_in";
    entry.term.kind = ir::Terminator::Kind::jump;
    entry.term.targets = {1};
    p_.blocks.insert(p_.blocks.begin(), std::move(entry));
  }

  /// Number of registers with this name must not matter: the outermost one comes first.
  Reg find(const RegisterPart& part) {
    for (uint32_t n = 0; n < p_.regs.size(); ++n)
      if (p_.regs[n].name == part.ir_name && p_.regs[n].width == part.width) return Reg{n};
    return p_.add_reg(part.width, part.ir_name);
  }

  Reg special(SReg s) {
    const Reg r = b_.reg(Width::b32);
    b_.emit(Op::sreg, Type::u32, {r}, {}).mode = static_cast<uint8_t>(s);
    return r;
  }
  Reg times_plus(Operand a, uint32_t by, Operand c) {
    return b_.make(Op::add, Type::u32, {b_.make(Op::mul, Type::u32, {a, imm(by)}), c});
  }
  /// Where this thread's entry lies in the launch's record.
  Reg entry(uint64_t base, uint64_t stride) {
    const Reg plane = times_plus(special(SReg::ctaid_z), grid_.y, special(SReg::ctaid_y));
    const Reg group = times_plus(plane, grid_.x, special(SReg::ctaid_x));
    const Reg thread =
        times_plus(group, static_cast<uint32_t>(block_.total()), special(SReg::linear_tid));
    const Reg offset = b_.reg(Width::b64);
    b_.emit(Op::mulwide, Type::u32, {offset}, {thread, imm(stride)});
    return b_.make(Op::add, Type::u64, {offset, imm(base)});
  }

  ir::Mem slot(Width width, size_t position) {
    ir::Mem m;
    m.space = ir::Space::code;
    m.elem = width == Width::b64 ? Type::u64 : Type::u32;
    m.offset = static_cast<int64_t>(8 * position);
    return m;
  }
  void load(Reg to, Width width, Reg base, size_t position) {
    const Reg raw = width == Width::pred ? b_.reg(Width::b32) : to;
    b_.emit(Op::load, Type::none, {raw}, {base}).mem = slot(width, position);
    if (width == Width::pred) b_.emit(Op::icmp, Type::u32, {to}, {raw, imm(0)}).cond = ir::Cond::ne;
  }

  bool is_set(uint32_t reg) const {
    return std::ranges::any_of(h_.in, [&](const RegisterPart& p) {
      return p.ir_name == p_.regs[reg].name && p.width == p_.regs[reg].width;
    });
  }
  bool written_by_entry(uint32_t reg) const {
    return std::ranges::any_of(p_.blocks[0].insts, [&](const ir::Inst& i) {
      return std::ranges::find(i.dst, Reg{reg}) != i.dst.end();
    });
  }

  void zero_registers() {
    for (uint32_t n = 0; n < guest_regs_; ++n) {
      if (p_.regs[n].name.empty() || is_set(n) || written_by_entry(n)) continue;
      const Width w = p_.regs[n].width;
      const Type type = w == Width::pred ? Type::pred : w == Width::b64 ? Type::u64 : Type::u32;
      b_.emit(Op::mov, type, {Reg{n}}, {imm(0)});
    }
  }

  /// A pair of scalars that serves as a lane mask is a predicate, too.
  void refresh_mask(uint32_t reg) {
    const std::string name = p_.regs[reg].name;
    std::string low = "vcc_lo", high = "vcc_hi";
    if (name.starts_with("mask_s")) {
      low = name.substr(5);
      high = fmt::format("s{}", std::stoul(name.substr(6)) + 1);
    } else if (name != "vcc") {
      return;
    }
    const Reg pair = b_.reg(Width::b64);
    b_.emit(Op::pack64, Type::u64, {pair}, {find({low, Width::b32}), find({high, Width::b32})});
    b_.emit(Op::maskbit, Type::none, {Reg{reg}}, {pair});
  }

  void prologue(uint32_t body, uint32_t epilogue) {
    zero_registers();
    const Reg base = entry(0, h_.in_stride());
    for (size_t n = 0; n < h_.in.size(); ++n) load(find(h_.in[n]), h_.in[n].width, base, n + 1);
    if (p_.isa == ir::Isa::gcn)
      for (uint32_t n = 0; n < guest_regs_; ++n)
        if (p_.regs[n].width == Width::pred) refresh_mask(n);
    if (!h_.partial) return b_.jump(body);
    if (p_.isa == ir::Isa::gcn) {
      load(find({"exec", Width::pred}), Width::pred, base, 0);
      return b_.jump(body);
    }
    const Reg active = b_.reg(Width::pred);
    load(active, Width::pred, base, 0);
    b_.branch({active, false}, body, epilogue);
  }

  void store_registers() {
    const Reg base = entry(h_.out_at, h_.out_stride());
    for (size_t n = 0; n < h_.out.size(); ++n) {
      const Width w = h_.out[n].width;
      Operand value = find(h_.out[n]);
      if (w == Width::pred) value = b_.make(Op::select, Type::u32, {value, imm(1), imm(0)});
      b_.emit(Op::store, Type::none, {}, {base, value}).mem = slot(w, n + 1);
    }
    b_.emit(Op::store, Type::none, {}, {base, imm(1)}).mem = slot(Width::b32, 0);
  }

  ir::Program& p_;
  ir::Builder b_;
  const HiddenRegisters& h_;
  const Dim3 grid_, block_;
  const size_t guest_regs_;
};

}  // namespace

size_t HiddenRegisters::add(std::vector<RegisterPart>& list, const RegisterPart& part) {
  const auto it = std::ranges::find(list, part.ir_name, &RegisterPart::ir_name);
  if (it != list.end()) return static_cast<size_t>(it - list.begin());
  list.push_back(part);
  return list.size() - 1;
}

void wrap(ir::Program& program, const HiddenRegisters& hidden, const Dim3& grid,
          const Dim3& block) {
  Wrapper(program, hidden, grid, block).run();
}

}  // namespace lanewise::script
