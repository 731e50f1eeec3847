#include "runtime/ir/passes/passes.hpp"
#include "runtime/ir/signature.hpp"

namespace lanewise::ir {
namespace {

class Binder {
 public:
  Binder(Program& program, const std::function<uint64_t(const Symbol&)>& address_of)
      : program_(program), address_of_(address_of), known_(program.symbols.size()) {}

  void run() {
    for (Block& block : program_.blocks) {
      for (Inst& inst : block.insts) bind(inst);
      bind(block.term.selector, Width::b32);
    }
  }

 private:
  void bind(Inst& inst) {
    for (size_t i = 0; i < inst.src.size(); ++i) {
      bind(inst.src[i], source_width(inst, i).value_or(Width::b64));
    }
    if (inst.mem) bind(inst.mem->cache.hint, Width::b64);
  }

  void bind(Operand& operand, Width width) {
    if (operand.kind != Operand::Kind::symbol) return;
    auto& address = known_.at(operand.index);
    if (!address) address = address_of_(program_.symbols[operand.index]);
    // A 32-bit place takes the low half, as the guest's own relocations do.
    const uint64_t value = *address + operand.imm;
    operand = Operand::immediate(width == Width::b64 ? value : value & 0xffffffffU);
  }

  Program& program_;
  const std::function<uint64_t(const Symbol&)>& address_of_;
  std::vector<std::optional<uint64_t>> known_;
};

}  // namespace

void bind_symbols(Program& program, const std::function<uint64_t(const Symbol&)>& address_of) {
  Binder(program, address_of).run();
}

}  // namespace lanewise::ir
