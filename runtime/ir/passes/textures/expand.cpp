// Texture operations become plain ones. An operation is a part of its block, or several blocks,
// which then stand behind it, so that the order of blocks, which says what a back edge is, stays.
#include <algorithm>

#include "lanewise/types.hpp"
#include "runtime/ir/passes/textures/sample.hpp"

namespace lanewise::ir {
namespace {

using textures::Fold;
using textures::Image;
using textures::Level;
using textures::Values;

class TextureExpansion {
 public:
  TextureExpansion(Program& program, FilterRule rule)
      : p_(program), b_(program), f_(b_), rule_(rule) {}

  void run() {
    const auto blocks = static_cast<uint32_t>(p_.blocks.size());
    std::vector<uint32_t> order;
    for (uint32_t n = 0; n < blocks; ++n) {
      const auto added = static_cast<uint32_t>(p_.blocks.size());
      const uint32_t end = block(n);
      behind(n, end, added, order);
    }
    renumber(order);
  }

 private:
  /// Gives the block that ends as the old one did.
  uint32_t block(uint32_t n) {
    auto& insts = p_.blocks[n].insts;
    if (std::ranges::none_of(insts, [](const Inst& i) { return is_texture(i.op); })) return n;
    const std::vector<Inst> old = std::move(insts);
    const Terminator term = p_.blocks[n].term;
    p_.blocks[n].insts.clear();
    b_.set_block(n);
    for (const Inst& inst : old) {
      if (is_texture(inst.op))
        guarded(inst);
      else
        p_.blocks[b_.block()].insts.push_back(inst);
    }
    p_.blocks[b_.block()].term = term;
    return b_.block();
  }

  /// The block and those that were added for it, each before those that it leads to.
  void behind(uint32_t n, uint32_t end, uint32_t added, std::vector<uint32_t>& order) {
    std::vector<bool> seen(p_.blocks.size() - added);
    std::vector<uint32_t> reversed;
    std::vector<std::pair<uint32_t, size_t>> path{{n, 0}};
    while (!path.empty()) {
      auto& [at, next] = path.back();
      const std::vector<uint32_t>& targets = p_.blocks[at].term.targets;
      if (at == end || next == targets.size()) {
        reversed.push_back(at);
        path.pop_back();
        continue;
      }
      const uint32_t to = targets[next++];
      if (to < added || seen[to - added]) continue;
      seen[to - added] = true;
      path.emplace_back(to, 0);
    }
    // What nothing leads to is at the end.
    for (uint32_t k = added; k < p_.blocks.size(); ++k)
      if (!seen[k - added]) reversed.insert(reversed.begin(), k);
    order.insert(order.end(), reversed.rbegin(), reversed.rend());
  }

  /// Lanes whose guard does not hold pass by.
  void guarded(const Inst& inst) {
    b_.set_site(inst.site);
    if (inst.guard.always()) return expand(inst);
    const uint32_t body = b_.add_block(), done = b_.add_block();
    b_.branch(inst.guard, body, done);
    b_.set_block(body);
    expand(inst);
    b_.jump(done);
    b_.set_block(done);
  }

  void expand(const Inst& inst) {
    if (inst.op == Op::sample || inst.op == Op::gather)
      return set(inst, textures::sample(f_, inst, rule_));
    Image image(f_, *inst.texture, std::span(inst.src).first(kImageWords));
    const auto [address, may] = texel_place(inst, image);
    switch (inst.op) {
      case Op::texel_address:
        f_.move(inst.dst[0], address);
        f_.move(inst.dst[1], may);
        break;
      case Op::texel_load:
        set(inst, image.load(inst, address, may));
        break;
      default: {
        const Operand* v = inst.src.data() + kImageWords + kTexelPlace;
        image.store(inst, address, may, {v[0], v[1], v[2], v[3]});
      }
    }
  }

  /// The address, and whether the texel may be accessed. A trap has happened behind it.
  std::pair<Operand, Operand> texel_place(const Inst& inst, Image& image) {
    using Outside = TextureAccess::Outside;
    const Operand* at = inst.src.data() + kImageWords;
    const Outside outside = inst.texture->outside;
    Operand number = f_.add(image.first_level(), at[4]);
    Operand inside = Fold::is(at[4], 0) ? imm(1) : f_.not_(f_.below(image.last_level(), number));
    number = f_.umin(number, image.last_level());
    const Level level = image.level(number);
    const auto limited = [&](Operand has, Operand v, Operand size) {
      if (Fold::is(has, 0)) return imm(0);
      if (outside == Outside::clamp) {
        const Operand near = f_.max(f_.min(v, f_.sub(size, imm(1))), imm(0));
        return f_.select(has, near, imm(0));
      }
      inside = f_.both(inside, f_.either(f_.not_(has), f_.below(v, size)));
      return f_.select(has, v, imm(0));
    };
    const Operand x = limited(imm(1), at[0], level.width);
    const Operand y = limited(image.has_y(), at[1], level.height);
    const Operand z = limited(image.has_z(), at[2], level.depth);
    const bool cube = inst.texture->dim == TextureAccess::Dim::cube;
    const Operand number_of_layer = !cube ? at[3] : f_.add(f_.mul(at[3], imm(6)), at[2]);
    const Operand layer = limited(image.has_layers(), number_of_layer, level.depth);
    if (outside == Outside::trap && !inside.is_imm()) {
      b_.set_guard({inside.reg(), true});
      b_.emit(Op::trap, Type::none, {}, {}).mode = static_cast<uint8_t>(FaultKind::out_of_range);
      b_.set_guard({});
    }
    return {image.address(level, x, y, f_.select(image.has_z(), z, layer)), inside};
  }

  /// The values may be registers that the operation writes.
  void set(const Inst& inst, const Values& values) {
    std::vector<Operand> kept(values.begin(), values.end());
    for (size_t n = 0; n < inst.dst.size(); ++n) f_.move(inst.dst[n], kept[n]);
  }

  void renumber(const std::vector<uint32_t>& order) {
    std::vector<uint32_t> place(order.size());
    for (uint32_t n = 0; n < order.size(); ++n) place[order[n]] = n;
    std::vector<Block> blocks;
    blocks.reserve(order.size());
    for (const uint32_t n : order) blocks.push_back(std::move(p_.blocks[n]));
    p_.blocks = std::move(blocks);
    for (Block& block : p_.blocks)
      for (uint32_t& target : block.term.targets) target = place[target];
  }

  Program& p_;
  Builder b_;
  Fold f_;
  FilterRule rule_;
};

}  // namespace

bool expand_textures(Program& program, FilterRule rule) {
  bool any = false;
  for (const Block& block : program.blocks)
    any = any || std::ranges::any_of(block.insts, [](const Inst& i) { return is_texture(i.op); });
  if (any) TextureExpansion(program, rule).run();
  return any;
}

}  // namespace lanewise::ir
