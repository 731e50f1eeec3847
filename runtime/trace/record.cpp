#include "runtime/trace/record.hpp"

#include <fmt/format.h>

#include "runtime/support/error.hpp"

namespace lanewise::trace {

void pack(WaveRecord& record, std::span<const uint64_t> addresses) {
  record.deltas.clear();
  record.stride = 0;
  record.base = addresses.empty() ? 0 : addresses[0];
  record.mode = addresses.empty() ? AddressMode::none : AddressMode::affine;
  if (addresses.size() < 2) return;
  record.stride = static_cast<int64_t>(addresses[1] - addresses[0]);
  for (size_t i = 2; i < addresses.size(); ++i)
    if (static_cast<int64_t>(addresses[i] - addresses[i - 1]) != record.stride)
      record.mode = AddressMode::deltas;
  if (record.mode == AddressMode::affine) return;
  record.stride = 0;
  for (size_t i = 1; i < addresses.size(); ++i)
    record.deltas.push_back(static_cast<int64_t>(addresses[i] - addresses[i - 1]));
}

void unpack(const WaveRecord& record, Lanes& lanes) {
  const unsigned count = record.mode == AddressMode::none ? 0 : active_lanes(record);
  lanes.count = count;
  uint64_t at = record.base;
  if (record.mode == AddressMode::affine) {
    for (unsigned i = 0; i < count; ++i, at += static_cast<uint64_t>(record.stride))
      lanes.address[i] = at;
    return;
  }
  if (count == 0) return;
  if (record.deltas.size() + 1 < count)
    throw Error(ErrorKind::usage,
                fmt::format("trace: a wave record of {} lanes holds only {} address deltas", count,
                            record.deltas.size()));
  lanes.address[0] = at;
  for (unsigned i = 1; i < count; ++i)
    lanes.address[i] = at += static_cast<uint64_t>(record.deltas[i - 1]);
}

}  // namespace lanewise::trace
