// What scalar registers may hold, as far as code addresses are made of it: sets of numbers and of
// halves of addresses in the file's image. Where the image lies is known at the launch only.
#pragma once

#include <algorithm>
#include <compare>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/isa/gcn/lowering/analysis/analysis.hpp"

namespace lanewise::gcn {

struct Word {
  enum class What : uint8_t { number, low, high, missing };
  What what = What::number;  ///< missing: half of an address that the file does not define
  /// Of the low half of an address 32 bits, for that is all it depends on; of the high half the
  /// whole distance from the image's begin.
  uint64_t value = 0;
  auto operator<=>(const Word&) const = default;
};

/// A sorted list without doubles: every place in the code has many, which are copied more often
/// than they grow, so copies share it until one of them does.
template <typename T>
class SmallSet {
 public:
  SmallSet() = default;
  SmallSet(std::initializer_list<T> list) {
    for (const T& item : list) insert(item);
  }
  void insert(const T& item) {
    const bool last = size() == 0 || list().back() < item;
    const auto place = last ? end() : std::lower_bound(begin(), end(), item);
    if (place != end() && *place == item) return;
    const auto index = place - begin();
    if (!items_ || items_.use_count() > 1) items_ = std::make_shared<std::vector<T>>(list());
    items_->insert(items_->begin() + index, item);
  }
  /// Did it grow?
  bool insert(const SmallSet& other) {
    if (items_ == other.items_ || std::includes(begin(), end(), other.begin(), other.end()))
      return false;
    if (std::includes(other.begin(), other.end(), begin(), end())) {
      items_ = other.items_;
      return true;
    }
    auto all = std::make_shared<std::vector<T>>();
    all->reserve(size() + other.size());
    std::set_union(begin(), end(), other.begin(), other.end(), std::back_inserter(*all));
    items_ = std::move(all);
    return true;
  }
  auto begin() const { return list().begin(); }
  auto end() const { return list().end(); }
  size_t size() const { return list().size(); }
  bool operator==(const SmallSet& other) const {
    return items_ == other.items_ || list() == other.list();
  }

 private:
  const std::vector<T>& list() const {
    static const std::vector<T> kNone;
    return items_ ? *items_ : kNone;
  }

  std::shared_ptr<std::vector<T>> items_;
};

/// One of the words, or, where it is open, anything.
struct Words {
  SmallSet<Word> some;
  bool open = true;
  /// There were more than are counted. It stays open and without words: if words came again, what
  /// is joined along a loop would grow, be given up and grow again.
  bool full = false;

  bool operator==(const Words&) const = default;
  static Words of(Word w) { return {.some = {w}, .open = false}; }
  static Words number(uint64_t n) { return of({Word::What::number, n & 0xffffffff}); }
  /// The one word that this is.
  std::optional<Word> one() const {
    return open || some.size() != 1 ? std::nullopt : std::optional(*some.begin());
  }
  /// Did it change?
  bool join(const Words& other);
};

/// What the last sum or difference of scalar registers carried.
struct Carry {
  /// The number that was added to the low half of an address, or taken from it.
  struct Part {
    uint64_t address = 0, number = 0;
    bool subtracted = false;
    auto operator<=>(const Part&) const = default;
  };
  SmallSet<Part> of_addresses;
  bool zero = false, one = false;  ///< of plain numbers
  bool open = true, full = false;  ///< as those of Words

  bool operator==(const Carry&) const = default;
  bool join(const Carry& other);
};

/// Registers that are not named may hold anything.
struct ScalarWords {
  using Held = std::pair<unsigned, Words>;
  std::vector<Held> at;  ///< in the order of the registers' codes
  Carry carry;

  bool operator==(const ScalarWords&) const = default;
  bool join(const ScalarWords& other);
  Words get(unsigned code) const;
  void set(unsigned code, Words words);
  void forget(const ScalarSet& codes);
  /// Of a source: a register, a constant, a literal.
  Words get(const Operand& operand, unsigned dword = 0, bool wide = false) const;
};

/// The place in the image whose address these two halves can only be.
std::optional<uint64_t> image_place(const Words& low, const Words& high);
/// Where in the image the scalar load reads, if that is known.
std::optional<uint64_t> loaded_place(const Kernel& kernel, const Instruction& load,
                                     const ScalarWords& words);

/// These registers and those that their words are made of: what others hold is nothing to them.
ScalarSet with_sources(const Kernel& kernel, const std::vector<Effects>& effects, ScalarSet wanted);

/// What the eight bytes around this word of the image wait for; null where they do not.
const std::string* unresolved_at(const Listing& file, uint64_t at);

/// Behind an instruction that is no call and writes these registers. Gives low halves of addresses
/// among its sources with which it does more than is followed here: these may come back anywhere.
std::vector<uint64_t> step_words(const Kernel& kernel, size_t index, const ScalarSet& writes,
                                 ScalarWords& words);
/// The address behind the instruction, as a call leaves it.
void put_address_behind(const Kernel& kernel, size_t index, ScalarWords& words);

}  // namespace lanewise::gcn
