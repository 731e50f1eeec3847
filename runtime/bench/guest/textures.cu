// nvcc -arch=sm_75 -ptx -o textures.ptx textures.cu   (11.8, which still has texture references)
texture<float, 2> numbers;
texture<uchar4, 2, cudaReadModeNormalizedFloat> colours;

extern "C" {
// A picture of another size: texel or filtered texel at (x, y) * step + 1/4.
__global__ void resize(float* out, float step, int w) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  out[y * w + x] = tex2D(numbers, x * step + 0.25f, y * step + 0.25f);
}
__global__ void resize_colours(float4* out, float step, int w) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  out[y * w + x] = tex2D(colours, x * step + 0.25f, y * step + 0.25f);
}
}
