#include "runtime/host/core/hostcall.hpp"

#include <atomic>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/host/core/block_pool.hpp"
#include "runtime/host/core/context.hpp"
#include "runtime/support/print_format.hpp"

namespace lanewise::core {
namespace {

constexpr uint32_t kPackets = 256;  // waves that ask at the same time; a power of two
constexpr int kLanes = 64, kWords = 8;

// What the device's library reads and writes.
struct Packet {
  uint64_t next;     ///< its place in a stack
  uint64_t lanes;    ///< which of them ask
  uint32_t service;  ///< what for
  uint32_t control;  ///< bit 0: waits for the host
};
struct Payload {
  uint64_t words[kLanes][kWords];
};
struct Header {
  uint64_t packets, payloads;  ///< the guest's addresses
  uint64_t doorbell;           ///< of a signal
  /// The last packet of each, by its index; counts in the bits above that of the index are kept,
  /// and no packet is 0.
  uint64_t free_stack, ready_stack;
  uint64_t index_mask;
};
/// amd_signal_t, of which kernels add to the value; without a mailbox they send no event.
struct Signal {
  uint64_t kind, value, mailbox;
  uint32_t event, unused;
  uint64_t more[4];
};
static_assert(sizeof(Packet) == 24 && sizeof(Header) == 48 && sizeof(Signal) == 64);

struct Buffer {
  Header header;
  uint64_t unused[2];
  Signal signal;
  Packet packets[kPackets];
  Payload payloads[kPackets];
};

/// The first word of each request for printf: which message it is part of, and its length.
constexpr uint64_t kBegin = 1, kEnd = 2;
constexpr unsigned kLengthShift = 5, kNumberShift = 8;
constexpr uint32_t kPrint = 2;
/// The device library's allocator gets its slabs this way, and large blocks: of so many bytes where
/// the address is 0; else what lies there is given back.
constexpr uint32_t kMemory = 3;
constexpr uint64_t kHeapBytes = uint64_t{128} << 20;  // pages that nobody asked for take no memory

/// What a message holds: 0 for standard output or 1 for standard error, the format, and the
/// arguments. Texts stand in it, up to the next multiple of 8 bytes; all else has 8 bytes.
class Message {
 public:
  explicit Message(const std::vector<uint64_t>& words)
      : bytes_(reinterpret_cast<const char*>(words.data()), words.size() * 8) {}

  /// Characters that were printed; -1 where there is no message.
  int64_t print() {
    if (bytes_.size() < 16) return -1;
    std::FILE* const to = (take_word() & 1) != 0 ? stderr : stdout;
    std::string out;
    for (const FormatChunk& chunk : parse_format(take_text())) out += converted(chunk);
    std::fwrite(out.data(), 1, out.size(), to);
    return static_cast<int64_t>(out.size());
  }

 private:
  bool ended() const { return at_ >= bytes_.size(); }
  uint64_t take_word() {
    uint64_t word = 0;
    if (!ended()) std::memcpy(&word, bytes_.data() + at_, sizeof word);
    at_ += 8;
    return word;
  }
  std::string take_text() {
    const size_t from = std::min(at_, bytes_.size());
    const size_t end = std::min(bytes_.find('\0', from), bytes_.size());
    at_ += (end - from) / 8 * 8 + 8;
    return std::string(bytes_.substr(from, end - from));
  }
  std::string number(const std::string& asked) {
    return asked == "*" ? std::to_string(static_cast<int32_t>(take_word())) : asked;
  }
  std::string converted(const FormatChunk& chunk) {
    Conversion c = chunk.conversion;
    if (c.type == 0) return chunk.text;
    c.width = number(c.width);
    if (c.width.starts_with('-')) c.flags += '-', c.width.erase(0, 1);
    c.precision = number(c.precision);
    if (c.precision.starts_with('-')) c.has_precision = false, c.precision.clear();
    if (ended()) return "(no argument)";
    if (c.type == 's') return format_string(c, take_text());
    const uint64_t bits = take_word();
    if (c.is_float()) return format_float(c, std::bit_cast<double>(bits));
    const unsigned size = integer_bytes(c);
    return format_integer(c, size == 4 ? bits & 0xffffffff : bits, size);
  }

  std::string_view bytes_;
  size_t at_ = 0;
};

class Services {
 public:
  Services(Buffer& buffer, BlockPool heap) : buffer_(buffer), heap_(std::move(heap)) {}

  [[noreturn]] void run() {
    for (;;) {
      if (!answer_all()) std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

 private:
  bool answer_all() {
    uint64_t ready = std::atomic_ref(buffer_.header.ready_stack).exchange(0);
    if (ready == 0) return false;
    while (ready != 0) {
      const uint64_t index = ready & (kPackets - 1);
      Packet& packet = buffer_.packets[index];
      ready = std::atomic_ref(packet.next).load();
      for (int lane = 0; lane < kLanes; ++lane)
        if ((packet.lanes >> lane & 1) != 0)
          answer(packet.service, buffer_.payloads[index].words[lane]);
      // From here on it is the device's again.
      std::atomic_ref(packet.control).fetch_and(~1U);
    }
    return true;
  }

  void answer(uint32_t service, uint64_t* words) {
    if (service == kPrint) return print(words);
    if (service == kMemory) return give_memory(words);
    refuse("a kernel asked for service " + std::to_string(service) +
           " of the host (hostcall); there are those for printing and for memory");
    std::memset(words, 0, kWords * sizeof *words);
  }

  /// One line for all of a program.
  void refuse(const std::string& line) {
    if (!refused_) report_line(line);
    refused_ = true;
  }

  void give_memory(uint64_t* words) {
    const uint64_t freed = words[0], bytes = words[1];
    words[0] = 0;
    if (freed == 0) {
      words[0] = heap_.take(bytes);
      if (words[0] == 0 && !std::exchange(exhausted_, true))
        report_line("malloc() of a kernel gave null: kernels have a heap of " +
                    std::to_string(kHeapBytes) + " bytes, in slabs of 2 MiB");
    } else if (!heap_.give_back(freed)) {
      refuse("a kernel's free() of what malloc() did not give, or of what is free already");
    }
  }

  void print(uint64_t* words) {
    uint64_t& what = words[0];
    if ((what & kBegin) != 0) {
      what = (what & ((1U << kNumberShift) - 1) & ~kBegin) | ++last_ << kNumberShift;
      messages_[last_] = {};
    }
    const auto message = messages_.find(what >> kNumberShift);
    if (message == messages_.end()) return;
    const uint64_t length = what >> kLengthShift & 7;
    message->second.insert(message->second.end(), words + 1, words + 1 + length);
    if ((what & kEnd) == 0) return;
    what = static_cast<uint64_t>(Message(message->second).print());
    messages_.erase(message);
  }

  Buffer& buffer_;
  BlockPool heap_;
  std::map<uint64_t, std::vector<uint64_t>> messages_;  ///< that are not complete
  uint64_t last_ = 0;
  bool refused_ = false, exhausted_ = false;
};

MemoryPtr shared_memory(Context& context, uint64_t bytes, const char* name) {
  MemoryPtr memory = context.memory().allocate_host(bytes, MemoryKind::pinned, name);
  context.memory().expose(*memory);
  if (memory->mirror != nullptr)
    fail(Code::not_supported,
         "kernels that print or allocate by HIP's hostcall need a device that reaches the host's "
         "memory in place, as the reference engine does");
  return memory;
}

uint64_t start(Context& context) {
  static const MemoryPtr memory = shared_memory(context, sizeof(Buffer), "services of the host");
  static const MemoryPtr heap = shared_memory(context, kHeapBytes, "heap of kernels");
  auto& buffer = *new (memory->host) Buffer{};
  const uint64_t at = memory->address;
  Header& h = buffer.header;
  h.packets = at + offsetof(Buffer, packets);
  h.payloads = at + offsetof(Buffer, payloads);
  h.doorbell = at + offsetof(Buffer, signal);
  h.index_mask = kPackets - 1;
  uint64_t last = kPackets;  // the first packet: a count of one, and index 0
  for (uint32_t n = 1; n < kPackets; ++n, ++last) buffer.packets[n].next = last;
  h.free_stack = last;
  std::thread([&buffer] { Services(buffer, BlockPool(heap->address, kHeapBytes)).run(); }).detach();
  return at;
}

}  // namespace

uint64_t hostcall_buffer(Context& context) {
  static const uint64_t address = start(context);
  return address;
}

}  // namespace lanewise::core
