// Managed memory: lists whose pointers both sides follow, a managed variable, registered memory.
#include "check.h"
struct Item {
  Item* next;
  int value;
};
__managed__ int total;
__device__ __managed__ float table[300];
__global__ void walk(const Item* head) {
  int sum = 0;
  for (const Item* i = head; i != nullptr; i = i->next) sum += i->value;
  total += sum;
}
__global__ void change(Item* head) {
  for (Item* i = head; i != nullptr; i = i->next) i->value *= 2;
}
__global__ void fill() {
  if (threadIdx.x < 300) table[threadIdx.x] += threadIdx.x * 0.5f;
}
__global__ void bump(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += i;
}
int main() {
  const int n = 100;
  Item* items;
  MUST(cudaMallocManaged(&items, n * sizeof(Item)));
  int wanted = 0;
  for (int i = 0; i < n; ++i) {
    items[i].value = i * 3;
    items[i].next = i + 1 < n ? &items[i + 1] : nullptr;
    wanted += i * 3;
  }
  total = 7;
  walk<<<1, 1>>>(items);
  MUST(cudaDeviceSynchronize());
  expect("list", total, wanted + 7);
  change<<<1, 1>>>(items);
  MUST(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) expect("item", items[i].value, i * 6);
  for (int i = 0; i < 300; ++i) table[i] = 1;
  fill<<<1, 320>>>();
  MUST(cudaDeviceSynchronize());
  for (int i = 0; i < 300; ++i) expect("table", table[i], 1 + i * 0.5f);
  // Two blocks that both sides write by turns, and a pointer of the middle.
  int* data;
  MUST(cudaMallocManaged(&data, 4096 * sizeof(int)));
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 4096; ++i) data[i] += round;
    bump<<<16, 128>>>(data + 2048, 2048);
    MUST(cudaDeviceSynchronize());
  }
  for (int i = 0; i < 4096; ++i) expect("rounds", data[i], 3 + (i < 2048 ? 0 : 3 * (i - 2048)));
  cudaPointerAttributes a;
  MUST(cudaPointerGetAttributes(&a, data + 5));
  expect("type", static_cast<int>(a.type), static_cast<int>(cudaMemoryTypeManaged));
  expect("address", a.devicePointer == data + 5 && a.hostPointer == data + 5, true);
  std::vector<int> mine(20000, 1);
  MUST(cudaPointerGetAttributes(&a, mine.data()));
  expect("pageable", static_cast<int>(a.type), static_cast<int>(cudaMemoryTypeUnregistered));
  MUST(cudaHostRegister(mine.data(), mine.size() * sizeof(int), cudaHostRegisterMapped));
  int* on_device;
  MUST(cudaHostGetDevicePointer(&on_device, mine.data(), 0));
  bump<<<200, 100>>>(on_device, 20000);
  MUST(cudaDeviceSynchronize());
  for (int i = 0; i < 20000; ++i) expect("registered", mine[i], 1 + i);
  MUST(cudaHostUnregister(mine.data()));
  // Copies between managed, device and host memory, whose kind the runtime finds.
  int* device;
  MUST(cudaMalloc(&device, 4096 * sizeof(int)));
  MUST(cudaMemcpy(device, data, 4096 * sizeof(int), cudaMemcpyDefault));
  MUST(cudaMemcpy(mine.data(), device, 4096 * sizeof(int), cudaMemcpyDefault));
  for (int i = 0; i < 4096; ++i) expect("copies", mine[i], data[i]);
  MUST(cudaPointerGetAttributes(&a, device));
  expect("device", static_cast<int>(a.type), static_cast<int>(cudaMemoryTypeDevice));
  MUST(cudaFree(device));
  MUST(cudaFree(data));
  MUST(cudaFree(items));
  return done("managed");
}
