// Images, exports and interpolation. The latter two have names and encodings, and are not executed.
#include "runtime/isa/gcn/tables/builder.hpp"

namespace lanewise::gcn {
namespace {

using E = Encoding;
using S = Slot;
using Last = ImageForm::Last;

const std::vector<SlotSpec> kImage = {{S::idata}, {S::iaddr}, {S::irsrc, 8}};
const std::vector<SlotSpec> kSampled = {{S::idata}, {S::iaddr}, {S::irsrc, 8}, {S::isamp, 4}};

Row& image(TableBuilder& t, Kind kind, const std::string& name, Codes codes, LowerFn lower,
           const ImageForm& form) {
  Row& r = t.kind(kind, name, E::mimg, codes, form.samples ? kSampled : kImage, lower);
  r.image = form;
  // What LLVM takes: accesses to texels have up to four values whatever they are.
  if (form.samples) {
    r.least_address = static_cast<uint8_t>(1 + form.front() + (form.gradients ? 1 : 0));
    r.most_address = static_cast<uint8_t>(3 + form.front() + (form.gradients ? 6 : 0) +
                                          (form.last != Last::none ? 1 : 0));
  } else {
    r.least_address = 1;
    r.most_address = 4;
  }
  return r;
}

void access_rows(TableBuilder& t) {
  for (const bool mip : {false, true}) {
    const std::string level = mip ? "_mip" : "";
    ImageForm plain;
    if (mip) plain.last = Last::mip;
    image(t, Kind::load, "image_load" + level, mip ? 1 : 0, lower_image_load, plain).meaning.d16 =
        true;
    image(t, Kind::store, "image_store" + level, mip ? 9 : 8, lower_image_store, plain)
        .meaning.d16 = true;
    ImageForm packed = plain;
    packed.packed = true;
    image(t, Kind::load, "image_load" + level + "_pck", mip ? 4 : 2, lower_image_load, packed);
    image(t, Kind::store, "image_store" + level + "_pck", mip ? 11 : 10, lower_image_store, packed);
    packed.extends = true;
    image(t, Kind::load, "image_load" + level + "_pck_sgn", mip ? 5 : 3, lower_image_load, packed);
  }
  ImageForm size;
  size.last = Last::mip;
  image(t, Kind::alu, "image_get_resinfo", 14, lower_image_size, size);
  using Atom = ir::AtomOp;
  const struct {
    const char* name;
    Codes codes;
    Atom op;
    Type type = Type::u32;
  } atomics[] = {{"swap", {15, 16}, Atom::exch},
                 {"cmpswap", {16, 17}, Atom::cas},
                 {"add", {17, 18}, Atom::add},
                 {"sub", {18, 19}, Atom::sub},
                 {"rsub", {19, -1}, Atom::rsub},
                 {"smin", 20, Atom::min, Type::s32},
                 {"umin", 21, Atom::min},
                 {"smax", 22, Atom::max, Type::s32},
                 {"umax", 23, Atom::max},
                 {"and", 24, Atom::and_},
                 {"or", 25, Atom::or_},
                 {"xor", 26, Atom::xor_},
                 {"inc", 27, Atom::inc},
                 {"dec", 28, Atom::dec},
                 {"fcmpswap", {29, -1}, Atom::fcas, Type::f32},
                 {"fmin", {30, -1}, Atom::min, Type::f32},
                 {"fmax", {31, -1}, Atom::max, Type::f32}};
  for (const auto& a : atomics) {
    Meaning& m = image(t, Kind::atomic, std::string("image_atomic_") + a.name, a.codes,
                       lower_image_atomic, {})
                     .meaning;
    m.op = Op::atom;
    m.atom = a.op;
    m.type = a.type;
  }
}

/// How the level of detail is found.
struct Level {
  const char* name;
  int code;
  bool bias, gradients;
  Last last;
  bool zero = false;
};
constexpr Level kLevels[] = {
    {"", 0, false, false, Last::none},      {"_cl", 1, false, false, Last::clamp},
    {"_d", 2, false, true, Last::none},     {"_d_cl", 3, false, true, Last::clamp},
    {"_l", 4, false, false, Last::level},   {"_b", 5, true, false, Last::none},
    {"_b_cl", 6, true, false, Last::clamp}, {"_lz", 7, false, false, Last::none, true}};
constexpr Level kCoarse[] = {{"_cd", 0, false, true, Last::none},
                             {"_cd_cl", 1, false, true, Last::clamp}};

void sampled(TableBuilder& t, const std::string& base, int code, const Level& l, bool compares,
             bool offset, bool gathers) {
  ImageForm form;
  form.samples = true;
  form.gathers = gathers;
  form.offset = offset;
  form.compare = compares;
  form.bias = l.bias;
  form.gradients = l.gradients;
  form.last = l.last;
  form.level_zero = l.zero;
  const std::string name = base + (compares ? "_c" : "") + l.name + (offset ? "_o" : "");
  image(t, Kind::load, name, code, lower_image_sample, form).meaning.d16 = true;
}

void sample_rows(TableBuilder& t) {
  constexpr int kSample = 32, kGather = 64, kCoarseSample = 104;
  for (const bool offset : {false, true})
    for (const bool compares : {false, true}) {
      const int by = (offset ? 16 : 0) + (compares ? 8 : 0);
      for (const Level& l : kLevels) {
        sampled(t, "image_sample", kSample + by + l.code, l, compares, offset, false);
        if (!l.gradients)
          sampled(t, "image_gather4", kGather + by + l.code, l, compares, offset, true);
      }
      for (const Level& l : kCoarse)
        sampled(t, "image_sample", kCoarseSample + by / 4 + l.code, l, compares, offset, false);
    }
  ImageForm lod;
  lod.samples = true;
  image(t, Kind::across, "image_get_lod", 96, lower_image_lod, lod);
}

void interpolation_rows(TableBuilder& t) {
  const std::vector<SlotSpec> value = {{S::vdst}, {S::ivsrc}, {S::attr}},
                              point = {{S::vdst}, {S::ipoint}, {S::attr}},
                              sum = {{S::vdst}, {S::ivsrc}, {S::attr}, {S::ivsrc2}};
  const struct {
    const char* name;
    int code;
    const std::vector<SlotSpec>& operands;
  } rows[] = {
      {"v_interp_p1_f32", 0, value}, {"v_interp_p2_f32", 1, value}, {"v_interp_mov_f32", 2, point}};
  for (const auto& r : rows) {
    t.absent(r.name, E::vintrp, r.code, r.operands);
    t.absent(r.name, E::vop3, {-1, 0x270 + r.code}, r.operands).e64 = true;
  }
  const auto half = [&](const char* name, int code, const std::vector<SlotSpec>& operands) {
    Meaning& m = t.absent(name, E::vop3, {-1, code}, operands).meaning;
    m.type = Type::f16;
    return &m;
  };
  half("v_interp_p1ll_f16", 0x274, value);
  half("v_interp_p1lv_f16", 0x275, sum);
  half("v_interp_p2_f16", 0x276, sum)->count = 0;  // has no output modifiers
}

}  // namespace

void graphics_rows(TableBuilder& t) {
  access_rows(t);
  sample_rows(t);
  interpolation_rows(t);
  t.absent("exp", E::exp, 0, {{S::target}, {S::esrc}, {S::esrc}, {S::esrc}, {S::esrc}});
}

}  // namespace lanewise::gcn
