// asm and disasm: the same for every ISA; what differs is in runtime/tools.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/api/loader.hpp"
#include "runtime/cli/commands.hpp"
#include "runtime/cli/input.hpp"
#include "runtime/cli/process/streams.hpp"
#include "runtime/tools/isa_tools.hpp"

namespace lanewise::cli {
namespace {

using tools::Code;
using tools::CodeOptions;
using tools::IsaTools;

struct CodeArgs {
  std::string file, isa, out;
  bool tsv = false;
  CodeOptions options;
};

std::string_view text_of(Isa isa) {
  return isa == Isa::sass ? "sass" : isa == Isa::gcn ? "gcn" : "ptx";
}

std::span<const std::byte> bytes_of(const std::string& file) {
  return {reinterpret_cast<const std::byte*>(file.data()), file.size()};
}

const IsaTools& tools_for_binary(const CodeArgs& a, const std::string& file) {
  if (!a.isa.empty()) return tools::tools_named(a.isa);
  if (a.options.raw)
    throw Error(ErrorKind::usage, "--raw machine code does not say its language: add --isa");
  if (const IsaTools* t = tools::tools_for_container(bytes_of(file))) return *t;
  throw Error(ErrorKind::usage,
              fmt::format("'{}' is no cubin or code object that can be disassembled; for machine "
                          "code alone use --raw --isa",
                          a.file));
}

/// True when no error was among them.
bool report(const CodeArgs& a, const Code& code) {
  constexpr size_t kMostWarnings = 100;  // bytes that are no code make one for each word
  size_t warnings = 0;
  for (const Diagnostic& d : code.diagnostics)
    if (!d.warning || ++warnings <= kMostWarnings) say("{}\n", format(a.file, d));
  if (warnings > kMostWarnings) say("{}: {} more warnings\n", a.file, warnings - kMostWarnings);
  return std::ranges::all_of(code.diagnostics, [](const Diagnostic& d) { return d.warning; });
}

void put(const CodeArgs& a, const std::string& text) {
  write_output(a.out, text);
}

void check_columns(const CodeArgs& a) {
  if (a.options.remarks && !a.tsv)
    throw Error(ErrorKind::usage, "--annotations adds columns to --tsv: say both");
}

int assemble(const CodeArgs& a) {
  check_columns(a);
  if (a.out.empty() && !a.tsv)
    throw Error(ErrorKind::usage, "machine code is binary: name a file with -o OUT, or use --tsv");
  const std::string text = read_input(a.file);
  const std::string_view isa =
      a.isa.empty() ? text_of(host::detail::detect_isa(a.file, text)) : a.isa;
  const Code code = tools::tools_named(isa).assemble(text, a.options);
  if (!report(a, code)) return 1;
  if (!a.out.empty())
    write_output(a.out, {reinterpret_cast<const char*>(code.bytes.data()), code.bytes.size()});
  if (a.tsv) fmt::print("{}", tools::tsv(code, a.options.remarks));
  return 0;
}

int disassemble(const CodeArgs& a) {
  check_columns(a);
  const std::string file = read_input(a.file);
  const Code code = tools_for_binary(a, file).disassemble(bytes_of(file), a.options);
  const bool ok = report(a, code);
  put(a, a.tsv ? tools::tsv(code, a.options.remarks) : code.text);
  return ok ? 0 : 1;
}

void add_common(const Command& sub, CodeArgs& a, const char* what) {
  sub.option("FILE", a.file, what).required();
  sub.option("--isa", a.isa, "instruction set").one_of(tools::isa_names());
  sub.option("--target", a.options.target, "sm_50, sm_52, sm_53 (default: what the file says)");
  sub.option("--kernel", a.options.kernel, "only this kernel");
  sub.option("-o", a.out, "output file");
  sub.flag("--tsv", a.tsv, "print address, word and text of each instruction");
  sub.flag("--annotations", a.options.remarks,
           "with --tsv: columns for control annotations and for what the linter says (SASS)");
  sub.option("--max-errors", a.options.max_errors, "report at most so many errors, 0 = all");
}

}  // namespace

void add_asm(const Command& app) {
  const Command sub = app.command("asm", "assemble SASS text to machine code");
  auto a = std::make_shared<CodeArgs>();
  add_common(sub, *a, "assembly text");
  sub.examples({"lanewise asm tests/kernels/data/sass/k01_saxpy.sass --tsv"});
  sub.does([a] { return assemble(*a); });
}

void add_disasm(const Command& app) {
  const Command sub = app.command("disasm", "disassemble a cubin or machine code");
  auto a = std::make_shared<CodeArgs>();
  add_common(sub, *a, "cubin, or machine code with --raw");
  sub.flag("--raw", a->options.raw, "the file is machine code and nothing else; needs --isa");
  sub.flag("--bare", a->options.bare, "with --raw: SASS instructions without control words");
  sub.examples({"lanewise disasm tests/kernels/data/sass/k29_cacheops.cubin"});
  sub.does([a] { return disassemble(*a); });
}

}  // namespace lanewise::cli
