#include "runtime/diff/compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/api/npy.hpp"

namespace lanewise::diff {
namespace {

constexpr size_t kKept = 4096;

class Comparer {
 public:
  explicit Comparer(double bound) : bound_(bound) {}

  void buffer(size_t input, const std::string& type, const std::vector<std::byte>& a,
              const std::vector<std::byte>& b) {
    const unsigned size = detail::element_size(type);
    for (size_t at = 0; at + size <= a.size(); at += size)
      if (std::memcmp(&a[at], &b[at], size) != 0 && !excused(type, &a[at], &b[at]))
        differs({input, "", at / size});
  }
  void variable(size_t input, const std::string& name, const std::vector<std::byte>& a,
                const std::vector<std::byte>& b) {
    for (size_t at = 0; at < a.size(); ++at)
      if (a[at] != b[at]) differs({input, name, at});
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
  void differs(Element e) {
    ++out_.different;
    if (out_.elements.size() < kKept) out_.elements.push_back(std::move(e));
  }

  double bound_;
  Comparison out_;
};

}  // namespace

Comparison compare(const std::vector<Input>& inputs, const Outcome& a, const Outcome& b,
                   double bound) {
  Comparer comparer(bound);
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
