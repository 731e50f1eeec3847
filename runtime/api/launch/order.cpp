// The structs of a launch, taken over and given out.
#include "runtime/api/launch/launch.hpp"

#include <array>

#include "runtime/api/objects/structs.hpp"

namespace lanewise::host {

using lanewise::detail::ArgBytes;

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

std::span<const std::byte> low_bytes(const lw_arg& arg) {
  return std::as_bytes(std::span(&arg.bits, 1)).first(arg.size);
}

}  // namespace

LaunchOptions options_of(const lw_launch_options* options, std::shared_ptr<const void>& kept) {
  const lw_launch_options o = read_struct(options, "lw_launch_options");
  LaunchOptions out;
  out.grid = dim(o.grid, "grid");
  out.block = dim(o.block, "block");
  out.dynamic_shared = o.dynamic_shared;
  constexpr std::array kMemchecks = {Memcheck::alloc, Memcheck::arena, Memcheck::off};
  constexpr std::array kWaves = {WaveMode::automatic, WaveMode::lane, WaveMode::packed,
                                 WaveMode::serial};
  out.memcheck = choice(kMemchecks, o.memcheck, "memcheck");
  out.wave = choice(kWaves, o.wave, "wave");
  if (!(o.timeout_seconds >= 0))  // NaN, too
    fail(ErrorDetail::invalid_value, "timeout_seconds is no number of at least 0");
  out.timeout_seconds = o.timeout_seconds;
  if (o.policy_count != 0) required(o.policies, "policies");
  for (size_t i = 0; i < o.policy_count; ++i) add_policy(out, o.policies[i]);
  if (o.cancel != nullptr) {
    if (o.cancel_flag != nullptr)
      fail(ErrorDetail::invalid_value, "cancel and cancel_flag: give one of them");
    const auto cancel = find<Cancel>(o.cancel);
    out.cancel = &cancel->requested;
    kept = cancel;
  } else {
    static_assert(sizeof(std::atomic<bool>) == 1 && std::atomic<bool>::is_always_lock_free);
    out.cancel = static_cast<const std::atomic<bool>*>(o.cancel_flag);
  }
  return out;
}

Argument buffer_argument(std::shared_ptr<Buffer> buffer, uint64_t offset) {
  if (offset > buffer->memory.size)
    fail(ErrorDetail::out_of_range,
         fmt::format("byte {} does not lie in a buffer of {} bytes", offset, buffer->memory.size));
  const uint64_t address = buffer->memory.address + offset;
  return {LW_ARG_BUFFER, ArgBytes(std::as_bytes(std::span(&address, 1))), std::move(buffer)};
}

Argument argument_of(const lw_arg& arg) {
  const auto kind = static_cast<lw_arg_kind>(arg.kind);
  switch (arg.kind) {
    case LW_ARG_SIGNED:
    case LW_ARG_UNSIGNED:
      if (is_size(arg.size, {1, 2, 4, 8})) return {kind, ArgBytes(low_bytes(arg))};
      break;
    case LW_ARG_FLOAT:
      if (is_size(arg.size, {2, 4, 8})) return {kind, ArgBytes(low_bytes(arg))};
      break;
    case LW_ARG_BYTES:
      if (arg.size == 0 || arg.size > (1U << 16)) break;
      return {kind,
              ArgBytes({static_cast<const std::byte*>(required(arg.data, "data of an argument")),
                        static_cast<size_t>(arg.size)})};
    case LW_ARG_BUFFER:
      return buffer_argument(find<Buffer>(arg.buffer), arg.bits);
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

LaunchOrder order_of(const Kernel& kernel, const lw_launch_options* options, const lw_arg* args,
                     size_t count) {
  LaunchOrder out{kernel.module, kernel.index, {}, {}, {}, {}};
  out.options = options_of(options, out.kept);
  out.args.reserve(std::min<size_t>(count, 64));
  for (size_t i = 0; i < count; ++i) out.args.push_back(argument_of(read_arg(args, i)));
  return out;
}

Outcome::Outcome(std::string of, Result r) : kernel(std::move(of)), result(std::move(r)) {
  for (const FaultReport& f : result.faults) reports.push_back(format(f));
}

lw_status Outcome::status() const {
  try {
    result.check();
    return LW_OK;
  } catch (const Error& e) {
    return report(static_cast<lw_status>(e.kind()), detail_of(e), e.what());
  }
}

lw_status finish(std::shared_ptr<Outcome> outcome, lw_result** out) {
  const Result& r = outcome->result;
  if (logs(LW_LOG_INFO))
    log(LW_LOG_INFO, fmt::format("{}: {:.3f} ms on the device ({} mode), {} lanes faulted",
                                 outcome->kernel, r.times.dispatch_ms, r.wave_mode, r.fault_count));
  if (out != nullptr) *out = new_handle(outcome);
  return outcome->status();
}

}  // namespace lanewise::host

using namespace lanewise;
using namespace lanewise::host;

lw_status lw_result_get_info(lw_result* result, lw_result_info* out) {
  return guarded([&] {
    const auto object = find<Outcome>(result);
    const Result& r = object->result;
    lw_result_info value{};
    value.reported_faults = static_cast<uint32_t>(r.faults.size());
    value.fault_count = r.fault_count;
    value.parse_ms = r.times.parse_ms;
    value.translate_ms = r.times.translate_ms;
    value.pipeline_ms = r.times.pipeline_ms;
    value.dispatch_ms = r.times.dispatch_ms;
    value.wave_mode = r.wave_mode.c_str();
    value.wave_reason = r.wave_reason.c_str();
    value.policies = r.policies.lines().c_str();
    value.printed = r.printed.c_str();
    value.printed_bytes = r.printed.size();
    value.profile = r.profile.c_str();
    value.touched_ranges = object->touched.size();
    write_struct(out, value, "lw_result_info");
  });
}

lw_status lw_result_fault(lw_result* result, size_t index, lw_fault* out) {
  return guarded([&] {
    const auto object = find<Outcome>(result);
    const std::vector<FaultReport>& faults = object->result.faults;
    if (index >= faults.size())
      fail(ErrorDetail::out_of_range, fmt::format("the result has {} reports", faults.size()));
    lw_fault value{};
    lanewise::detail::each_fault_field(faults[index], value, ToC{});
    value.report = object->reports[index].c_str();
    write_struct(out, value, "lw_fault");
  });
}

lw_status lw_result_touched(lw_result* result, size_t index, lw_touched* out) {
  return guarded([&] {
    const auto object = find<Outcome>(result);
    if (index >= object->touched.size())
      fail(ErrorDetail::out_of_range,
           fmt::format("the result has {} ranges", object->touched.size()));
    const TouchedRange& r = object->touched[index];
    static const Outcome::Place kNone;
    const auto place = [&](uint32_t site) -> const Outcome::Place& {
      const auto known = object->places.find(site);
      return known != object->places.end() ? known->second : kNone;
    };
    const Outcome::Place &load = place(r.load_site), &store = place(r.store_site);
    lw_touched value{};
    value.address = r.address;
    value.bytes = r.bytes;
    value.load_line = load.line;
    value.load_text = load.text.c_str();
    value.load_source = load.source.c_str();
    value.load_strong = r.strong_load ? 1 : 0;
    value.store_line = store.line;
    value.store_text = store.text.c_str();
    value.store_source = store.source.c_str();
    value.store_strong = r.strong_store ? 1 : 0;
    value.same_value = r.same_value ? 1 : 0;
    write_struct(out, value, "lw_touched");
  });
}
