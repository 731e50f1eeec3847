// Lanes that look at an mbarrier again and again, for a phase that nobody ends: where a launch has
// used up its steps and no lane of the group can go on, that is a deadlock, with who waits for
// what.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>

#include "runtime/ir/mbarrier.hpp"
#include "runtime/reference/waves/group.hpp"

namespace lanewise::reference {
namespace {

/// A loop that does nothing but to ask whether a phase has ended.
struct Poll {
  uint32_t load = 0;             ///< position of the code that loads the state
  std::vector<uint32_t> blocks;  ///< of the loop
};

bool acts(const Code& code) {
  return code.action == Action::store || code.action == Action::atom ||
         code.action == Action::barrier || code.action == Action::wave;
}

class Blocks {
 public:
  explicit Blocks(const DecodedProgram& program) : codes_(program.codes), starts_(program.blocks) {}

  uint32_t of(uint32_t position) const {
    return static_cast<uint32_t>(std::ranges::upper_bound(starts_, position) - starts_.begin()) - 1;
  }
  std::span<const Code> codes(uint32_t block) const {
    const size_t end = block + 1 < starts_.size() ? starts_[block + 1] : codes_.size();
    return codes_.subspan(starts_[block], end - starts_[block]);
  }
  /// The shortest path from a block back to itself; empty where there is none.
  std::vector<uint32_t> cycle(uint32_t from) const {
    std::vector<uint32_t> before(starts_.size(), ir::kNone), open{from};
    for (size_t n = 0; n < open.size(); ++n) {
      const Code& end = codes(open[n]).back();
      const uint32_t targets = end.action == Action::jump     ? 1
                               : end.action == Action::branch ? 2
                                                              : 0;
      for (uint32_t t = 0; t < targets; ++t) {
        const uint32_t next = of(end.targets[t]);
        if (before[next] != ir::kNone) continue;
        before[next] = open[n];
        if (next == from) return path(before, from);
        open.push_back(next);
      }
    }
    return {};
  }

 private:
  static std::vector<uint32_t> path(const std::vector<uint32_t>& before, uint32_t from) {
    std::vector<uint32_t> all{from};
    for (uint32_t at = before[from]; at != from; at = before[at]) all.push_back(at);
    return all;
  }
  std::span<const Code> codes_;
  std::span<const uint32_t> starts_;
};

std::vector<Poll> polls_of(std::span<const Code> codes, const Blocks& blocks) {
  std::vector<Poll> all;
  for (uint32_t at = 0; at < codes.size(); ++at) {
    if (codes[at].phase != PhaseCode::load) continue;
    Poll poll{at, blocks.cycle(blocks.of(at))};
    const bool pure = std::ranges::none_of(poll.blocks, [&](uint32_t block) {
      return std::ranges::any_of(blocks.codes(block), [&](const Code& code) {
        return acts(code) && code.site != codes[at].site;
      });
    });
    if (pure && !poll.blocks.empty()) all.push_back(std::move(poll));
  }
  return all;
}

struct Phase {
  uint64_t address = 0, state = 0, asked = 0;
  bool shared = false;
};

std::string text_of(const Phase& phase) {
  namespace fields = ir::mbarrier;
  const uint64_t pending = phase.state & fields::kCount;
  const uint64_t expected = phase.state >> fields::kExpectedAt & fields::kCount;
  const uint64_t bytes = phase.state >> fields::kBytesAt & fields::kBytes;
  std::string out = fmt::format(
      "deadlock: the phase of parity {} of the mbarrier at {:#x}{} never ends: ",
      phase.asked >> fields::kParityAt, phase.address, phase.shared ? " in shared memory" : "");
  if (phase.state == 0) return out + "it was not made, or was made invalid";
  out += fmt::format("{} of {} arrivals are missing", pending, expected);
  if (bytes != 0) out += fmt::format(", and {} bytes of copies", bytes);
  return out;
}

}  // namespace

/// `here`: where the active lanes of the wave are. Null: some lane may still go on.
std::shared_ptr<const Sync> Group::stuck_at_mbarrier(const Wave& running, uint32_t here) {
  const std::span<const Code> codes = program_.codes;
  const Blocks blocks(program_);
  const std::vector<Poll> polls = polls_of(codes, blocks);
  if (polls.empty()) return nullptr;
  const auto position_of = [&](const Wave& wave, uint32_t i) {
    if (&wave != &running) return wave.position[i];
    if ((wave.mask >> i & 1) != 0) return here;
    for (uint32_t n = 0; n < apart_count_; ++n)
      if ((apart_[n].lanes >> i & 1) != 0) return apart_[n].position;
    return wave.position[i];
  };
  const auto is_in = [&](const Poll& poll, uint32_t position) {
    return std::ranges::find(poll.blocks, blocks.of(position)) != poll.blocks.end();
  };
  const auto phase_at = [&](Lane lane, uint32_t position) -> std::optional<Phase> {
    for (const Poll& poll : polls) {
      if (!is_in(poll, position)) continue;
      const Access access = access_of(lane, codes[poll.load]);
      const std::byte* data = locate(memory_, lane.linear(), access).data;
      if (data == nullptr) return {};
      Phase phase{access.address, read_little_endian(data, sizeof(uint64_t)),
                  lane.get(codes[poll.load + 1].src[1])};
      phase.shared = holds(shared_, data);
      if (phase.shared) phase.address = static_cast<uint64_t>(data - shared_.data());
      const bool passed = (phase.state ^ phase.asked) >> ir::mbarrier::kParityAt != 0;
      return passed || !phase.shared ? std::nullopt : std::optional(phase);
    }
    return {};
  };
  auto sync = std::make_shared<Sync>();
  std::map<uint32_t, std::vector<uint32_t>> places;  // by site; those that ended last
  for (Wave& wave : waves_)
    for (uint64_t left = wave.present; left != 0; left &= left - 1) {
      const auto i = static_cast<uint32_t>(std::countr_zero(left));
      const Lane lane{wave, i};
      const uint32_t position = position_of(wave, i);
      uint32_t site = ir::kNone;
      if (((wave.at_barrier | wave.at_wave) >> i & 1) != 0) {
        site = codes[wave.position[i]].site;
      } else if ((wave.live >> i & 1) != 0) {
        const std::optional<Phase> phase = phase_at(lane, position);
        if (!phase) return nullptr;
        if (sync->what.empty()) sync->what = text_of(*phase);
        for (const Poll& poll : polls)
          if (is_in(poll, position)) site = codes[poll.load].site;
      }
      places[site].push_back(lane.linear());
    }
  if (sync->what.empty()) return nullptr;
  for (const auto& [site, lanes] : places) sync->places.push_back({names_of(lanes), site});
  return sync;
}

}  // namespace lanewise::reference
