// What texture and surface instructions become.
#pragma once

#include "runtime/isa/ptx/semantics/emit.hpp"

namespace lanewise::ptx {

/// The block of a .texref, .samplerref or .surfref, with what its fields say. The host binds
/// texels.
ir::Global texture_variable(const Variable& v, const std::string& name);

void lower_fetch(Emit& e);
void lower_gather(Emit& e);
void lower_surface_load(Emit& e);
void lower_surface_store(Emit& e);
void lower_surface_reduce(Emit& e);
void lower_query(Emit& e);
void lower_is_type(Emit& e);

}  // namespace lanewise::ptx
