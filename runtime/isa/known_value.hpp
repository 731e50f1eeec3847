// What the program says in so many words about a register: a number, or the address of a variable,
// moved from register to register. For texts that a kernel passes to the device runtime.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "runtime/ir/ir.hpp"

namespace lanewise::isa {

class KnownValues {
 public:
  /// Asked at the end of what `block` holds so far.
  KnownValues(const ir::Program& program, uint32_t block, std::span<const ir::Global> globals)
      : program_(program), block_(block), globals_(globals) {}

  std::optional<uint64_t> number(ir::Operand value) const {
    const auto found = follow(value);
    if (!found || found->value.kind != ir::Operand::Kind::imm) return {};
    return found->bits();
  }
  /// The text that ends with a zero where the value points to: a variable that begins with it, or
  /// holds it at the offset.
  std::optional<std::string> text(ir::Operand value) const {
    const auto found = follow(value);
    if (!found || found->value.kind != ir::Operand::Kind::symbol || found->half != Half::none)
      return {};
    const auto global =
        std::ranges::find(globals_, program_.symbols[found->value.index].name, &ir::Global::name);
    if (global == globals_.end() || found->value.imm > global->init.size() ||
        !global->relocs.empty())
      return {};
    std::string out;
    for (size_t at = found->value.imm; at < global->init.size(); ++at) {
      if (global->init[at] == std::byte{0}) break;
      out += static_cast<char>(global->init[at]);
    }
    return out;
  }

 private:
  enum class Half : uint8_t { none, low, high };  ///< which word of a pair it is
  struct Known {
    ir::Operand value;  ///< a number or a symbol
    Half half = Half::none;
    uint64_t bits() const {
      if (half == Half::none) return value.imm;
      return half == Half::high ? value.imm >> 32 : value.imm & 0xffffffff;
    }
  };
  static constexpr unsigned kMostMoves = 16;
  static constexpr size_t kMostLooks = 1 << 14;  // a file may be full of such calls

  static bool writes(const ir::Inst& i, ir::Reg reg) {
    return std::ranges::find(i.dst, reg) != i.dst.end();
  }
  /// The last instruction of the block that writes the register, or the only one of the program.
  const ir::Inst* definition(ir::Reg reg) const {
    const std::vector<ir::Inst>& here = program_.blocks[block_].insts;
    for (auto i = here.rbegin(); i != here.rend(); ++i)
      if (writes(*i, reg)) return &*i;
    const ir::Inst* only = nullptr;
    size_t looked_at = 0;
    for (const ir::Block& block : program_.blocks)
      for (const ir::Inst& i : block.insts) {
        if (++looked_at > kMostLooks) return nullptr;
        if (!writes(i, reg)) continue;
        if (only != nullptr) return nullptr;
        only = &i;
      }
    return only;
  }

  std::optional<Known> follow(ir::Operand value, unsigned moves = 0) const {
    if (!value.is_reg()) return Known{value};
    const ir::Inst* def = moves < kMostMoves ? definition(value.reg()) : nullptr;
    if (def == nullptr || !def->guard.always()) return {};
    if (def->op == ir::Op::mov) return follow(def->src[0], moves + 1);
    if (def->op == ir::Op::unpack64) {
      auto whole = follow(def->src[0], moves + 1);
      if (!whole || whole->half != Half::none) return {};
      whole->half = def->dst[0] == value.reg() ? Half::low : Half::high;
      return whole;
    }
    if (def->op != ir::Op::pack64) return {};
    const auto low = follow(def->src[0], moves + 1), high = follow(def->src[1], moves + 1);
    if (!low || !high || low->value.kind != high->value.kind) return {};
    if (low->value.is_imm()) return Known{ir::Operand::immediate(high->bits() << 32 | low->bits())};
    const bool whole = low->value == high->value && low->half == Half::low;
    if (!whole || high->half != Half::high) return {};
    return Known{low->value};
  }

  const ir::Program& program_;
  uint32_t block_;
  std::span<const ir::Global> globals_;
};

}  // namespace lanewise::isa
