// Graphs: their nodes, what these depend on, and running them.
#include "runtime/host/cuda/graphs.hpp"

#include "runtime/host/hip/entry.hpp"

namespace lanewise::hip {

using cuda::Copy3D;
using cuda::HostParameters;

namespace {

/// hipKernelNodeParams, hipMemsetParams: those of CUDA in another order.
struct KernelParameters {
  Dim block;
  void** extra;
  void* function;
  Dim grid;
  void** args;
  unsigned shared;
};
struct MemsetParameters {
  void* to;
  unsigned size;
  size_t height, pitch;
  unsigned value;
  size_t width;
};

Launch launch_of(const KernelParameters* p) {
  require(p != nullptr);
  const cuda::KernelParameters same{p->function, p->grid, p->block, p->shared, p->args, p->extra};
  return cuda::launch_of(&same);
}
Fill fill_of(const MemsetParameters* p) {
  require(p != nullptr);
  const cuda::MemsetParameters same{p->to, p->pitch, p->value, p->size, p->width, p->height};
  return cuda::fill_of(&same);
}

}  // namespace
}  // namespace lanewise::hip

using namespace lanewise::hip;

SAME(hipGraphCreate, cudaGraphCreate, (Graph * *out, unsigned flags), (out, flags))
SAME(hipGraphDestroy, cudaGraphDestroy, (Graph * graph), (graph))
SAME(hipGraphClone, cudaGraphClone, (Graph * *out, Graph* graph), (out, graph))
SAME(hipGraphInstantiate, lanewise_cuda11_cudaGraphInstantiate,
     (Executable * *out, Graph* graph, Node** error, char* log, size_t bytes),
     (out, graph, error, log, bytes))
SAME(hipGraphInstantiateWithFlags, cudaGraphInstantiateWithFlags,
     (Executable * *out, Graph* graph, unsigned long long flags), (out, graph, flags))
SAME(hipGraphLaunch, cudaGraphLaunch, (Executable * executable, StreamHandle stream),
     (executable, stream))
SAME(hipGraphExecDestroy, cudaGraphExecDestroy, (Executable * executable), (executable))
SAME(hipGraphExecUpdate, lanewise_cuda11_cudaGraphExecUpdate,
     (Executable * executable, Graph* graph, Node** node, int* result),
     (executable, graph, node, result))

SAME(hipGraphGetNodes, cudaGraphGetNodes, (Graph * graph, Node** nodes, size_t* count),
     (graph, nodes, count))
SAME(hipGraphGetRootNodes, cudaGraphGetRootNodes, (Graph * graph, Node** nodes, size_t* count),
     (graph, nodes, count))
SAME(hipGraphGetEdges, lanewise_cuda12_cudaGraphGetEdges,
     (Graph * graph, Node** from, Node** to, size_t* count), (graph, from, to, count))
SAME(hipGraphNodeGetDependencies, lanewise_cuda12_cudaGraphNodeGetDependencies,
     (Node * node, Node** out, size_t* count), (node, out, count))
SAME(hipGraphNodeGetDependentNodes, lanewise_cuda12_cudaGraphNodeGetDependentNodes,
     (Node * node, Node** out, size_t* count), (node, out, count))
SAME(hipGraphAddDependencies, lanewise_cuda12_cudaGraphAddDependencies,
     (Graph * graph, Node* const* from, Node* const* to, size_t count), (graph, from, to, count))
SAME(hipGraphRemoveDependencies, lanewise_cuda12_cudaGraphRemoveDependencies,
     (Graph * graph, Node* const* from, Node* const* to, size_t count), (graph, from, to, count))
SAME(hipGraphDestroyNode, cudaGraphDestroyNode, (Node * node), (node))
SAME(hipGraphNodeFindInClone, cudaGraphNodeFindInClone, (Node * *out, Node* node, Graph* clone),
     (out, node, clone))
extern "C" int cudaGraphNodeGetType(Node* node, int* type);
/// HIP counts from 1.
ENTRY(hipGraphNodeGetType, (Node * node, int* type)) {
  const int error = cudaGraphNodeGetType(node, type);
  if (error == 0) ++*type;
  return error;
}

#define NEEDS Node **out, Graph *graph, Node *const *needs, size_t count

SAME(hipGraphAddEmptyNode, cudaGraphAddEmptyNode, (NEEDS), (out, graph, needs, count))
ENTRY(hipGraphAddKernelNode, (NEEDS, const KernelParameters* p)) {
  return lanewise::cuda::add_node(out, graph, needs, count, [&] { return launch_of(p); });
}
ENTRY(hipGraphKernelNodeGetParams, (Node * node, KernelParameters* p)) {
  return answer([&] {
    const auto own = lanewise::cuda::parameters_of(lanewise::cuda::operation_of<Launch>(node));
    *required(p) = {own.block, own.extra, const_cast<void*>(own.function),
                    own.grid,  own.args,  own.shared};
  });
}
ENTRY(hipGraphKernelNodeSetParams, (Node * node, const KernelParameters* p)) {
  return answer([&] { lanewise::cuda::operation_of<Launch>(node) = launch_of(p); });
}
ENTRY(hipGraphExecKernelNodeSetParams,
      (Executable * executable, Node* node, const KernelParameters* p)) {
  return answer([&] { lanewise::cuda::operation_in<Launch>(executable, node) = launch_of(p); });
}
ENTRY(hipGraphAddMemsetNode, (NEEDS, const MemsetParameters* p)) {
  return lanewise::cuda::add_node(out, graph, needs, count, [&] { return fill_of(p); });
}
ENTRY(hipGraphMemsetNodeGetParams, (Node * node, MemsetParameters* p)) {
  return answer([&] {
    const auto own = lanewise::cuda::parameters_of(lanewise::cuda::operation_of<Fill>(node));
    *required(p) = {own.to, own.size, own.height, own.pitch, own.value, own.width};
  });
}
ENTRY(hipGraphMemsetNodeSetParams, (Node * node, const MemsetParameters* p)) {
  return answer([&] { lanewise::cuda::operation_of<Fill>(node) = fill_of(p); });
}
ENTRY(hipGraphExecMemsetNodeSetParams,
      (Executable * executable, Node* node, const MemsetParameters* p)) {
  return answer([&] { lanewise::cuda::operation_in<Fill>(executable, node) = fill_of(p); });
}
SAME(hipGraphAddHostNode, cudaGraphAddHostNode, (NEEDS, const HostParameters* p),
     (out, graph, needs, count, p))
SAME(hipGraphHostNodeGetParams, cudaGraphHostNodeGetParams, (Node * node, HostParameters* p),
     (node, p))
SAME(hipGraphHostNodeSetParams, cudaGraphHostNodeSetParams, (Node * node, const HostParameters* p),
     (node, p))
SAME(hipGraphExecHostNodeSetParams, cudaGraphExecHostNodeSetParams,
     (Executable * executable, Node* node, const HostParameters* p), (executable, node, p))
SAME(hipGraphAddMemcpyNode, cudaGraphAddMemcpyNode, (NEEDS, const Copy3D* p),
     (out, graph, needs, count, p))
SAME(hipGraphMemcpyNodeGetParams, cudaGraphMemcpyNodeGetParams, (Node * node, Copy3D* p), (node, p))
SAME(hipGraphMemcpyNodeSetParams, cudaGraphMemcpyNodeSetParams, (Node * node, const Copy3D* p),
     (node, p))
SAME(hipGraphExecMemcpyNodeSetParams, cudaGraphExecMemcpyNodeSetParams,
     (Executable * executable, Node* node, Copy3D* p), (executable, node, p))
SAME(hipGraphAddMemcpyNode1D, cudaGraphAddMemcpyNode1D,
     (NEEDS, void* to, const void* from, size_t bytes, int kind),
     (out, graph, needs, count, to, from, bytes, kind))
SAME(hipGraphMemcpyNodeSetParams1D, cudaGraphMemcpyNodeSetParams1D,
     (Node * node, void* to, const void* from, size_t bytes, int kind),
     (node, to, from, bytes, kind))
SAME(hipGraphExecMemcpyNodeSetParams1D, cudaGraphExecMemcpyNodeSetParams1D,
     (Executable * executable, Node* node, void* to, const void* from, size_t bytes, int kind),
     (executable, node, to, from, bytes, kind))
SAME(hipGraphAddMemcpyNodeToSymbol, cudaGraphAddMemcpyNodeToSymbol,
     (NEEDS, const void* symbol, const void* from, size_t bytes, size_t offset, int kind),
     (out, graph, needs, count, symbol, from, bytes, offset, kind))
SAME(hipGraphAddMemcpyNodeFromSymbol, cudaGraphAddMemcpyNodeFromSymbol,
     (NEEDS, void* to, const void* symbol, size_t bytes, size_t offset, int kind),
     (out, graph, needs, count, to, symbol, bytes, offset, kind))
SAME(hipGraphAddChildGraphNode, cudaGraphAddChildGraphNode, (NEEDS, Graph* child),
     (out, graph, needs, count, child))
SAME(hipGraphChildGraphNodeGetGraph, cudaGraphChildGraphNodeGetGraph, (Node * node, Graph** child),
     (node, child))
SAME(hipGraphExecChildGraphNodeSetParams, cudaGraphExecChildGraphNodeSetParams,
     (Executable * executable, Node* node, Graph* child), (executable, node, child))
SAME(hipGraphAddEventRecordNode, cudaGraphAddEventRecordNode, (NEEDS, EventHandle event),
     (out, graph, needs, count, event))
SAME(hipGraphAddEventWaitNode, cudaGraphAddEventWaitNode, (NEEDS, EventHandle event),
     (out, graph, needs, count, event))
SAME(hipGraphEventRecordNodeGetEvent, cudaGraphEventRecordNodeGetEvent,
     (Node * node, EventHandle* event), (node, event))
SAME(hipGraphEventRecordNodeSetEvent, cudaGraphEventRecordNodeSetEvent,
     (Node * node, EventHandle event), (node, event))
SAME(hipGraphExecEventRecordNodeSetEvent, cudaGraphExecEventRecordNodeSetEvent,
     (Executable * executable, Node* node, EventHandle event), (executable, node, event))
SAME(hipGraphEventWaitNodeGetEvent, cudaGraphEventWaitNodeGetEvent,
     (Node * node, EventHandle* event), (node, event))
SAME(hipGraphEventWaitNodeSetEvent, cudaGraphEventWaitNodeSetEvent,
     (Node * node, EventHandle event), (node, event))
SAME(hipGraphExecEventWaitNodeSetEvent, cudaGraphExecEventWaitNodeSetEvent,
     (Executable * executable, Node* node, EventHandle event), (executable, node, event))
