#include "runtime/cli/commands/explain_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "runtime/explain/formula.hpp"

namespace lanewise::cli {
namespace {

using explain::Access;
using explain::Change;
using explain::InstructionReport;
using explain::LaneReport;

std::string shown(const Change& c, uint64_t value) {
  return c.bits == 1 ? std::string(value != 0 ? "true" : "false")
                     : explain::hex(value, c.bits == 64);
}

std::string change_text(const Change& c) {
  std::string out = fmt::format("{}: {} -> {}", c.name, shown(c, c.before), shown(c, c.after));
  if (c.bits != 1) out += fmt::format(" ({})", c.after);
  return out;
}

std::string head(const Access& a) {
  if (a.bytes == 0) return fmt::format("{} of {} memory", a.what, a.space);
  const char* word = a.what == "store" ? "to" : a.what == "load" ? "from" : "on";
  return fmt::format("{} of {} bytes {} {} memory", a.what, a.bytes, word, a.space);
}

void print_full(const LaneReport& l) {
  fmt::print("  lane {} of wave {}{}\n", l.lane, l.wave,
             !l.came_by  ? ": does not come here"
             : l.skipped ? ": switched off by its predicate or by EXEC"
                         : "");
  std::set<std::string> reported;  // the parts of a wide access share their descriptor and index
  for (const Access& a : l.accesses) {
    fmt::print("    {}\n", head(a));
    for (const std::string& line : a.formula)
      if (reported.insert(line).second) fmt::print("      {}\n", line);
    fmt::print("      {}\n", a.verdict);
    if (!a.data.empty()) fmt::print("      bytes {}: {}\n", a.data, a.conversion);
  }
  for (const std::string& line : l.work) fmt::print("    {}\n", line);
  for (const Change& c : l.registers) fmt::print("    {}\n", change_text(c));
}

void print_short(const LaneReport& l) {
  std::string out;
  const auto add = [&](const std::string& text) { out += (out.empty() ? "" : "; ") + text; };
  if (!l.came_by) add("does not come here");
  if (l.skipped) add("off");
  for (const Access& a : l.accesses)
    add(fmt::format("{} at 0x{:x}, {}", a.what, a.address, a.verdict));
  for (const Change& c : l.registers) add(fmt::format("{} = {}", c.name, shown(c, c.after)));
  fmt::print("  lane {} of wave {}: {}\n", l.lane, l.wave, out);
}

}  // namespace

void print_explanation(const std::string& file, const InstructionReport& r, bool full) {
  fmt::print("{}: {}\n", r.line == 0 ? file : fmt::format("{}:{}", file, r.line), r.text);
  if (!r.cache.empty()) fmt::print("  cache: {}\n", r.cache);
  if (!r.followed)
    fmt::print("  changes no register and no memory; who comes by is not recorded\n");
  if (r.times > 1)
    fmt::print("  carried out {} times by one lane; --visit N shows another\n", r.times);
  const auto first =
      std::ranges::find_if(r.lanes, [](const LaneReport& l) { return l.came_by && !l.skipped; });
  for (const LaneReport& l : r.lanes) {
    if (full || r.lanes.size() == 1 || (first != r.lanes.end() && &l == &*first))
      print_full(l);
    else
      print_short(l);
  }
}

nlohmann::json to_json(const InstructionReport& r) {
  nlohmann::json lanes = nlohmann::json::array();
  for (const LaneReport& l : r.lanes) {
    nlohmann::json accesses = nlohmann::json::array(), registers = nlohmann::json::array();
    for (const Access& a : l.accesses) {
      accesses.push_back(
          {{"kind", a.what},
           {"space", a.space},
           {"formula", a.formula},
           {"address", a.address},
           {"size", a.bytes},
           {"done", a.done},
           {"fault", a.fault == FaultKind::none ? nlohmann::json() : nlohmann::json(name(a.fault))},
           {"verdict", a.verdict},
           {"bytes", a.data}});
    }
    for (const Change& c : l.registers)
      registers.push_back(
          {{"name", c.name}, {"bits", c.bits}, {"before", c.before}, {"after", c.after}});
    lanes.push_back({{"thread", l.thread},
                     {"wave", l.wave},
                     {"lane", l.lane},
                     {"executed", l.came_by},
                     {"active", l.came_by && !l.skipped},
                     {"accesses", accesses},
                     {"work", l.work},
                     {"registers", registers}});
  }
  return {{"kernel", r.kernel}, {"pc", r.pc},       {"line", r.line}, {"text", r.text},
          {"cache", r.cache},   {"times", r.times}, {"lanes", lanes}};
}

}  // namespace lanewise::cli
