// Nodes of graphs: adding them, their parameters.
#include "runtime/host/cuda/allocation.hpp"
#include "runtime/host/cuda/graphs.hpp"

namespace lanewise::cuda {

Launch launch_of(const KernelParameters* p) {
  require(p != nullptr && p->extra == nullptr);
  Launch launch{
      Program::get().function(p->function).shared_from_this(),
      {{p->grid.x, p->grid.y, p->grid.z}, {p->block.x, p->block.y, p->block.z}, p->shared, false},
      {},
      {}};
  check_shape(*launch.function, launch.shape);
  if (!launch.function->param_sizes.empty()) launch.take_args(required(p->args));
  return launch;
}

Fill fill_of(const MemsetParameters* p) {
  require(p != nullptr && (p->size == 1 || p->size == 2 || p->size == 4));
  const Region r = region(p->to);
  const size_t row = p->width * p->size;
  return checked({.address = r.address,
                  .pitch = p->height > 1 ? p->pitch : row,
                  .on_device = r.on_device,
                  .value = p->value,
                  .size = p->size,
                  .width = p->width,
                  .height = p->height});
}

HostCall call_of(const HostParameters* p) {
  require(p != nullptr && p->function != nullptr);
  return {p->function, p->user};
}

KernelParameters parameters_of(Launch& l) {
  const Shape& s = l.shape;
  return {l.function->host,
          {s.grid[0], s.grid[1], s.grid[2]},
          {s.block[0], s.block[1], s.block[2]},
          static_cast<unsigned>(s.dynamic_shared),
          l.args.data(),
          nullptr};
}
MemsetParameters parameters_of(const Fill& f) {
  return {pointer_at(f.address), f.pitch, f.value, f.size, f.width, f.height};
}
Copy3D parameters_of(const Copy& c) {
  const auto pitched = [&](const Region& r) {
    const size_t rows = r.pitch != 0 && r.layer != 0 ? r.layer / r.pitch : c.height;
    return PitchedPointer{pointer_at(r.address), r.pitch, c.width, rows};
  };
  return {nullptr, {}, pitched(c.from), nullptr, {}, pitched(c.to), {c.width, c.height, c.depth},
          kDefault};
}

namespace {

Copy copy_1d(void* to, const void* from, size_t bytes, int kind) {
  return copy_of(to, from, bytes, kind);
}
void* symbol_at(const void* symbol, size_t bytes, size_t offset) {
  Variable& variable = Program::get().variable(required(symbol));
  require(offset <= variable.bytes && bytes <= variable.bytes - offset);
  return pointer_at(variable.address() + offset);
}
GraphOperation release_of(void* pointer) {
  const auto memory = Context::current().memory().find(reinterpret_cast<uint64_t>(pointer));
  require(memory != nullptr);
  return Release{memory};
}
GraphOperation allocation_of(AllocateParameters* p) {
  require(p != nullptr && p->bytes != 0);
  allocate(&p->pointer, p->bytes, "graph allocation");
  const auto memory = Context::current().memory().find(reinterpret_cast<uint64_t>(p->pointer));
  memory->of_graph = true;
  return Allocate{memory};
}

/// cudaGraphNodeParams
struct NodeParameters {
  int type, reserved[3];
  union {
    long long padding[29];
    KernelParameters kernel;
    struct {
      int flags, reserved[3];
      Copy3D copy;
    } copy;
    MemsetParameters fill;
    HostParameters host;
    Graph* child;
    EventHandle event;
    AllocateParameters allocation;
    void* pointer;
  } of;
};

GraphOperation operation_by(NodeParameters* p) {
  enum { kKernel, kCopy, kFill, kHost, kChild, kEmpty, kWait, kRecord, kAllocate = 10, kFree };
  switch (required(p)->type) {
    case kKernel:
      return launch_of(&p->of.kernel);
    case kCopy:
      return copy_3d(&p->of.copy.copy);
    case kFill:
      return fill_of(&p->of.fill);
    case kHost:
      return call_of(&p->of.host);
    case kChild:
      return Child{graph_of(p->of.child)->clone()};
    case kEmpty:
      return Nothing{};
    case kWait:
      return EventWait{Handles<Event>::find(p->of.event)};
    case kRecord:
      return EventRecord{Handles<Event>::find(p->of.event)};
    case kAllocate:
      return allocation_of(&p->of.allocation);
    case kFree:
      return release_of(p->of.pointer);
    default:
      break;
  }
  report_line("cudaGraphAddNode: nodes of type " + std::to_string(p->type) + " are not supported");
  fail(Code::not_supported);
}

}  // namespace
}  // namespace lanewise::cuda

using namespace lanewise::cuda;

#define NEEDS Node **out, Graph *graph, Node *const *needs, size_t count

ENTRY(cudaGraphAddEmptyNode, (NEEDS)) {
  return add_node(out, graph, needs, count, [] { return Nothing{}; });
}
ENTRY(cudaGraphAddKernelNode, (NEEDS, const KernelParameters* p)) {
  return add_node(out, graph, needs, count, [&] { return launch_of(p); });
}
ENTRY(cudaGraphKernelNodeGetParams, (Node * node, KernelParameters* p)) {
  return answer([&] { *required(p) = parameters_of(operation_of<Launch>(node)); });
}
ENTRY(cudaGraphKernelNodeSetParams, (Node * node, const KernelParameters* p)) {
  return answer([&] { operation_of<Launch>(node) = launch_of(p); });
}
ENTRY(cudaGraphExecKernelNodeSetParams,
      (Executable * executable, Node* node, const KernelParameters* p)) {
  return answer([&] { operation_in<Launch>(executable, node) = launch_of(p); });
}
ENTRY(cudaGraphAddMemcpyNode, (NEEDS, const Copy3D* p)) {
  return add_node(out, graph, needs, count, [&] { return copy_3d(p); });
}
ENTRY(cudaGraphMemcpyNodeGetParams, (Node * node, Copy3D* p)) {
  return answer([&] { *required(p) = parameters_of(operation_of<Copy>(node)); });
}
ENTRY(cudaGraphMemcpyNodeSetParams, (Node * node, const Copy3D* p)) {
  return answer([&] { operation_of<Copy>(node) = copy_3d(p); });
}
ENTRY(cudaGraphExecMemcpyNodeSetParams, (Executable * executable, Node* node, const Copy3D* p)) {
  return answer([&] { operation_in<Copy>(executable, node) = copy_3d(p); });
}
ENTRY(cudaGraphAddMemcpyNode1D, (NEEDS, void* to, const void* from, size_t bytes, int kind)) {
  return add_node(out, graph, needs, count, [&] { return copy_1d(to, from, bytes, kind); });
}
ENTRY(cudaGraphMemcpyNodeSetParams1D,
      (Node * node, void* to, const void* from, size_t bytes, int kind)) {
  return answer([&] { operation_of<Copy>(node) = copy_1d(to, from, bytes, kind); });
}
ENTRY(cudaGraphExecMemcpyNodeSetParams1D,
      (Executable * executable, Node* node, void* to, const void* from, size_t bytes, int kind)) {
  return answer([&] { operation_in<Copy>(executable, node) = copy_1d(to, from, bytes, kind); });
}
ENTRY(cudaGraphAddMemcpyNodeToSymbol,
      (NEEDS, const void* symbol, const void* from, size_t bytes, size_t offset, int kind)) {
  return add_node(out, graph, needs, count,
                  [&] { return copy_1d(symbol_at(symbol, bytes, offset), from, bytes, kind); });
}
ENTRY(cudaGraphAddMemcpyNodeFromSymbol,
      (NEEDS, void* to, const void* symbol, size_t bytes, size_t offset, int kind)) {
  return add_node(out, graph, needs, count,
                  [&] { return copy_1d(to, symbol_at(symbol, bytes, offset), bytes, kind); });
}
ENTRY(cudaGraphAddMemsetNode, (NEEDS, const MemsetParameters* p)) {
  return add_node(out, graph, needs, count, [&] { return fill_of(p); });
}
ENTRY(cudaGraphMemsetNodeGetParams, (Node * node, MemsetParameters* p)) {
  return answer([&] { *required(p) = parameters_of(operation_of<Fill>(node)); });
}
ENTRY(cudaGraphMemsetNodeSetParams, (Node * node, const MemsetParameters* p)) {
  return answer([&] { operation_of<Fill>(node) = fill_of(p); });
}
ENTRY(cudaGraphExecMemsetNodeSetParams,
      (Executable * executable, Node* node, const MemsetParameters* p)) {
  return answer([&] { operation_in<Fill>(executable, node) = fill_of(p); });
}
ENTRY(cudaGraphAddHostNode, (NEEDS, const HostParameters* p)) {
  return add_node(out, graph, needs, count, [&] { return call_of(p); });
}
ENTRY(cudaGraphHostNodeGetParams, (Node * node, HostParameters* p)) {
  return answer([&] {
    const HostCall& call = operation_of<HostCall>(node);
    *required(p) = {call.function, call.user};
  });
}
ENTRY(cudaGraphHostNodeSetParams, (Node * node, const HostParameters* p)) {
  return answer([&] { operation_of<HostCall>(node) = call_of(p); });
}
ENTRY(cudaGraphExecHostNodeSetParams,
      (Executable * executable, Node* node, const HostParameters* p)) {
  return answer([&] { operation_in<HostCall>(executable, node) = call_of(p); });
}
ENTRY(cudaGraphAddChildGraphNode, (NEEDS, Graph* child)) {
  return add_node(out, graph, needs, count, [&] { return Child{graph_of(child)->clone()}; });
}
ENTRY(cudaGraphChildGraphNodeGetGraph, (Node * node, Graph** child)) {
  return answer([&] {
    const auto& graph = operation_of<Child>(node).graph;
    *required(child) = Handles<Graph>::add(graph);
  });
}
ENTRY(cudaGraphExecChildGraphNodeSetParams, (Executable * executable, Node* node, Graph* child)) {
  return answer([&] { operation_in<Child>(executable, node).graph = graph_of(child)->clone(); });
}
ENTRY(cudaGraphAddEventRecordNode, (NEEDS, EventHandle event)) {
  return add_node(out, graph, needs, count,
                  [&] { return EventRecord{Handles<Event>::find(event)}; });
}
ENTRY(cudaGraphAddEventWaitNode, (NEEDS, EventHandle event)) {
  return add_node(out, graph, needs, count, [&] { return EventWait{Handles<Event>::find(event)}; });
}
ENTRY(cudaGraphEventRecordNodeGetEvent, (Node * node, EventHandle* event)) {
  return answer([&] { *required(event) = operation_of<EventRecord>(node).event.get(); });
}
ENTRY(cudaGraphEventRecordNodeSetEvent, (Node * node, EventHandle event)) {
  return answer([&] { operation_of<EventRecord>(node).event = Handles<Event>::find(event); });
}
ENTRY(cudaGraphEventWaitNodeGetEvent, (Node * node, EventHandle* event)) {
  return answer([&] { *required(event) = operation_of<EventWait>(node).event.get(); });
}
ENTRY(cudaGraphEventWaitNodeSetEvent, (Node * node, EventHandle event)) {
  return answer([&] { operation_of<EventWait>(node).event = Handles<Event>::find(event); });
}
ENTRY(cudaGraphExecEventRecordNodeSetEvent,
      (Executable * executable, Node* node, EventHandle event)) {
  return answer(
      [&] { operation_in<EventRecord>(executable, node).event = Handles<Event>::find(event); });
}
ENTRY(cudaGraphExecEventWaitNodeSetEvent,
      (Executable * executable, Node* node, EventHandle event)) {
  return answer(
      [&] { operation_in<EventWait>(executable, node).event = Handles<Event>::find(event); });
}
ENTRY(cudaGraphAddMemAllocNode, (NEEDS, AllocateParameters* p)) {
  return add_node(out, graph, needs, count, [&] { return allocation_of(p); });
}
ENTRY(cudaGraphAddMemFreeNode, (NEEDS, void* pointer)) {
  return add_node(out, graph, needs, count, [&] { return release_of(pointer); });
}
ENTRY(cudaGraphMemAllocNodeGetParams, (Node * node, AllocateParameters* p)) {
  return answer([&] {
    const MemoryPtr& memory = operation_of<Allocate>(node).memory;
    *required(p) = {};
    p->bytes = memory->bytes;
    p->pointer = pointer_at(memory->address);
  });
}
ENTRY(cudaGraphMemFreeNodeGetParams, (Node * node, void* pointer)) {
  return answer([&] {
    *static_cast<uint64_t*>(required(pointer)) = operation_of<Release>(node).memory->address;
  });
}
ENTRY(cudaGraphAddNode, (Node * *out, Graph* graph, Node* const* needs, const void* /*data*/,
                         size_t count, NodeParameters* p)) {
  return add_node(out, graph, needs, count, [&] { return operation_by(p); });
}
ALSO(cudaGraphAddNode_v2, cudaGraphAddNode);
ENTRY_OF(12, cudaGraphAddNode, (NEEDS, NodeParameters* p)) {
  return add_node(out, graph, needs, count, [&] { return operation_by(p); });
}
ENTRY(cudaGraphNodeSetParams, (Node * node, NodeParameters* p)) {
  return answer([&] {
    GraphOperation made = operation_by(p);
    require(made.index() == node_of(node).operation.index());
    node_of(node).operation = std::move(made);
  });
}
ENTRY(cudaGraphExecNodeSetParams, (Executable * executable, Node* node, NodeParameters* p)) {
  return answer([&] {
    const auto of = Handles<Executable>::find(executable, Code::invalid_value);
    Node& own = of->node(&node_of(node));
    GraphOperation made = operation_by(p);
    require(made.index() == own.operation.index());
    own.operation = std::move(made);
  });
}
ENTRY(cudaDeviceGraphMemTrim, (int device)) {
  return answer([&] { check_device(device); });
}
ENTRY(cudaDeviceGetGraphMemAttribute, (int device, int /*attribute*/, void* value)) {
  return answer([&] {
    check_device(device);
    const OnDevice its(device);
    *static_cast<uint64_t*>(required(value)) = Context::current().memory().used();
  });
}
ENTRY(cudaDeviceSetGraphMemAttribute, (int device, int /*attribute*/, const void* value)) {
  return answer([&] {
    check_device(device);
    required(value);
  });
}
