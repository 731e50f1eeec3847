#include "runtime/api/program/policies_gcn.hpp"

#include <vector>

namespace lanewise::host::detail {
namespace {

/// What the policies in force change; everything false is what the front end makes.
struct Choices {
  bool unaligned, dword, nan_wins, offset32, lds_offset, lds_signed, start_only, soffset_swizzled;
  uint8_t format_bits = 0;

  explicit Choices(const Policies& p) {
    const auto is = [&](const char* name, const char* value) { return p.at(name) == value; };
    unaligned = is("gcn.align", "unaligned");
    dword = is("gcn.align", "dword");
    nan_wins = is("gcn.fminmax_nan", "nan");
    offset32 = is("gcn.index_mul", "32");
    lds_offset = is("gcn.lds_inst_offset", "on");
    lds_signed = is("gcn.lds_extend", "sign");
    start_only = is("gcn.payload_check", "start");
    soffset_swizzled = is("gcn.soffset", "before_swizzle");
    const auto format = [&](bool on, ir::FormatMode bit) {
      if (on) format_bits |= static_cast<uint8_t>(bit);
    };
    format(is("gcn.alpha_2_10_10_10", "signed"), ir::FormatMode::signed_alpha);
    format(is("gcn.float_narrow", "toward_zero"), ir::FormatMode::toward_zero);
    format(is("gcn.int_store", "truncate"), ir::FormatMode::truncate);
    format(is("gcn.missing_component", "zero"), ir::FormatMode::missing_zero);
    format(is("gcn.oor_format", "zero"), ir::FormatMode::out_of_range_zero);
  }
  bool any() const {
    return unaligned || dword || nan_wins || offset32 || lds_offset || lds_signed || start_only ||
           soffset_swizzled || format_bits != 0;
  }
};

class Rewriter {
 public:
  Rewriter(ir::Program& program, const Choices& choices)
      : program_(program), c_(choices), buffer_address_(program.regs.size()) {}

  void run() {
    for (ir::Block& block : program_.blocks)
      for (ir::Inst& inst : block.insts)
        if (inst.op == ir::Op::buffer_address) buffer_address_[inst.dst[0].id] = true;
    for (ir::Block& block : program_.blocks)
      for (ir::Inst& inst : block.insts) change(inst);
  }

 private:
  bool on_buffer(const ir::Inst& inst) const {
    return !inst.src.empty() && inst.src[0].is_reg() && buffer_address_[inst.src[0].reg().id];
  }

  /// The front end's masks that let everything through under the policies in force.
  bool opened(ir::Choice choice) const {
    return (c_.lds_offset && choice == ir::Choice::lds_offset_mask) ||
           (c_.lds_signed && choice == ir::Choice::lds_extend_mask);
  }

  void change(ir::Inst& inst) {
    switch (inst.op) {
      case ir::Op::buffer_address:
        return address(*inst.buffer);
      case ir::Op::fmt_pack:
      case ir::Op::fmt_unpack:
        inst.mode |= c_.format_bits;
        return;
      case ir::Op::load:
      case ir::Op::store:
        if (c_.unaligned && on_buffer(inst)) inst.mem->align = ir::AlignRule::any;
        if (c_.dword && inst.mem->align == ir::AlignRule::any)
          inst.mem->align = ir::AlignRule::force;
        return;
      case ir::Op::atom:
        if (c_.nan_wins && on_buffer(inst) && ir::is_float(inst.mem->atom_type)) inst.mode = 1;
        return;
      case ir::Op::mov:
        if (opened(static_cast<ir::Choice>(inst.mode)))
          inst.src[0] = ir::Operand::immediate(0xffffffff);
        return;
      default:
        return;
    }
  }

  /// An access whose first byte is in range is in range: as if it were one byte long.
  void address(ir::BufferAccess& b) const {
    if (c_.start_only) b.payload_bytes = 1;
    b.offset32 = c_.offset32;
    b.soffset_swizzled = c_.soffset_swizzled;
  }

  ir::Program& program_;
  const Choices& c_;
  std::vector<bool> buffer_address_;
};

}  // namespace

bool apply_gcn_policies(ir::Program& program, const Policies& complete) {
  const Choices choices(complete);
  if (!choices.any()) return false;
  Rewriter(program, choices).run();
  return true;
}

}  // namespace lanewise::host::detail
