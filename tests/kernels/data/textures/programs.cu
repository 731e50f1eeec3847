// Programs with textures and surfaces, as CUDA programmers write them; texture_programs.cpp has the host's values.
using Texture = cudaTextureObject_t;
using Surface = cudaSurfaceObject_t;

#define PROGRAM extern "C" __global__ void
#define HERE const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y

PROGRAM box(Texture from, float *to, int width, int height) {
  HERE;
  if (x >= width || y >= height) return;
  float sum = 0;
  for (int j = -1; j <= 1; ++j)
    for (int i = -1; i <= 1; ++i) sum += tex2D<float>(from, x + i + 0.5f, y + j + 0.5f);
  to[y * width + x] = sum * 0.125f;
}

PROGRAM sobel(Texture from, int *to, int width, int height) {
  HERE;
  if (x >= width || y >= height) return;
  const auto at = [&](int i, int j) { return (int)tex2D<unsigned char>(from, x + i + 0.5f, y + j + 0.5f); };
  const int gx = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1);
  const int gy = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1);
  to[y * width + x] = abs(gx) + abs(gy);
}

PROGRAM median(Texture from, Surface to, int width, int height) {
  HERE;
  if (x >= width || y >= height) return;
  unsigned v[9];
  for (int n = 0; n < 9; ++n) {
    v[n] = tex2D<unsigned short>(from, x + n % 3 - 0.5f, y + n / 3 - 0.5f);
    for (int k = n; k > 0 && v[k - 1] > v[k]; --k) {
      const unsigned swap = v[k];
      v[k] = v[k - 1];
      v[k - 1] = swap;
    }
  }
  surf2Dwrite((unsigned short)v[4], to, x * 2, y);
}

PROGRAM resize(Texture from, float4 *to, int width, int height, float step_x, float step_y) {
  HERE;
  if (x < width && y < height) to[y * width + x] = tex2D<float4>(from, x * step_x, y * step_y);
}

PROGRAM rotate(Texture from, float *to, int width, int height) {
  HERE;
  if (x >= width || y >= height) return;
  const float u = x - width / 2, v = y - height / 2;
  to[y * width + x] = tex2D<float>(from, 0.75f * u - 0.5f * v + 4.25f, 0.5f * u + 0.75f * v + 3.5f);
}

PROGRAM slice(Texture volume, float *to, int width, int height, float z) {
  HERE;
  if (x < width && y < height) to[y * width + x] = tex3D<float>(volume, x + 0.25f, y + 0.75f, z);
}

PROGRAM brightest(Texture volume, float *to, int width, int height, int depth) {
  HERE;
  if (x >= width || y >= height) return;
  float most = -1e30f;
  for (int z = 0; z < depth; ++z) most = fmaxf(most, tex3D<float>(volume, x + 0.5f, y + 0.5f, z + 0.5f));
  to[y * width + x] = most;
}

PROGRAM environment(Texture cube, const float4 *directions, float4 *to, int count) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n < count) to[n] = texCubemap<float4>(cube, directions[n].x, directions[n].y, directions[n].z);
}

PROGRAM chain(Texture levels, const float4 *at, float *to, int count) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n < count) to[n] = tex2DLod<float>(levels, at[n].x, at[n].y, at[n].z);
}

PROGRAM halve(Surface from, Surface to, int width, int height) {
  HERE;
  if (x >= width || y >= height) return;
  uint4 sum = make_uint4(2, 2, 2, 2);
  for (int n = 0; n < 4; ++n) {
    const uchar4 c = surf2Dread<uchar4>(from, (2 * x + n % 2) * 4, 2 * y + n / 2, cudaBoundaryModeClamp);
    sum.x += c.x, sum.y += c.y, sum.z += c.z, sum.w += c.w;
  }
  surf2Dwrite(make_uchar4(sum.x / 4, sum.y / 4, sum.z / 4, sum.w / 4), to, x * 4, y);
}

PROGRAM curve(Texture table, const float *at, float *to, int count) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n < count) to[n] = tex1D<float>(table, at[n]);
}

PROGRAM grade(Texture colours, const float4 *from, float4 *to, int count) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n < count) to[n] = tex3D<float4>(colours, from[n].x, from[n].y, from[n].z);
}

PROGRAM layers(Texture stack, int *to, int width, int height, int count) {
  HERE;
  if (x >= width || y >= height) return;
  int sum = 0;
  for (int n = 0; n < count; ++n) sum += (n + 1) * tex2DLayered<int>(stack, x + 0.5f, y + 0.5f, n);
  to[y * width + x] = sum;
}

PROGRAM transpose(Surface from, Surface to, int width, int height) {
  HERE;
  if (x < width && y < height) surf2Dwrite(surf2Dread<int2>(from, x * 8, y), to, y * 8, x);
}

PROGRAM shift_volume(Surface from, Surface to, int width, int height, int depth) {
  HERE;
  if (x >= width || y >= height) return;
  for (int z = 0; z < depth; ++z) {
    const float v = surf3Dread<float>(from, (x + 1) * 4, y - 1, z, cudaBoundaryModeZero);
    surf3Dwrite(v + 1, to, x * 4, y, (z + 1) % depth);
  }
}

PROGRAM histogram(Texture from, int *counts, int count) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n < count) atomicAdd(&counts[tex1Dfetch<unsigned char>(from, n) / 16], 1);
}

PROGRAM life(Texture from, Surface to, int width, int height) {
  HERE;
  if (x >= width || y >= height) return;
  int alive = 0;
  for (int n = 0; n < 9; ++n)
    if (n != 4) alive += tex2D<unsigned char>(from, (x + n % 3 - 0.5f) / width, (y + n / 3 - 0.5f) / height);
  const int me = tex2D<unsigned char>(from, (x + 0.5f) / width, (y + 0.5f) / height);
  surf2Dwrite((unsigned char)(alive == 3 || (me && alive == 2)), to, x, y);
}

PROGRAM corners(Texture from, float4 *to, int width, int height) {
  HERE;
  if (x < width && y < height) to[y * width + x] = tex2Dgather<float4>(from, x + 1.0f, y + 1.0f, 1);
}
