// Allocations.
#include <algorithm>

#include "runtime/host/core/api_watch.hpp"
#include "runtime/host/core/gpu.hpp"
#include "runtime/host/core/graph.hpp"
#include "runtime/host/cuda/allocation.hpp"

namespace lanewise::cuda {

std::string next_name(const char* call) {
  static std::atomic<unsigned> count = 0;
  return std::string(call) + " #" + std::to_string(++count);
}

void memory_left(size_t& free, size_t& total) {
  const uint64_t all = current_gpu().memory, used = Context::current().memory().used();
  total = all;
  free = all - std::min(all, used);
}

MemoryPtr device_memory(size_t bytes, const char* call) {
  size_t free = 0, total = 0;
  memory_left(free, total);
  require(bytes <= free, Code::out_of_memory);
  return Context::current().memory().allocate(bytes, next_name(call));
}

void allocate(void** pointer, size_t bytes, const char* call) {
  *required(pointer) = nullptr;
  if (bytes != 0) *pointer = pointer_at(device_memory(bytes, call)->address);
}

void release(void* pointer, bool (*is_kind)(MemoryKind)) {
  Context& context = Context::current();
  forbid_in_capture();
  context.synchronise();
  if (pointer == nullptr) return;
  const auto address = reinterpret_cast<uint64_t>(pointer);
  MemoryPtr memory = context.memory().find(address);
  if (memory == nullptr || memory->address != address) memory = context.memory().find_host(pointer);
  if (memory == nullptr)
    if (const std::string was = context.memory().name_of_freed(address); !was.empty())
      note_misuse(was + " is freed twice");
  require(memory != nullptr && is_kind(memory->kind) && !memory->freed &&
          (memory->address == address || memory->host == pointer));
  if (!memory->of_graph) context.memory().remove(memory);
}

}  // namespace lanewise::cuda

using namespace lanewise::cuda;

ENTRY(cudaMalloc, (void** pointer, size_t bytes)) {
  return answer([&] {
    forbid_in_capture();
    allocate(pointer, bytes, "cudaMalloc");
  });
}
ENTRY(cudaFree, (void* pointer)) {
  return answer([&] {
    release(pointer,
            [](MemoryKind k) { return k == MemoryKind::device || k == MemoryKind::managed; });
  });
}
ENTRY(cudaMemGetInfo, (size_t * free, size_t* total)) {
  return answer([&] { memory_left(*required(free), *required(total)); });
}
