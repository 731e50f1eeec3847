// In which order the lanes of a launch run: the policy `schedule`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lanewise::guest {

struct Schedule {
  enum class Kind : uint8_t {
    standard,    ///< as the environment variable LANEWISE_SCHEDULE says; else as fast as possible
    until_stop,  ///< lanes one after another, each until it stops
    lockstep,    ///< waves over the structured tree
    random,      ///< the order that belongs to the seed
    search,      ///< the orders of the seeds below a number, until results differ
  };
  Kind kind = Kind::standard;
  uint64_t number = 0;  ///< the seed, or how many orders
  bool weak = false;    ///< loads may return values that are older than the memory model's least

  bool changes_order() const { return kind == Kind::random || kind == Kind::search; }
};

inline constexpr std::string_view kScheduleValues =
    "default|until_stop|lockstep|random:SEED[,weak]|search:N[,weak]";

/// Nothing where the text names no schedule.
std::optional<Schedule> schedule_named(std::string_view text);
std::string name_of_order(uint64_t seed, bool weak);

}  // namespace lanewise::guest
