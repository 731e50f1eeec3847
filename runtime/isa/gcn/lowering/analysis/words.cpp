#include "runtime/isa/gcn/lowering/analysis/words.hpp"

#include <algorithm>
#include <bit>

#include "runtime/isa/gcn/lowering/semantics.hpp"
#include "runtime/isa/gcn/text/operands/number_text.hpp"

namespace lanewise::gcn {
namespace {

constexpr size_t kMostWords = 256;
using What = Word::What;
using Sum = std::optional<Word>;

/// Numbers of so few bits are counted even where nothing is known of them.
constexpr unsigned kMostFreeBits = 6;

template <typename F>
Words combine(const Words& a, const Words& b, const F& of_two) {
  Words out{{}, a.open || b.open};
  for (const Word& x : a.some)
    for (const Word& y : b.some) {
      if (const Sum sum = of_two(x, y))
        out.some.insert(*sum);
      else
        out.open = true;
      if (out.some.size() > kMostWords) return {};
    }
  return out;
}

/// Both are numbers, and so is what comes out.
template <typename F>
Words numbers(const Words& a, const Words& b, const F& f) {
  return combine(a, b, [&](const Word& x, const Word& y) -> Sum {
    if (x.what != What::number || y.what != What::number) return std::nullopt;
    return Word{What::number,
                f(static_cast<uint32_t>(x.value), static_cast<uint32_t>(y.value)) & 0xffffffff};
  });
}

std::optional<uint32_t> one_number(const Words& w) {
  const auto one = w.one();
  return one && one->what == What::number ? std::optional(static_cast<uint32_t>(one->value))
                                          : std::nullopt;
}

/// All numbers that have no bits beside these.
Words within(uint32_t bits) {
  if (std::popcount(bits) > static_cast<int>(kMostFreeBits)) return {};
  Words out{{}, false};
  uint32_t part = bits;
  do {
    out.some.insert({What::number, part});
    part = (part - 1) & bits;
  } while (part != bits);
  return out;
}

Words added(const Words& a, const Words& b, bool subtract) {
  return combine(a, b, [&](const Word& x, const Word& y) -> Sum {
    const uint64_t value = (subtract ? x.value - y.value : x.value + y.value) & 0xffffffff;
    if (x.what == What::high || y.what == What::high) return std::nullopt;
    if (x.what == What::number && y.what == What::number) return Word{What::number, value};
    if (!subtract && x.what != y.what) return Word{What::low, value};
    if (subtract && x.what == What::low)
      return Word{y.what == What::low ? What::number : What::low, value};
    return std::nullopt;
  });
}

Carry carried(const Words& a, const Words& b, bool subtract) {
  Carry out;
  out.open = a.open || b.open;
  for (const Word& x : a.some)
    for (const Word& y : b.some) {
      const bool first = x.what == What::low && y.what == What::number;
      const bool second = y.what == What::low && x.what == What::number && !subtract;
      if (first || second) {
        const Word &address = first ? x : y, &by = first ? y : x;
        out.of_addresses.insert({address.value, by.value, subtract});
      } else if (x.what == What::number && y.what == What::number) {
        const bool set = subtract ? x.value < y.value : (x.value + y.value) >> 32 != 0;
        (set ? out.one : out.zero) = true;
      } else {
        out.open = true;
      }
      if (out.of_addresses.size() > kMostWords) return {};
    }
  return out;
}

/// The upper half of a sum or difference of 64 bits.
Words added_high(const Words& a, const Words& b, const Carry& carry, bool subtract) {
  Words out{{}, a.open || b.open || carry.open};
  const auto put = [&](const Word& x, const Word& y) {
    const bool first = x.what == What::high && y.what == What::number;
    const bool second = y.what == What::high && x.what == What::number && !subtract;
    const bool plain = x.what == What::number && y.what == What::number;
    if (!first && !second && !plain) {
      out.open = true;
      return;
    }
    const Word &high = second ? y : x, &by = second ? x : y;
    const uint64_t shift = plain ? 0 : 32;
    const auto sum = [&](uint64_t more) {
      const uint64_t distance = (by.value + more) << shift;
      const uint64_t value = subtract ? high.value - distance : high.value + distance;
      out.some.insert({high.what, plain ? value & 0xffffffff : value});
    };
    if (carry.zero) sum(0);
    if (carry.one) sum(1);
    for (const Carry::Part& low : carry.of_addresses) {
      const uint64_t distance = (by.value << 32) + low.number;
      // Of another address than this half is of: which sum that gives nobody knows.
      const bool fits = !plain && (high.value & 0xffffffff) == low.address;
      if (fits && low.subtracted == subtract)
        out.some.insert({What::high, subtract ? high.value - distance : high.value + distance});
      else
        out.open = true;
    }
  };
  for (const Word& x : a.some)
    for (const Word& y : b.some) {
      put(x, y);
      if (out.some.size() > kMostWords) return {};
    }
  return out;
}

uint32_t bit_field(uint32_t x, uint32_t field, bool is_signed) {
  const uint32_t offset = field & 31, width = field >> 16 & 0x7f;
  if (width == 0) return 0;
  const uint32_t moved = x >> offset;
  if (width + offset >= 32)
    return is_signed ? static_cast<uint32_t>(static_cast<int32_t>(x) >> offset) : moved;
  const uint32_t kept = moved & ((1U << width) - 1);
  const bool negative = is_signed && (kept >> (width - 1) & 1) != 0;
  return negative ? kept | ~((1U << width) - 1) : kept;
}

uint32_t logic(const Meaning& m, uint32_t x, uint32_t y) {
  if (m.invert) y = ~y;
  const uint32_t z = m.op == Op::and_ ? x & y : m.op == Op::or_ ? x | y : x ^ y;
  return m.invert_result ? ~z : z;
}

/// The instruction in work.
class Step {
 public:
  Step(const Kernel& k, size_t index, ScalarWords& words)
      : k_(k), i_(k.code[index]), index_(index), words_(words) {}

  std::vector<uint64_t> run(const ScalarSet& writes) {
    std::vector<uint64_t> lost;
    if (!find()) lost = addresses();
    words_.forget(writes);
    for (auto& [code, value] : made_.at) words_.set(code, std::move(value));
    if (writes.test(kScc)) words_.carry = std::move(carry_);
    return lost;
  }

 private:
  const Meaning& meaning() const { return i_.row->meaning; }
  bool is(LowerFn lower) const { return i_.row->lower == lower; }
  Words source(size_t n, unsigned dword = 0) const {
    if (n >= i_.operands.size()) return {};  // nothing is known of what is not there
    const bool wide = i_.row->operands[n].count == 2;
    return words_.get(i_.operands[n], dword, wide);
  }
  void put(Words value, unsigned dword = 0) {
    made_.set(i_.operands[0].code + dword, std::move(value));
  }
  /// Low halves among the sources.
  std::vector<uint64_t> addresses() const {
    std::vector<uint64_t> out;
    for (const Operand& o : i_.operands)
      for (unsigned n = 0; !o.immediate && o.code < kSgprs && n < o.count; ++n)
        for (const Word& w : words_.get(o.code + n).some)
          if (w.what == What::low) out.push_back(w.value);
    return out;
  }

  bool find() {
    if (i_.row->kind == Kind::address) {
      put_address_behind(k_, index_, made_);
      return true;
    }
    if (is(lower_sload)) return load();
    const Encoding e = i_.row->encoding;
    if (e != Encoding::sop1 && e != Encoding::sop2 && e != Encoding::sopk)
      return e == Encoding::sopc || e == Encoding::sopp;
    return move() || sum() || bits() || wide_bits();
  }

  bool move() {
    if (is(lower_smov) || is(lower_smovk)) {
      put(source(1));
    } else if (is(lower_slogic64) && meaning().op == Op::mov) {
      for (const unsigned n : {0U, 1U}) put(source(1, n), n);
    } else if (is(lower_scselect)) {
      for (unsigned n = 0; n < i_.operands[0].count; ++n) {
        Words either = source(1, n);
        either.join(source(2, n));
        put(either, n);
      }
    } else if (is(lower_scmov)) {
      for (unsigned n = 0; n < i_.operands[0].count; ++n) {
        Words either = words_.get(i_.operands[0].code + n);
        either.join(source(1, n));
        put(either, n);
      }
    } else {
      return false;
    }
    return true;
  }

  bool sum() {
    const bool has_carry = meaning().type == Type::u32;
    if (is(lower_sadd)) {
      const bool subtract = meaning().op == Op::sub;
      put(added(source(1), source(2), subtract));
      if (has_carry) carry_ = carried(source(1), source(2), subtract);
    } else if (is(lower_saddc)) {
      put(added_high(source(1), source(2), words_.carry, meaning().op == Op::subb));
    } else if (is(lower_saddk)) {
      const Words before = words_.get(i_.operands[0].code);
      put(meaning().op == Op::add ? added(before, source(1), false)
                                  : numbers(before, source(1), std::multiplies<>()));
    } else if (is(lower_smul)) {
      put(numbers(source(1), source(2), std::multiplies<>()));
    } else if (is(lower_sminmax)) {
      extremes();
    } else {
      return false;
    }
    return true;
  }
  void extremes() {
    const bool is_signed = meaning().type == Type::s32, least = meaning().op == Op::min;
    const auto most = one_number(source(1)) ? one_number(source(1)) : one_number(source(2));
    const bool unknown = source(1).open || source(2).open;
    if (unknown && least && !is_signed && most && *most < 1U << kMostFreeBits) {
      Words out{{}, false};
      for (uint32_t n = 0; n <= *most; ++n) out.some.insert({What::number, n});
      return put(out);
    }
    put(numbers(source(1), source(2), [&](uint32_t x, uint32_t y) {
      const bool below = is_signed ? static_cast<int32_t>(x) < static_cast<int32_t>(y) : x < y;
      return below == least ? x : y;
    }));
  }

  bool bits() {
    if (is(lower_slogic32)) {
      put(numbers(source(1), source(2),
                  [&](uint32_t x, uint32_t y) { return logic(meaning(), x, y); }));
      const auto mask = one_number(source(1)) ? one_number(source(1)) : one_number(source(2));
      const bool masked = meaning().op == Op::and_ && !meaning().invert;
      if (made_.get(i_.operands[0].code).open && masked && !meaning().invert_result && mask)
        put(within(*mask));
    } else if (is(lower_snot)) {
      put(numbers(source(1), Words::number(0), [](uint32_t x, uint32_t) { return ~x; }));
    } else if (is(lower_sshift)) {
      const auto by = one_number(source(2));
      const bool left = meaning().op == Op::shl, is_signed = meaning().type == Type::s32;
      if (source(1).open && by && !left && !is_signed) return put(within(~0U >> (*by & 31))), true;
      put(numbers(source(1), source(2), [&](uint32_t x, uint32_t n) {
        if (left) return x << (n & 31);
        return is_signed ? static_cast<uint32_t>(static_cast<int32_t>(x) >> (n & 31))
                         : x >> (n & 31);
      }));
    } else if (is(lower_sbfe)) {
      const bool is_signed = meaning().type == Type::s32;
      const auto field = one_number(source(2));
      if (source(1).open && field && !is_signed)
        return put(within(bit_field(~0U, *field, false))), true;
      put(numbers(source(1), source(2),
                  [&](uint32_t x, uint32_t f) { return bit_field(x, f, is_signed); }));
    } else {
      return false;
    }
    return true;
  }

  bool wide_bits() {
    if (is(lower_slogic64)) {
      for (const unsigned n : {0U, 1U})
        put(meaning().op == Op::not_
                ? numbers(source(1, n), Words::number(0), [](uint32_t x, uint32_t) { return ~x; })
                : numbers(source(1, n), source(2, n),
                          [&](uint32_t x, uint32_t y) { return logic(meaning(), x, y); }),
            n);
      return true;
    }
    if (!is(lower_sshift64)) return false;
    const auto low = one_number(source(1)), high = one_number(source(1, 1));
    const auto by = one_number(source(2));
    if (!low || !high || !by) return true;
    const uint64_t x = uint64_t{*high} << 32 | *low;
    const uint64_t y = meaning().op == Op::shl ? x << (*by & 63)
                       : meaning().type == Type::s64
                           ? static_cast<uint64_t>(static_cast<int64_t>(x) >> (*by & 63))
                           : x >> (*by & 63);
    put(Words::number(y));
    put(Words::number(y >> 32), 1);
    return true;
  }

  /// Constants of the image, the addresses in it among them.
  bool load() {
    const auto at = loaded_place(k_, i_, words_);
    if (!at) return true;
    for (unsigned n = 0; n < i_.operands[0].count; ++n)
      if (const auto word = constant_word(*k_.file, *at + uint64_t{4} * n))
        put(Words::of(*word), n);
    return true;
  }

  static std::optional<Word> constant_word(const Listing& file, uint64_t at) {
    const ir::Global& image = *file.image;
    const auto holds = [&](const auto& r) { return r.first <= at && at + 4 <= r.second; };
    if (unresolved_at(file, at) != nullptr) return Word{What::missing, at};
    if (std::ranges::none_of(file.constants, holds)) return std::nullopt;
    for (const ir::Global::Reloc& r : image.relocs) {
      if (at < r.offset || at >= r.offset + 8) continue;
      const auto to = static_cast<uint64_t>(r.addend);
      return at == r.offset ? Word{What::low, to & 0xffffffff} : Word{What::high, to};
    }
    uint32_t word = 0;
    for (unsigned n = 0; n < 4; ++n)
      word |= std::to_integer<uint32_t>(image.init[at + n]) << (8 * n);
    return Word{What::number, word};
  }

  const Kernel& k_;
  const Instruction& i_;
  size_t index_;
  ScalarWords& words_;
  ScalarWords made_;
  Carry carry_;
};

}  // namespace

bool Words::join(const Words& other) {
  if (full) return false;
  const bool grew = some.insert(other.some), opened = other.open && !open;
  open = open || other.open;
  if (other.full || some.size() > kMostWords) *this = {.some = {}, .open = true, .full = true};
  return grew || opened || full;
}

bool Carry::join(const Carry& other) {
  if (full) return false;
  const bool grew = of_addresses.insert(other.of_addresses);
  const bool changed =
      grew || (other.zero && !zero) || (other.one && !one) || (other.open && !open) || other.full;
  zero = zero || other.zero;
  one = one || other.one;
  open = open || other.open;
  if (other.full || of_addresses.size() > kMostWords) {
    *this = {};
    full = true;
  }
  return changed;
}

bool ScalarWords::join(const ScalarWords& other) {
  bool changed = false;
  auto mine = at.begin();
  const auto open_up_to = [&](unsigned code) {
    for (; mine != at.end() && mine->first < code; ++mine)
      if (!mine->second.open) changed = mine->second.open = true;
  };
  for (const auto& [code, words] : other.at) {
    open_up_to(code);
    if (mine != at.end() && mine->first == code) {
      changed = mine->second.join(words) || changed;
    } else {
      mine = at.emplace(mine, code, words);
      changed = mine->second.open = true;
    }
    ++mine;
  }
  open_up_to(~0U);
  return carry.join(other.carry) || changed;
}

Words ScalarWords::get(unsigned code) const {
  const auto found = std::ranges::lower_bound(at, code, {}, &Held::first);
  return found != at.end() && found->first == code ? found->second : Words();
}
void ScalarWords::set(unsigned code, Words words) {
  const bool mask = code == kExecLo || code == kExecLo + 1;
  const auto place = std::ranges::lower_bound(at, code, {}, &Held::first);
  const bool held = place != at.end() && place->first == code;
  if (words == Words() || mask || !is_scalar(code)) {
    if (held) at.erase(place);
  } else if (held) {
    place->second = std::move(words);
  } else {
    at.emplace(place, code, std::move(words));
  }
}

void ScalarWords::forget(const ScalarSet& codes) {
  for (size_t c = codes._Find_first(); c < codes.size() && !at.empty(); c = codes._Find_next(c))
    set(static_cast<unsigned>(c), {});
}

Words ScalarWords::get(const Operand& o, unsigned dword, bool wide) const {
  if (o.immediate)
    return Words::number(static_cast<uint32_t>(int32_t{static_cast<int16_t>(o.value)}));
  if (is_scalar(o.code)) return get(o.code + dword);
  if (o.half == Operand::Half::low) return Words::of({What::low, o.value});
  if (o.half == Operand::Half::high) return Words::of({What::high, o.value});
  if (o.code == kLiteral) return wide && dword == 1 ? Words() : Words::number(o.value);
  const auto value = inline_constant(o.code);
  if (!value || (wide && o.code >= kFirstInlineFloat)) return Words();
  if (dword == 1) return Words::number(*value >> 31 != 0 ? 0xffffffff : 0);
  return Words::number(*value);
}

void put_address_behind(const Kernel& k, size_t index, ScalarWords& words) {
  const uint64_t next = address_behind(k, index);
  const unsigned to = k.code[index].operand(Slot::sdst)->code;
  words.set(to, Words::of({What::low, next & 0xffffffff}));
  words.set(to + 1, Words::of({What::high, next}));
}

std::optional<uint64_t> image_place(const Words& low, const Words& high) {
  const auto l = low.one(), h = high.one();
  if (!l || !h || l->what != What::low || h->what != What::high) return std::nullopt;
  return l->value == (h->value & 0xffffffff) ? std::optional(h->value) : std::nullopt;
}

ScalarSet with_sources(const Kernel& k, const std::vector<Effects>& effects, ScalarSet wanted) {
  const auto is_followed = [](const Instruction& i) {
    const Encoding e = i.row->encoding;
    return e == Encoding::sop1 || e == Encoding::sop2 || e == Encoding::sopk || e == Encoding::smrd;
  };
  for (size_t before = 0; before != wanted.count();) {
    before = wanted.count();
    for (size_t n = 0; n < k.code.size(); ++n)
      if (is_followed(k.code[n]) && (effects[n].writes & wanted).any()) wanted |= effects[n].reads;
  }
  return wanted;
}

const std::string* unresolved_at(const Listing& file, uint64_t at) {
  for (const uint64_t place : {at, at - 4})
    if (const auto it = file.unresolved.find(place); it != file.unresolved.end())
      return &it->second;
  return nullptr;
}

std::optional<uint64_t> loaded_place(const Kernel& k, const Instruction& load,
                                     const ScalarWords& words) {
  const Operand &base = load.operands[1], &offset = load.operands[2];
  const auto at = image_place(words.get(base), words.get(base, 1));
  if (k.file == nullptr || !k.file->image || !offset.immediate || !at) return std::nullopt;
  return (*at + static_cast<uint64_t>(scalar_offset(offset, k.gen))) & ~uint64_t{3};
}

std::vector<uint64_t> step_words(const Kernel& kernel, size_t index, const ScalarSet& writes,
                                 ScalarWords& words) {
  return Step(kernel, index, words).run(writes);
}

}  // namespace lanewise::gcn
