// Who made each of the latest accesses: a ring of wave instructions, by their number in the trace.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace lanewise::cache {

inline constexpr uint32_t kNoSite = ~uint32_t{0};

/// One executed wave instruction; its number in the trace is its context.
struct Context {
  uint32_t site = kNoSite;  ///< none: the host
  uint32_t group = 0;
  uint16_t wave = 0;
  uint16_t sm = 0;
};

/// Eight bytes each; twelve once a site, wave or SM has a large number.
class Contexts {
 public:
  /// The latest `kept` can be named; some more are there, since accesses may be numbered a while
  /// before they are made.
  explicit Contexts(uint32_t kept)
      : kept_(kept), capacity_((uint64_t{kept} + kAhead + kChunk - 1) / kChunk * kChunk) {}
  static constexpr uint32_t kAhead = 4096;

  /// The number of the next one.
  uint32_t next() const { return next_; }
  uint32_t add(const Context& c) {
    if (at_ == end_) next_chunk();
    groups_[at_] = c.group;
    const uint32_t site = c.site == kNoSite ? kHost : c.site;
    if (!wide_ && (site > kHost || (site == kHost && c.site != kNoSite) || c.wave > 0xff ||
                   c.sm > 0xff)) [[unlikely]]
      widen();
    if (wide_) {
      whos_wide_[at_] = uint64_t{c.site} << 32 | uint32_t{c.wave} << 16 | c.sm;
    } else {
      whos_[at_] = site << 16 | uint32_t{c.wave} << 8 | c.sm;
    }
    ++at_;
    return next_++;
  }
  /// As it was when `now` was the next number; the default Context for what is older than is kept.
  Context at(uint32_t context, uint32_t now) const {
    if (context >= now || now - context > kept_) return {};
    const uint64_t place = context % capacity_;
    const Chunk& p = chunks_[place / kChunk];
    const size_t i = place % kChunk;
    Context c;
    c.group = p.groups[i];
    if (wide_) {
      const uint64_t who = p.wide[i];
      c.site = static_cast<uint32_t>(who >> 32);
      c.wave = static_cast<uint16_t>(who >> 16);
      c.sm = static_cast<uint16_t>(who);
    } else {
      const uint32_t who = p.narrow[i];
      c.site = who >> 16 == kHost ? kNoSite : who >> 16;
      c.wave = static_cast<uint16_t>(who >> 8 & 0xff);
      c.sm = static_cast<uint16_t>(who & 0xff);
    }
    return c;
  }
  size_t memory_bytes() const { return chunks_.size() * kChunk * (wide_ ? 12 : 8); }

 private:
  static constexpr size_t kChunk = size_t{1} << 16;
  static constexpr uint32_t kHost = 0xffff;
  struct Chunk {
    std::unique_ptr<uint32_t[]> groups, narrow;
    std::unique_ptr<uint64_t[]> wide;
  };
  void next_chunk();
  void widen();

  uint32_t kept_, next_ = 0;
  uint64_t capacity_;
  bool wide_ = false;
  std::vector<Chunk> chunks_;
  // Of the chunk that is filled now.
  uint32_t *groups_ = nullptr, *whos_ = nullptr;
  uint64_t* whos_wide_ = nullptr;
  size_t at_ = 0, end_ = 0;
};

}  // namespace lanewise::cache
