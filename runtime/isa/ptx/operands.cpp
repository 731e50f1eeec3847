// The operands of an instruction against the list of its row. The letters: `d` destination, `s`
// source, `r` source in a register, `p` predicate, `i` constant (of a range), `a` address (`u`: may
// be `.unified`, `A`: 32 bits are always enough), `l` label, `v` `w` vector that is read or
// written, `n` `m` destination and source of a move, a vector where the slot `vec` says so, `h`
// cache policy, `B` register declared without a type, `x` what the rule judges. Behind them: `_`
// may be thrown away, `|` may have a second destination,
// `>` may be wider; a type or `$slot`.
#include "runtime/isa/ptx/check_context.hpp"

namespace lanewise::ptx::legal {
namespace {

using K = Operand::Kind;
using S = Symbol::Kind;

PType type_of(const Context& c, const OperandSpec& o) {
  PType t =
      o.type.starts_with('$') ? c.type(o.type.substr(1)) : ptype_named(o.type).value_or(PType{});
  t.bits = t.bits * o.scale;
  return t;
}

/// A pair of halves counts as an integer where the qualifiers say the type, not where the row does.
bool is_pair_of_halves(Context& c, const Operand& o) {
  if (!c.symbol(o).type.packed) return false;
  c.found(o, ", a register of integers was expected");
  return true;
}
bool says_type(const OperandSpec& spec) {
  return !spec.type.starts_with('$');
}

/// `p|q`: judged one by one.
void pair(Context& c, size_t i, const OperandSpec& spec, PType want) {
  const Operand& o = c.in.operands[i];
  if (!spec.pair) return c.error(o, "a second destination `" + o.pair + "`, none was expected");
  Operand first = o;
  first.pair.clear();
  if (first.kind != K::sink) {
    if (want == kPred) {
      c.predicate_of(first, true);
    } else if (!says_type(spec) || !want.is_int() || !is_pair_of_halves(c, first)) {
      c.register_of(first, want, Fit::exact);
    }
  }
  Operand second;
  second.loc = o.loc;
  second.name = o.pair;
  if (o.pair != "_")
    c.predicate_of(second, true);
  else if (spec.both)
    c.error(o, "`_` as second destination, a predicate was expected");
}

/// What came late stands in registers that are untyped and of its width, or of this very type;
/// constants have no such type.
bool stands_untyped(Context& c, const Operand& o, PType want, std::string_view slot) {
  const Symbol s = c.symbol(o);
  const bool constant = o.kind == K::integer || o.kind == K::float_ || s.kind == S::function;
  if (s.kind == S::reg ? s.type.is_untyped() || s.type == want : !constant) return true;
  c.found(o, " for ." + std::string(c.get(slot)) + ", a " + want.untyped().text() +
                 " register was expected");
  return false;
}

/// Moves and conversions take `{x}` for x and names with an offset as constants. An element that is
/// not stored is only in vectors of 256 bits.
void moved(Context& c, size_t i, const OperandSpec& spec, PType want, Fit fit) {
  const bool reads = spec.kind == 'm';
  const unsigned n = c.vector();
  if (n > 1) return c.vector_operand(i, want, n, fit, reads, !reads || want.bits * n == 256);
  // The older assembler reads pairs of 8-bit floats as integers.
  if (c.old() && want.packed && want.bits == 16) {
    want = {PType::Class::uint, 16};
  } else if (want.alternative || want.packed) {
    if (!stands_untyped(c, c.in.operands[i], want, spec.type.substr(1))) return;
    want = want.untyped();
  }
  if (reads) return c.source(i, want, fit);
  c.destination(i, want, fit, spec.sink);
}

void vector(Context& c, size_t i, const OperandSpec& spec, PType want) {
  const unsigned n = spec.count != 0 ? spec.count : c.vector();
  const Fit fit = spec.wider ? Fit::wider : Fit::exact;
  c.vector_operand(i, want, n, fit, spec.kind == 'v', spec.sink);
}

/// Parts of a register of a video instruction: `.b0` to `.b3` and `.h0`, `.h1`; halves or bytes of
/// both sources together; destinations: which of their parts are written.
bool is_selector(std::string_view name, char kind, bool writes) {
  const bool bytes = name[0] == 'b';
  const std::string_view digits = name.substr(1);
  if (kind == 'V' || kind == 'M') return digits.size() == 1 && digits[0] <= (bytes ? '3' : '1');
  if (bytes != (kind == 'Q')) return false;
  const size_t most = bytes ? 4 : 2;
  if (writes ? digits.size() > most : digits.size() != most) return false;
  const char last = static_cast<char>('0' + most * (writes ? 1 : 2) - 1);
  for (size_t i = 0; i < digits.size(); ++i)
    if (digits[i] > last || (writes && i > 0 && digits[i] >= digits[i - 1])) return false;
  return true;
}

void video(Context& c, size_t i, const OperandSpec& spec, PType want) {
  Operand o = c.in.operands[i];
  const size_t dot = o.name.find('.');
  const bool selects = o.kind == K::name && dot != o.name.npos && dot + 1 < o.name.size() &&
                       (o.name[dot + 1] == 'b' || o.name[dot + 1] == 'h');
  if (spec.kind == 'M' && o.minus) {
    const auto& ops = c.in.operands;
    o.minus = false;
    const bool product = ops[1].minus != ops[2].minus;
    if (product && ops[3].minus)
      c.error(o, "both a product and what is added are negated, one of them was expected");
    if (c.has("po") && (product || ops[3].minus))
      c.error(o, "`.po` with a negated operand, it was expected without");
  }
  if (selects) {
    // A part of the destination is put into the third source.
    const bool scalar = spec.kind == 'V' && i == 0 && (c.in.operands.size() < 4 || c.has("op2"));
    if (!is_selector(std::string_view(o.name).substr(dot + 1), spec.kind, i == 0) || i == 3 ||
        scalar)
      return c.error(
          o, "`" + o.name + "`: not a part that this operand has, another selector was expected");
    o.name.resize(dot);
    return c.register_of(o, want, Fit::exact);
  }
  // Parts that are computed side by side are those of registers.
  const bool registers = spec.kind == 'D' || spec.kind == 'Q';
  if (i == 0 || registers) return c.register_of(o, want, Fit::exact);
  c.value_of(o, want, Fit::exact);
}

void judge(Context& c, size_t i, const OperandSpec& spec) {
  const Operand& o = c.in.operands[i];
  const PType want = type_of(c, spec);
  const Fit fit = spec.wider ? Fit::wider : Fit::exact;
  const bool reads_pair = !o.pair.empty();
  if (reads_pair) return pair(c, i, spec, want);
  if (spec.both) return c.error(o, "one destination, a predicate behind `|` was expected, too");
  if (o.kind == K::sink && spec.sink) return;
  // The address of a function is data, no number of bits or threads.
  const bool counts = spec.kind == 'b' || spec.kind == 't' || spec.kind == 'c';
  const bool fixed = counts || (says_type(spec) && spec.kind != 'A');
  if (fixed && c.symbol(o).kind == S::function && o.kind == K::name && spec.kind != 'a' &&
      spec.kind != 'x')
    return c.found(o, ", " + want.text() + " was expected");
  if ((counts || (fixed && want.is_int())) && is_pair_of_halves(c, o)) return;
  switch (spec.kind) {
    case 'd':
      if (want == kPred) return c.predicate_of(o, true);
      return c.register_of(o, want, fit);
    case 's':
      if (want == kPred) return c.predicate_of(o, false);
      return c.value_of(o, want, fit);
    case 'r':
      return c.register_of(o, want, fit);
    case 'B':
      if (!(c.symbol(o).type == want)) c.found(o, ", a " + want.text() + " register was expected");
      return c.register_of(o, want, fit);
    case 'p':
      return c.predicate_of(o, false);
    case 'i': {
      const Operand* value = c.literal(i, "a constant");
      if (value == nullptr || spec.high < spec.low) return;
      const auto v = static_cast<int64_t>(value->bits);
      if (v < spec.low || v > spec.high)
        c.error(o, "the constant " + std::to_string(v) + ", " + std::to_string(spec.low) +
                       (spec.low == spec.high ? "" : " to " + std::to_string(spec.high)) +
                       " was expected");
      return;
    }
    case 'a':
    case 'u':
      return c.address(i, spec.type == "$type" ? c.get("ss") : spec.type);
    case 'A':
      return c.near_address(i, spec.type == "$type" ? c.get("ss") : spec.type);
    case 'n':
    case 'm':
      return moved(c, i, spec, want, fit);
    case 'h':
      return c.policy(i);
    case 'b':
    case 't': {
      // A barrier's number, or how many threads it waits for.
      const auto v = static_cast<int64_t>(o.bits);
      const bool zero = v == 0 && c.has("arrive");
      if (o.kind == K::integer && (spec.kind == 'b' ? v < 0 || v > 15 : v % 32 != 0 || zero))
        c.error(o, "the constant " + std::to_string(v) + ", " +
                       (spec.kind == 'b' ? "0 to 15" : "a multiple of 32") + " was expected");
      return c.value_of(o, kU32, fit);
    }
    case 'V':
    case 'M':
    case 'D':
    case 'Q':
      return video(c, i, spec, want);
    case 'v':
    case 'w':
      return vector(c, i, spec, want);
    case 'c':
      // A position or width of bits.
      if (o.kind == K::integer && o.bits > 255)
        c.error(o, "the constant " + std::to_string(static_cast<int64_t>(o.bits)) +
                       ", 0 to 255 was expected");
      return c.value_of(o, kU32, fit);
    case 'T': {
      const Symbol s = c.symbol(o);
      if (o.kind != K::address || s.kind != S::reg || !fits(kU32, s.type, fit))
        c.found(o, ", a 32-bit register in brackets was expected");
      return;
    }
    case 'l':
      if (c.symbol(o).kind != S::label) c.found(o, ", a label was expected");
      return;
    default:
      return;
  }
}

}  // namespace

bool judge_operands(Context& c, std::span<const OperandSpec> specs) {
  size_t least = 0, most = 0;
  bool may_be_unified = false;
  std::string_view brings_one;  ///< the qualifier that an operand needs, where it is not written
  for (const OperandSpec& o : specs) {
    const bool filled = o.when.empty() || c.has(o.when);
    if (!filled && !o.optional) brings_one = o.when;
    may_be_unified = may_be_unified || o.kind == 'u';
    least += filled && !(o.optional && o.when.empty()) ? 1 : 0;
    most += filled || o.optional ? 1 : 0;
  }
  if (!c.count(least, most, brings_one)) return false;
  if (!may_be_unified) c.refuse_unified();
  size_t i = 0;
  for (const OperandSpec& o : specs)
    if ((o.when.empty() || o.optional || c.has(o.when)) && i < c.in.operands.size())
      judge(c, i++, o);
  return true;
}

}  // namespace lanewise::ptx::legal
