// Texture and surface references, which CUDA 12 no longer has: variables that calls bind to texels.
#include "check.h"

texture<float, cudaTextureType2D, cudaReadModeElementType> image;
texture<unsigned char, cudaTextureType1D, cudaReadModeNormalizedFloat> bytes;
texture<int2, cudaTextureType1D> pairs;
surface<void, cudaSurfaceType2D> target;

__global__ void filtered(float* out, int width, int height) {
  const int x = threadIdx.x, y = blockIdx.x;
  out[y * width + x] = tex2D(image, (x + 1.0f) / width, (y + 1.0f) / height);
}
__global__ void tables(float* out, int2* two) {
  out[threadIdx.x] = tex1Dfetch(bytes, threadIdx.x);
  two[threadIdx.x] = tex1Dfetch(pairs, threadIdx.x);
}
__global__ void copies(int height) {
  for (int y = 0; y < height; ++y) {
    const float v = surf2Dread<float>(target, threadIdx.x * 4, y);
    surf2Dwrite(v + 1000, target, threadIdx.x * 4, y);
  }
}

int main(int argc, char** argv) {
  if (argc > 1) MUST(cudaSetDevice(std::atoi(argv[1])));
  const int width = 8, height = 6;
  std::vector<float> texels(width * height);
  for (auto& t : texels) t = static_cast<float>(random_number() % 256);
  const auto at = [&](int x, int y) { return texels[y % height * width + x % width]; };
  const auto f = cudaCreateChannelDesc<float>();
  cudaArray* array;
  MUST(cudaMallocArray(&array, &f, width, height, cudaArraySurfaceLoadStore));
  MUST(cudaMemcpyToArray(array, 0, 0, texels.data(), texels.size() * 4, cudaMemcpyHostToDevice));
  image.normalized = true;
  image.filterMode = cudaFilterModeLinear;
  image.addressMode[0] = image.addressMode[1] = cudaAddressModeWrap;
  MUST(cudaBindTextureToArray(image, array));
  float* out;
  MUST(cudaMalloc(&out, 4096));
  filtered<<<height, width>>>(out, width, height);
  std::vector<float> found(width * height);
  MUST(cudaMemcpy(found.data(), out, found.size() * 4, cudaMemcpyDeviceToHost));
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      expect_near("wrapped", found[y * width + x], 0.25f * (at(x, y) + at(x + 1, y) + at(x, y + 1) + at(x + 1, y + 1)), 0.5);

  unsigned char* small;
  int2* large;
  MUST(cudaMalloc(&small, 16));
  MUST(cudaMalloc(&large, 16 * 8));
  unsigned char numbers[16];
  int2 both[16];
  for (int i = 0; i < 16; ++i) numbers[i] = static_cast<unsigned char>(17 * i), both[i] = make_int2(i, -i);
  MUST(cudaMemcpy(small, numbers, sizeof numbers, cudaMemcpyHostToDevice));
  MUST(cudaMemcpy(large, both, sizeof both, cudaMemcpyHostToDevice));
  size_t offset = 1;
  MUST(cudaBindTexture(&offset, bytes, small, 16));
  expect("offset", offset, 0u);
  MUST(cudaBindTexture(nullptr, pairs, large, sizeof both));
  int2* two;
  MUST(cudaMalloc(&two, sizeof both));
  tables<<<1, 16>>>(out, two);
  MUST(cudaMemcpy(found.data(), out, 64, cudaMemcpyDeviceToHost));
  int2 back[16];
  MUST(cudaMemcpy(back, two, sizeof back, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 16; ++i) {
    expect("fraction", found[i], numbers[i] / 255.0f);
    expect("pair", back[i].y, -i);
  }
  MUST(cudaBindSurfaceToArray(target, array));
  copies<<<1, width>>>(height);
  MUST(cudaMemcpyFromArray(found.data(), array, 0, 0, texels.size() * 4, cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < texels.size(); ++i) expect("surface", found[i], texels[i] + 1000);
  MUST(cudaUnbindTexture(image));
  return done("texture_references");
}
