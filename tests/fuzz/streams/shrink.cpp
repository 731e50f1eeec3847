#include "tests/fuzz/streams/shrink.hpp"

#include <algorithm>

#include "runtime/script/script.hpp"
#include "tests/fuzz/streams/script_text.hpp"

namespace lanewise::fuzz {
namespace {

class Shrinker {
 public:
  Shrinker(Engine& engine, std::string note) : engine_(engine), note_(std::move(note)) {}

  bool fails(const Repro& r) {
    const script::Script parsed = script::parse(repro_script(r, note_));
    if (!parsed.ok() || parsed.cases.size() != 1) return false;
    ++runs_;
    const script::CaseResult result = script::run(parsed.cases[0], engine_);
    return result.diagnostics.empty() && result.unsupported.empty() && !result.failures.empty();
  }

  /// The lane that was found, alone; else its whole wave; nothing when both do what they should.
  std::optional<Repro> reproduced(const Repro& wave) {
    for (const Repro& r : {near_the_start(one_lane(wave)), near_the_start(wave)})
      if (fails(r)) return r;
    return std::nullopt;
  }

  Repro shrunk(Repro r) {
    // Only GCN's lanes know their number.
    if (r.setting.wave == 32) {
      Repro c = r;
      c.wave.resize(1);
      c.wave[0].number = 0;
      keep(r, c);
    }
    bool better = true;
    while (better && runs_ < kMaxRuns)
      better = simpler_instruction(r) | simpler_values(r) | fewer_bytes(r) | fewer_lanes(r);
    return r;
  }

 private:
  static constexpr unsigned kMaxRuns = 400;

  bool keep(Repro& r, Repro candidate) {
    if (runs_ >= kMaxRuns || !valid(candidate) || !fails(candidate)) return false;
    r = std::move(candidate);
    return true;
  }

  /// Writing lanes must not meet, and everything lies where a script has its buffer.
  static bool valid(Repro& r) {
    std::map<uint64_t, unsigned> owners;
    std::map<uint64_t, uint8_t> bytes;
    for (const Lane& lane : r.wave) {
      const Effect e = effect(*r.code, lane, [](uint64_t) { return uint8_t{0}; });
      for (const Touch& t : e.memory.touches)
        for (unsigned b = 0; b < t.bytes; ++b) {
          if (t.address + b >= kStores.first + kStores.size) return false;
          const auto [it, fresh] = owners.emplace(t.address + b, lane.number);
          if (r.code->writes() && !fresh && it->second != lane.number) return false;
          const auto known = r.bytes.find(t.address + b);
          bytes[t.address + b] = known == r.bytes.end() ? uint8_t{0xa5} : known->second;
        }
    }
    r.bytes = std::move(bytes);
    return true;
  }

  /// All lanes get the values of the first one, and only it does anything.
  static Repro one_lane(Repro r) {
    for (size_t n = 1; n < r.wave.size(); ++n) r.wave[n].in = r.wave[0].in;
    // Waves of 64 know no inactive lanes, but masks.
    const bool masks = r.setting.wave == 64;
    for (size_t n = 1; n < r.wave.size(); ++n) {
      if (masks)
        r.code->disable(r.wave, n);
      else
        r.wave[n].active = false;
    }
    valid(r);
    return r;
  }

  static Repro near_the_start(Repro r) {
    if (r.bytes.empty()) return r;
    const uint64_t first = r.bytes.begin()->first;
    const auto delta = (first - guest::kArenaBase) / 256 * 256;
    for (Lane& lane : r.wave) r.code->move(lane, -static_cast<int64_t>(delta));
    std::map<uint64_t, uint8_t> moved;
    for (const auto& [address, byte] : r.bytes) moved[address - delta] = byte;
    r.bytes = std::move(moved);
    return r;
  }

  bool simpler_instruction(Repro& r) {
    bool better = false;
    for (bool again = true; again;) {
      again = false;
      for (const InstructionPtr& code : r.code->simpler()) {
        Repro c = r;
        c.code = code;
        if (code->in(0).size() != r.code->in(0).size()) continue;
        if (!keep(r, c)) continue;
        better = again = true;
        break;
      }
    }
    return better;
  }

  /// Sets a value of every lane that has it to less of it.
  bool simpler_values(Repro& r) {
    bool better = false;
    for (size_t n = 0; n < r.wave[0].in.size(); ++n) {
      const uint64_t old = r.wave[0].in[n];
      for (const uint64_t less : {uint64_t{0}, uint64_t{1}, old & 0xffff, old & 0xff,
                                  old & ~uint64_t{0xffff}, old & (old - 1)}) {
        if (less >= old) continue;
        Repro c = r;
        for (Lane& lane : c.wave)
          if (lane.in[n] == old) lane.in[n] = less;
        if (!keep(r, c)) continue;
        better = true;
        break;
      }
    }
    return better;
  }

  bool fewer_bytes(Repro& r) {
    Repro c = r;
    for (auto& [address, byte] : c.bytes) byte = 0;
    if (c.bytes != r.bytes && keep(r, c)) return true;
    bool better = false;
    const auto bytes = r.bytes;
    for (const auto& [address, byte] : bytes) {
      if (byte == 0 || r.wave.size() > 64 || bytes.size() > 64) continue;
      c = r;
      c.bytes[address] = 0;
      better |= keep(r, c);
    }
    return better;
  }

  /// The other lanes of the wave go, from the last on.
  bool fewer_lanes(Repro& r) {
    bool better = false;
    const auto last = [&] { return std::ranges::max_element(r.wave, {}, &Lane::number); };
    while (r.wave.size() > 1 && last() != r.wave.begin()) {
      Repro c = r;
      c.wave.erase(c.wave.begin() + (last() - r.wave.begin()));
      if (!keep(r, c)) break;
      better = true;
    }
    return better;
  }

  Engine& engine_;
  std::string note_;
  unsigned runs_ = 0;
};

}  // namespace

Shrunk shrink(const std::vector<Repro>& suspects, Engine& engine, const std::string& note) {
  for (const Repro& r : suspects) {
    Shrinker shrinker(engine, note);
    const auto found = shrinker.reproduced(r);
    if (found) return {repro_script(shrinker.shrunk(*found), note), true};
  }
  return {suspects.empty() ? std::string() : repro_script(suspects[0], note), false};
}

}  // namespace lanewise::fuzz
