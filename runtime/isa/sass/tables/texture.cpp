// Rows of textures. How many registers the coordinates and the other arguments take is how open
// drivers and ptxas pass them: coordinates in the first source, the rest, the handle in front, in
// the second.
#include "runtime/isa/sass/tables/builder.hpp"

namespace lanewise::sass::table {
namespace {

using Fixed = TableBuilder::Fixed;

constexpr std::string_view kDimensions[] = {"1D", "ARRAY_1D", "2D",   "ARRAY_2D",
                                            "3D", "ARRAY_3D", "CUBE", "ARRAY_CUBE"};
constexpr std::string_view kCoordinates = "12233434", kDerivatives = "22446666",
                           kSetBits = "0112122312232334", kFlag = "01", kOne = "1", kTwo = "2";
constexpr Field kDimension{28, 3}, kMask{31, 4}, kPage{51, 3};
constexpr uint16_t kFirstPages = 52;  ///< the target that has predicates for absent pages

Mod level(uint8_t pos) {
  return other(pos, 3, named({"", "LZ", "LB", "LL", "INVALIDBLOD4", "INVALIDBLOD5", "LBA", "LLA"}));
}
Mod component(uint8_t pos) {
  return other(pos, 2, named({"R", "G", "B", "A"}));
}
Mod gather_offset(uint8_t pos) {
  return other(pos, 2, named({"", "AOFFI", "PTP", "INVALIDBTOFF03"}));
}

OperandSpec name(Field field, const std::string_view* names) {
  OperandSpec o = simple(Kind::named, Role::c, field.pos, field.len);
  o.names = names;
  return o;
}
OperandSpec dimension() {
  return name(kDimension, kDimensions);
}
OperandSpec mask() {
  return imm(Role::c, kMask.pos, kMask.len);
}
/// The texture's number; with .B it is in a register, and this prints as zero.
OperandSpec number(bool bindless) {
  return imm(Role::c, 36, bindless ? 0 : 13);
}
OperandSpec result() {
  return kD.taking({{kMask, kSetBits}});
}
OperandSpec coordinates(std::vector<Count> also = {}) {
  also.push_back({kDimension, kCoordinates});
  return kA.taking(std::move(also));
}
OperandSpec arguments(bool bindless, std::vector<Count> counts) {
  if (bindless) counts.push_back({{}, kOne});
  return kB.taking(std::move(counts));
}

/// With RZ for its second source, which text leaves out then, and with any other register.
void rows(TableBuilder& t, const std::string& mnemonic, std::string_view pattern,
          const std::vector<Mod>& mods, const std::vector<OperandSpec>& operands,
          std::vector<Fixed> fixed, LowerFn lower) {
  std::vector<OperandSpec> without = operands;
  std::erase_if(without, [](const OperandSpec& o) { return o.role == Role::b; });
  std::vector<Fixed> absent = fixed;
  absent.push_back({{20, 8}, kRZ});
  t.row(mnemonic, pattern, mods, without, lower, absent);
  t.row(mnemonic, pattern, mods, operands, lower, fixed);
}

/// Rows whose texels may be absent: a predicate says so from sm_52 on, where a bit limits the level
/// of detail as well; nothing executes rows with that one, whose operand no document describes and
/// no compute code has. `add` takes modifiers, operands, what is fixed, and what it means.
template <typename Add>
void paged_rows(TableBuilder& t, const std::vector<Mod>& mods,
                const std::vector<OperandSpec>& operands, LowerFn lower, Field limit,
                size_t limit_place, const Add& add) {
  std::vector<OperandSpec> paged = operands;
  paged.insert(paged.begin(), pred(Role::p, kPage.pos));
  std::vector<Fixed> unlimited;
  if (limit.present()) unlimited.push_back({limit, 0});
  std::vector<Fixed> present = unlimited;
  present.push_back({kPage, 7});
  add(mods, operands, present, lower);
  const size_t first = t.size();
  add(mods, paged, unlimited, lower);
  if (limit.present()) {
    std::vector<Mod> limited = mods;
    limited.insert(limited.begin() + static_cast<ptrdiff_t>(limit_place),
                   other(limit.pos, 1, {{1, "LC"}}));
    add(limited, operands, {{kPage, 7}}, nullptr);
    add(limited, paged, {}, nullptr);
  }
  t.from(t.size() - first, kFirstPages);
}

void fetch_rows(TableBuilder& t) {
  const Mod dc = set(50, "DC"), ndv = set(35, "NDV"), nodep = set(49, "NODEP");
  const Count compares{{50, 1}, kFlag};
  for (const bool b : {false, true}) {
    const uint8_t at = b ? 36 : 54;  // where level and offset stand
    const Count offset{{at, 1}, kFlag}, given{{static_cast<uint8_t>(at + 1), 3}, "00111111"};
    const auto fetch = [&](const std::string& name, std::string_view pattern) {
      return [&t, name, pattern](const std::vector<Mod>& mods,
                                 const std::vector<OperandSpec>& operands,
                                 const std::vector<Fixed>& fixed, LowerFn lower) {
        rows(t, name, pattern, mods, operands, fixed, lower);
      };
    };
    paged_rows(t, {level(static_cast<uint8_t>(at + 1)), set(at, "AOFFI"), dc, ndv, nodep},
               {result(), coordinates(), arguments(b, {given, offset, compares}), number(b),
                dimension(), mask()},
               lower_tex, b ? Field{40, 1} : Field{58, 1}, 1,
               fetch(b ? "TEX.B" : "TEX", b ? "1101 1110 10" : "1100 0"));
    std::vector<Mod> gather = {component(b ? 38 : 56), gather_offset(at), dc, ndv, nodep};
    if (b) gather.insert(gather.begin() + 1, other(40, 1, {{0, "B"}}));
    const size_t gathers = t.size();
    paged_rows(t, gather,
               {result(), coordinates(), arguments(b, {{{at, 2}, "0122"}, compares}), number(b),
                dimension(), mask()},
               lower_tld4, {}, 0, fetch("TLD4", b ? "1101 1110 11" : "1100 10"));
    const auto without_ndv = [](Form& f) {
      std::erase_if(f.mods, [](const Mod& m) { return m.field.pos == 35; });
    };
    t.later(t.size() - gathers, kFirstPascal, without_ndv);
    paged_rows(
        t,
        {other(55, 1, named({"LZ", "LL"})), set(35, "AOFFI"), set(50, "MS"), set(54, "CL"), nodep},
        {result(), coordinates(),
         arguments(b, {{{55, 1}, kFlag}, {{35, 1}, kFlag}, {{50, 1}, kFlag}}), number(b),
         dimension(), mask()},
        lower_tld, {}, 0, fetch(b ? "TLD.B" : "TLD", b ? "1101 1101" : "1101 1100"));
    const std::vector<Count> handle = b ? std::vector<Count>{{{}, kOne}} : std::vector<Count>{};
    paged_rows(t, {set(35, "AOFFI"), nodep},
               {result(), coordinates(handle), kB.taking({{kDimension, kDerivatives}}), number(b),
                dimension(), mask()},
               lower_txd, {50, 1}, 0,
               [&](const std::vector<Mod>& mods, const std::vector<OperandSpec>& operands,
                   const std::vector<Fixed>& fixed, LowerFn lower) {
                 t.row(b ? "TXD.B" : "TXD", b ? "1101 1110 01" : "1101 1110 00", mods, operands,
                       lower, fixed);
               });
  }
}

/// What has no name prints as half its number.
const std::string_view* query_names() {
  static const auto names = [] {
    std::vector<Code> codes = {{1, "TEX_HEADER_DIMENSION"},     {2, "TEX_HEADER_TEXTURE_TYPE"},
                               {5, "TEX_HEADER_SAMPLER_POS"},   {16, "TEX_SAMPLER_FILTER"},
                               {18, "TEX_SAMPLER_LOD"},         {20, "TEX_SAMPLER_WRAP"},
                               {22, "TEX_SAMPLER_BORDER_COLOR"}};
    std::vector<Code> halves = numbered("", 3, 32);
    for (Code& c : halves) c.value = static_cast<uint8_t>(2 * c.value);
    halves.insert(halves.end(), codes.begin(), codes.end());
    return by_code<64>(halves);
  }();
  return names.data();
}

void query_rows(TableBuilder& t) {
  const Mod ndv = set(35, "NDV"), nodep = set(49, "NODEP");
  for (const bool b : {false, true})
    t.row(b ? "TXQ.B" : "TXQ", b ? "1101 1111 0101 0" : "1101 1111 0100 1", {nodep},
          {result(), kA.taking({{{}, b ? kTwo : kOne}}), name({22, 6}, query_names()), number(b),
           mask()},
          lower_txq);
  t.row("TMML.LOD", "1101 1111 0101 1", {ndv, nodep},
        {result(), coordinates(), number(false), dimension(), mask()}, nullptr);
  rows(t, "TMML.B.LOD", "1101 1111 0110 0", {ndv, nodep},
       {result(), coordinates(), arguments(true, {}), number(true), dimension(), mask()}, {},
       nullptr);
  t.row("TXA", "1101 1111 0100 0", {ndv, nodep}, {result(), kA, number(false), mask()}, nullptr);
}

// The short forms: one code says shape, level and what else is given; up to two registers of result
// in each of two places. Codes without a shape do not exist.
constexpr Field kShortShape{53, 4}, kShortChannels{50, 3}, kShortSecond{28, 8};
constexpr std::string_view kSampledShapes[16] = {
    "1D",       "2D",       "2D", "2D", "2D",   "2D",   "2D", "ARRAY_2D",
    "ARRAY_2D", "ARRAY_2D", "3D", "3D", "CUBE", "CUBE", "",   ""};
constexpr std::string_view kLoadedShapes[16] = {"1D",       "1D", "2D", "", "2D", "2D", "2D", "3D",
                                                "ARRAY_2D", "",   "",   "", "2D", "",   "",   ""};
constexpr std::string_view kPairs[8] = {"R", "G", "B", "A", "RG", "RA", "GA", "BA"};
constexpr std::string_view kTriples[8] = {"RGB",  "RGA",      "RBA",      "GBA",
                                          "RGBA", "INVALID5", "INVALID6", "INVALID7"};

/// Results of 32 bits, or halves of which a register has two.
struct Packing {
  std::string_view suffix, short_bits, gather_bits;
  bool halves;
  uint16_t first;
};
constexpr Packing kPackings[] = {{"", "10", "00", false, 50},
                                 {".F16", "00", "10", true, kFirstPages},
                                 {".F16.RTZ", "01", "11", true, kFirstPascal}};

struct Short {
  std::string name;
  bool loads;
  const std::string_view* shapes;
  std::string_view first_source, second_source;
  LowerFn lower;
  std::vector<Code> levels;  ///< and what else is given, by the shape's code
};

/// The second place of the result stands first; RZ there means that the first one is enough.
void short_rows(TableBuilder& t, const Short& s, const Packing& p) {
  const size_t begin = t.size();
  const std::string pattern = "1101 " + std::string(p.short_bits) + (s.loads ? "1" : "0");
  const std::string mnemonic = s.name + std::string(p.suffix);
  const std::string_view count = p.halves ? "11111111" : "11112222";
  OperandSpec second = reg(Role::d, kShortSecond.pos);
  const OperandSpec a = kA.taking({{kShortShape, s.first_source}}),
                    b = kB.taking({{kShortShape, s.second_source}});
  const std::vector<Mod> mods = {other(kShortShape.pos, 4, s.levels), set(49, "NODEP")};
  rows(t, mnemonic, pattern, mods,
       {second, kD.taking({{kShortChannels, count}}), a, b, number(false),
        name(kShortShape, s.shapes), name(kShortChannels, kPairs)},
       {{kShortSecond, kRZ}}, s.lower);
  second.never_zero = true;
  rows(t, mnemonic, pattern, mods,
       {second.taking({{kShortChannels, count}}), kD.taking({{{}, p.halves ? kOne : kTwo}}), a, b,
        number(false), name(kShortShape, s.shapes), name(kShortChannels, kTriples)},
       {}, s.lower);
  t.from(t.size() - begin, p.first);
}

/// Coordinates are a pair where something else is given.
void short_gather_row(TableBuilder& t, const Packing& p) {
  const Field given{50, 2};
  const std::string_view count = p.halves ? kOne : kTwo;
  t.row("TLD4S" + std::string(p.suffix), "1101 1111 " + std::string(p.gather_bits),
        {component(52), set(51, "AOFFI"), set(50, "DC"), set(49, "NODEP")},
        {reg(Role::d, kShortSecond.pos).taking({{{}, count}}), kD.taking({{{}, count}}),
         kA.taking({{given, "1222"}}), kB.taking({{given, "1112"}}), number(false)},
        lower_tld4s);
  t.from(1, p.first);
}

void scalar_rows(TableBuilder& t) {
  const auto sampled =
      named({"LZ", "", "LZ", "LL", "DC", "LL.DC", "LZ.DC", "", "LZ", "LZ.DC", "", "LZ", "", "LL"});
  const std::vector<Code> loaded = {{0, "LZ"},    {1, "LL"}, {2, "LZ"}, {4, "LZ.AOFFI"}, {5, "LL"},
                                    {6, "LZ.MS"}, {7, "LZ"}, {8, "LZ"}, {12, "LL.AOFFI"}};
  const Short forms[] = {
      {"TEXS", false, kSampledShapes, "1112222222222211", "0111121112111211", lower_texs, sampled},
      {"TLDS", true, kLoadedShapes, "1111222211112111", "0111111121112111", lower_tlds, loaded}};
  for (const Packing& p : kPackings) {
    for (const Short& s : forms) short_rows(t, s, p);
    short_gather_row(t, p);
  }
}

}  // namespace

void texture_rows(TableBuilder& t) {
  const size_t first = t.size();
  t.variable_latency(true);
  t.claims(isa::Claim::effect);
  fetch_rows(t);
  query_rows(t);
  scalar_rows(t);
  t.trait(kTexture, t.size() - first);
  for (Form& f : t.last(t.size() - first)) {
    f.phased = true;
    if (f.lower == lower_tex || f.lower == lower_texs || f.lower == lower_txd) f.traits |= kFilters;
  }
  t.claims(isa::Claim::exact);
}

}  // namespace lanewise::sass::table
