// cudaDeviceProp, which differs from version to version, and cudaDeviceGetAttribute, of one table.
#pragma once

#include <cstddef>

#include "runtime/host/cuda/types.hpp"

namespace lanewise::cuda {

struct PropertyHead {
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luid_mask;
};

#define LANEWISE_PROPERTY(attribute, type, name, value) type name;
#define LANEWISE_NO_PROPERTY(attribute, type, name, value)

/// The layout of CUDA 11, which 12 has kept under the old name.
struct Properties11 : PropertyHead {
#define ALL LANEWISE_PROPERTY
#define OLD LANEWISE_PROPERTY
#define NEW LANEWISE_NO_PROPERTY
#define LATEST LANEWISE_NO_PROPERTY
#include "runtime/host/cuda/properties.def"
#undef NEW
};
struct Properties12 : PropertyHead {
#define NEW LANEWISE_PROPERTY
#include "runtime/host/cuda/properties.def"
#undef OLD
#undef LATEST
  int reserved[63];
};
struct Properties13 : PropertyHead {
#define OLD LANEWISE_NO_PROPERTY
#define LATEST LANEWISE_PROPERTY
#include "runtime/host/cuda/properties.def"
#undef ALL
#undef OLD
#undef NEW
#undef LATEST
  int reserved[56];
};

#undef LANEWISE_PROPERTY
#undef LANEWISE_NO_PROPERTY

// As sizeof(cudaDeviceProp) is in the headers of the three.
static_assert(sizeof(Properties11) == 728 && sizeof(Properties12) == 1032);

/// All of the current device.
PropertyHead property_head();
void fill_properties(Properties11& out);
void fill_properties(Properties12& out);
void fill_properties(Properties13& out);
/// Throws for a number that no version has.
int attribute_value(int attribute);

}  // namespace lanewise::cuda
