// Replacement policies. Each is one file of this folder, `NAME.cpp` with `NAME_policy` in it, which
// the build finds: presets name it, the engine replaces by it, the chase compares with it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace lanewise::cache {

/// The lines of one set by way, and what the policy notes of each. Lines of another class than
/// those that go first are no candidates.
class SetView {
 public:
  static constexpr unsigned kNoteBits = 29;  ///< of a stamp; the line's class stands above them
  static constexpr uint32_t kMost = (1U << kNoteBits) - 1;

  SetView(uint32_t* stamps, uint32_t ways, uint64_t* word, uint32_t lowest = 0)
      : stamps_(stamps), ways_(ways), word_(word), lowest_(lowest) {}
  uint32_t ways() const { return ways_; }
  uint32_t note(uint32_t way) const { return stamps_[way] & kMost; }
  void set_note(uint32_t way, uint32_t note) { stamps_[way] = (stamps_[way] & ~kMost) | note; }
  bool is_candidate(uint32_t way) const { return stamps_[way] >> kNoteBits == lowest_; }
  uint64_t& word() const { return *word_; }
  /// The first candidate that no other one comes before.
  template <class Before>
  uint32_t first(Before before) const {
    uint32_t best = ways_;
    for (uint32_t way = 0; way < ways_; ++way)
      if (is_candidate(way) && (best == ways_ || before(note(way), note(best)))) best = way;
    return best;
  }
  uint32_t least() const {
    return first([](uint32_t a, uint32_t b) { return a < b; });
  }

 private:
  uint32_t* stamps_;
  uint32_t ways_;
  uint64_t* word_;
  uint32_t lowest_;
};

struct Policy {
  enum class Note : uint8_t { last_use, fill, own };  ///< times, which the engine keeps, or others
  enum class Word : uint8_t { none, of_set, of_cache };

  std::string_view name;
  Note note = Note::own;
  uint32_t first_note = 0;   ///< of its own: of a line that was filled
  bool fill_is_use = false;  ///< used() gets fills, too
  Word word = Word::none;    ///< what it remembers beside the notes
  uint64_t first_word = 0;
  bool (*takes)(uint32_t ways) = nullptr;  ///< null: any number of ways
  std::string_view needs = {};             ///< those that it takes
  void (*used)(SetView&, uint32_t way) = nullptr;
  uint32_t (*victim)(SetView&) = nullptr;  ///< null: the candidate with the least note, the first
};

std::span<const Policy* const> policies();
extern const Policy lru_policy;

/// Null where there is none of this name.
inline const Policy* policy_named(std::string_view name) {
  for (const Policy* p : policies())
    if (p->name == name) return p;
  return nullptr;
}

}  // namespace lanewise::cache
