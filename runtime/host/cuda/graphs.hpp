// What the entry points for graphs share: handles, and parameters as the ABI has them.
#pragma once

#include "runtime/host/core/graph.hpp"
#include "runtime/host/cuda/arrays.hpp"

namespace lanewise::cuda {

struct KernelParameters {
  const void* function;
  Dim grid, block;
  unsigned shared;
  void** args;
  void** extra;
};
struct MemsetParameters {
  void* to;
  size_t pitch;
  unsigned value, size;
  size_t width, height;
};
struct HostParameters {
  void (*function)(void*);
  void* user;
};
/// cudaMemcpy3DParms
struct Copy3D {
  Array* from_array;
  Position from_at;
  PitchedPointer from;
  Array* to_array;
  Position to_at;
  PitchedPointer to;
  Extent extent;
  int kind;
};
struct AllocateParameters {
  unsigned char pool[88];
  const void* access;
  size_t access_count, bytes;
  void* pointer;
};

Copy copy_3d(const Copy3D* parameters);

Launch launch_of(const KernelParameters* parameters);
Fill fill_of(const MemsetParameters* parameters);
HostCall call_of(const HostParameters* parameters);
KernelParameters parameters_of(Launch& launch);
MemsetParameters parameters_of(const Fill& fill);
Copy3D parameters_of(const Copy& copy);

inline std::shared_ptr<Graph> graph_of(Graph* graph) {
  return Handles<Graph>::find(graph, Code::invalid_value);
}
inline std::vector<Node*> nodes_of(Node* const* nodes, size_t count) {
  std::vector<Node*> out;
  for (size_t i = 0; i < count; ++i) out.push_back(&node_of(required(nodes)[i]));
  return out;
}

/// The body of the functions that add a node.
template <typename Make>
int add_node(Node** out, Graph* graph, Node* const* needs, size_t count, const Make& make) {
  return answer([&] {
    required(out);
    const auto to = graph_of(graph);
    *out = to->add(make(), nodes_of(needs, count));
  });
}
template <typename What>
What& operation_of(Node* node) {
  auto* what = std::get_if<What>(&node_of(node).operation);
  require(what != nullptr);
  return *what;
}
/// The node of an executable graph that was made of this one, if it is of the kind.
template <typename What>
What& operation_in(Executable* executable, Node* node) {
  const auto of = Handles<Executable>::find(executable, Code::invalid_value);
  auto* what = std::get_if<What>(&of->node(&node_of(node)).operation);
  require(what != nullptr);
  return *what;
}
/// Lists: their length, or as many as the caller has capacity for.
template <typename Of>
void give(const std::vector<Of>& all, Of* out, size_t* count) {
  required(count);
  if (out != nullptr) {
    const size_t given = std::min(*count, all.size());
    std::copy_n(all.begin(), given, out);
    std::fill(out + given, out + *count, Of{});
    *count = given;
  } else {
    *count = all.size();
  }
}

}  // namespace lanewise::cuda
