// What `asm` and `disasm` need of an instruction set. One table of these; a new ISA adds a row.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lanewise/error.hpp"

namespace lanewise::tools {

/// One instruction for --tsv.
struct CodeRow {
  std::string address;  ///< hex, without 0x
  std::string word;     ///< hex, as the ISA's tools print it
  std::string text;
  std::string control = {};  ///< what text says of scheduling behind the operands (SASS)
  std::string remark = {};   ///< what the linter says of it; with CodeOptions::remarks
};

/// A program in both forms.
struct Code {
  std::vector<CodeRow> rows;
  std::string text;              ///< assembly that assembles back to the same words
  std::vector<std::byte> bytes;  ///< machine code
  std::vector<Diagnostic> diagnostics;
};

struct CodeOptions {
  std::string target;  ///< "sm_50", "gfx600"; empty = what the file says, or the ISA's first
  std::string kernel;  ///< only this one; empty = all
  std::string include_folder;  ///< where included files of GCN text lie; empty = no includes
  bool raw = false;            ///< disasm: the file is machine code and nothing else
  bool bare = false;           ///< disasm: raw words without control words (SASS)
  bool remarks = false;        ///< ask the linter (SASS)
  size_t max_errors = 100;
};

struct IsaTools {
  std::string_view name;  ///< as --isa takes it
  /// The file is a container of this ISA (a cubin, a code object).
  bool (*is_container)(std::span<const std::byte> file);
  Code (*disassemble)(std::span<const std::byte> file, const CodeOptions& options);
  Code (*assemble)(std::string_view text, const CodeOptions& options);
};

IsaTools sass_tools();
IsaTools gcn_tools();

/// Those that there are.
std::vector<std::string> isa_names();
/// Error(usage) when there is no assembler of this name.
const IsaTools& tools_named(std::string_view name);
/// By what the container says of itself; null when it is none.
const IsaTools* tools_for_container(std::span<const std::byte> file);

/// address, word and text, tab-separated, one instruction a line; with `remarks` two columns more,
/// the control annotations and what the linter says.
std::string tsv(const Code& code, bool remarks = false);

}  // namespace lanewise::tools
