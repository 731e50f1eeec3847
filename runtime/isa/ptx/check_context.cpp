#include "runtime/isa/ptx/check_context.hpp"

#include <algorithm>

namespace lanewise::ptx::legal {
namespace {

using K = Operand::Kind;
using S = Symbol::Kind;

/// A single `{x}` stands for x where the instruction has vector forms.
const Operand& unwrapped(const Operand& o, std::string_view opcode, PType want) {
  const bool moves = opcode == "ld" || opcode == "ldu" || opcode == "st";
  const bool allowed = moves || (want.is_untyped() && opcode != "createpolicy");
  return allowed && o.kind == K::vector && o.elements.size() == 1 ? o.elements[0] : o;
}

bool is_generic_window(std::string_view space) {
  return space == "global" || space == "local" || space.starts_with("shared");
}

/// The space of a variable as qualifiers call it.
std::string space_of(const Symbol& s) {
  return s.variable ? s.variable->space : std::string();
}

std::string dotted(std::string_view name) {
  return std::string(1, '.').append(name);
}

bool same_space(std::string_view asked, std::string_view declared) {
  return asked.substr(0, asked.find(':')) == declared;
}

/// Targets with features of their own: those of a family have them in common (sm_100f), others
/// belong to one target (sm_100a).
struct Family {
  uint8_t code;
  const char* text;
  unsigned low, high, without;
  bool specific;
};
constexpr Family kFamilies[] = {
    {90, "sm_90a", 90, 90, 0, true},
    {100, "sm_100f, sm_110f or their own", 100, 119, 0, false},
    {103, "sm_100f or its own", 100, 109, 0, false},
    {120, "sm_120f or its own", 120, 129, 0, false},
    {1, "sm_100a or sm_103a", 100, 103, 0, true},
    {2, "sm_100a or sm_110a", 100, 110, 103, true},
    {3, "sm_100a, sm_103a or sm_110a", 100, 110, 0, true},
    {4, "sm_120a", 120, 120, 0, true},
};

}  // namespace

std::string version_text(unsigned version) {
  return std::to_string(version / 10) + "." + std::to_string(version % 10);
}

std::string found_text(const Operand& o, const Symbol& s) {
  switch (o.kind) {
    case K::integer:
      return "an integer constant";
    case K::float_:
      return "a floating-point constant";
    case K::address:
      if (o.name.empty()) return "an address in brackets";
      break;
    case K::vector:
      return "a vector of " + std::to_string(o.elements.size());
    case K::sink:
      return "`_`";
    case K::list:
      return "a list";
    default:
      break;
  }
  const std::string name = "`" + o.name + "`";
  switch (s.kind) {
    case S::reg:
      return "the " + std::string(s.vector > 1 ? "vector " : "") + s.type.text() + " register " +
             name;
    case S::variable:
      return "the ." + s.variable->space + " variable " + name;
    case S::function:
      return "the function " + name;
    case S::special:
      return "the special register " + name;
    case S::label:
      return "the label " + name;
    default:
      return "the unknown name " + name;
  }
}

std::string_view Context::get(std::string_view slot) const {
  for (const auto& [name, value] : values_)
    if (name == slot) return value;
  return {};
}

PType Context::type(std::string_view slot) const {
  return ptype_named(get(slot)).value_or(PType{});
}

unsigned Context::vector() const {
  const std::string_view v = get("vec");
  return v.empty() ? 1 : static_cast<unsigned>(v[1] - '0');
}

void Context::error(const std::string& message) {
  env.diagnostics->push_back({in.loc.line, in.loc.column, "`" + in.opcode + "`: " + message});
}

void Context::error(const Operand& o, const std::string& message) {
  const Loc loc = o.loc.line ? o.loc : in.loc;
  env.diagnostics->push_back({loc.line, loc.column, "`" + in.opcode + "`: " + message});
}
void Context::found(const Operand& o, const std::string& rest) {
  error(o, found_text(o, symbol(o)) + rest);
}

void Context::warn(const std::string& message) {
  env.diagnostics->push_back({in.loc.line, in.loc.column, "`" + in.opcode + "`: " + message, true});
}

void Context::warn(const Operand& o, const std::string& message) {
  env.diagnostics->push_back({o.loc.line, o.loc.column, "`" + in.opcode + "`: " + message, true});
}

bool Context::need(unsigned sm, unsigned version, std::string_view what) {
  if (env.sm != 0 && env.sm < sm) {
    error(std::string(what) + " needs .target sm_" + std::to_string(sm) + " or higher, found " +
          env.target);
    return false;
  }
  if (env.version < version) {
    error(std::string(what) + " needs .version " + version_text(version) + " or higher, found " +
          version_text(env.version));
    return false;
  }
  return true;
}

bool Context::need(Gate gate, std::string_view what) {
  if (gate.below != 0 && env.sm >= gate.below && env.version >= 64) {
    error(std::string(what) + " ended with sm_" + std::to_string(gate.below - 1) +
          " and .version 6.3, found " + env.target);
    return false;
  }
  if (gate.old && !old()) {
    error(std::string(what) + " ended with .version 7.8, found " + version_text(env.version));
    return false;
  }
  const bool specific = env.target.ends_with('a'), own = specific || env.target.ends_with('f');
  if (gate.own && env.sm != 0 && !own) {
    error(std::string(what) + " needs a target with features of its own like sm_" +
          std::to_string(gate.sm) + "a, found " + env.target);
    return false;
  }
  for (const Family& f : kFamilies) {
    if (gate.family != f.code || env.sm == 0) continue;
    if (env.sm >= f.low && env.sm <= f.high && env.sm != f.without && (f.specific ? specific : own))
      continue;
    error(std::string(what) + " needs a target of " + f.text + ", found " + env.target);
    return false;
  }
  return need(gate.sm, gate.version, what);
}

bool Context::count(size_t least, size_t most, std::string_view brings_one) {
  const size_t n = in.operands.size();
  if (n >= least && n <= most) return true;
  std::string expected = std::to_string(least);
  if (most != least) expected += " to " + std::to_string(most);
  std::string with;
  if (!brings_one.empty() && n == most + 1)
    with = " (" + std::to_string(n) + " with `." + std::string(brings_one) + "`)";
  error("found " + std::to_string(n) + " operands, " + expected + " were expected" + with);
  return false;
}

bool Context::constant_fits(const Operand& o, PType want) {
  if (o.kind == K::name) return true;  // name+offset: the assembler looks no further
  if (want.is_pred()) return o.kind == K::integer;
  if (want.packed) return false;
  if (o.kind == K::integer) return !want.is_float();
  if (o.kind != K::float_) return false;
  if (want.is_int()) return false;
  if (want.is_float()) return want.bits >= 32;
  return o.single ? want.bits == 32 : want.bits == 64;
}

void Context::destination(size_t i, PType want, Fit fit, bool sink) {
  const Operand& o = unwrapped(in.operands[i], in.opcode, want);
  if (o.kind == K::sink && sink) return;
  const Symbol s = symbol(o);
  const bool plain = o.kind == K::name && s.kind == S::reg && s.vector == 1 && !o.has_offset &&
                     !o.negated && o.pair.empty();
  if (!plain) {
    found(o, " as destination, a " + want.text() + " register was expected");
  } else if (!fits(want, s.type, fit)) {
    found(o, " as destination, " + want.text() + (fit == Fit::wider ? " or a wider register" : "") +
                 " was expected");
  } else {
    element(o, want, fit, false);
  }
}

/// Complaints about one register or constant.
void Context::element(const Operand& o, PType want, Fit fit, bool is_source) {
  const Symbol s = symbol(o);
  if (o.kind == K::name && !o.has_offset && s.kind == S::reg) {
    if (s.vector != 1 || o.negated || !o.pair.empty() || !fits(want, s.type, fit)) {
      found(o, ", " + want.text() + (fit == Fit::wider ? " or a wider register" : "") +
                   " was expected");
    } else if (s.type.packed) {
      need(53, 0, "a register of packed 16-bit floats");
    }
    return;
  }
  const bool constant = o.kind == K::integer || o.kind == K::float_ ||
                        (o.kind == K::name && o.has_offset && s.kind != S::none) ||
                        (o.kind == K::name && s.kind == S::function);
  if (is_source && constant && !o.negated && o.pair.empty() && constant_fits(o, want)) {
    if (want.bits == 128) need(70, 80, "a constant of 128 bits");
    if (want.bits == 128 && o.kind == K::name && !o.has_offset) {
      found(o, ", a .b128 register was expected");
    }
    if (env.manual) error(o, "a constant, a register was expected (the manual's text)");
    return;
  }
  found(o,
        ", a " + want.text() + " register" + (is_source ? " or constant" : "") + " was expected");
}

void Context::register_of(const Operand& o, PType want, Fit fit) {
  const Symbol s = symbol(o);
  const bool plain = o.kind == K::name && s.kind == S::reg && s.vector == 1 && !o.has_offset &&
                     !o.negated && o.pair.empty() && !o.minus;
  if (plain && s.type.packed) need(53, 0, "a register of packed 16-bit floats");
  if (plain && fits(want, s.type, fit)) return;
  found(o, ", a " + want.text() + " register was expected");
}

namespace {
/// `%r1+4` and `gbuf+4`: of the wanted kind, of whatever width.
bool sum_fits(const Operand& o, const Symbol& s, PType want) {
  if (o.kind != K::name || !o.has_offset || o.minus || o.negated || !o.pair.empty()) return false;
  if (s.kind == S::variable) return want.holds_int();
  if (s.kind != S::reg || s.vector != 1 || s.type.is_pred()) return false;
  if (s.type.is_untyped() || want.is_untyped() || (s.type.packed && want.is_int())) return true;
  return s.type.is_float() == want.is_float();
}
}  // namespace

void Context::value_of(const Operand& o, PType want, Fit fit) {
  const bool constant = o.kind == K::integer || o.kind == K::float_;
  const Symbol s = symbol(o);
  // The address of a function is a constant of any type that registers are declared with.
  const bool address = o.kind == K::name && s.kind == S::function && !o.has_offset && !o.minus;
  if (!want.is_pred() && ((address && !want.alternative) || sum_fits(o, s, want))) return;
  if (!constant) return register_of(o, want, fit);
  if (constant_fits(o, want)) return;
  found(o, ", " + want.text() + " was expected");
}

void Context::source(size_t i, PType want, Fit fit) {
  element(unwrapped(in.operands[i], in.opcode, want), want, fit, true);
}

void Context::integer_source(size_t i, unsigned bits) {
  source(i, {PType::Class::uint, bits}, Fit::exact);
}

namespace {
/// Registers of one vector are of one kind; untyped and special ones go with all.
enum class VectorKind : uint8_t { any, integer, floating, pair };
VectorKind vector_kind(const Operand& o, const Symbol& s) {
  if (o.kind == K::integer || o.name == "WARP_SZ") return VectorKind::integer;
  if (o.kind == K::float_) return VectorKind::floating;
  if (s.kind != S::reg || o.kind != K::name) return VectorKind::any;
  if (s.type.packed) return VectorKind::pair;
  return s.type.is_int()     ? VectorKind::integer
         : s.type.is_float() ? VectorKind::floating
                             : VectorKind::any;
}

/// How a special register counts among others in a vector.
PType special_type(const Special& s) {
  const bool wide = s.kind == Special::Kind::wide || s.kind == Special::Kind::word_or_long;
  return wide ? kU64 : kU32;
}
}  // namespace

/// `{a, b}` or one vector register. Registers of one width; where their types differ they count as
/// untyped.
void Context::vector_operand(size_t i, PType want, unsigned elements, Fit fit, bool is_source,
                             bool sink_allowed) {
  vector_of(in.operands[i], want, elements, fit, is_source, sink_allowed);
}

void Context::vector_of(const Operand& o, PType want, unsigned elements, Fit fit, bool is_source,
                        bool sink_allowed) {
  const Symbol whole = symbol(o);
  if (o.kind == K::name && whole.kind == S::reg && whole.vector == elements && !o.has_offset) {
    if (!fits(want, whole.type, fit)) {
      found(o, ", elements of " + want.text() + " were expected");
    }
    return;
  }
  if (o.kind != K::vector || o.elements.size() != elements)
    return found(o, ", a vector of " + std::to_string(elements) + " elements was expected");
  PType common;
  bool mixed = false;
  size_t sinks = 0, numbers = 0, integers = 0;
  VectorKind before = VectorKind::any;
  for (const Operand& e : o.elements) {
    if (e.kind == K::sink) {
      ++sinks;
      continue;
    }
    const Symbol s = symbol(e);
    // The assembler compares each element with the one before it.
    const VectorKind kind = vector_kind(e, s);
    if (kind != before && kind != VectorKind::any && before != VectorKind::any)
      return error(
          o, "integers and floats side by side in a vector, elements of one kind were expected");
    before = kind;
    integers += kind == VectorKind::integer ? 1 : 0;
    const bool special = s.kind == S::special && (is_source || !env.manual);
    if (!special && (e.kind != K::name || s.kind != S::reg)) {
      if (e.kind == K::integer || e.name == "WARP_SZ") ++numbers;
      mixed = true;
      continue;
    }
    if (s.type.packed) need(53, 0, "a register of packed 16-bit floats");
    const PType t = special ? special_type(*s.special) : s.type;
    mixed = mixed || special;
    if (common.bits != 0 && common.bits != t.bits)
      return found(e, " among others of " + std::to_string(common.bits) +
                          " bits, elements of one width were expected");
    mixed = mixed || (common.bits != 0 && !(common == t));
    common = t;
  }
  // Integer registers count as untyped where floats are wanted, though not the other way round.
  mixed =
      mixed || (want.is_float() && !want.packed && integers != numbers && common.bits == want.bits);
  if (sinks != 0 && !sink_allowed)
    return error(
        o,
        "`_` as an element, a register or constant was expected (only vectors of 256 bits have "
        "elements that are not stored)");
  if (sinks == elements)
    return error(o, "nothing but `_` in the vector, one register at least was expected");
  for (const Operand& e : o.elements) {
    if (e.kind == K::sink) continue;
    const Symbol s = symbol(e);
    if (s.kind == S::special && (is_source || !env.manual)) {
      if (want.bits > special_type(*s.special).bits) found(e, ", " + want.text() + " was expected");
      continue;
    }
    if (e.kind == K::name && s.kind == S::function && !e.has_offset) {
      found(e, " in a vector, a register or constant was expected");
      continue;
    }
    // Among registers a floating-point constant is its bits.
    if (e.kind == K::float_ && is_source && common.bits != 0 && !want.is_float() && !env.manual)
      continue;
    // A number takes the type of the registers around it; alone it is 64 bits wide.
    const bool alone = numbers == elements && want.is_float() && want.bits < 64;
    if (e.kind == K::integer && is_source && want.bits <= 64 && !alone) continue;
    if (e.kind == K::name && s.kind == S::reg && s.vector == 1 && mixed && !s.type.is_pred() &&
        s.type.cls != PType::Class::none) {
      if (!fits(want, s.type.untyped(), fit)) {
        found(e, ", " + want.text() + " was expected");
      }
      continue;
    }
    element(e, want, fit, is_source);
  }
}

void Context::policy(size_t i) {
  const Operand& o = in.operands[i];
  const Symbol s = symbol(o);
  const bool reg = o.kind == K::name && s.kind == S::reg && s.vector == 1 && s.type.bits == 64 &&
                   !s.type.is_float() && !o.has_offset && !o.negated && o.pair.empty();
  if (reg || (o.kind == K::integer && !env.manual)) return;
  found(o, std::string(" as cache policy, a 64-bit integer register") +
               (env.manual ? "" : " or constant") + " was expected");
}

void Context::refuse_unified() {
  if (!in.unified.empty()) error("`.unified` here, a load was expected with it");
}

const Operand* Context::literal(size_t i, std::string_view expected) {
  const Operand& o = in.operands[i];
  if (o.kind == K::integer) return &o;
  found(o, ", " + std::string(expected) + " was expected");
  return nullptr;
}

void Context::refuse_32_bit(const Operand& o, std::string_view what) {
  if (allows_32_bit() && env.address_size == 32) return;
  if (allows_32_bit()) {
    warn(o, std::string(what) + " of 32 bits, 64 bits were expected");
  } else {
    error(
        o,
        std::string(what) +
            " of 32 bits, 64 bits were expected (32-bit programs end with .version 7.8 and sm_89)");
  }
}

void Context::register_address(const Operand& o, std::string_view space, const Symbol& s) {
  const bool integer = s.type.holds_int();
  if (s.vector != 1 || !integer || s.type.bits > 64)
    return found(o, " as address, an integer register of up to 64 bits was expected");
  if (s.type.bits < 32) {
    warn(o, found_text(o, s) + " as address is narrow, 64 bits were expected");
  } else if (s.type.bits == 32 && (space.empty() || space == "global")) {
    refuse_32_bit(o, "an address");
  }
}

void Context::variable_address(const Operand& o, std::string_view space, const Symbol& s) {
  const std::string declared = space_of(s);
  if (space.empty() ? is_generic_window(declared) : same_space(space, declared)) return;
  found(o, " in an instruction of " + (space.empty() ? "generic addresses" : dotted(space)) +
               ", a " + (space.empty() ? ".global, .shared or .local" : dotted(space)) +
               " variable was expected");
}

void Context::near_address(size_t i, std::string_view space) {
  const Operand& o = in.operands[i];
  const Symbol s = symbol(o);
  const bool narrow = o.kind == K::address && s.kind == S::reg && s.type.bits == 32;
  address(i, narrow ? "local" : space);
}

void Context::refuse_narrow(size_t i) {
  const Operand& o = in.operands[i];
  const Symbol s = symbol(o);
  if (o.kind == K::address && s.kind == S::reg && s.type.bits < 32)
    found(o, " as address, one of 32 or 64 bits was expected");
}

void Context::predicate_of(const Operand& o, bool writes) {
  const Symbol s = symbol(o);
  const bool reg = o.kind == K::name && s.kind == S::reg && s.type.is_pred() && s.vector == 1 &&
                   !o.has_offset && o.pair.empty() && !o.minus;
  if (reg && !(writes && o.negated)) return;
  if (o.kind == K::integer && !writes && !env.manual) return;
  found(o, ", a predicate was expected");
}

void Context::address(size_t i, std::string_view space) {
  const Operand& o = in.operands[i];
  const Symbol s = symbol(o);
  if (o.kind == K::array) {
    if (s.kind != S::variable || s.variable->dims.empty())
      return found(o, " with an index, an array was expected");
    if (!o.elements.empty()) {
      const Symbol index = symbol(o.elements[0]);
      if (index.kind != S::reg || index.vector != 1 || index.type.is_float() ||
          index.type.bits < 16) {
        error(o, found_text(o.elements[0], index) + " as index, an integer register was expected");
      }
    }
    variable_address(o, space, s);
    return;
  }
  if (o.kind != K::address) return found(o, ", an address in brackets was expected");
  if (!o.elements.empty() && !has("dim"))
    error(o, "more than an address in the brackets, none was expected");
  if (o.name.empty()) {
    if (space != "local" && !env.manual) {
      error(o, "a constant address in " + (space.empty() ? "generic" : dotted(space)) +
                   " space, a register or a variable was expected (only .local takes constants)");
    }
    return;
  }
  if (s.kind == S::reg) return register_address(o, space, s);
  if (s.kind == S::variable) return variable_address(o, space, s);
  if (s.kind == S::special && s.special->kind == Special::Kind::wide && in.opcode == "ld") {
    // The assembler lets it through for loads and dies of it in stores.
    warn(o, found_text(o, s) + " as address, a register or variable was expected");
    return;
  }
  found(o, " as address, a register or variable was expected");
}

}  // namespace lanewise::ptx::legal
