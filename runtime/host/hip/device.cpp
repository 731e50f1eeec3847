// Devices, their properties and limits: a card of GCN3.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "runtime/host/core/gpu.hpp"
#include "runtime/host/hip/entry.hpp"

namespace lanewise::hip {
namespace {

/// Of the vendor's data sheet.
struct Card {
  const char* name = "AMD Radeon RX 580";
  const char* target = "gfx803";
  int units = kUnits, clock_khz = 1340000, memory_clock_khz = 2000000, bus_bits = 256;
  int l2 = 2 << 20, threads_per_unit = 2560, threads = 1024, version = 803;
  uint64_t memory = uint64_t{8} << 30;
};
constexpr Card kCard;

uint64_t memory_bytes() {
  return std::min(kCard.memory,
                  Context::current().info().max_arena / static_cast<unsigned>(device_count()));
}

/// hipDeviceProp_t
struct Properties {
  char name[256];
  size_t memory, shared;
  int registers, wave, threads, block[3], grid[3], clock, memory_clock, bus;
  size_t constant;
  int major, minor, units, l2, threads_per_unit, compute_mode, clock_instruction;
  unsigned features;
  int concurrent, domain, bus_id, device_id;
  size_t shared_per_unit;
  int several, maps_host, version;
  char target[256];
  int integrated, cooperative, cooperative_several;
  int texture_1d_linear, texture_1d, texture_2d[2], texture_3d[3];
  unsigned *flush_memory, *flush_registers;
  size_t pitch, texture_alignment, texture_pitch;
  int timeout, ecc, tcc, unmatched[4], large_bar, revision, managed, direct_managed,
      concurrent_managed, pageable, pageable_tables;
};
static_assert(sizeof(Properties) == 792);

/// Bits of hipDeviceArch_t: atomics, doubles, votes, shuffles, fences, grids of three dimensions;
/// no funnel shift, no surfaces.
constexpr unsigned kFeatures = 0x97ff;

void fill(Properties& out) {
  out = {};
  std::snprintf(out.name, sizeof out.name, "%s", kCard.name);
  std::snprintf(out.target, sizeof out.target, "%s", kCard.target);
  const Limits& l = limits();
  out.memory = memory_bytes();
  out.shared = out.shared_per_unit = kSharedBytes;
  out.registers = 65536;
  out.wave = kWave;
  out.threads = kCard.threads;
  for (int i = 0; i < 3; ++i) {
    out.block[i] = kCard.threads;
    out.grid[i] = static_cast<int>(std::min<uint32_t>(l.grid[i], INT32_MAX));
  }
  out.clock = kCard.clock_khz;
  out.memory_clock = kCard.memory_clock_khz;
  out.bus = kCard.bus_bits;
  out.constant = 2147483647;
  out.major = 8, out.minor = 0;
  out.units = kCard.units;
  out.l2 = kCard.l2;
  out.threads_per_unit = kCard.threads_per_unit;
  out.clock_instruction = 1000000;
  out.features = kFeatures;
  out.concurrent = out.maps_host = out.managed = 1;
  out.bus_id = bus_of(current_device());
  out.version = kCard.version;
  out.cooperative = 1;
  out.pitch = 2147483647;
  out.texture_alignment = out.texture_pitch = 256;
  constexpr int kTexels = 1 << 27;
  out.texture_1d = kImageSide, out.texture_1d_linear = kTexels;
  for (int& side : out.texture_2d) side = kImageSide;
  out.texture_3d[0] = out.texture_3d[1] = kImageSide, out.texture_3d[2] = kImageSlices;
}

int attribute_of(int attribute) {
  Properties p;
  fill(p);
  const std::pair<int, int64_t> values[] = {{3, p.maps_host},
                                            {5, p.clock},
                                            {8, p.concurrent},
                                            {10, p.cooperative},
                                            {19, p.l2},
                                            {23, p.major},
                                            {24, p.managed},
                                            {25, p.threads_per_unit / kWave},
                                            {26, p.block[0]},
                                            {27, p.block[1]},
                                            {28, p.block[2]},
                                            {29, p.grid[0]},
                                            {30, p.grid[1]},
                                            {31, p.grid[2]},
                                            {32, p.texture_1d},  // surfaces
                                            {34, p.texture_2d[0]},
                                            {36, p.texture_3d[2]},
                                            {39, p.texture_1d},
                                            {41, p.texture_1d_linear},
                                            {43, p.texture_2d[0]},
                                            {44, p.texture_2d[1]},
                                            {49, p.texture_3d[0]},
                                            {50, p.texture_3d[1]},
                                            {51, p.texture_3d[2]},
                                            {55, p.block[0]},
                                            {56, p.threads},
                                            {57, p.threads_per_unit},
                                            {58, INT32_MAX},
                                            {59, p.bus},
                                            {60, p.memory_clock},
                                            {61, p.minor},
                                            {63, p.units},
                                            {67, p.bus_id},
                                            {71, p.registers},
                                            {72, p.registers},
                                            {74, static_cast<int64_t>(p.shared)},
                                            {75, static_cast<int64_t>(p.shared)},
                                            {76, static_cast<int64_t>(p.shared)},
                                            {78, 1},
                                            {81, 256},
                                            {82, 256},
                                            {83, INT32_MAX},
                                            {84, INT32_MAX},
                                            {85, 1},
                                            {87, p.wave},
                                            {88, 1},
                                            {10000, p.clock_instruction},
                                            {10002, static_cast<int64_t>(p.shared)},
                                            {10003, p.version},
                                            {10014, 1},  // images
                                            {10015, p.units},
                                            {10016, 1}};  // memory that both sides see at once
  constexpr int kLast = 88, kFirstOfAmd = 10000, kLastOfAmd = 10016;
  require((attribute >= 0 && attribute <= kLast) ||
          (attribute >= kFirstOfAmd && attribute <= kLastOfAmd));
  for (const auto& [number, value] : values)
    if (number == attribute) return static_cast<int>(value);
  return 0;
}

constexpr int kVersion = 50221153;

}  // namespace
}  // namespace lanewise::hip

using namespace lanewise::hip;

ENTRY(hipInit, (unsigned flags)) {
  return answer([&] {
    require(flags == 0);
    Context::current();
  });
}
ENTRY(hipDriverGetVersion, (int* version)) {
  return answer([&] { *required(version) = kVersion; }, After::works);
}
ALSO(hipRuntimeGetVersion, hipDriverGetVersion);
SAME(hipGetDeviceCount, cudaGetDeviceCount, (int* count), (count))
SAME(hipGetDevice, cudaGetDevice, (int* device), (device))
SAME(hipSetDevice, cudaSetDevice, (int device), (device))
SAME(hipDeviceSynchronize, cudaDeviceSynchronize, (), ())
SAME(hipDeviceReset, cudaDeviceReset, (), ())
SAME(hipSetDeviceFlags, cudaSetDeviceFlags, (unsigned flags), (flags))
SAME(hipGetDeviceFlags, cudaGetDeviceFlags, (unsigned* flags), (flags))
SAME(hipDeviceGetLimit, cudaDeviceGetLimit, (size_t * value, int limit), (value, limit))
SAME(hipDeviceSetCacheConfig, cudaDeviceSetCacheConfig, (int config), (config))
SAME(hipDeviceGetCacheConfig, cudaDeviceGetCacheConfig, (int* config), (config))
SAME(hipDeviceSetSharedMemConfig, cudaDeviceSetSharedMemConfig, (int config), (config))
SAME(hipDeviceGetSharedMemConfig, cudaDeviceGetSharedMemConfig, (int* config), (config))
SAME(hipDeviceGetPCIBusId, cudaDeviceGetPCIBusId, (char* text, int bytes, int device),
     (text, bytes, device))
SAME(hipDeviceCanAccessPeer, cudaDeviceCanAccessPeer, (int* can, int device, int peer),
     (can, device, peer))
SAME(hipDeviceGetByPCIBusId, cudaDeviceGetByPCIBusId, (int* device, const char* text),
     (device, text))
SAME(hipMemcpyPeer, cudaMemcpyPeer,
     (void* to, int to_device, const void* from, int from_device, size_t bytes),
     (to, to_device, from, from_device, bytes))
SAME(hipMemcpyPeerAsync, cudaMemcpyPeerAsync,
     (void* to, int to_device, const void* from, int from_device, size_t bytes,
      StreamHandle stream),
     (to, to_device, from, from_device, bytes, stream))
SAME(hipDeviceEnablePeerAccess, cudaDeviceEnablePeerAccess, (int peer, unsigned flags),
     (peer, flags))
SAME(hipDeviceDisablePeerAccess, cudaDeviceDisablePeerAccess, (int peer), (peer))
SAME(hipProfilerStart, cudaProfilerStart, (), ())
SAME(hipProfilerStop, cudaProfilerStop, (), ())
ENTRY(hipGetDeviceProperties, (Properties * out, int device)) {
  return answer([&] {
    check_device(device);
    const OnDevice its(device);
    fill(*required(out));
  });
}
ENTRY(hipDeviceGetAttribute, (int* value, int attribute, int device)) {
  return answer([&] {
    check_device(device);
    const OnDevice its(device);
    *required(value) = attribute_of(attribute);
  });
}
ENTRY(hipDeviceGet, (int* device, int ordinal)) {
  return answer([&] {
    check_device(ordinal);
    *required(device) = ordinal;
  });
}
ENTRY(hipDeviceGetName, (char* name, int bytes, int device)) {
  return answer([&] {
    check_device(device);
    require(name != nullptr && bytes > 0);
    std::snprintf(name, static_cast<size_t>(bytes), "%s", kCard.name);
  });
}
ENTRY(hipDeviceTotalMem, (size_t * bytes, int device)) {
  return answer([&] {
    check_device(device);
    *required(bytes) = memory_bytes();
  });
}
ENTRY(hipDeviceComputeCapability, (int* major, int* minor, int device)) {
  return answer([&] {
    check_device(device);
    *required(major) = 8;
    *required(minor) = 0;
  });
}
