// One case of a stream script after sweeps are expanded: what to set up, run and expect.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "lanewise/error.hpp"
#include "lanewise/types.hpp"
#include "runtime/ir/ir.hpp"
#include "runtime/script/language/expr.hpp"

namespace lanewise::script {

/// Threads of a group, by linear index. Whoever asks also looks at `where`.
struct LaneSet {
  enum class Kind : uint8_t { active, inactive, all, ranges };
  Kind kind = Kind::active;
  std::vector<std::pair<uint64_t, uint64_t>> ranges = {};  ///< first and last
  ExprPtr where = nullptr;                                 ///< and this holds; null = always
  bool holds(uint64_t tid, bool active) const {
    if (kind != Kind::ranges) return kind == Kind::all || active == (kind == Kind::active);
    for (const auto& [first, last] : ranges)
      if (tid >= first && tid <= last) return true;
    return false;
  }
};

struct BufferDecl {
  enum class Fill : uint8_t { zero, iota, value, random, file };
  Loc loc;
  std::string name;
  ir::Type type = ir::Type::u32;
  ExprPtr count;  ///< null: as many as the contents say
  Fill fill = Fill::zero;
  ExprPtr first, second;  ///< iota start and step; value (a list or over `i`); random seed
  std::string path;
  bool read_only = false;
  std::optional<LaneSet> absent;  ///< pages that are not resident; the buffer fills whole pages
};

/// `reg .b32 %r1 = 5`, `reg R2:R3 = src`, `reg s[8:11] = descriptor(...)`. A vector of PTX is one
/// declaration without a value and one entry per component that has one: %v.x
struct RegDecl {
  Loc loc;
  std::string type;  ///< PTX only: "b32"
  std::string name;
  ExprPtr value;           ///< null: declared, starts as zero
  unsigned vector = 1;     ///< 2 or 4: `.v2`, `.v4`
  bool component = false;  ///< of a vector that is declared on its own
};

struct ParamDecl {
  Loc loc;
  ir::Type type = ir::Type::u32;
  std::string name;
  ExprPtr value;
};

/// Threads by a set or, when there is one, by a mask per wave.
struct Selection {
  LaneSet lanes;
  ExprPtr mask;
};
/// What the rasteriser says about the lanes of a pixel shader.
struct Pixel {
  Loc loc;
  Selection covered{{LaneSet::Kind::all, {}}, nullptr};
  Selection helpers{{LaneSet::Kind::ranges, {}}, nullptr};
};

struct Code {
  Loc loc;  ///< of the text's first character
  std::string text;
};
struct Launch {
  struct Argument {
    Loc loc;
    std::optional<ir::Type> type;
    ExprPtr value;
  };
  Loc loc;
  std::string kernel;
  Dim3 grid, block;
  uint32_t shared = 0;
  std::vector<Argument> args;
};
struct ExpectRegister {
  Loc loc;
  std::string name;
  LaneSet lanes;
  std::optional<ir::Type> as;
  ExprPtr value;
};
struct ExpectMemory {
  Loc loc;
  std::string buffer;
  std::optional<ir::Type> as;
  ExprPtr first, last;  ///< null: the whole buffer
  ExprPtr value;        ///< null: unchanged
};
struct ExpectFault {
  Loc loc;
  FaultKind kind = FaultKind::none;
  LaneSet lanes;
  ExprPtr address, size;  ///< null: any
  std::string text;       ///< part of the instruction, empty = any
};
struct Dump {
  Loc loc;
  std::string name, path;
};
/// `expect cache l1 reads == 4`, `expect cache l1 sm 0 holds x + 128 dirty`,
/// `expect cache finding "H1" == 1`.
struct ExpectCache {
  enum class What : uint8_t { count, finding, holds, lacks, valid_bytes, dirty_bytes };
  Loc loc;
  What what = What::count;
  std::string cache, name;     ///< l1; the counter or the rule
  std::optional<uint32_t> sm;  ///< of line states
  bool local = false;          ///< the address is one of local memory
  ExprPtr address;             ///< null for counts and findings
  ExprPtr value;               ///< null for holds and lacks
  std::optional<bool> dirty;   ///< holds: as stated
};
/// `cache "PRESET" [exact]`; no preset: the tracker does not run.
struct CacheSetting {
  Loc loc;
  std::string preset;
  bool exact = false;
};
using Step =
    std::variant<Code, Launch, ExpectRegister, ExpectMemory, ExpectFault, ExpectCache, Dump>;

struct Rejected {
  Loc loc;
  std::string message;
};

struct Case {
  Loc loc;
  std::string name;
  std::string bindings;  ///< "size = u8, n = 3": the sweeps it comes from
  std::optional<ir::Isa> isa;
  std::string target;       ///< "sm_80", "gfx600"; empty = the ISA's default
  std::string ptx_version;  ///< empty = the default
  Dim3 grid;
  std::optional<Dim3> block;  ///< empty: `waves` waves
  uint32_t waves = 1;
  uint32_t dynamic_shared = 0;
  LaneSet active{LaneSet::Kind::all, {}};
  ExprPtr active_mask;         ///< per wave; null = `active`
  std::optional<Pixel> pixel;  ///< SASS code runs as a pixel shader
  Memcheck memcheck = Memcheck::alloc;
  WaveMode wave_mode = WaveMode::automatic;
  CacheSetting cache;
  std::vector<std::pair<std::string, std::string>> policies;
  std::vector<Let> lets;
  std::vector<BufferDecl> buffers;
  std::vector<RegDecl> regs;
  std::vector<ParamDecl> params;
  std::string declarations;  ///< PTX text in front of the kernel
  Loc declarations_loc;
  std::vector<std::pair<Loc, std::string>> modules;
  std::vector<Step> steps;
  std::vector<Rejected> rejected;
};

uint32_t wave_lanes(const Case& c);
Dim3 block_of(const Case& c);

}  // namespace lanewise::script
