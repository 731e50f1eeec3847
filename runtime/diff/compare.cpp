#include "runtime/diff/compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/support/npy.hpp"

namespace lanewise::diff {
namespace {

constexpr size_t kKept = 4096;

/// What both sides have, at addresses of their own.
class Places {
 public:
  Places(const std::vector<Input>& inputs, const Outcome& a, const Outcome& b) {
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].kind == Input::Kind::buffer)
        places_.push_back({a.addresses[i], b.addresses[i], inputs[i].bytes.size()});
    for (const auto& [name, at] : a.variable_addresses)
      if (const auto other = b.variable_addresses.find(name); other != b.variable_addresses.end())
        places_.push_back({at.first, other->second.first, at.second});
  }
  /// Do the words that hold the byte at `at` point to the same place, or right behind it?
  bool same(const std::vector<std::byte>& a, const std::vector<std::byte>& b, size_t at) const {
    return same<uint64_t>(a, b, at) || same<uint32_t>(a, b, at);
  }

 private:
  struct Place {
    uint64_t a = 0, b = 0, size = 0;
  };
  template <typename Word>
  bool same(const std::vector<std::byte>& a, const std::vector<std::byte>& b, size_t at) const {
    at = at / sizeof(Word) * sizeof(Word);
    if (at + sizeof(Word) > a.size()) return false;
    Word x = 0, y = 0;
    std::memcpy(&x, &a[at], sizeof x);
    std::memcpy(&y, &b[at], sizeof y);
    return std::ranges::any_of(
        places_, [&](const Place& p) { return x - p.a == y - p.b && x - p.a <= p.size; });
  }

  std::vector<Place> places_;
};

class Comparer {
 public:
  Comparer(double bound, const Places& places) : bound_(bound), places_(places) {}

  void buffer(size_t input, const std::string& type, const std::vector<std::byte>& a,
              const std::vector<std::byte>& b) {
    const unsigned size = npy::element_size(type);
    for (size_t at = 0; at + size <= a.size(); at += size)
      if (std::memcmp(&a[at], &b[at], size) != 0 && !excused(type, &a[at], &b[at]) &&
          !pointer(a, b, at))
        differs({input, "", at / size});
  }
  void variable(size_t input, const std::string& name, const std::vector<std::byte>& a,
                const std::vector<std::byte>& b) {
    for (size_t at = 0; at < a.size(); ++at)
      if (a[at] != b[at] && !pointer(a, b, at)) differs({input, name, at});
  }
  Comparison result() { return std::move(out_); }

 private:
  bool excused(const std::string& type, const std::byte* a, const std::byte* b) {
    if (!is_float(type)) return false;
    const double x = float_value(type, a), y = float_value(type, b);
    if (std::isnan(x) && std::isnan(y)) return ++out_.nan_payloads, true;
    const double distance = std::fabs(x - y);
    if (bound_ == 0 || !(distance <= bound_)) return false;
    out_.largest = std::max(out_.largest, distance);
    return ++out_.within, true;
  }
  bool pointer(const std::vector<std::byte>& a, const std::vector<std::byte>& b, size_t at) {
    const bool same = places_.same(a, b, at);
    out_.pointers += same ? 1 : 0;
    return same;
  }
  void differs(Element e) {
    ++out_.different;
    if (out_.elements.size() < kKept) out_.elements.push_back(std::move(e));
  }

  double bound_;
  const Places& places_;
  Comparison out_;
};

}  // namespace

Comparison compare(const std::vector<Input>& inputs, const Outcome& a, const Outcome& b,
                   double bound) {
  const Places places(inputs, a, b);
  Comparer comparer(bound, places);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].kind == Input::Kind::buffer)
      comparer.buffer(i, inputs[i].type, a.buffers[i], b.buffers[i]);
  for (const auto& [name, bytes] : a.variables) {
    const auto other = b.variables.find(name);
    if (!a.written.contains(name) && !b.written.contains(name)) continue;
    if (other != b.variables.end() && other->second.size() == bytes.size())
      comparer.variable(inputs.size(), name, bytes, other->second);
  }
  return comparer.result();
}

bool stored(const std::vector<Input>& inputs, const Outcome& outcome) {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].kind == Input::Kind::buffer && inputs[i].bytes != outcome.buffers[i]) return true;
  return !outcome.written.empty();
}

}  // namespace lanewise::diff
