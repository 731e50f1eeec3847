#include "runtime/isa/gcn/text/file/symbols.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cstdlib>

namespace lanewise::gcn {
namespace {

constexpr size_t kMostValueText = 4096;  ///< of what a symbol stands for
constexpr int kMostNested = 8;           ///< of symbols whose values are symbols

uint64_t place_of(const Kernel& k, size_t index) {
  if (index < k.code.size()) return k.base + k.code[index].pc;
  return k.base + k.code.back().pc + size_of(k.code.back(), k.gen);
}

/// `1b` and `1f`: the number, and whether the label is still to come.
std::optional<std::pair<std::string_view, bool>> meant_label(std::string_view word) {
  if (word.size() < 2 || (word.back() != 'b' && word.back() != 'f')) return std::nullopt;
  const std::string_view number = word.substr(0, word.size() - 1);
  for (const char c : number)
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) return std::nullopt;
  return std::pair(number, word.back() == 'f');
}
std::string numbered_name(std::string_view number, uint64_t count) {
  return fmt::format(".L{}${}", number, count);
}

/// A letter and a number: the assembler takes it for a register wherever one may stand.
bool taken_for_register(std::string_view word) {
  if (word.size() < 2 || (word[0] != 'v' && word[0] != 's')) return false;
  for (const char c : word.substr(1))
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) return false;
  return true;
}

/// `v[3+1:2*4]`: the numbers of registers are computed.
std::string with_numbers(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    out += text[at];
    const bool registers = text[at] == '[' && at > 0 && text[at - 1] != ':';
    if (!registers) continue;
    const size_t end = std::min(text.find(']', at), text.size());
    const std::string inside = text.substr(at + 1, end - at - 1);
    if (inside.find_first_of("+-*/%()&|^<>~!") == std::string::npos) continue;
    Cursor in(inside);
    for (bool more = true; more;) {
      const int64_t n = read_constant(in, "a register's number");
      if (n < 0 || n > 0xffff) Cursor::fail_value(at + 1, "there is no such register");
      out += std::to_string(n);
      more = in.take(':');
      if (more) out += ':';
    }
    at = end - 1 - (inside.size() - in.at());
  }
  return out;
}

}  // namespace

/// One instruction, and the labels of its kernel.
struct Symbols::Scope {
  const Kernel& kernel;
  const std::map<std::string, uint64_t>& labels;
  const Instruction* instruction = nullptr;

  uint64_t here() const { return kernel.base + instruction->pc; }
};

void Symbols::define(const std::string& name, int64_t value) {
  values_[name] = std::to_string(value);
}

std::string Symbols::text(std::string_view name) const {
  const auto found = values_.find(name);
  return found != values_.end() ? found->second : std::string();
}

int64_t Symbols::number(std::string_view name) const {
  const auto found = values_.find(name);
  return found != values_.end() ? std::strtoll(found->second.c_str(), nullptr, 10) : 0;
}

void Symbols::assign(Cursor& in, char sign, bool once, const Places& places) {
  in.skip_blanks();
  const size_t name_at = in.at();
  const std::string name(in.until(" \t,="));
  if (name.empty() || !in_symbol_name(name[0]))
    Cursor::fail_at(name_at, "expected the symbol's name" + in.found(name_at));
  in.expect(sign, "after the symbol's name");
  if ((once && values_.contains(name)) || places.is_label(name))
    Cursor::fail_value(name_at, fmt::format("'{}' is defined already", name));
  in.skip_blanks();
  const size_t at = in.at();
  std::string late = with_values(in.rest());
  if (uses_here(late)) late = with_here(late, places.here());
  Cursor value(late);
  const Expression e = read_expression(value, places.known);
  if (!value.done()) Cursor::fail_at(at, "unexpected text behind the value");
  in.seek(at + in.rest().size());
  const bool alias = e.symbols.size() == 1 && e.relative && !e.deferred && e.number == 0 &&
                     !e.upper && e.symbols[0].times == 1;
  if (alias && e.symbols[0].name == name)
    Cursor::fail_value(at, fmt::format("'{}' would be its own value", name));
  if (alias) {
    values_[name] = e.symbols[0].name;
    return;
  }
  if (e.is_number()) return define(name, e.number);
  if (!e.deferred)
    if (const auto known = places.known(e)) return define(name, *known);
  if (late.size() > kMostValueText) Cursor::fail_value(at, "the expression is too long");
  values_[name] = "(" + late + ")";
}

std::string Symbols::numbered_label(std::string_view number) {
  uint64_t& count = numbered_[std::string(number)];
  return numbered_name(number, count++);
}

std::string Symbols::with_values(std::string_view line, bool operands, int depth) const {
  std::string out;
  int brackets = 0;
  for (size_t at = 0; at < line.size();) {
    size_t end = at;
    while (end < line.size() && in_symbol_name(line[end])) ++end;
    if (end == at) {
      if (line[at] == '"') {
        const size_t closing = std::min(line.find('"', at + 1), line.size() - 1);
        out += line.substr(at, closing + 1 - at);
        at = closing + 1;
        continue;
      }
      brackets += line[at] == '[' ? 1 : line[at] == ']' ? -1 : 0;
      out += line[at++];
      continue;
    }
    const std::string_view word = line.substr(at, end - at);
    const char behind = end < line.size() ? line[end] : '\0';
    at = end;
    if (const auto numbered = meant_label(word)) {
      const auto found = numbered_.find(numbered->first);
      const uint64_t next = found != numbered_.end() ? found->second : 0;
      if (!numbered->second && next == 0)
        Cursor::fail_value(end - word.size(), fmt::format("no label {} in front", numbered->first));
      out += numbered_name(numbered->first, numbered->second ? next : next - 1);
      continue;
    }
    const auto found = values_.find(word);
    const bool is_register =
        operands && brackets == 0 && (behind == '[' || taken_for_register(word));
    // In front of a colon stands a modifier's name, but for a range of registers.
    const bool is_modifier = operands && brackets == 0 && behind == ':';
    if (found == values_.end() || is_register || is_modifier)
      out += word;
    else
      out += depth < kMostNested ? with_values(found->second, false, depth + 1) : found->second;
    if (out.size() > line.size() + kMostValueText)
      Cursor::fail_value(0, "the values of its symbols make the line too long");
  }
  return out;
}

/// The mnemonic is no symbol.
std::string Symbols::with_operand_values(const std::string& text) const {
  const size_t operands = std::min(text.find_first_of(" \t"), text.size());
  try {
    return text.substr(0, operands) + with_numbers(with_values(text.substr(operands), true));
  } catch (SyntaxError& e) {
    e.at += operands;
    throw;
  }
}

void Symbols::place_labels(const Kernel& k) {
  for (const Label& l : k.labels) {
    const auto [entry, fresh] = labels_.try_emplace(l.name, place_of(k, l.index));
    if (!fresh) entry->second = std::nullopt;
  }
}

std::optional<uint64_t> Symbols::address_in(const Scope& scope, const std::string& name) const {
  if (name == ".") return scope.here();
  if (const auto own = scope.labels.find(name); own != scope.labels.end()) return own->second;
  return address(name);
}

std::optional<uint64_t> Symbols::address(const std::string& name) const {
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
  const auto target = address_in(scope, o.label);
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
  const Expression e = read_expression(
      in, differences([&](const std::string& name) { return address_in(scope, name); }));
  for (const Expression::Symbol& s : e.symbols)
    if (!address_in(scope, s.name)) return missing(s.name);
  std::string problem;
  const auto value = value_of(
      e, [&](const std::string& name) { return address_in(scope, name); }, scope.here() + 4,
      problem);
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
