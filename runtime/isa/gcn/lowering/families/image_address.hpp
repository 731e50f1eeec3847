// What the lowering functions of images share.
#pragma once

#include "runtime/isa/gcn/lowering/families/buffer_access.hpp"
#include "runtime/isa/gcn/lowering/families/image_words.hpp"

namespace lanewise::gcn {

inline constexpr unsigned kAbsent = ~0U;
/// The number of an address register for images of one, two and three dimensions, and for cubes.
struct Place {
  unsigned one, two, three, cube;
};

/// What the address registers hold.
class ImageAddress {
 public:
  ImageAddress(LowerContext& c, const Instruction& i, const ImageState& s)
      : c_(c),
        f_(c),
        form_(i.row->image),
        s_(s),
        code_(i.operand(Slot::iaddr)->code),
        layered_(i.graphics.da ? 1 : 0) {
    unsigned at = form_.front();
    if (form_.gradients) {
      gradients_ = at;
      body_ = {at + 2, at + 4, at + 6, at + 4};
    } else {
      body_ = {at, at, at, at};
    }
    last_ = {body_.one + 1 + layered_, body_.two + 2 + layered_, body_.three + 3, body_.cube + 3};
  }

  ir::Operand at(unsigned n) {
    return n == kAbsent || code_ + n >= kVgpr0 + 256 ? ir::Operand(imm(0))
                                                     : ir::Operand(c_.vgpr(code_ + n));
  }
  ir::Operand pick(const Place& p) {
    ir::Operand v = at(p.two);
    if (p.cube != p.two) v = f_.select(s_.cube, at(p.cube), v);
    if (p.three != p.two) v = f_.select(s_.three, at(p.three), v);
    if (p.one != p.two) v = f_.select(s_.one, at(p.one), v);
    return v;
  }
  ir::Operand x() { return pick(body_); }
  ir::Operand y() { return pick({kAbsent, body_.two + 1, body_.three + 1, body_.cube + 1}); }
  ir::Operand z() { return pick({kAbsent, kAbsent, body_.three + 2, kAbsent}); }
  /// The slice of an array, or the face of a cube; 0 where there is none.
  ir::Operand slice() {
    const bool array = layered_ != 0;
    return pick({array ? body_.one + 1 : kAbsent, array ? body_.two + 2 : kAbsent, kAbsent,
                 body_.cube + 2});
  }
  ir::Operand last() { return pick(last_); }
  /// The gradients of x, y and z by the first and by the second screen axis.
  std::vector<ir::Operand> gradients() {
    const unsigned g = gradients_;
    return {at(g),
            pick({kAbsent, g + 1, g + 1, g + 1}),
            pick({kAbsent, kAbsent, g + 2, kAbsent}),
            pick({g + 1, g + 2, g + 3, g + 2}),
            pick({kAbsent, g + 3, g + 4, g + 3}),
            pick({kAbsent, kAbsent, g + 5, kAbsent})};
  }

 private:
  LowerContext& c_;
  Fold f_;
  const ImageForm& form_;
  const ImageState& s_;
  unsigned code_, layered_, gradients_ = 0;
  Place body_{}, last_{};
};

/// Registers that hold 0.
std::vector<Reg> zero_registers(LowerContext& c, unsigned count);
/// Of four values those that dmask names, the first one where it names none.
void deliver_components(LowerContext& c, const Instruction& i, const std::vector<Reg>& values);
/// The image's words say how many dimensions it has.
ir::TextureAccess described_access();

/// Runs `emit` under the guard that the image can be used and the lane is active.
template <typename Emit>
void guarded(LowerContext& c, const ir::Operand& may, const Emit& emit) {
  const ir::Operand lanes = !may.is_imm()                 ? c.active(may)
                            : may.imm == 0 || c.exec_full ? may
                                                          : ir::Operand(c.exec());
  if (lanes.is_imm() && lanes.imm == 0) return;
  if (lanes.is_reg()) c.set_guard({lanes.reg(), false});
  emit();
  c.set_guard({});
}

}  // namespace lanewise::gcn
