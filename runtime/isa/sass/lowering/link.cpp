#include "runtime/isa/sass/lowering/link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "runtime/isa/sass/lowering/call_stack.hpp"
#include "runtime/layout/addresses.hpp"

namespace lanewise::sass {
namespace {

/// Can the function come to call itself, by CAL in its own section or through others?
bool recursive(const Listing& listing, const std::string& name) {
  std::set<std::string> seen;
  std::vector<std::string> work = {name};
  while (!work.empty()) {
    const auto f = std::ranges::find(listing.functions, work.back(), &Kernel::name);
    work.pop_back();
    if (f == listing.functions.end()) continue;
    if (f->name == name && !recursive_functions(*f).empty()) return true;
    for (const Call& c : f->calls) {
      if (c.symbol == name) return true;
      if (seen.insert(c.symbol).second) work.push_back(c.symbol);
    }
  }
  return false;
}

bool jumps_through_pointers(const Kernel& k) {
  return std::ranges::any_of(k.code, [](const Instruction& i) {
    return i.form->flow == Flow::indirect && i.form->is(kAbsolute);
  });
}

/// Lays functions out behind a kernel's code.
class Linker {
 public:
  Linker(const Kernel& kernel, const Listing& listing) : out_(kernel), listing_(listing) {}

  Kernel run() {
    bool pointers = false;
    for (size_t n = 0; n < out_.calls.size() || !pointers; ++n) {  // grows on the way
      if (n == out_.calls.size()) {  // what was called until here may jump through pointers
        pointers = true;
        if (jumps_through_pointers(out_)) take_in_pointed();
        if (n == out_.calls.size()) break;
      }
      if (const auto place = place_of(out_.calls[n].symbol))
        out_.calls[n].target = *place + pc_of(0);
    }
    complain_about_unknown();
    return std::move(out_);
  }

 private:
  /// Functions whose address stands in code or in variables. One of them may jump, too.
  void take_in_pointed() {
    const std::vector<std::string> taken = functions_with_address(listing_);
    for (size_t n = 0; n < taken.size(); ++n)
      if (const auto place = place_of(taken[n]))
        out_.entries.push_back(
            {guest::function_address(static_cast<uint32_t>(n)), *place + pc_of(0)});
  }

  void complain_about_unknown() {
    std::set<std::string> unknown;
    for (const Relocation& r : out_.relocations) unknown.insert(r.symbol);
    for (const ir::Global& g : listing_.globals) unknown.erase(g.name);
    for (const Kernel& f : listing_.functions) unknown.erase(f.name);
    for (const std::string& name : unknown)
      out_.diagnostics.push_back(
          {0, 0,
           fmt::format("kernel '{}': its code uses the address of '{}', which no file here defines",
                       out_.name, name)});
  }

  std::optional<uint64_t> place_of(const std::string& name) {
    const auto f = std::ranges::find(listing_.functions, name, &Kernel::name);
    if (f == listing_.functions.end()) return std::nullopt;
    const uint64_t end = out_.code.empty() ? 0 : (out_.code.back().pc / 32 + 1) * 32;
    const auto [place, is_new] = places_.try_emplace(name, end);
    if (is_new) append(*f, end);
    return place->second;
  }

  void append(const Kernel& f, uint64_t end) {
    out_.labels.push_back({f.name, out_.code.size()});
    for (const Label& l : f.labels) out_.labels.push_back({l.name, l.index + out_.code.size()});
    for (Instruction i : f.code) {
      i.pc += end;
      out_.code.push_back(std::move(i));
    }
    for (Relocation r : f.relocations) {
      r.pc += end;
      out_.relocations.push_back(std::move(r));
    }
    for (Call c : f.calls) {
      c.pc += end;
      out_.calls.push_back(std::move(c));
    }
    out_.lines.push_back({end, nullptr, 0});  // what the code before comes from ends here
    for (elf::LineRow row : f.lines) {
      row.address += end;
      out_.lines.push_back(std::move(row));
    }
    for (const auto& [pc, targets] : f.jumps)
      for (const uint64_t target : targets) out_.jumps[pc + end].push_back(target + end);
    for (ConstantBank bank : f.banks) {
      // Bank 3 is one for all of a file.
      const auto same = std::ranges::find(out_.banks, bank.symbol, &ConstantBank::symbol);
      if (bank.number != 2 && same != out_.banks.end() && same->end_pc == ~uint64_t{0}) continue;
      bank.first_pc = end;
      bank.end_pc = out_.code.back().pc + 1;
      out_.banks.insert(out_.banks.begin(), std::move(bank));
    }
    out_.registers = std::max(out_.registers, f.registers);
    const uint32_t frames =
        recursive(listing_, f.name) ? kRecursionStack : f.local_bytes.value_or(0);
    if (frames != 0) out_.local_bytes = out_.local_bytes.value_or(0) + frames;
    out_.diagnostics.insert(out_.diagnostics.end(), f.diagnostics.begin(), f.diagnostics.end());
  }

  Kernel out_;
  const Listing& listing_;
  std::map<std::string, uint64_t> places_;
};

}  // namespace

std::vector<std::string> functions_with_address(const Listing& listing) {
  std::set<std::string> named;
  for (const std::vector<Kernel>* kernels : {&listing.kernels, &listing.functions})
    for (const Kernel& k : *kernels)
      for (const Relocation& r : k.relocations) named.insert(r.symbol);
  for (const ir::Global& g : listing.globals)
    for (const ir::Global::Reloc& r : g.relocs) named.insert(r.symbol);
  std::vector<std::string> out;
  for (const Kernel& f : listing.functions)
    if (named.contains(f.name)) out.push_back(f.name);
  return out;
}

Kernel linked(const Kernel& kernel, const Listing& listing) {
  return Linker(kernel, listing).run();
}

}  // namespace lanewise::sass
