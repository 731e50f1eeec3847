#include "runtime/isa/gcn/encoding/formats.hpp"

#include "runtime/isa/gcn/encoding/lane_form.hpp"

namespace lanewise::gcn {
namespace {

/// `member_at<&Instruction::sdwa, &Sdwa::dst_sel>`: the member at the end of the path.
template <auto... kPath>
constexpr Member member_at = {
    [](const Instruction& i) { return static_cast<uint32_t>((i.*....*kPath)); },
    [](Instruction& i, uint32_t value) {
      auto& member = (i.*....*kPath);
      member = static_cast<std::remove_reference_t<decltype(member)>>(value);
    }};
/// Of source 0 or 1 of a DPP or SDWA form.
template <size_t (*kIndex)(const Row&), bool kFirst, auto kMember>
constexpr Member source_at = {
    [](const Instruction& i) {
      const size_t n = kIndex(*i.row);
      return kFirst || n != 0 ? static_cast<uint32_t>(i.operands[n].*kMember) : 0U;
    },
    [](Instruction& i, uint32_t value) {
      const size_t n = kIndex(*i.row);
      if (kFirst || n != 0) i.operands[n].*kMember = value != 0;
    }};
template <auto kMember>
constexpr Member source0 = source_at<first_source, true, kMember>;
template <auto kMember>
constexpr Member source1 = source_at<second_source, false, kMember>;
constexpr Member kRegister = {
    [](const Instruction& i) { return i.operands[first_source(*i.row)].code - kVgpr0; },
    [](Instruction& i, uint32_t n) { i.operands[first_source(*i.row)].code = kVgpr0 + n; }};
/// A byte of a pair's offsets.
template <unsigned kShift>
constexpr Member offset_byte = {
    [](const Instruction& i) { return i.offset >> kShift & 255U; },
    [](Instruction& i, uint32_t value) {
      i.offset = static_cast<uint16_t>((i.offset & ~(255U << kShift)) | value << kShift);
    }};
/// The text may say it and no bit holds it.
constexpr Member kUnheld = {[](const Instruction&) { return 0U; }, [](Instruction&, uint32_t) {}};
constexpr Member kHalf = {
    [](const Instruction& i) { return i.operand(Slot::attr)->value / kAttributeHigh; },
    [](Instruction& i, uint32_t high) {
      for (size_t n = 0; n < i.operands.size(); ++n)
        if (i.row->operands[n].slot == Slot::attr && high != 0)
          i.operands[n].value |= kAttributeHigh;
    }};

template <auto kFlag>
constexpr Member graphics = member_at<&Instruction::graphics, kFlag>;
template <auto kField>
constexpr Member dpp = member_at<&Instruction::dpp, kField>;
template <auto kField>
constexpr Member sdwa = member_at<&Instruction::sdwa, kField>;
using I = Instruction;

constexpr OperandField kScalar[] = {{Slot::sdst, 16, 7},
                                    {Slot::ksrc, 16, 7},
                                    {Slot::ssrc0, 0, 8},
                                    {Slot::ssrc1, 8, 8},
                                    {Slot::simm16, 0, 16, Holds::number},
                                    {Slot::label, 0, 16, Holds::number},
                                    {Slot::waitcnt, 0, 16, Holds::number},
                                    {Slot::hwreg, 0, 16, Holds::number},
                                    {Slot::message, 0, 16, Holds::number},
                                    {Slot::gpr_idx, 0, 16, Holds::number}};
constexpr OperandField kScalarCompare[] = {
    {Slot::ssrc0, 0, 8}, {Slot::ssrc1, 8, 8}, {Slot::gpr_idx, 8, 8, Holds::number}};
constexpr OperandField kScalarMemory[] = {
    {Slot::sdst, 15, 7}, {Slot::sbase, 9, 6, Holds::pairs}, {Slot::soff, 0, 8, Holds::offset, 8}};
constexpr OperandField kScalarMemory3[] = {{Slot::sdst, 6, 7},
                                           {Slot::sdata, 6, 7},
                                           {Slot::probe, 6, 7, Holds::number},
                                           {Slot::sbase, 0, 6, Holds::pairs},
                                           {Slot::soff, 32, 20, Holds::offset, 17}};
constexpr OperandField kVector[] = {
    {Slot::vdst, 17, 8, Holds::vgpr}, {Slot::sdst, 17, 8}, {Slot::src0, 0, 9},
    {Slot::vsrc1, 9, 8, Holds::vgpr}, {Slot::ssrc0, 0, 8}, {Slot::ssrc1, 9, 8}};
constexpr OperandField kLong[] = {{Slot::vdst, 0, 8, Holds::vgpr},
                                  {Slot::sdst, 0, 8},
                                  {Slot::mask_dst, 0, 8},
                                  {Slot::src0, 32, 9},
                                  {Slot::src1, 41, 9},
                                  {Slot::src2, 50, 9},
                                  {Slot::mask_src, 50, 8},
                                  {Slot::ssrc0, 32, 8},
                                  {Slot::ssrc1, 41, 8},
                                  {Slot::attr, 32, 9, Holds::number},
                                  {Slot::ipoint, 41, 9, Holds::number},
                                  {Slot::ivsrc, 41, 9},
                                  {Slot::ivsrc2, 50, 9}};
/// Beside a VGPR the mask stands where others have their absolute values.
constexpr OperandField kMaskBeside = {Slot::mask_dst, 8, 7};
constexpr OperandField kBuffer[] = {{Slot::vdata, 40, 8, Holds::vgpr},
                                    {Slot::vaddr, 32, 8, Holds::vgpr},
                                    {Slot::srsrc, 48, 5, Holds::quads},
                                    {Slot::soffset, 56, 8}};
constexpr OperandField kAddressed[] = {{Slot::vdst, 56, 8, Holds::vgpr},
                                       {Slot::ds_addr, 32, 8, Holds::vgpr},
                                       {Slot::data0, 40, 8, Holds::vgpr},
                                       {Slot::data1, 48, 8, Holds::vgpr}};
constexpr OperandField kImageFields[] = {{Slot::idata, 40, 8, Holds::vgpr},
                                         {Slot::iaddr, 32, 8, Holds::vgpr},
                                         {Slot::irsrc, 48, 5, Holds::quads},
                                         {Slot::isamp, 53, 5, Holds::quads}};
constexpr OperandField kExportFields[] = {{Slot::target, 4, 6, Holds::number}};
constexpr OperandField kInterpolation[] = {{Slot::vdst, 18, 8, Holds::vgpr},
                                           {Slot::attr, 8, 8, Holds::attribute},
                                           {Slot::ipoint, 0, 8, Holds::number},
                                           {Slot::ivsrc, 0, 8, Holds::vgpr}};

constexpr auto kOperands = Needs::operands;
constexpr Modifier kIdxen = {"idxen", 13, 1, member_at<&I::idxen>, Says::flag, kOperands},
                   kOffen = {"offen", 12, 1, member_at<&I::offen>, Says::flag, kOperands},
                   kAddr64 = {"addr64", 15, 1, member_at<&I::addr64>, Says::flag, kOperands},
                   kOffset = {"offset", 0, 12, member_at<&I::offset>, Says::number, kOperands},
                   kGlc = {"glc", 14, 1, member_at<&I::glc>, Says::flag, kOperands},
                   kSlc = {"slc", 54, 1, member_at<&I::slc>, Says::flag, kOperands},
                   kTfe = {"tfe", 55, 1, member_at<&I::tfe>, Says::flag, kOperands},
                   kLds = {"lds", 16, 1, member_at<&I::lds>, Says::flag, kOperands},
                   kDataFormat = {"format", 19, 4, member_at<&I::dfmt>, Says::format, kOperands},
                   kNumberFormatCode = {"", 23, 3, member_at<&I::nfmt>, Says::nothing, kOperands};
/// What the text may say of instructions that have no bit for it, for a rule to refuse it by name.
constexpr Modifier kNoAddr64 = {"addr64", 0, 0, member_at<&I::addr64>, Says::flag, kOperands},
                   kNoLds = {"lds", 0, 0, member_at<&I::lds>, Says::flag, kOperands};
constexpr Modifier kUntyped[] = {kIdxen, kOffen, kAddr64, kOffset, kGlc, kSlc, kTfe, kLds};
constexpr Modifier kUntyped3[] = {
    kIdxen,  kOffen, kNoAddr64,
    kOffset, kGlc,   {"slc", 17, 1, member_at<&I::slc>, Says::flag, kOperands},
    kTfe,    kLds};
constexpr Modifier kTyped[] = {
    kDataFormat, kNumberFormatCode, kIdxen, kOffen, kAddr64, kOffset, kGlc, kSlc, kTfe, kNoLds};
constexpr Modifier kTyped3[] = {
    kDataFormat, kNumberFormatCode, kIdxen, kOffen, kNoAddr64, kOffset, kGlc, kSlc, kTfe, kNoLds};
/// Loads before GCN3 have no bit for the flag, and take it.
constexpr Modifier kScalarCache[] = {{"glc", 0, 0, kUnheld, Says::flag, Needs::scalar_offset}};
constexpr Modifier kScalarCache3[] = {
    {"glc", 16, 1, member_at<&I::glc>, Says::flag, Needs::scalar_offset}};
constexpr Modifier kScale = {"mul", 59, 2, member_at<&I::omod>, Says::scale, Needs::scale},
                   kHigh = {"high", 40, 1, kHalf, Says::flag, Needs::half};
constexpr Modifier kLongModifiers[] = {
    kHigh, {"clamp", 11, 1, member_at<&I::clamp>, Says::flag, Needs::clamp}, kScale};
constexpr Modifier kLongModifiers3[] = {
    kHigh, {"clamp", 15, 1, member_at<&I::clamp>, Says::flag, Needs::clamp}, kScale};
constexpr Modifier kPlace = {"offset",        0, 16, member_at<&I::offset>, Says::number,
                             Needs::one_place},
                   kPlace0 = {"offset0", 0, 8, offset_byte<0>, Says::number, Needs::two_places},
                   kPlace1 = {"offset1", 8, 8, offset_byte<8>, Says::number, Needs::two_places};
constexpr Modifier kShare[] = {
    kPlace, kPlace0, kPlace1, {"gds", 17, 1, member_at<&I::gds>, Says::flag, Needs::counted}};
constexpr Modifier kShare3[] = {
    kPlace, kPlace0, kPlace1, {"gds", 16, 1, member_at<&I::gds>, Says::flag, Needs::counted}};
constexpr Modifier kFlat[] = {{"glc", 16, 1, member_at<&I::glc>},
                              {"slc", 17, 1, member_at<&I::slc>},
                              {"offset", 0, 0, kUnheld, Says::number}};
constexpr Modifier kImageModifiers[] = {
    {"dmask", 8, 4, graphics<&Graphics::dmask>, Says::hex},
    {"unorm", 12, 1, graphics<&Graphics::unorm>},
    {"glc", 13, 1, member_at<&I::glc>},
    {"slc", 25, 1, member_at<&I::slc>},
    {"r128", 15, 1, graphics<&Graphics::r128>},
    {"tfe", 16, 1, member_at<&I::tfe>},
    {"lwe", 17, 1, graphics<&Graphics::lwe>},
    {"da", 14, 1, graphics<&Graphics::da>},
    {"d16", 63, 1, graphics<&Graphics::d16>},
};
constexpr Modifier kExportModifiers[] = {{"done", 11, 1, graphics<&Graphics::done>},
                                         {"compr", 10, 1, graphics<&Graphics::compr>},
                                         {"vm", 12, 1, graphics<&Graphics::vm>}};
constexpr Modifier kDpp[] = {
    {"the choice of lanes", 8, 9, dpp<&Dpp::ctrl>, Says::lanes},
    {"row_mask", 28, 4, dpp<&Dpp::row_mask>, Says::mask},
    {"bank_mask", 24, 4, dpp<&Dpp::bank_mask>, Says::mask},
    {"bound_ctrl", 19, 1, dpp<&Dpp::bound_ctrl>, Says::on},
    {"", 0, 8, kRegister, Says::nothing},
    {"", 20, 1, source0<&Operand::neg>, Says::nothing},
    {"", 21, 1, source0<&Operand::abs>, Says::nothing},
    {"", 22, 1, source1<&Operand::neg>, Says::nothing},
    {"", 23, 1, source1<&Operand::abs>, Says::nothing},
};
constexpr Modifier kSdwa[] = {
    {"clamp", 13, 1, member_at<&I::clamp>},
    {"dst_sel", 8, 3, sdwa<&Sdwa::dst_sel>, Says::part, Needs::destination},
    {"dst_unused", 11, 2, sdwa<&Sdwa::dst_unused>, Says::rest, Needs::destination},
    {"src0_sel", 16, 3, sdwa<&Sdwa::src0_sel>, Says::part},
    {"src1_sel", 24, 3, sdwa<&Sdwa::src1_sel>, Says::part, Needs::second_source},
    {"", 0, 8, kRegister, Says::nothing},
    {"", 19, 1, sdwa<&Sdwa::sext0>, Says::nothing},
    {"", 20, 1, source0<&Operand::neg>, Says::nothing},
    {"", 21, 1, source0<&Operand::abs>, Says::nothing},
    {"", 27, 1, sdwa<&Sdwa::sext1>, Says::nothing, Needs::second_source},
    {"", 28, 1, source1<&Operand::neg>, Says::nothing},
    {"", 29, 1, source1<&Operand::abs>, Says::nothing},
};

constexpr uint8_t kAll = 7, kOld = 3, kNew = 4;
/// Most specific patterns first. Where GCN3 differs: scalar loads are two dwords, opcodes of VOP3
/// and MTBUF have a bit more.
constexpr InstructionFormat kFormats[] = {
    {Encoding::sop1, "SOP1", kAll, 0xff800000, 0xbe800000, 8, 8, 1, kScalar, {}},
    {Encoding::sopc, "SOPC", kAll, 0xff800000, 0xbf000000, 16, 7, 1, kScalarCompare, {}},
    {Encoding::sopp, "SOPP", kAll, 0xff800000, 0xbf800000, 16, 7, 1, kScalar, {}},
    {Encoding::sopk, "SOPK", kAll, 0xf0000000, 0xb0000000, 23, 5, 1, kScalar, {}},
    {Encoding::sop2, "SOP2", kAll, 0xc0000000, 0x80000000, 23, 7, 1, kScalar, {}},
    {Encoding::smrd, "SMRD", kOld, 0xf8000000, 0xc0000000, 22, 5, 1, kScalarMemory, kScalarCache},
    {Encoding::smrd, "SMRD", kNew, 0xfc000000, 0xc0000000, 18, 8, 2, kScalarMemory3, kScalarCache3},
    {Encoding::vop3, "VOP3", kOld, 0xfc000000, 0xd0000000, 17, 9, 2, kLong, kLongModifiers},
    {Encoding::vop3, "VOP3", kNew, 0xfc000000, 0xd0000000, 16, 10, 2, kLong, kLongModifiers3},
    {Encoding::mubuf, "MUBUF", kOld, 0xfc000000, 0xe0000000, 18, 7, 2, kBuffer, kUntyped},
    {Encoding::mubuf, "MUBUF", kNew, 0xfc000000, 0xe0000000, 18, 7, 2, kBuffer, kUntyped3},
    {Encoding::mtbuf, "MTBUF", kOld, 0xfc000000, 0xe8000000, 16, 3, 2, kBuffer, kTyped},
    {Encoding::mtbuf, "MTBUF", kNew, 0xfc000000, 0xe8000000, 15, 4, 2, kBuffer, kTyped3},
    {Encoding::ds, "DS", kOld, 0xfc000000, 0xd8000000, 18, 8, 2, kAddressed, kShare},
    {Encoding::ds, "DS", kNew, 0xfc000000, 0xd8000000, 17, 8, 2, kAddressed, kShare3},
    {Encoding::flat, "FLAT", kAll, 0xfc000000, 0xdc000000, 18, 7, 2, kAddressed, kFlat},
    {Encoding::mimg, "MIMG", kAll, 0xfc000000, 0xf0000000, 18, 7, 2, kImageFields, kImageModifiers},
    {Encoding::exp, "EXP", kOld, 0xfc000000, 0xf8000000, 0, 0, 2, kExportFields, kExportModifiers},
    {Encoding::exp, "EXP", kNew, 0xfc000000, 0xc4000000, 0, 0, 2, kExportFields, kExportModifiers},
    {Encoding::vintrp, "VINTRP", kOld, 0xfc000000, 0xc8000000, 16, 2, 1, kInterpolation, {}},
    {Encoding::vintrp, "VINTRP", kNew, 0xfc000000, 0xd4000000, 16, 2, 1, kInterpolation, {}},
    {Encoding::vop1, "VOP1", kAll, 0xfe000000, 0x7e000000, 9, 8, 1, kVector, {}},
    {Encoding::vopc, "VOPC", kAll, 0xfe000000, 0x7c000000, 17, 8, 1, kVector, {}},
    {Encoding::vop2, "VOP2", kAll, 0x80000000, 0x00000000, 25, 6, 1, kVector, {}},
};

bool exists(const InstructionFormat& f, Gen gen) {
  return (f.gens >> static_cast<int>(gen) & 1) != 0;
}

}  // namespace

const InstructionFormat& format_of(Encoding encoding, Gen gen) {
  for (const InstructionFormat& f : kFormats)
    if (f.encoding == encoding && exists(f, gen)) return f;
  return kFormats[0];
}

const InstructionFormat* format_at(uint32_t word, Gen gen) {
  for (const InstructionFormat& f : kFormats)
    if (exists(f, gen) && (word & f.mask) == f.match) return &f;
  return nullptr;
}

const OperandField* field_of(const InstructionFormat& format, const Row& row, Slot slot) {
  if (slot == Slot::mask_dst && row.has(Slot::vdst)) return &kMaskBeside;
  for (const OperandField& f : format.fields)
    if (f.slot == slot) return &f;
  return nullptr;
}

std::span<const Modifier> form_modifiers(Form form) {
  return form == Form::dpp ? std::span<const Modifier>(kDpp) : std::span<const Modifier>(kSdwa);
}

bool has_modifier(const Row& row, const Modifier& m, Gen gen) {
  const bool permutes = row.kind == Kind::across && !row.meaning.swizzle;
  switch (m.needs) {
    case Needs::nothing:
      return true;
    case Needs::operands:
      return !row.operands.empty();
    case Needs::scalar_offset:
      return row.has(Slot::soff) && !row.has(Slot::probe);
    case Needs::counted:
      return row.kind != Kind::nothing && !permutes;
    case Needs::one_place:
      return row.kind != Kind::nothing && row.meaning.stride == 0;
    case Needs::two_places:
      return row.meaning.stride != 0;
    case Needs::clamp:
      return row.takes_clamp(gen);
    case Needs::scale:
      return row.takes_output_scale();
    case Needs::half:
      return row.has(Slot::attr) && row.meaning.type == ir::Type::f16;
    case Needs::destination:
      return row.encoding != Encoding::vopc;
    case Needs::second_source:
      return second_source(row) != 0;
  }
  return false;
}

}  // namespace lanewise::gcn
