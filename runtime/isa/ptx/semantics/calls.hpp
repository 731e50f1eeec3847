// What the lowering of calls shares.
#pragma once

#include "runtime/isa/known_value.hpp"
#include "runtime/isa/ptx/semantics/emit.hpp"

namespace lanewise::ptx {

struct CallSite {
  const Operand* target = nullptr;
  std::vector<const Operand*> results, args;
  const Operand* prototype = nullptr;
};

/// The .param variable that an operand names; null when it names none.
std::shared_ptr<ParamObject> object_of(Body& body, const Operand& o);
/// A word of an object in local memory. A load wants its destination, a store its value.
ir::Inst& word_access(Emit& e, const ParamObject& object, size_t word, bool store);
ir::Operand read_object(Emit& e, const ParamObject& object, PType type);
/// An argument of a function of the device runtime, which must have this type's size.
ir::Operand argument(Emit& e, const CallSite& call, size_t i, const char* function, PType type);
isa::KnownValues known_values(Emit& e);

/// `vprintf(format, arguments)` writes a record to the module's print buffer.
void call_vprintf(Emit& e, const CallSite& call);

}  // namespace lanewise::ptx
