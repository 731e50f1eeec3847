// What the library does with programs beside running them: check, assemble, disassemble, coverage.
// None of it needs a device. Defects of a program are in the answer; everything else that goes
// wrong throws Error.
#pragma once

#include "lanewise/detail/needs_cxx20.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "lanewise/detail/call.hpp"

namespace lanewise {

/// How check_program judges. With a strictness of its own, or with a target, it says only whether
/// the text is legal, not whether it can run here as well.
enum class Strictness : uint8_t {
  run,        ///< as the real assembler, and whether it can run
  manual,     ///< by the manual's text; SASS: with its control words
  assembler,  ///< as the real assembler; PTX: CUDA 11.8's up to .version 7.8
  cuda_11_8,  ///< PTX: as the assembler of CUDA 11.8
  cuda_13_0   ///< PTX: as the assembler of CUDA 13.0
};

struct CheckOptions {
  Isa isa = Isa::automatic;     ///< automatic: by name and text
  std::string name = "<text>";  ///< of the program; its ending may name the language
  /// PTX: what it is compiled for, as `ptxas -arch`; else in place of the file's own. Empty = that.
  std::string target = {};
  Strictness strict = Strictness::run;
  std::string include_folder = {};  ///< where included files of GCN text lie; empty = no includes
  uint64_t max_errors = 100;        ///< at most so many; 0 = all
};

/// What was found in a program.
struct Checked {
  std::vector<Diagnostic> diagnostics;  ///< in line order
  bool ok = false;                      ///< nothing but warnings
  uint64_t kernels = 0;                 ///< that can run; 0 where only legality was asked for
};

struct CodeOptions {
  std::string isa = {};           ///< "sass", "gcn"; empty = by name and text, or by the container
  std::string name = "<memory>";  ///< of the input, in messages
  std::string target = {};        ///< "sm_52", "gfx803"; empty = what the input says, or the first
  std::string kernel = {};        ///< only this one; empty = all
  std::string include_folder = {};  ///< where included files of GCN text lie; empty = no includes
  bool raw = false;                 ///< disassemble: the input is machine code and nothing else
  bool bare = false;                ///< with raw: SASS without control words
  bool rows = false;                ///< answer with rows, too
  bool remarks = false;       ///< rows have control annotations and what the linter says (SASS)
  uint64_t max_errors = 100;  ///< at most so many; 0 = all
};

/// A program in one form made of the other.
struct Code {
  std::string data;  ///< machine code, or text; with defects nothing, or the text of what is sound
  std::string rows;  ///< if asked for: address, word, text of each instruction, tab-separated
  std::vector<Diagnostic> diagnostics;
  bool ok = false;  ///< nothing but warnings
};

/// One instruction form and how well it is supported.
struct FormCoverage {
  std::string form;
  std::string state;  ///< "exact", "approximate", "unsupported"
  std::string note;
};
struct CoverageTable {
  std::string target;  ///< which one it is for; empty where the instruction set has but one table
  std::vector<FormCoverage> forms;
};

namespace detail {

/// 0 means all.
inline uint32_t c_limit(uint64_t errors) {
  constexpr auto kAll = std::numeric_limits<uint32_t>::max();
  return errors == 0 || errors > kAll ? kAll : static_cast<uint32_t>(errors);
}

/// What a call found that rejects programs; throws for other failures.
inline std::vector<Diagnostic> found(lw_status status) {
  if (status != LW_OK && lw_last_detail() != LW_DETAIL_REJECTED) raise(status);
  return last_diagnostics().second;
}

/// Of lw_assemble and lw_disassemble.
template <typename Make>
Code make_code(const CodeOptions& o, const Make& make) {
  lw_code_options options = LW_CODE_OPTIONS_INIT;
  options.flags = (o.rows ? LW_CODE_ROWS : 0) | (o.raw ? LW_CODE_RAW : 0) |
                  (o.bare ? LW_CODE_BARE : 0) | (o.remarks ? LW_CODE_REMARKS : 0);
  options.isa = c_text(o.isa);
  options.target = c_text(o.target);
  options.kernel = c_text(o.kernel);
  options.name = o.name.c_str();
  options.include_folder = c_text(o.include_folder);
  options.max_errors = c_limit(o.max_errors);
  lw_blob* blob = nullptr;
  const lw_status status = make(&options, &blob);
  Code out;
  out.ok = status == LW_OK;
  out.diagnostics = found(status);
  if (blob == nullptr) return out;
  out.rows = lw_blob_note(blob, "tsv");
  out.data = take(blob);
  return out;
}

/// Form, state and note of a row, whose form has so many bytes.
inline FormCoverage form_coverage(std::string_view row, size_t form_bytes) {
  const size_t state = form_bytes + 1, note = row.find('\t', state) + 1;
  return {std::string(row.substr(0, form_bytes)), std::string(row.substr(state, note - 1 - state)),
          std::string(row.substr(note))};
}

inline lw_blob* coverage_blob(const std::string& isa, const std::string& target, const char* form) {
  lw_blob* blob = nullptr;
  call(lw_coverage(isa.c_str(), c_text(target), form, &blob));
  return blob;
}

}  // namespace detail

/// Parses and validates; runs nothing.
inline Checked check_program(std::string_view program, const CheckOptions& o = {}) {
  lw_module_options options = LW_MODULE_OPTIONS_INIT;
  options.isa = detail::c_name(o.isa);
  options.name = o.name.c_str();
  options.target = detail::c_text(o.target);
  options.include_folder = detail::c_text(o.include_folder);
  options.strict = static_cast<uint32_t>(o.strict);
  options.max_errors = detail::c_limit(o.max_errors);
  size_t kernels = 0;
  const lw_status status = lw_check(program.data(), program.size(), &options, &kernels);
  Checked out;
  out.ok = status == LW_OK;
  out.diagnostics = detail::found(status);
  out.kernels = kernels;
  return out;
}

/// SASS or GCN text to the machine code of all instructions.
inline Code assemble(const std::string& text, const CodeOptions& options = {}) {
  return detail::make_code(options, [&](const lw_code_options* o, lw_blob** out) {
    return lw_assemble(text.data(), text.size(), o, out);
  });
}
/// A cubin, a code object or machine code to text that assembles to the same words. Error with
/// ErrorDetail::format for bytes that are none of them.
inline Code disassemble(const std::string& bytes, const CodeOptions& options = {}) {
  return detail::make_code(options, [&](const lw_code_options* o, lw_blob** out) {
    return lw_disassemble(bytes.data(), bytes.size(), o, out);
  });
}

/// Every form of "ptx", "sass" or "gcn". Targets are GCN's alone: "gfx600" (default), "gfx700",
/// "gfx803".
inline CoverageTable coverage(const std::string& isa, const std::string& target = {}) {
  lw_blob* const blob = detail::coverage_blob(isa, target, nullptr);
  CoverageTable out;
  out.target = lw_blob_note(blob, "target");
  const std::string rows = detail::take(blob);
  for (std::string_view rest = rows; !rest.empty();) {
    const std::string_view row = rest.substr(0, rest.find('\n'));
    out.forms.push_back(detail::form_coverage(row, row.find('\t')));
    rest.remove_prefix(row.size() + 1);
  }
  return out;
}
/// Of one form, as the assembler spells it.
inline FormCoverage coverage_of(const std::string& isa, const std::string& form,
                                const std::string& target = {}) {
  if (form.find('\0') != std::string::npos) return {form, "unsupported", "no form has a 0 in it"};
  std::string row = detail::take(detail::coverage_blob(isa, target, form.c_str()));
  row.pop_back();  // the end of the line
  // A table's form has no tab; one that no table has comes back as it was given.
  return detail::form_coverage(row, row.starts_with(form + '\t') ? form.size() : row.find('\t'));
}

}  // namespace lanewise
