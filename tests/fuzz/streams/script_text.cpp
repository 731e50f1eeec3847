#include "tests/fuzz/streams/script_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lanewise::fuzz {
namespace {

std::string head(const Setting& s) {
  std::string t = fmt::format("isa {}\ntarget {}\n", s.isa, s.target);
  if (s.isa == "ptx") t += "ptx_version 8.8\n";  // vectors of eight
  for (const auto& [name, value] : s.policies) t += fmt::format("policy {} {}\n", name, value);
  return t;
}
std::string declaration(const Value& v) {
  return fmt::format("  reg {}{}", v.type.empty() ? "" : fmt::format(".{} ", v.type), v.name);
}
std::string number(uint64_t v) {
  return v < 10 ? fmt::format("{}", v) : fmt::format("{:#x}", v);
}

/// A value for every lane, one number where all agree. `as` is a function that makes a number of
/// its bits.
std::string per_lane(const std::vector<uint64_t>& values, const std::string& as = {}) {
  const auto one = [&](uint64_t v) {
    return as.empty() ? number(v) : fmt::format("{}({})", as, number(v));
  };
  if (std::ranges::all_of(values, [&](uint64_t v) { return v == values[0]; }))
    return one(values[0]);
  std::string t;
  for (const uint64_t v : values) t += (t.empty() ? "[" : ", ") + one(v);
  return t + "]";
}
bool is_float(const Value& v) {
  return v.type.starts_with('f');
}

/// Element `i` of a byte buffer with these contents, zero elsewhere.
std::string contents(const std::map<uint64_t, uint8_t>& bytes) {
  std::string t, end = "0";
  auto it = bytes.begin();
  while (it != bytes.end()) {
    const uint64_t first = it->first - guest::kArenaBase;
    std::string list;
    uint64_t next = it->first;
    for (; it != bytes.end() && it->first == next; ++it, ++next)
      list += (list.empty() ? "" : ", ") + number(it->second);
    const uint64_t last = next - 1 - guest::kArenaBase;
    if (list.find_first_not_of("0, ") == std::string::npos) continue;
    t += first == last ? fmt::format("i == {} ? {} : ", first, list)
                       : fmt::format("i >= {0} && i <= {1} ? [{2}][i - {0}] : ", first, last, list);
  }
  return t + end;
}

std::string lane_list(const std::vector<unsigned>& lanes) {
  std::string t;
  for (const unsigned n : lanes) t += fmt::format("{}{}", t.empty() ? "" : ", ", n);
  return t;
}

struct Expected {
  std::vector<Effect> effects;        ///< by lane number
  std::map<uint64_t, uint8_t> bytes;  ///< afterwards
  uint64_t buffer = 256;
};
Expected expected(const Repro& r, const std::vector<Lane>& wave) {
  Expected e;
  e.bytes = r.bytes;
  const Memory::Image image = [&](uint64_t a) {
    const auto it = r.bytes.find(a);
    return it == r.bytes.end() ? uint8_t{0} : it->second;
  };
  for (const Lane& lane : wave) {
    e.effects.push_back(effect(*r.code, lane, image));
    for (const auto& [address, byte] : e.effects.back().memory.written) e.bytes[address] = byte;
    for (const Touch& t : e.effects.back().memory.touches)
      e.buffer = std::max(e.buffer, t.address + t.bytes - guest::kArenaBase);
  }
  e.buffer = (e.buffer + 255) / 256 * 256;
  return e;
}

std::string fault_text(const Expected& e) {
  std::map<std::pair<FaultKind, uint64_t>, std::vector<unsigned>> groups;
  for (unsigned n = 0; n < e.effects.size(); ++n) {
    const Memory& m = e.effects[n].memory;
    if (m.kind != FaultKind::none) groups[{m.kind, m.fault_address}].push_back(n);
  }
  std::string t;
  for (const auto& [what, lanes] : groups)
    t += fmt::format("  expect fault {} lanes {} address {:#x}\n", name(what.first),
                     lane_list(lanes), what.second);
  return t;
}

std::string expectations(const Repro& r, const std::vector<Lane>& wave, const Expected& e) {
  const std::vector<Value> values = r.code->in(0);
  const size_t first = values.size() - r.code->outputs();
  std::string t;
  for (size_t n = first; n < values.size(); ++n) {
    std::vector<uint64_t> want;
    for (const Effect& one : e.effects) want.push_back(one.out[n - first]);
    const bool all = std::ranges::all_of(wave, &Lane::active);
    t += fmt::format("  expect {}{}{} == {}\n", values[n].name,
                     is_float(values[n]) ? fmt::format(" as u{}", values[n].bits) : "",
                     all ? "" : " lanes all", per_lane(want));
  }
  t += "  expect mem " +
       (e.bytes == r.bytes ? std::string("unchanged") : "== " + contents(e.bytes)) + "\n";
  return t + fault_text(e);
}

}  // namespace

std::string batch_script(const Setting& setting, const std::vector<InstructionPtr>& code,
                         unsigned block, bool partial) {
  std::string t = head(setting) + "case \"batch\" {\n" + fmt::format("  block {}\n", block);
  if (partial) t += "  active mask 1\n";
  for (unsigned n = 0; n < code.size(); ++n)
    for (const Value& v : code[n]->in(n)) t += declaration(v) + "\n";
  t += "  code \"\"\"\n";
  for (unsigned n = 0; n < code.size(); ++n) t += code[n]->text(n);
  return t + "\"\"\"\n}\n";
}

std::string repro_script(const Repro& r, const std::string& note) {
  std::vector<Lane> wave = r.wave;
  std::ranges::sort(wave, {}, &Lane::number);
  const Expected e = expected(r, wave);
  std::string t = "# " + note + "\n" + head(r.setting) + "case \"found by the fuzzer\" {\n";
  if (r.mode.check != Memcheck::alloc)  // a script's own
    t += fmt::format("  memcheck {}\n", r.mode.check == Memcheck::arena ? "arena" : "off");
  if (r.mode.wave != WaveMode::automatic) t += fmt::format("  mode {}\n", name(r.mode.wave));
  t += fmt::format("  block {}\n  buffer mem u8[{}] = {}\n", wave.size(), e.buffer,
                   contents(r.bytes));
  std::vector<unsigned> active;
  for (const Lane& lane : wave)
    if (lane.active) active.push_back(lane.number);
  if (active.size() != wave.size()) t += fmt::format("  active lanes {}\n", lane_list(active));
  const std::vector<Value> values = r.code->in(0);
  for (size_t n = 0; n < values.size(); ++n) {
    std::vector<uint64_t> list;
    list.reserve(wave.size());
    for (const Lane& lane : wave) list.push_back(lane.in[n]);
    const std::string as = is_float(values[n]) ? "as_" + values[n].type : std::string();
    t += fmt::format("{} = {}\n", declaration(values[n]), per_lane(list, as));
  }
  t += "  code \"\"\"\n" + r.code->text(0) + "\"\"\"\n";
  return t + expectations(r, wave, e) + "}\n";
}

}  // namespace lanewise::fuzz
