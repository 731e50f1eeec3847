#include "runtime/isa/gcn/objects/kernel_descriptor.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/isa/elf/elf.hpp"
#include "runtime/isa/gcn/text/operands/number_text.hpp"

namespace lanewise::gcn {
namespace {

constexpr unsigned kAny = 63;  ///< a number whose meaning says how large it may be
/// Bits of the descriptor's words, and of the three sizes of the header before version 3.
constexpr int kNowhere = -1, kWord1 = 8 * 48, kWord2 = 8 * 52, kProperties = 8 * 56;
struct DescriptorField {
  std::string_view name;
  unsigned bits = 1;  ///< that the text's number may have
  int at = kNowhere;  ///< its first bit in the descriptor
  unsigned user = 0;  ///< scalar registers that it asks for
  Gen since = Gen::gfx6;
  int old_at = kNowhere;  ///< where the header before version 3 has it elsewhere
};
constexpr DescriptorField kDescriptorFields[] = {
    {"group_segment_fixed_size", 32, 0, 0, Gen::gfx6, 8 * 64},
    {"private_segment_fixed_size", 32, 8 * 4, 0, Gen::gfx6, 8 * 60},
    {"kernarg_size", 32, 8 * 8, 0, Gen::gfx6, 8 * 72},
    {"user_sgpr_count", kAny, kWord2 + 1},
    {"user_sgpr_private_segment_buffer", 1, kProperties, 4},
    {"user_sgpr_dispatch_ptr", 1, kProperties + 1, 2},
    {"user_sgpr_queue_ptr", 1, kProperties + 2, 2},
    {"user_sgpr_kernarg_segment_ptr", 1, kProperties + 3, 2},
    {"user_sgpr_dispatch_id", 1, kProperties + 4, 2},
    {"user_sgpr_flat_scratch_init", 1, kProperties + 5, 2},
    {"user_sgpr_private_segment_size", 1, kProperties + 6, 1},
    {"system_sgpr_private_segment_wavefront_offset", 1, kWord2},
    {"system_sgpr_workgroup_id_x", 1, kWord2 + 7},
    {"system_sgpr_workgroup_id_y", 1, kWord2 + 8},
    {"system_sgpr_workgroup_id_z", 1, kWord2 + 9},
    {"system_sgpr_workgroup_info", 1, kWord2 + 10},
    {"system_vgpr_workitem_id", 2, kWord2 + 11},
    {"next_free_vgpr", kAny, kWord1},
    {"next_free_sgpr", kAny},
    {"reserve_vcc"},
    {"reserve_flat_scratch", 1, kNowhere, 0, Gen::gfx7},
    {"reserve_xnack_mask", 1, kNowhere, 0, Gen::gfx8},
    {"float_round_mode_32", 2, kWord1 + 12},
    {"float_round_mode_16_64", 2, kWord1 + 14},
    {"float_denorm_mode_32", 2, kWord1 + 16},
    {"float_denorm_mode_16_64", 2, kWord1 + 18},
    {"dx10_clamp", 1, kWord1 + 21},
    {"ieee_mode", 1, kWord1 + 23},
    {"exception_fp_ieee_invalid_op"},
    {"exception_fp_denorm_src"},
    {"exception_fp_ieee_div_zero"},
    {"exception_fp_ieee_overflow"},
    {"exception_fp_ieee_underflow"},
    {"exception_fp_ieee_inexact"},
    {"exception_int_div_zero"},
    {"uses_dynamic_stack"}};

const DescriptorField* descriptor_field(std::string_view name) {
  const auto* found = std::ranges::find(kDescriptorFields, name, &DescriptorField::name);
  return found == std::end(kDescriptorFields) ? nullptr : found;
}

}  // namespace

AmdhsaValues descriptor_values(std::span<const std::byte> bytes, bool old) {
  AmdhsaValues out;
  for (const DescriptorField& f : kDescriptorFields) {
    if (f.at == kNowhere) continue;
    const auto at = static_cast<unsigned>(old && f.old_at != kNowhere ? f.old_at : f.at);
    const uint64_t word =
        elf::read<uint32_t>(bytes, uint64_t{at / 32} * 4, "the kernel descriptor");
    // Vector registers come four at a time.
    const bool vectors = f.name == "next_free_vgpr";
    const unsigned bits = vectors ? 6 : f.bits == kAny ? 5 : f.bits;
    const uint64_t value = word >> at % 32 & ((uint64_t{1} << bits) - 1);
    out[std::string(f.name)] = vectors ? 4 * (value + 1) : value;
  }
  return out;
}

uint64_t KernelDescriptorBlock::value(std::string_view name, uint64_t otherwise) const {
  const auto found = values_.find(std::string(name));
  return found == values_.end() ? otherwise : found->second;
}

std::string KernelDescriptorBlock::line(Cursor& in) {
  constexpr std::string_view kPrefix = ".amdhsa_";
  in.skip_blanks();
  const size_t at = in.at();
  const std::string name(in.until(" \t\r"));
  if (!name.starts_with(kPrefix))
    Cursor::fail_at(at, "expected an .amdhsa_ directive or .end_amdhsa_kernel" + in.found(at));
  const DescriptorField* field = descriptor_field(std::string_view(name).substr(kPrefix.size()));
  if (field == nullptr) Cursor::fail_at(at, "unknown directive " + name);
  if (gen_ < field->since)
    Cursor::fail_at(at, fmt::format("{} is for {} and later", name, gcn::name(field->since)));
  if (values_.contains(std::string(field->name))) Cursor::fail_at(at, name + " is there twice");
  in.skip_blanks();
  const size_t value_at = in.at();
  const int64_t number = read_bits(in, "a number");
  if (!in.done()) in.fail("unexpected text behind the number" + in.found());
  if (number < 0 || number >> field->bits != 0)
    Cursor::fail_value(
        value_at, fmt::format("expected a number of 0 to {}", (uint64_t{1} << field->bits) - 1));
  if (field->name == "reserve_xnack_mask" && number != 0 && !xnack_)
    Cursor::fail_value(value_at, "the target has no XNACK mask");
  const auto value = static_cast<uint32_t>(number);
  values_[std::string(field->name)] = value;
  if (value != 0) user_registers_ += field->user;
  return value == number ? "" : fmt::format("{} has 32 bits: {} becomes {}", name, number, value);
}

/// As many registers as the descriptor's fields can say.
void KernelDescriptorBlock::check_registers() const {
  constexpr uint32_t kVectors = 256;
  const auto vectors = static_cast<uint32_t>(value("next_free_vgpr", 0));
  if (vectors > kVectors)
    Cursor::fail_value(0, fmt::format(".amdhsa_next_free_vgpr {}: there are {} vector registers",
                                      vectors, kVectors));
  const bool newer = gen_ == Gen::gfx8;
  const uint32_t most = newer ? 102 : 104;
  const auto scalars = static_cast<uint32_t>(value("next_free_sgpr", 0));
  uint32_t extra = value("reserve_vcc", 1) != 0 ? 2 : 0;
  if (newer && xnack_ && value("reserve_xnack_mask", 1) != 0) extra = 4;
  if (value("reserve_flat_scratch", 1) != 0) extra = newer ? 6 : 4;
  // GCN3 has the reserved ones behind those that code may name, those of earlier generations among
  // them.
  // The sum has 32 bits, as LLVM's.
  if (newer ? scalars > most : scalars + extra > most)
    Cursor::fail_value(
        0, fmt::format(".amdhsa_next_free_sgpr {}: there are {} scalar registers{}", scalars, most,
                       newer ? "" : fmt::format(", and {} are reserved", extra)));
}

void KernelDescriptorBlock::end() const {
  for (const char* required : {"next_free_vgpr", "next_free_sgpr"})
    if (!values_.contains(required))
      Cursor::fail_at(0, fmt::format(".amdhsa_{} is missing", required));
  check_registers();
  constexpr uint64_t kMostUser = 31;
  const uint64_t user = value("user_sgpr_count", user_registers_);
  if (user < user_registers_)
    Cursor::fail_value(0, fmt::format(".amdhsa_user_sgpr_count {}: the block's fields ask for {}",
                                      user, user_registers_));
  if (user > kMostUser)
    Cursor::fail_value(0, fmt::format("{} user registers: there are at most {}", user, kMostUser));
}

}  // namespace lanewise::gcn
