// Images, exports and interpolation: they have names and encodings, and are not executed.
#include "runtime/isa/gcn/tables/builder.hpp"

namespace lanewise::gcn {
namespace {

using E = Encoding;
using S = Slot;

const std::vector<SlotSpec> kImage = {{S::idata}, {S::iaddr}, {S::irsrc, 8}};
const std::vector<SlotSpec> kSampled = {{S::idata}, {S::iaddr}, {S::irsrc, 8}, {S::isamp, 4}};

Row& image(TableBuilder& t, const std::string& name, Codes codes,
           const std::vector<SlotSpec>& operands, unsigned least, unsigned most) {
  Row& r = t.absent(name, E::mimg, codes, operands);
  r.least_address = static_cast<uint8_t>(least);
  r.most_address = static_cast<uint8_t>(most);
  return r;
}

void access_rows(TableBuilder& t) {
  const struct {
    const char* name;
    int code;
    bool narrow;  ///< has 16-bit components on GCN3
  } rows[] = {{"image_load", 0, true},          {"image_load_mip", 1, true},
              {"image_load_pck", 2, false},     {"image_load_pck_sgn", 3, false},
              {"image_load_mip_pck", 4, false}, {"image_load_mip_pck_sgn", 5, false},
              {"image_store", 8, true},         {"image_store_mip", 9, true},
              {"image_store_pck", 10, false},   {"image_store_mip_pck", 11, false},
              {"image_get_resinfo", 14, false}};
  for (const auto& r : rows) image(t, r.name, r.code, kImage, 1, 4).meaning.d16 = r.narrow;
  const struct {
    const char* name;
    Codes codes;
    bool exchange = false;
  } atomics[] = {{"swap", {15, 16}},
                 {"cmpswap", {16, 17}, true},
                 {"add", {17, 18}},
                 {"sub", {18, 19}},
                 {"rsub", {19, -1}},
                 {"smin", 20},
                 {"umin", 21},
                 {"smax", 22},
                 {"umax", 23},
                 {"and", 24},
                 {"or", 25},
                 {"xor", 26},
                 {"inc", 27},
                 {"dec", 28},
                 {"fcmpswap", {29, -1}, true},
                 {"fmin", {30, -1}},
                 {"fmax", {31, -1}}};
  for (const auto& a : atomics) {
    Meaning& m = image(t, std::string("image_atomic_") + a.name, a.codes, kImage, 1, 4).meaning;
    m.op = ir::Op::atom;
    m.atom = a.exchange ? ir::AtomOp::cas : ir::AtomOp::add;
  }
}

/// How the level of detail is found.
struct Level {
  const char* name;
  int code;
  bool bias, gradients, value;  ///< what stands in front of and behind the coordinates
};
constexpr Level kLevels[] = {{"", 0, false, false, false},    {"_cl", 1, false, false, true},
                             {"_d", 2, false, true, false},   {"_d_cl", 3, false, true, true},
                             {"_l", 4, false, false, true},   {"_b", 5, true, false, false},
                             {"_b_cl", 6, true, false, true}, {"_lz", 7, false, false, false}};
constexpr Level kCoarse[] = {{"_cd", 0, false, true, false}, {"_cd_cl", 1, false, true, true}};

void sampled(TableBuilder& t, const std::string& base, int code, const Level& l, bool compares,
             bool offset, bool gathers) {
  const unsigned extra = (compares ? 1 : 0) + (offset ? 1 : 0) + (l.bias ? 1 : 0);
  Meaning& m = image(t, base + (compares ? "_c" : "") + l.name + (offset ? "_o" : ""), code,
                     kSampled, 1 + extra + (l.gradients ? 1 : 0),
                     3 + extra + (l.gradients ? 6 : 0) + (l.value ? 1 : 0))
                   .meaning;
  m.d16 = true;
  if (gathers) m.op = ir::Op::select;
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
  image(t, "image_get_lod", 96, kSampled, 1, 3);
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
    m.type = ir::Type::f16;
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
