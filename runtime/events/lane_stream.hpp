// The words that a lane has written (guest/event_words.hpp), taken apart one event at a time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/events/plan.hpp"

namespace lanewise::events {

/// At, at + step, ... up to a word of 0 or `count` words.
struct LaneWords {
  const uint32_t* at = nullptr;
  uint32_t step = 1;
  uint32_t count = 0;
};

struct LaneEvent {
  uint32_t point = 0;  ///< 0 = the stream has ended
  uint32_t words = 1;
  uint64_t address = 0;
};

inline LaneEvent next_event(const Plan& plan, const LaneWords& lane) {
  LaneEvent e;
  if (lane.count == 0) return e;
  const uint32_t word = *lane.at;
  const uint32_t code = word & plan.escape();
  if (code == plan.escape()) {
    if (lane.count < 3) return e;
    e.point = word >> plan.code_bits;
    e.words = 3;
    e.address = lane.at[lane.step] | uint64_t{lane.at[2 * size_t{lane.step}]} << 32;
    return e;
  }
  e.point = code;
  if (code == 0) return e;
  const Point& p = plan.point(code);
  e.address = (uint64_t{word >> plan.code_bits} << p.drop) + p.base;
  return e;
}

inline void advance(LaneWords& lane, uint32_t words) {
  lane.at += size_t{lane.step} * words;
  lane.count -= std::min(lane.count, words);
}

}  // namespace lanewise::events
