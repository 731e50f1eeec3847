#include "runtime/ir/passes/textures/descriptor_loads.hpp"

#include <map>
#include <optional>
#include <type_traits>

#include "runtime/ir/passes/values/ssa.hpp"

namespace lanewise::ir {
namespace {

/// What a value of 64 bits is: an address among the parameters, or one counted from what a
/// parameter holds.
struct Place {
  std::optional<uint64_t> parameter;
  uint64_t offset = 0;
  bool operator==(const Place&) const = default;
};
/// What a value of 32 bits is: a half of such an address, or a word of the parameters.
struct Half {
  Place of;
  bool upper = false, loaded = false;
  bool operator==(const Half&) const = default;
};

class Places {
 public:
  explicit Places(const Program& program) : ssa_(program) {}

  std::optional<Place> address(uint32_t block, uint32_t index) {
    const Inst& load = ssa_.program().blocks[block].insts[index];
    std::optional<Place> at = whole(ssa_.use(block, index, 0));
    if (at) at->offset += static_cast<uint64_t>(load.mem->offset);
    return at;
  }
  bool reachable(uint32_t block) const { return ssa_.order().reachable(block); }

 private:
  std::optional<Place> whole(uint32_t value) {
    return known(wholes_, value,
                 [&](const Ssa::Value& v, const Inst& made) -> std::optional<Place> {
                   const auto source = [&](size_t n) { return ssa_.use(v.block, v.inst, n); };
                   switch (made.op) {
                     case Op::sreg:
                       if (made.mode != static_cast<uint8_t>(SReg::param_base)) return std::nullopt;
                       return Place{};
                     case Op::mov:
                       return whole(source(0));
                     case Op::add: {
                       const bool second = made.src[1].is_imm();
                       if (made.type != Type::u64 || (!second && !made.src[0].is_imm()))
                         return std::nullopt;
                       std::optional<Place> sum = whole(source(second ? 0 : 1));
                       if (sum) sum->offset += made.src[second ? 1 : 0].imm;
                       return sum;
                     }
                     case Op::pack64:
                       return joined(half(source(0)), half(source(1)));
                     case Op::load:
                       if (const auto at = parameter(v, made); at && made.mem->elem == Type::u64)
                         return Place{at, 0};
                       return std::nullopt;
                     default:
                       return std::nullopt;
                   }
                 });
  }

  std::optional<Half> half(uint32_t value) {
    return known(halves_, value, [&](const Ssa::Value& v, const Inst& made) -> std::optional<Half> {
      if (made.op == Op::mov) return half(ssa_.use(v.block, v.inst, 0));
      if (made.op == Op::unpack64) {
        const auto of = whole(ssa_.use(v.block, v.inst, 0));
        return of ? std::optional(Half{*of, v.which == 1, false}) : std::nullopt;
      }
      if (made.op != Op::load || made.mem->elem != Type::u32) return std::nullopt;
      const auto at = parameter(v, made);
      return at ? std::optional(Half{{std::nullopt, *at}, false, true}) : std::nullopt;
    });
  }

  /// Where among the parameters a load gets the value from.
  std::optional<uint64_t> parameter(const Ssa::Value& v, const Inst& load) {
    const auto at = address(v.block, v.inst);
    if (!at || at->parameter) return std::nullopt;
    return at->offset + uint64_t{v.which} * size_of(load.mem->elem);
  }

  static std::optional<Place> joined(const std::optional<Half>& low,
                                     const std::optional<Half>& high) {
    if (!low || !high || low->loaded != high->loaded) return std::nullopt;
    if (low->loaded) {
      if (high->of.offset != low->of.offset + 4) return std::nullopt;
      return Place{low->of.offset, 0};
    }
    return low->of == high->of && !low->upper && high->upper ? std::optional(low->of)
                                                             : std::nullopt;
  }

  /// Of the instruction that made the value; of a block's argument what all of its inputs are. A
  /// loop that brings a value back to itself says nothing of it.
  template <typename Found, typename Look>
  std::optional<Found> known(std::map<uint32_t, std::optional<Found>>& all, uint32_t value,
                             const Look& look) {
    constexpr unsigned kDeepest = 64;  // compilers keep addresses close to their parameter
    if (value == kNone || depth_ == kDeepest) return std::nullopt;
    const auto [entry, fresh] = all.try_emplace(value, std::nullopt);
    if (!fresh) return entry->second;
    ++depth_;
    all[value] = look_for<Found>(value, look);
    --depth_;
    return all[value];
  }
  template <typename Found, typename Look>
  std::optional<Found> look_for(uint32_t value, const Look& look) {
    std::optional<Found> found;
    const Ssa::Value& v = ssa_[value];
    if (v.kind == Ssa::Kind::argument) {
      for (const uint32_t input : ssa_.inputs(value)) {
        if (input == value) continue;
        std::optional<Found> one;
        if constexpr (std::is_same_v<Found, Place>)
          one = whole(input);
        else
          one = half(input);
        if (!one || (found && *found != *one)) return std::nullopt;
        found = one;
      }
      return found;
    }
    const Inst* made = ssa_.made_by(value);
    if (v.kind != Ssa::Kind::result || made == nullptr || !made->guard.always())
      return std::nullopt;
    return look(v, *made);
  }

  Ssa ssa_;
  std::map<uint32_t, std::optional<Place>> wholes_;
  std::map<uint32_t, std::optional<Half>> halves_;
  unsigned depth_ = 0;
};

}  // namespace

std::vector<DescriptorLoad> descriptor_loads(const Program& program, uint32_t words) {
  Places places(program);
  std::vector<DescriptorLoad> out;
  for (uint32_t b = 0; b < program.blocks.size(); ++b) {
    if (!places.reachable(b)) continue;
    const std::vector<Inst>& insts = program.blocks[b].insts;
    for (uint32_t n = 0; n < insts.size(); ++n) {
      const Inst& load = insts[n];
      if (load.op != Op::load || load.mem->elem != Type::u32 || !load.guard.always() ||
          load.src.empty() || !load.src[0].is_reg())
        continue;
      const auto at = places.address(b, n);
      if (!at || !at->parameter || at->offset % 4 != 0 || at->offset / 4 + load.dst.size() > words)
        continue;
      out.push_back({b, n, *at->parameter, static_cast<uint32_t>(at->offset / 4)});
    }
  }
  return out;
}

}  // namespace lanewise::ir
