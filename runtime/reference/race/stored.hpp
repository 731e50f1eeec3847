// What a launch has stored last, byte by byte, so far as lanes have recorded it.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

namespace lanewise::reference::race {

class Stored {
 public:
  void clear() {
    words_.clear();
    full_ = false;
  }
  /// Bytes of a word, where they stand in it. `after` counts as what was there before once too much
  /// would have to be kept: then stores of one value look like others.
  uint32_t put(uint64_t word, unsigned first, unsigned bytes, uint32_t after) {
    if (full_) return after;
    const uint32_t mask = bytes == 4 ? ~0U : ((1U << 8 * bytes) - 1) << 8 * first;
    Word& w = words_[word];
    const bool known = (w.known & mask) == mask;
    const uint32_t before = known ? w.value & mask : ~after & mask;
    w.value = (w.value & ~mask) | (after & mask);
    w.known |= mask;
    if (words_.size() > kMost) {
      words_.clear();
      full_ = true;
    }
    return before;
  }
  /// An atomic leaves what was not recorded.
  void lose(uint64_t word) {
    if (!full_) words_.erase(word);
  }

 private:
  static constexpr size_t kMost = size_t{1} << 23;  ///< words: some 300 MB
  struct Word {
    uint32_t value = 0, known = 0;
  };
  std::unordered_map<uint64_t, Word> words_;
  bool full_ = false;
};

}  // namespace lanewise::reference::race
