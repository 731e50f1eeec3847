#include "runtime/isa/gcn/text/symbols.hpp"

#include <fmt/format.h>

#include <cctype>

namespace lanewise::gcn {
namespace {

bool in_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '$';
}

uint64_t place_of(const Kernel& k, size_t index) {
  if (index < k.code.size()) return k.base + k.code[index].pc;
  return k.base + k.code.back().pc + size_of(k.code.back(), k.gen);
}

}  // namespace

/// One instruction, and the labels of its kernel.
struct Symbols::Scope {
  const Kernel& kernel;
  const std::map<std::string, uint64_t>& labels;
  const Instruction* instruction = nullptr;

  uint64_t here() const { return kernel.base + instruction->pc; }
};

void Symbols::assign(Cursor& in, char sign) {
  in.skip_blanks();
  const std::string name(in.until(" \t,="));
  in.expect(sign, "after the symbol's name");
  in.skip_blanks();
  const size_t at = in.at();
  const std::string_view text = in.rest();
  std::string known;
  try {
    known = with_values(text);
  } catch (const SyntaxError&) {
    values_[name] = std::nullopt;
    return;
  }
  Cursor value(known);
  const Expression e = read_expression(value);
  if (!value.done()) Cursor::fail_at(at, "unexpected text behind the value");
  constexpr int64_t kMost = 0xffffffff;
  if (e.is_number() && (e.number > kMost || e.number < -kMost - 1))
    Cursor::fail_value(at, "number does not fit in 32 bits");
  const bool alias = e.symbols.size() == 1 && e.relative && e.number == 0 && !e.upper &&
                     e.symbols[0].name != "." && e.symbols[0].times == 1;
  values_[name] = e.is_number() ? std::optional(std::to_string(e.number))
                  : alias       ? std::optional(e.symbols[0].name)
                                : std::nullopt;
}

std::string Symbols::with_values(std::string_view line) const {
  std::string out;
  for (size_t at = 0; at < line.size();) {
    size_t end = at;
    while (end < line.size() && in_name(line[end])) ++end;
    if (end == at) {
      out += line[at++];
      continue;
    }
    const std::string_view word = line.substr(at, end - at);
    const auto found = values_.find(word);
    if (found != values_.end() && !found->second)
      Cursor::fail_value(at, fmt::format("the value of '{}' is not known here", word));
    out += found != values_.end() ? *found->second : word;
    at = end;
  }
  return out;
}

void Symbols::place_labels(const Kernel& k) {
  for (const Label& l : k.labels) {
    const auto [entry, fresh] = labels_.try_emplace(l.name, place_of(k, l.index));
    if (!fresh) entry->second = std::nullopt;
  }
}

std::optional<uint64_t> Symbols::address(const Scope& scope, const std::string& name) const {
  if (name == ".") return scope.here();
  if (const auto own = scope.labels.find(name); own != scope.labels.end()) return own->second;
  if (const auto it = places_.find(name); it != places_.end()) return it->second;
  const auto other = labels_.find(name);
  return other != labels_.end() ? other->second : std::nullopt;
}

std::string Symbols::missing(const std::string& name) const {
  if (values_.contains(name)) return fmt::format("'{}' gets its value behind this line only", name);
  if (labels_.contains(name)) return fmt::format("label '{}' is there more than once", name);
  return fmt::format("'{}' is not defined in this file", name);
}

/// Distances count dwords from the next instruction.
std::string Symbols::branch(const Scope& scope, Operand& o) const {
  const auto target = address(scope, o.label);
  if (!target)
    return labels_.contains(o.label) || values_.contains(o.label)
               ? missing(o.label)
               : fmt::format("label '{}' is not defined in '{}'", o.label, scope.kernel.name);
  const auto bytes = static_cast<int64_t>(*target - scope.here() - 4);
  if (bytes % 4 != 0) return fmt::format("'{}' is data, no instruction", o.label);
  if (bytes / 4 < -0x8000 || bytes / 4 > 0x7fff)
    return fmt::format("'{}' is too far away: {} bytes, and a branch reaches 131068", o.label,
                       bytes);
  o.value = static_cast<uint32_t>(bytes / 4);
  return {};
}

/// The literal stands behind the instruction's dword.
std::string Symbols::literal(const Scope& scope, Operand& o) const {
  Cursor in(o.label);
  const Expression e = read_expression(in);
  for (const Expression::Symbol& s : e.symbols)
    if (!address(scope, s.name)) return missing(s.name);
  std::string problem;
  const auto value = value_of(
      e, [&](const std::string& name) { return address(scope, name); }, scope.here() + 4, problem);
  if (value) o.value = static_cast<uint32_t>(*value);
  return problem;
}

void Symbols::resolve(Kernel& k, const Report& report) const {
  std::map<std::string, uint64_t> labels = {{k.name, k.base}};
  for (const Label& l : k.labels) labels[l.name] = place_of(k, l.index);
  Scope scope{k, labels};
  for (Instruction& i : k.code) {
    scope.instruction = &i;
    for (size_t n = 0; n < i.operands.size(); ++n) {
      Operand& o = i.operands[n];
      if (o.label.empty()) continue;
      const bool goes = i.row->operands[n].slot == Slot::label;
      std::string problem = goes ? branch(scope, o) : literal(scope, o);
      if (!problem.empty()) report(i, std::move(problem));
    }
  }
}

}  // namespace lanewise::gcn
