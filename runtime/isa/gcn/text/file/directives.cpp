#include "runtime/isa/gcn/text/file/directives.hpp"

#include <algorithm>

#include "runtime/isa/gcn/text/expression.hpp"

namespace lanewise::gcn {
namespace {

constexpr std::string_view kHarmless[] = {".globl",
                                          ".global",
                                          ".weak",
                                          ".hidden",
                                          ".protected",
                                          ".internal",
                                          ".local",
                                          ".extern",
                                          ".type",
                                          ".size",
                                          ".ident",
                                          ".file",
                                          ".loc",
                                          ".addrsig",
                                          ".addrsig_sym",
                                          ".no_dead_strip",
                                          ".symver",
                                          ".lto_discard",
                                          ".print",
                                          ".warning",
                                          ".amdgpu_lds",
                                          ".amdgpu_hsa_kernel",
                                          ".version",
                                          ".reloc",
                                          ".pseudoprobe",
                                          ".amdgpu_hsa_module_global",
                                          ".amdgpu_hsa_program_global"};
constexpr std::string_view kAligning[] = {".p2align",  ".align",   ".balign",  ".p2alignw",
                                          ".p2alignl", ".balignw", ".balignl", ".align32"};

bool is_in(const auto& names, std::string_view name) {
  return std::ranges::find(names, name) != std::end(names);
}

uint64_t number(Cursor& in) {
  return static_cast<uint64_t>(read_constant(in, "a number"));
}

}  // namespace

bool is_harmless(std::string_view directive) {
  return is_in(kHarmless, directive) || directive.starts_with(".cfi_");
}
bool is_alignment(std::string_view directive) {
  return is_in(kAligning, directive);
}

Alignment read_alignment(std::string_view directive, Cursor& in) {
  Alignment a;
  in.skip_blanks();
  const size_t at = in.at();
  const uint64_t n = in.done() ? 0 : number(in);
  const bool power = directive.starts_with(".p2align") || directive == ".align32";
  a.to = power ? (n < 32 ? uint64_t{1} << n : 0) : std::max<uint64_t>(n, 1);
  if (a.to == 0 || a.to > 1U << 20 || (a.to & (a.to - 1)) != 0)
    Cursor::fail_value(at, "expected an alignment of 1 to 2^20 bytes, a power of two");
  if (in.take(',')) {
    in.skip_blanks();
    a.fills = in.peek() != ',';
    const uint64_t fill = a.fills ? number(in) : 0;
    a.width = directive.ends_with('w') ? 2 : directive.ends_with('l') ? 4 : 1;
    a.fill = fill & (~uint64_t{0} >> (64 - 8 * a.width));
    if (in.take(',')) a.most = number(in);
  }
  if (!in.done()) in.fail("unexpected text behind the alignment" + in.found());
  return a;
}

}  // namespace lanewise::gcn
