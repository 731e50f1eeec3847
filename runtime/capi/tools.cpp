// Assembler, disassembler, coverage.
#include "runtime/api/loader.hpp"
#include "runtime/capi/objects.hpp"
#include "runtime/capi/structs.hpp"
#include "runtime/tools/coverage.hpp"
#include "runtime/tools/isa_tools.hpp"

namespace lanewise::capi {
namespace {

std::string text_or_empty(const char* text) {
  return text != nullptr ? text : "";
}

constexpr uint32_t kCodeFlags =
    LW_CODE_TSV | LW_CODE_RAW | LW_CODE_BARE | LW_CODE_REMARKS | LW_CODE_ROWS;

/// What is asked of an assembler or a disassembler.
struct CodeJob {
  tools::CodeOptions options;
  const char* isa = nullptr;
  std::string name = "<memory>";
  bool tsv = false;   ///< rows in place of the code
  bool rows = false;  ///< rows beside it
};

CodeJob code_job(const lw_code_options& o) {
  if ((o.flags & ~kCodeFlags) != 0)
    fail(ErrorDetail::invalid_value, fmt::format("flags {:#x}: unknown bits", o.flags));
  if (o.reserved != 0) fail(ErrorDetail::invalid_value, "reserved is not 0");
  CodeJob job;
  job.options.target = text_or_empty(o.target);
  job.options.kernel = text_or_empty(o.kernel);
  job.options.include_folder = text_or_empty(o.include_folder);
  job.options.raw = (o.flags & LW_CODE_RAW) != 0;
  job.options.bare = (o.flags & LW_CODE_BARE) != 0;
  job.options.remarks = (o.flags & LW_CODE_REMARKS) != 0;
  if (o.max_errors != 0) job.options.max_errors = o.max_errors;
  job.isa = o.isa;
  if (o.name != nullptr) job.name = o.name;
  job.tsv = (o.flags & LW_CODE_TSV) != 0;
  job.rows = (o.flags & LW_CODE_ROWS) != 0;
  return job;
}

lw_code_options code_options(const char* isa, const char* target, const char* kernel,
                             uint32_t flags) {
  lw_code_options o = LW_CODE_OPTIONS_INIT;
  o.isa = isa;
  o.target = target;
  o.kernel = kernel;
  o.flags = flags;
  return o;
}

lw_code_options read_options(const lw_code_options* options) {
  return options != nullptr ? read_struct(options, "lw_code_options")
                            : lw_code_options LW_CODE_OPTIONS_INIT;
}

const char* name_of(Isa isa) {
  return isa == Isa::sass ? "sass" : isa == Isa::gcn ? "gcn" : "ptx";
}

bool only_warnings(const tools::Code& code) {
  return std::ranges::all_of(code.diagnostics, [](const Diagnostic& d) { return d.warning; });
}

/// With what was found as diagnostics of the thread.
void give_code(const CodeJob& job, tools::Code code, std::string bytes, lw_blob** out) {
  BlobObject::Notes notes;
  if (job.rows) notes["tsv"] = tools::tsv(code, job.options.remarks);
  give<BlobObject>(out, job.tsv ? tools::tsv(code, job.options.remarks) : std::move(bytes),
                   std::move(notes));
  if (!only_warnings(code)) throw CompileError(job.name, std::move(code.diagnostics));
  last().file = job.name;
  last().diagnostics = std::move(code.diagnostics);
}

void assemble(std::string_view text, const CodeJob& job, lw_blob** out) {
  if (job.options.raw || job.options.bare)
    fail(ErrorDetail::invalid_value, "LW_CODE_RAW and LW_CODE_BARE are for disassembling");
  const char* isa =
      job.isa != nullptr ? job.isa : name_of(host::detail::detect_isa(job.name, text));
  tools::Code code = tools::tools_named(isa).assemble(text, job.options);
  if (!only_warnings(code)) throw CompileError(job.name, std::move(code.diagnostics));
  std::string words(reinterpret_cast<const char*>(code.bytes.data()), code.bytes.size());
  give_code(job, std::move(code), std::move(words), out);
}

const tools::IsaTools& tools_for(const CodeJob& job, std::span<const std::byte> data) {
  if (job.isa != nullptr) return tools::tools_named(job.isa);
  if (job.options.raw) fail(ErrorDetail::null_argument, "raw machine code does not say its isa");
  if (const tools::IsaTools* t = tools::tools_for_container(data)) return *t;
  fail(ErrorDetail::format,
       fmt::format(
           "'{}' is no cubin or code object that can be disassembled; for machine code alone "
           "there is LW_CODE_RAW",
           job.name));
}

void disassemble(std::span<const std::byte> data, const CodeJob& job, lw_blob** out) {
  tools::Code code = tools_for(job, data).disassemble(data, job.options);
  std::string text = std::move(code.text);
  give_code(job, std::move(code), std::move(text), out);
}

/// Bytes of the caller's, which may be none.
std::span<const std::byte> bytes_at(const void* data, size_t bytes) {
  return {static_cast<const std::byte*>(required(data, "data")), bytes};
}

/// For the functions without options: after an error there is nothing.
template <typename Body>
void all_or_nothing(lw_blob** out, const Body& body) {
  try {
    body();
  } catch (...) {
    release<BlobObject>(std::exchange(*out, nullptr));
    throw;
  }
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
    const CodeJob job = code_job(code_options(required(isa, "isa"), target, kernel, flags));
    assemble({required(text, "text"), bytes}, job, out);
  });
}

lw_status lw_assemble_with(const char* text, size_t bytes, const lw_code_options* options,
                           lw_blob** out) {
  return guarded([&] {
    clear_out(out);
    assemble({required(text, "text"), bytes}, code_job(read_options(options)), out);
  });
}

lw_status lw_disassemble(const char* isa, const void* data, size_t bytes, const char* target,
                         const char* kernel, uint32_t flags, lw_blob** out) {
  return guarded([&] {
    clear_out(out);
    const CodeJob job = code_job(code_options(isa, target, kernel, flags));
    all_or_nothing(out, [&] { disassemble(bytes_at(data, bytes), job, out); });
  });
}

lw_status lw_disassemble_with(const void* data, size_t bytes, const lw_code_options* options,
                              lw_blob** out) {
  return guarded([&] {
    clear_out(out);
    disassemble(bytes_at(data, bytes), code_job(read_options(options)), out);
  });
}

lw_status lw_coverage(const char* isa, const char* target, const char* form, lw_blob** out) {
  return guarded([&] {
    clear_out(out);
    required(isa, "isa");
    const std::string for_target = text_or_empty(target);
    std::string text;
    if (form != nullptr) {
      text = row(tools::coverage_of(isa, for_target, form));
    } else {
      for (const isa::Coverage& c : tools::coverage(isa, for_target)) text += row(c);
    }
    BlobObject::Notes notes = {{"target", tools::judged_target(isa, for_target)}};
    give<BlobObject>(out, std::move(text), std::move(notes));
  });
}
