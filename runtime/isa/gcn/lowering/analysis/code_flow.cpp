// Where calls and jumps to addresses lead: the values of scalar registers are followed along all
// paths, those that this finds included.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/isa/gcn/lowering/analysis/words.hpp"

namespace lanewise::gcn {
namespace {

using What = Word::What;

bool goes_anywhere(const Instruction& i) {
  return i.row->kind == Kind::call || i.row->kind == Kind::jump;
}

/// Registers that an address may be in or be made of; others are not followed.
ScalarSet wanted_registers(const Kernel& k, const std::vector<Effects>& effects) {
  ScalarSet wanted;
  for (size_t n = 0; n < k.code.size(); ++n) {
    const Kind kind = k.code[n].row->kind;
    if (kind == Kind::call || kind == Kind::address) wanted |= effects[n].writes;
    if (goes_anywhere(k.code[n])) wanted |= effects[n].reads;
  }
  return with_sources(k, effects, wanted).reset(kScc);
}

class CodeFlow {
 public:
  explicit CodeFlow(const Kernel& k)
      : k_(k),
        effects_(all_effects(k)),
        wanted_(wanted_registers(k, effects_)),
        in_(k.code.size()),
        visits_(k.code.size()) {
    calls_.reached.resize(k.code.size());
    for (size_t n = 0; n < k.code.size(); ++n) {
      at_[k.base + k.code[n].pc] = n;
      concerns_.push_back(touches(n, wanted_) || effects_[n].writes.test(kScc));
    }
  }

  CallTargets run() {
    reach(0, {});
    while (!work_.empty()) {
      const size_t n = *work_.begin();
      work_.erase(work_.begin());
      follow(n);
    }
    for (const auto& [n, address] : addresses_) judge(n, address.first, address.second);
    return std::move(calls_);
  }

 private:
  // A counter in a loop gives one more number on each visit. Of addresses a register may have as
  // many as are counted.
  static constexpr unsigned kMostVisits = 300, kMostOfNumbers = 64;

  void reach(size_t n, const ScalarWords& words) {
    if (n >= in_.size()) return;
    if (!in_[n]) {
      in_[n] = words;
      split(n);
    } else {
      const bool many = visits_[n] > kMostOfNumbers, most = visits_[n] > kMostVisits;
      const ScalarWords before = many ? *in_[n] : ScalarWords();
      if (!in_[n]->join(words)) return;
      // What still changes will not come to an end soon.
      if (many) {
        for (auto& [code, known] : in_[n]->at)
          if (known != before.get(code) && (most || are_numbers(known)))
            known = {.some = {}, .open = true, .full = true};
        if (most) {
          in_[n]->carry = {};
          in_[n]->carry.full = true;
        }
        if (*in_[n] == before) return;
      }
    }
    work_.insert(n);
  }
  static bool are_numbers(const Words& words) {
    return std::ranges::all_of(words.some, [](const Word& w) { return w.what == What::number; });
  }
  /// A place in the midst of what was followed in one go: its state comes from the front, too.
  void split(size_t n) {
    if (calls_.reached[n]) work_.insert(start_of(n));
  }
  size_t start_of(size_t n) const {
    while (!in_[n]) --n;
    return n;
  }

  void follow(size_t n) {
    ScalarWords words = *in_[n];
    ++visits_[n];
    for (size_t i = n; i < k_.code.size(); ++i) {
      if (i != n && in_[i]) return reach(i, words);
      calls_.reached[i] = true;
      const Instruction& inst = k_.code[i];
      if (goes_anywhere(inst)) return go(i, std::move(words));
      if (inst.row->kind == Kind::branch) return branch(i, words);
      if (inst.row->kind == Kind::end) return;
      step(i, words);
    }
  }

  /// Does the instruction name one of these registers, or write one?
  bool touches(size_t i, const ScalarSet& registers) const {
    if ((effects_[i].writes & registers).any()) return true;
    for (const Operand& o : k_.code[i].operands)
      for (unsigned n = 0; !o.immediate && n < o.count && o.code + n < kSgprs; ++n)
        if (registers.test(o.code + n)) return true;
    return false;
  }

  void step(size_t i, ScalarWords& words) {
    if (k_.file != nullptr && !k_.file->unresolved.empty()) look_for_missing(i, words);
    if (!concerns_[i]) return;
    const size_t before = escaped_.size();
    for (const uint64_t address : step_words(k_, i, effects_[i].writes, words))
      escaped_.insert(address);
    if (escaped_.size() != before) look_again();
    words.forget(effects_[i].writes & ~wanted_);
  }
  /// Words of the code, or what it loads, that something else should have filled in.
  void look_for_missing(size_t i, const ScalarWords& words) {
    const Instruction& inst = k_.code[i];
    const uint64_t begin = k_.base + inst.pc, end = address_behind(k_, i);
    const auto own = k_.file->unresolved.lower_bound(begin);
    if (own != k_.file->unresolved.end() && own->first < end) calls_.problems[i] = own->second;
    if (inst.row->kind != Kind::load || inst.row->encoding != Encoding::smrd) return;
    const bool plain = inst.operand(Slot::sbase)->count == 2;
    const auto at = plain ? loaded_place(k_, inst, words) : std::nullopt;
    for (uint64_t n = 0; at && n < inst.operands[0].count; ++n)
      if (const std::string* what = unresolved_at(*k_.file, *at + 4 * n))
        calls_.problems[i] = *what;
  }
  /// Calls and jumps to what is not followed.
  void look_again() {
    for (const size_t n : open_) work_.insert(start_of(n));
  }

  void branch(size_t i, const ScalarWords& words) {
    const size_t target = branch_target(k_, i);
    if (target == std::string::npos)
      place(k_.base + k_.code[i].pc + 4 +
            static_cast<uint64_t>(
                4 * int64_t{static_cast<int16_t>(k_.code[i].operand(Slot::label)->value)}));
    reach(target, words);
    if (k_.code[i].row->meaning.count != 0) reach(i + 1, words);
  }

  /// The instruction there; nothing where none begins.
  std::optional<size_t> place(uint64_t offset) {
    if (const auto it = at_.find(offset); it != at_.end()) return it->second;
    const auto next = at_.upper_bound(offset);
    if (next == at_.begin()) return std::nullopt;
    const size_t n = std::prev(next)->second;
    if (offset % 4 == 0 && offset < address_behind(k_, n)) calls_.inside.insert(offset);
    return std::nullopt;
  }

  void go(size_t i, ScalarWords words) {
    const Instruction& inst = k_.code[i];
    const Operand& to = *inst.operand(Slot::ssrc0);
    const Words low = words.get(to), high = words.get(to, 1);
    const bool call = inst.row->kind == Kind::call;
    std::set<size_t> targets;
    for (const Word& w : low.some)
      if (w.what == What::low)
        if (const auto n = place(w.value)) targets.insert(*n);
    if (low.open) {
      open_.insert(i);
      for (const uint64_t offset : escaped_)
        if (const auto n = place(offset)) targets.insert(*n);
      for (const Label& f : k_.functions)
        if (call) targets.insert(f.index);
      if (!call) targets.insert(returns_.begin(), returns_.end());
    }
    if (call) {
      const unsigned back = inst.operand(Slot::sdst)->code;
      for (const unsigned n : {0U, 1U}) words.set(back + n, Words());
      put_address_behind(k_, i, words);
      if (i + 1 < k_.code.size() && returns_.insert(i + 1).second) look_again();
    }
    calls_.targets[i].assign(targets.begin(), targets.end());
    addresses_[i] = {low, high};
    for (const size_t n : targets) reach(n, words);
  }

  /// Is it certain where this leads, or impossible?
  void judge(size_t i, const Words& low, const Words& high) {
    const std::vector<size_t>& targets = calls_.targets[i];
    if (const auto offset = image_place(low, high); offset && !targets.empty())
      if (at_.contains(*offset)) calls_.certain.insert(i);
    if (!targets.empty()) return;
    const auto one = low.one();
    if (low.open)
      calls_.problems[i] = fmt::format(
          "where this leads is not known: its address {}, and nothing in this file is known that "
          "it could be",
          source_of(i));
    else if (one && one->what == What::low)
      calls_.problems[i] = fmt::format(
          "this leads to {:#x}, where no instruction of this file begins", one->value - k_.text);
    else if (one && one->what == What::number && one->value != 0)
      calls_.problems[i] = fmt::format(
          "this leads to the address {:#x}, which is that of no code in this file", one->value);
  }
  std::string source_of(size_t i) const {
    const unsigned pair = k_.code[i].operand(Slot::ssrc0)->code;
    for (size_t n = i; n-- > 0 && !ends_block(k_.code[n]);) {
      const ScalarSet& writes = effects_[n].writes;
      if (writes.test(pair) || writes.test(pair + 1))
        return fmt::format("is made by `{}`", print(k_.code[n], k_.gen));
    }
    return "does not come from s_getpc_b64 and constants";
  }

  const Kernel& k_;
  const std::vector<Effects> effects_;
  const ScalarSet wanted_;
  std::vector<bool> concerns_;  ///< instructions that change what is followed, or read it
  CallTargets calls_;
  std::map<uint64_t, size_t> at_;  ///< instructions by their place in the image
  std::vector<std::optional<ScalarWords>> in_;
  std::vector<unsigned> visits_;
  std::set<size_t> work_, returns_, open_;
  std::set<uint64_t> escaped_;  ///< code addresses that left the scalar registers
  std::map<size_t, std::pair<Words, Words>> addresses_;
};

}  // namespace

CallTargets find_call_targets(const Kernel& k) {
  return CodeFlow(k).run();
}

}  // namespace lanewise::gcn
