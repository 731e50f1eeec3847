// Memory events of traced launches: each lane writes the words that a shader would write.
#include "runtime/events/collector.hpp"
#include "runtime/guest/event_words.hpp"
#include "runtime/guest/extent.hpp"
#include "runtime/reference/waves/group.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::reference {

uint64_t Group::event_address(Lane lane, const Code& code) {
  if ((code.form & guest::kFormNoAddress) != 0) return 0;
  return (lane.get(code.src[0]) + code.offset) & code.address_bits;
}

void Group::note_event(Lane lane, const Code& code) {
  const events::Collector& collector = *request_.events;
  const uint64_t address = event_address(lane, code);
  uint32_t words[3];
  const unsigned n =
      guest::encode_event(code.form | collector.plan().code_bits, code.event, address,
                          guest::extent(request_, memory_.arena.size()), words);
  std::vector<uint32_t>& out = event_words_[lane.linear()];
  out.insert(out.end(), words, words + n);
  event_count_ += n;
  if (event_count_ * sizeof(uint32_t) > collector.buffer_bytes())
    throw events::buffer_too_small(*request_.program, collector.buffer_bytes());
}

void Group::flush_events() {
  if (request_.events == nullptr || exact_) return;
  std::vector<events::LaneWords> lanes;
  for (const std::vector<uint32_t>& words : event_words_)
    lanes.push_back({words.data(), 1, static_cast<uint32_t>(words.size())});
  request_.events->group(number(), lanes);
}

}  // namespace lanewise::reference
