// Structs of the driver API's manual that arrays and texture objects are described with, and the
// numbers in them. The mock of the driver reads the same ones.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lanewise::truth::cuda {

enum ArrayFormat : int {
  kU8 = 0x01,
  kU16 = 0x02,
  kU32 = 0x03,
  kS8 = 0x08,
  kS16 = 0x09,
  kS32 = 0x0a,
  kHalf = 0x10,
  kFloat = 0x20
};
enum ArrayFlags : unsigned { kLayered = 1, kSurface = 2, kCubes = 4, kGather = 8 };
enum TextureFlags : unsigned { kAsIntegers = 1, kNormalised = 2 };
inline constexpr int kHostMemory = 1, kArrayMemory = 3, kArrayResource = 0, kMipmapResource = 1;

struct ArrayDescriptor {
  size_t width, height, depth;
  int format;
  unsigned channels, flags;
};

struct CopyEnd {
  size_t x_bytes, y, z, level;
  int type;
  void* host;
  uint64_t device;
  void* array;
  void* reserved;
  size_t pitch, height;
};
struct Copy3d {
  CopyEnd from, to;
  size_t width_bytes, height, depth;
};

struct Resource {
  int type;
  union {
    void* array;
    int reserved[32];
  };
  unsigned flags;
};

struct Sampling {
  int address[3];
  int filter;
  unsigned flags, anisotropy;
  int mip_filter;
  float bias, least, most;
  float border[4];
  int reserved[12];
};

static_assert(sizeof(ArrayDescriptor) == 40 && sizeof(Copy3d) == 200 && sizeof(Resource) == 144 &&
              sizeof(Sampling) == 104);

}  // namespace lanewise::truth::cuda
