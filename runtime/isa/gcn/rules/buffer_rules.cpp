// What flags and registers of a buffer instruction go together: the assembler refuses the others,
// and no word decodes to them.
#include <fmt/format.h>

#include "runtime/isa/gcn/rules/modifier_rules.hpp"

namespace lanewise::gcn {
namespace {

/// BUFFER_WBINVL1 has no operands, BUFFER_STORE_LDS_DWORD no registers of the lanes.
std::string problem_without_address(const Instruction& i) {
  const std::string& name = i.row->name;
  const bool bare = i.row->operands.empty();
  if (i.offen || i.idxen || i.addr64) return name + " takes no address register";
  if (i.tfe) return "tfe is not possible with " + name;
  if (bare && (i.offset != 0 || i.glc || i.slc || i.lds)) return name + " takes no flags";
  if (!bare && !i.lds) return name + " needs the flag lds";
  return {};
}

std::string address_problem(const Instruction& i, unsigned found, Gen gen) {
  if (i.addr64 && gen == Gen::gfx8) return "addr64 does not exist on gfx803";
  if (i.addr64 && (i.offen || i.idxen)) return "addr64 excludes offen and idxen";
  const unsigned need = i.addr64 || (i.offen && i.idxen) ? 2 : i.offen || i.idxen ? 1 : 0;
  if (found == need) return {};
  return fmt::format("this addressing takes {}, found {}",
                     need == 0   ? "'off'"
                     : need == 1 ? "one VGPR"
                                 : "a pair of VGPRs",
                     found == 0 ? "'off'" : std::to_string(found));
}

bool goes_to_lds(const std::string& name) {
  return name == "buffer_load_ubyte" || name == "buffer_load_sbyte" ||
         name == "buffer_load_ushort" || name == "buffer_load_sshort" ||
         name == "buffer_load_dword" || name == "buffer_load_format_x";
}

}  // namespace

std::string buffer_problem(const Instruction& i, Gen gen) {
  if (i.tfe && i.lds) return "tfe and lds cannot be used together";
  const Operand* address = i.operand(Slot::vaddr);
  if (address == nullptr) return problem_without_address(i);
  if (std::string problem = address_problem(i, address->count, gen); !problem.empty())
    return problem;
  const Operand& data = *i.operand(Slot::vdata);
  if (data.count != i.row->operands[0].count && !i.tfe)
    return "one data register too many: only tfe writes it";
  for (const Operand* o : {address, &data})
    if (o->count != 0 && o->code + o->count > kVgpr0 + 256) return "VGPRs end with v255";
  if (i.lds && !goes_to_lds(i.row->name)) return "lds is not possible with " + i.row->name;
  return {};
}

}  // namespace lanewise::gcn
