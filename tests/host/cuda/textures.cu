// Texture and surface objects over arrays, layers, cubes, levels, linear and pitched memory.
#include "check.h"

__global__ void filtered(cudaTextureObject_t t, float* out, int width, float shift) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < width) out[y * width + x] = tex2D<float>(t, x + 0.5f + shift, y + 0.5f + shift);
}
__global__ void blur(cudaTextureObject_t in, cudaSurfaceObject_t out, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= width) return;
  float sum = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) sum += tex2D<float>(in, x + dx + 0.5f, y + dy + 0.5f);
  surf2Dwrite(sum / 9, out, x * 4, y);
}
__global__ void volume(cudaTextureObject_t t, float* out, int width, int height, float slice) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < width) out[y * width + x] = tex3D<float>(t, (x + 0.5f) / width, (y + 0.5f) / height, slice);
}
__global__ void layered(cudaTextureObject_t t, float4* out, int layers) {
  const int i = threadIdx.x;
  const uchar4 c = tex2DLayered<uchar4>(t, 2.5f, 1.5f, i % layers);
  out[i] = make_float4(c.x, c.y, c.z, c.w);
}
__global__ void cube(cudaTextureObject_t t, float* out) {
  const float d[6][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
  const int i = threadIdx.x;
  out[i] = texCubemap<float>(t, d[i][0], d[i][1], d[i][2]);
}
__global__ void levels(cudaTextureObject_t t, float* out) {
  out[threadIdx.x] = tex2DLod<float>(t, 0.5f, 0.5f, 0.25f * threadIdx.x);
}
__global__ void table(cudaTextureObject_t t, const int* index, float* out) {
  out[threadIdx.x] = tex1Dfetch<float>(t, index[threadIdx.x]);
}
__global__ void fraction(cudaTextureObject_t t, float2* out) {
  out[threadIdx.x] = tex2D<float2>(t, threadIdx.x - 1.0f, 0.5f);
}
__global__ void gathers(cudaTextureObject_t t, float4* out) {
  *out = tex2Dgather<float4>(t, 2.0f, 1.0f, 0);
}

cudaTextureDesc sampled(cudaTextureFilterMode filter, bool normalised = false,
                        cudaTextureAddressMode mode = cudaAddressModeClamp) {
  cudaTextureDesc d = {};
  for (auto& m : d.addressMode) m = mode;
  d.filterMode = filter;
  d.normalizedCoords = normalised;
  return d;
}
cudaTextureObject_t over(cudaArray_t array, const cudaTextureDesc& d) {
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = array;
  cudaTextureObject_t t = 0;
  MUST(cudaCreateTextureObject(&t, &r, &d, nullptr));
  return t;
}
std::vector<float> fetched(const float* device, size_t n) {
  std::vector<float> host(n);
  MUST(cudaMemcpy(host.data(), device, n * 4, cudaMemcpyDeviceToHost));
  return host;
}

int main() {
  const int width = 50, height = 20;
  float* out;
  MUST(cudaMalloc(&out, 65536));
  std::vector<float> image(width * height);
  for (size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(random_number() % 1000);
  const auto at = [&](int x, int y) {
    x = x < 0 ? 0 : x >= width ? width - 1 : x;
    y = y < 0 ? 0 : y >= height ? height - 1 : y;
    return image[y * width + x];
  };
  const auto f = cudaCreateChannelDesc<float>();
  cudaArray_t array, blurred;
  MUST(cudaMallocArray(&array, &f, width, height));
  MUST(cudaMallocArray(&blurred, &f, width, height, cudaArraySurfaceLoadStore));
  MUST(cudaMemcpy2DToArray(array, 0, 0, image.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice));

  // Bilinear, a quarter between texels: the weights are exact.
  const auto linear = over(array, sampled(cudaFilterModeLinear));
  filtered<<<dim3(1, height), 64>>>(linear, out, width, 0.25f);
  auto found = fetched(out, image.size());
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      expect_near("bilinear", found[y * width + x],
                  0.5625f * at(x, y) + 0.1875f * at(x + 1, y) + 0.1875f * at(x, y + 1) + 0.0625f * at(x + 1, y + 1), 1e-3);

  // An image filter that writes a surface.
  const auto nearest = over(array, sampled(cudaFilterModePoint));
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = blurred;
  cudaSurfaceObject_t surface = 0;
  MUST(cudaCreateSurfaceObject(&surface, &r));
  blur<<<dim3(1, height), 64>>>(nearest, surface, width);
  MUST(cudaMemcpy2DFromArray(found.data(), width * 4, blurred, 0, 0, width * 4, height, cudaMemcpyDeviceToHost));
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      float sum = 0;
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) sum += at(x + dx, y + dy);
      expect_near("blur", found[y * width + x], sum / 9, 1e-3);
    }

  // A slice between two of a volume.
  cudaArray_t box;
  const int depth = 4;
  std::vector<float> voxels(8 * 6 * depth);
  for (auto& v : voxels) v = static_cast<float>(random_number() % 64);
  MUST(cudaMalloc3DArray(&box, &f, make_cudaExtent(8, 6, depth)));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(voxels.data(), 32, 8, 6);
  copy.dstArray = box;
  copy.extent = make_cudaExtent(8, 6, depth);
  copy.kind = cudaMemcpyHostToDevice;
  MUST(cudaMemcpy3D(&copy));
  const auto cubic = over(box, sampled(cudaFilterModeLinear, true));
  volume<<<dim3(1, 6), 8>>>(cubic, out, 8, 6, 0.5f);
  found = fetched(out, 48);
  for (int i = 0; i < 48; ++i) expect_near("volume", found[i], 0.5f * (voxels[48 + i] + voxels[96 + i]), 1e-4);

  // Layers of bytes, and the faces of a cube.
  cudaArray_t stack;
  const auto bytes = cudaCreateChannelDesc<uchar4>();
  const int layers = 3;
  std::vector<uchar4> pixels(4 * 4 * layers);
  for (auto& p : pixels) p = {static_cast<unsigned char>(random_number() >> 8), static_cast<unsigned char>(random_number() >> 8), 3, 4};
  MUST(cudaMalloc3DArray(&stack, &bytes, make_cudaExtent(4, 4, layers), cudaArrayLayered));
  copy.srcPtr = make_cudaPitchedPtr(pixels.data(), 16, 4, 4);
  copy.dstArray = stack;
  copy.extent = make_cudaExtent(4, 4, layers);
  MUST(cudaMemcpy3D(&copy));
  layered<<<1, 6>>>(over(stack, sampled(cudaFilterModePoint)), reinterpret_cast<float4*>(out), layers);
  found = fetched(out, 24);
  for (int i = 0; i < 6; ++i) {
    const uchar4 p = pixels[i % layers * 16 + 6];
    expect("layer x", found[4 * i], p.x);
    expect("layer y", found[4 * i + 1], p.y);
  }
  cudaArray_t faces;
  std::vector<float> six(6 * 4 * 4);
  for (size_t i = 0; i < six.size(); ++i) six[i] = static_cast<float>(i / 16);
  MUST(cudaMalloc3DArray(&faces, &f, make_cudaExtent(4, 4, 6), cudaArrayCubemap));
  copy.srcPtr = make_cudaPitchedPtr(six.data(), 16, 4, 4);
  copy.dstArray = faces;
  copy.extent = make_cudaExtent(4, 4, 6);
  MUST(cudaMemcpy3D(&copy));
  cube<<<1, 6>>>(over(faces, sampled(cudaFilterModeLinear, true)), out);
  found = fetched(out, 6);
  for (int i = 0; i < 6; ++i) expect("face", found[i], i);

  // A chain of levels, each one number; between them the two are mixed.
  cudaMipmappedArray_t chain;
  MUST(cudaMallocMipmappedArray(&chain, &f, make_cudaExtent(8, 8, 0), 4));
  for (unsigned l = 0; l < 4; ++l) {
    cudaArray_t level;
    MUST(cudaGetMipmappedArrayLevel(&level, chain, l));
    const unsigned size = 8 >> l;
    const std::vector<float> same(size * size, 10.0f * l);
    MUST(cudaMemcpy2DToArray(level, 0, 0, same.data(), size * 4, size * 4, size, cudaMemcpyHostToDevice));
  }
  r = {};
  r.resType = cudaResourceTypeMipmappedArray;
  r.res.mipmap.mipmap = chain;
  auto mixed = sampled(cudaFilterModeLinear, true);
  mixed.mipmapFilterMode = cudaFilterModeLinear;
  mixed.maxMipmapLevelClamp = 3;
  cudaTextureObject_t mips;
  MUST(cudaCreateTextureObject(&mips, &r, &mixed, nullptr));
  levels<<<1, 16>>>(mips, out);
  found = fetched(out, 16);
  for (int i = 0; i < 16; ++i) expect_near("level", found[i], std::fmin(2.5f * i, 30.0f), 1e-5);

  // A table in linear memory, zeros behind it; bytes as fractions in pitched memory.
  int* index;
  MUST(cudaMalloc(&index, 32));
  const int places[8] = {3, 0, 7, 99, -1, 8, 1, 6};
  MUST(cudaMemcpy(index, places, 32, cudaMemcpyHostToDevice));
  float* numbers;
  MUST(cudaMalloc(&numbers, 32));
  MUST(cudaMemcpy(numbers, image.data(), 32, cudaMemcpyHostToDevice));
  r = {};
  r.resType = cudaResourceTypeLinear;
  r.res.linear.devPtr = numbers;
  r.res.linear.desc = f;
  r.res.linear.sizeInBytes = 32;
  cudaTextureObject_t lookup;
  const auto plain = sampled(cudaFilterModePoint);
  MUST(cudaCreateTextureObject(&lookup, &r, &plain, nullptr));
  table<<<1, 8>>>(lookup, index, out);
  found = fetched(out, 8);
  for (int i = 0; i < 8; ++i) expect("table", found[i], places[i] >= 0 && places[i] < 8 ? image[places[i]] : 0.0f);
  uchar2* rows;
  size_t pitch;
  MUST(cudaMallocPitch(&rows, &pitch, 8, 2));
  const unsigned char pairs[16] = {0, 255, 51, 102, 255, 0, 1, 2};
  MUST(cudaMemcpy2D(rows, pitch, pairs, 8, 8, 2, cudaMemcpyHostToDevice));
  r = {};
  r.resType = cudaResourceTypePitch2D;
  r.res.pitch2D.devPtr = rows;
  r.res.pitch2D.desc = cudaCreateChannelDesc<uchar2>();
  r.res.pitch2D.width = 4;
  r.res.pitch2D.height = 2;
  r.res.pitch2D.pitchInBytes = pitch;
  auto ratio = sampled(cudaFilterModePoint, false, cudaAddressModeBorder);
  ratio.readMode = cudaReadModeNormalizedFloat;
  ratio.borderColor[0] = 0.5f;
  cudaTextureObject_t ratios;
  MUST(cudaCreateTextureObject(&ratios, &r, &ratio, nullptr));
  fraction<<<1, 6>>>(ratios, reinterpret_cast<float2*>(out));
  found = fetched(out, 12);
  for (int i = 0; i < 6; ++i) {
    const bool inside = i >= 1 && i < 5;
    expect("fraction x", found[2 * i], inside ? pairs[2 * (i - 1)] / 255.0f : 0.5f);
    expect("fraction y", found[2 * i + 1], inside ? pairs[2 * (i - 1) + 1] / 255.0f : 0.0f);
  }

  // Four texels at once, in the manual's order.
  cudaArray_t gathered;
  MUST(cudaMallocArray(&gathered, &f, width, height, cudaArrayTextureGather));
  MUST(cudaMemcpy2DToArray(gathered, 0, 0, image.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice));
  gathers<<<1, 1>>>(over(gathered, plain), reinterpret_cast<float4*>(out));
  found = fetched(out, 4);
  const float order[4] = {at(1, 1), at(2, 1), at(2, 0), at(1, 0)};
  for (int i = 0; i < 4; ++i) expect("gather", found[i], order[i]);

  MUST(cudaDestroyTextureObject(lookup));
  MUST(cudaDestroySurfaceObject(surface));
  MUST(cudaFreeMipmappedArray(chain));
  MUST(cudaFreeArray(array));
  return done("textures");
}
