#include "runtime/isa/gcn/text/directives.hpp"

#include <algorithm>

#include "runtime/isa/gcn/text/number_text.hpp"

namespace lanewise::gcn {
namespace {

constexpr std::string_view kHarmless[] = {
    ".globl",     ".global",      ".weak",           ".hidden",
    ".protected", ".internal",    ".local",          ".type",
    ".size",      ".ident",       ".file",           ".loc",
    ".addrsig",   ".addrsig_sym", ".amd_amdgpu_isa", ".amdgpu_hsa_kernel",
    ".amdgpu_lds"};
constexpr std::string_view kChanging[] = {
    ".rept",   ".rep",  ".endr",  ".irp",         ".irpc",       ".macro",    ".endm",
    ".purgem", ".if",   ".ifdef", ".ifndef",      ".ifeq",       ".ifne",     ".ifb",
    ".ifnb",   ".ifc",  ".else",  ".elseif",      ".endif",      ".include",  ".incbin",
    ".org",    ".fill", ".octa",  ".pushsection", ".popsection", ".previous", ".altmacro"};
constexpr std::string_view kAligning[] = {".p2align", ".align", ".balign"};

bool is_in(const auto& names, std::string_view name) {
  return std::ranges::find(names, name) != std::end(names);
}

uint64_t number(Cursor& in) {
  in.skip_blanks();
  return read_integer(in, "a number");
}

}  // namespace

bool is_harmless(std::string_view directive) {
  return is_in(kHarmless, directive) || directive.starts_with(".cfi_");
}
bool changes_lines(std::string_view directive) {
  return is_in(kChanging, directive);
}
bool is_alignment(std::string_view directive) {
  return is_in(kAligning, directive);
}

Alignment read_alignment(std::string_view directive, Cursor& in) {
  Alignment a;
  in.skip_blanks();
  const size_t at = in.at();
  const uint64_t n = number(in);
  a.to = directive == ".p2align" ? (n < 13 ? uint64_t{1} << n : 0) : n;
  if (a.to == 0 || a.to > 4096 || (a.to & (a.to - 1)) != 0)
    Cursor::fail_value(at, "expected an alignment of 1 to 4096 bytes, a power of two");
  if (in.take(',')) {
    in.skip_blanks();
    a.fills = in.peek() != ',';
    if (a.fills) a.fill = number(in) & 255;
    if (in.take(',')) a.most = number(in);
  }
  if (!in.done()) in.fail("unexpected text behind the alignment" + in.found());
  return a;
}

}  // namespace lanewise::gcn
