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

/// What has no spelling of its own is given by its words: a literal whose value has a shorter code,
/// whose text would assemble to another size, or operands that assemblers refuse together.
std::string assembling_text(const gcn::Instruction& i, const std::string& text, gcn::Gen gen) {
  const auto known_later = [](const gcn::Operand& o) { return !o.label.empty(); };
  if (i.row->kind == gcn::Kind::data || std::ranges::any_of(i.operands, known_later)) return text;
  const auto words = gcn::encode(i, gen);
  const auto again = gcn::parse_instruction(text, gen).instruction;
  if (again && gcn::encode(*again, gen) == words) return text;
  std::string out = ".long ";
  for (const uint32_t w : words) out += fmt::format("{}{:#x}", out.size() > 6 ? ", " : "", w);
  return out + "  ; " + text;
}

/// Words that are no instruction are shown as such; nobody should miss them.
void warn_of_data(const gcn::Kernel& k, const gcn::Instruction& i, Code& out) {
  if (i.row->kind == gcn::Kind::data)
    out.diagnostics.push_back(
        {std::max(i.line, 1U), std::max(i.column, 1U),
         fmt::format("'{}' at {:#x}: {}", k.name, i.pc, gcn::nameless(i, k.gen)), true});
}

/// The alignment that leads from the end of one function to the next; 0: none does.
unsigned alignment_between(uint64_t end, uint64_t next) {
  for (unsigned power = 3; power <= 12; ++power) {
    const uint64_t to = uint64_t{1} << power;
    if (((end + to - 1) & ~(to - 1)) == next) return power;
  }
  return 0;
}

/// The assembler fills what lies between functions as LLVM's does.
void fill_gap(uint64_t bytes, Code& out) {
  constexpr uint32_t kNop = 0xbf800000;
  for (uint64_t n = 0; n < bytes; ++n)
    out.bytes.push_back(static_cast<std::byte>(kNop >> (8 * (n % 4)) & 0xff));
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
  if (!listing.kernels.empty())
    out.text = fmt::format(".amdgcn_target \"amdgcn--amdhsa--{}\"\n", gcn::name(listing.gen));
  const gcn::Kernel* previous = nullptr;
  uint64_t end = 0;
  for (const gcn::Kernel& k : listing.kernels) {
    for (const Diagnostic& d : k.problems) out.diagnostics.push_back(d);
    if (previous != nullptr && previous->text == k.text && k.base > end) {
      fill_gap(k.base - end, out);
      if (const unsigned power = alignment_between(end - k.text, k.base - k.text); power != 0)
        out.text += fmt::format(".p2align {}\n", power);
    }
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
      out.text += "  " + assembling_text(i, text, listing.gen) + "\n";
    }
    previous = &k;
    end = k.base;
    if (!k.code.empty()) end += k.code.back().pc + gcn::size_of(k.code.back(), k.gen);
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
  gcn::ParseOptions how{generation(options), options.max_errors, std::nullopt};
  if (!options.include_folder.empty()) how.folder = options.include_folder;
  return finish(gcn::parse(text, how), options);
}

bool is_code_object(std::span<const std::byte> file) {
  return elf::machine(file) == gcn::kElfMachine;
}

}  // namespace

IsaTools gcn_tools() {
  return {"gcn", is_code_object, disassemble_gcn, assemble_gcn};
}

}  // namespace lanewise::tools
