// What the parts of the instruction table are written with. Patterns are written from bit 63
// downwards; '-' is a bit of some field.
#pragma once

#include <array>
#include <cassert>
#include <deque>
#include <span>

#include "runtime/isa/sass/lowering/semantics.hpp"
#include "runtime/isa/sass/tables/form.hpp"

namespace lanewise::sass::table {

using Kind = OperandSpec::Kind;

inline OperandSpec simple(Kind kind, Role role, uint8_t pos, uint8_t len) {
  return {.kind = kind, .role = role, .field = {pos, len}};
}
inline OperandSpec reg(Role role, uint8_t pos) {
  return simple(Kind::reg, role, pos, 8);
}
inline OperandSpec pred(Role role, uint8_t pos) {
  return simple(Kind::pred, role, pos, 3);
}
inline OperandSpec imm(Role role, uint8_t pos, uint8_t len, bool is_signed = false) {
  return simple(Kind::imm, role, pos, len).with(&OperandSpec::is_signed, is_signed);
}
inline OperandSpec imm20(Role role) {
  return {.kind = Kind::imm, .role = role, .field = {20, 19}, .sign = {56, 1}};
}
inline OperandSpec fimm20(Role role) {
  return {.kind = Kind::fimm, .role = role, .field = {20, 19}, .sign = {56, 1}};
}
inline OperandSpec fimm32(Role role) {
  return simple(Kind::fimm, role, 20, 32);
}
/// Offset / 4 in the low 14 bits, the bank above.
inline OperandSpec cbank(Role role) {
  return simple(Kind::cbank, role, 20, 19);
}
/// c[bank][offset] with every bit of the offset in the word.
inline OperandSpec cbank_bytes(Role role) {
  return simple(Kind::cbank, role, 20, 21);
}
inline OperandSpec spaced(const OperandSpec& o) {
  return o.with(&OperandSpec::spaced, true);
}
/// [Ra + imm]; `shift` low bits of the offset are not in the word.
inline OperandSpec address(uint8_t len, uint8_t pos = 20, uint8_t shift = 0) {
  return {.kind = Kind::address,
          .role = Role::addr,
          .field = {pos, len},
          .is_signed = true,
          .shift = shift};
}
inline OperandSpec optional(const OperandSpec& o, uint8_t absent = 0) {
  return o.with(&OperandSpec::optional, true).with(&OperandSpec::absent, absent);
}
/// c[bank][Ra + offset]
inline OperandSpec cindex() {
  return simple(Kind::cindex, Role::addr, 20, 16).with(&OperandSpec::is_signed, true);
}
/// A test of the flags; CC.T is not written.
inline OperandSpec flag_test(uint8_t pos) {
  return optional(simple(Kind::cctest, Role::test, pos, 5), kAlways);
}

/// Codes from `first` on whose name is `name` and their number, as the vendor's disassembler prints
/// what stands for nothing; behind those that there are. One thread makes the one table.
inline std::vector<Code> numbered(std::string_view name, size_t first, size_t end,
                                  const std::vector<Code>& before = {}) {
  static std::deque<std::string> texts;
  std::vector<Code> codes = before;
  for (size_t n = first; n < end; ++n)
    codes.push_back({static_cast<uint8_t>(n), texts.emplace_back(name).append(std::to_string(n))});
  return codes;
}
/// Codes from 0 on, one for each name; those behind them up to `end` are numbered.
template <typename Names = std::initializer_list<std::string_view>>
std::vector<Code> named(const Names& names, std::string_view rest = {}, size_t end = 0) {
  std::vector<Code> codes;
  for (const std::string_view name : names)
    codes.push_back({static_cast<uint8_t>(codes.size()), name});
  return numbered(rest, codes.size(), end, codes);
}
/// Names of an operand by its code, empty where there is none.
template <size_t N>
std::array<std::string_view, N> by_code(const std::vector<Code>& codes) {
  std::array<std::string_view, N> names;
  for (const Code& c : codes) names.at(c.value) = c.text;
  return names;
}

inline Mod flag(ModId id, uint8_t pos, std::string_view text) {
  return {id, {pos, 1}, named({"", text})};
}
/// A modifier that only the text and the bits know.
inline Mod other(uint8_t pos, uint8_t len, std::vector<Code> codes) {
  return {ModId::other, {pos, len}, std::move(codes)};
}
inline Mod set(uint8_t pos, std::string_view text) {
  return flag(ModId::other, pos, text);
}
inline Mod integer_cond(Field low, Field high = {}) {
  return {ModId::cond, low, named({"F", "LT", "EQ", "LE", "GT", "NE", "GE", "T"}), high};
}
/// Codes 8 to 15 are true where a number is none.
inline Mod float_cond(uint8_t pos = 48) {
  return {ModId::cond,
          {pos, 4},
          named({"F", "LT", "EQ", "LE", "GT", "NE", "GE", "NUM", "NAN", "LTU", "EQU", "LEU", "GTU",
                 "NEU", "GEU", "T"})};
}
inline Mod bool_mod(uint8_t pos) {
  return {ModId::bop, {pos, 2}, named({"AND", "OR", "XOR", "INVALIDBOP3"})};
}
inline Mod logic_mod(uint8_t pos) {
  return {ModId::op, {pos, 2}, named({"AND", "OR", "XOR", "PASS_B"})};
}
inline Mod signed_mod() {
  return {ModId::signed_, {48, 1}, {{1, ""}, {0, "U32"}, {1, "S32", true}}};
}
inline Mod round_mod(uint8_t pos) {
  return {ModId::round, {pos, 2}, {{0, ""}, {1, "RM"}, {2, "RP"}, {3, "RZ"}, {0, "RN", true}}};
}
inline Mod fmz_mod(uint8_t pos, std::string_view third = "INVALIDFMZ3") {
  return {ModId::ftz, {pos, 2}, named({"", "FTZ", "FMZ", third})};
}
/// Three bits, or four with exchanges, where `rest` names what stands for nothing.
inline std::vector<Code> atomic_codes(std::string_view rest = {}) {
  std::vector<Code> codes = named({"ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR"});
  if (rest.empty()) return codes;
  codes.push_back({8, "EXCH"});
  return numbered(rest, codes.size(), 16, codes);
}

/// What Pascal changed.
inline constexpr uint16_t kFirstPascal = 60;

// Where most rows have their registers.
inline const OperandSpec kD = reg(Role::d, 0), kA = reg(Role::a, 8), kB = reg(Role::b, 20),
                         kC = reg(Role::c, 39);

class TableBuilder {
 public:
  /// fixed: (field, value) pairs that are part of the form beside the opcode bits.
  struct Fixed {
    Field field;
    uint64_t value;
  };

  Form& row(std::string mnemonic, std::string_view pattern, std::vector<Mod> mods,
            std::vector<OperandSpec> operands, LowerFn lower, std::vector<Fixed> fixed = {}) {
    Form f;
    f.mnemonic = std::move(mnemonic);
    read_pattern(f, pattern);
    f.opcode = f.mask;
    for (const Fixed& x : fixed) fix(f, x);
    f.mods = std::move(mods);
    f.operands = std::move(operands);
    f.lower = lower;
    f.claim = lower == nullptr ? isa::Claim::none : claim_;
    f.variable_latency = variable_;
    f.shows_reuse = !variable_ && f.match >> 61 != 7;
    rows_.push_back(std::move(f));
    return rows_.back();
  }

  /// The three variants of a two-source form: `tail` follows the seven variant bits; the operand
  /// with role b is replaced by a register, a constant and an immediate.
  void alu(const std::string& mnemonic, std::string_view tail, const std::vector<Mod>& mods,
           const std::vector<OperandSpec>& operands, LowerFn lower, bool is_float = false,
           const std::vector<Fixed>& fixed = {}) {
    variants({mnemonic, "110", "10", is_float}, "0" + std::string(tail), mods, operands, lower,
             fixed);
  }
  /// Same for the 0101 101 / 0100 101 / 0011 011 group (compares).
  void compare(const std::string& mnemonic, std::string_view tail, const std::vector<Mod>& mods,
               const std::vector<OperandSpec>& operands, LowerFn lower,
               const std::vector<Fixed>& fixed = {}, bool is_float = false) {
    variants({mnemonic, "101", "01", is_float}, "1" + std::string(tail), mods, operands, lower,
             fixed);
  }
  /// Three sources, of which the second or the third may be a constant, or the second an
  /// immediate. `tail` begins behind 0101 101.
  void triple(const std::string& mnemonic, std::string_view tail, const std::vector<Mod>& mods,
              const std::vector<OperandSpec>& operands, LowerFn lower, bool is_float = false,
              const std::vector<Fixed>& fixed = {}) {
    variants({mnemonic, "101", "01", is_float, true}, std::string(tail), mods, operands, lower,
             fixed);
  }

  /// What the rows from here on are: their control fields may name scoreboards, or not.
  void variable_latency(bool yes) { variable_ = yes; }
  /// What the rows from here on claim, where they can run.
  void claims(isa::Claim claim) { claim_ = claim; }
  /// The rows added last.
  std::span<Form> last(size_t count) { return std::span(rows_).last(count); }
  /// Says something about the rows added last.
  void trait(uint32_t traits, size_t count = 1) {
    for (Form& f : last(count)) f.traits |= traits;
  }
  void flow(Flow flow, Token token = Token::sync) {
    rows_.back().flow = flow;
    rows_.back().token = token;
  }
  /// The rows added last are others from a target on: copies of them are changed.
  template <typename Change>
  void later(size_t count, uint16_t arch, const Change& change) {
    for (size_t n = rows_.size() - count, end = rows_.size(); n < end; ++n) {
      Form& f = again(n);
      rows_[n].max_arch = static_cast<uint16_t>(arch - 1);
      f.min_arch = arch;
      change(f);
    }
  }
  uint16_t min_arch(size_t place) const { return rows_[place].min_arch; }
  /// A copy of a row, behind all others.
  Form& again(size_t place) { return rows_.emplace_back(Form(rows_[place])); }
  /// Rows that are looked at before others.
  void before(size_t place, std::vector<Form> rows) {
    rows_.insert(rows_.begin() + static_cast<ptrdiff_t>(place), rows.begin(), rows.end());
  }
  static void fix(Form& f, const Fixed& x) {
    f.mask |= x.field.mask();
    x.field.set(f.match, x.value);
  }
  /// The rows added last exist from a target on.
  void from(size_t count, uint16_t arch) {
    for (Form& f : last(count)) f.min_arch = arch;
  }
  size_t size() const { return rows_.size(); }
  std::vector<Form> take() { return std::move(rows_); }

 private:
  static void read_pattern(Form& f, std::string_view pattern) {
    int bit = 63;
    for (char c : pattern) {
      if (c == ' ') continue;
      assert(bit >= 0);
      if (c != '-') f.mask |= uint64_t{1} << bit;
      if (c == '1') f.match |= uint64_t{1} << bit;
      --bit;
    }
  }
  struct Variants {
    const std::string& mnemonic;
    std::string head, immediate_head;
    bool is_float, constant_third = false;
  };
  /// Bit 56 is the immediate's sign in immediate variants, part of the opcode in the others.
  void variants(const Variants& v, const std::string& rest, const std::vector<Mod>& mods,
                const std::vector<OperandSpec>& operands, LowerFn lower,
                const std::vector<Fixed>& fixed) {
    const auto add = [&](const std::string& pattern, const OperandSpec& b,
                         const OperandSpec& c = kC) {
      std::vector<OperandSpec> all = operands;
      for (OperandSpec& o : all) {
        if (o.role != Role::b && (o.role != Role::c || c.kind == Kind::reg)) continue;
        const OperandSpec& by = o.role == Role::b ? b : c;
        o.kind = by.kind;
        o.field = by.field;
        o.sign = by.sign;
      }
      row(v.mnemonic, pattern, mods, std::move(all), lower, fixed);
    };
    add("0101 " + v.head + rest, kB);
    add("0100 " + v.head + rest, cbank(Role::b));
    if (v.constant_third) add("0101 001" + rest, reg(Role::b, 39), cbank(Role::c));
    add("0011 " + v.immediate_head + rest.substr(0, 1) + "-" + rest.substr(1),
        v.is_float ? fimm20(Role::b) : imm20(Role::b));
  }

  std::vector<Form> rows_;
  bool variable_ = false;
  isa::Claim claim_ = isa::Claim::none;
};

/// What reads special registers, those that only later targets have among them.
void special_register_rows(TableBuilder& t, const std::string& mnemonic, std::string_view pattern);
void memory_rows(TableBuilder& t);
void cache_rows(TableBuilder& t);
void sync_rows(TableBuilder& t);
void bit_rows(TableBuilder& t);
void float_compare_rows(TableBuilder& t);
void conversion_group(TableBuilder& t);
void half_rows(TableBuilder& t);
void double_rows(TableBuilder& t);
void multiply_rows(TableBuilder& t);
void video_rows(TableBuilder& t);
void flow_rows(TableBuilder& t);
void predicate_rows(TableBuilder& t);
void texture_rows(TableBuilder& t);
void surface_rows(TableBuilder& t);
void graphics_rows(TableBuilder& t);

}  // namespace lanewise::sass::table
