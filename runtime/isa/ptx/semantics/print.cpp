// Calls of vprintf: what nvcc makes of printf.
#include <algorithm>

#include "runtime/isa/print_call.hpp"
#include "runtime/isa/ptx/semantics/calls.hpp"
#include "runtime/support/print_format.hpp"

namespace lanewise::ptx {
namespace {

/// The string that a register points to, where the program says so in so many words: the address of
/// a variable, moved from register to register.
std::optional<std::string> known_string(Emit& e, ir::Operand value) {
  const ir::Program& p = e.kernel.program;
  for (unsigned moves = 0; moves < 16; ++moves) {
    if (value.kind == ir::Operand::Kind::symbol) break;
    if (!value.is_reg()) return std::nullopt;
    const ir::Inst* only = nullptr;
    for (const ir::Block& block : p.blocks)
      for (const ir::Inst& i : block.insts)
        for (const ir::Reg r : i.dst) {
          if (r.id != value.index) continue;
          if (only != nullptr) return std::nullopt;
          only = &i;
        }
    if (only == nullptr || !only->guard.always()) return std::nullopt;
    const bool parts = only->op == ir::Op::unpack64 || only->op == ir::Op::pack64;
    if (only->op != ir::Op::mov && !parts) return std::nullopt;
    value = only->src[0];
  }
  if (value.kind != ir::Operand::Kind::symbol) return std::nullopt;
  const auto global = std::ranges::find(e.kernel.module.out.globals, p.symbols[value.index].name,
                                        &ir::Global::name);
  if (global == e.kernel.module.out.globals.end() || value.imm > global->init.size() ||
      !global->relocs.empty())
    return std::nullopt;
  std::string text;
  for (size_t at = value.imm; at < global->init.size() && global->init[at] != std::byte{0}; ++at)
    text += static_cast<char>(global->init[at]);
  return text;
}

ir::Operand pointer_argument(Emit& e, const CallSite& call, size_t i) {
  const auto object = object_of(e.body, *call.args[i]);
  if (object == nullptr) return e.raw(*call.args[i], kB64);
  if (object->size != 8) Emit::fail(call.args[i]->loc, "'vprintf' takes two pointers of 8 bytes");
  return read_object(e, *object, kB64);
}

}  // namespace

void call_vprintf(Emit& e, const CallSite& call) {
  if (call.args.size() != 2 || call.results.size() > 1)
    e.fail("'vprintf' takes two arguments and returns one, the call has " +
           std::to_string(call.args.size()) + " and " + std::to_string(call.results.size()));
  isa::PrintCall print;
  print.format = pointer_argument(e, call, 0);
  print.arguments = pointer_argument(e, call, 1);
  print.buffer = ir::Operand::address_of(e.kernel.symbol(std::string(guest::kPrintBuffer)));
  if (const auto format = known_string(e, print.format)) {
    const VariableArguments needs = variable_arguments(*format);
    print.words = static_cast<uint32_t>((needs.bytes + 3) / 4);
    print.returns = static_cast<uint32_t>(needs.count);
  }
  const ir::Reg count = isa::PrintCallEmitter(e.builder(), print).run();
  if (call.results.empty() || call.results[0]->kind == Operand::Kind::sink) return;
  const auto object = object_of(e.body, *call.results[0]);
  if (object == nullptr) return e.set(*call.results[0], kB32, count);
  if (object->size != 4) Emit::fail(call.results[0]->loc, "'vprintf' returns 4 bytes");
  if (!object->in_memory) return write_words(e, *object, 0, kB32, count);
  word_access(e, *object, 0, true).src.emplace_back(count);
}

}  // namespace lanewise::ptx
