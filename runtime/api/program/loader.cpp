#include "runtime/api/program/loader.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "lanewise/error_detail.hpp"
#include "runtime/api/program/embedded.hpp"
#include "runtime/api/program/fat_binary.hpp"
#include "runtime/isa/elf/elf.hpp"
#include "runtime/isa/gcn/objects/code_object.hpp"
#include "runtime/isa/ptx/check.hpp"
#include "runtime/isa/ptx/device_library.hpp"
#include "runtime/isa/ptx/link.hpp"
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

ptx::CheckOptions ptx_options(const LoadOptions& o) {
  using Assembler = ptx::CheckOptions::Assembler;
  check_ptx_target(o.target);
  ptx::CheckOptions options;
  options.arch = o.target;
  if (o.strict == LW_STRICT_MANUAL) options.strict = ptx::CheckOptions::Strict::manual;
  if (o.strict == LW_STRICT_CUDA_11_8) options.assembler = Assembler::cuda_11_8;
  if (o.strict == LW_STRICT_CUDA_13_0) options.assembler = Assembler::cuda_13_0;
  return options;
}

Compiled compile_ptx(std::string_view text, const LoadOptions& o) {
  const ptx::CheckOptions options = ptx_options(o);
  ptx::ParseResult parsed = ptx::parse(text, o.max_errors);
  if (!o.target.empty() && parsed.diagnostics.empty()) {
    for (Diagnostic& d : ptx::check(parsed.module, options))
      if (!d.warning) parsed.diagnostics.push_back(std::move(d));
  }
  ptx::add_device_library(parsed.module);
  return finish(parsed.diagnostics, parsed.module,
                [](const ptx::Module& m) { return ptx::lower(m); });
}

/// What is illegal is not reported a second time because it cannot be lowered either. What a syntax
/// error leaves is judged as well.
Compiled check_ptx(std::string_view text, const LoadOptions& o) {
  constexpr size_t kLarge = size_t{16} << 20;  // of which all errors might be too many to keep
  const ptx::CheckOptions options = ptx_options(o);
  ptx::ParseResult parsed = ptx::parse(text, text.size() > kLarge ? o.max_errors : 0);
  Compiled out;
  out.diagnostics = parsed.diagnostics;
  const bool whole = out.ok();
  const std::vector<Diagnostic> illegal =
      ptx::without_consequences(parsed.module, ptx::check(parsed.module, options));
  std::set<uint32_t> lines;
  for (const Diagnostic& d : illegal) {
    if (!d.warning) lines.insert(d.line);
    out.diagnostics.push_back(d);
  }
  if (whole && !o.only_legality()) {
    ptx::add_device_library(parsed.module);
    ptx::LowerResult lowered = ptx::lower(parsed.module);
    out.module = std::move(lowered.module);
    for (Diagnostic& d : lowered.diagnostics) {
      if (!lines.contains(d.line)) out.diagnostics.push_back(std::move(d));
    }
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

sass::Listing read_sass(std::string_view text, const LoadOptions& o, bool is_part = false) {
  const unsigned arch = sass_arch(o.target);
  const std::span bytes(reinterpret_cast<const std::byte*>(text.data()), text.size());
  if (!elf::is_elf(bytes)) return sass::parse(text, arch, o.max_errors);
  sass::Listing listing = sass::read_cubin(bytes, o.max_errors, is_part);
  if (arch != 0 && listing.ok() && arch != listing.arch)
    throw Error(ErrorKind::usage,
                "--target " + o.target + ": the cubin is for sm_" + std::to_string(listing.arch));
  return listing;
}

Compiled compile_sass(std::string_view text, const LoadOptions& o) {
  const sass::Listing listing = read_sass(text, o);
  return finish(listing.diagnostics, listing,
                [](const sass::Listing& l) { return sass::lower(l); });
}

/// SASS as strictly as asked, without lowering it.
Compiled judge_sass(std::string_view text, const LoadOptions& o) {
  const sass::Listing listing = read_sass(text, o);
  Compiled out;
  out.diagnostics = listing.diagnostics;
  if (!out.ok()) return out;
  for (const sass::Kernel& k : listing.kernels)
    out.diagnostics.insert(out.diagnostics.end(), k.diagnostics.begin(), k.diagnostics.end());
  for (Diagnostic& d : o.strict == LW_STRICT_MANUAL ? sass::lint(listing) : sass::check(listing))
    out.diagnostics.push_back(std::move(d));
  return out;
}

Compiled compile_gcn(std::string_view text, const LoadOptions& o) {
  const std::optional<gcn::Gen> gen = o.target.empty() ? std::nullopt : gcn::gen_named(o.target);
  if (!o.target.empty() && !gen)
    throw Error(ErrorKind::usage, "--target " + o.target + ": GCN is for gfx600, gfx700 or gfx803");
  const std::span bytes(reinterpret_cast<const std::byte*>(text.data()), text.size());
  const bool binary = elf::is_elf(bytes);
  gcn::ParseOptions options{gen, o.max_errors, std::nullopt};
  if (!o.include_folder.empty()) options.folder = o.include_folder;
  const gcn::Listing listing =
      binary ? gcn::read_code_object(bytes, o.max_errors) : gcn::parse(text, options);
  if (binary && gen && listing.ok() && *gen != listing.gen)
    throw Error(ErrorKind::usage, "--target " + o.target + ": the code object is for " +
                                      std::string(name(listing.gen)));
  return finish(listing.diagnostics, listing, [](const gcn::Listing& l) { return gcn::lower(l); });
}

void keep_first_errors(std::vector<Diagnostic>& diagnostics, size_t max_errors) {
  std::ranges::stable_sort(diagnostics, [](const Diagnostic& a, const Diagnostic& b) {
    return std::pair(a.line, a.column) < std::pair(b.line, b.column);
  });
  if (max_errors != 0 && diagnostics.size() > max_errors) diagnostics.resize(max_errors);
}

Compiled lower(std::string_view text, const LoadOptions& o) {
  return o.isa == Isa::ptx    ? compile_ptx(text, o)
         : o.isa == Isa::sass ? compile_sass(text, o)
                              : compile_gcn(text, o);
}

/// As strictly as asked.
Compiled judge(std::string_view text, const LoadOptions& o) {
  if (o.isa != Isa::ptx && o.strict > LW_STRICT_ASSEMBLER)
    throw Error(ErrorKind::usage, "--assembler is for PTX only");
  if (o.isa == Isa::gcn && o.strict != LW_STRICT_RUN)
    throw Error(ErrorKind::usage, "--strict is for PTX and SASS only");
  if (o.isa == Isa::sass && o.only_legality()) return judge_sass(text, o);
  return o.isa == Isa::ptx ? check_ptx(text, o) : lower(text, o);
}

/// Of one image among several: its kernels join the others', the first of a name stays.
void add_program(Compiled& out, Compiled&& made, const std::string& where) {
  std::set<std::string> known;
  for (const ir::Module* m : out.modules())
    for (const ir::Program& kernel : m->kernels) known.insert(kernel.name);
  for (const isa::RejectedKernel& kernel : out.rejected) known.insert(kernel.name);
  std::erase_if(made.module.kernels,
                [&](const ir::Program& kernel) { return known.contains(kernel.name); });
  std::erase_if(made.rejected,
                [&](const isa::RejectedKernel& kernel) { return known.contains(kernel.name); });
  for (Diagnostic& d : made.diagnostics) {
    if (!where.empty()) d.message = where + ": " + d.message;
    out.diagnostics.push_back(std::move(d));
  }
  std::ranges::move(made.rejected, std::back_inserter(out.rejected));
  out.unusable = out.unusable || made.unusable;
  out.others.push_back(std::move(made.module));
}

/// What `read` makes of the text, or of the chosen images in it, with a note which they were.
template <typename Read>
Compiled read_program(std::string_view text, LoadOptions o, const Read& read) {
  if (!is_container(text)) {
    if (o.isa == Isa::automatic) o.isa = detect_isa(o.name, text);
    Compiled out = read(text, o);
    keep_first_errors(out.diagnostics, o.max_errors);
    return out;
  }
  const ChosenImages chosen = images_of(text, o.isa);
  Compiled out;
  for (const ChosenImage& image : chosen.images) {
    o.isa = image.isa;
    Compiled made = read(image.data, o);
    keep_first_errors(made.diagnostics, o.max_errors);
    if (&image == &chosen.images[0])
      out = std::move(made);
    else
      add_program(out, std::move(made), image.where);
  }
  std::vector<std::string> kernels;
  for (const ir::Module* m : out.modules())
    for (const ir::Program& kernel : m->kernels) kernels.push_back(kernel.name);
  const std::string names =
      kernels.empty() ? "" : fmt::format("; kernels: {}", fmt::join(kernels, ", "));
  out.diagnostics.insert(out.diagnostics.begin(), {0, 0, "this is " + chosen.note + names, true});
  return out;
}

/// The programs of several files, each of the one language of all.
std::vector<Input> parts_of(const std::vector<Input>& inputs, Isa& isa) {
  std::vector<Input> parts;
  std::string first;
  const auto add = [&](Isa of, std::string text, const std::string& name) {
    if (of == Isa::gcn)
      throw Error(ErrorKind::usage,
                  "'" + name + "': GCN objects are linked by ld.lld, which comes with LLVM");
    if (!parts.empty() && of != isa)
      throw Error(
          ErrorKind::usage,
          fmt::format("'{}' is {}, but '{}' is {}: files of one language can be linked", first,
                      isa == Isa::ptx ? "PTX" : "SASS", name, of == Isa::ptx ? "PTX" : "SASS"));
    if (parts.empty()) isa = of, first = name;
    parts.push_back({std::move(text), name});
  };
  for (const Input& input : inputs) {
    if (!is_container(input.text)) {
      add(isa != Isa::automatic && parts.empty() ? isa : detect_isa(input.name, input.text),
          input.text, input.name);
      continue;
    }
    for (ChosenImage& image : images_of(input.text, isa).images)
      add(image.isa, std::move(image.data),
          image.where.empty() ? input.name : fmt::format("{}({})", input.name, image.where));
  }
  return parts;
}

Compiled link_ptx(const std::vector<Input>& parts, const LoadOptions& o) {
  std::vector<std::string> texts;
  for (const Input& part : parts) texts.push_back(part.text);
  const ptx::Linked linked = ptx::link(texts);
  if (!linked.clashes.empty()) {
    Compiled out;
    for (const ptx::Linked::Clash& c : linked.clashes)
      out.diagnostics.push_back({c.second.line, 1, c.message(parts[c.first.file].name), false,
                                 parts[c.second.file].name});
    out.unusable = true;
    return out;
  }
  Compiled out = compile_ptx(linked.text, o);
  const auto place = [&](Diagnostic& d) {
    const ptx::Linked::Place at = linked.place(d.line);
    d.file = parts[at.file].name, d.line = at.line;
  };
  std::ranges::for_each(out.diagnostics, place);
  for (isa::RejectedKernel& kernel : out.rejected) std::ranges::for_each(kernel.diagnostics, place);
  // A file that names no source is the source itself.
  for (ir::Program& kernel : out.module.kernels)
    for (ir::Site& site : kernel.sites) {
      if (site.line == 0) continue;
      const ptx::Linked::Place at = linked.place(site.line);
      site.line = at.line;
      if (site.source_file.empty())
        site.source_file = parts[at.file].name, site.source_line = at.line;
    }
  return out;
}

Compiled link_sass(const std::vector<Input>& parts, const LoadOptions& o) {
  std::vector<sass::Listing> listings;
  std::vector<std::string> names;
  for (const Input& part : parts) {
    listings.push_back(read_sass(part.text, o, true));
    names.push_back(part.name);
  }
  sass::Listing all = sass::link(std::move(listings), names);
  if (all.ok() && all.kernels.empty())
    all.diagnostics.push_back({0, 0, "none of the files holds a kernel", false, names[0]});
  return finish(all.diagnostics, all, [](const sass::Listing& l) { return sass::lower(l); });
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

std::vector<const ir::Module*> Compiled::modules() const {
  std::vector<const ir::Module*> all = {&module};
  for (const ir::Module& other : others) all.push_back(&other);
  return all;
}

size_t Compiled::kernel_count() const {
  size_t count = 0;
  for (const ir::Module* m : modules()) count += m->kernels.size();
  return count;
}

bool Compiled::ok() const {
  return std::ranges::all_of(diagnostics, [](const Diagnostic& d) { return d.warning; });
}

Isa detect_isa(const std::string& path, std::string_view text) {
  const std::span bytes(reinterpret_cast<const std::byte*>(text.data()), text.size());
  constexpr uint16_t kCudaMachine = 190;
  if (elf::machine(bytes) == kCudaMachine) return Isa::sass;
  if (elf::machine(bytes) == gcn::kElfMachine) return Isa::gcn;
  if (is_container(text)) return Isa::automatic;
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

Compiled link(const std::vector<Input>& inputs, const LoadOptions& options) {
  if (inputs.empty()) throw Error(ErrorKind::usage, "there is no file to link");
  Isa isa = options.isa;
  const std::vector<Input> parts = parts_of(inputs, isa);
  Compiled out = isa == Isa::ptx ? link_ptx(parts, options) : link_sass(parts, options);
  std::ranges::stable_sort(out.diagnostics, {}, [&](const Diagnostic& d) {
    return std::ranges::find(parts, d.file, &Input::name) - parts.begin();
  });
  return out;
}

Compiled compile(std::string_view text, const LoadOptions& options) {
  return read_program(text, options, lower);
}

Compiled check(std::string_view text, const LoadOptions& options) {
  return read_program(text, options, judge);
}

}  // namespace lanewise::host::detail
