// asm and disasm for GCN.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/isa/elf/elf.hpp"
#include "runtime/isa/gcn/objects/code_object.hpp"
#include "runtime/tools/isa_tools.hpp"

namespace lanewise::tools {
namespace {

std::optional<gcn::Gen> generation(const CodeOptions& options) {
  if (options.target.empty()) return std::nullopt;
  const auto gen = gcn::gen_named(options.target);
  if (!gen)
    throw Error(ErrorKind::usage,
                fmt::format("--target {}: expected gfx600, gfx700 or gfx803", options.target));
  return gen;
}

/// Branches go by distance, as LLVM's disassembler writes them.
std::string plain_text(gcn::Instruction i, gcn::Gen gen) {
  for (gcn::Operand& o : i.operands) o.label.clear();
  return gcn::print(i, gen);
}

/// Words that are no instruction are shown as such; nobody should miss them.
void warn_of_data(const gcn::Kernel& k, const gcn::Instruction& i, Code& out) {
  if (i.row->kind == gcn::Kind::data)
    out.diagnostics.push_back(
        {std::max(i.line, 1U), std::max(i.column, 1U),
         fmt::format("'{}' at {:#x}: {}", k.name, i.pc, gcn::nameless(i, k.gen)), true});
}

Code finish(gcn::Listing listing, const CodeOptions& options) {
  // In the order of the file, functions among the kernels.
  listing.kernels.insert(listing.kernels.end(), std::make_move_iterator(listing.functions.begin()),
                         std::make_move_iterator(listing.functions.end()));
  std::ranges::stable_sort(listing.kernels, {}, &gcn::Kernel::base);
  if (!options.kernel.empty()) {
    std::string names;
    for (const gcn::Kernel& k : listing.kernels) names += (names.empty() ? "" : ", ") + k.name;
    std::erase_if(listing.kernels, [&](const gcn::Kernel& k) { return k.name != options.kernel; });
    if (listing.kernels.empty())
      throw Error(ErrorKind::usage,
                  fmt::format("no kernel '{}'; there are: {}", options.kernel, names));
  }
  Code out;
  out.diagnostics = std::move(listing.diagnostics);
  out.text = fmt::format(".amdgcn_target \"amdgcn--amdhsa--{}\"\n", gcn::name(listing.gen));
  for (const gcn::Kernel& k : listing.kernels) {
    for (const Diagnostic& d : k.problems) out.diagnostics.push_back(d);
    out.text += k.name + ":\n";
    for (const gcn::Instruction& i : k.code) {
      const std::string text = plain_text(i, listing.gen);
      CodeRow row{fmt::format("{:04x}", k.base - k.text + i.pc), {}, text};
      for (uint32_t word : gcn::encode(i, listing.gen))
        for (int b = 0; b < 4; ++b, word >>= 8) {
          row.word += fmt::format("{:02x}", word & 0xff);
          out.bytes.push_back(static_cast<std::byte>(word & 0xff));
        }
      warn_of_data(k, i, out);
      out.rows.push_back(std::move(row));
      out.text += "  " + text + "\n";
    }
  }
  return out;
}

Code disassemble_gcn(std::span<const std::byte> file, const CodeOptions& options) {
  const auto gen = generation(options);
  if (!options.raw) return finish(gcn::read_code_object(file, options.max_errors), options);
  gcn::Listing listing;
  listing.gen = gen.value_or(gcn::Gen::gfx6);
  gcn::Kernel k;
  k.name = "stream";
  k.gen = listing.gen;
  k.code = gcn::decode_code(file, listing.gen, listing.diagnostics, options.max_errors);
  listing.kernels.push_back(std::move(k));
  return finish(std::move(listing), options);
}

Code assemble_gcn(std::string_view text, const CodeOptions& options) {
  gcn::Listing listing = gcn::parse(text, generation(options), options.max_errors);
  // One after another, as they are written.
  std::vector<gcn::Kernel*> written;
  for (auto* list : {&listing.kernels, &listing.functions})
    for (gcn::Kernel& k : *list)
      if (!k.code.empty()) written.push_back(&k);
  std::ranges::sort(written, {}, [](const gcn::Kernel* k) { return k->code[0].line; });
  uint64_t base = 0;
  for (gcn::Kernel* k : written) {
    k->base = base;
    base += k->code.back().pc + gcn::size_of(k->code.back(), k->gen);
  }
  return finish(std::move(listing), options);
}

bool is_code_object(std::span<const std::byte> file) {
  return elf::machine(file) == gcn::kElfMachine;
}

}  // namespace

IsaTools gcn_tools() {
  return {"gcn", is_code_object, disassemble_gcn, assemble_gcn};
}

}  // namespace lanewise::tools
