// From one instruction to the file that knows its kind.
#include <fmt/format.h>

#include <unordered_map>

#include "runtime/ir/dot.hpp"
#include "runtime/ir/signature.hpp"
#include "runtime/ir/text.hpp"
#include "runtime/spirv/lane/emitter.hpp"
#include "runtime/support/enum_set.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::spirv {
namespace {

using ir::Op;
using ir::Type;

/// Operations that do not look at the sign: the library has one function for both signednesses.
bool sign_agnostic(Op op) {
  static constexpr EnumSet<Op> kSignless{Op::add, Op::sub,  Op::mul,  Op::neg, Op::and_,
                                         Op::or_, Op::xor_, Op::not_, Op::shl, Op::popc,
                                         Op::clz, Op::brev, Op::bfi};
  return kSignless.has(op);
}

Type unsigned_of(Type type) {
  return ir::is_signed(type) ? static_cast<Type>(static_cast<uint8_t>(type) - 1) : type;
}
static_assert(static_cast<uint8_t>(Type::s64) == static_cast<uint8_t>(Type::u64) + 1);

/// Operations whose library name carries no type.
bool untyped(Op op) {
  return op == Op::prmt || op == Op::shf_l || op == Op::shf_r || op == Op::lop3;
}
/// Float results and operands: the function takes a last word with rounding, ftz and sat.
bool takes_flags(Op op) {
  return op >= Op::fadd && op <= Op::ftanh_approx;
}
bool takes_cond(Op op) {
  return op == Op::icmp || op == Op::fcmp;
}

/// The flag word of float calls.
uint32_t float_flags(const ir::Inst& inst) {
  const bool nan_wins = (inst.op == Op::fmin || inst.op == Op::fmax) &&
                        inst.mode == static_cast<uint8_t>(ir::ExtremeMode::nan);
  return static_cast<uint32_t>(inst.round) | (inst.ftz ? host_shader::FTZ : 0U) |
         (inst.sat ? host_shader::SAT : 0U) | (nan_wins ? host_shader::NAN_WINS : 0U);
}

std::string library_name(const ir::Inst& inst) {
  std::string text = fmt::format("lw_{}", ir::text::op_name(inst.op));
  if (untyped(inst.op)) return text;
  text += fmt::format("_{}", ir::name(sign_agnostic(inst.op) ? unsigned_of(inst.type) : inst.type));
  if (inst.op == Op::f2f || inst.op == Op::f2i || inst.op == Op::i2f)
    text += fmt::format("_{}", ir::name(inst.from));
  return text;
}

}  // namespace

const NativeRow* find_native(const LaneEmitter& emitter, const ir::Inst& inst) {
  // Rows of one operation, in the tables' order; the first that applies is taken.
  static const auto kIndex = [] {
    std::unordered_map<ir::Op, std::vector<const NativeRow*>> index;
    for (NativeTable& table :
         {own_rows, float_rows, quick_rows, convert_rows, integer_rows, move_rows})
      for (const NativeRow& row : table) index[row.op].push_back(&row);
    return index;
  }();
  const auto rows = kIndex.find(inst.op);
  if (rows == kIndex.end()) return nullptr;
  for (const NativeRow* row : rows->second)
    if ((row->types & bit(inst.type)) != 0 && (row->when == nullptr || row->when(emitter)))
      return row;
  return nullptr;
}

Values LaneEmitter::pure_library() {
  Ids args;
  for (size_t i = 0; i < inst_->src.size(); ++i) args.push_back(src(i));
  if (untyped(inst_->op)) args.push_back(m_.u(inst_->mode));
  if (takes_cond(inst_->op)) args.push_back(m_.u(static_cast<uint32_t>(inst_->cond)));
  if (takes_flags(inst_->op)) args.push_back(m_.u(float_flags(*inst_)));
  if (inst_->dst.size() > 1) unsupported("no native form and the library cannot give two results");
  return {library(library_name(*inst_), m_.type_of(*ir::result_width(*inst_, 0)), args)};
}

/// The library makes one sum; the rule says how many there are.
LaneEmitter::DotSteps LaneEmitter::dot_steps() const {
  const bool integer = inst_->type == Type::s32;
  const ir::DotRule rule = ir::dot_rule(static_cast<uint32_t>(inst_->src[1].imm));
  const bool chain = !integer && rule.fraction == 0;
  // Code of several slots, or of lanes one after another, is a CPU's.
  const bool flat = masked() && shape_.lanes_per_invocation == 1;
  const uint32_t step = integer || chain ? ir::kDotWords : rule.words;
  return {.total = rule.total,
          .words = std::min<uint32_t>(step, rule.total),
          .flags = integer ? (inst_->sat ? host_shader::SAT : 0U)
                           : rule.fraction | uint32_t{rule.kept} << 8,
          .function = fmt::format("lw_dot{}{}_{}", chain ? "_chain" : "", flat ? "_flat" : "",
                                  ir::name(inst_->type))};
}

/// Word `n` of both factors' words, 8 of each, in a step.
Id LaneEmitter::dot_word(const DotSteps& steps, uint32_t step, uint32_t n) {
  const uint32_t word = n % ir::kDotWords, at = step * steps.words + word;
  if (word >= steps.words || at >= steps.total) return m_.u(0);
  return src(2 + n - word + at);
}

Id LaneEmitter::dot_call(const DotSteps& steps, Id sum, const Ids& factors) {
  Ids args{sum};
  args.insert(args.end(), factors.begin(), factors.end());
  for (const uint32_t known : {steps.words, uint32_t{inst_->mode}, steps.flags})
    args.push_back(m_.u(known));
  return library(steps.function, m_.uint_type, args);
}

Values LaneEmitter::dot() {
  const DotSteps steps = dot_steps();
  Id sum = src(0);
  for (uint32_t step = 0; step * steps.words < steps.total; ++step) {
    Ids factors;
    for (uint32_t n = 0; n < 2 * ir::kDotWords; ++n) factors.push_back(dot_word(steps, step, n));
    sum = dot_call(steps, sum, factors);
  }
  return {sum};
}

void LaneEmitter::emit_pure() {
  switch (inst_->op) {
    case Op::dot:
      return set_results(dot());
    case Op::sreg:
      return set_results(special_register());
    case Op::buffer_address:
      return set_results(buffer_address());
    case Op::fmt_bytes:
    case Op::fmt_legal:
    case Op::fmt_unpack:
    case Op::fmt_pack:
    case Op::srgb:
      return set_results(buffer_format());
    default:
      break;
  }
  set_results(pure_values());
}

Values LaneEmitter::pure_values() {
  const NativeRow* row = find_native(*this, *inst_);
  return row != nullptr ? row->emit(*this, row->code) : pure_library();
}

void LaneEmitter::emit(const ir::Inst& instruction) {
  inst_ = &instruction;
  if (options_.trace_bits != 0 && instruction.event != 0) emit_event();
  switch (ir::info(instruction.op).trait) {
    case ir::OpTrait::pure:
      return emit_pure();
    case ir::OpTrait::mem:
      return emit_memory();
    case ir::OpTrait::sync:
      return instruction.op == Op::fence ? fence() : emit_barrier();
    case ir::OpTrait::effect:
      if (instruction.op == Op::async_note) return;
      return instruction.op == Op::report ? emit_report() : emit_trap();
    case ir::OpTrait::wave:
      return emit_wave();
  }
}

}  // namespace lanewise::spirv
