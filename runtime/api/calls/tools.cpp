// Assembler, disassembler, coverage.
#include "runtime/api/objects/objects.hpp"
#include "runtime/api/objects/structs.hpp"
#include "runtime/api/program/embedded.hpp"
#include "runtime/api/program/fat_binary.hpp"
#include "runtime/api/program/loader.hpp"
#include "runtime/tools/coverage.hpp"
#include "runtime/tools/isa_tools.hpp"

namespace lanewise::host {
namespace {

constexpr uint32_t kCodeFlags =
    LW_CODE_TSV | LW_CODE_RAW | LW_CODE_BARE | LW_CODE_REMARKS | LW_CODE_ROWS;

/// What is asked of an assembler or a disassembler.
struct CodeJob {
  lw_code_options asked;
  std::string name;
  tools::CodeOptions options;
  bool has(uint32_t flag) const { return (asked.flags & flag) != 0; }
};

CodeJob code_job(const lw_code_options* given) {
  constexpr lw_code_options kNone = LW_CODE_OPTIONS_INIT;
  const lw_code_options o = read_struct(given != nullptr ? given : &kNone, "lw_code_options");
  if ((o.flags & ~kCodeFlags) != 0)
    fail(ErrorDetail::invalid_value, fmt::format("flags {:#x}: unknown bits", o.flags));
  if (o.reserved != 0) fail(ErrorDetail::invalid_value, "reserved is not 0");
  CodeJob job{o, text_or(o.name, "<memory>"), {}};
  job.options.target = text_or(o.target);
  job.options.kernel = text_or(o.kernel);
  job.options.include_folder = text_or(o.include_folder);
  job.options.raw = job.has(LW_CODE_RAW);
  job.options.bare = job.has(LW_CODE_BARE);
  job.options.remarks = job.has(LW_CODE_REMARKS);
  if (o.max_errors != 0) job.options.max_errors = o.max_errors;
  return job;
}

const char* name_of(Isa isa) {
  return isa == Isa::sass ? "sass" : isa == Isa::gcn ? "gcn" : "ptx";
}

bool only_warnings(const tools::Code& code) {
  return std::ranges::all_of(code.diagnostics, [](const Diagnostic& d) { return d.warning; });
}

/// With what was found as diagnostics of the thread.
void give_code(const CodeJob& job, tools::Code code, std::string bytes, lw_blob** out) {
  Blob::Notes notes;
  if (job.has(LW_CODE_ROWS)) notes["tsv"] = tools::tsv(code, job.options.remarks);
  *out = new_handle(std::make_shared<Blob>(
      job.has(LW_CODE_TSV) ? tools::tsv(code, job.options.remarks) : std::move(bytes),
      std::move(notes)));
  if (!only_warnings(code)) throw CompileError(job.name, std::move(code.diagnostics));
  keep_diagnostics(job.name, std::move(code.diagnostics));
}

void assemble(std::string_view text, const CodeJob& job, lw_blob** out) {
  if (job.options.raw || job.options.bare)
    fail(ErrorDetail::invalid_value, "LW_CODE_RAW and LW_CODE_BARE are for disassembling");
  const char* isa =
      job.asked.isa != nullptr ? job.asked.isa : name_of(detail::detect_isa(job.name, text));
  tools::Code code = tools::tools_named(isa).assemble(text, job.options);
  if (!only_warnings(code)) throw CompileError(job.name, std::move(code.diagnostics));
  std::string words(reinterpret_cast<const char*>(code.bytes.data()), code.bytes.size());
  give_code(job, std::move(code), std::move(words), out);
}

const tools::IsaTools& tools_for(const CodeJob& job, std::span<const std::byte> data) {
  if (job.asked.isa != nullptr) return tools::tools_named(job.asked.isa);
  if (job.options.raw) fail(ErrorDetail::null_argument, "raw machine code does not say its isa");
  if (const tools::IsaTools* t = tools::tools_for_container(data)) return *t;
  fail(ErrorDetail::format,
       fmt::format(
           "'{}' is no cubin or code object that can be disassembled; for machine code alone "
           "there is LW_CODE_RAW",
           job.name));
}

void add_code(tools::Code& all, tools::Code&& more) {
  std::ranges::move(more.rows, std::back_inserter(all.rows));
  std::ranges::move(more.diagnostics, std::back_inserter(all.diagnostics));
  all.text += more.text;
}

/// The machine code of each program in the file; one of them has the kernel that was asked for.
tools::Code disassemble_cubins(const detail::ChosenImages& chosen, const CodeJob& job) {
  tools::Code all;
  bool any = false;
  for (const detail::ChosenImage& image : chosen.images) try {
      add_code(all,
               tools::sass_tools().disassemble(std::as_bytes(std::span(image.data)), job.options));
      any = true;
    } catch (const Error&) {
      if (job.options.kernel.empty() || (!any && &image == &chosen.images.back())) throw;
    }
  return all;
}

/// Where a file has no machine code that is known here, the PTX in it is shown as it is.
tools::Code disassemble_container(std::string_view file, const CodeJob& job) {
  tools::Code code;
  detail::ChosenImages chosen;
  try {
    chosen = detail::images_of(file, Isa::sass);
    code = disassemble_cubins(chosen, job);
  } catch (const DetailedError& error) {
    const bool rows = job.has(LW_CODE_TSV) || job.has(LW_CODE_ROWS);
    if (error.detail() != ErrorDetail::format || job.asked.isa != nullptr || rows) throw;
    chosen = detail::images_of(file, Isa::ptx);
    for (const detail::ChosenImage& image : chosen.images) code.text += image.data + "\n";
    chosen.note += "; it has no machine code that can be disassembled, so this is its PTX";
  }
  code.diagnostics.insert(code.diagnostics.begin(), {0, 0, "this is " + chosen.note, true});
  return code;
}

void disassemble(std::span<const std::byte> data, const CodeJob& job, lw_blob** out) {
  const std::string_view file(reinterpret_cast<const char*>(data.data()), data.size());
  tools::Code code = !job.options.raw && detail::is_container(file)
                         ? disassemble_container(file, job)
                         : tools_for(job, data).disassemble(data, job.options);
  std::string text = std::move(code.text);
  give_code(job, std::move(code), std::move(text), out);
}

std::string row(const isa::Coverage& c) {
  return fmt::format("{}\t{}\t{}\n", c.form, tools::state_name(c.state), c.note);
}

}  // namespace
}  // namespace lanewise::host

using namespace lanewise;
using namespace lanewise::host;

lw_status lw_assemble(const char* text, size_t bytes, const lw_code_options* options,
                      lw_blob** out) {
  return guarded([&] {
    *required(out, "out") = nullptr;
    assemble({required(text, "text"), bytes}, code_job(options), out);
  });
}

lw_status lw_disassemble(const void* data, size_t bytes, const lw_code_options* options,
                         lw_blob** out) {
  return guarded([&] {
    *required(out, "out") = nullptr;
    const auto* from = static_cast<const std::byte*>(required(data, "data"));
    disassemble({from, bytes}, code_job(options), out);
  });
}

lw_status lw_coverage(const char* isa, const char* target, const char* form, lw_blob** out) {
  return gives(out, [&] {
    required(isa, "isa");
    const std::string for_target = text_or(target);
    std::string text;
    if (form != nullptr) {
      text = row(tools::coverage_of(isa, for_target, form));
    } else {
      for (const isa::Coverage& c : tools::coverage(isa, for_target)) text += row(c);
    }
    return std::make_shared<Blob>(std::move(text),
                                  Blob::Notes{{"target", tools::judged_target(isa, for_target)}});
  });
}
