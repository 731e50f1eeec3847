// Graphs that a program builds by itself: nodes of every kind, what they depend on, new parameters,
// a copy.
#include "check.hpp"

__global__ void scale(int* data, int by, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = data[i] * by + 1;
}
static void add_ten(void* user) {
  *static_cast<int*>(user) += 10;
}

int main() {
  int n = 300, by = 3, *data, host[300] = {}, calls = 0;
  CHECK(hipMalloc(&data, sizeof host));
  hipGraph_t graph, copy;
  CHECK(hipGraphCreate(&graph, 0));

  hipMemsetParams fill = {};
  fill.dst = data, fill.elementSize = 4, fill.value = 5, fill.width = 300, fill.height = 1;
  hipGraphNode_t filled, scaled, again, copied, called, joined;
  CHECK(hipGraphAddMemsetNode(&filled, graph, nullptr, 0, &fill));
  void* arguments[] = {&data, &by, &n};
  hipKernelNodeParams kernel = {};
  kernel.func = reinterpret_cast<void*>(scale), kernel.gridDim = dim3(2),
  kernel.blockDim = dim3(256);
  kernel.kernelParams = arguments;
  CHECK(hipGraphAddKernelNode(&scaled, graph, &filled, 1, &kernel));
  by = 2;
  CHECK(hipGraphAddKernelNode(&again, graph, nullptr, 0, &kernel));
  CHECK(hipGraphAddDependencies(graph, &scaled, &again, 1));
  CHECK(hipGraphAddMemcpyNode1D(&copied, graph, &again, 1, host, data, sizeof host,
                                hipMemcpyDeviceToHost));
  hipHostNodeParams call = {add_ten, &calls};
  CHECK(hipGraphAddHostNode(&called, graph, &copied, 1, &call));
  CHECK(hipGraphAddEmptyNode(&joined, graph, &called, 1));

  EXPECT(hipGraphAddDependencies(graph, &scaled, &again, 1) == hipErrorInvalidValue);
  EXPECT(hipGraphAddDependencies(graph, nullptr, &again, 1) == hipErrorInvalidValue);
  EXPECT(hipGraphAddDependencies(graph, &scaled, nullptr, 1) == hipErrorInvalidValue);
  CHECK(hipGraphAddDependencies(graph, nullptr, nullptr, 0));

  size_t count = 0;
  CHECK(hipGraphGetNodes(graph, nullptr, &count));
  EXPECT(count == 6);
  CHECK(hipGraphGetEdges(graph, nullptr, nullptr, &count));
  EXPECT(count == 5);
  hipGraphNode_t root = nullptr;
  count = 1;
  CHECK(hipGraphGetRootNodes(graph, &root, &count));
  EXPECT(root == filled && count == 1);
  hipGraphNodeType type;
  CHECK(hipGraphNodeGetType(scaled, &type));
  EXPECT(type == hipGraphNodeTypeKernel);
  CHECK(hipGraphNodeGetType(joined, &type));
  EXPECT(type == hipGraphNodeTypeEmpty);
  hipKernelNodeParams seen;
  CHECK(hipGraphKernelNodeGetParams(scaled, &seen));
  EXPECT(seen.func == kernel.func && seen.gridDim.x == 2 && seen.blockDim.x == 256);
  EXPECT(*static_cast<int*>(seen.kernelParams[1]) == 3);
  hipMemsetParams what;
  CHECK(hipGraphMemsetNodeGetParams(filled, &what));
  EXPECT(what.dst == data && what.elementSize == 4 && what.value == 5 && what.width == 300 &&
         what.height == 1);

  hipGraphExec_t ready;
  CHECK(hipGraphInstantiate(&ready, graph, nullptr, nullptr, 0));
  CHECK(hipGraphLaunch(ready, nullptr));
  CHECK(hipStreamSynchronize(nullptr));
  EXPECT(calls == 10 && host[0] == (5 * 3 + 1) * 2 + 1 && host[299] == 33);
  fill.value = 1;
  CHECK(hipGraphExecMemsetNodeSetParams(ready, filled, &fill));
  by = 7;
  CHECK(hipGraphExecKernelNodeSetParams(ready, again, &kernel));
  CHECK(hipGraphLaunch(ready, nullptr));
  CHECK(hipStreamSynchronize(nullptr));
  EXPECT(calls == 20 && host[299] == (1 * 3 + 1) * 7 + 1);

  CHECK(hipGraphClone(&copy, graph));
  hipGraphNode_t in_copy;
  CHECK(hipGraphNodeFindInClone(&in_copy, called, copy));
  CHECK(hipGraphDestroyNode(in_copy));
  hipGraphExec_t of_copy;
  CHECK(hipGraphInstantiateWithFlags(&of_copy, copy, 0));
  CHECK(hipGraphLaunch(of_copy, nullptr));
  CHECK(hipStreamSynchronize(nullptr));
  EXPECT(calls == 20 && host[299] == 33);
  CHECK(hipGraphExecDestroy(of_copy));
  CHECK(hipGraphExecDestroy(ready));
  CHECK(hipGraphDestroy(copy));
  CHECK(hipGraphDestroy(graph));
  std::printf("hip_graphs: ok\n");
}
