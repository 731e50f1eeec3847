#include <fmt/format.h>

#include <utility>

#include "runtime/support/hash.hpp"
#include "runtime/trace/format.hpp"
#include "runtime/trace/frame.hpp"
#include "runtime/trace/interchange/input.hpp"
#include "runtime/trace/items.hpp"

namespace lanewise::trace {
namespace {

/// Hands the items of whole blocks to the sink, checking every reference between them.
class RecordDecoder {
 public:
  explicit RecordDecoder(Sink& sink) : sink_(sink) {}

  void block(std::string_view payload) {
    Take in(payload);
    uint64_t previous = 0;
    try {
      while (!in.done()) item(in, previous);
    } catch (...) {
      deliver_waves();  // what is before the fault counts, and may have a fault of its own
      throw;
    }
    deliver_waves();
  }
  bool ended() const { return ended_; }
  uint64_t events() const { return events_; }

 private:
  void item(Take& in, uint64_t& previous) {
    if (ended_) Take::fail("holds an item after the end of the trace");
    const auto item = static_cast<Item>(in.byte());
    if (item == Item::wave) [[likely]]
      return wave(in, previous);
    deliver_waves();
    switch (item) {
      case Item::kernel:
        count(kernels_, "kernels");
        return sink_.kernel(take_kernel(in));
      case Item::site: {
        const Site s = take_site(in);
        check(s.kernel, kernels_, "kernel");
        count(sites_, "sites");
        return sink_.site(s);
      }
      case Item::buffer:
        return sink_.buffer(take_buffer(in));
      case Item::wave:
        return;
      case Item::kernel_begin:
      case Item::kernel_end:
        take_plain_event(in, item, event_);
        check(event_.kernel, kernels_, "kernel");
        return deliver();
      case Item::host_write:
      case Item::host_read:
      case Item::policy_window:
      case Item::end_of_window:
        take_plain_event(in, item, event_);
        return deliver();
      case Item::end:
        if (in.u() != events_) Take::fail("says another number of events than the trace holds");
        ended_ = true;
        return;
    }
    Take::fail(fmt::format("holds an item of unknown kind {}", static_cast<unsigned>(item)));
  }
  void wave(Take& in, uint64_t& previous) {
    WaveStart start;
    take_wave_start(in, start, previous);
    if (start.strided()) [[likely]] {
      check(start.wave.site, sites_, "site");
      waves_[waiting_++] = start.wave;
      if (waiting_ == kMostWaves) deliver_waves();
      return;
    }
    deliver_waves();
    event_.kind = EventKind::wave;
    take_wave(in, start, event_.wave);
    check(event_.wave.site, sites_, "site");
    deliver();
  }
  void deliver_waves() {
    const std::span waves(waves_.data(), std::exchange(waiting_, 0));
    if (waves.empty()) return;
    events_ += waves.size();
    sink_.waves(waves);
  }
  /// Whoever reads a trace keeps these, and a small file may unpack to any number of them.
  static void count(uint32_t& so_far, const char* what) {
    constexpr uint32_t kMost = uint32_t{1} << 22;
    if (++so_far > kMost) Take::fail(fmt::format("brings the {} to more than {}", what, kMost));
  }
  void deliver() {
    ++events_;
    sink_.event(event_);
  }
  static void check(uint32_t index, uint32_t count, const char* what) {
    if (index >= count) [[unlikely]]
      Take::fail(fmt::format("names {} {} of {} defined so far", what, index, count));
  }

  Sink& sink_;
  Event event_;
  static constexpr size_t kMostWaves = 512;
  std::array<StridedWave, kMostWaves> waves_;
  size_t waiting_ = 0;
  uint32_t kernels_ = 0, sites_ = 0;
  uint64_t events_ = 0;
  bool ended_ = false;
};

/// Whole, or how many bytes were there.
size_t read_up_to(std::istream& in, char* to, size_t size) {
  in.read(to, static_cast<std::streamsize>(size));
  return static_cast<size_t>(in.gcount());
}

void check_header(std::istream& in, const std::string& path) {
  char head[kHeaderBytes];
  if (read_up_to(in, head, kHeaderBytes) != kHeaderBytes ||
      std::string_view(head, kMagic.size()) != kMagic)
    throw Error(ErrorKind::usage, fmt::format("{}: not a Lanewise trace", path));
  const uint64_t version = take_le(head + 8, 4);
  if (version != kTraceVersion)
    throw Error(ErrorKind::usage, fmt::format("{}: trace version {}, this program reads version {}",
                                              path, version, kTraceVersion));
}

}  // namespace

ReadResult read_trace(const std::string& path, Sink& sink) {
  const Input input(path);
  std::istream& in = input.stream();
  check_header(in, path);
  RecordDecoder decoder(sink);
  ReadResult result;
  uint64_t at = kHeaderBytes;
  std::string payload;
  const auto stop = [&](const std::string& why) {
    result.complete = false;
    result.note = fmt::format("{}: {} at byte {}; read {} events up to the last whole block", path,
                              why, at, decoder.events());
  };
  while (!decoder.ended()) {
    char head[kBlockHeadBytes];
    const size_t got = read_up_to(in, head, kBlockHeadBytes);
    if (got < kBlockHeadBytes) {
      stop(got == 0 ? "the trace ends without its end mark" : "the trace ends inside a block head");
      break;
    }
    const uint64_t size = take_le(head + 4, 4);
    if (take_le(head, 4) != kBlockMagic || size > kMaxBlockBytes)
      throw Error(ErrorKind::usage, fmt::format("{}: damaged block head at byte {}", path, at));
    payload.resize(size);
    if (read_up_to(in, payload.data(), size) < size) {
      stop("the trace ends inside a block");
      break;
    }
    if (hash_text(payload) != take_le(head + 8, 8))
      throw Error(ErrorKind::usage,
                  fmt::format("{}: the block at byte {} is damaged (wrong checksum)", path, at));
    decoder.block(payload);
    at += kBlockHeadBytes + size;
  }
  result.events = decoder.events();
  sink.finish();
  return result;
}

bool is_trace(const std::string& path) {
  const Input input(path);
  char head[8];
  return read_up_to(input.stream(), head, 8) == 8 && std::string_view(head, 8) == kMagic;
}

}  // namespace lanewise::trace
