// Launches between C++ and C: options and arguments one way, results the other.
#pragma once

#include "lanewise/buffer.hpp"
#include "lanewise/detail/fields.hpp"
#include "lanewise/result.hpp"

namespace lanewise::detail {

/// In C a 0 behind the first number is 1; here it is a mistake.
inline void set_size(uint32_t (&to)[3], const Dim3& from, const char* what, const char* of) {
  if (from.x == 0 || from.y == 0 || from.z == 0) {
    std::string message = what;
    message.append(" ").append(std::to_string(from.x)).append("x").append(std::to_string(from.y));
    message.append("x").append(std::to_string(from.z)).append(" has no ").append(of);
    throw Error(ErrorKind::usage, message.append(": every dimension must be at least 1"));
  }
  to[0] = from.x;
  to[1] = from.y;
  to[2] = from.z;
}

/// Options for the C API; lives as long as they are used.
class COptions {
 public:
  explicit COptions(const LaunchOptions& o) {
    set_size(options_.grid, o.grid, "grid", "work-group");
    set_size(options_.block, o.block, "block", "thread");
    options_.dynamic_shared = o.dynamic_shared;
    options_.memcheck = o.memcheck == Memcheck::alloc   ? LW_MEMCHECK_ALLOC
                        : o.memcheck == Memcheck::arena ? LW_MEMCHECK_ARENA
                                                        : LW_MEMCHECK_OFF;
    options_.wave = static_cast<uint32_t>(o.wave);
    options_.timeout_seconds = o.timeout_seconds;
    options_.cancel_flag = o.cancel;
    for (const auto& [name, value] : o.policies)
      texts_.emplace_back(name).append("=").append(value);
    for (const std::string& text : texts_) policies_.push_back(text.c_str());
    options_.policies = policies_.data();
    options_.policy_count = policies_.size();
  }
  COptions(const COptions&) = delete;
  COptions& operator=(const COptions&) = delete;
  const lw_launch_options* get() const { return &options_; }

 private:
  lw_launch_options options_ = LW_LAUNCH_OPTIONS_INIT;
  std::vector<std::string> texts_;
  std::vector<const char*> policies_;
};
static_assert(static_cast<uint32_t>(WaveMode::automatic) == LW_WAVE_AUTO &&
              static_cast<uint32_t>(WaveMode::lane) == LW_WAVE_LANE &&
              static_cast<uint32_t>(WaveMode::packed) == LW_WAVE_PACKED &&
              static_cast<uint32_t>(WaveMode::serial) == LW_WAVE_SERIAL);
static_assert(sizeof(std::atomic<bool>) == 1 && std::atomic<bool>::is_always_lock_free);

inline std::vector<lw_arg> to_c(std::span<const Arg> args) {
  std::vector<lw_arg> out;
  out.reserve(args.size());
  for (const Arg& a : args) out.push_back(a.c_arg());
  return out;
}

inline FaultReport to_cpp(const lw_fault& f) {
  FaultReport out;
  each_fault_field(out, f, FromC{});
  return out;
}

/// "NAME=VALUE" lines.
inline std::map<std::string, std::string> pairs_of(std::string_view lines) {
  std::map<std::string, std::string> out;
  while (!lines.empty()) {
    const size_t end = lines.find('\n');
    const std::string_view line = lines.substr(0, end);
    const size_t equals = line.find('=');
    if (equals != std::string_view::npos)
      out.emplace(line.substr(0, equals), line.substr(equals + 1));
    lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 1);
  }
  return out;
}

/// The same as the last result's, mostly, which are taken apart once for all.
inline const PoliciesInForce& policies_of(std::string_view lines) {
  static thread_local PoliciesInForce last;
  if (last.lines() != lines) last = pairs_of(lines);
  return last;
}

/// The result of a launch that ran, faults or not; the handle is released.
inline Result take(lw_result* result) {
  const std::unique_ptr<lw_result, void (*)(lw_result*)> owner(result, lw_result_release);
  lw_result_info info{};
  info.struct_size = sizeof info;
  call(lw_result_get_info(result, &info));
  Result out;
  out.fault_count = info.fault_count;
  out.times = {info.parse_ms, info.translate_ms, info.pipeline_ms, info.dispatch_ms};
  out.wave_mode = info.wave_mode;
  out.wave_reason = info.wave_reason;
  out.policies = policies_of(info.policies);
  out.printed.assign(info.printed, info.printed_bytes);
  out.profile = info.profile;
  for (size_t i = 0; i < info.reported_faults; ++i) {
    lw_fault fault{};
    fault.struct_size = sizeof fault;
    call(lw_result_fault(result, i, &fault));
    out.faults.push_back(to_cpp(fault));
  }
  return out;
}

/// What a call answered that gives a result even when lanes faulted.
inline Result take(lw_status status, lw_result* result) {
  if (result == nullptr) raise(status);
  return take(result);
}

}  // namespace lanewise::detail
