// Several traces, one behind the other, as one: each numbers its kernels and sites from 0.
#pragma once

#include "runtime/trace/event.hpp"

namespace lanewise::trace {

class Joined final : public Sink {
 public:
  explicit Joined(Sink& to) : to_(to) {}
  /// What comes now is another trace.
  void next() {
    first_kernel_ = kernels_;
    first_site_ = sites_;
  }
  void kernel(const Kernel& k) override {
    ++kernels_;
    to_.kernel(k);
  }
  void site(const Site& s) override {
    ++sites_;
    Site moved = s;
    moved.kernel += first_kernel_;
    to_.site(moved);
  }
  void buffer(const Buffer& b) override { to_.buffer(b); }
  void event(const Event& e) override {
    event_ = e;
    event_.kernel += first_kernel_;
    event_.wave.site += first_site_;
    to_.event(event_);
  }
  /// Of one of them; who joins them says when all has come.
  void finish() override {}

 private:
  Sink& to_;
  Event event_;
  uint32_t kernels_ = 0, sites_ = 0, first_kernel_ = 0, first_site_ = 0;
};

}  // namespace lanewise::trace
