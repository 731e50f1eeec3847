// What modifiers and registers go together: the assembler refuses the others, and no word decodes
// to them. Those of buffers stand in buffer_rules.cpp.
#include "runtime/isa/gcn/rules/modifier_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace lanewise::gcn {
namespace {

std::string dmask_problem(const Instruction& i) {
  const uint8_t mask = i.graphics.dmask;
  if (i.row->image.gathers && std::popcount(mask) != 1)
    return i.row->name + " takes one component: dmask with one bit";
  if (i.row->kind != Kind::atomic) return {};
  const bool exchange = i.row->compares();
  const bool whole = exchange ? mask == 3 || mask == 15 : mask == 1 || mask == 3;
  if (!whole)
    return i.row->name +
           (exchange ? " takes dmask:0x3 or dmask:0xf" : " takes dmask:0x1 or dmask:0x3");
  if (i.tfe && mask != 1) return "tfe is possible with dmask:0x1 only";
  return {};
}

std::string image_problem(const Instruction& i, Gen gen) {
  if (i.graphics.d16 && (gen != Gen::gfx8 || !i.row->meaning.d16))
    return gen != Gen::gfx8 ? fmt::format("d16 does not exist on {}", name(gen))
                            : "d16 is not possible with " + i.row->name;
  if (std::string problem = dmask_problem(i); !problem.empty()) return problem;
  const unsigned data = data_registers(i), found = i.operand(Slot::idata)->count;
  if (data != found)
    return fmt::format("dmask and tfe ask for {} data register{}, found {}", data,
                       data == 1 ? "" : "s", found);
  const unsigned address = i.operand(Slot::iaddr)->count;
  const unsigned least = i.row->least_address, most = i.row->most_address;
  const unsigned rounded = most <= 4 ? 4 : most <= 8 ? 8 : 16;
  // LLVM 14 takes 16 for 9 and more, later ones the number itself.
  const bool fits = (address >= least && address <= most) || address == rounded;
  if (!fits)
    return fmt::format("{} takes {} to {} address registers, found {}", i.row->name, least, rounded,
                       address);
  return {};
}

std::string export_problem(const Instruction& i) {
  if (!i.graphics.compr) return {};
  const auto differ = [&](size_t a, size_t b) {
    return i.operands[a].count != i.operands[b].count || i.operands[a].code != i.operands[b].code;
  };
  return differ(1, 2) || differ(3, 4)
             ? "compr takes two registers, each written twice: v0, v0, v1, v1"
             : "";
}

}  // namespace

unsigned data_registers(const Instruction& i) {
  const auto components = static_cast<unsigned>(std::popcount(i.graphics.dmask));
  return (i.row->image.gathers ? 4 : std::max(components, 1U)) + (i.tfe ? 1 : 0);
}

bool is_of_global_share(const Row& row) {
  return row.encoding == Encoding::ds && row.meaning.count == 0;
}

std::string modifier_problem(const Instruction& i, Gen gen) {
  const Row& row = *i.row;
  if (is_buffer(row.encoding)) return buffer_problem(i, gen);
  if (row.encoding == Encoding::mimg) return image_problem(i, gen);
  if (row.encoding == Encoding::exp) return export_problem(i);
  if (row.has(Slot::attr) && row.meaning.count == 0 && i.omod != 0)
    return row.name + " takes no output modifier";
  if (is_of_global_share(row) && !i.gds) return row.name + " is for the global data share: gds";
  // The flag and the register for the result come together.
  if (row.encoding != Encoding::flat || row.meaning.op != ir::Op::atom ||
      row.meaning.returns == i.glc)
    return {};
  return row.name + (i.glc ? " with glc needs a register for the old value"
                           : " returns the old value with glc only");
}

}  // namespace lanewise::gcn
