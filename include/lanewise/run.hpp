// One call: a kernel on memory of the host. Loads the program, runs a kernel of it and waits.
//
//   std::vector<float> x(1000, 1), y(1000, 2);
//   lanewise::run({.text = ptx}, {.grid = {4}, .block = {256}}, 1000, 2.0f, std::as_const(x), y)
//       .check();
#pragma once

#include "lanewise/detail/needs_cxx20.hpp"

#include <array>
#include <optional>
#include <ranges>

#include "lanewise/lanewise.hpp"

namespace lanewise {

struct HostProgram {
  std::string text;                   ///< kept for the next call with the same one
  std::string kernel = {};            ///< empty = the only one
  std::optional<Device> device = {};  ///< none = the default device, which stays open
};

namespace detail {

/// An argument with what it refers to.
struct HostArg {
  std::optional<Arg> scalar;
  lw_arg memory{};
  lw_arg c_arg() const { return scalar ? scalar->c_arg() : memory; }
};

template <typename T>
concept HostRange = std::ranges::contiguous_range<T> && std::ranges::sized_range<T> &&
    std::is_trivially_copyable_v<std::ranges::range_value_t<T>>;

template <typename T>
HostArg host_arg(T&& value) {
  if constexpr (HostRange<T>) {
    static_assert(std::ranges::borrowed_range<T>, "results would go to a temporary");
    auto* const data = std::ranges::data(value);
    const uint64_t bytes = std::ranges::size(value) * sizeof *data;
    if (bytes == 0) return {Arg(uint64_t{0})};  // nothing that could be accessed
    if constexpr (std::is_const_v<std::remove_pointer_t<decltype(data)>>)
      return {{}, lw_arg_host_const(data, bytes)};
    else
      return {{}, lw_arg_host(data, bytes)};
  } else {
    return {Arg(std::forward<T>(value))};
  }
}

}  // namespace detail

/// Arguments in parameter order: numbers, Args and Buffers, and contiguous ranges (vectors, arrays,
/// spans) as memory of the host. The kernel's parameter is a pointer to it. What a range's type
/// calls constant is not written back, and a kernel that changes it is an Error. Ranges that
/// overlap are one memory. See lw_run for what is reached in place and what is copied.
template <typename... Args>
Result run(const HostProgram& program, const LaunchOptions& options, Args&&... args) {
  const std::array<detail::HostArg, sizeof...(Args)> given{
      detail::host_arg(std::forward<Args>(args))...};
  std::array<lw_arg, sizeof...(Args)> values;
  std::transform(given.begin(), given.end(), values.begin(), std::mem_fn(&detail::HostArg::c_arg));
  const detail::COptions how(options);
  lw_result* result = nullptr;
  const lw_status status =
      lw_run(program.device ? program.device->c_handle() : nullptr, program.text.c_str(),
             detail::c_text(program.kernel), how.get(), values.data(), values.size(), &result);
  return detail::take(status, result);
}

}  // namespace lanewise
