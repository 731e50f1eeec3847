// Items of a block: definitions and events, to bytes and back.
#pragma once

#include "runtime/trace/bytes.hpp"
#include "runtime/trace/event.hpp"

namespace lanewise::trace {

enum class Item : uint8_t {
  kernel = 1,
  site,
  buffer,
  wave,
  kernel_begin,
  kernel_end,
  host_write,
  host_read,
  policy_window,
  end_of_window,
  end
};

void put_kernel(Put& out, const Kernel& k);
void put_site(Put& out, const Site& s);
void put_buffer(Put& out, const Buffer& b);
/// `previous` is the base address of the wave record before, in the same block.
void put_event(Put& out, const Event& e, uint64_t& previous);

Kernel take_kernel(Take& in);
Site take_site(Take& in);
Buffer take_buffer(Take& in);
void take_wave(Take& in, WaveRecord& r, uint64_t& previous);
void take_plain_event(Take& in, Item item, Event& e);

}  // namespace lanewise::trace
