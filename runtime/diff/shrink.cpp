#include "runtime/diff/shrink.hpp"

#include <algorithm>

#include "runtime/support/npy.hpp"

namespace lanewise::diff {
namespace {

class Shrinker {
 public:
  Shrinker(Case& found, const std::function<bool(const Case&)>& differs,
           std::chrono::steady_clock::time_point end)
      : found_(found), differs_(differs), end_(end) {}

  uint32_t run() {
    for (uint32_t Dim3::*axis : {&Dim3::z, &Dim3::y, &Dim3::x}) {
      reduce(&LaunchOptions::grid, axis);
      reduce(&LaunchOptions::block, axis);
    }
    for (size_t i = 0; i < found_.inputs.size(); ++i)
      if (found_.inputs[i].filled) clear(i);
    return asked_;
  }

 private:
  bool accepted(const Case& candidate) {
    if (std::chrono::steady_clock::now() > end_) return false;
    ++asked_;
    if (!differs_(candidate)) return false;
    found_ = candidate;
    return true;
  }

  /// One first, then half as often as that goes well, then one less.
  void reduce(Dim3 LaunchOptions::*dims, uint32_t Dim3::*axis) {
    const auto with = [&](uint32_t n) {
      Case c = found_;
      c.options.*dims.*axis = n;
      return c;
    };
    if (found_.options.*dims.*axis == 1 || accepted(with(1))) return;
    while (found_.options.*dims.*axis > 2 && accepted(with(found_.options.*dims.*axis / 2))) {
    }
    while (found_.options.*dims.*axis > 2 && accepted(with(found_.options.*dims.*axis - 1))) {
    }
  }

  /// Ever smaller parts become zero.
  void clear(size_t input) {
    const size_t size = npy::element_size(found_.inputs[input].type);
    const size_t all = found_.inputs[input].bytes.size() / size;
    for (size_t chunk = all; chunk != 0; chunk /= 2)
      for (size_t at = 0; at < all; at += chunk) {
        Case c = found_;
        std::vector<std::byte>& bytes = c.inputs[input].bytes;
        const auto from = bytes.begin() + static_cast<ptrdiff_t>(at * size);
        const auto to = bytes.begin() + static_cast<ptrdiff_t>(std::min(at + chunk, all) * size);
        if (std::all_of(from, to, [](std::byte b) { return b == std::byte{0}; })) continue;
        std::fill(from, to, std::byte{0});
        accepted(c);
      }
  }

  Case& found_;
  const std::function<bool(const Case&)>& differs_;
  std::chrono::steady_clock::time_point end_;
  uint32_t asked_ = 0;
};

}  // namespace

uint32_t shrink(Case& found, const std::function<bool(const Case&)>& differs,
                std::chrono::steady_clock::time_point end) {
  return Shrinker(found, differs, end).run();
}

}  // namespace lanewise::diff
