#include "runtime/api/program/loader.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "lanewise/error_detail.hpp"
#include "runtime/api/program/fat_binary.hpp"
#include "runtime/isa/elf/elf.hpp"
#include "runtime/isa/gcn/objects/code_object.hpp"
#include "runtime/isa/ptx/check.hpp"
#include "runtime/isa/ptx/lower.hpp"
#include "runtime/isa/sass/sass.hpp"

namespace lanewise::host::detail {
namespace {

/// Lowers what was parsed. A broken program is not lowered: that would only report the same trouble
/// again under other names.
template <typename Parsed, typename Lower>
Compiled finish(std::vector<Diagnostic> diagnostics, const Parsed& parsed, const Lower& lower) {
  Compiled out;
  out.diagnostics = std::move(diagnostics);
  out.unusable = !out.ok();
  if (out.unusable) return out;
  auto lowered = lower(parsed);
  out.module = std::move(lowered.module);
  out.rejected = std::move(lowered.rejected);
  if constexpr (requires { lowered.unusable; }) out.unusable = lowered.unusable;
  out.diagnostics.insert(out.diagnostics.end(), lowered.diagnostics.begin(),
                         lowered.diagnostics.end());
  return out;
}

void check_ptx_target(const std::string& target) {
  if (!target.empty() && !ptx::is_target(target))
    throw Error(ErrorKind::usage,
                "unknown target '" + target + "', one such as sm_80 was expected");
}

Compiled compile_ptx(std::string_view text, size_t max_errors, const std::string& target) {
  check_ptx_target(target);
  ptx::ParseResult parsed = ptx::parse(text, max_errors);
  if (!target.empty() && parsed.diagnostics.empty()) {
    ptx::CheckOptions options;
    options.target = target;
    for (Diagnostic& d : ptx::check(parsed.module, options))
      if (!d.warning) parsed.diagnostics.push_back(std::move(d));
  }
  return finish(parsed.diagnostics, parsed.module,
                [](const ptx::Module& m) { return ptx::lower(m); });
}

/// What is illegal is not reported a second time because it cannot be lowered either.
Compiled check_ptx(std::string_view text, const Legality& legality, size_t max_errors) {
  ptx::CheckOptions options;
  options.target = legality.target;
  if (legality.strict == "manual") options.strict = ptx::CheckOptions::Strict::manual;
  const ptx::ParseResult parsed = ptx::parse(text, max_errors);
  Compiled out;
  out.diagnostics = parsed.diagnostics;
  if (!out.ok()) return out;
  const std::vector<Diagnostic> illegal =
      legality.only() ? ptx::judge(parsed.module, options) : ptx::check(parsed.module, options);
  std::set<uint32_t> lines;
  for (const Diagnostic& d : illegal) {
    if (!d.warning) lines.insert(d.line);
    out.diagnostics.push_back(d);
  }
  if (legality.only()) return out;
  ptx::LowerResult lowered = ptx::lower(parsed.module);
  out.module = std::move(lowered.module);
  for (Diagnostic& d : lowered.diagnostics) {
    if (!lines.contains(d.line)) out.diagnostics.push_back(std::move(d));
  }
  return out;
}

/// 0 = what the file says.
unsigned sass_arch(const std::string& target) {
  if (target.empty()) return 0;
  if (target.starts_with("sm_"))
    if (const unsigned known = sass::known_arch(target.substr(3)); known != 0) return known;
  throw Error(ErrorKind::usage,
              "--target " + target + ": SASS is for " + std::string(sass::kKnownArchs));
}

sass::Listing read_sass(std::string_view text, size_t max_errors, const std::string& target) {
  const unsigned arch = sass_arch(target);
  const std::span bytes(reinterpret_cast<const std::byte*>(text.data()), text.size());
  if (!elf::is_elf(bytes)) return sass::parse(text, arch, max_errors);
  sass::Listing listing = sass::read_cubin(bytes, max_errors);
  if (arch != 0 && listing.ok() && arch != listing.arch)
    throw Error(ErrorKind::usage,
                "--target " + target + ": the cubin is for sm_" + std::to_string(listing.arch));
  return listing;
}

Compiled compile_sass(std::string_view text, size_t max_errors, const std::string& target) {
  const sass::Listing listing = read_sass(text, max_errors, target);
  return finish(listing.diagnostics, listing,
                [](const sass::Listing& l) { return sass::lower(l); });
}

/// SASS as strictly as asked, without lowering it.
Compiled judge_sass(std::string_view text, const Legality& legality, size_t max_errors) {
  const sass::Listing listing = read_sass(text, max_errors, legality.target);
  Compiled out;
  out.diagnostics = listing.diagnostics;
  if (!out.ok()) return out;
  for (const sass::Kernel& k : listing.kernels)
    out.diagnostics.insert(out.diagnostics.end(), k.diagnostics.begin(), k.diagnostics.end());
  for (Diagnostic& d : legality.strict == "manual" ? sass::lint(listing) : sass::check(listing))
    out.diagnostics.push_back(std::move(d));
  return out;
}

Compiled compile_gcn(std::string_view text, size_t max_errors, const std::string& target,
                     const std::string& include_folder) {
  const std::optional<gcn::Gen> gen = target.empty() ? std::nullopt : gcn::gen_named(target);
  if (!target.empty() && !gen)
    throw Error(ErrorKind::usage, "--target " + target + ": GCN is for gfx600, gfx700 or gfx803");
  const std::span bytes(reinterpret_cast<const std::byte*>(text.data()), text.size());
  const bool binary = elf::is_elf(bytes);
  gcn::ParseOptions options{gen, max_errors, std::nullopt};
  if (!include_folder.empty()) options.folder = include_folder;
  const gcn::Listing listing =
      binary ? gcn::read_code_object(bytes, max_errors) : gcn::parse(text, options);
  if (binary && gen && listing.ok() && *gen != listing.gen)
    throw Error(ErrorKind::usage, "--target " + target + ": the code object is for " +
                                      std::string(name(listing.gen)));
  return finish(listing.diagnostics, listing, [](const gcn::Listing& l) { return gcn::lower(l); });
}

void keep_first_errors(std::vector<Diagnostic>& diagnostics, size_t max_errors) {
  std::ranges::stable_sort(diagnostics, [](const Diagnostic& a, const Diagnostic& b) {
    return std::pair(a.line, a.column) < std::pair(b.line, b.column);
  });
  if (max_errors != 0 && diagnostics.size() > max_errors) diagnostics.resize(max_errors);
}

/// The chosen image, and which one it was.
template <typename Compile>
Compiled compile_image(std::string_view file, Isa isa, const Compile& compile) {
  const ChosenImage image = image_of(file, isa);
  Compiled out = compile(image.data, image.isa);
  std::vector<std::string> kernels;
  for (const ir::Program& kernel : out.module.kernels) kernels.push_back(kernel.name);
  const std::string names =
      kernels.empty() ? "" : fmt::format("; kernels: {}", fmt::join(kernels, ", "));
  out.diagnostics.insert(out.diagnostics.begin(), {0, 0, "this is " + image.note + names, true});
  return out;
}

/// A directive at the start of a line decides the language of a text.
bool has_directive(std::string_view text, std::string_view directive) {
  for (size_t at = text.find(directive); at != std::string_view::npos;
       at = text.find(directive, at + 1)) {
    const size_t line = text.rfind('\n', at);
    const std::string_view before =
        text.substr(line == std::string_view::npos ? 0 : line + 1,
                    at - (line == std::string_view::npos ? 0 : line + 1));
    if (before.find_first_not_of(" \t\r") == std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

bool Compiled::ok() const {
  return std::ranges::all_of(diagnostics, [](const Diagnostic& d) { return d.warning; });
}

Isa detect_isa(const std::string& path, std::string_view text) {
  const std::span bytes(reinterpret_cast<const std::byte*>(text.data()), text.size());
  constexpr uint16_t kCudaMachine = 190;
  if (elf::machine(bytes) == kCudaMachine) return Isa::sass;
  if (elf::machine(bytes) == gcn::kElfMachine) return Isa::gcn;
  if (is_fat_binary(text)) return image_of(text).isa;
  if (elf::is_elf(bytes)) {
    throw Error(ErrorKind::usage,
                "'" + path + "' is an ELF file, but neither a cubin nor an AMD GPU code object");
  }
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending == ".ptx") return Isa::ptx;
  if (ending == ".sass") return Isa::sass;
  if (ending == ".s" || ending == ".gcn") return Isa::gcn;
  if (has_directive(text, ".version")) return Isa::ptx;
  if (has_directive(text, ".amdgcn_target") || has_directive(text, ".amdhsa_kernel")) {
    return Isa::gcn;
  }
  if (has_directive(text, ".headerflags") || has_directive(text, ".sectioninfo")) return Isa::sass;
  throw Error(ErrorKind::usage, "cannot determine what language '" + path +
                                    "' is in; expected an ending .ptx, .sass, .s or .gcn, or the "
                                    "option --isa ptx|sass|gcn");
}

Compiled compile(std::string_view text, Isa isa, size_t max_errors, const std::string& target,
                 const std::string& include_folder) {
  if (is_fat_binary(text))
    return compile_image(text, isa, [&](std::string_view image, Isa of_image) {
      return compile(image, of_image, max_errors, target);
    });
  Compiled out;
  switch (isa) {
    case Isa::ptx:
      out = compile_ptx(text, max_errors, target);
      break;
    case Isa::sass:
      out = compile_sass(text, max_errors, target);
      break;
    case Isa::gcn:
      out = compile_gcn(text, max_errors, target, include_folder);
      break;
    case Isa::automatic:
      throw Error(ErrorKind::usage, "the language of the text must be named: ptx, sass or gcn");
  }
  keep_first_errors(out.diagnostics, max_errors);
  return out;
}

Compiled check(std::string_view text, Isa isa, const Legality& legality, size_t max_errors,
               const std::string& include_folder) {
  if (is_fat_binary(text))
    return compile_image(text, isa, [&](std::string_view image, Isa of_image) {
      return check(image, of_image, legality, max_errors);
    });
  if (isa == Isa::sass && legality.only()) {
    Compiled out = judge_sass(text, legality, max_errors);
    keep_first_errors(out.diagnostics, max_errors);
    return out;
  }
  if (isa == Isa::gcn && !legality.strict.empty())
    throw Error(ErrorKind::usage, "--strict is for PTX and SASS only");
  if (isa != Isa::ptx) return compile(text, isa, max_errors, legality.target, include_folder);
  check_ptx_target(legality.target);
  Compiled out = check_ptx(text, legality, max_errors);
  keep_first_errors(out.diagnostics, max_errors);
  return out;
}

}  // namespace lanewise::host::detail
