// Arrays of one and two dimensions and with layers, their copies, textures and surfaces of them.
#include "check.hpp"

int main() {
  make_context();
  CUmodule module;
  CUfunction sample;
  CHECK(cuModuleLoadData(&module, kernels_ptx));
  CHECK(cuModuleGetFunction(&sample, module, "sample"));
  const unsigned width = 20, height = 6;
  std::vector<float> in(width * height), out(in.size());
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i) / 4;
  CUDA_ARRAY_DESCRIPTOR flat{width, height, CU_AD_FORMAT_FLOAT, 1}, found{};
  CUarray array, written;
  CHECK(cuArrayCreate(&array, &flat));
  CUDA_ARRAY3D_DESCRIPTOR whole{width, height, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST},
      found_3d{};
  CHECK(cuArray3DCreate(&written, &whole));
  CHECK(cuArrayGetDescriptor(&found, array));
  EXPECT(found.Width == width && found.Height == height && found.Format == CU_AD_FORMAT_FLOAT &&
         found.NumChannels == 1);
  CHECK(cuArray3DGetDescriptor(&found_3d, written));
  EXPECT(found_3d.Depth == 0 && found_3d.Flags == CUDA_ARRAY3D_SURFACE_LDST);
  flat.NumChannels = 3;
  CUarray none;
  EXPECT(cuArrayCreate(&none, &flat) == CUDA_ERROR_INVALID_VALUE);

  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST, copy.srcHost = in.data(), copy.srcPitch = width * 4;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY, copy.dstArray = array;
  copy.WidthInBytes = width * 4, copy.Height = height;
  CHECK(cuMemcpy2D(&copy));
  copy.Height = height + 1;
  EXPECT(cuMemcpy2D(&copy) == CUDA_ERROR_INVALID_VALUE);

  CUDA_RESOURCE_DESC resource{}, same{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  CUDA_TEXTURE_DESC sampling{}, as_made{};
  sampling.addressMode[0] = sampling.addressMode[1] = CU_TR_ADDRESS_MODE_CLAMP;
  sampling.filterMode = CU_TR_FILTER_MODE_LINEAR;
  CUtexObject texture;
  CHECK(cuTexObjectCreate(&texture, &resource, &sampling, nullptr));
  CHECK(cuTexObjectGetResourceDesc(&same, texture));
  EXPECT(same.resType == CU_RESOURCE_TYPE_ARRAY && same.res.array.hArray == array);
  CHECK(cuTexObjectGetTextureDesc(&as_made, texture));
  EXPECT(as_made.filterMode == CU_TR_FILTER_MODE_LINEAR && as_made.flags == 0);
  resource.res.array.hArray = written;
  CUsurfObject surface;
  CHECK(cuSurfObjectCreate(&surface, &resource));
  CUdeviceptr values;
  CHECK(cuMemAlloc(&values, out.size() * 4));
  int pitch = width;
  void* arguments[] = {&texture, &surface, &values, &pitch};
  CHECK(cuLaunchKernel(sample, height, 1, 1, width, 1, 1, 0, nullptr, arguments, nullptr));
  CHECK(cuMemcpyDtoH(out.data(), values, out.size() * 4));
  EXPECT(in == out);
  CUDA_MEMCPY3D back{};
  back.srcMemoryType = CU_MEMORYTYPE_ARRAY, back.srcArray = written, back.srcXInBytes = 8,
  back.srcY = 1;
  back.dstMemoryType = CU_MEMORYTYPE_HOST, back.dstHost = out.data(), back.dstPitch = 16;
  back.WidthInBytes = 12, back.Height = 2, back.Depth = 1;
  CHECK(cuMemcpy3D(&back));
  for (unsigned y = 0; y < 2; ++y)
    for (unsigned x = 0; x < 3; ++x) EXPECT(out[4 * y + x] == 2 * in[(y + 1) * width + x + 2] + 1);
  CHECK(cuTexObjectDestroy(texture));
  CHECK(cuSurfObjectDestroy(surface));

  // Whole numbers as fractions, from memory without an array; a row, in bytes.
  CUDA_ARRAY_DESCRIPTOR row{32, 0, CU_AD_FORMAT_UNSIGNED_INT16, 2};
  CUarray line;
  CHECK(cuArrayCreate(&line, &row));
  std::vector<unsigned short> halves(64), part(8);
  for (size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<unsigned short>(i * 1000);
  CHECK(cuMemcpyHtoA(line, 0, halves.data(), 128));
  CHECK(cuMemcpyAtoA(line, 8, line, 100, 4));
  CHECK(cuMemcpyAtoD(values, line, 4, 16));
  CHECK(cuMemcpyDtoH(part.data(), values, 16));
  EXPECT(part[0] == 2000 && part[2] == 50000 && part[3] == 51000 && part[4] == 6000);
  EXPECT(cuMemcpyAtoH(part.data(), line, 120, 16) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemcpyDtoA(line, 0, values, 16));
  CHECK(cuMemcpyAtoH(part.data(), line, 0, 16));
  EXPECT(part[0] == 2000 && part[7] == 9000);
  resource = {};
  resource.resType = CU_RESOURCE_TYPE_PITCH2D;
  resource.res.pitch2D.devPtr = values;
  resource.res.pitch2D.format = CU_AD_FORMAT_UNSIGNED_INT8;
  resource.res.pitch2D.numChannels = 1;
  resource.res.pitch2D.width = 4, resource.res.pitch2D.height = 2,
  resource.res.pitch2D.pitchInBytes = 64;
  sampling.filterMode = CU_TR_FILTER_MODE_POINT;
  const unsigned char bytes[68] = {0, 51, 102, 255};
  CUdeviceptr texels;
  CHECK(cuMemAlloc(&texels, 128));
  CHECK(cuMemcpyHtoD(texels, bytes, sizeof bytes));
  resource.res.pitch2D.devPtr = texels;
  CHECK(cuTexObjectCreate(&texture, &resource, &sampling, nullptr));
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = written;
  CHECK(cuSurfObjectCreate(&surface, &resource));
  CHECK(cuLaunchKernel(sample, 1, 1, 1, 4, 1, 1, 0, nullptr, arguments, nullptr));
  CHECK(cuMemcpyDtoH(out.data(), values, 16));
  EXPECT(out[0] == 0.0f && out[1] == 51 / 255.0f && out[2] == 102 / 255.0f && out[3] == 1.0f);
  CHECK(cuTexObjectDestroy(texture));
  EXPECT(cuTexObjectDestroy(texture) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuSurfObjectDestroy(surface));

  CUmipmappedArray levels;
  CUarray level;
  whole.Flags = 0;
  CHECK(cuMipmappedArrayCreate(&levels, &whole, 3));
  CHECK(cuMipmappedArrayGetLevel(&level, levels, 1));
  CHECK(cuArrayGetDescriptor(&found, level));
  EXPECT(found.Width == width / 2 && found.Height == height / 2);
  CHECK(cuMipmappedArrayDestroy(levels));
  for (CUarray a : {array, written, line}) CHECK(cuArrayDestroy(a));
  EXPECT(cuArrayDestroy(array) != CUDA_SUCCESS);
  std::puts("drv_textures: ok");
}
