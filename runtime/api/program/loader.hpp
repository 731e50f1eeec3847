// From a file to an ir::Module, whatever the language.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lanewise/error.hpp"
#include "lanewise/launch.hpp"
#include "runtime/ir/ir.hpp"
#include "runtime/isa/rejected.hpp"

namespace lanewise::host::detail {

struct Compiled {
  ir::Module module;
  std::vector<Diagnostic> diagnostics;        ///< errors and warnings, in line order
  std::vector<isa::RejectedKernel> rejected;  ///< kernels that the front end could not lower
  bool unusable = false;                      ///< the file as a whole is at fault
  /// Nothing but warnings.
  bool ok() const;
  /// At least one kernel can run: what is wrong concerns only others.
  bool usable() const { return !unusable && !module.kernels.empty(); }
};

/// ptx, sass or gcn: from the file name's ending, else from the text. Error(usage) when neither
/// does, with what was looked for; binary formats that are not supported are named.
Isa detect_isa(const std::string& path, std::string_view text);

/// Parses and lowers. max_errors 0 = all. A target ("sm_80", "sm_52", "gfx803") takes the place of
/// the one the text names: SASS and GCN text is read for it, PTX must be legal for it. Error(usage)
/// for an unknown target and for a binary made for another one. Files that GCN text includes lie in
/// `include_folder`; without one nothing is included.
Compiled compile(std::string_view text, Isa isa, size_t max_errors = 100,
                 const std::string& target = {}, const std::string& include_folder = {});

/// How `lanewise check` judges PTX and SASS.
struct Legality {
  std::string target;  ///< "sm_80" in place of the file's own; empty = that
  std::string strict;  ///< "ptxas" or "manual" (SASS: also the control fields); empty = ptxas
  /// With a target or a strictness of its own a check says only whether the text is legal, not
  /// whether it can be run here as well.
  bool only() const { return !target.empty() || !strict.empty(); }
};
/// compile(), and for PTX the rules of the real assembler. Error(usage) for an unknown target.
Compiled check(std::string_view text, Isa isa, const Legality& legality, size_t max_errors = 100,
               const std::string& include_folder = {});

}  // namespace lanewise::host::detail
