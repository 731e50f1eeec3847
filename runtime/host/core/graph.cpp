#include "runtime/host/core/graph.hpp"

#include <algorithm>
#include <unordered_set>

namespace lanewise::core {
namespace {

struct Known {
  std::mutex mutex;
  std::unordered_set<const Node*> nodes;
};
Known& known() {
  static auto* const all = new Known;
  return *all;
}

/// With the numbers of all nodes that come before the node, where the check of races asks.
struct SubmitNode {
  Stream& stream;
  StampPtr graph = nullptr;
  size_t number = 0;
  std::vector<bool> needs = {};

  template <typename What>
  void operator()(const What& what) const {
    const Operation operation(what);
    if (graph == nullptr) return submit(operation);
    const auto [name, kernel] = names_of(operation);
    submit(operation, StreamOrder::stamp_node(*graph, number, needs, name, kernel));
  }
  void operator()(const EventRecord& r) const { r.event->record(stream); }
  void operator()(const EventWait& w) const {  // the queue is in the order of the calls
    wait_in_order(stream, *w.event);
  }
  void operator()(const Child& child) const {
    for (const Node* node : child.graph->in_order()) std::visit(*this, node->operation);
  }
  void operator()(const Allocate&) const {}
  void operator()(const Release&) const {}  // the memory keeps its address for the next launch
};

/// A copy that owns its arguments and child graphs.
GraphOperation own_copy(const GraphOperation& operation) {
  if (const auto* launch = std::get_if<Launch>(&operation)) {
    Launch copy = *launch;
    copy.take_args(launch->args.data());
    return copy;
  }
  if (const auto* child = std::get_if<Child>(&operation)) return Child{child->graph->clone()};
  return operation;
}

}  // namespace

Node& node_of(Node* handle) {
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  require(all.nodes.contains(handle));
  return *handle;
}

Graph::~Graph() {
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  for (const auto& node : nodes) all.nodes.erase(node.get());
}

Node* Graph::add(GraphOperation operation, const std::vector<Node*>& needs) {
  nodes.push_back(std::make_unique<Node>());
  Node* node = nodes.back().get();
  node->operation = std::move(operation);
  node->graph = this;
  for (Node* n : needs) connect(n, node);
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  all.nodes.insert(node);
  return node;
}

void Graph::connect(Node* from, Node* to) {
  require(from->graph == this && to->graph == this && from != to);
  if (std::ranges::find(to->needs, from) != to->needs.end()) return;
  to->needs.push_back(from);
  from->needed_by.push_back(to);
}

void Graph::disconnect(Node* from, Node* to) {
  require(std::erase(to->needs, from) != 0);
  std::erase(from->needed_by, to);
}

void Graph::remove(Node* node) {
  for (Node* n : node->needs) std::erase(n->needed_by, node);
  for (Node* n : node->needed_by) std::erase(n->needs, node);
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  all.nodes.erase(node);
  std::erase_if(nodes, [&](const auto& n) { return n.get() == node; });
}

std::vector<Node*> Graph::in_order() const {
  std::vector<Node*> order;
  std::unordered_set<const Node*> done;
  while (order.size() < nodes.size()) {
    const size_t before = order.size();
    for (const auto& node : nodes) {
      if (done.contains(node.get())) continue;
      if (!std::ranges::all_of(node->needs, [&](const Node* n) { return done.contains(n); }))
        continue;
      order.push_back(node.get());
      done.insert(node.get());
    }
    require(order.size() != before);  // a cycle
  }
  return order;
}

std::shared_ptr<Graph> Graph::clone() const {
  auto copy = std::make_shared<Graph>();
  for (const auto& node : nodes)
    copy->cloned[node.get()] = copy->add(own_copy(node->operation), {});
  for (const auto& node : nodes)
    for (const Node* n : node->needs)
      copy->connect(copy->cloned.at(n), copy->cloned.at(node.get()));
  return copy;
}

Executable::Executable(const Graph& of, unsigned long long f)
    : graph(of.clone()), order(graph->in_order()), flags(f) {}

Node& Executable::node(const Node* of) const {
  const auto found = graph->cloned.find(of);
  require(found != graph->cloned.end());
  return *found->second;
}

void Executable::launch(Stream& stream) const {
  StreamOrder* const check = Context::current().order();
  SubmitNode submit{stream};
  std::map<const Node*, size_t> numbers;
  std::vector<std::vector<bool>> before;  // [number of a node]
  if (check != nullptr) {
    check->wait(stream, launched);
    submit.graph = check->stamp_graph(stream);
    launched = check->record(stream);
  }
  for (const Node* node : order) {
    if (check != nullptr) {
      submit.number = before.size();
      submit.needs.assign(order.size(), false);
      for (const Node* n : node->needs) {
        const size_t number = numbers.at(n);
        submit.needs[number] = true;
        for (size_t i = 0; i < number; ++i)
          if (before[number][i]) submit.needs[i] = true;
      }
      numbers[node] = submit.number;
      before.push_back(submit.needs);
    }
    if (!disabled.contains(node)) std::visit(submit, node->operation);
  }
}

/// Nodes correspond by their place, as graphs that the same code made have them.
Update update(Executable& executable, const Graph& by) {
  const Graph& old = *executable.graph;
  const auto place = [](const Graph& g, const Node* node) {
    return std::ranges::find(g.nodes, node, &std::unique_ptr<Node>::get) - g.nodes.begin();
  };
  if (old.nodes.size() != by.nodes.size()) return {UpdateResult::topology_changed, nullptr};
  for (size_t i = 0; i < by.nodes.size(); ++i) {
    const Node &was = *old.nodes[i], &is = *by.nodes[i];
    if (was.operation.index() != is.operation.index())
      return {UpdateResult::type_changed, by.nodes[i].get()};
    const bool same = std::ranges::equal(was.needs, is.needs, [&](const Node* a, const Node* b) {
      return place(old, a) == place(by, b);
    });
    if (!same) return {UpdateResult::topology_changed, by.nodes[i].get()};
  }
  for (size_t i = 0; i < by.nodes.size(); ++i)
    old.nodes[i]->operation = own_copy(by.nodes[i]->operation);
  return {};
}

}  // namespace lanewise::core
