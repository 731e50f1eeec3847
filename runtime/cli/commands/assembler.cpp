// asm and disasm: the same for every ISA.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "lanewise/tools.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/diagnostics.hpp"
#include "runtime/cli/input.hpp"
#include "runtime/cli/process/streams.hpp"
#include "runtime/support/json_document.hpp"

namespace lanewise::cli {
namespace {

struct CodeArgs {
  std::string file, out;
  bool tsv = false, json = false;
  CodeOptions options;
};

/// What was found, for people.
void report(const CodeArgs& a, const Code& code) {
  constexpr size_t kMostWarnings = 100;  // bytes that are no code make one for each word
  size_t warnings = 0;
  for (const Diagnostic& d : code.diagnostics)
    if (!d.warning || ++warnings <= kMostWarnings) say("{}\n", format(a.file, d));
  if (warnings > kMostWarnings) say("{}: {} more warnings\n", a.file, warnings - kMostWarnings);
}

void check_columns(const CodeArgs& a) {
  if (a.options.remarks && !a.tsv)
    throw Error(ErrorKind::usage, "--annotations adds columns to --tsv: say both");
  if (a.json && (a.tsv || a.out == "-"))
    throw Error(ErrorKind::usage,
                fmt::format("--json and {} both want standard output", a.tsv ? "--tsv" : "-o -"));
}

CodeOptions named(const CodeArgs& a) {
  CodeOptions options = a.options;
  options.name = a.file;
  options.include_folder = include_folder(a.file);
  options.rows = a.tsv || a.json;
  options.remarks = options.remarks || a.json;
  return options;
}

/// The rows of --tsv --annotations as objects.
void print_json(const CodeArgs& a, const Code& code) {
  nlohmann::json list = nlohmann::json::array();
  std::istringstream rows(code.rows);
  for (std::string row; std::getline(rows, row);) {
    nlohmann::json instruction;
    std::istringstream cells(row);
    for (const char* name : {"address", "word", "text", "annotations", "remarks"}) {
      std::string cell;
      std::getline(cells, cell, '\t');
      instruction[name] = cell;
    }
    list.push_back(std::move(instruction));
  }
  nlohmann::json j = {{"file", a.file},
                      {"ok", code.ok},
                      {"diagnostics", diagnostics_json(a.file, code.diagnostics)},
                      {"instructions", std::move(list)}};
  if (!a.out.empty()) j["output"] = a.out;
  fmt::print("{}", json_document(std::move(j)));
}

int assemble_file(const CodeArgs& a) {
  check_columns(a);
  if (a.out.empty() && !a.tsv && !a.json)
    throw Error(ErrorKind::usage, "machine code is binary: name a file with -o OUT, or use --tsv");
  const Code code = assemble(read_input(a.file), named(a));
  report(a, code);
  if (a.json) print_json(a, code);
  if (!code.ok) return 1;
  if (!a.out.empty()) write_output(a.out, code.data);
  if (a.tsv) fmt::print("{}", code.rows);
  return 0;
}

/// The library names its own options.
[[noreturn]] void refuse_format(const CodeArgs& a) {
  throw Error(ErrorKind::usage,
              fmt::format("'{}' is no cubin or code object that can be disassembled; for machine "
                          "code alone use --raw --isa",
                          a.file));
}

int disassemble_file(const CodeArgs& a) {
  check_columns(a);
  const std::string file = read_input(a.file);
  if (a.options.isa.empty() && a.options.raw)
    throw Error(ErrorKind::usage, "--raw machine code does not say its language: add --isa");
  Code code;
  try {
    code = disassemble(file, named(a));
  } catch (const DetailedError& e) {
    if (std::string_view(e.what()).find("LW_CODE_RAW") != std::string_view::npos) refuse_format(a);
    throw;
  }
  report(a, code);
  if (a.json) print_json(a, code);
  if (!a.json || !a.out.empty()) write_output(a.out, a.tsv ? code.rows : code.data);
  return code.ok ? 0 : 1;
}

void add_common(const Command& sub, CodeArgs& a, const char* what) {
  sub.option("FILE", a.file, what).required();
  sub.option("--isa", a.options.isa, "instruction set").one_of({"sass", "gcn"});
  sub.option("--target", a.options.target,
             "sm_50 to sm_62, gfx803, ... (default: what the file says)")
      .suggests(ValueKind::target);
  sub.option("--kernel", a.options.kernel, "only this kernel");
  sub.option("-o", a.out, "output file");
  sub.flag("--tsv", a.tsv, "print address, word and text of each instruction");
  sub.flag("--annotations", a.options.remarks,
           "with --tsv: columns for control annotations and for what the linter says (SASS)");
  sub.json(a.json);
  sub.option("--max-errors", a.options.max_errors, "report at most so many errors, 0 = all");
}

}  // namespace

void add_asm(const Command& app) {
  const Command sub = app.command("asm", "assemble SASS text to machine code");
  auto a = std::make_shared<CodeArgs>();
  add_common(sub, *a, "assembly text");
  sub.examples({"lanewise asm tests/kernels/data/sass/k01_saxpy.sass --tsv"});
  sub.does([a] { return assemble_file(*a); });
}

void add_disasm(const Command& app) {
  const Command sub =
      app.command("disasm", "disassemble a cubin, machine code, or the code in a program");
  auto a = std::make_shared<CodeArgs>();
  add_common(sub, *a,
             "cubin, fat binary, executable, library, object or archive; machine code with --raw");
  sub.flag("--raw", a->options.raw, "the file is machine code and nothing else; needs --isa");
  sub.flag("--bare", a->options.bare, "with --raw: SASS instructions without control words");
  sub.examples({"lanewise disasm samples/cubin/sort.cubin"});
  sub.does([a] { return disassemble_file(*a); });
}

}  // namespace lanewise::cli
