#include "runtime/capi/launch.hpp"

#include <array>

#include "runtime/capi/structs.hpp"

namespace lanewise::capi {
namespace {

/// Zeros behind the first number count as one; in front of others they are a mistake.
Dim3 dim(const uint32_t (&v)[3], const char* what) {
  if (v[0] == 0 || (v[1] == 0 && v[2] != 0))
    fail(ErrorDetail::invalid_value,
         fmt::format("{} is ({}, {}, {}): say how many in x, and in y where z is given", what, v[0],
                     v[1], v[2]));
  return {v[0], std::max(v[1], 1U), std::max(v[2], 1U)};
}

template <typename T, size_t N>
T choice(const std::array<T, N>& values, uint32_t number, const char* what) {
  if (number >= N)
    fail(ErrorDetail::invalid_value,
         fmt::format("{} is {}; 0 to {} are known", what, number, N - 1));
  return values[number];
}

void add_policy(LaunchOptions& options, const char* text) {
  const std::string policy = required(text, "a policy");
  const size_t equals = policy.find('=');
  if (equals == std::string::npos)
    fail(ErrorDetail::invalid_value, "policy '" + policy + "': NAME=VALUE was expected");
  options.policies[policy.substr(0, equals)] = policy.substr(equals + 1);
}

bool is_size(uint64_t size, std::initializer_list<uint64_t> allowed) {
  return std::ranges::find(allowed, size) != allowed.end();
}

Arg buffer_argument(const lw_arg& arg) {
  const Buffer buffer = find<BufferObject>(arg.buffer)->buffer;
  if (arg.bits > buffer.size())
    fail(ErrorDetail::out_of_range,
         fmt::format("byte {} does not lie in a buffer of {} bytes", arg.bits, buffer.size()));
  return Arg(buffer, arg.bits);
}

std::span<const std::byte> low_bytes(const lw_arg& arg) {
  return std::as_bytes(std::span(&arg.bits, 1)).first(arg.size);
}

}  // namespace

Launching to_cpp(const lw_launch_options* options) {
  const lw_launch_options o = read_struct(options, "lw_launch_options");
  Launching out;
  out.options.grid = dim(o.grid, "grid");
  out.options.block = dim(o.block, "block");
  out.options.dynamic_shared = o.dynamic_shared;
  constexpr std::array kMemchecks = {Memcheck::alloc, Memcheck::arena, Memcheck::off};
  constexpr std::array kWaves = {WaveMode::automatic, WaveMode::lane, WaveMode::packed,
                                 WaveMode::serial};
  out.options.memcheck = choice(kMemchecks, o.memcheck, "memcheck");
  out.options.wave = choice(kWaves, o.wave, "wave");
  if (!(o.timeout_seconds >= 0))  // NaN, too
    fail(ErrorDetail::invalid_value, "timeout_seconds is no number of at least 0");
  out.options.timeout_seconds = o.timeout_seconds;
  if (o.policy_count != 0) required(o.policies, "policies");
  for (size_t i = 0; i < o.policy_count; ++i) add_policy(out.options, o.policies[i]);
  if (o.cancel != nullptr) {
    out.cancel = find<CancelObject>(o.cancel);
    out.options.cancel = &out.cancel->requested;
  }
  if (o.cancel_flag != nullptr) {
    if (o.cancel != nullptr)
      fail(ErrorDetail::invalid_value, "cancel and cancel_flag: give one of them");
    static_assert(sizeof(std::atomic<bool>) == 1 && std::atomic<bool>::is_always_lock_free);
    out.options.cancel = static_cast<const std::atomic<bool>*>(o.cancel_flag);
  }
  return out;
}

Arg to_cpp(const lw_arg& arg) {
  switch (arg.kind) {
    case LW_ARG_SIGNED:
    case LW_ARG_UNSIGNED:
      if (is_size(arg.size, {1, 2, 4, 8}))
        return Arg::integer(low_bytes(arg), arg.kind == LW_ARG_SIGNED);
      break;
    case LW_ARG_FLOAT:
      if (is_size(arg.size, {2, 4, 8})) return Arg::real(low_bytes(arg));
      break;
    case LW_ARG_BYTES:
      if (arg.size != 0 && arg.size <= (1U << 16))
        return Arg::raw({static_cast<const std::byte*>(required(arg.data, "data of an argument")),
                         static_cast<size_t>(arg.size)});
      break;
    case LW_ARG_BUFFER:
      return buffer_argument(arg);
    case LW_ARG_HOST:
      fail(ErrorDetail::argument_kind, "host memory is an argument of lw_run alone");
    default:
      fail(ErrorDetail::invalid_value, fmt::format("an argument of kind {}", arg.kind));
  }
  fail(ErrorDetail::argument_kind,
       fmt::format("an argument of kind {} has no size of {} bytes", arg.kind, arg.size));
}

lw_arg read_arg(const lw_arg* args, size_t index) {
  const size_t step = checked_size(required(args, "args"), "lw_arg");
  return read_struct(
      reinterpret_cast<const lw_arg*>(reinterpret_cast<const char*>(args) + index * step),
      "lw_arg");
}

std::vector<Arg> to_cpp(const lw_arg* args, size_t count) {
  std::vector<Arg> out;
  out.reserve(std::min<size_t>(count, 64));
  for (size_t i = 0; i < count; ++i) out.push_back(to_cpp(read_arg(args, i)));
  return out;
}

lw_status finish(Result result, const std::string& kernel, lw_result** out) {
  if (logs(LW_LOG_INFO))
    log(LW_LOG_INFO, fmt::format("{}: {:.3f} ms on the device ({} mode), {} lanes faulted", kernel,
                                 result.times.dispatch_ms, result.wave_mode, result.fault_count));
  const auto object = std::make_shared<ResultObject>(std::move(result));
  if (out != nullptr) *out = new_handle(object);
  try {
    object->result.check();
    return LW_OK;
  } catch (const Error& e) {
    return report(static_cast<lw_status>(e.kind()), detail_of(e), e.what());
  }
}

}  // namespace lanewise::capi
