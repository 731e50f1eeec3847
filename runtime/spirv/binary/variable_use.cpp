#include "runtime/spirv/binary/variable_use.hpp"

namespace lanewise::spirv {

bool VariableSet::join(const VariableSet& other, const VariableSet* without) {
  bool changed = false;
  for (size_t i = 0; i < words_.size(); ++i) {
    const uint64_t more =
        other.words_[i] & (without != nullptr ? ~without->words_[i] : ~uint64_t{0});
    changed = changed || (more & ~words_[i]) != 0;
    words_[i] |= more;
  }
  return changed;
}

VariableUse::VariableUse(const Code& code, const std::vector<std::vector<size_t>>& next) {
  find_variables(code);
  summarise_calls(code);
  find_live(code, next);
}

void VariableUse::add(const Code& code, uint32_t id, uint32_t pointer_type, bool is_private) {
  const uint32_t type = code.target.at(pointer_type);
  const auto length = code.array_length.find(type);
  if (length != code.array_length.end() && length->second > kMostElements) {
    arrays_.insert(id);
    return;
  }
  root_[id] = variables_.size();
  variables_.push_back({id, type, is_private});
}

void VariableUse::find_variables(const Code& code) {
  for (const auto& [id, type] : code.private_variables) add(code, id, type, true);
  for (const CodeBlock& block : code.blocks) {
    for (const CodeInst& inst : block.insts) {
      if (inst.op() == spv::OpVariable) add(code, inst.result, inst.type, false);
      const bool derived = inst.op() == spv::OpAccessChain ||
                           inst.op() == spv::OpInBoundsAccessChain ||
                           inst.op() == spv::OpCopyObject;
      if (!derived) continue;
      if (const size_t* of = variable_of(inst.words[3])) root_[inst.result] = *of;
    }
  }
}

const size_t* VariableUse::variable_of(uint32_t pointer) const {
  const auto found = root_.find(pointer);
  return found == root_.end() ? nullptr : &found->second;
}

/// read(v), write(v, whole): in the order in which they happen.
template <typename OnRead, typename OnWrite>
void VariableUse::visit(const CodeInst& inst, OnRead read, OnWrite write) const {
  switch (inst.op()) {
    case spv::OpVariable:
    case spv::OpAccessChain:
    case spv::OpInBoundsAccessChain:
    case spv::OpCopyObject:
      return;
    case spv::OpLoad:
      if (const size_t* v = variable_of(inst.words[3])) read(*v);
      return;
    case spv::OpStore:
      if (const size_t* v = variable_of(inst.words[1]))
        write(*v, variables_[*v].id == inst.words[1]);
      return;
    default:
      break;
  }
  // Whatever else is handed a pointer, a call above all, may do anything with it.
  for (const uint16_t at : inst.ids) {
    const size_t* v = variable_of(inst.words[at]);
    if (v == nullptr) continue;
    read(*v);
    write(*v, false);
  }
  if (inst.op() != spv::OpFunctionCall) return;
  const auto callee = calls_.find(inst.words[3]);
  if (callee == calls_.end()) return;
  for (size_t v = 0; v < variables_.size(); ++v) {
    if (callee->second.read.has(v)) read(v);
    if (callee->second.written.has(v)) write(v, false);
  }
}

void VariableUse::summarise_calls(const Code& code) {
  const VariableSet none(variables_.size());
  for (const CodeFunction& f : code.functions) calls_[f.id] = {none, none};
  for (bool changed = true; changed;) {
    changed = false;
    for (const CodeFunction& f : code.functions) {
      Effects found{none, none};
      for (size_t b = f.first; b < f.end; ++b) {
        for (const CodeInst& inst : code.blocks[b].insts) {
          visit(
              inst,
              [&](size_t v) {
                if (variables_[v].is_private) found.read.add(v);
              },
              [&](size_t v, bool) {
                if (variables_[v].is_private) found.written.add(v);
              });
        }
      }
      Effects& known = calls_[f.id];
      changed = known.read.join(found.read) || changed;
      changed = known.written.join(found.written) || changed;
    }
  }
}

void VariableUse::find_live(const Code& code, const std::vector<std::vector<size_t>>& next) {
  const VariableSet none(variables_.size());
  std::vector<VariableSet> replaced(code.blocks.size(), none);
  written_.assign(code.blocks.size(), none);
  live_in_.assign(code.blocks.size(), none);
  for (const CodeFunction& f : code.functions) {
    for (size_t b = f.first; b < f.end; ++b) {
      for (const CodeInst& inst : code.blocks[b].insts) {
        visit(
            inst,
            [&](size_t v) {
              if (!replaced[b].has(v)) live_in_[b].add(v);
            },
            [&](size_t v, bool whole) {
              written_[b].add(v);
              if (whole) replaced[b].add(v);
            });
      }
      // Who calls a function may look at any Private variable afterwards.
      if (!next[b].empty() || code.entry_points.contains(f.id)) continue;
      for (size_t v = 0; v < variables_.size(); ++v)
        if (variables_[v].is_private && !replaced[b].has(v)) live_in_[b].add(v);
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t b = f.end; b-- > f.first;)
        for (const size_t n : next[b])
          changed = live_in_[b].join(live_in_[n], &replaced[b]) || changed;
    }
  }
}

std::vector<size_t> VariableUse::leaving(const CodeLoop& loop) const {
  VariableSet written(variables_.size());
  for (size_t b = 0; b < loop.inside.size(); ++b)
    if (loop.inside[b]) written.join(written_[b]);
  std::vector<size_t> out;
  for (size_t v = 0; v < variables_.size(); ++v)
    if (written.has(v) && live_in_[loop.merge].has(v)) out.push_back(v);
  return out;
}

}  // namespace lanewise::spirv
