// Calls of vprintf: what nvcc makes of printf.
#include "runtime/isa/print_call.hpp"
#include "runtime/isa/ptx/semantics/calls.hpp"

namespace lanewise::ptx {
namespace {

ir::Operand pointer_argument(Emit& e, const CallSite& call, size_t i) {
  return argument(e, call, i, "vprintf", kB64);
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
  if (const auto format = known_values(e).text(print.format))
    print.needs = variable_arguments(*format);
  else
    print.formats = isa::known_formats(
        e.kernel.module.out.globals, [&](const std::string& name, int64_t offset) {
          return ir::Operand::address_of(e.kernel.symbol(name), offset);
        });
  const ir::Reg count = isa::PrintCallEmitter(e.builder(), print).run();
  if (call.results.empty() || call.results[0]->kind == Operand::Kind::sink) return;
  const auto object = object_of(e.body, *call.results[0]);
  if (object == nullptr) return e.set(*call.results[0], kB32, count);
  if (object->size != 4) Emit::fail(call.results[0]->loc, "'vprintf' returns 4 bytes");
  if (!object->in_memory) return write_words(e, *object, 0, kB32, count);
  word_access(e, *object, 0, true).src.emplace_back(count);
}

}  // namespace lanewise::ptx
