// What the runtime keeps: what pools have given, views of textures, stubs of kernels across a
// reset.
#include "check.h"

__global__ void late(int* out) {
  *out = 4;
}
__global__ void store(int* out) {
  *out = 1;
}
__global__ void texels(cudaTextureObject_t t, float4* out) {
  out[threadIdx.x] = tex2D<float4>(t, threadIdx.x + 0.5f, 0.5f);
}
__global__ void words(cudaTextureObject_t t, unsigned* out) {
  out[threadIdx.x] = tex2D<unsigned>(t, threadIdx.x + 0.5f, 0.5f);
}
__global__ void layers(cudaTextureObject_t t, float* out) {
  out[threadIdx.x] = tex2DLayered<float>(t, 1.5f, 0.5f, threadIdx.x);
}

// The kernel is launched for the first time once another one has failed.
void after_failure() {
  int *p = nullptr, found = 0;
  MUST(cudaMalloc(&p, 4));
  store<<<1, 1>>>(nullptr);
  expect("failure", cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  for (int i = 0; i < 100; ++i) late<<<1, 1>>>(p);
  expect("launch after it", cudaGetLastError(), cudaErrorIllegalAddress);
  MUST(cudaDeviceReset());
  cudaGetLastError();
  MUST(cudaMalloc(&p, 4));
  late<<<1, 1>>>(p);
  MUST(cudaGetLastError());
  MUST(cudaMemcpy(&found, p, 4, cudaMemcpyDeviceToHost));
  expect("kernel after a reset", found, 4);
  MUST(cudaFree(p));
}

unsigned long long of(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
  unsigned long long value = 0;
  MUST(cudaMemPoolGetAttribute(pool, attribute, &value));
  return value;
}

void pools() {
  cudaMemPool_t usual = nullptr, own = nullptr, found = nullptr;
  MUST(cudaDeviceGetDefaultMemPool(&usual, 0));
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  MUST(cudaMemPoolCreate(&own, &properties));
  int *plain = nullptr, *a = nullptr, *b = nullptr;
  MUST(cudaMalloc(&plain, 5000));
  expect("other memory is of no pool", of(usual, cudaMemPoolAttrUsedMemCurrent), 0);
  MUST(cudaMallocAsync(&a, 1000, 0));
  MUST(cudaMallocFromPoolAsync(&b, 3000, own, 0));
  expect("usual pool", of(usual, cudaMemPoolAttrUsedMemCurrent), 1000);
  expect("own pool", of(own, cudaMemPoolAttrUsedMemCurrent), 3000);
  MUST(cudaFreeAsync(a, 0));
  MUST(cudaFreeAsync(b, 0));
  MUST(cudaDeviceSynchronize());
  expect("usual pool at the end", of(usual, cudaMemPoolAttrUsedMemCurrent), 0);
  expect("its most", of(usual, cudaMemPoolAttrUsedMemHigh), 1000);
  unsigned long long none = 0;
  MUST(cudaMemPoolSetAttribute(usual, cudaMemPoolAttrUsedMemHigh, &none));
  expect("its most, from then on", of(usual, cudaMemPoolAttrUsedMemHigh), 0);
  MUST(cudaDeviceSetMemPool(0, own));
  MUST(cudaDeviceGetMemPool(&found, 0));
  expect("chosen pool", found == own, true);
  MUST(cudaMallocAsync(&a, 2000, 0));
  expect("it gives", of(own, cudaMemPoolAttrUsedMemCurrent), 2000);
  MUST(cudaFreeAsync(a, 0));
  MUST(cudaMemPoolDestroy(own));
  MUST(cudaDeviceGetMemPool(&found, 0));
  expect("usual pool again", found == usual, true);
  MUST(cudaFree(plain));
}

cudaTextureObject_t over(cudaArray_t array, const cudaResourceViewDesc& view, bool fractions) {
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = array;
  cudaTextureDesc d = {};
  for (auto& m : d.addressMode) m = cudaAddressModeClamp;
  if (fractions) d.readMode = cudaReadModeNormalizedFloat;
  cudaTextureObject_t t = 0;
  MUST(cudaCreateTextureObject(&t, &r, &d, &view));
  return t;
}

template <typename T, typename Kernel>
std::vector<T> read_by(Kernel kernel, cudaTextureObject_t t, int count) {
  T* out = nullptr;
  std::vector<T> host(count);
  MUST(cudaMalloc(&out, count * sizeof(T)));
  kernel<<<1, count>>>(t, out);
  MUST(cudaMemcpy(host.data(), out, count * sizeof(T), cudaMemcpyDeviceToHost));
  MUST(cudaFree(out));
  return host;
}

void views() {
  const unsigned char bytes[4][4] = {
      {1, 2, 3, 4}, {50, 60, 70, 80}, {255, 0, 128, 9}, {7, 7, 6, 5}};
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc word = cudaCreateChannelDesc<unsigned>();
  MUST(cudaMallocArray(&array, &word, 4, 1));
  MUST(cudaMemcpy2DToArray(array, 0, 0, bytes, 16, 16, 1, cudaMemcpyHostToDevice));
  cudaResourceViewDesc view = {};
  view.format = cudaResViewFormatUnsignedChar4;
  view.width = 4;
  view.height = 1;
  const auto four = read_by<float4>(texels, over(array, view, true), 4);
  for (int i = 0; i < 4; ++i) {
    expect_near("first byte", four[i].x, bytes[i][0] / 255.0, 1e-6);
    expect_near("last byte", four[i].w, bytes[i][3] / 255.0, 1e-6);
  }
  view.format = cudaResViewFormatUnsignedInt1;
  const auto same = read_by<unsigned>(words, over(array, view, false), 4);
  for (int i = 0; i < 4; ++i)
    expect("word", same[i],
           bytes[i][0] | bytes[i][1] << 8 | bytes[i][2] << 16 | unsigned(bytes[i][3]) << 24);
  MUST(cudaFreeArray(array));

  const cudaChannelFormatDesc real = cudaCreateChannelDesc<float>();
  MUST(cudaMalloc3DArray(&array, &real, make_cudaExtent(3, 2, 5), cudaArrayLayered));
  float texel[30];
  for (int i = 0; i < 30; ++i) texel[i] = i;
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(texel, 12, 3, 2);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(3, 2, 5);
  copy.kind = cudaMemcpyHostToDevice;
  MUST(cudaMemcpy3D(&copy));
  view = {};
  view.format = cudaResViewFormatFloat1;
  view.width = 3;
  view.height = 2;
  view.firstLayer = 2;
  view.lastLayer = 3;
  const auto part = read_by<float>(layers, over(array, view, false), 4);
  for (int i = 0; i < 4; ++i) expect("layer", part[i], (i == 0 ? 2 : 3) * 6 + 1);
  MUST(cudaFreeArray(array));
}

int main() {
  pools();
  views();
  after_failure();
  return done("runtime_state");
}
