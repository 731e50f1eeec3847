#include "runtime/host/core/stream.hpp"

#include <chrono>

namespace lanewise::core {

Stream::Stream() {
  static std::atomic<uint64_t> last = 0;
  id = ++last;
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
  submit(Work{[made] {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    const std::lock_guard lock(made->mutex);
    made->nanoseconds =
        static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
    made->done = true;
  }});
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
