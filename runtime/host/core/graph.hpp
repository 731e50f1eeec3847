// Graphs: built by hand or captured of streams, instantiated, updated, launched.
#pragma once

#include <set>

#include "runtime/host/core/stream.hpp"

namespace lanewise::core {

struct Graph;

struct EventRecord {
  std::shared_ptr<Event> event;
};
struct EventWait {
  std::shared_ptr<Event> event;
};
struct Child {
  std::shared_ptr<Graph> graph;
};
/// The memory is there from the node on; its address never changes.
struct Allocate {
  MemoryPtr memory;
};
using GraphOperation = std::variant<Nothing, Launch, Copy, Fill, HostCall, Release, EventRecord,
                                    EventWait, Child, Allocate>;

struct Node {
  GraphOperation operation;
  Graph* graph = nullptr;
  std::vector<Node*> needs, needed_by;
};

struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;
  std::map<const Node*, Node*> cloned;  ///< from the nodes that this graph's were copied of

  Graph() = default;
  ~Graph();  ///< handles of its nodes are none any more
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  Node* add(GraphOperation operation, const std::vector<Node*>& needs);
  void connect(Node* from, Node* to);
  void disconnect(Node* from, Node* to);
  void remove(Node* node);
  /// Every node behind those that it needs, else in the order they were added; throws for a cycle.
  std::vector<Node*> in_order() const;
  std::shared_ptr<Graph> clone() const;
};
/// Throws for what is no node of a graph that there is.
Node& node_of(Node* handle);

/// A graph as it is launched: a copy, whose nodes are known by those it was made of.
struct Executable {
  std::shared_ptr<Graph> graph;
  std::vector<Node*> order;
  std::set<const Node*> disabled;
  unsigned long long flags = 0;
  mutable Reached launched;  ///< where the check of races looks: launches of it follow each other

  Executable(const Graph& of, unsigned long long flags);
  Node& node(const Node* of) const;
  void launch(Stream& stream) const;
};
enum class UpdateResult { success, error, topology_changed, type_changed };
struct Update {
  UpdateResult result = UpdateResult::success;
  Node* node = nullptr;  ///< of the new graph, that cannot replace the old one's
};
Update update(Executable& executable, const Graph& by);

enum class CaptureMode { global, thread, relaxed };
/// One for each stream that began it; others take part once they wait for an event of it.
struct Capture {
  std::shared_ptr<Graph> graph;
  Stream* origin = nullptr;
  CaptureMode mode = CaptureMode::global;
  uint64_t id = 0;
  const void* thread = nullptr;  ///< of the thread that began it
  bool invalid = false, ended = false;
  std::vector<Node*> left;  ///< last nodes of streams that were destroyed meanwhile
};

void begin_capture(Stream& stream, CaptureMode mode, std::shared_ptr<Graph> into = nullptr,
                   const std::vector<Node*>& needs = {});
std::shared_ptr<Graph> end_capture(Stream& stream);
/// The stream is destroyed.
void leave_capture(Stream& stream);
/// The mode of the calling thread; returns the one before.
CaptureMode exchange_capture_mode(CaptureMode mode);
/// For calls that a capture forbids: throws, and the captures that forbid it are invalid.
void forbid_in_capture();
/// A call that waits for the stream's work.
void forbid_in_capture(Stream& stream);

/// Becomes a node with a graph of its own where the stream is captured.
void enqueue_graph(Stream& stream, const Executable& executable);
/// Memory in stream order: nodes of the graph where the stream is captured.
void enqueue_allocation(Stream& stream, const MemoryPtr& memory);
void record(Stream& stream, Event& event);
void wait(Stream& stream, Event& event);

}  // namespace lanewise::core
