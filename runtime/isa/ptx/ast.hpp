// What the PTX parser makes of a file: declarations and instructions, nothing interpreted yet.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <variant>
#include <vector>

#include "runtime/support/error.hpp"

namespace lanewise::ptx {

struct Loc {
  uint32_t line = 0, column = 0;
};

struct Operand {
  enum class Kind : uint8_t {
    name,     ///< register, variable, label, function or special register: `%r1`, `buf`, `%tid.x`
    integer,  ///< value in `bits` (two's complement); `is_unsigned` when written with U
    float_,  ///< value as f64 bits in `bits`; single == true for 0f literals (`bits` = the 32 bits)
    address,  ///< [base + offset]; base name may be empty (immediate address)
    array,    ///< base[index] without brackets around: name, offset = element index; an index in
              ///< a register stands in elements
    vector,   ///< {a, b, ...}: elements
    sink,     ///< _
    list,     ///< (a, b) of a call: elements
  };
  Kind kind = Kind::name;
  Loc loc;
  std::string name;
  bool negated = false;  ///< `!p` predicate operand
  bool minus = false;    ///< `-%r1`, which one instruction takes
  bool is_unsigned = false;
  bool single = false;
  uint64_t bits = 0;
  int64_t offset = 0;  ///< address and name+imm forms
  bool has_offset = false;
  std::string pair;  ///< second name of `p|q`
  /// Of a vector or list, and what follows the first comma in the address brackets of texture,
  /// surface and tensor instructions.
  std::vector<Operand> elements;
};

struct Instruction {
  Loc loc;
  std::string guard;  ///< predicate register name, empty = none
  bool guard_negated = false;
  std::string opcode;  ///< "ld"
  std::vector<std::string>
      mods;  ///< "global", "L1::no_allocate", "v2", "f32", in the order written
  std::vector<Operand> operands;
  std::string unified;  ///< text after the address brackets such as ".unified", usually empty
  std::string text;     ///< as written, white space squeezed, without the semicolon
  uint32_t used_bytes = 0xffffffff;  ///< of a load: what the pragma before it says
};

/// `.maxntid 32, 4` of a function, `.file` or `.pragma` of the module.
struct Directive {
  Loc loc;
  std::string name;
  std::vector<uint32_t> values;
};

/// .reg, .shared, .local, .const, .global, .param declarations.
struct Variable {
  Loc loc;
  std::string space;  ///< "reg" "shared" "local" "const" "global" "param"
  std::string type;   ///< "b32" "f32" "pred" ...
  std::string name;
  uint32_t vector = 1;            ///< .v2 .v4
  uint32_t align = 0;             ///< 0 = natural
  bool align_last = false;        ///< `.align` stands behind the type
  std::optional<uint32_t> range;  ///< .reg %r<N>: N
  std::vector<uint64_t> dims;     ///< array dimensions; 0 = unsized []
  bool is_extern = false, visible = false, weak = false, pointer = false;
  bool common = false;
  std::string pointer_space;            ///< of .ptr params
  uint32_t pointer_align = 0;           ///< of what a .ptr param points to; 0 = not stated
  std::vector<std::string> attributes;  ///< "unified", "managed"
  struct Initialiser {
    Operand value;         ///< integer, float_, or name (+offset)
    bool generic = false;  ///< generic(name)
    uint64_t mask = 0;     ///< `0xff(name)` byte of an address, 0 = whole
    bool padding = false;  ///< not written
  };
  /// Flattened, inner braces padded with zeros to their dimension (the elements of a vector count
  /// as the innermost one); the array's end may be missing: it is zero.
  std::vector<Initialiser> init;
  bool has_init = false;
  /// `filter_mode = linear` of a texture, sampler or surface.
  struct Field {
    Loc loc;
    std::string name;
    std::string value;  ///< empty = a number
  };
  std::vector<Field> fields;
  bool braced = false;  ///< the value of a scalar stands in braces
};

struct Label {
  Loc loc;
  std::string name;
};
/// `name: .branchtargets a, b;` or `name: .calltargets f, g;`
struct TargetList {
  Loc loc;
  std::string name;
  std::vector<std::string> targets;
  bool calls = false;  ///< of `.calltargets`
};
struct CallPrototype {
  Loc loc;
  std::string name;
  std::vector<Variable> results, params;
  std::vector<Directive> directives;
};
/// .loc FILE LINE COLUMN, applies to what follows.
struct SourceLine {
  uint32_t file = 0, line = 0;
};
struct Scope;
using Statement = std::variant<Instruction, Variable, Label, TargetList, CallPrototype, SourceLine,
                               std::unique_ptr<Scope>>;
struct Scope {
  std::vector<Statement> statements;
};

struct Function {
  Loc loc;
  std::string name;
  bool entry = false, visible = false, weak = false, is_extern = false;
  std::string linkage;  ///< as written here: "visible", empty = none
  std::vector<Variable> results, params;
  uint32_t reqntid[3] = {0, 0, 0};
  uint32_t maxntid[3] = {0, 0, 0};
  bool has_body = false;
  bool noreturn = false;
  std::string clusters;  ///< a directive about thread block clusters
  Loc clusters_loc;
  bool wants_clusters = false;  ///< it says that they have more than one group
  bool explicit_cluster = false, cluster_size = false;  ///< `.explicitcluster`; a size is given
  std::vector<Directive> directives;  ///< all of them, `.noreturn` and pragmas included
  Scope body;
};

/// `.alias name, target;`: both are functions of the module, name has no body of its own.
struct Alias {
  Loc loc;
  std::string name, target;
};

struct Module {
  uint32_t version_major = 0, version_minor = 0;
  std::string target;                       ///< "sm_75"
  std::vector<std::string> target_options;  ///< what follows it: "debug", "texmode_independent"
  uint32_t address_size = 64;
  std::vector<std::pair<uint32_t, std::string>> files;  ///< .file
  std::vector<Directive> directives;  ///< `.file` with what it has beside the name, `.pragma`
  std::vector<Variable> variables;
  std::vector<Function> functions;  ///< a declaration is replaced by its definition
  std::vector<Alias> aliases;
  /// Declarations of names that `variables` and `functions` have in another one.
  std::vector<Variable> other_variables;
  std::vector<Function> other_functions;
  /// Names in declarations with a syntax error.
  std::unordered_set<std::string> unread;
};

/// 75 of "sm_75" and "compute_75", 0 where there is no number.
unsigned sm_number(std::string_view target);

struct ParseResult {
  Module module;
  std::vector<Diagnostic> diagnostics;  ///< errors and warnings in line order
  bool ok() const;
};

/// Never throws on bad input: every error becomes a diagnostic, up to max_errors (0 = all).
ParseResult parse(std::string_view text, size_t max_errors = 100);

}  // namespace lanewise::ptx
