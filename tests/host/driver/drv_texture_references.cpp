// Textures that PTX declares and the program binds: to an array, to rows of memory, to a line of
// it.
#include "check.hpp"

static const char* const image = R"(
.version 6.0
.target sm_61
.address_size 64
.global .texref image;
.visible .entry fractions(.param .u64 out, .param .f32 x, .param .f32 y) {
  .reg .u64 a, o; .reg .u32 t; .reg .f32 u, v, r, g, b, w;
  ld.param.u64 a, [out];
  mov.u32 t, %tid.x;
  cvt.rn.f32.u32 u, t;
  ld.param.f32 v, [x];
  mul.f32 u, u, v;
  ld.param.f32 v, [y];
  tex.2d.v4.f32.f32 {r, g, b, w}, [image, {u, v}];
  mul.wide.u32 o, t, 4;
  add.u64 a, a, o;
  st.global.f32 [a], r;
  ret;
}
.visible .entry whole(.param .u64 out) {
  .reg .u64 a, o; .reg .u32 t, r, g, b, w;
  ld.param.u64 a, [out];
  mov.u32 t, %tid.x;
  tex.1d.v4.u32.s32 {r, g, b, w}, [image, {t}];
  mul.wide.u32 o, t, 4;
  add.u64 a, a, o;
  st.global.u32 [a], r;
  ret;
}
)";

static const unsigned width = 8, height = 2;
static CUfunction fractions, whole;
static CUdeviceptr results;

static std::vector<float> read(float x, float y) {
  void* arguments[] = {&results, &x, &y};
  CHECK(cuLaunchKernel(fractions, 1, 1, 1, width, 1, 1, 0, nullptr, arguments, nullptr));
  std::vector<float> out(width);
  CHECK(cuMemcpyDtoH(out.data(), results, width * 4));
  return out;
}

int main() {
  make_context();
  CUmodule module;
  CHECK(cuModuleLoadData(&module, image));
  CHECK(cuModuleGetFunction(&fractions, module, "fractions"));
  CHECK(cuModuleGetFunction(&whole, module, "whole"));
  CHECK(cuMemAlloc(&results, width * 4));
  CUtexref texture, same;
  CHECK(cuModuleGetTexRef(&texture, module, "image"));
  CHECK(cuModuleGetTexRef(&same, module, "image"));
  EXPECT(texture == same && cuModuleGetTexRef(&same, module, "none") == CUDA_ERROR_NOT_FOUND);

  // Properties count whether they are set before the array is, or after.
  CUDA_ARRAY_DESCRIPTOR shape{width, height, CU_AD_FORMAT_FLOAT, 1};
  CUarray array, found;
  CHECK(cuArrayCreate(&array, &shape));
  std::vector<float> texels(width * height);
  for (size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<float>(i * i);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST, copy.srcHost = texels.data(), copy.srcPitch = width * 4;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY, copy.dstArray = array;
  copy.WidthInBytes = width * 4, copy.Height = height;
  CHECK(cuMemcpy2D(&copy));
  CHECK(cuTexRefSetAddressMode(texture, 0, CU_TR_ADDRESS_MODE_CLAMP));
  CHECK(cuTexRefSetArray(texture, array, CU_TRSA_OVERRIDE_FORMAT));
  std::vector<float> out = read(1.0f, 1.0f);
  for (unsigned x = 0; x < width; ++x) EXPECT(out[x] == texels[width + x]);
  CHECK(cuTexRefSetFilterMode(texture, CU_TR_FILTER_MODE_LINEAR));
  out = read(1.0f, 0.5f);
  for (unsigned x = 1; x < width; ++x) EXPECT(out[x] == (texels[x - 1] + texels[x]) / 2);
  CHECK(cuTexRefSetFilterMode(texture, CU_TR_FILTER_MODE_POINT));
  CHECK(cuTexRefSetFlags(texture, CU_TRSF_NORMALIZED_COORDINATES));
  CHECK(cuTexRefSetAddressMode(texture, 0, CU_TR_ADDRESS_MODE_WRAP));
  out = read(1.25f, 0.25f);
  for (unsigned x = 0; x < width; ++x) EXPECT(out[x] == texels[x * width * 5 / 4 % width]);
  CUaddress_mode mode;
  unsigned flags = 0;
  CHECK(cuTexRefGetAddressMode(&mode, texture, 0));
  CHECK(cuTexRefGetFlags(&flags, texture));
  CHECK(cuTexRefGetArray(&found, texture));
  EXPECT(mode == CU_TR_ADDRESS_MODE_WRAP && flags == CU_TRSF_NORMALIZED_COORDINATES);
  CUdeviceptr address = 0;
  EXPECT(found == array && cuTexRefGetAddress(&address, texture) == CUDA_ERROR_INVALID_VALUE);

  // Bytes in memory: whole numbers, and fractions of 255.
  CUdeviceptr memory;
  CHECK(cuMemAlloc(&memory, 128));
  unsigned char bytes[64 + width] = {};
  for (unsigned x = 0; x < width; ++x)
    bytes[x] = static_cast<unsigned char>(51 * x), bytes[64 + x] = static_cast<unsigned char>(x);
  CHECK(cuMemcpyHtoD(memory, bytes, sizeof bytes));
  CHECK(cuTexRefSetFlags(texture, CU_TRSF_READ_AS_INTEGER));
  CHECK(cuTexRefSetFormat(texture, CU_AD_FORMAT_UNSIGNED_INT8, 1));
  size_t offset = 1;
  CHECK(cuTexRefSetAddress(&offset, texture, memory, width));
  CHECK(cuTexRefGetAddress(&address, texture));
  EXPECT(offset == 0 && address == memory);
  void* arguments[] = {&results};
  CHECK(cuLaunchKernel(whole, 1, 1, 1, width, 1, 1, 0, nullptr, arguments, nullptr));
  unsigned words[width];
  CHECK(cuMemcpyDtoH(words, results, sizeof words));
  for (unsigned x = 0; x < width; ++x) EXPECT(words[x] == bytes[x]);
  CUDA_ARRAY_DESCRIPTOR rows{width, height, CU_AD_FORMAT_UNSIGNED_INT8, 1};
  CHECK(cuTexRefSetFlags(texture, 0));
  CHECK(cuTexRefSetAddressMode(texture, 0, CU_TR_ADDRESS_MODE_CLAMP));
  CHECK(cuTexRefSetAddress2D(texture, &rows, memory, 64));
  out = read(1.0f, 1.5f);
  for (unsigned x = 0; x < width; ++x) EXPECT(out[x] == static_cast<float>(x) / 255.0f);
  CHECK(cuModuleUnload(module));
  CHECK(cuMemFree(memory));
  CHECK(cuArrayDestroy(array));
  std::puts("drv_texture_references: ok");
}
