#include "runtime/isa/gcn/text/operands/format_text.hpp"

#include <fmt/format.h>

#include "runtime/ir/format_bytes.hpp"
#include "runtime/isa/gcn/text/operands/number_text.hpp"

namespace lanewise::gcn {
namespace {

constexpr std::string_view kDataPrefix = "BUF_DATA_FORMAT_", kNumberPrefix = "BUF_NUM_FORMAT_";
constexpr std::string_view kData[] = {"INVALID",     "8",          "16",          "8_8",
                                      "32",          "16_16",      "10_11_11",    "11_11_10",
                                      "10_10_10_2",  "2_10_10_10", "8_8_8_8",     "32_32",
                                      "16_16_16_16", "32_32_32",   "32_32_32_32", "RESERVED_15"};
constexpr std::string_view kNumberFormat[] = {"UNORM", "SNORM", "USCALED",   "SSCALED",
                                              "UINT",  "SINT",  "SNORM_OGL", "FLOAT"};
constexpr uint8_t kDefaultData = 1, kDefaultNumber = 0;

std::string upper(std::string_view s) {
  std::string out(s);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

uint8_t read_code(Cursor& in, std::string_view name, unsigned most) {
  in.expect(':', "after the field's name");
  in.skip_blanks();
  const size_t at = in.at();
  const uint64_t value = read_integer(in, "a format code");
  if (value > most) Cursor::fail_value(at, fmt::format("{} goes from 0 to {}", name, most));
  return static_cast<uint8_t>(value);
}

/// Sets the field that the name belongs to; each may be named once.
void read_operand_name(Cursor& in, Instruction& i, Gen gen, bool& data_seen, bool& number_seen) {
  in.skip_blanks();
  const size_t at = in.at();
  const std::string written = upper(in.word());
  std::string_view rest = written;
  const bool data = rest.starts_with(kDataPrefix), number = rest.starts_with(kNumberPrefix);
  if (data) rest.remove_prefix(kDataPrefix.size());
  if (number) rest.remove_prefix(kNumberPrefix.size());
  for (unsigned n = 0; n < 16 && !number; ++n) {
    if (rest != kData[n]) continue;
    if (data_seen) Cursor::fail_at(at, "the data format is named twice");
    data_seen = true;
    i.dfmt = static_cast<uint8_t>(n);
    return;
  }
  for (unsigned n = 0; n < 8 && !data; ++n) {
    if (rest != number_format_name(n, gen)) continue;
    if (number_seen) Cursor::fail_at(at, "the number format is named twice");
    number_seen = true;
    i.nfmt = static_cast<uint8_t>(n);
    return;
  }
  Cursor::fail_value(at, fmt::format("'{}' is no data format such as 8_8_8_8 and no number format "
                                     "such as UNORM of {}",
                                     written, name(gen)));
}

}  // namespace

std::string_view data_format_name(unsigned code) {
  return kData[code & 15];
}
std::string_view number_format_name(unsigned code, Gen gen) {
  return code == 6 && gen == Gen::gfx8 ? "RESERVED_6" : kNumberFormat[code & 7];
}

unsigned data_format_bytes(unsigned code) {
  return ir::kFormatBytes[code & 15];
}

bool documented_format(unsigned dfmt, unsigned nfmt, bool store, Gen gen) {
  constexpr unsigned kReadOnly = 1 << 2 | 1 << 3, kOgl = 1 << 6, kFloat = 1 << 7;
  constexpr unsigned kNormal = 1 << 0 | 1 << 1 | 1 << 4 | 1 << 5, kInteger = 1 << 4 | 1 << 5;
  unsigned allowed = kNormal | (store ? 0 : kReadOnly | (gen == Gen::gfx8 ? 0 : kOgl));
  switch (dfmt) {
    case 0:
    case 15:
      return false;
    case 4:
    case 11:
    case 13:
    case 14:
      allowed = kInteger | kFloat;
      break;
    case 6:
    case 7:
      allowed = kFloat;
      break;
    case 2:
    case 5:
    case 12:
      allowed |= kFloat;
      break;
    default:
      break;
  }
  return (allowed >> nfmt & 1) != 0;
}

void read_format_prefix(Cursor& in, Instruction& i) {
  for (bool data_seen = false, number_seen = false;;) {
    in.skip_blanks();
    const size_t at = in.at();
    const bool data = in.take_word("dfmt");
    if (!data && !in.take_word("nfmt")) return;
    if (data ? data_seen : number_seen) Cursor::fail_at(at, "the format is given twice");
    if (data)
      i.dfmt = read_code(in, "dfmt", 15);
    else
      i.nfmt = read_code(in, "nfmt", 7);
    (data ? data_seen : number_seen) = true;
    // Without the comma a sign would belong to the format's number.
    if (!in.take(',')) {
      in.skip_blanks();
      if (in.peek() == '-') in.expect(',', "after the format");
    }
  }
}

void read_format(Cursor& in, Instruction& i, Gen gen) {
  in.expect(':', "after 'format'");
  if (!in.take('[')) {
    in.skip_blanks();
    const size_t at = in.at();
    const uint64_t value = read_integer(in, "a format in brackets, or its code");
    if (value > 127) Cursor::fail_value(at, "format goes from 0 to 127");
    i.dfmt = value & 15;
    i.nfmt = static_cast<uint8_t>(value >> 4);
    return;
  }
  bool data_seen = false, number_seen = false;
  do read_operand_name(in, i, gen, data_seen, number_seen);
  while (in.take(','));
  in.expect(']', "after the format's names");
}

std::string write_format(const Instruction& i, Gen gen) {
  std::string names;
  if (i.dfmt != kDefaultData) names = fmt::format("{}{}", kDataPrefix, kData[i.dfmt & 15]);
  if (i.nfmt != kDefaultNumber)
    names += fmt::format("{}{}{}", names.empty() ? "" : ",", kNumberPrefix,
                         number_format_name(i.nfmt, gen));
  return names.empty() ? names : " format:[" + names + "]";
}

}  // namespace lanewise::gcn
