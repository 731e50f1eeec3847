// Copies in two and three dimensions, of streams and between contexts; fills of one and two
// dimensions.
#include <algorithm>

#include "check.hpp"

int main() {
  CUcontext context = make_context();
  CUstream stream;
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  const size_t width = 24, height = 10, depth = 3;
  CUdeviceptr pitched, other;
  size_t pitch = 0;
  CHECK(cuMemAllocPitch(&pitched, &pitch, width, height * depth, 4));
  EXPECT(pitch >= width && pitch % 256 == 0);
  CHECK(cuMemAlloc(&other, pitch * height * depth));
  std::vector<unsigned char> in(width * height * depth), out(in.size());
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<unsigned char>(i * 7);
  CUDA_MEMCPY3D all{};
  all.srcMemoryType = CU_MEMORYTYPE_HOST, all.srcHost = in.data(), all.srcPitch = width,
  all.srcHeight = height;
  all.dstMemoryType = CU_MEMORYTYPE_DEVICE, all.dstDevice = pitched, all.dstPitch = pitch,
  all.dstHeight = height;
  all.WidthInBytes = width, all.Height = height, all.Depth = depth;
  CHECK(cuMemcpy3D(&all));
  // A part of one layer, from device to device, and to the host.
  CUDA_MEMCPY2D part{};
  part.srcMemoryType = CU_MEMORYTYPE_DEVICE, part.srcDevice = pitched, part.srcPitch = pitch;
  part.srcXInBytes = 4, part.srcY = height + 2;
  part.dstMemoryType = CU_MEMORYTYPE_UNIFIED, part.dstDevice = other, part.dstPitch = 64,
  part.dstY = 1;
  part.WidthInBytes = 8, part.Height = 5;
  CHECK(cuMemsetD8(other, 0xee, 64 * 8));
  CHECK(cuMemcpy2DAsync(&part, stream));
  CHECK(cuStreamSynchronize(stream));
  std::vector<unsigned char> rows(64 * 8);
  CHECK(cuMemcpyDtoH(rows.data(), other, rows.size()));
  for (size_t y = 0; y < 5; ++y) {
    for (size_t x = 0; x < 8; ++x)
      EXPECT(rows[64 * (y + 1) + x] == in[width * (height + 2 + y) + 4 + x]);
    EXPECT(rows[64 * (y + 1) + 8] == 0xee);
  }
  part.WidthInBytes = 100;  // more than a row of 64 bytes
  EXPECT(cuMemcpy2D(&part) == CUDA_ERROR_INVALID_VALUE);
  std::swap(all.srcMemoryType, all.dstMemoryType);
  all.dstHost = out.data(), all.srcDevice = pitched;
  std::swap(all.srcPitch, all.dstPitch);
  CHECK(cuMemcpy3DAsync(&all, stream));
  CHECK(cuStreamSynchronize(stream));
  EXPECT(in == out);

  std::vector<unsigned> words(64);
  CHECK(cuMemsetD32(other, 0x01020304, 64));
  CHECK(cuMemsetD16(other + 4, 0xabcd, 3));
  CHECK(cuMemsetD8(other + 11, 0x55, 1));
  CHECK(cuMemsetD2D32(other + 64, 16, 9, 2, 3));
  CHECK(cuMemsetD2D16Async(other + 128, 8, 7, 1, 2, stream));
  CHECK(cuMemcpyDtoHAsync(words.data(), other, 256, stream));
  CHECK(cuStreamSynchronize(stream));
  EXPECT(words[0] == 0x01020304 && words[1] == 0xabcdabcd && words[2] == 0x5502abcd);
  EXPECT(words[16] == 9 && words[17] == 9 && words[18] == 0x01020304 && words[20] == 9 &&
         words[25] == 9);
  EXPECT(words[32] == 0x01020007 && words[33] == 0x01020304 && words[34] == 0x01020007);
  EXPECT(cuMemsetD32(other + 2, 0, 1) == CUDA_ERROR_INVALID_VALUE);
  EXPECT(cuMemsetD8(other + pitch * height * depth - 4, 0, 8) == CUDA_ERROR_INVALID_VALUE);

  CHECK(cuMemcpyDtoD(pitched, other, 256));
  CHECK(cuMemcpyPeer(pitched + 256, context, other, context, 4));
  CHECK(cuMemcpy(reinterpret_cast<CUdeviceptr>(out.data()), pitched + 256, 4));
  EXPECT(out[0] == 4 && out[3] == 1);
  CUdeviceptr base = 0;
  size_t bytes = 0;
  CHECK(cuMemGetAddressRange(&base, &bytes, other + 100));
  EXPECT(base == other && bytes == pitch * height * depth);
  unsigned type = 0;
  int managed = 9;
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                      CU_POINTER_ATTRIBUTE_IS_MANAGED};
  void* values[] = {&type, &managed};
  CHECK(cuPointerGetAttributes(2, attributes, values, other + 4));
  EXPECT(type == CU_MEMORYTYPE_DEVICE && managed == 0);
  EXPECT(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                               reinterpret_cast<CUdeviceptr>(in.data())) ==
         CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr shared;
  CHECK(cuMemAllocManaged(&shared, 256, CU_MEM_ATTACH_GLOBAL));
  CHECK(cuMemsetD32(shared, 3, 64));
  CHECK(cuCtxSynchronize());
  EXPECT(reinterpret_cast<int*>(shared)[63] == 3);
  CHECK(cuMemFree(shared));
  std::puts("drv_copies: ok");
}
