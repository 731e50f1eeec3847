// asm and disasm: the same for every ISA; what differs is in isa_tools.hpp.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/api/loader.hpp"
#include "runtime/cli/commands.hpp"
#include "runtime/cli/isa_tools.hpp"
#include "runtime/cli/process/streams.hpp"
#include "runtime/support/output_file.hpp"

namespace lanewise::cli {
namespace {

struct CodeArgs {
  std::string file, isa, out;
  bool tsv = false;
  CodeOptions options;
};

const std::vector<IsaTools>& all_tools() {
  static const std::vector<IsaTools> tools = {sass_tools(), gcn_tools()};
  return tools;
}

std::vector<std::string> isa_names() {
  std::vector<std::string> names;
  for (const IsaTools& t : all_tools()) names.emplace_back(t.name);
  return names;
}

const IsaTools& named(std::string_view name) {
  for (const IsaTools& t : all_tools())
    if (t.name == name) return t;
  throw Error(ErrorKind::usage, fmt::format("there is no assembler for '{}'", name));
}

std::string_view text_of(Isa isa) {
  return isa == Isa::sass ? "sass" : isa == Isa::gcn ? "gcn" : "ptx";
}

std::span<const std::byte> bytes_of(const std::string& file) {
  return {reinterpret_cast<const std::byte*>(file.data()), file.size()};
}

const IsaTools& tools_for_binary(const CodeArgs& a, const std::string& file) {
  if (!a.isa.empty()) return named(a.isa);
  if (a.options.raw)
    throw Error(ErrorKind::usage, "--raw machine code does not say its language: add --isa");
  for (const IsaTools& t : all_tools())
    if (t.is_container(bytes_of(file))) return t;
  throw Error(ErrorKind::usage,
              fmt::format("'{}' is no cubin or code object that can be disassembled; for machine "
                          "code alone use --raw --isa",
                          a.file));
}

/// True when no error was among them.
bool report(const CodeArgs& a, const Code& code) {
  for (const Diagnostic& d : code.diagnostics) say("{}\n", format(a.file, d));
  return std::ranges::all_of(code.diagnostics, [](const Diagnostic& d) { return d.warning; });
}

std::string tsv(const Code& code) {
  std::string out;
  for (const CodeRow& r : code.rows) out += fmt::format("{}\t{}\t{}\n", r.address, r.word, r.text);
  return out;
}

void put(const CodeArgs& a, const std::string& text) {
  if (a.out.empty())
    fmt::print("{}", text);
  else
    write_file(a.out, text);
}

int assemble(const CodeArgs& a) {
  if (a.out.empty() && !a.tsv)
    throw Error(ErrorKind::usage, "machine code is binary: name a file with -o OUT, or use --tsv");
  const std::string text = detail::read_file(a.file);
  const std::string_view isa = a.isa.empty() ? text_of(detail::detect_isa(a.file, text)) : a.isa;
  const Code code = named(isa).assemble(text, a.options);
  if (!report(a, code)) return 1;
  if (!a.out.empty())
    write_file(a.out, {reinterpret_cast<const char*>(code.bytes.data()), code.bytes.size()});
  if (a.tsv) fmt::print("{}", tsv(code));
  return 0;
}

int disassemble(const CodeArgs& a) {
  const std::string file = detail::read_file(a.file);
  const Code code = tools_for_binary(a, file).disassemble(bytes_of(file), a.options);
  const bool ok = report(a, code);
  put(a, a.tsv ? tsv(code) : code.text);
  return ok ? 0 : 1;
}

void add_common(const Command& sub, CodeArgs& a, const char* what) {
  sub.option("FILE", a.file, what).required();
  sub.option("--isa", a.isa, "instruction set").one_of(isa_names());
  sub.option("--target", a.options.target, "sm_50, sm_52, sm_53 (default: what the file says)");
  sub.option("--kernel", a.options.kernel, "only this kernel");
  sub.option("-o", a.out, "output file");
  sub.flag("--tsv", a.tsv, "print address, word and text of each instruction");
  sub.option("--max-errors", a.options.max_errors, "report at most so many errors, 0 = all");
}

}  // namespace

void add_asm(const Command& app) {
  const Command sub = app.command("asm", "assemble SASS text to machine code");
  auto a = std::make_shared<CodeArgs>();
  add_common(sub, *a, "assembly text");
  sub.does([a] { return assemble(*a); });
}

void add_disasm(const Command& app) {
  const Command sub = app.command("disasm", "disassemble a cubin or machine code");
  auto a = std::make_shared<CodeArgs>();
  add_common(sub, *a, "cubin, or machine code with --raw");
  sub.flag("--raw", a->options.raw, "the file is machine code and nothing else; needs --isa");
  sub.flag("--bare", a->options.bare, "with --raw: SASS instructions without control words");
  sub.does([a] { return disassemble(*a); });
}

}  // namespace lanewise::cli
