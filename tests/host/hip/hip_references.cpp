// Texture references, of the program and of a module that it loads; arrays and copies by the names
// that came from CUDA's driver.
#include "check.hpp"
#include "module.hpp"

constexpr int kWidth = 20, kHeight = 12;

texture<float, hipTextureType2D, hipReadModeElementType> plane;
texture<unsigned char, hipTextureType1D, hipReadModeElementType> row;
texture<short2, hipTextureType2D, hipReadModeNormalizedFloat> pairs;

__global__ void sample(float* out) {
  const int x = threadIdx.x, y = blockIdx.x;
  out[y * kWidth + x] = tex2D(plane, x + 0.5F, y + 0.5F);
}
__global__ void fetch_row(int* out) {
  out[threadIdx.x] = tex1Dfetch(row, static_cast<int>(threadIdx.x));
}
__global__ void sample_pairs(float2* out) {
  const int x = threadIdx.x, y = blockIdx.x;
  out[y * kWidth + x] = tex2D(pairs, x + 0.5F, y + 0.5F);
}

static void of_program() {
  std::vector<float> host(kWidth * kHeight), got(host.size());
  for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(i * i % 1000);
  hipArray_t array;
  CHECK(hipMallocArray(&array, &plane.channelDesc, kWidth, kHeight));
  CHECK(hipMemcpyToArray(array, 0, 0, host.data(), host.size() * 4, hipMemcpyHostToDevice));
  CHECK(hipBindTextureToArray(plane, array));
  float* out;
  CHECK(hipMalloc(&out, host.size() * 8));
  sample<<<kHeight, kWidth>>>(out);
  CHECK(hipMemcpy(got.data(), out, host.size() * 4, hipMemcpyDeviceToHost));
  EXPECT(got == host);

  // Bound to something else, and with other coordinates.
  float* memory;
  size_t pitch;
  CHECK(hipMallocPitch(reinterpret_cast<void**>(&memory), &pitch, kWidth * 4, kHeight));
  CHECK(hipMemset2D(memory, pitch, 0, kWidth * 4, kHeight));
  CHECK(hipMemcpy2D(memory, pitch, host.data() + kWidth, kWidth * 4, kWidth * 4, kHeight - 1,
                    hipMemcpyHostToDevice));
  CHECK(hipBindTexture2D(nullptr, plane, memory, plane.channelDesc, kWidth, kHeight, pitch));
  sample<<<kHeight, kWidth>>>(out);
  CHECK(hipMemcpy(got.data(), out, host.size() * 4, hipMemcpyDeviceToHost));
  for (int i = 0; i < kWidth * kHeight; ++i)
    EXPECT(got[i] == (i < kWidth * (kHeight - 1) ? host[i + kWidth] : 0));
  CHECK(hipUnbindTexture(plane));
  const textureReference* reference;
  CHECK(hipGetTextureReference(&reference, &plane));
  EXPECT(reference == &plane);

  unsigned char* bytes;
  CHECK(hipMalloc(&bytes, 64));
  CHECK(hipMemset(bytes, 200, 64));
  CHECK(hipMemset(bytes + 5, 9, 1));
  size_t offset = 1;
  CHECK(hipBindTexture(&offset, row, bytes, row.channelDesc, 64));
  EXPECT(offset == 0);
  fetch_row<<<1, 64>>>(reinterpret_cast<int*>(out));
  int numbers[64];
  CHECK(hipMemcpy(numbers, out, sizeof numbers, hipMemcpyDeviceToHost));
  for (int i = 0; i < 64; ++i) EXPECT(numbers[i] == (i == 5 ? 9 : 200));

  std::vector<short2> halves(kWidth * kHeight);
  for (size_t i = 0; i < halves.size(); ++i)
    halves[i] = make_short2(static_cast<short>(i * 100), static_cast<short>(-32768 + i));
  CHECK(hipMemcpy2D(memory, pitch, halves.data(), kWidth * 4, kWidth * 4, kHeight,
                    hipMemcpyHostToDevice));
  CHECK(hipBindTexture2D(nullptr, pairs, memory, kWidth, kHeight, pitch));
  sample_pairs<<<kHeight, kWidth>>>(reinterpret_cast<float2*>(out));
  std::vector<float2> fractions(halves.size());
  CHECK(hipMemcpy(fractions.data(), out, fractions.size() * 8, hipMemcpyDeviceToHost));
  for (size_t i = 0; i < halves.size(); ++i)
    EXPECT(fractions[i].x == std::max(halves[i].x / 32767.0F, -1.0F) &&
           fractions[i].y == std::max(halves[i].y / 32767.0F, -1.0F));
  EXPECT(hipBindTexture(nullptr, plane, static_cast<float*>(nullptr), 64) == hipErrorInvalidValue);
  CHECK(hipFreeArray(array));
}

static void of_module() {
  hipModule_t module;
  hipFunction_t fetch;
  CHECK(hipModuleLoadData(&module, module_bundle));
  CHECK(hipModuleGetFunction(&fetch, module, "fetch"));
  textureReference *photo, *again;
  CHECK(hipModuleGetTexRef(&photo, module, "photo"));
  CHECK(hipModuleGetTexRef(&again, module, "photo"));
  EXPECT(photo == again);
  EXPECT(hipModuleGetTexRef(&again, module, "none") == hipErrorNotFound);

  std::vector<unsigned char> host(kWidth * kHeight);
  for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<unsigned char>(i);
  HIP_ARRAY_DESCRIPTOR shape = {kWidth, kHeight, HIP_AD_FORMAT_UNSIGNED_INT8, 1};
  hipArray* array;
  CHECK(hipArrayCreate(&array, &shape));
  hip_Memcpy2D copy = {};
  copy.srcMemoryType = hipMemoryTypeHost, copy.srcHost = host.data(), copy.srcPitch = kWidth;
  copy.dstMemoryType = hipMemoryTypeArray, copy.dstArray = array;
  copy.WidthInBytes = kWidth, copy.Height = kHeight;
  CHECK(hipMemcpyParam2D(&copy));
  CHECK(hipTexRefSetFormat(photo, HIP_AD_FORMAT_UNSIGNED_INT8, 1));
  CHECK(hipTexRefSetFilterMode(photo, hipFilterModePoint));
  CHECK(hipTexRefSetAddressMode(photo, 0, hipAddressModeClamp));
  CHECK(hipTexRefSetAddressMode(photo, 1, hipAddressModeClamp));
  CHECK(hipTexRefSetFlags(photo, 0));
  CHECK(hipTexRefSetArray(photo, array, HIP_TRSA_OVERRIDE_FORMAT));
  float* out;
  CHECK(hipMalloc(&out, host.size() * 4));
  int width = kWidth;
  void* arguments[] = {&out, &width};
  CHECK(hipModuleLaunchKernel(fetch, 1, 1, 1, kWidth, kHeight, 1, 0, nullptr, arguments, nullptr));
  std::vector<float> got(host.size());
  CHECK(hipMemcpy(got.data(), out, got.size() * 4, hipMemcpyDeviceToHost));
  for (size_t i = 0; i < host.size(); ++i) EXPECT(got[i] == host[i] / 255.0F);

  std::vector<unsigned char> back(host.size());
  HIP_MEMCPY3D deep = {};
  deep.srcMemoryType = hipMemoryTypeArray, deep.srcArray = array;
  deep.dstMemoryType = hipMemoryTypeHost, deep.dstHost = back.data(), deep.dstPitch = kWidth;
  deep.WidthInBytes = kWidth, deep.Height = kHeight, deep.Depth = 1;
  CHECK(hipDrvMemcpy3D(&deep));
  EXPECT(back == host);
  // Layers follow each other where nothing says how high one is.
  unsigned char layers[2][3][5] = {}, *on_device;
  for (int i = 0; i < 30; ++i) layers[i / 15][i / 5 % 3][i % 5] = static_cast<unsigned char>(i);
  CHECK(hipMalloc(&on_device, 30));
  CHECK(hipMemset(on_device, 0, 30));
  HIP_MEMCPY3D whole = {};
  whole.srcMemoryType = hipMemoryTypeHost, whole.srcHost = layers, whole.srcPitch = 5;
  whole.dstMemoryType = hipMemoryTypeDevice, whole.dstDevice = on_device, whole.dstPitch = 5;
  whole.WidthInBytes = 5, whole.Height = 3, whole.Depth = 2;
  CHECK(hipDrvMemcpy3D(&whole));
  CHECK(hipMemcpy(back.data(), on_device, 30, hipMemcpyDeviceToHost));
  EXPECT(std::memcmp(back.data(), layers, 30) == 0);
  CHECK(hipMemcpyHtoA(array, 3, host.data(), 4));
  CHECK(hipMemcpyAtoH(back.data(), array, 2, 5));
  EXPECT(back[0] == 2 && back[1] == 0 && back[4] == 3);
  int format, channels;
  CHECK(hipTexRefGetFormat(reinterpret_cast<hipArray_Format*>(&format), &channels, photo));
  EXPECT(format == HIP_AD_FORMAT_UNSIGNED_INT8 && channels == 1);
  CHECK(hipArrayDestroy(array));
  CHECK(hipModuleUnload(module));
}

int main() {
  of_program();
  of_module();
  std::printf("hip_references: ok\n");
}
