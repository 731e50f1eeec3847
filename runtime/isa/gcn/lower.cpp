// Kernels to programs: initial registers, blocks, branches; the rest is in the table's functions.
#include <fmt/format.h>

#include "runtime/isa/gcn/hazards.hpp"
#include "runtime/isa/gcn/semantics.hpp"

namespace lanewise::gcn {

void lower_branch(LowerContext&, const Instruction&) {}
void lower_end(LowerContext&, const Instruction&) {}

namespace {

using ir::imm;
using ir::Op;
using ir::Reg;
using ir::SReg;
using ir::Type;
using ir::Width;

class KernelLowering {
 public:
  KernelLowering(const Kernel& kernel, Gen gen, const LowerOptions& options,
                 std::vector<Diagnostic>& out)
      : kernel_(kernel),
        options_(options),
        analysis_(analyse(kernel, options)),
        constants_in_(constants_in(kernel, analysis_)),
        context_(program_, kernel, analysis_, gen),
        out_(out) {
    program_.name = kernel.name;
    program_.isa = ir::Isa::gcn;
    program_.wave_lanes = 64;
    program_.params = kernel.params;
    program_.param_bytes = kernel.kernarg_bytes;
    program_.shared_bytes = kernel.group_bytes;
    program_.needs.hidden = kernel.hidden;
  }

  ir::Program run() {
    const uint32_t entry = context_.b.add_block("entry");
    for (const BasicBlock& b : analysis_.blocks) context_.b.add_block(label_at(b.begin));
    exit_ = context_.b.add_block("exit");
    context_.b.set_block(exit_);
    context_.b.exit();
    context_.b.set_block(entry);
    initial_state();
    context_.b.jump(1);
    for (size_t n = 0; n < analysis_.blocks.size(); ++n) block(n);
    for (Diagnostic& d : hazards(kernel_, analysis_)) out_.push_back(std::move(d));
    return std::move(program_);
  }

 private:
  void error(const Instruction& i, const std::string& message) {
    out_.push_back({i.line, i.column, message, false});
  }
  std::string label_at(size_t n) const {
    for (const Label& l : kernel_.labels)
      if (l.index == n) return l.name;
    return fmt::format("pc_{:x}", kernel_.code[n].pc);
  }
  uint32_t ir_block(size_t instruction) const {
    if (instruction >= kernel_.code.size()) return exit_;
    return static_cast<uint32_t>(analysis_.block_of[instruction] + 1);
  }

  Reg special(SReg s, Type type) {
    const Reg r = context_.b.reg(width_of(type));
    context_.b.emit(Op::sreg, type, {r}, {}).mode = static_cast<uint8_t>(s);
    return r;
  }
  /// Somebody reads the value that the register has at the start.
  bool is_read(int reg) const {
    return reg >= 0 && analysis_.blocks[0].live_in.test(static_cast<size_t>(reg));
  }
  void initial_sgpr(int at, SReg s) {
    if (at >= 0) context_.write32(static_cast<unsigned>(at), special(s, Type::u32));
  }
  void initial_state() {
    const InitialState& s = kernel_.state;
    if (s.kernarg_ptr >= 0)
      context_.write64(static_cast<unsigned>(s.kernarg_ptr), special(SReg::param_base, Type::u64));
    initial_sgpr(s.workgroup_id[0], SReg::ctaid_x);
    initial_sgpr(s.workgroup_id[1], SReg::ctaid_y);
    initial_sgpr(s.workgroup_id[2], SReg::ctaid_z);
    static constexpr SReg kIds[] = {SReg::tid_x, SReg::tid_y, SReg::tid_z};
    for (unsigned n = 0; n < std::min(s.workitem_ids, 3U); ++n)
      context_.b.emit(Op::sreg, Type::u32, {context_.vgpr(kVgpr0 + n)}, {}).mode =
          static_cast<uint8_t>(kIds[n]);
    context_.b.emit(Op::mov, Type::pred, {context_.exec()}, {imm(1)});
    infer_parameters();
    lower_launch_state(context_, [&](int reg) { return is_read(reg); });
  }

  /// Without metadata the argument block reaches as far as loads from its pointer do.
  void infer_parameters() {
    if (program_.param_bytes != 0) return;
    for (const Instruction& i : kernel_.code) {
      if (i.row->lower != lower_sload || !i.operands[2].immediate) continue;
      if (static_cast<int>(i.operands[1].code) != kernel_.state.kernarg_ptr) continue;
      program_.param_bytes = std::max(
          program_.param_bytes, static_cast<uint32_t>(scalar_offset(i.operands[2], kernel_.gen)) +
                                    4U * i.operands[0].count);
    }
  }

  void block(size_t n) {
    const BasicBlock& b = analysis_.blocks[n];
    context_.b.set_block(static_cast<uint32_t>(n + 1));
    context_.stale = b.stale_in;
    context_.exec_full = b.exec_full_in;
    context_.constants = constants_in_[n];
    for (size_t i = b.begin; i < b.end; ++i) instruction(b, i);
    if (!ends_block(kernel_.code[b.end - 1])) context_.b.jump(ir_block(b.end));
  }

  bool live_after(const BasicBlock& b, size_t index, unsigned code) const {
    return gcn::live_after(kernel_, b, index, code);
  }
  bool mask_live_after(const BasicBlock& b, size_t index) const {
    const Operand* pair = kernel_.code[index].operand(Slot::mask_dst);
    return pair != nullptr &&
           (live_after(b, index, pair->code) || live_after(b, index, pair->code + 1));
  }

  void instruction(const BasicBlock& b, size_t index) {
    const Instruction& i = kernel_.code[index];
    program_.sites.push_back({i.line, i.pc, i.text.empty() ? print(i) : i.text, {}, 0});
    context_.b.set_site(static_cast<uint32_t>(program_.sites.size() - 1));
    context_.scc_live = options_.keep_scc || live_after(b, index, kScc);
    context_.mask_live = mask_live_after(b, index);
    try {
      if (i.row->lower == nullptr) throw Unsupported(i.row->name + " is not supported yet");
      if (i.row->lower == lower_end)
        context_.b.jump(exit_);
      else if (i.row->lower == lower_branch)
        branch(index);
      else if (i.form != Form::plain)
        lower_lane_form(context_, i);
      else
        i.row->lower(context_, i);
    } catch (const Unsupported& e) {
      error(i, e.what());
    }
    context_.widen();
    for (std::string& w : context_.warnings) out_.push_back({i.line, i.column, std::move(w), true});
    context_.warnings.clear();
    step_stale(i, context_.stale);
    step_constants(i, context_.constants);
    if (effects(i).writes.test(kExecLo)) context_.exec_full = false;
  }

  void branch(size_t index) {
    const Instruction& i = kernel_.code[index];
    const size_t target = branch_target(kernel_, index);
    if (target == std::string::npos)
      return error(i, fmt::format("branch target is not an instruction of '{}'", kernel_.name));
    const Meaning& m = i.row->meaning;
    if (m.count == 0) return context_.b.jump(ir_block(target));
    const uint32_t taken = ir_block(target), otherwise = ir_block(index + 1);
    const bool when_zero = m.cond == ir::Cond::eq;
    // Skipping instructions that no lane would execute is only a short cut, and one that needs a
    // look at the other lanes: where nothing depends on it, it is left out.
    if (m.count == kExecz && when_zero && may_fall_through(kernel_, analysis_, index))
      return context_.b.jump(otherwise);
    context_.b.branch({condition(m.count), when_zero}, taken, otherwise, true);
  }
  /// True when scc is set, or when vcc or exec is not zero.
  Reg condition(unsigned what) {
    if (what == kScc) return context_.scc();
    if (what == kExecz) return context_.any_lane(context_.exec());
    if (context_.stale.test(kVccLo)) return context_.any_lane(context_.mask(kVccLo));
    const Reg whole = context_.b.reg(Width::b64);
    context_.b.emit(Op::pack64, Type::u64, {whole},
                    {context_.sgpr(kVccLo), context_.sgpr(kVccLo + 1)});
    return context_.compare(ir::Cond::ne, Type::u64, whole, imm(0));
  }

  const Kernel& kernel_;
  const LowerOptions& options_;
  ir::Program program_;
  Analysis analysis_;
  std::vector<ScalarConstants> constants_in_;
  LowerContext context_;
  std::vector<Diagnostic>& out_;
  uint32_t exit_ = 0;
};

}  // namespace

LowerResult lower(const Listing& listing, const LowerOptions& options) {
  LowerResult result;
  result.module.isa = ir::Isa::gcn;
  result.module.target = std::string(name(listing.gen));
  for (const Kernel& k : listing.kernels) {
    std::vector<Diagnostic> found;
    ir::Program program = KernelLowering(k, listing.gen, options, found).run();
    isa::keep_or_reject(result, std::move(program), std::move(found));
  }
  return result;
}

}  // namespace lanewise::gcn
