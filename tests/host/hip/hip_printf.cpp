// What kernels print, through the device library's requests to the host.
#include "check.hpp"

#include <cstdio>

__global__ void lines(int rounds) {
  for (int n = 0; n < rounds; ++n)
    if ((threadIdx.x + n) % 3 != 0)
      printf("block %d lane %u round %d: %8.3f %s\n", (int)blockIdx.x, (unsigned)threadIdx.x, n,
             threadIdx.x * 0.25 - n,
             threadIdx.x % 2 ? "odd"
                             : "even and long enough for a text of several packets of this kind");
}
__global__ void forms(int* returned) {
  if (threadIdx.x != 0) return;
  returned[0] = printf("%5d|%-5d|%05d|%x|%c|%%|%lld|%*d|%.*f\n", 42, -42, 7, 0xbeef, 'q',
                       -123456789012345LL, 6, 9, 2, 1.0 / 3);
  returned[1] = printf("nothing else\n");
  returned[2] = printf("[%s] [%10s] [%-4s]\n", "", "right", "l");
}

int main() {
  int* returned = nullptr;
  CHECK(hipMalloc(&returned, 3 * sizeof(int)));
  lines<<<3, 70>>>(2);
  CHECK(hipGetLastError());
  CHECK(hipDeviceSynchronize());
  forms<<<1, 64>>>(returned);
  int host[3];
  CHECK(hipMemcpy(host, returned, sizeof host, hipMemcpyDeviceToHost));
  std::printf("%d %d %d\n", host[0], host[1], host[2]);
  EXPECT(host[0] == 56 && host[1] == 13 && host[2] == 23);
  std::printf("hip_printf: ok\n");
  return 0;
}
