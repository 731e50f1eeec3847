// What the parts of the instruction table are written with. Patterns are written from bit 63
// downwards; '-' is a bit of some field.
#pragma once

#include <cassert>
#include <span>

#include "runtime/isa/sass/lowering/semantics.hpp"
#include "runtime/isa/sass/tables/form.hpp"

namespace lanewise::sass::table {

using Kind = OperandSpec::Kind;

inline OperandSpec reg(Role role, uint8_t pos) {
  OperandSpec o;
  o.kind = Kind::reg;
  o.role = role;
  o.field = {pos, 8};
  return o;
}
inline OperandSpec pred(Role role, uint8_t pos) {
  OperandSpec o;
  o.kind = Kind::pred;
  o.role = role;
  o.field = {pos, 3};
  return o;
}
inline OperandSpec imm(Role role, uint8_t pos, uint8_t len, bool is_signed = false) {
  OperandSpec o;
  o.kind = Kind::imm;
  o.role = role;
  o.field = {pos, len};
  o.is_signed = is_signed;
  return o;
}
inline OperandSpec imm20(Role role) {
  OperandSpec o = imm(role, 20, 19);
  o.sign = {56, 1};
  return o;
}
inline OperandSpec fimm20(Role role) {
  OperandSpec o = imm20(role);
  o.kind = Kind::fimm;
  return o;
}
inline OperandSpec fimm32(Role role) {
  OperandSpec o = imm(role, 20, 32);
  o.kind = Kind::fimm;
  return o;
}
inline OperandSpec cbank(Role role) {
  OperandSpec o;
  o.kind = Kind::cbank;
  o.role = role;
  o.field = {20, 19};  // offset / 4 in the low 14 bits, bank above
  return o;
}
/// c[bank][offset] with every bit of the offset in the word.
inline OperandSpec cbank_bytes(Role role) {
  OperandSpec o = cbank(role);
  o.field = {20, 21};
  return o;
}
inline OperandSpec spaced(OperandSpec o) {
  o.spaced = true;
  return o;
}
/// [Ra + imm]; `shift` low bits of the offset are not in the word.
inline OperandSpec address(uint8_t len, uint8_t pos = 20, uint8_t shift = 0) {
  OperandSpec o = imm(Role::addr, pos, len, true);
  o.kind = Kind::address;
  o.shift = shift;
  return o;
}
inline OperandSpec simple(Kind kind, Role role, uint8_t pos, uint8_t len) {
  OperandSpec o = imm(role, pos, len);
  o.kind = kind;
  return o;
}

/// A test of the flags; CC.T is not written.
inline OperandSpec flag_test(uint8_t pos) {
  OperandSpec o = simple(Kind::cctest, Role::test, pos, 5);
  o.optional = true;
  o.absent = kAlways;
  return o;
}
inline OperandSpec optional(OperandSpec o, uint8_t absent = 0) {
  o.optional = true;
  o.absent = absent;
  return o;
}

inline Mod flag(ModId id, uint8_t pos, std::string_view text) {
  return {id, {pos, 1}, {{0, ""}, {1, text}}};
}
/// A modifier that only the text and the bits know.
inline Mod other(uint8_t pos, uint8_t len, std::vector<Code> codes) {
  return {ModId::other, {pos, len}, std::move(codes)};
}
inline Mod set(uint8_t pos, std::string_view text) {
  return flag(ModId::other, pos, text);
}
/// Codes 8 to 15 are true where a number is none.
inline Mod float_cond() {
  return {ModId::cond,
          {48, 4},
          {{0, "F"},
           {1, "LT"},
           {2, "EQ"},
           {3, "LE"},
           {4, "GT"},
           {5, "NE"},
           {6, "GE"},
           {7, "NUM"},
           {8, "NAN"},
           {9, "LTU"},
           {10, "EQU"},
           {11, "LEU"},
           {12, "GTU"},
           {13, "NEU"},
           {14, "GEU"},
           {15, "T"}}};
}
inline Mod bool_mod(uint8_t pos) {
  return {ModId::bop, {pos, 2}, {{0, "AND"}, {1, "OR"}, {2, "XOR"}, {3, "INVALIDBOP3"}}};
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
    const struct {
      const char* head;
      OperandSpec b;
    } variants[] = {{"0101 110", reg(Role::b, 20)},
                    {"0100 110", cbank(Role::b)},
                    {"0011 100", is_float ? fimm20(Role::b) : imm20(Role::b)}};
    for (const auto& v : variants)
      row(mnemonic, variant_pattern(v.head, tail), mods, replace(operands, Role::b, v.b), lower,
          fixed);
  }
  /// Same for the 0101 101 / 0100 101 / 0011 011 group (compares).
  void compare(const std::string& mnemonic, std::string_view tail, const std::vector<Mod>& mods,
               const std::vector<OperandSpec>& operands, LowerFn lower,
               const std::vector<Fixed>& fixed = {}, bool is_float = false) {
    row(mnemonic, "0101 1011" + std::string(tail), mods,
        replace(operands, Role::b, reg(Role::b, 20)), lower, fixed);
    row(mnemonic, "0100 1011" + std::string(tail), mods, replace(operands, Role::b, cbank(Role::b)),
        lower, fixed);
    row(mnemonic, variant_pattern("0011 011", tail), mods,
        replace(operands, Role::b, is_float ? fimm20(Role::b) : imm20(Role::b)), lower, fixed);
  }

  /// Three sources, of which the second or the third may be a constant, or the second an
  /// immediate. `tail` begins behind 0101 101.
  void triple(const std::string& mnemonic, std::string_view tail, const std::vector<Mod>& mods,
              const std::vector<OperandSpec>& operands, LowerFn lower, bool is_float = false,
              const std::vector<Fixed>& fixed = {}) {
    const std::string rest(tail);
    row(mnemonic, "0101 101" + rest, mods, replace(operands, Role::b, reg(Role::b, 20)), lower,
        fixed);
    row(mnemonic, "0100 101" + rest, mods, replace(operands, Role::b, cbank(Role::b)), lower,
        fixed);
    row(mnemonic, "0101 001" + rest, mods,
        replace(replace(operands, Role::b, reg(Role::b, 39)), Role::c, cbank(Role::c)), lower,
        fixed);
    row(mnemonic, "0011 01" + rest.substr(0, 1) + "-" + rest.substr(1), mods,
        replace(operands, Role::b, is_float ? fimm20(Role::b) : imm20(Role::b)), lower, fixed);
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
  /// Bit 56 is the immediate's sign in immediate variants, part of the opcode in the others.
  static std::string variant_pattern(std::string_view head, std::string_view tail) {
    const bool immediate = head.substr(0, 4) == "0011";
    return std::string(head) + (immediate ? "-" : "0") + std::string(tail);
  }
  static std::vector<OperandSpec> replace(std::vector<OperandSpec> operands, Role role,
                                          OperandSpec by) {
    for (OperandSpec& o : operands) {
      if (o.role != role) continue;
      by.neg = o.neg;
      by.abs = o.abs;
      by.inv = o.inv;
      by.high = o.high;
      by.wide = o.wide;
      by.part = o.part;
      by.part_key = o.part_key;
      by.part_names = o.part_names;
      by.format = o.format;
      o = by;
    }
    return operands;
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
