#include "runtime/guest/schedule.hpp"

#include <charconv>

namespace lanewise::guest {
namespace {

std::optional<Schedule> numbered(std::string_view text) {
  Schedule out;
  constexpr std::string_view kWeak = ",weak", kRandom = "random:", kSearch = "search:";
  if (text.ends_with(kWeak)) {
    out.weak = true;
    text.remove_suffix(kWeak.size());
  }
  if (!text.starts_with(kRandom) && !text.starts_with(kSearch)) return {};
  out.kind = text.starts_with(kRandom) ? Schedule::Kind::random : Schedule::Kind::search;
  text.remove_prefix(kRandom.size());
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out.number);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  if (out.kind == Schedule::Kind::search && out.number == 0) return {};
  return out;
}

}  // namespace

std::optional<Schedule> schedule_named(std::string_view text) {
  using Kind = Schedule::Kind;
  if (text.empty() || text == "default") return Schedule{};
  if (text == "until_stop") return Schedule{Kind::until_stop, 0, false};
  if (text == "lockstep") return Schedule{Kind::lockstep, 0, false};
  return numbered(text);
}

std::string name_of_order(uint64_t seed, bool weak) {
  return "random:" + std::to_string(seed) + (weak ? ",weak" : "");
}

}  // namespace lanewise::guest
