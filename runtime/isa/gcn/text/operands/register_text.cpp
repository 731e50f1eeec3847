#include "runtime/isa/gcn/text/operands/register_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "runtime/isa/gcn/text/expression.hpp"

namespace lanewise::gcn {
namespace {

struct NamedCode {
  std::string_view name;
  int16_t codes[3];  ///< per generation, -1 = not there
  uint8_t count;

  unsigned code(Gen gen) const { return static_cast<unsigned>(codes[static_cast<int>(gen)]); }
  bool exists(Gen gen) const { return codes[static_cast<int>(gen)] >= 0; }
};
/// Of several names for one code the first is printed.
constexpr NamedCode kNamed[] = {{"vcc", {106, 106, 106}, 2},
                                {"vcc_lo", {106, 106, 106}, 1},
                                {"vcc_hi", {107, 107, 107}, 1},
                                {"m0", {124, 124, 124}, 1},
                                {"exec", {126, 126, 126}, 2},
                                {"exec_lo", {126, 126, 126}, 1},
                                {"exec_hi", {127, 127, 127}, 1},
                                {"src_vccz", {251, 251, 251}, 1},
                                {"src_execz", {252, 252, 252}, 1},
                                {"src_scc", {253, 253, 253}, 1},
                                {"vccz", {251, 251, 251}, 1},
                                {"execz", {252, 252, 252}, 1},
                                {"scc", {253, 253, 253}, 1},
                                {"src_lds_direct", {kLdsDirect, kLdsDirect, kLdsDirect}, 1},
                                {"lds_direct", {kLdsDirect, kLdsDirect, kLdsDirect}, 1},
                                {"flat_scratch", {-1, 104, 102}, 2},
                                {"flat_scratch_lo", {-1, 104, 102}, 1},
                                {"flat_scratch_hi", {-1, 105, 103}, 1},
                                {"tba", {108, 108, 108}, 2},
                                {"tba_lo", {108, 108, 108}, 1},
                                {"tba_hi", {109, 109, 109}, 1},
                                {"tma", {110, 110, 110}, 2},
                                {"tma_lo", {110, 110, 110}, 1},
                                {"tma_hi", {111, 111, 111}, 1}};
constexpr unsigned kTrapTemps = 12;

/// Registers of other generations: their names are no symbols.
constexpr std::array<std::string_view, 15> kElsewhere = {
    "xnack_mask",        "xnack_mask_lo",        "xnack_mask_hi",           "null",
    "sgpr_null",         "shared_base",          "src_shared_base",         "shared_limit",
    "src_shared_limit",  "private_base",         "src_private_base",        "private_limit",
    "src_private_limit", "pops_exiting_wave_id", "src_pops_exiting_wave_id"};

unsigned sgpr_limit(Gen gen) {
  return gen == Gen::gfx8 ? 102 : 104;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// `s3`, `v[2:3]`, `ttmp4`, without lists; false when it is no register.
bool read_range(Cursor& in, RegisterText& r) {
  in.skip_blanks();
  const size_t start = in.at();
  const size_t prefix = in.rest().substr(0, 4) == "ttmp" ? 4 : 1;
  const char c = in.peek();
  const bool range = in.peek(prefix) == '[';
  if ((c != 's' && c != 'v' && prefix == 1) || (!range && !is_digit(in.peek(prefix)))) return false;
  r.kind = c;
  in.seek(start + prefix);
  if (!range) {
    r.first = static_cast<unsigned>(in.number("a register number"));
    r.count = 1;
    return true;
  }
  in.take('[');
  r.first = static_cast<unsigned>(in.number("a register number"));
  unsigned last = r.first;
  if (in.take(':')) last = static_cast<unsigned>(in.number("a register number"));
  in.expect(']', "after the register range");
  if (last < r.first || last > 255)
    Cursor::fail_value(start, "register range runs backwards or too far");
  r.count = last - r.first + 1;
  return true;
}

}  // namespace

/// A range, or the registers one by one: `[s4,s5,s6,s7]`.
bool read_register(Cursor& in, RegisterText& r) {
  in.skip_blanks();
  if (in.peek() != '[') return read_range(in, r);
  const size_t start = in.at();
  in.take('[');
  if (!read_range(in, r)) Cursor::fail_at(start, "expected registers between the brackets");
  while (in.take(',')) {
    RegisterText next;
    const size_t at = in.at();
    if (!read_range(in, next) || next.kind != r.kind || next.first != r.first + r.count)
      Cursor::fail_at(at, "registers of a list must follow one another");
    r.count += next.count;
  }
  in.expect(']', "after the list of registers");
  return true;
}

void check_register(size_t at, const RegisterText& r, unsigned count, Gen gen) {
  const unsigned limit = r.kind == 'v' ? 256 : r.kind == 't' ? kTrapTemps : sgpr_limit(gen);
  const std::string kind = r.kind == 't' ? "ttmp" : std::string(1, r.kind);
  if (r.first + r.count > limit)
    Cursor::fail_value(at, fmt::format("register not available: {} has {}0 to {}{}", name(gen),
                                       kind, kind, limit - 1));
  if (r.count != count)
    Cursor::fail_value(
        at, fmt::format("expected {} register{}, found {}", count, count == 1 ? "" : "s", r.count));
  const unsigned align = r.count == 1 ? 1 : r.count == 2 ? 2 : 4;
  if (r.kind != 'v' && r.first % align != 0)
    Cursor::fail_value(at, fmt::format("{}[{}:{}] must start at a multiple of {}", kind, r.first,
                                       r.first + r.count - 1, align));
}

Operand register_operand(const RegisterText& r) {
  Operand o;
  o.count = static_cast<uint8_t>(r.count);
  o.code = r.first + (r.kind == 'v' ? kVgpr0 : r.kind == 't' ? kTtmp0 : 0);
  return o;
}

bool names_register(std::string_view name) {
  if (std::ranges::find(kElsewhere, name) != kElsewhere.end()) return true;
  if (std::ranges::find(kNamed, name, &NamedCode::name) != std::end(kNamed)) return true;
  Cursor in(name);
  const bool kind = in.take('s') || in.take('v') || in.take('a');
  if (!kind && !name.starts_with("ttmp")) return false;
  if (!kind) in.seek(4);
  return !in.rest().empty() && std::ranges::all_of(in.rest(), is_digit);
}

bool at_register(Cursor in) {
  in.skip_blanks();
  in.take('[');
  const std::string_view name = in.word();
  const bool range = in.peek() == '[' && (name == "s" || name == "v" || name == "ttmp");
  return range || names_register(name);
}

bool read_named(Cursor& in, unsigned count, bool reads, Gen gen, Operand& o) {
  in.skip_blanks();
  const size_t at = in.at();
  for (const NamedCode& n : kNamed) {
    if (!in.take_word(n.name)) continue;
    if (!n.exists(gen))
      Cursor::fail_value(at,
                         fmt::format("register not available: {} has no {}", name(gen), n.name));
    // Conditions are numbers of any width.
    const bool readable_only = n.code(gen) > 127;
    if (readable_only ? !reads : n.count != count)
      Cursor::fail_at(at, fmt::format("'{}' is not possible here", n.name));
    o.code = n.code(gen);
    o.count = static_cast<uint8_t>(count);
    return true;
  }
  return false;
}

bool is_scalar_register(unsigned code, unsigned count, Gen gen) {
  if (code + count <= sgpr_limit(gen)) return true;
  if (code >= kTtmp0 && code + count <= kTtmp0 + kTrapTemps) return true;
  for (const NamedCode& n : kNamed)
    if (n.exists(gen) && n.code(gen) == code && n.count == count) return true;
  return false;
}

std::string register_name(unsigned code, unsigned count, Gen gen) {
  for (const NamedCode& n : kNamed)
    if (n.exists(gen) && n.code(gen) == code && (n.count == count || code > 127))
      return std::string(n.name);
  const bool vector = code >= kVgpr0;
  const bool trap = !vector && code >= kTtmp0 && code < kTtmp0 + kTrapTemps;
  const unsigned first = vector ? code - kVgpr0 : trap ? code - kTtmp0 : code;
  const std::string_view kind = vector ? "v" : trap ? "ttmp" : "s";
  if (count == 1) return fmt::format("{}{}", kind, first);
  return fmt::format("{}[{}:{}]", kind, first, first + count - 1);
}

}  // namespace lanewise::gcn
