#include "runtime/host/cuda/properties.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/host/core/devices.hpp"
#include "runtime/host/core/gpu.hpp"
#include "runtime/host/core/operation.hpp"

namespace lanewise::cuda {
namespace {

using core::Gpu;
using core::Limits;

struct Figures {
  const Gpu& g = core::current_gpu();
  const Limits& l = core::limits();
  int bus = core::bus_of(core::current_device());
};

void fill_head(PropertyHead& out) {
  const char* name = core::current_gpu().market_name;
  std::memcpy(out.name, name, std::min(std::strlen(name), sizeof out.name - 1));
  std::memcpy(out.uuid, core::uuid_of(core::current_device()).data(), sizeof out.uuid);
}

}  // namespace

PropertyHead property_head() {
  PropertyHead out{};
  fill_head(out);
  return out;
}

#define LANEWISE_FILL(attribute, type, name, value) out.name = static_cast<type>(value);
#define LANEWISE_SKIP(attribute, type, name, value)

void fill_properties(Properties11& out) {
  const auto& [g, l, bus] = Figures{};
  out = {};
  fill_head(out);
#define ALL LANEWISE_FILL
#define OLD LANEWISE_FILL
#define NEW LANEWISE_SKIP
#define LATEST LANEWISE_SKIP
#include "runtime/host/cuda/properties.def"
#undef NEW
}

void fill_properties(Properties12& out) {
  const auto& [g, l, bus] = Figures{};
  out = {};
  fill_head(out);
#define NEW LANEWISE_FILL
#include "runtime/host/cuda/properties.def"
#undef OLD
#undef LATEST
}

void fill_properties(Properties13& out) {
  const auto& [g, l, bus] = Figures{};
  out = {};
  fill_head(out);
#define OLD LANEWISE_SKIP
#define LATEST LANEWISE_FILL
#include "runtime/host/cuda/properties.def"
#undef ALL
#undef OLD
#undef NEW
#undef LATEST
}

int attribute_value(int attribute) {
  constexpr int kLast = 147, kMapsAddresses = 102;  // no property says so
  const auto& [g, l, bus] = Figures{};
  core::require(attribute > 0 && attribute <= kLast);
  if (attribute == kMapsAddresses) return 1;
#define ALL(number, type, name, value) \
  if (attribute == (number)) return static_cast<int>(std::min<int64_t>(value, INT32_MAX));
#define OLD ALL
#define NEW ALL
#define LATEST ALL
#include "runtime/host/cuda/properties.def"
#undef ALL
#undef OLD
#undef NEW
#undef LATEST
  return 0;
}

}  // namespace lanewise::cuda
