// Texture and surface objects of arrays, of pitched and of linear memory: what kernels read is what
// the host computes.
#include <cmath>

#include "check.hpp"

constexpr int kWidth = 40, kHeight = 24, kDepth = 5;

__global__ void sample_2d(hipTextureObject_t t, float* out, float scale_x, float scale_y) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < kWidth) out[y * kWidth + x] = tex2D<float>(t, x * scale_x, y * scale_y);
}
__global__ void sample_bytes(hipTextureObject_t t, float4* out) {
  const int x = threadIdx.x, y = blockIdx.x;
  out[y * kWidth + x] = tex2D<float4>(t, x + 0.5F, y + 0.5F);
}
__global__ void sample_ints(hipTextureObject_t t, int2* out) {
  const int x = threadIdx.x, y = blockIdx.x;
  out[y * kWidth + x] = tex2D<int2>(t, x + 0.5F, y + 0.5F);
}
__global__ void fetch(hipTextureObject_t t, float4* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<float4>(t, i);
}
__global__ void fetch_bytes(hipTextureObject_t t, unsigned char* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<unsigned char>(t, i);
}
__global__ void sample_volume(hipTextureObject_t t, float* out) {
  const int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
  out[(z * kHeight + y) * kWidth + x] = tex3D<float>(t, x + 0.5F, y + 0.5F, z + 0.5F);
}
__global__ void sample_layers(hipTextureObject_t t, float* out) {
  const int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
  out[(z * kHeight + y) * kWidth + x] = tex2DLayered<float>(t, x + 0.5F, y + 0.5F, z);
}
__global__ void sample_level(hipTextureObject_t t, float* out, int width, int height, float level) {
  const int x = threadIdx.x, y = blockIdx.x;
  out[y * width + x] = tex2DLod<float>(t, (x + 0.5F) / width, (y + 0.5F) / height, level);
}
__global__ void turn(hipSurfaceObject_t from, hipSurfaceObject_t to) {
  const int x = threadIdx.x, y = blockIdx.x;
  float v;
  surf2Dread(&v, from, x * 4, y);
  surf2Dwrite(v + 1000, to, (kWidth - 1 - x) * 4, y);
}

static hipTextureDesc clamped(hipTextureFilterMode filter, hipTextureReadMode read,
                              bool normalised) {
  hipTextureDesc d = {};
  for (auto& mode : d.addressMode) mode = hipAddressModeClamp;
  d.filterMode = filter, d.readMode = read, d.normalizedCoords = normalised;
  return d;
}
static hipTextureObject_t object_of(hipResourceDesc resource, hipTextureDesc description) {
  hipTextureObject_t object;
  CHECK(hipCreateTextureObject(&object, &resource, &description, nullptr));
  return object;
}
static hipResourceDesc of_array(hipArray_t array) {
  hipResourceDesc r = {};
  r.resType = hipResourceTypeArray, r.res.array.array = array;
  return r;
}
static std::vector<float> floats(int count, int seed) {
  std::vector<float> v(count);
  unsigned state = seed;
  for (float& f : v) {
    state = state * 747796405U + 2891336453U;
    f = static_cast<float>(state >> 20);
  }
  return v;
}
template <typename T>
static std::vector<T> read(T* device, size_t count) {
  std::vector<T> v(count);
  CHECK(hipMemcpy(v.data(), device, count * sizeof(T), hipMemcpyDeviceToHost));
  return v;
}
static float texel(const std::vector<float>& v, int x, int y) {
  x = std::min(std::max(x, 0), kWidth - 1), y = std::min(std::max(y, 0), kHeight - 1);
  return v[y * kWidth + x];
}

static void planes() {
  const auto host = floats(kWidth * kHeight, 1);
  const hipChannelFormatDesc format = hipCreateChannelDesc<float>();
  hipArray_t array;
  CHECK(hipMallocArray(&array, &format, kWidth, kHeight));
  CHECK(hipMemcpy2DToArray(array, 0, 0, host.data(), kWidth * 4, kWidth * 4, kHeight,
                           hipMemcpyHostToDevice));
  float* out;
  CHECK(hipMalloc(&out, host.size() * 4));
  // Quarters of texels: all weights and sums are exact.
  const auto linear =
      object_of(of_array(array), clamped(hipFilterModeLinear, hipReadModeElementType, false));
  sample_2d<<<dim3(1, kHeight), 64>>>(linear, out, 0.75F, 1.25F);
  auto got = read(out, host.size());
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      const float at_x = x * 0.75F - 0.5F, at_y = y * 1.25F - 0.5F;
      const int i = static_cast<int>(std::floor(at_x)), j = static_cast<int>(std::floor(at_y));
      const float a = at_x - i, b = at_y - j;
      const float want = texel(host, i, j) * (1 - a) * (1 - b) +
                         texel(host, i + 1, j) * a * (1 - b) + texel(host, i, j + 1) * (1 - a) * b +
                         texel(host, i + 1, j + 1) * a * b;
      EXPECT(got[y * kWidth + x] == want);
    }
  // Normalised, repeated.
  hipTextureDesc repeated = clamped(hipFilterModePoint, hipReadModeElementType, true);
  for (auto& mode : repeated.addressMode) mode = hipAddressModeWrap;
  const auto wrapped = object_of(of_array(array), repeated);
  sample_2d<<<dim3(1, kHeight), 64>>>(wrapped, out, 0.0625F, 0.125F);
  got = read(out, host.size());
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x)
      EXPECT(got[y * kWidth + x] == texel(host,
                                          static_cast<int>(std::fmod(x * 0.0625F, 1.0F) * kWidth),
                                          static_cast<int>(std::fmod(y * 0.125F, 1.0F) * kHeight)));
  hipResourceDesc resource;
  CHECK(hipGetTextureObjectResourceDesc(&resource, wrapped));
  EXPECT(resource.resType == hipResourceTypeArray && resource.res.array.array == array);
  hipTextureDesc described;
  CHECK(hipGetTextureObjectTextureDesc(&described, wrapped));
  EXPECT(described.normalizedCoords == 1 && described.addressMode[1] == hipAddressModeWrap);

  hipArray_t turned;
  CHECK(hipMallocArray(&turned, &format, kWidth, kHeight, hipArraySurfaceLoadStore));
  hipSurfaceObject_t from, to;
  const hipResourceDesc source = of_array(array), target = of_array(turned);
  CHECK(hipCreateSurfaceObject(&from, &source));
  CHECK(hipCreateSurfaceObject(&to, &target));
  turn<<<kHeight, kWidth>>>(from, to);
  std::vector<float> back(host.size());
  CHECK(hipMemcpy2DFromArray(back.data(), kWidth * 4, turned, 0, 0, kWidth * 4, kHeight,
                             hipMemcpyDeviceToHost));
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x)
      EXPECT(back[y * kWidth + x] == host[y * kWidth + kWidth - 1 - x] + 1000);
  CHECK(hipDestroySurfaceObject(from));
  CHECK(hipDestroySurfaceObject(to));
  CHECK(hipDestroyTextureObject(linear));
  CHECK(hipDestroyTextureObject(wrapped));
  EXPECT(hipDestroyTextureObject(wrapped) == hipErrorInvalidValue);
  CHECK(hipFreeArray(array));
  CHECK(hipFreeArray(turned));
}

static void bytes_and_ints() {
  std::vector<uchar4> bytes(kWidth * kHeight);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = make_uchar4(i % 256, i * 7 % 256, 255 - i % 256, i / 4 % 256);
  const hipChannelFormatDesc format =
      hipCreateChannelDesc(8, 8, 8, 8, hipChannelFormatKindUnsigned);
  hipArray_t array;
  CHECK(hipMallocArray(&array, &format, kWidth, kHeight));
  CHECK(hipMemcpyToArray(array, 0, 0, bytes.data(), bytes.size() * 4, hipMemcpyHostToDevice));
  const auto fractions =
      object_of(of_array(array), clamped(hipFilterModePoint, hipReadModeNormalizedFloat, false));
  float4* out;
  CHECK(hipMalloc(&out, bytes.size() * sizeof(float4)));
  sample_bytes<<<kHeight, kWidth>>>(fractions, out);
  const auto got = read(out, bytes.size());
  for (size_t i = 0; i < bytes.size(); ++i)
    EXPECT(got[i].x == bytes[i].x / 255.0F && got[i].y == bytes[i].y / 255.0F &&
           got[i].z == bytes[i].z / 255.0F && got[i].w == bytes[i].w / 255.0F);
  CHECK(hipDestroyTextureObject(fractions));
  CHECK(hipFreeArray(array));

  // Pitched memory.
  int2* rows;
  size_t pitch;
  CHECK(hipMallocPitch(reinterpret_cast<void**>(&rows), &pitch, kWidth * 8, kHeight));
  std::vector<int2> ints(kWidth * kHeight);
  for (size_t i = 0; i < ints.size(); ++i) ints[i] = {static_cast<int>(i) - 400, -3};
  CHECK(hipMemcpy2D(rows, pitch, ints.data(), kWidth * 8, kWidth * 8, kHeight,
                    hipMemcpyHostToDevice));
  hipResourceDesc resource = {};
  resource.resType = hipResourceTypePitch2D;
  resource.res.pitch2D.devPtr = rows, resource.res.pitch2D.desc = hipCreateChannelDesc<int2>();
  resource.res.pitch2D.width = kWidth, resource.res.pitch2D.height = kHeight;
  resource.res.pitch2D.pitchInBytes = pitch;
  const auto pairs =
      object_of(resource, clamped(hipFilterModePoint, hipReadModeElementType, false));
  sample_ints<<<kHeight, kWidth>>>(pairs, reinterpret_cast<int2*>(out));
  const auto seen = read(reinterpret_cast<int2*>(out), ints.size());
  for (size_t i = 0; i < ints.size(); ++i) EXPECT(seen[i].x == ints[i].x && seen[i].y == -3);
  CHECK(hipDestroyTextureObject(pairs));
  CHECK(hipFree(rows));
  CHECK(hipFree(out));
}

/// More texels than a row of an image has, and what is read beside them.
static void linear_memory() {
  constexpr int kCount = 20000, kBeside = 5;
  const auto host = floats(kCount * 4, 7);
  float4 *from, *out;
  CHECK(hipMalloc(&from, (kCount + kBeside) * 16));
  CHECK(hipMalloc(&out, (kCount + kBeside) * 16));
  CHECK(hipMemset(from, 0xff, (kCount + kBeside) * 16));
  CHECK(hipMemcpy(from, host.data(), kCount * 16, hipMemcpyHostToDevice));
  hipResourceDesc resource = {};
  resource.resType = hipResourceTypeLinear;
  resource.res.linear.devPtr = from, resource.res.linear.desc = hipCreateChannelDesc<float4>();
  resource.res.linear.sizeInBytes = kCount * 16;
  const auto object =
      object_of(resource, clamped(hipFilterModePoint, hipReadModeElementType, false));
  fetch<<<(kCount + kBeside + 255) / 256, 256>>>(object, out, kCount + kBeside);
  const auto got = read(out, kCount + kBeside);
  for (int i = 0; i < kCount; ++i)
    EXPECT(got[i].x == host[4 * i] && got[i].y == host[4 * i + 1] && got[i].w == host[4 * i + 3]);
  for (int i = kCount; i < kCount + kBeside; ++i) EXPECT(got[i].x == 0 && got[i].w == 0);
  CHECK(hipDestroyTextureObject(object));

  resource.res.linear.desc = hipCreateChannelDesc<unsigned char>();
  const auto bytes =
      object_of(resource, clamped(hipFilterModePoint, hipReadModeElementType, false));
  fetch_bytes<<<4, 256>>>(bytes, reinterpret_cast<unsigned char*>(out), 1000);
  std::vector<unsigned char> same(1000);
  CHECK(hipMemcpy(same.data(), out, 1000, hipMemcpyDeviceToHost));
  EXPECT(std::memcmp(same.data(), host.data(), 1000) == 0);
  CHECK(hipDestroyTextureObject(bytes));
  CHECK(hipFree(from));
  CHECK(hipFree(out));
}

static void volumes() {
  const auto host = floats(kWidth * kHeight * kDepth, 3);
  const hipChannelFormatDesc format = hipCreateChannelDesc<float>();
  float* out;
  CHECK(hipMalloc(&out, host.size() * 4));
  for (const unsigned flags : {0U, static_cast<unsigned>(hipArrayLayered)}) {
    hipArray_t array;
    CHECK(hipMalloc3DArray(&array, &format, make_hipExtent(kWidth, kHeight, kDepth), flags));
    hipMemcpy3DParms copy = {};
    copy.srcPtr = make_hipPitchedPtr(const_cast<float*>(host.data()), kWidth * 4, kWidth, kHeight);
    copy.dstArray = array, copy.extent = make_hipExtent(kWidth, kHeight, kDepth);
    copy.kind = hipMemcpyHostToDevice;
    CHECK(hipMemcpy3D(&copy));
    const auto object =
        object_of(of_array(array), clamped(hipFilterModePoint, hipReadModeElementType, false));
    CHECK(hipMemset(out, 0, host.size() * 4));
    if (flags == 0)
      sample_volume<<<dim3(kHeight, kDepth), kWidth>>>(object, out);
    else
      sample_layers<<<dim3(kHeight, kDepth), kWidth>>>(object, out);
    EXPECT(read(out, host.size()) == host);
    CHECK(hipDestroyTextureObject(object));
    CHECK(hipFreeArray(array));
  }
  CHECK(hipFree(out));
}

static void levels() {
  const hipChannelFormatDesc format = hipCreateChannelDesc<float>();
  hipMipmappedArray_t chain;
  CHECK(hipMallocMipmappedArray(&chain, &format, make_hipExtent(32, 16, 0), 3, 0));
  float* out;
  CHECK(hipMalloc(&out, 32 * 16 * 4));
  hipResourceDesc resource = {};
  resource.resType = hipResourceTypeMipmappedArray, resource.res.mipmap.mipmap = chain;
  std::vector<std::vector<float>> hosts;
  for (unsigned level = 0; level < 3; ++level) {
    hipArray_t array;
    CHECK(hipGetMipmappedArrayLevel(&array, chain, level));
    const size_t width = 32 >> level, height = 16 >> level;
    hosts.push_back(floats(static_cast<int>(width * height), 20 + level));
    CHECK(hipMemcpy2DToArray(array, 0, 0, hosts[level].data(), width * 4, width * 4, height,
                             hipMemcpyHostToDevice));
  }
  hipTextureDesc description = clamped(hipFilterModePoint, hipReadModeElementType, true);
  description.maxMipmapLevelClamp = 2;
  const auto object = object_of(resource, description);
  for (int level = 0; level < 3; ++level) {
    const int width = 32 >> level, height = 16 >> level;
    sample_level<<<height, width>>>(object, out, width, height, static_cast<float>(level));
    EXPECT(read(out, hosts[level].size()) == hosts[level]);
  }
  CHECK(hipDestroyTextureObject(object));
  CHECK(hipFreeMipmappedArray(chain));
  CHECK(hipFree(out));
}

int main() {
  planes();
  bytes_and_ints();
  linear_memory();
  volumes();
  levels();
  hipTextureObject_t object;
  hipResourceDesc resource = {};
  hipTextureDesc description = {};
  EXPECT(hipCreateTextureObject(&object, &resource, nullptr, nullptr) == hipErrorInvalidValue);
  EXPECT(hipCreateTextureObject(&object, nullptr, &description, nullptr) == hipErrorInvalidValue);
  EXPECT(hipCreateTextureObject(nullptr, &resource, &description, nullptr) == hipErrorInvalidValue);
  const hipChannelFormatDesc format = hipCreateChannelDesc<float>(),
                             three = hipCreateChannelDesc(32, 32, 32, 0, hipChannelFormatKindFloat);
  hipArray_t array;
  EXPECT(hipMallocArray(&array, &format, 16385, 1) == hipErrorInvalidValue);
  EXPECT(hipMallocArray(&array, &three, 16, 1) == hipErrorInvalidValue);
  EXPECT(hipMalloc3DArray(&array, &format, make_hipExtent(4, 0, 4), 0) == hipErrorInvalidValue);
  EXPECT(hipMalloc3DArray(&array, &format, make_hipExtent(4, 4, 8), hipArrayCubemap) ==
         hipErrorInvalidValue);
  EXPECT(hipMalloc3DArray(&array, &format, make_hipExtent(16384, 16384, 8192), 0) ==
         hipErrorOutOfMemory);
  EXPECT(hipFreeArray(nullptr) == hipErrorInvalidValue);
  CHECK(hipMallocArray(&array, &format, 4, 4));
  EXPECT(hipMemcpy2DToArray(array, 0, 0, nullptr, 16, 16, 4, hipMemcpyHostToDevice) ==
         hipErrorInvalidValue);
  CHECK(hipFreeArray(array));
  std::printf("hip_textures: ok\n");
}
