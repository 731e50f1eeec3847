#include "runtime/isa/gcn/lowering/analysis/calls.hpp"

#include <algorithm>

#include "runtime/isa/gcn/lowering/analysis/analysis.hpp"

namespace lanewise::gcn {
namespace {

bool is_go(const Instruction& i) {
  return i.row->kind == Kind::call || i.row->kind == Kind::jump;
}

/// A branch may go to a function as a call's last step does.
bool branches_away(const Kernel& k) {
  for (size_t n = 0; n < k.code.size(); ++n)
    if (k.code[n].row->kind == Kind::branch && branch_target(k, n) == std::string::npos)
      return true;
  return false;
}

/// Control may come to the place behind the last instruction, where other code of the file may be.
bool runs_on(const Kernel& k) {
  const Instruction& last = k.code.back();
  const bool conditional = last.row->kind == Kind::branch && last.row->meaning.count != 0;
  if (conditional || last.row->kind == Kind::call || !ends_block(last)) return true;
  for (size_t n = 0; n < k.code.size(); ++n)
    if (k.code[n].row->kind == Kind::branch && branch_target(k, n) == k.code.size()) return true;
  return false;
}

}  // namespace

uint64_t address_behind(const Kernel& k, size_t index) {
  return k.base + k.code[index].pc + size_of(k.code[index], k.gen);
}

Kernel with_functions(const Kernel& kernel, const Listing& listing) {
  Kernel whole = kernel;
  whole.file = &listing;
  const bool leaves = branches_away(kernel) || runs_on(kernel);
  if (std::ranges::none_of(kernel.code, is_go) && !leaves) return whole;
  // In the order of their distance from the kernel, by which branches are looked up: those in front
  // of it have the largest, as their places wrap.
  std::vector<const Kernel*> functions;
  for (const Kernel& f : listing.functions)
    if (!f.data_only) functions.push_back(&f);
  // Names alone do not say what code is: control goes on into another kernel's as into any other.
  for (const Kernel& f : listing.kernels)
    if (leaves && f.base != kernel.base && !f.code.empty()) functions.push_back(&f);
  std::ranges::stable_sort(functions, {}, [&](const Kernel* f) { return f->base - kernel.base; });
  const Kernel* before = &kernel;
  for (const Kernel* f : functions) {
    // Nothing stands behind the last code of the file: what comes to its end has ended.
    if (f->base < before->base && runs_on(*before)) {
      Instruction end = *parse_instruction("s_endpgm", kernel.gen).instruction;
      end.pc = address_behind(*before, before->code.size() - 1) - kernel.base;
      whole.code.push_back(std::move(end));
    }
    before = f;
    whole.functions.push_back({f->name, whole.code.size()});
    whole.labels.push_back({f->name, whole.code.size()});
    for (Instruction i : f->code) {
      i.pc += f->base - kernel.base;
      whole.code.push_back(std::move(i));
    }
  }
  return whole;
}

namespace {

/// Literals that get a half of an address.
void name_addresses(Kernel& k) {
  if (k.file->address_words.empty()) return;
  for (size_t n = 0; n < k.code.size(); ++n)
    for (Operand& o : k.code[n].operands) {
      const auto word = k.file->address_words.find(address_behind(k, n) - 4);
      if (word == k.file->address_words.end() || o.immediate || o.code != kLiteral) continue;
      o.value = static_cast<uint32_t>(word->second.first);
      o.half = word->second.second ? Operand::Half::high : Operand::Half::low;
    }
}

/// Everything that names an instruction by its number gets the one that is at its place now.
void renumber(Kernel& k, const Kernel& before) {
  const auto move = [&](std::vector<Label>& labels) {
    std::erase_if(labels, [&](Label& l) {
      if (l.index >= before.code.size()) return (l.index = k.code.size()), false;
      const uint64_t pc = before.code[l.index].pc;
      const auto at = std::ranges::lower_bound(k.code, pc, {}, &Instruction::pc);
      l.index = static_cast<size_t>(at - k.code.begin());
      return at == k.code.end() || at->pc != pc;
    });
  };
  move(k.functions);
  move(k.labels);
}

/// Of bytes in the image, as many as fit up to `end`; what is no instruction becomes data.
Instruction read_instruction(const Kernel& k, uint64_t pc, uint64_t end, bool as_data) {
  std::vector<uint32_t> words;
  for (uint64_t at = pc; at < end && words.size() < 3; at += 4) {
    uint32_t word = 0;
    for (unsigned n = 0; n < 4; ++n)
      word |= std::to_integer<uint32_t>(k.file->image->init.at(k.base + at + n)) << (8 * n);
    words.push_back(word);
  }
  auto i = as_data ? std::nullopt : decode(words, k.gen);
  if (!i) i = undecoded(words, k.gen);
  i->pc = pc;
  i->text = print(*i, k.gen);
  return *i;
}

/// Reads again what lies around the places, at each of which an instruction begins.
bool read_again(Kernel& k, const std::set<uint64_t>& places) {
  bool changed = false;
  for (const uint64_t place : places) {
    const uint64_t pc = place - k.base;
    const auto next = std::ranges::upper_bound(k.code, pc, {}, &Instruction::pc);
    if (next == k.code.begin()) continue;
    const auto at = std::prev(next);
    if (at->pc == pc || at->line != 0 || k.file == nullptr || !k.file->image) continue;
    const Kernel before = k;
    std::vector<Instruction> code(k.code.begin(), at);
    for (uint64_t n = at->pc; n < pc;) {
      code.push_back(read_instruction(k, n, pc, true));
      n += size_of(code.back(), k.gen);
    }
    auto rest = next;
    for (uint64_t n = pc; rest == k.code.end() || n != rest->pc;) {
      const uint64_t end =
          rest == k.code.end() ? address_behind(k, k.code.size() - 1) - k.base : ~uint64_t{0};
      if (n >= end) break;
      code.push_back(read_instruction(k, n, end, false));
      n += size_of(code.back(), k.gen);
      while (rest != k.code.end() && rest->pc < n) ++rest;
    }
    code.insert(code.end(), rest, k.code.end());
    k.code = std::move(code);
    renumber(k, before);
    changed = true;
  }
  return changed;
}

}  // namespace

CallTargets keep_reached(Kernel& k) {
  name_addresses(k);
  CallTargets calls = find_call_targets(k);
  // Each time one more place is a beginning, so this ends.
  while (read_again(k, calls.inside)) {
    name_addresses(k);
    calls = find_call_targets(k);
  }
  const bool is_text = k.code[0].line != 0;
  const bool all = std::ranges::count(calls.reached, false) == 0;
  if (all || (is_text && k.functions.empty())) return calls;
  Kernel before = k;
  k.code.clear();
  for (size_t n = 0; n < before.code.size(); ++n)
    if (calls.reached[n]) k.code.push_back(before.code[n]);
  renumber(k, before);
  return find_call_targets(k);
}

}  // namespace lanewise::gcn
