// Several cubins or listings as one program.
#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>

#include "runtime/isa/sass/sass.hpp"

namespace lanewise::sass {
namespace {

constexpr unsigned kModuleBank = 3;

/// Calls see(name) for every name that the file defines.
template <typename See>
void each_definition(const Listing& file, const See& see) {
  for (const Kernel& k : file.kernels) see(k.name);
  for (const Kernel& f : file.functions) see(f.name);
  for (const ir::Global& g : file.globals) see(g.name);
}

/// Calls use(name) for every name in the file, where it stands.
template <typename Use>
void each_name(Listing& file, const Use& use) {
  for (std::vector<Kernel>* code : {&file.kernels, &file.functions})
    for (Kernel& k : *code) {
      use(k.name);
      for (ConstantBank& bank : k.banks) use(bank.symbol);
      for (Relocation& r : k.relocations) use(r.symbol);
      for (Call& c : k.calls) use(c.symbol);
    }
  for (ir::Global& g : file.globals) {
    use(g.name);
    for (ir::Global::Reloc& r : g.relocs) use(r.symbol);
  }
}

class FileLinker {
 public:
  FileLinker(std::vector<Listing> files, const std::vector<std::string>& names)
      : files_(std::move(files)), names_(names) {}

  Listing run() {
    for (size_t n = 0; n < files_.size(); ++n) compare(n);
    for (const Listing& file : files_)
      each_definition(file, [&](const std::string& name) { ++defined_in_[name]; });
    for (size_t n = 0; n < files_.size(); ++n) rename_own(n);
    for (size_t n = 0; n < files_.size(); ++n)
      each_definition(files_[n], [&](const std::string& name) { choose(name, n); });
    for (size_t n = 0; n < files_.size(); ++n) take(n);
    return std::move(out_);
  }

 private:
  /// Text has no bindings: its names are for all.
  Binding binding(size_t file, const std::string& name) const {
    const auto& known = files_[file].bindings;
    if (known.empty()) return Binding::global;
    const auto found = known.find(name);
    return found != known.end() ? found->second : Binding::own;
  }

  /// Code reads the module's bank by offset, so that the bank of each file stays.
  bool is_bank(size_t file, const std::string& name) const {
    for (const std::vector<Kernel>* code : {&files_[file].kernels, &files_[file].functions})
      for (const Kernel& k : *code)
        for (const ConstantBank& bank : k.banks)
          if (bank.number == kModuleBank && bank.symbol == name)
            return binding(file, name) != Binding::global;
    return false;
  }

  void rename_own(size_t file) {
    std::map<std::string, std::string> renamed;
    each_definition(files_[file], [&](const std::string& name) {
      if (defined_in_.at(name) > 1 && (binding(file, name) == Binding::own || is_bank(file, name)))
        renamed.emplace(name, fmt::format("{} ({})", name, names_[file]));
    });
    each_name(files_[file], [&](std::string& name) {
      if (const auto found = renamed.find(name); found != renamed.end()) name = found->second;
    });
  }

  void report(size_t file, std::string message) {
    out_.diagnostics.push_back({0, 0, std::move(message), false, names_[file]});
  }

  /// With what earlier files say of the same names, and with their target.
  void compare(size_t file) {
    const Listing& of = files_[file];
    if (of.bindings.empty()) return;  // text
    if (!target_) target_ = {of.arch, file};
    if (target_->first != of.arch)
      report(file,
             fmt::format("it is for sm_{}, but {} is for sm_{}: cubins of one target are linked",
                         of.arch, names_[target_->second], target_->first));
    for (const auto& [name, stated] : of.stated) {
      const auto [known, fresh] = first_stated_.try_emplace(name, file, stated);
      isa::LinkedName& first = known->second.second;
      if (const auto differs = isa::difference(first, stated)) {
        report(file, fmt::format("'{}' {} here, but {} in {}", name, differs->first,
                                 differs->second, names_[known->second.first]));
        disputed_.insert(name);
      } else if (first.bytes == 0 || first.common) {
        first = stated;
      }
    }
  }

  /// Of common variables the largest stays.
  bool is_larger(const std::string& name, size_t file, size_t than) const {
    const auto& now = files_[file].stated.find(name);
    const auto& before = files_[than].stated.find(name);
    return now != files_[file].stated.end() && before != files_[than].stated.end() &&
           now->second.common && before->second.common && now->second.bytes > before->second.bytes;
  }

  /// The first that is not weak, else the first.
  void choose(const std::string& name, size_t file) {
    const bool weak = binding(file, name) == Binding::weak;
    const auto [known, fresh] = chosen_.try_emplace(name, file);
    if (fresh || (weak && !is_larger(name, file, known->second))) return;
    if (binding(known->second, name) == Binding::weak)
      known->second = file;
    else if (!disputed_.contains(name))
      out_.diagnostics.push_back({0, 0,
                                  fmt::format("'{}' is defined in {} and in {}", name,
                                              names_[known->second], names_[file])});
  }

  void take(size_t file) {
    Listing& from = files_[file];
    out_.arch = std::max(out_.arch, from.arch);
    for (Diagnostic& d : from.diagnostics) {
      d.file = names_[file];
      out_.diagnostics.push_back(std::move(d));
    }
    const auto move = [&](auto& list, auto& to) {
      for (auto& defined : list)
        if (chosen_.at(defined.name) == file) to.push_back(std::move(defined));
    };
    move(from.kernels, out_.kernels);
    move(from.functions, out_.functions);
    move(from.globals, out_.globals);
  }

  std::vector<Listing> files_;
  const std::vector<std::string>& names_;
  std::map<std::string, size_t> defined_in_;  ///< how many files
  std::map<std::string, size_t> chosen_;      ///< whose definition stays
  std::map<std::string, std::pair<size_t, isa::LinkedName>> first_stated_;
  std::set<std::string> disputed_;                     ///< files say different things of them
  std::optional<std::pair<unsigned, size_t>> target_;  ///< of the first cubin
  Listing out_;
};

}  // namespace

Listing link(std::vector<Listing> files, const std::vector<std::string>& names) {
  if (files.size() == 1) return std::move(files[0]);
  return FileLinker(std::move(files), names).run();
}

}  // namespace lanewise::sass
