// asm and disasm for Maxwell SASS.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "runtime/isa/elf/elf.hpp"
#include "runtime/isa/sass/sass.hpp"
#include "runtime/isa/sass/text/annotations.hpp"
#include "runtime/tools/isa_tools.hpp"

namespace lanewise::tools {
namespace {

constexpr uint16_t kCudaMachine = 190;

unsigned arch_of(const std::string& target) {
  const unsigned arch = target.starts_with("sm_") ? sass::known_arch(target.substr(3)) : 0;
  if (arch == 0 && !target.empty())
    throw Error(ErrorKind::usage,
                fmt::format("--target {}: expected {}", target, sass::kKnownArchs));
  return arch;
}

/// nvdisasm's text: branches by address, no annotations.
std::string vendor_text(sass::Instruction i) {
  i.label.clear();
  return sass::print(i);
}

void keep_kernel(sass::Listing& listing, const std::string& wanted) {
  if (wanted.empty()) return;
  std::string names;
  for (const sass::Kernel& k : listing.kernels) names += (names.empty() ? "" : ", ") + k.name;
  std::erase_if(listing.kernels, [&](const sass::Kernel& k) { return k.name != wanted; });
  if (listing.kernels.empty())
    throw Error(ErrorKind::usage, fmt::format("no kernel '{}'; there are: {}", wanted, names));
}

std::string annotations(const sass::Instruction& i) {
  const std::string text = sass::write_annotations(i);
  return text.empty() ? text : text.substr(1);
}

void add_remarks(const sass::Kernel& kernel, std::span<CodeRow> rows) {
  for (const sass::Remark& r : sass::lint(kernel)) {
    std::string& text = rows[r.index].remark;
    text += (text.empty() ? "" : "; ") + r.message;
  }
}

Code finish(sass::Listing listing, const CodeOptions& options) {
  std::ranges::move(listing.functions, std::back_inserter(listing.kernels));
  listing.functions.clear();
  keep_kernel(listing, options.kernel);
  Code out;
  out.diagnostics = std::move(listing.diagnostics);
  for (const sass::Kernel& k : listing.kernels) {
    out.diagnostics.insert(out.diagnostics.end(), k.diagnostics.begin(), k.diagnostics.end());
    const size_t first = out.rows.size();
    for (const sass::Instruction& i : k.code)
      out.rows.push_back({fmt::format("{:04x}", i.pc), fmt::format("{:016x}", i.word),
                          vendor_text(i), annotations(i), ""});
    if (options.remarks) add_remarks(k, std::span(out.rows).subspan(first));
    const std::vector<std::byte> bytes = sass::encode_bundles(k);
    out.bytes.insert(out.bytes.end(), bytes.begin(), bytes.end());
  }
  out.text = sass::print(listing);
  return out;
}

Code disassemble_sass(std::span<const std::byte> file, const CodeOptions& options) {
  const unsigned arch = arch_of(options.target);
  if (!options.raw) return finish(sass::read_cubin(file, options.max_errors), options);
  sass::Listing listing;
  listing.arch = arch == 0 ? 50 : arch;
  sass::Decoded d = options.bare ? sass::decode_words(file, listing.arch, options.max_errors)
                                 : sass::decode_bundles(file, listing.arch, options.max_errors);
  listing.diagnostics = std::move(d.diagnostics);
  sass::Kernel k;
  k.name = "stream";
  k.code = std::move(d.code);
  listing.kernels.push_back(std::move(k));
  return finish(std::move(listing), options);
}

Code assemble_sass(std::string_view text, const CodeOptions& options) {
  return finish(sass::parse(text, arch_of(options.target), options.max_errors), options);
}

bool is_cubin(std::span<const std::byte> file) {
  return elf::machine(file) == kCudaMachine;
}

}  // namespace

IsaTools sass_tools() {
  return {"sass", is_cubin, disassemble_sass, assemble_sass};
}

}  // namespace lanewise::tools
