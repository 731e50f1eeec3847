// Memory that both sides reach: managed, mapped and registered; what pointers are.
#include "check.hpp"

struct Node {
  int value;
  Node* next;
};
__global__ void walk(Node* first, int* sum, int* mapped) {
  for (Node* at = first; at != nullptr; at = at->next) *sum += at->value;
  *mapped += *sum;
}

int main() {
  Node* nodes;
  int *sum, *mapped, *device, own[64] = {};
  CHECK(hipMallocManaged(&nodes, 10 * sizeof(Node)));
  CHECK(hipMallocManaged(&sum, sizeof(int)));
  CHECK(hipHostMalloc(&mapped, sizeof(int), hipHostMallocMapped));
  for (int i = 0; i < 10; ++i) nodes[i] = {i, i < 9 ? &nodes[i + 1] : nullptr};
  *sum = 0, *mapped = 100;
  CHECK(hipHostGetDevicePointer(reinterpret_cast<void**>(&device), mapped, 0));
  walk<<<1, 1>>>(nodes, sum, device);
  CHECK(hipDeviceSynchronize());
  EXPECT(*sum == 45 && *mapped == 145);
  hipPointerAttribute_t attributes;
  CHECK(hipPointerGetAttributes(&attributes, nodes));
  EXPECT(attributes.isManaged == 1 && attributes.device == 0);
  CHECK(hipHostRegister(own, sizeof own, hipHostRegisterDefault));
  CHECK(hipHostUnregister(own));
  EXPECT(hipHostUnregister(own) == hipErrorHostMemoryNotRegistered);
  CHECK(hipFree(nodes));
  CHECK(hipHostFree(mapped));
  std::puts("hip_managed: ok");
}
