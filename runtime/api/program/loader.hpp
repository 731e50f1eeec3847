// From a file to an ir::Module, whatever the language.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lanewise/error.hpp"
#include "lanewise/lanewise.h"
#include "lanewise/launch.hpp"
#include "runtime/ir/ir.hpp"
#include "runtime/isa/rejected.hpp"

namespace lanewise::host::detail {

struct Compiled {
  ir::Module module;
  std::vector<ir::Module> others;  ///< of a file with several programs, each with its own variables
  std::vector<Diagnostic> diagnostics;        ///< errors and warnings, in line order
  std::vector<isa::RejectedKernel> rejected;  ///< kernels that the front end could not lower
  bool unusable = false;                      ///< the file as a whole is at fault
  /// Nothing but warnings.
  bool ok() const;
  /// At least one kernel can run: what is wrong concerns only others.
  bool usable() const { return !unusable && kernel_count() != 0; }
  std::vector<const ir::Module*> modules() const;
  size_t kernel_count() const;
};

/// How a program is read: lw_module_options, whose texts it owns.
struct LoadOptions {
  Isa isa = Isa::automatic;       ///< automatic: as detect_isa finds
  std::string name = "<memory>";  ///< for messages; its ending may name the language
  /// "sm_80", "sm_52", "gfx803" in place of the one the text names: SASS and GCN text is read for
  /// it, PTX must be legal for it. Error(usage) for an unknown target and for a binary made for
  /// another one.
  std::string target = {};
  std::string include_folder = {};  ///< of files that GCN text includes; "": nothing is included
  uint32_t strict = LW_STRICT_RUN;  ///< check() alone
  size_t max_errors = 100;          ///< 0 = all
  /// With a target or a strictness of its own a check says only whether the text is legal, not
  /// whether it can be run here as well.
  bool only_legality() const { return !target.empty() || strict != LW_STRICT_RUN; }
};

/// ptx, sass or gcn: from the file name's ending, else from the text; automatic for a file with
/// images of several kinds. Error(usage) when neither does, with what was looked for; binary
/// formats that are not supported are named.
Isa detect_isa(const std::string& path, std::string_view text);

/// One of several files that make up a program.
struct Input {
  std::string text, name;  ///< the name's ending may name the language
};

/// Of files of one language, as nvlink joins what was compiled apart; the options' name is not
/// used. Error(usage) where they are not of one language, or of one that cannot be linked here.
Compiled link(const std::vector<Input>& inputs, const LoadOptions& options);
/// Parses and lowers.
Compiled compile(std::string_view text, const LoadOptions& options);
/// compile(), and for PTX the rules of the real assembler.
Compiled check(std::string_view text, const LoadOptions& options);

}  // namespace lanewise::host::detail
