// Declarations of variables, registers and parameters.
#include <algorithm>

#include "runtime/isa/ptx/module/rules.hpp"
#include "runtime/isa/ptx/text/parser.hpp"

namespace lanewise::ptx::legal {
namespace {

bool is_half(std::string_view type) {
  return type == "f16";
}

/// Types of instructions, not of data.
bool is_instruction_type(std::string_view type) {
  return ptype_named(type).value_or(PType{}).alternative;
}

uint64_t elements(const Variable& v) {
  uint64_t n = v.vector;
  for (const uint64_t d : v.dims) n *= d;
  return n;
}

struct Opaque {
  std::string_view type;  ///< empty = all
  std::string_view field;
  std::string_view values;  ///< separated by blanks
};
constexpr std::string_view kAddressModes = "wrap mirror clamp_ogl clamp_to_edge clamp_to_border";
constexpr Opaque kFields[] = {
    {"", "width", ""},
    {"", "height", ""},
    {"", "depth", ""},
    {"", "channel_data_type", ""},
    {"", "channel_order", ""},
    {"", "array_size", ""},
    {"", "memory_layout", ""},
    {"texref", "normalized_coords", ""},
    {"texref", "num_mipmap_levels", ""},
    {"texref", "num_samples", ""},
    {"texref", "filter_mode", "nearest linear"},
    {"texref", "addr_mode_0", kAddressModes},
    {"texref", "addr_mode_1", kAddressModes},
    {"texref", "addr_mode_2", kAddressModes},
    {"samplerref", "force_unnormalized_coords", ""},
    {"samplerref", "filter_mode", "nearest linear"},
    {"samplerref", "addr_mode_0", kAddressModes},
    {"samplerref", "addr_mode_1", kAddressModes},
    {"samplerref", "addr_mode_2", kAddressModes},
};

bool has_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == word) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

}  // namespace

uint64_t variable_size(const Variable& v) {
  return type_bytes(v.type) * elements(v);
}

uint32_t variable_alignment(const Variable& v) {
  return v.align != 0 ? v.align : type_bytes(v.type) * v.vector;
}

void ModuleRules::variable(const Variable& v, Place place) {
  if (v.name == "_" && place != Place::prototype) return;
  if (place != Place::prototype) type(v, place);
  space(v, place);
  attributes(v, place);
  if (v.has_init) initialiser(v);
}

void ModuleRules::type(const Variable& v, Place place) {
  const std::string what = quoted(v.name);
  const bool opaque = is_opaque(v.type);
  if (is_instruction_type(v.type)) {
    error(v.loc, what + ": ." + v.type +
                     " is a type of instructions, untyped bits (.b16 or .b32) "
                     "were expected");
  }
  if (v.type == "f16x2") need(v.loc, what + ": .f16x2", 42, 53);
  if (v.type == "b128" && v.dims.empty())
    need(v.loc, what + ": a " + (v.space == "reg" ? "register" : "variable") + " of .b128", 83);
  if (v.type == "pred" && (v.space != "reg" || v.vector != 1)) {
    error(v.loc, what + ": a predicate outside single registers, `.reg .pred` was expected");
  }
  if (v.vector != 1 && opaque)
    error(v.loc, what + ": a vector of ." + v.type + ", numbers were expected");
  if (type_bytes(v.type) * v.vector > 16)
    error(v.loc, what + ": a vector of more than 128 bits, fewer were expected");
  if (v.type == "samplerref" && !setting_.independent)
    error(v.loc, what + ": a sampler in texmode_unified, `.target " + setting_.target +
                     ", texmode_independent` was expected");
  if (opaque && place == Place::module && v.space != "global")
    error(v.loc, what + ": a ." + v.type + " in ." + v.space + ", `.global` was expected");
  if (opaque && (place == Place::body || place == Place::parameter))
    error(v.loc, what + ": a ." + v.type +
                     " inside a function, a variable of the module or a parameter of a kernel was "
                     "expected");
}

void ModuleRules::space(const Variable& v, Place place) {
  const std::string what = quoted(v.name);
  // A packed or vector value as a whole has no place among parameters; an array of them has.
  const bool single = v.dims.empty() && (v.vector != 1 || v.type == "f16x2");
  if (v.space == "param" && single && place != Place::prototype)
    error(v.loc, what + ": a vector as a parameter, an array or a single number was expected");
  const bool aligned = v.align <= 128 || place == Place::entry_parameter;
  if (v.space == "param" && !aligned)
    error(v.loc, what + ": a parameter aligned to " + std::to_string(v.align) +
                     " bytes, at most 128 were expected");
  if (v.space == "reg" && !v.dims.empty())
    error(v.loc, what + ": a register array, `<N>` was expected instead of `[N]`");
  if (v.pointer && place != Place::entry_parameter)
    error(v.loc, what + ": `.ptr` outside a kernel's parameters, none was expected");
  if (v.align_last && setting_.old_assembler)
    error(v.loc, what + ": `.align` behind the type, it was expected before it");
  if (v.common) {
    need(v.loc, "`.common`", 50);
    if (v.space != "global")
      error(v.loc, what + ": `.common` in ." + v.space + ", `.global` was expected");
  }
  const bool open = !v.dims.empty() && v.dims[0] == 0;
  if (open && !v.has_init && !v.is_extern && (place == Place::module || place == Place::body))
    error(v.loc, what + " has no size, a size, a value or `.extern` was expected");
}

void ModuleRules::attributes(const Variable& v, Place place) {
  if (v.attributes.empty()) return;
  need(v.loc, "`.attribute`", 40);
  for (const std::string& a : v.attributes) {
    const bool placed = v.space == "global" && (place == Place::module || place == Place::body);
    if (!placed) {
      error(v.loc, quoted(v.name) + ": `." + a + "` in ." + v.space + ", `.global` was expected");
    } else if (a == "unified") {
      // Only separate compilation takes them, which the plain call of the assembler is not.
      error(v.loc, quoted(v.name) + ": `.unified` needs separate compilation, none was expected");
    }
  }
}

void ModuleRules::initialiser(const Variable& v) {
  if (v.is_extern)
    error(v.loc, quoted(v.name) + " is `.extern` and has a value, none was expected");
  if (is_opaque(v.type)) {
    fields(v);
    if (!v.init.empty())
      error(v.loc,
            quoted(v.name) + ": a number for a ." + v.type + ", fields in braces were expected");
    return;
  }
  if (v.type == "f16x2" && v.dims.empty() && v.vector == 1 && v.init.size() == 1 && !v.braced)
    return error(v.loc, quoted(v.name) + ": one number for two halves, `{a, b}` was expected");
  for (const Variable::Initialiser& value : v.init)
    if (!value.padding) initial_value(v, value);
}

void ModuleRules::initial_value(const Variable& v, const Variable::Initialiser& value) {
  if (value.value.kind == Operand::Kind::name) return initial_symbol(v, value);
  const bool number = value.value.kind == Operand::Kind::float_;
  const char letter = v.type[0];
  const std::string what = quoted(v.name);
  if (is_half(v.type)) {
    error(value.value.loc, what + ": a value of .f16, one of .b16 was expected");
  } else if (letter == 'p') {
    error(value.value.loc, what + ": a predicate with a value, none was expected");
  } else if (number && (letter == 'u' || letter == 's')) {
    error(value.value.loc,
          what + ": a floating-point value of ." + v.type + ", an integer was expected");
  } else if (!number && letter == 'f' && v.type != "f16x2") {
    error(value.value.loc,
          what + ": an integer value of ." + v.type + ", a floating-point constant was expected");
  }
}

void ModuleRules::initial_symbol(const Variable& v, const Variable::Initialiser& value) {
  const Operand& o = value.value;
  const std::string what = quoted(v.name) + ": the address of " + quoted(o.name);
  const bool byte = value.mask != 0;
  if (byte) need(o.loc, "a byte of an address", 71);
  const bool fits = v.type == "u64" || v.type == "u32" || (byte && v.type == "u8");
  if (!fits)
    return error(o.loc,
                 what + " in ." + v.type + ", .u64" + (byte ? " or .u8" : "") + " was expected");
  const Known* k = known(o.name, v.loc);
  if (k == nullptr) {
    error(o.loc, what + ", which is no variable or function declared before, one was expected");
  } else if (k->function != nullptr) {
    if (k->function->entry) need(o.loc, "the address of a kernel", 31, 35);
    if (value.generic || (o.has_offset && !byte))
      error(o.loc, what + " is a function's, without `generic` and `+` it was expected");
  } else if (k->variable->space != "global" && k->variable->space != "const") {
    error(o.loc, what + " is in ." + k->variable->space + ", .global or .const was expected");
  }
}

void ModuleRules::fields(const Variable& v) {
  for (const Variable::Field& f : v.fields) {
    const auto* row = std::ranges::find_if(kFields, [&](const Opaque& o) {
      return (o.type.empty() || o.type == v.type) && o.field == f.name;
    });
    if (row == std::end(kFields)) {
      error(f.loc, quoted(v.name) + ": a ." + v.type + " has no field " + quoted(f.name));
    } else if (!f.value.empty() && !has_word(row->values, f.value)) {
      error(f.loc, quoted(v.name) + ": " + quoted(f.value) + " is no value of " + quoted(f.name));
    }
  }
}

void ModuleRules::redeclared(const Variable& first, const Variable& later) {
  const auto same_array = [&] {
    if (first.dims.size() != later.dims.size()) return false;
    for (size_t i = 0; i < first.dims.size(); ++i)
      if (first.dims[i] != later.dims[i] && (i != 0 || (first.dims[0] != 0 && later.dims[0] != 0)))
        return false;
    return true;
  };
  const std::string line = std::to_string(first.loc.line);
  if (first.type != later.type || first.space != later.space || first.vector != later.vector ||
      !same_array())
    return error(later.loc, quoted(later.name) + " differs from the declaration in line " + line +
                                ", the same type was expected");
  const bool plain = !later.visible && !later.weak && !later.common;
  const bool twice = first.is_extern && later.is_extern && setting_.old_assembler;
  if ((first.is_extern && !later.is_extern && plain) || twice)
    error(later.loc, quoted(later.name) + " is `.extern` in line " + line +
                         ", `.visible`, `.weak` or `.common` was expected here");
}

}  // namespace lanewise::ptx::legal
