#include "tests/fuzz/ptx_verdicts/lines.hpp"

#include <algorithm>
#include <iterator>

namespace ptx_verdicts {

using lanewise::ptx::CompiledRow;
using lanewise::ptx::OperandSpec;
using lanewise::ptx::Slot;

namespace {

/// Parts between top-level marks, without the blanks around them.
std::vector<std::string> parts(std::string_view text, char mark) {
  std::vector<std::string> out(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '{' || c == '[' || c == '(' ? 1 : c == '}' || c == ']' || c == ')' ? -1 : 0;
    if (c == mark && depth == 0)
      out.emplace_back();
    else if (c != ' ' || !out.back().empty())
      out.back() += c;
  }
  if (out.size() == 1 && out[0].empty()) out.clear();
  return out;
}

/// Registers of the module that the lines stand in, by what they hold.
std::vector<std::string> registers_of(std::string_view type) {
  const char kind = type.front();
  if (type == "pred") return {"%p1", "%p2", "%p7"};
  const std::string_view bits = type.substr(type.find_first_of("0123456789"));
  if (type.ends_with("x2") && kind != 'f' && kind != 'b') return {"%h1", "%h2"};
  if (type.ends_with("x2") || type == "tf32") return {"%r1", "%r2", "%hx1"};
  if (type.ends_with("x4")) return {"%r1", "%u1"};
  if (bits == "8") return {"%c1", "%h1", "%r1"};
  if (type == "bf16") return {"%h1", "%h2"};
  if (bits == "16") {
    if (kind == 'u') return {"%uh1", "%h1"};
    if (kind == 's') return {"%sh1", "%h1"};
    if (kind == 'f') return {"%hf1", "%h1"};
    return {"%h1", "%h2", "%uh1", "%sh1", "%hf1"};
  }
  if (bits == "32") {
    if (kind == 'u') return {"%r1", "%u1", "%u2"};
    if (kind == 's') return {"%r1", "%s1", "%s2"};
    if (kind == 'f') return {"%f1", "%f2", "%r1"};
    return {"%r1", "%r2", "%u1", "%s1", "%f1", "%hx1"};
  }
  if (bits == "64") {
    if (kind == 'u') return {"%rd1", "%ul1"};
    if (kind == 's') return {"%rd1", "%sl1"};
    if (kind == 'f') return {"%fd1", "%rd1"};
    return {"%rd1", "%ul1", "%sl1", "%fd1"};
  }
  if (bits == "128") return {"%q1"};
  return {"%r1"};
}

constexpr const char* kAnyRegister[] = {"%p1",  "%c1",  "%h1",  "%r1",  "%rd1", "%f1",
                                        "%fd1", "%u1",  "%s1",  "%ul1", "%sl1", "%uh1",
                                        "%sh1", "%hf1", "%hx1", "%q1"};

bool is_name(std::string_view opcode) {
  return !opcode.empty() && std::ranges::all_of(opcode, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

}  // namespace

std::string Line::text() const {
  std::string out = guard.empty() ? "" : guard + " ";
  out += opcode;
  for (const std::string& q : qualifiers) out.append(".").append(q);
  for (size_t i = 0; i < operands.size(); ++i) out.append(i == 0 ? " " : ", ").append(operands[i]);
  return out + ";";
}

Line taken_apart(std::string_view text) {
  Line line;
  if (text.starts_with('@')) {
    const size_t blank = text.find(' ');
    line.guard = text.substr(0, blank);
    text.remove_prefix(std::min(text.size(), blank == text.npos ? blank : blank + 1));
  }
  text = text.substr(0, text.rfind(';'));
  const size_t blank = text.find(' ');
  std::vector<std::string> head = parts(text.substr(0, blank), '.');
  if (head.empty()) return line;
  line.opcode = head[0];
  line.qualifiers.assign(head.begin() + 1, head.end());
  if (blank != text.npos) line.operands = parts(text.substr(blank + 1), ',');
  return line;
}

Lines::Lines(uint64_t seed, const std::vector<std::string>& known,
             std::span<const std::string> only)
    : random_(seed) {
  for (const CompiledRow& row : lanewise::ptx::table())
    if (only.empty() || std::ranges::find(only, row.row->opcode) != only.end())
      rows_.push_back(&row);
  for (const std::string& text : known) {
    Line line = taken_apart(text);
    if (!is_name(line.opcode)) continue;
    operands_.insert(operands_.end(), line.operands.begin(), line.operands.end());
    known_[line.opcode].push_back(std::move(line));
  }
}

std::string Lines::next() {
  Line line = from_row(*random_.pick(rows_));
  if (random_.chance(10)) line.guard = random_.pick({"@%p1", "@!%p2"});
  for (uint32_t faults = random_.pick({0, 0, 0, 1, 1, 2}); faults > 0; --faults) spoil(line);
  return line.text();
}

Line Lines::from_row(const CompiledRow& row) {
  Line line;
  line.opcode = row.row->opcode;
  std::map<std::string_view, std::string> slots;
  const uint32_t sparse = random_.pick({2u, 3u, 6u});
  for (const Slot& slot : row.slots) {
    if (slot.optional && !random_.chance(sparse)) continue;
    std::string value(random_.pick(slot.values));
    if (value == "*") value = "m64n" + std::to_string(8 * (1 + random_.below(32))) + "k16";
    line.qualifiers.push_back(value);
    slots[slot.name] = value;
  }
  // The assembler takes most of them in any order.
  if (line.qualifiers.size() > 1 && random_.chance(6)) {
    const auto n = static_cast<uint32_t>(line.qualifiers.size());
    std::swap(line.qualifiers[random_.below(n)], line.qualifiers[random_.below(n)]);
  }
  const auto known = known_.find(line.opcode);
  if (known != known_.end() && (row.row->operands == nullptr || random_.chance(3))) {
    line.operands = random_.pick(known->second).operands;
    return line;
  }
  for (const OperandSpec& spec : row.operands) {
    const bool filled = spec.when.empty() || slots.contains(spec.when);
    if (spec.optional ? random_.chance(2) : filled)
      line.operands.push_back(operand(spec, line, slots));
  }
  return line;
}

std::string Lines::operand(const OperandSpec& spec, const Line& line,
                           const std::map<std::string_view, std::string>& slots) {
  std::string type(spec.type);
  if (type.starts_with('$')) {
    const auto slot = slots.find(type.substr(1));
    type = slot == slots.end() ? "b32" : slot->second;
  }
  const size_t digits = type.find_first_of("0123456789");
  if (spec.scale > 1 && digits != type.npos)
    type = type.substr(0, digits) +
           std::to_string(spec.scale * static_cast<unsigned>(std::stoul(type.substr(digits))));
  if (spec.sink && random_.chance(4)) return "_";
  switch (spec.kind) {
    case 'd':
    case 'r': {
      std::string out = of_type(type, false);
      if (spec.both || (spec.pair && random_.chance(3))) out += random_.pick({"|%p3", "|_"});
      return out;
    }
    case 'p':
      return random_.pick({"%p1", "!%p2", "%p1"});
    case 'i':
      return std::to_string(spec.high < spec.low ? random_.below(8)
                                                 : spec.low + random_.below(static_cast<uint32_t>(
                                                                  2 + spec.high - spec.low)));
    case 'a':
    case 'u':
    case 'A': {
      const auto space = slots.find("ss");
      if (spec.type != "$type") return address(spec.type);
      return address(space == slots.end() ? "" : space->second);
    }
    case 'h':
      return random_.pick({"%rd1", "%rd2", "%ul1", "0x10f0000000000000", "%fd1"});
    case 'b':
    case 't':
      return random_.pick({"1", "32", "64", "%r1", "15", "16"});
    case 'c':
      return random_.pick({"%r1", "7", "255", "256"});
    case 'l':
      return random_.pick({"L0", "L1", "L2"});
    case 'T':
      return "[%r3]";
    case 'V':
      return random_.pick({"%r1", "%r1.b0", "%r1.b3", "%r1.h1", "%u1", "%s1.h0"});
    case 'M':
      return random_.pick({"%r1", "-%r1", "%r1.b0", "%r1.h1", "%u1"});
    case 'D':
      return random_.pick({"%r1", "%r1.h10", "%r1.h32", "%u1"});
    case 'Q':
      return random_.pick({"%r1", "%r1.b3210", "%r1.b7654", "%s1"});
    case 'n':
    case 'm':
    case 'v':
    case 'w': {
      unsigned count = spec.count;
      for (const std::string& q : line.qualifiers)
        if (count == 0 && q.size() == 2 && q[0] == 'v') count = static_cast<unsigned>(q[1] - '0');
      std::string out;
      for (unsigned i = 0; i < count; ++i) out += (i == 0 ? "" : ", ") + of_type(type, false);
      return count == 0 ? of_type(type, spec.kind != 'n') : "{" + out + "}";
    }
    default:
      return of_type(type, true);
  }
}

std::string Lines::of_type(std::string_view type, bool may_be_constant) {
  if (type.find_first_of("0123456789") == type.npos && type != "pred") return "%r1";
  if (may_be_constant && random_.chance(4)) return constant(type);
  if (random_.chance(16)) return kAnyRegister[random_.below(std::size(kAnyRegister))];
  std::string name = random_.pick(registers_of(type));
  if (type == "pred" && may_be_constant && random_.chance(4)) name.insert(0, "!");
  return name;
}

std::string Lines::constant(std::string_view type) {
  if (random_.chance(10))
    return random_.pick({"gbuf", "WARP_SZ", "%tid.x", "%clock64", "f1", "kp0"});
  if (type.starts_with('f') != random_.chance(12))
    return random_.pick({"1.0", "0f3f800000", "0d3ff0000000000000", "-2.5"});
  return random_.pick({"0", "1", "-1", "7", "31", "0x80", "255", "4096", "5U", "0x123456789"});
}

std::string Lines::address(std::string_view space) {
  if (random_.chance(10)) return any_operand();
  if (space.starts_with("shared"))
    return random_.pick({"[sbuf]", "[sbuf+16]", "[%r1]", "[%rd1]", "[mbar]"});
  if (space == "const") return random_.pick({"[cbuf]", "[cbuf+4]", "[%rd1]"});
  if (space == "local") return random_.pick({"[lbuf]", "[lbuf+8]", "[%rd1]"});
  if (space.starts_with("param")) return random_.pick({"[kp0]", "[kparr+8]", "[pbuf]"});
  return random_.pick({"[%rd1]", "[%rd1+16]", "[gbuf]", "[gbuf+8]", "[%rd2+-4]"});
}

std::string Lines::any_qualifier() {
  const std::vector<CompiledRow>& rows = lanewise::ptx::table();
  for (;;) {
    const CompiledRow& row = rows[random_.below(static_cast<uint32_t>(rows.size()))];
    if (row.slots.empty()) continue;
    const std::string value(random_.pick(random_.pick(row.slots).values));
    if (value != "*") return value;
  }
}

std::string Lines::any_operand() {
  if (operands_.empty() || random_.chance(2))
    return kAnyRegister[random_.below(std::size(kAnyRegister))];
  return random_.pick(operands_);
}

void Lines::spoil(Line& line) {
  std::vector<std::string>& list = random_.chance(2) ? line.qualifiers : line.operands;
  const bool qualifiers = &list == &line.qualifiers;
  const auto at = static_cast<std::ptrdiff_t>(
      list.empty() ? 0 : random_.below(static_cast<uint32_t>(list.size())));
  const auto another = [&] { return qualifiers ? any_qualifier() : any_operand(); };
  switch (random_.below(list.empty() ? 1 : 5)) {
    case 0:
      list.insert(list.begin() + at, another());
      break;
    case 1:
      list.erase(list.begin() + at);
      break;
    case 2:
      list.insert(list.begin() + at, list[static_cast<size_t>(at)]);
      break;
    case 3:
      std::swap(list.front(), list[static_cast<size_t>(at)]);
      break;
    default:
      list[static_cast<size_t>(at)] = another();
  }
}

}  // namespace ptx_verdicts
