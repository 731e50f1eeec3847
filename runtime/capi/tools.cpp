// Assembler, disassembler, coverage.
#include "runtime/tools/isa_tools.hpp"

#include "runtime/capi/objects.hpp"
#include "runtime/capi/structs.hpp"
#include "runtime/tools/coverage.hpp"

namespace lanewise::capi {
namespace {

std::string text_or_empty(const char* text) {
  return text != nullptr ? text : "";
}

constexpr uint32_t kCodeFlags = LW_CODE_TSV | LW_CODE_RAW | LW_CODE_BARE;

tools::CodeOptions code_options(const char* target, const char* kernel, uint32_t flags) {
  if ((flags & ~kCodeFlags) != 0)
    fail(ErrorDetail::invalid_value, fmt::format("flags {:#x}: unknown bits", flags));
  tools::CodeOptions out;
  out.target = text_or_empty(target);
  out.kernel = text_or_empty(kernel);
  out.raw = (flags & LW_CODE_RAW) != 0;
  out.bare = (flags & LW_CODE_BARE) != 0;
  return out;
}

void give_code(tools::Code code, bool as_rows, std::string otherwise, lw_blob** out) {
  const bool ok =
      std::ranges::all_of(code.diagnostics, [](const Diagnostic& d) { return d.warning; });
  if (!ok) throw CompileError("<memory>", std::move(code.diagnostics));
  last().file = "<memory>";
  last().diagnostics = code.diagnostics;
  give<BlobObject>(out, as_rows ? tools::tsv(code) : std::move(otherwise));
}

const tools::IsaTools& tools_for(const char* isa, std::span<const std::byte> data, bool raw) {
  if (isa != nullptr) return tools::tools_named(isa);
  if (raw) fail(ErrorDetail::null_argument, "raw machine code does not say its isa");
  if (const tools::IsaTools* t = tools::tools_for_container(data)) return *t;
  fail(ErrorDetail::invalid_value,
       "this is no cubin or code object; for machine code alone there is LW_CODE_RAW");
}

std::string row(const isa::Coverage& c) {
  return fmt::format("{}\t{}\t{}\n", c.form, tools::state_name(c.state), c.note);
}

}  // namespace
}  // namespace lanewise::capi

using namespace lanewise;
using namespace lanewise::capi;

lw_status lw_assemble(const char* isa, const char* text, size_t bytes, const char* target,
                      const char* kernel, uint32_t flags, lw_blob** out) {
  return guarded([&] {
    clear_out(out);
    const tools::CodeOptions options = code_options(target, kernel, flags);
    if (options.raw || options.bare)
      fail(ErrorDetail::invalid_value, "LW_CODE_RAW and LW_CODE_BARE are for lw_disassemble");
    tools::Code code =
        tools::tools_named(required(isa, "isa")).assemble({required(text, "text"), bytes}, options);
    std::string words(reinterpret_cast<const char*>(code.bytes.data()), code.bytes.size());
    give_code(std::move(code), (flags & LW_CODE_TSV) != 0, std::move(words), out);
  });
}

lw_status lw_disassemble(const char* isa, const void* data, size_t bytes, const char* target,
                         const char* kernel, uint32_t flags, lw_blob** out) {
  return guarded([&] {
    clear_out(out);
    const tools::CodeOptions options = code_options(target, kernel, flags);
    const std::span file(static_cast<const std::byte*>(required(data, "data")), bytes);
    tools::Code code = tools_for(isa, file, options.raw).disassemble(file, options);
    std::string text = code.text;
    give_code(std::move(code), (flags & LW_CODE_TSV) != 0, std::move(text), out);
  });
}

lw_status lw_coverage(const char* isa, const char* target, const char* form, lw_blob** out) {
  return guarded([&] {
    clear_out(out);
    required(isa, "isa");
    std::string text;
    if (form != nullptr) {
      text = row(tools::coverage_of(isa, text_or_empty(target), form));
    } else {
      for (const isa::Coverage& c : tools::coverage(isa, text_or_empty(target))) text += row(c);
    }
    give<BlobObject>(out, std::move(text));
  });
}
