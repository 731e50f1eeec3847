#include "runtime/api/calls/host_ranges.hpp"

#include <fmt/format.h>

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <map>
#include <mutex>

#include "runtime/api/objects/status.hpp"

namespace lanewise::host {
namespace {

struct Registered {
  std::mutex mutex;
  std::map<uint64_t, uint64_t> sizes;  ///< by address
};
Registered& registered() {
  static auto* const the_ranges = new Registered;  // outlives every user
  return *the_ranges;
}

uint64_t address_of(const void* data) {
  return reinterpret_cast<uint64_t>(data);
}

}  // namespace

void register_range(void* data, uint64_t bytes) {
  const uint64_t address = address_of(required(data, "data"));
  if (bytes == 0 || bytes > UINT64_MAX - address)
    fail(ErrorDetail::invalid_value, fmt::format("a range of {} bytes", bytes));
  Registered& r = registered();
  const std::lock_guard lock(r.mutex);
  const auto next = r.sizes.lower_bound(address);
  const bool over_next = next != r.sizes.end() && next->first < address + bytes;
  const bool over_last =
      next != r.sizes.begin() && std::prev(next)->first + std::prev(next)->second > address;
  if (over_next || over_last)
    fail(ErrorDetail::invalid_value,
         fmt::format("{} bytes at {:#x} overlap a range that is registered", bytes, address));
  r.sizes.emplace(address, bytes);
}

void unregister_range(void* data) {
  Registered& r = registered();
  const std::lock_guard lock(r.mutex);
  if (r.sizes.erase(address_of(data)) == 0)
    fail(ErrorDetail::not_found,
         fmt::format("no registered range begins at {:#x}", address_of(data)));
}

std::vector<HostRange> registered_ranges() {
  Registered& r = registered();
  const std::lock_guard lock(r.mutex);
  std::vector<HostRange> out;
  for (const auto& [address, size] : r.sizes) out.push_back({address, size, false});
  return out;
}

HostRange range_around(const void* data) {
  const uint64_t address = address_of(data);
  Registered& r = registered();
  const std::lock_guard lock(r.mutex);
  const auto after = r.sizes.upper_bound(address);
  if (after == r.sizes.begin()) return {};
  const auto& [begin, size] = *std::prev(after);
  return address - begin < size ? HostRange{begin, size, false} : HostRange{};
}

std::vector<HostRange> mapped_ranges() {
  std::vector<HostRange> out;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uint64_t begin = 0, end = 0;
    char rights[5] = {};
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s", &begin, &end, rights) != 3)
      continue;
    if (rights[0] != 'r' || line.find("[v") != std::string::npos) continue;  // [vvar], [vsyscall]
    const bool read_only = rights[1] != 'w';
    if (!out.empty() && out.back().address + out.back().size == begin &&
        out.back().read_only == read_only) {
      out.back().size += end - begin;
    } else {
      out.push_back({begin, end - begin, read_only});
    }
  }
  return out;
}

}  // namespace lanewise::host
