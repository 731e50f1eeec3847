// Parts of the description of a memory access that several families share.
#pragma once

#include "runtime/isa/ptx/semantics/emit.hpp"

namespace lanewise::ptx {

ir::Scope scope_named(std::string_view name);
ir::AtomOp atomic_operation(std::string_view name);
ir::Order order_named(std::string_view name, ir::Order otherwise);
/// Elements of a `.vN` access, 1 without.
unsigned vector_elements(const Form& form);
/// Cache operator, eviction priorities, prefetch size and the policy operand.
ir::CachePolicy cache_policy(Emit& e, size_t plain_operands);
/// Space, offset and base of the access; checks constant offsets against the parameter's size.
ir::Operand apply_address(Emit& e, const Address& a, ir::Mem& mem);
/// Priorities and hints belong to global memory; a cache operator excludes an L1 priority.
std::string check_hints(const Form& form);

}  // namespace lanewise::ptx
