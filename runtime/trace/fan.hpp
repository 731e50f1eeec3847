// One trace to several sinks.
#pragma once

#include <vector>

#include "runtime/trace/event.hpp"

namespace lanewise::trace {

class Fan final : public Sink {
 public:
  void add(Sink* sink) { sinks_.push_back(sink); }
  bool empty() const { return sinks_.empty(); }
  std::span<Sink* const> sinks() const { return sinks_; }
  void kernel(const Kernel& k) override {
    for (Sink* s : sinks_) s->kernel(k);
  }
  void site(const Site& x) override {
    for (Sink* s : sinks_) s->site(x);
  }
  void buffer(const Buffer& b) override {
    for (Sink* s : sinks_) s->buffer(b);
  }
  void event(const Event& e) override {
    for (Sink* s : sinks_) s->event(e);
  }
  void waves(std::span<const StridedWave> waves) override {
    for (Sink* s : sinks_) s->waves(waves);
  }
  void finish() override {
    for (Sink* s : sinks_) s->finish();
  }

 private:
  std::vector<Sink*> sinks_;
};

}  // namespace lanewise::trace
