#include "runtime/trace/relay.hpp"

#include <algorithm>
#include <system_error>

namespace lanewise::trace {

void Relay::Chunk::clear() {
  runs.clear();
  waves.clear();
  used = 0;
  kernels.clear();
  sites.clear();
  buffers.clear();
}

void Relay::Chunk::hand_to(Sink& sink) const {
  size_t wave = 0, event = 0, kernel = 0, site = 0, buffer = 0;
  for (const Run& r : runs) switch (r.kind) {
      case Kind::waves:
        sink.waves(std::span(waves).subspan(wave, r.count));
        wave += r.count;
        break;
      case Kind::event:
        sink.event(events[event++]);
        break;
      case Kind::kernel:
        sink.kernel(kernels[kernel++]);
        break;
      case Kind::site:
        sink.site(sites[site++]);
        break;
      case Kind::buffer:
        sink.buffer(buffers[buffer++]);
        break;
      case Kind::finish:
        sink.finish();
        break;
    }
}

Relay::Relay(std::span<Sink* const> sinks) {
  for (Sink* sink : sinks) {
    Taker& taker = *takers_.emplace_back(std::make_unique<Taker>());
    taker.sink = sink;
    try {
      taker.thread = std::thread([this, &taker] { take_all(taker); });
    } catch (const std::system_error&) {
      // No thread to be had: hand_over() does the work.
    }
  }
}

Relay::~Relay() {
  close();
}

void Relay::take_all(Taker& taker) {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      more_.wait(lock, [&] { return handed_ != taker.taken || closed_; });
      if (handed_ == taker.taken) return;
    }
    // Nobody changes a chunk before everyone has taken it.
    std::exception_ptr error;
    if (!taker.error) try {
        chunks_[taker.taken % kChunks].hand_to(*taker.sink);
      } catch (...) {
        error = std::current_exception();
      }
    const std::lock_guard lock(mutex_);
    ++taker.taken;
    if (error) {
      taker.error = error;
      failed_ = true;
    }
    space_free_.notify_one();
  }
}

void Relay::hand_over() {
  for (const auto& t : takers_)
    if (!t->thread.joinable()) {
      if (!t->error) try {
          chunk().hand_to(*t->sink);
        } catch (...) {
          t->error = std::current_exception();
        }
      const std::lock_guard lock(mutex_);
      ++t->taken;
      if (t->error) failed_ = true;
    }
  std::unique_lock lock(mutex_);
  ++handed_;
  more_.notify_all();
  space_free_.wait(lock, [&] {
    return std::all_of(takers_.begin(), takers_.end(),
                       [&](const auto& t) { return handed_ - t->taken < kChunks; });
  });
  lock.unlock();
  chunk().clear();
  if (failed_) drain();
}

void Relay::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    more_.notify_all();
  }
  for (const auto& t : takers_)
    if (t->thread.joinable()) t->thread.join();
}

void Relay::drain() {
  if (!closed_ && !chunk().runs.empty() && !failed_) hand_over();
  close();
  for (const auto& t : takers_)
    if (t->error) std::rethrow_exception(t->error);
}

void Relay::add(Kind kind) {
  Chunk& p = chunk();
  p.runs.push_back({kind, 1});
  if (p.runs.size() >= kMostWaves || p.used >= kMostEvents) hand_over();
}

void Relay::kernel(const Kernel& k) {
  chunk().kernels.push_back(k);
  add(Kind::kernel);
}
void Relay::site(const Site& s) {
  chunk().sites.push_back(s);
  add(Kind::site);
}
void Relay::buffer(const Buffer& b) {
  chunk().buffers.push_back(b);
  add(Kind::buffer);
}
void Relay::event(const Event& e) {
  Chunk& p = chunk();
  if (p.used == p.events.size()) p.events.emplace_back();
  p.events[p.used++] = e;
  add(Kind::event);
}
void Relay::waves(std::span<const StridedWave> waves) {
  Chunk& p = chunk();
  p.waves.insert(p.waves.end(), waves.begin(), waves.end());
  if (!p.runs.empty() && p.runs.back().kind == Kind::waves)
    p.runs.back().count += static_cast<uint32_t>(waves.size());
  else
    p.runs.push_back({Kind::waves, static_cast<uint32_t>(waves.size())});
  if (p.waves.size() >= kMostWaves) hand_over();
}
void Relay::finish() {
  chunk().runs.push_back({Kind::finish, 1});
  drain();
}

}  // namespace lanewise::trace
