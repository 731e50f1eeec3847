// Kernels to programs: initial registers, blocks, branches; the rest is in the table's functions.
#include <fmt/format.h>

#include <algorithm>

#include "lanewise/types.hpp"
#include "runtime/ir/passes/passes.hpp"
#include "runtime/isa/function_site.hpp"
#include "runtime/isa/gcn/lowering/analysis/lane_slots.hpp"
#include "runtime/isa/gcn/lowering/analysis/wave_step.hpp"
#include "runtime/isa/gcn/lowering/semantics.hpp"
#include "runtime/isa/gcn/rules/hazards.hpp"
#include "runtime/isa/gcn/rules/modifier_rules.hpp"
#include "runtime/isa/grid_workspace.hpp"
#include "runtime/isa/print_call.hpp"

namespace lanewise::gcn {

void lower_branch(LowerContext&, const Instruction&) {}
void lower_end(LowerContext&, const Instruction&) {}

namespace {

/// s_sendmsg of an interrupt.
bool wakes_host(const Instruction& i) {
  constexpr uint32_t kMessage = 15, kInterrupt = 1;
  return i.row->does(kSendsMessage) && (i.operands[0].value & kMessage) == kInterrupt;
}

class KernelLowering {
 public:
  KernelLowering(const Kernel& kernel, const Analysis& analysis, Gen gen,
                 const LowerOptions& options, std::vector<Diagnostic>& out)
      : kernel_(kernel),
        analysis_(analysis),
        constants_in_(constants_in(kernel, analysis_)),
        steps_(wave_steps(kernel, analysis_)),
        execz_asks_(execz_asks(kernel, analysis_, options)),
        context_(program_, kernel, analysis_, gen),
        out_(out) {
    program_.name = kernel.name;
    program_.isa = ir::Isa::gcn;
    program_.wave_lanes = 64;
    program_.params = kernel.params;
    program_.param_bytes = kernel.kernarg_bytes;
    program_.shared_bytes = kernel.group_bytes;
    program_.max_block = kernel.max_block;
    program_.needs.hidden = kernel.hidden;
  }

  ir::Program run() {
    const uint32_t entry = context_.add_block("entry");
    for (const BasicBlock& b : analysis_.blocks) context_.add_block(label_at(b.begin));
    exit_ = context_.add_block("exit");
    context_.set_block(exit_);
    context_.exit();
    context_.set_block(entry);
    initial_state();
    context_.jump(1);
    for (size_t n = 0; n < analysis_.blocks.size(); ++n) block(n);
    for (Diagnostic& d : hazards(kernel_, analysis_)) out_.push_back(std::move(d));
    return std::move(program_);
  }

 private:
  void error(const Instruction& i, const std::string& message) {
    out_.push_back(diagnostic(kernel_, i, message, false));
  }
  std::string label_at(size_t n) const {
    for (const Label& l : kernel_.labels)
      if (l.index == n) return l.name;
    return fmt::format("pc_{:x}", place_of(n));
  }
  /// From the kernel's begin; of the functions behind it, from that of their section.
  uint64_t place_of(size_t n) const {
    const bool own = kernel_.functions.empty() || n < kernel_.functions[0].index;
    return kernel_.code[n].pc + (own ? 0 : kernel_.base - kernel_.text);
  }
  /// Null in the kernel's own code.
  const Label* function_of(size_t n) const {
    const auto behind = std::ranges::upper_bound(kernel_.functions, n, {}, &Label::index);
    return behind == kernel_.functions.begin() ? nullptr : &*std::prev(behind);
  }
  std::string declared_name(const Label& function) {
    std::string& text = function_sites_[function.index];
    if (!text.empty()) return text;
    isa::FunctionSite site{function.name, place_of(function.index), {}};
    for (const auto& [from, targets] : analysis_.calls.targets) {
      if (std::ranges::find(targets, function.index) == targets.end()) continue;
      const Label* caller = function_of(from);
      site.callers.insert(caller != nullptr ? caller->name : kernel_.name);
    }
    return text = site.text();
  }
  uint32_t ir_block(size_t instruction) const {
    if (instruction >= kernel_.code.size()) return exit_;
    return static_cast<uint32_t>(analysis_.block_of[instruction] + 1);
  }

  /// Somebody reads the value that the register has at the start.
  bool is_read(int reg) const {
    return reg >= 0 && analysis_.blocks[0].live_in.test(static_cast<size_t>(reg));
  }
  void initial_sgpr(int at, SReg s) {
    if (at >= 0) context_.write32(static_cast<unsigned>(at), context_.special(s));
  }
  void initial_state() {
    const InitialState& s = kernel_.state;
    if (s.kernarg_ptr >= 0)
      context_.write64(static_cast<unsigned>(s.kernarg_ptr),
                       context_.special(SReg::param_base, Type::u64));
    initial_sgpr(s.workgroup_id[0], SReg::ctaid_x);
    initial_sgpr(s.workgroup_id[1], SReg::ctaid_y);
    initial_sgpr(s.workgroup_id[2], SReg::ctaid_z);
    static constexpr SReg kIds[] = {SReg::tid_x, SReg::tid_y, SReg::tid_z};
    for (unsigned n = 0; n < std::min(s.workitem_ids, 3U); ++n)
      context_.emit(Op::sreg, Type::u32, {context_.vgpr(kVgpr0 + n)}, {}).mode =
          static_cast<uint8_t>(kIds[n]);
    context_.emit(Op::mov, Type::pred, {context_.exec()}, {imm(1)});
    infer_parameters();
    lower_launch_state(context_, [&](int reg) { return is_read(reg); });
  }

  /// Without metadata the argument block reaches as far as loads from its pointer do.
  void infer_parameters() {
    if (program_.param_bytes != 0) return;
    for (const Instruction& i : kernel_.code) {
      const Operand* base = i.operand(Slot::sbase);
      const bool load = i.row->kind == Kind::load && base != nullptr && base->count == 2;
      if (!load || !i.operands[2].immediate) continue;
      if (static_cast<int>(i.operands[1].code) != kernel_.state.kernarg_ptr) continue;
      program_.param_bytes = std::max(
          program_.param_bytes, static_cast<uint32_t>(scalar_offset(i.operands[2], kernel_.gen)) +
                                    4U * i.operands[0].count);
    }
  }

  void block(size_t n) {
    const BasicBlock& b = analysis_.blocks[n];
    context_.set_block(static_cast<uint32_t>(n + 1));
    // Data may stand where no way leads.
    const bool has_data =
        std::ranges::any_of(kernel_.code.begin() + static_cast<std::ptrdiff_t>(b.begin),
                            kernel_.code.begin() + static_cast<std::ptrdiff_t>(b.end),
                            [](const Instruction& i) { return i.row->kind == Kind::data; });
    if (!b.reached && (has_data || !kernel_.functions.empty())) return context_.jump(exit_);
    context_.stale = b.stale_in;
    context_.exec_full = b.exec_full_in;
    context_.constants = constants_in_[n];
    live_ = live_behind(kernel_, analysis_, b);
    numbers_ = numbers_behind(kernel_, analysis_, b);
    for (size_t i = b.begin; i < b.end; ++i) instruction(b, i);
    if (!ends_block(kernel_.code[b.end - 1])) context_.jump(ir_block(b.end));
  }

  bool live_after(const BasicBlock& b, size_t index, unsigned code) const {
    return live_[index - b.begin].test(code);
  }
  bool mask_live_after(const BasicBlock& b, size_t index) const {
    const Instruction& i = kernel_.code[index];
    const auto live = [&](unsigned first) {
      return live_after(b, index, first) || live_after(b, index, first + 1);
    };
    const Operand* pair = i.operand(Slot::mask_dst);
    return (pair != nullptr && live(pair->code)) || (i.row->does(kWritesVcc) && live(kVccLo));
  }

  void instruction(const BasicBlock& b, size_t index) {
    const Instruction& i = kernel_.code[index];
    program_.sites.push_back(
        {i.line, place_of(index), i.text.empty() ? print(i, kernel_.gen) : i.text, {}, 0});
    if (const Label* f = function_of(index)) program_.sites.back().function = declared_name(*f);
    program_.sites.back().cache = cache_facts(i);
    context_.set_site(static_cast<uint32_t>(program_.sites.size() - 1));
    context_.index = index;
    context_.scc_live = analysis_.scc_live[index];
    context_.numbers = numbers_[index - b.begin];
    context_.mask_live = mask_live_after(b, index);
    const auto unread = analysis_.unread_bits.find(index);
    context_.unread_bits.reset();
    if (unread != analysis_.unread_bits.end()) context_.unread_bits.set(unread->second);
    constexpr uint32_t kWholeWave = 0xffffffff;
    if (steps_[index]) context_.emit(Op::wave_sync, Type::none, {}, {imm(kWholeWave)});
    try {
      carry_out(index);
    } catch (const Unsupported& e) {
      error(i, e.what());
    }
    context_.widen();
    for (std::string& w : context_.warnings) out_.push_back(diagnostic(kernel_, i, w, true));
    context_.warnings.clear();
    step_stale(i, context_.stale);
    step_constants(i, context_.constants);
    if (effects(i).writes.test(kExecLo)) context_.exec_full = false;
  }

  void carry_out(size_t index) {
    const Instruction& i = kernel_.code[index];
    const auto& problems = analysis_.calls.problems;
    if (const auto problem = problems.find(index); problem != problems.end())
      throw Unsupported(problem->second);
    switch (i.row->kind) {
      case Kind::data:
        throw Unsupported(nameless(i, kernel_.gen));
      case Kind::absent:
        if (wakes_host(i)) return;  // which looks by itself (runtime/host/hip/hostcall.hpp)
        // Compilers place the semaphore of cooperative launches into kernels that never come there.
        if (is_of_global_share(*i.row)) {
          if (const std::string problem = modifier_problem(i, kernel_.gen); !problem.empty())
            throw Unsupported(problem);
          return illegal();
        }
        throw Unsupported(i.row->name + " is not executed");
      case Kind::call:
      case Kind::jump:
        return go(index);
      case Kind::address:
        return context_.write64(i.operand(Slot::sdst)->code, image_address(index));
      case Kind::end:
        return context_.jump(exit_);
      case Kind::branch:
        return branch(index);
      default:
        break;
    }
    if (!i.row->runs()) throw Unsupported(i.row->name + " is not supported yet");
    if (const std::string problem = operand_problem(i, kernel_.gen); !problem.empty())
      throw Unsupported(problem);
    const auto indexed = analysis_.indexed.find(index);
    if (indexed == analysis_.indexed.end()) return compute(i);
    lower_indexed(context_, i, indexed->second, [&](const Instruction& plain) { compute(plain); });
  }
  void compute(const Instruction& i) {
    if (i.form != Form::plain) return lower_lane_form(context_, i);
    i.omod != 0 ? lower_scaled_output(context_, i) : i.row->lower(context_, i);
  }

  /// The guest's address behind the instruction.
  ir::Operand image_address(size_t index) {
    return context_.image_at(address_behind(kernel_, index));
  }

  /// The address behind a call is kept before the path is looked for.
  void go(size_t index) {
    const Instruction& i = kernel_.code[index];
    const CallTargets& calls = analysis_.calls;
    const auto found = calls.targets.find(index);
    if (found == calls.targets.end()) return context_.jump(exit_);  // nothing comes here
    const std::vector<size_t>& targets = found->second;
    const bool certain = calls.certain.contains(index);
    const ir::Operand to = context_.read64(*i.operand(Slot::ssrc0));
    const Reg selector = certain ? Reg() : place_in_image(to);
    if (const Operand* back = i.operand(Slot::sdst))
      context_.write64(back->code, image_address(index));
    if (certain) return context_.jump(ir_block(targets[0]));
    ir::Terminator t;
    t.kind = ir::Terminator::Kind::switch_;
    t.selector = selector;
    for (const size_t n : targets) {
      t.cases.push_back(static_cast<uint32_t>(kernel_.base + kernel_.code[n].pc));
      t.targets.push_back(ir_block(n));
    }
    t.targets.push_back(lost());
    t.uniform = true;
    context_.terminate(std::move(t));
  }
  /// Of a whole address: what lies outside of the image is at no place in it.
  Reg place_in_image(ir::Operand address) {
    const Reg inside = context_.make(Op::sub, Type::u64, {address, context_.image_at(0)});
    const auto [low, high] = context_.unpack(inside);
    const Reg near = context_.compare(Cond::eq, Type::u32, high, imm(0));
    return context_.make(Op::select, Type::u32, {near, low, imm(0xffffffff)});
  }
  void illegal() { context_.trap(FaultKind::illegal_instruction); }
  /// Where lanes end whose address is none of those that are known here.
  uint32_t lost() {
    const uint32_t here = context_.block(), block = context_.add_block("lost");
    context_.set_block(block);
    illegal();
    context_.exit();
    context_.set_block(here);
    return block;
  }

  void branch(size_t index) {
    const Instruction& i = kernel_.code[index];
    const size_t target = branch_target(kernel_, index);
    if (target == std::string::npos)
      return error(i, fmt::format("branch target is not an instruction of '{}'", kernel_.name));
    const Meaning& m = i.row->meaning;
    if (m.count == 0) return context_.jump(ir_block(target));
    const uint32_t taken = ir_block(target), otherwise = ir_block(index + 1);
    const bool when_zero = m.cond == Cond::eq;
    // Skipping instructions that no lane would execute is often only a short cut, and one that
    // needs a look at the other lanes: where nothing depends on it, it is left out.
    if (m.count == kExecz) {
      const ExeczAsks asked = execz_asks_.at(index);
      if (asked == ExeczAsks::nobody) return context_.jump(otherwise);
      if (asked == ExeczAsks::lane)
        return context_.branch({context_.exec(), when_zero}, taken, otherwise, false);
    }
    const bool own_answer = m.count == kVccz && execz_asks_.contains(index);
    if (own_answer)
      return context_.branch({context_.mask(kVccLo), when_zero}, taken, otherwise, false);
    context_.branch({condition(index), when_zero}, taken, otherwise, true);
  }
  /// True when scc is set, or when vcc or exec is not zero.
  Reg condition(size_t index) {
    const unsigned what = kernel_.code[index].row->meaning.count;
    if (what == kScc) return context_.scc();
    if (what == kExecz) return context_.any_lane(context_.exec());
    const bool stale = context_.stale.test(kVccLo) || context_.stale.test(kVccLo + 1);
    if (stale && !analysis_.asks_number[index]) return context_.any_lane(context_.mask(kVccLo));
    const Reg whole = context_.reg(Width::b64);
    context_.emit(Op::pack64, Type::u64, {whole},
                  {context_.sgpr(kVccLo), context_.sgpr(kVccLo + 1)});
    return context_.compare(Cond::ne, Type::u64, whole, imm(0));
  }

  const Kernel& kernel_;
  ir::Program program_;
  const Analysis& analysis_;
  std::vector<ScalarConstants> constants_in_;
  std::vector<bool> steps_;                 ///< instructions before which the wave comes together
  std::map<size_t, ExeczAsks> execz_asks_;  ///< of branches on EXEC, and VCC as a lane's answer
  std::vector<ScalarSet> live_, numbers_;   ///< behind each instruction of the block in work
  LowerContext context_;
  std::vector<Diagnostic>& out_;
  uint32_t exit_ = 0;
  std::map<size_t, std::string> function_sites_;  ///< by the function's first instruction
};

/// Why no launch could have these arguments; empty when one could. Metadata may say anything.
std::string unusable_arguments(const Kernel& k) {
  constexpr uint32_t kMostBytes = 64 << 10;
  if (k.kernarg_bytes > kMostBytes)
    return fmt::format("kernel '{}' takes {} bytes of arguments, expected at most {}", k.name,
                       k.kernarg_bytes, kMostBytes);
  for (const ir::Param& p : k.params)
    if (uint64_t{p.offset} + p.size > k.kernarg_bytes)
      return fmt::format(
          "argument '{}' of kernel '{}' ({} bytes at {}) lies outside its {} bytes of arguments",
          p.name, k.name, p.size, p.offset, k.kernarg_bytes);
  return {};
}

/// Lanes that go their own ways where EXEC is asked for are worth it only if the kernel looks at no
/// other lanes at all: then a device needs no waves for it. Otherwise the wave goes together. So it
/// does in small kernels, which compile in time either way: where a device's waves are the guest's,
/// loops that the whole wave leaves at once are the faster ones.
ir::Program lower_kernel(const Kernel& kernel, const CallTargets& calls, Gen gen,
                         LowerOptions options, std::vector<Diagnostic>& found) {
  constexpr size_t kSmall = 200;  // instructions
  options.by_lane = options.by_lane || kernel.code.size() > kSmall;
  options.partial_exec = options.partial_exec || wants_whole_waves(kernel);
  Analysis analysis = analyse(kernel, calls, options);
  const std::vector<Diagnostic> before = found;
  ir::Program program = KernelLowering(kernel, analysis, gen, options, found).run();
  if (!options.by_lane || !ir::has_wave_ops(program)) return program;
  found = before;
  options.by_lane = false;
  if (analysis.only_by_lane) analysis = analyse(kernel, calls, options);
  return KernelLowering(kernel, analysis, gen, options, found).run();
}

}  // namespace

LowerResult lower(const Listing& listing, const LowerOptions& options) {
  LowerResult result;
  result.module.isa = ir::Isa::gcn;
  result.module.target = std::string(name(listing.gen));
  bool uses_image = false;
  for (const Kernel& k : listing.kernels) {
    std::vector<Diagnostic> found = k.problems;
    const std::string unusable = unusable_arguments(k);
    if (!unusable.empty()) found.push_back({1, 1, unusable, false});
    if (k.code.empty() || !unusable.empty()) {
      result.diagnostics.insert(result.diagnostics.end(), found.begin(), found.end());
      result.rejected.push_back({k.name, std::move(found)});
      continue;
    }
    Kernel whole = with_functions(k, listing);
    CallTargets calls = keep_reached(whole);
    whole.allocated_vgprs = std::max(whole.allocated_vgprs, options.vgprs);
    calls = use_scalars_for_lane_slots(whole, std::move(calls));
    ir::Program program = lower_kernel(whole, calls, listing.gen, options, found);
    uses_image = uses_image || (listing.image && isa::has_symbol(program, listing.image->name));
    if (std::ranges::find(k.hidden, "hidden_printf_buffer", &ir::Param::name) != k.hidden.end()) {
      program.needs.prints = !listing.print_formats.empty();
      program.needs.print_formats = listing.print_formats;
    }
    isa::keep_or_reject(result, std::move(program), std::move(found));
  }
  if (uses_image) result.module.globals.push_back(*listing.image);
  isa::add_print_buffer(result.module);
  isa::add_grid_workspace(result.module);
  return result;
}

}  // namespace lanewise::gcn
