// Graphs: making, connecting, instantiating, launching them.
#include "runtime/host/cuda/graphs.hpp"

#include <algorithm>

namespace lanewise::cuda {
namespace {

int instantiate(Executable** out, Graph* graph, unsigned long long flags) {
  return answer([&] {
    required(out);
    *out = Handles<Executable>::add(std::make_shared<Executable>(*graph_of(graph), flags));
  });
}

/// cudaGraphInstantiateParams
struct InstantiateParameters {
  unsigned long long flags;
  StreamHandle upload;
  Node* error;
  int result;
};
/// cudaGraphExecUpdateResultInfo
struct UpdateInfo {
  int result;
  Node *node, *from;
};

Update update_by(Executable* executable, Graph* graph) {
  const Update made =
      update(*Handles<Executable>::find(executable, Code::invalid_value), *graph_of(graph));
  return made;
}

using Edge = std::pair<Node*, Node*>;
std::vector<Edge> edges_of(const Graph& graph) {
  std::vector<Edge> out;
  for (const auto& node : graph.nodes)
    for (Node* n : node->needs) out.emplace_back(n, node.get());
  return out;
}
int edges(Graph* graph, Node** from, Node** to, size_t* count) {
  return answer([&] {
    const std::vector<Edge> all = edges_of(*graph_of(graph));
    require(count != nullptr && (from == nullptr) == (to == nullptr));
    if (from != nullptr)
      for (size_t i = 0; i < std::min(*count, all.size()); ++i)
        from[i] = all[i].first, to[i] = all[i].second;
    *count = from != nullptr ? std::min(*count, all.size()) : all.size();
  });
}
template <typename Each>
int each_pair(Graph* graph, Node* const* from, Node* const* to, size_t count, const Each& each) {
  return answer([&] {
    const auto of = graph_of(graph);
    for (size_t i = 0; i < count; ++i)
      each(*of, &node_of(required(from)[i]), &node_of(required(to)[i]));
  });
}
int connect(Graph* graph, Node* const* from, Node* const* to, size_t count) {
  return each_pair(graph, from, to, count, [](Graph& g, Node* a, Node* b) {
    require(std::ranges::find(b->needs, a) == b->needs.end());  // no edge is added twice
    g.connect(a, b);
  });
}
int disconnect(Graph* graph, Node* const* from, Node* const* to, size_t count) {
  return each_pair(graph, from, to, count, [](Graph& g, Node* a, Node* b) { g.disconnect(a, b); });
}
int list(Node* node, std::vector<Node*> Node::*which, Node** out, size_t* count) {
  return answer([&] { give(node_of(node).*which, out, count); });
}

int type_of(const GraphOperation& operation) {
  // In the order of the variant; a copy's Nothing is an empty node.
  constexpr int kTypes[] = {5, 0, 1, 2, 3, 11, 7, 6, 4, 10};
  return kTypes[operation.index()];
}

}  // namespace
}  // namespace lanewise::cuda

using namespace lanewise::cuda;

ENTRY(cudaGraphCreate, (Graph * *out, unsigned flags)) {
  return answer([&] {
    require(flags == 0);
    *required(out) = Handles<Graph>::add(std::make_shared<Graph>());
  });
}
ENTRY(cudaGraphDestroy, (Graph * graph)) {
  return answer([&] { Handles<Graph>::take(graph, Code::invalid_value); });
}
ENTRY(cudaGraphClone, (Graph * *out, Graph* graph)) {
  return answer([&] { *required(out) = Handles<Graph>::add(graph_of(graph)->clone()); });
}
ENTRY(cudaGraphNodeFindInClone, (Node * *out, Node* node, Graph* clone)) {
  return answer([&] {
    const auto of = graph_of(clone);
    const auto found = of->cloned.find(&node_of(node));
    require(found != of->cloned.end());
    *required(out) = found->second;
  });
}
ENTRY(cudaGraphDestroyNode, (Node * node)) {
  return answer([&] { node_of(node).graph->remove(node); });
}
ENTRY(cudaGraphNodeGetType, (Node * node, int* type)) {
  return answer([&] { *required(type) = type_of(node_of(node).operation); });
}
ENTRY(cudaGraphGetNodes, (Graph * graph, Node** nodes, size_t* count)) {
  return answer([&] {
    std::vector<Node*> all;
    for (const auto& n : graph_of(graph)->nodes) all.push_back(n.get());
    give(all, nodes, count);
  });
}
ENTRY(cudaGraphGetRootNodes, (Graph * graph, Node** nodes, size_t* count)) {
  return answer([&] {
    std::vector<Node*> all;
    for (const auto& n : graph_of(graph)->nodes)
      if (n->needs.empty()) all.push_back(n.get());
    give(all, nodes, count);
  });
}
// CUDA 13 has data of edges in these.
ENTRY(cudaGraphGetEdges, (Graph * graph, Node** from, Node** to, void* /*data*/, size_t* count)) {
  return edges(graph, from, to, count);
}
ALSO(cudaGraphGetEdges_v2, cudaGraphGetEdges);
ENTRY_OF(12, cudaGraphGetEdges, (Graph * graph, Node** from, Node** to, size_t* count)) {
  return edges(graph, from, to, count);
}
ALSO(lanewise_cuda11_cudaGraphGetEdges, lanewise_cuda12_cudaGraphGetEdges);
ENTRY(cudaGraphNodeGetDependencies, (Node * node, Node** out, void* /*data*/, size_t* count)) {
  return list(node, &Node::needs, out, count);
}
ALSO(cudaGraphNodeGetDependencies_v2, cudaGraphNodeGetDependencies);
ENTRY_OF(12, cudaGraphNodeGetDependencies, (Node * node, Node** out, size_t* count)) {
  return list(node, &Node::needs, out, count);
}
ALSO(lanewise_cuda11_cudaGraphNodeGetDependencies, lanewise_cuda12_cudaGraphNodeGetDependencies);
ENTRY(cudaGraphNodeGetDependentNodes, (Node * node, Node** out, void* /*data*/, size_t* count)) {
  return list(node, &Node::needed_by, out, count);
}
ALSO(cudaGraphNodeGetDependentNodes_v2, cudaGraphNodeGetDependentNodes);
ENTRY_OF(12, cudaGraphNodeGetDependentNodes, (Node * node, Node** out, size_t* count)) {
  return list(node, &Node::needed_by, out, count);
}
ALSO(lanewise_cuda11_cudaGraphNodeGetDependentNodes,
     lanewise_cuda12_cudaGraphNodeGetDependentNodes);
ENTRY(cudaGraphAddDependencies,
      (Graph * graph, Node* const* from, Node* const* to, const void* /*data*/, size_t count)) {
  return connect(graph, from, to, count);
}
ALSO(cudaGraphAddDependencies_v2, cudaGraphAddDependencies);
ENTRY_OF(12, cudaGraphAddDependencies,
         (Graph * graph, Node* const* from, Node* const* to, size_t count)) {
  return connect(graph, from, to, count);
}
ALSO(lanewise_cuda11_cudaGraphAddDependencies, lanewise_cuda12_cudaGraphAddDependencies);
ENTRY(cudaGraphRemoveDependencies,
      (Graph * graph, Node* const* from, Node* const* to, const void* /*data*/, size_t count)) {
  return disconnect(graph, from, to, count);
}
ALSO(cudaGraphRemoveDependencies_v2, cudaGraphRemoveDependencies);
ENTRY_OF(12, cudaGraphRemoveDependencies,
         (Graph * graph, Node* const* from, Node* const* to, size_t count)) {
  return disconnect(graph, from, to, count);
}
ALSO(lanewise_cuda11_cudaGraphRemoveDependencies, lanewise_cuda12_cudaGraphRemoveDependencies);

ENTRY(cudaGraphInstantiate, (Executable * *out, Graph* graph, unsigned long long flags)) {
  return instantiate(out, graph, flags);
}
ENTRY_OF(11, cudaGraphInstantiate,
         (Executable * *out, Graph* graph, Node** error, char* log, size_t bytes)) {
  if (error != nullptr) *error = nullptr;
  if (log != nullptr && bytes != 0) *log = '\0';
  return instantiate(out, graph, 0);
}
ALSO(cudaGraphInstantiateWithFlags, cudaGraphInstantiate);
ENTRY_PTSZ(cudaGraphInstantiateWithParams,
           (Executable * *out, Graph* graph, InstantiateParameters* parameters)) {
  if (parameters == nullptr) return answer([] { fail(Code::invalid_value); });
  const int error = instantiate(out, graph, parameters->flags);
  parameters->error = nullptr;
  parameters->result = error == 0 ? 0 : 1;
  return error;
}
ENTRY(cudaGraphExecDestroy, (Executable * executable)) {
  return answer([&] { Handles<Executable>::take(executable, Code::invalid_value); });
}
ENTRY(cudaGraphExecGetFlags, (Executable * executable, unsigned long long* flags)) {
  return answer([&] {
    *required(flags) = Handles<Executable>::find(executable, Code::invalid_value)->flags;
  });
}
ENTRY_PTSZ(cudaGraphUpload, (Executable * executable, StreamHandle stream)) {
  return answer([&] {
    stream_of(stream);
    Handles<Executable>::find(executable, Code::invalid_value);
  });
}
ENTRY_PTSZ(cudaGraphLaunch, (Executable * executable, StreamHandle stream)) {
  return answer([&] {
    Stream& on = stream_of(stream);
    enqueue_graph(on, *Handles<Executable>::find(executable, Code::invalid_value));
  });
}
ENTRY(cudaGraphExecUpdate, (Executable * executable, Graph* graph, UpdateInfo* info)) {
  return answer([&] {
    const Update made = update_by(executable, graph);
    if (info != nullptr) *info = {static_cast<int>(made.result), made.node, nullptr};
    require(made.result == UpdateResult::success, Code::graph_update_failure);
  });
}
ENTRY_OF(11, cudaGraphExecUpdate,
         (Executable * executable, Graph* graph, Node** node, int* result)) {
  return answer([&] {
    const Update made = update_by(executable, graph);
    if (node != nullptr) *node = made.node;
    if (result != nullptr) *result = static_cast<int>(made.result);
    require(made.result == UpdateResult::success, Code::graph_update_failure);
  });
}
ENTRY(cudaGraphNodeSetEnabled, (Executable * executable, Node* node, unsigned enabled)) {
  return answer([&] {
    const auto of = Handles<Executable>::find(executable, Code::invalid_value);
    const Node& own = of->node(&node_of(node));
    if (enabled != 0)
      of->disabled.erase(&own);
    else
      of->disabled.insert(&own);
  });
}
ENTRY(cudaGraphNodeGetEnabled, (Executable * executable, Node* node, unsigned* enabled)) {
  return answer([&] {
    const auto of = Handles<Executable>::find(executable, Code::invalid_value);
    *required(enabled) = of->disabled.contains(&of->node(&node_of(node))) ? 0 : 1;
  });
}
REFUSED(cudaGraphDebugDotPrint, "graphs are not drawn")
REFUSED(cudaGraphConditionalHandleCreate, "conditional nodes are decided by device code")
REFUSED(cudaUserObjectCreate, kNoObjects)
REFUSED(cudaUserObjectRetain, kNoObjects)
REFUSED(cudaUserObjectRelease, kNoObjects)
REFUSED(cudaGraphRetainUserObject, kNoObjects)
REFUSED(cudaGraphReleaseUserObject, kNoObjects)
