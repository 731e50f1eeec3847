// Streams, events, functions of the host, graphs by hand and captured, memory in stream order.
#include "check.hpp"

static void add_one(void* user) {
  ++*static_cast<int*>(user);
}

int main() {
  CUcontext context = make_context(), current = nullptr;
  CUmodule module;
  CUfunction scale;
  CHECK(cuModuleLoadData(&module, kernels_ptx));
  CHECK(cuModuleGetFunction(&scale, module, "scale"));
  CUstream one, two;
  CUevent event;
  int least = 9, greatest = 9, calls = 0, n = 64, by = 2;
  CHECK(cuCtxGetStreamPriorityRange(&least, &greatest));
  CHECK(cuStreamCreateWithPriority(&one, CU_STREAM_NON_BLOCKING, greatest));
  CHECK(cuStreamCreate(&two, CU_STREAM_DEFAULT));
  CHECK(cuStreamGetCtx(one, &current));
  EXPECT(current == context);
  CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  CUdeviceptr data;
  std::vector<int> out(64);
  CHECK(cuMemAllocAsync(&data, 256, one));
  CHECK(cuMemsetD32Async(data, 1, 64, one));
  void* arguments[] = {&data, &n, &by};
  launch(scale, n, arguments, one);
  CHECK(cuLaunchHostFunc(one, add_one, &calls));
  CHECK(cuEventRecord(event, one));
  CHECK(cuStreamWaitEvent(two, event, 0));
  launch(scale, n, arguments, two);
  CHECK(cuStreamWriteValue32(two, data, 77, 0));
  CHECK(cuStreamSynchronize(two));
  EXPECT(cuStreamQuery(one) == CUDA_SUCCESS && cuEventQuery(event) == CUDA_SUCCESS && calls == 1);
  CHECK(cuMemcpyDtoH(out.data(), data, 256));
  EXPECT(out[0] == 77 && out[1] == 19 && out[63] == 19);

  CUgraph graph;
  CUgraphExec executable;
  CUgraphNode fill, kernel, host;
  CHECK(cuGraphCreate(&graph, 0));
  CUDA_MEMSET_NODE_PARAMS zeros{};
  zeros.dst = data, zeros.elementSize = 4, zeros.width = 64, zeros.height = 1, zeros.value = 4;
  CHECK(cuGraphAddMemsetNode(&fill, graph, nullptr, 0, &zeros, context));
  CUDA_KERNEL_NODE_PARAMS run{};
  run.func = scale, run.gridDimX = run.gridDimY = run.gridDimZ = 1, run.blockDimX = 64;
  run.blockDimY = run.blockDimZ = 1, run.kernelParams = arguments;
  CHECK(cuGraphAddKernelNode(&kernel, graph, &fill, 1, &run));
  CUDA_HOST_NODE_PARAMS call{add_one, &calls};
  CHECK(cuGraphAddHostNode(&host, graph, &kernel, 1, &call));
  CHECK(cuGraphInstantiateWithFlags(&executable, graph, 0));
  CHECK(cuGraphLaunch(executable, one));
  CHECK(cuGraphLaunch(executable, one));
  CHECK(cuStreamSynchronize(one));
  CHECK(cuMemcpyDtoH(out.data(), data, 256));
  EXPECT(out[5] == 13 && calls == 3);
  by = 10;
  CHECK(cuGraphExecKernelNodeSetParams(executable, kernel, &run));
  CHECK(cuGraphLaunch(executable, one));
  CHECK(cuMemcpyDtoH(out.data(), data, 256));
  EXPECT(out[5] == 45);
  CUDA_KERNEL_NODE_PARAMS got{};
  CHECK(cuGraphKernelNodeGetParams(kernel, &got));
  EXPECT(got.func == scale && got.blockDimX == 64);
  size_t count = 0;
  CHECK(cuGraphGetNodes(graph, nullptr, &count));
  EXPECT(count == 3);
  CHECK(cuGraphExecDestroy(executable));
  CHECK(cuGraphDestroy(graph));

  CHECK(cuStreamBeginCapture(one, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  CHECK(cuMemsetD32Async(data, 2, 64, one));
  launch(scale, n, arguments, one);
  CHECK(cuStreamEndCapture(one, &graph));
  CHECK(cuGraphInstantiateWithFlags(&executable, graph, 0));
  CHECK(cuGraphLaunch(executable, two));
  CHECK(cuStreamSynchronize(two));
  CHECK(cuMemcpyDtoH(out.data(), data, 256));
  EXPECT(out[63] == 25);
  CHECK(cuMemFreeAsync(data, one));
  CHECK(cuStreamDestroy(one));
  CHECK(cuStreamDestroy(two));
  CHECK(cuEventDestroy(event));
  std::puts("drv_streams: ok");
}
