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
  /// What is asked: how the value comes about in the block alone, or also by an only instruction of
  /// another block, which says nothing of blocks that are still to come.
  enum class Look : uint8_t { block, program };

  /// Asked at the end of what `block` holds so far.
  KnownValues(const ir::Program& program, uint32_t block, std::span<const ir::Global> globals,
              Look look = Look::program)
      : program_(program), block_(block), globals_(globals), look_(look) {}

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
  /// Who wrote the register, as asked at a place of the block.
  struct Definition {
    const ir::Inst* inst = nullptr;
    size_t place = 0;  ///< its sources are asked for there; 0: what the block did does not count
  };
  /// The last instruction of the block before the place, or the only one of the program.
  Definition definition(ir::Reg reg, size_t place) const {
    const std::vector<ir::Inst>& here = program_.blocks[block_].insts;
    for (size_t n = place; n-- > 0;)
      if (writes(here[n], reg)) return {&here[n], n};
    Definition only;
    if (look_ == Look::block) return only;
    size_t looked_at = 0;
    for (const ir::Block& block : program_.blocks)
      for (const ir::Inst& i : block.insts) {
        if (++looked_at > kMostLooks) return {};
        if (!writes(i, reg)) continue;
        if (only.inst != nullptr) return {};
        only.inst = &i;
      }
    return only;
  }

  std::optional<Known> follow(ir::Operand value) const {
    return follow(value, program_.blocks[block_].insts.size(), 0);
  }
  std::optional<Known> follow(ir::Operand value, size_t place, unsigned moves) const {
    if (!value.is_reg()) return Known{value};
    if (moves == kMostMoves) return {};
    const auto [def, at] = definition(value.reg(), place);
    if (def == nullptr || !def->guard.always()) return {};
    if (def->op == ir::Op::mov) return follow(def->src[0], at, moves + 1);
    if (def->op == ir::Op::unpack64) {
      auto whole = follow(def->src[0], at, moves + 1);
      if (!whole || whole->half != Half::none) return {};
      whole->half = def->dst[0] == value.reg() ? Half::low : Half::high;
      return whole;
    }
    if (def->op != ir::Op::pack64) return {};
    const auto low = follow(def->src[0], at, moves + 1), high = follow(def->src[1], at, moves + 1);
    if (!low || !high || low->value.kind != high->value.kind) return {};
    if (low->value.is_imm()) return Known{ir::Operand::immediate(high->bits() << 32 | low->bits())};
    const bool whole = low->value == high->value && low->half == Half::low;
    if (!whole || high->half != Half::high) return {};
    return Known{low->value};
  }

  const ir::Program& program_;
  uint32_t block_;
  std::span<const ir::Global> globals_;
  Look look_;
};

}  // namespace lanewise::isa
