#include "runtime/host/core/stream.hpp"

#include <chrono>

namespace lanewise::core {

Stream::Stream() {
  static std::atomic<uint64_t> last = 0;
  id = ++last;
}

void Mark::reach() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const std::lock_guard lock(mutex);
  nanoseconds =
      static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
  done = true;
}

bool Mark::is_done() {
  const std::lock_guard lock(mutex);
  return done;
}

void Event::record(const Stream& stream) {
  auto made = std::make_shared<Mark>();
  if (StreamOrder* order = Context::current().order()) made->reached = order->record(stream);
  {
    const std::lock_guard lock(mutex);
    last = made;
  }
  // With nothing before it a GPU is there within microseconds; the queue's thread might not be.
  if (Context::current().has_nothing_to_do())
    made->reach();
  else
    submit(Work{[made] { made->reach(); }});
}

std::shared_ptr<Mark> Event::mark() {
  const std::lock_guard lock(mutex);
  return last;
}

float Event::milliseconds_since(Event& earlier) {
  require(timed && earlier.timed && device == earlier.device, Code::invalid_handle);
  const auto begin = earlier.mark(), end = mark();
  require(begin != nullptr && end != nullptr, Code::invalid_handle);
  require(begin->is_done() && end->is_done(), Code::not_ready);
  const auto nanoseconds = static_cast<int64_t>(end->nanoseconds - begin->nanoseconds);
  return static_cast<float>(static_cast<double>(nanoseconds) / 1e6);
}

}  // namespace lanewise::core
