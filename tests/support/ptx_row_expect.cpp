#include "tests/support/ptx_row_expect.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <regex>

#include "runtime/layout/addresses.hpp"
#include "tests/oracle/ptx_memory.hpp"

namespace lanewise::test {
namespace {

using oracle::ptx::Class;
using oracle::ptx::Type;

/// One integer in any spelling of the language; empty for anything else.
std::optional<int64_t> integer(std::string text) {
  bool negative = false;
  while (text.starts_with('-')) {
    negative = !negative;
    text.erase(0, 1);
  }
  while (text.ends_with('U') || text.ends_with('u')) text.pop_back();
  if (text.empty() || text[0] < '0' || text[0] > '9') return {};
  const bool binary = text.starts_with("0b") || text.starts_with("0B");
  const char* from = text.c_str() + (binary ? 2 : 0);
  char* end = nullptr;
  const uint64_t value = std::strtoull(from, &end, binary ? 2 : 0);
  if (*end != 0) return {};
  return static_cast<int64_t>(negative ? 0 - value : value);
}

/// `a+b+c`, where a negative part is written `+-4`.
std::optional<int64_t> sum(const std::string& text) {
  int64_t total = 0;
  size_t from = 0;
  while (true) {
    const size_t plus = text.find('+', from);
    const auto part = integer(text.substr(from, plus == std::string::npos ? plus : plus - from));
    if (!part) return {};
    total = static_cast<int64_t>(static_cast<uint64_t>(total) + static_cast<uint64_t>(*part));
    if (plus == std::string::npos) return total;
    from = plus + 1;
  }
}

std::optional<Type> type_named(const std::string& q) {
  static const std::regex kForm("([busf])(8|16|32|64|128)");
  std::smatch m;
  if (!std::regex_match(q, m, kForm)) return {};
  const Class cls = m[1] == "u"   ? Class::is_unsigned
                    : m[1] == "s" ? Class::is_signed
                    : m[1] == "f" ? Class::floating
                                  : Class::untyped;
  return Type{cls, static_cast<unsigned>(std::stoul(m[2].str()))};
}

class Row {
 public:
  Row(const RowKernel& kernel, const RowPlace& place, const RowMemory& before)
      : k_(kernel), row_(kernel.parts), place_(place) {
    out_.memory = before;
    for (const std::string& reg : k_.destinations) out_.results.push_back(*k_.initial(reg));
    for (const std::string& q : row_.qualifiers) {
      if (const auto t = type_named(q)) type_ = *t;
      if (q == "v2" || q == "v4" || q == "v8") count_ = static_cast<unsigned>(q[1] - '0');
    }
  }

  std::optional<RowOutcome> run() {
    if (!active()) return out_;
    const bool known = row_.opcode == "ld" || row_.opcode == "ldu"     ? load()
                       : row_.opcode == "st"                           ? store()
                       : row_.opcode == "atom" || row_.opcode == "red" ? atomic()
                       : row_.opcode == "createpolicy"                 ? policy()
                       : row_.opcode == "isspacep"                     ? space_test()
                                                                       : changes_nothing();
    if (!known) return {};
    return out_;
  }

 private:
  struct Place {
    std::string space;
    uint64_t address = 0;
    std::vector<std::byte>* bytes = nullptr;
    size_t at = 0;
  };

  bool active() const {
    if (row_.guard.empty()) return true;
    return ((*k_.initial(row_.guard))[0] != 0) != row_.guard_negated;
  }

  bool changes_nothing() const {
    for (const char* name :
         {"prefetch", "prefetchu", "discard", "applypriority", "fence", "membar"})
      if (row_.opcode == name) return true;
    return false;
  }

  std::optional<Place> variable(const std::string& name) const {
    if (name == "gbuf") return Place{"global", place_.gbuf};
    if (name == "gvar") return Place{"global", place_.gvar};
    if (name == "cbuf") return Place{"const", place_.cbuf};
    if (name == "sbuf") return Place{"shared", 0};
    if (name == "lbuf") return Place{"local", 0};
    if (name == "kp0") return Place{"param", 0};
    if (name == "kparr") return Place{"param", 64};
    return {};
  }

  /// The address operand in its five forms.
  std::optional<Place> address(std::string text) const {
    text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
    const size_t open = text.find('['), close = text.rfind(']');
    if (open == std::string::npos || close == std::string::npos) return {};
    const std::string inside = text.substr(open + 1, close - open - 1);
    if (open != 0) {  // elements of the declared type, which is .b8 for every array here
      auto place = variable(text.substr(0, open));
      const auto index = sum(inside);
      if (!place || !index) return {};
      place->address = oracle::ptx::at_element(place->address, oracle::ptx::kB8, *index);
      return place;
    }
    const size_t plus = inside.find('+');
    const std::string base = inside.substr(0, plus);
    const auto offset = plus == std::string::npos ? 0 : sum(inside.substr(plus + 1));
    if (!offset) return {};
    if (const auto number = sum(inside)) return Place{"local", static_cast<uint64_t>(*number)};
    if (auto place = variable(base)) {
      place->address = oracle::ptx::at_variable(place->address, *offset);
      return place;
    }
    const auto words = k_.initial(base);
    if (!words || register_bits(base) < 32) return {};
    const uint64_t value = (*words)[0] | uint64_t{(*words)[1]} << 32;
    return generic(Place{row_.space(), oracle::ptx::at_register(value, *offset)});
  }

  static Place generic(Place place) {
    if (!place.space.empty()) return place;
    const bool window = place.address < guest::kLocalWindow;
    if (!window) return {"global", place.address};
    return {"shared", place.address - guest::kSharedWindow};
  }

  /// Finds the bytes of an access; nothing where they are not observed.
  std::optional<Place> reach(const std::string& operand, unsigned bytes) {
    auto place = address(operand);
    if (!place) return {};
    uint64_t at = place->address;
    if (place->space == "shared") {
      place->bytes = &out_.memory.shared;
    } else if (place->space == "local") {
      place->bytes = &out_.memory.local;
    } else if (place->space == "param") {
      params_ = k_.params;
      place->bytes = &params_;
    } else {
      place->bytes = &out_.memory.arena;
      at -= out_.memory.start;
    }
    if (at > place->bytes->size() || place->bytes->size() - at < bytes) return {};
    place->at = at;
    const bool any = place->space == "param";
    out_.faults =
        oracle::ptx::aligned(place->address, bytes, oracle::ptx::Align::trap).faults && !any;
    return place;
  }

  uint64_t peek(const Place& place, unsigned element) const {
    uint64_t value = 0;
    const auto at = static_cast<size_t>(oracle::ptx::at_vector_element(place.at, type_, element));
    std::memcpy(&value, place.bytes->data() + at, std::min(type_.bits / 8, 8U));
    return value;
  }

  void set(const std::string& reg, Words words) {
    const auto it = std::ranges::find(k_.destinations, reg);
    if (it != k_.destinations.end())
      out_.results[static_cast<size_t>(it - k_.destinations.begin())] = words;
  }
  void set64(const std::string& reg, uint64_t value) {
    set(reg, {static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32)});
  }

  /// Registers of 128 bits extend like others, of which the oracle has the lower half.
  void set_loaded(const std::string& reg, uint64_t memory) {
    const unsigned bits = register_bits(reg);
    if (bits != 128) return set64(reg, loaded(type_, std::max(bits, 8U), memory));
    const uint64_t low = loaded(type_, 64, memory);
    const bool negative = type_.cls == Class::is_signed && low >> 63 != 0;
    const uint32_t high = negative ? ~0U : 0;
    set(reg, {static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32), high, high});
  }

  bool load() {
    if (row_.operands.size() < 2) return false;
    const auto to = elements_of(row_.operands[0]);
    if (to.size() != count_) return false;
    const auto place = reach(row_.operands[1], bytes_of(type_, count_));
    if (!place) return false;
    for (unsigned i = 0; i < count_; ++i) {
      if (out_.faults) {
        set64(to[i], 0);
      } else if (type_.bits == 128) {
        Words words;
        std::memcpy(words.data(), place->bytes->data() + place->at, 16);
        set(to[i], words);
      } else {
        set_loaded(to[i], peek(*place, i));
      }
    }
    return true;
  }

  /// The bits of a stored operand.
  std::optional<Words> value(const std::string& operand) const {
    if (const auto words = k_.initial(operand)) return words;
    const auto number = integer(operand);
    if (!number || type_.cls == Class::floating || type_.bits > 64) return {};
    const auto bits = static_cast<uint64_t>(*number);
    return Words{static_cast<uint32_t>(bits), static_cast<uint32_t>(bits >> 32)};
  }

  bool store() {
    if (row_.operands.size() < 2) return false;
    const auto from = elements_of(row_.operands[1]);
    if (from.size() != count_) return false;
    const auto place = reach(row_.operands[0], bytes_of(type_, count_));
    if (!place || place->space == "param") return false;
    for (unsigned i = 0; i < count_; ++i) {
      if (from[i] == "_") continue;  // bytes under a sink stay
      const auto words = value(from[i]);
      if (!words) return false;
      for (unsigned n = 0; n < bytes_of(type_) && !out_.faults; ++n)
        place->bytes->at(place->at + i * bytes_of(type_) + n) =
            std::byte(oracle::ptx::stored((*words)[n / 4], n % 4));
    }
    return true;
  }

  std::optional<uint64_t> combined(uint64_t old, uint64_t b, uint64_t c) const {
    const auto is = [&](const char* name) { return row_.has(name); };
    const uint64_t all = type_.bits == 64 ? ~uint64_t{0} : (uint64_t{1} << type_.bits) - 1;
    const bool negative_less =
        type_.cls == Class::is_signed &&
        ((old ^ b) >> (type_.bits - 1) & 1) != 0;  // of numbers with unlike signs
    const bool less = negative_less ? old > b : old < b;
    if (type_.cls == Class::floating) return is("exch") ? std::optional(b) : std::nullopt;
    if (is("add")) return (old + b) & all;
    if (is("min")) return less ? old : b;
    if (is("max")) return less ? b : old;
    if (is("and")) return old & b;
    if (is("or")) return old | b;
    if (is("xor")) return old ^ b;
    if (is("exch")) return b;
    if (is("cas")) return old == b ? c : old;
    if (is("inc")) return old >= b ? 0 : old + 1;
    if (is("dec")) return old == 0 || old > b ? b : old - 1;
    return {};
  }

  std::optional<uint64_t> operand64(size_t i) const {
    if (i >= row_.operands.size()) return 0;
    const auto words = value(row_.operands[i]);
    if (!words) return {};
    const uint64_t bits = (*words)[0] | uint64_t{(*words)[1]} << 32;
    return type_.bits == 64 ? bits : bits & ((uint64_t{1} << type_.bits) - 1);
  }

  bool atomic() {
    const size_t first = row_.opcode == "atom" ? 1 : 0;
    if (type_.bits > 64 || count_ != 1 || row_.has("noftz")) return false;
    for (const char* packed : {"f16", "f16x2", "bf16", "bf16x2"})
      if (row_.has(packed)) return false;
    if (row_.operands.size() < first + 2) return false;
    const auto place = reach(row_.operands[first], bytes_of(type_));
    const auto b = operand64(first + 1), c = operand64(first + 2);
    if (!place || !b || !c || place->space == "param") return false;
    const uint64_t old = peek(*place, 0);
    const auto now = combined(old, *b, *c);
    if (!now) return false;
    if (first == 1) set64(row_.operands[0], out_.faults ? 0 : old);
    if (!out_.faults) std::memcpy(place->bytes->data() + place->at, &*now, type_.bits / 8);
    return true;
  }

  /// The words that the assembler folds.
  bool policy() {
    if (row_.has("cvt")) {
      const auto words = k_.initial(row_.operands[1]);
      if (words) set(row_.operands[0], *words);
      return words.has_value();
    }
    if (!row_.has("fractional")) return false;
    double fraction = 1.0;
    if (row_.operands.size() > 1) {
      const std::string& text = row_.operands[1];
      if (text.starts_with("0f"))
        fraction =
            std::bit_cast<float>(static_cast<uint32_t>(std::stoul(text.substr(2), nullptr, 16)));
      else if (text.find('.') != std::string::npos)
        fraction = static_cast<float>(std::stod(text));
      else
        return false;
    }
    std::vector<std::string> priorities;
    for (const std::string& q : row_.qualifiers)
      if (q.starts_with("L2::evict")) priorities.push_back(q.substr(10));
    const auto code = [](const std::string& name) {
      return name == "unchanged" ? 0U : name == "first" ? 1U : name == "last" ? 2U : 3U;
    };
    const uint32_t secondary = priorities.size() > 1 ? code(priorities[1]) : 0;
    const auto part = static_cast<uint32_t>(fraction * 15.99);
    set(row_.operands[0],
        {0, 0x10000000U | code(priorities.at(0)) << 25 | secondary << 24 | part << 20});
    return true;
  }

  bool space_test() {
    const auto words = k_.initial(row_.operands[1]);
    if (!words || register_bits(row_.operands[1]) != 64) return false;
    const uint64_t at = (*words)[0] | uint64_t{(*words)[1]} << 32;
    const std::string is = at == place_.cbuf + (at & 0x3ff)                         ? "const"
                           : at >= guest::kLocalWindow && at < guest::kCodeWindow   ? "local"
                           : at >= guest::kSharedWindow && at < guest::kLocalWindow ? "shared"
                                                                                    : "global";
    set(row_.operands[0], {is == row_.space() ? 1U : 0U});
    return row_.space() != "const";  // says which variables the module has
  }

  const RowKernel& k_;
  const RowText& row_;
  const RowPlace& place_;
  RowOutcome out_;
  std::vector<std::byte> params_;
  Type type_ = oracle::ptx::kB32;
  unsigned count_ = 1;
};

}  // namespace

std::optional<RowOutcome> expected_outcome(const RowKernel& kernel, const RowPlace& place,
                                           const RowMemory& before) {
  return Row(kernel, place, before).run();
}

}  // namespace lanewise::test
