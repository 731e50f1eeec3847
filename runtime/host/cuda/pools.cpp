// Pools: memory in stream order. An allocation is there at once; it ends when its stream comes to
// cudaFreeAsync.
#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>

#include "runtime/host/core/graph.hpp"
#include "runtime/host/cuda/allocation.hpp"

namespace lanewise::cuda {
namespace {

/// cudaMemPool_t: what a program sets and asks for; all pools give the same memory.
class Pool {
 public:
  explicit Pool(int of) : device(of) {}
  void add(const MemoryPtr& memory) {
    const std::lock_guard lock(mutex_);
    given_.push_back(memory);
    used_most_ = std::max(used_most_, sum());
  }
  /// Now, and at most since that was set.
  uint64_t used() {
    const std::lock_guard lock(mutex_);
    return sum();
  }
  uint64_t used_most() {
    const std::lock_guard lock(mutex_);
    return used_most_;
  }
  void forget_most() {
    const std::lock_guard lock(mutex_);
    used_most_ = sum();
  }

  const int device;
  std::map<int, uint64_t> attributes;

 private:
  /// Memory ends when its stream has come to its release.
  uint64_t sum() {
    uint64_t bytes = 0;
    std::erase_if(given_, [&](const std::weak_ptr<core::Memory>& memory) {
      const MemoryPtr still = memory.lock();
      if (still != nullptr) bytes += still->bytes;
      return still == nullptr;
    });
    return bytes;
  }

  std::mutex mutex_;
  std::vector<std::weak_ptr<core::Memory>> given_;
  uint64_t used_most_ = 0;
};
/// cudaMemPoolProps, its beginning
struct PoolProperties {
  int allocation, handle_types;
  struct {
    int type, id;
  } where;
};
constexpr int kFirstAttribute = 1;  // the first three are flags of what may be used again
constexpr int kReleaseThreshold = 4, kReservedNow = 5, kReservedHigh = 6, kUsedNow = 7,
              kUsedHigh = 8;

Pool* make_pool(int device) {
  check_device(device);
  return Handles<Pool>::add(std::make_shared<Pool>(device));
}
Pool& default_pool(int device) {
  static auto* const pools = [] {
    auto* made = new std::vector<Pool*>;
    for (int d = 0; d < device_count(); ++d) made->push_back(make_pool(d));
    return made;
  }();
  check_device(device);
  return *(*pools)[static_cast<size_t>(device)];
}
using ChosenPools = std::array<std::atomic<std::shared_ptr<Pool>>, kMostDevices>;
ChosenPools& chosen_pools() {
  static auto* const all = new ChosenPools;
  return *all;
}
bool is_wide(int attribute) {
  require(attribute >= kFirstAttribute && attribute <= kUsedHigh);
  return attribute >= kReleaseThreshold;
}
/// What a pool has reserved is what it has given.
uint64_t attribute_of(Pool& pool, int attribute) {
  if (attribute == kReservedNow || attribute == kUsedNow) return pool.used();
  if (attribute == kReservedHigh || attribute == kUsedHigh) return pool.used_most();
  const auto set = pool.attributes.find(attribute);
  return set != pool.attributes.end() ? set->second : attribute == kReleaseThreshold ? 0 : 1;
}

/// What cudaDeviceSetMemPool chose, or else the default one.
std::shared_ptr<Pool> current_pool(int device) {
  const std::shared_ptr<Pool> chosen = chosen_pools()[static_cast<size_t>(device)];
  return chosen != nullptr ? chosen
                           : Handles<Pool>::find(&default_pool(device), Code::invalid_value);
}

int allocate_async(void** pointer, size_t bytes, StreamHandle stream, void* pool = nullptr) {
  return answer([&] {
    Stream& on = stream_of(stream);
    const auto from =
        pool != nullptr ? Handles<Pool>::find(pool, Code::invalid_value) : current_pool(on.device);
    const OnDevice its(from->device);
    allocate(pointer, bytes, "cudaMallocAsync");
    MemoryPtr memory = Context::current().memory().find(reinterpret_cast<uint64_t>(*pointer));
    if (memory != nullptr) {
      memory->of_pool = true;
      if (on.capture == nullptr) from->add(memory);
    }
    enqueue_allocation(on, std::move(memory));
  });
}

}  // namespace
}  // namespace lanewise::cuda

using namespace lanewise::cuda;

ENTRY_PTSZ(cudaMallocAsync, (void** pointer, size_t bytes, StreamHandle stream)) {
  return allocate_async(pointer, bytes, stream);
}
ENTRY_PTSZ(cudaMallocFromPoolAsync,
           (void** pointer, size_t bytes, void* pool, StreamHandle stream)) {
  return answer([&] { Handles<Pool>::find(pool, Code::invalid_value); }) != 0
             ? number_of(Code::invalid_value)
             : allocate_async(pointer, bytes, stream, pool);
}
ENTRY_PTSZ(cudaFreeAsync, (void* pointer, StreamHandle stream)) {
  return answer([&] {
    Stream& on = stream_of(stream);
    if (pointer == nullptr) return;
    const auto address = reinterpret_cast<uint64_t>(pointer);
    const MemoryPtr memory = Context::current().memory().find(address);
    require(memory != nullptr && memory->address == address && memory->kind == MemoryKind::device &&
            !memory->freed);
    memory->freed = on.capture == nullptr && !memory->of_graph;
    if (memory->of_graph && on.capture == nullptr) return;
    enqueue(on, Release{memory});
  });
}
ENTRY(cudaDeviceGetDefaultMemPool, (Pool * *pool, int device)) {
  return answer([&] { *required(pool) = &default_pool(device); });
}
ENTRY(cudaDeviceGetMemPool, (Pool * *pool, int device)) {
  return answer([&] {
    check_device(device);
    *required(pool) = current_pool(device).get();
  });
}
ENTRY(cudaDeviceSetMemPool, (int device, void* pool)) {
  return answer([&] {
    check_device(device);
    const auto chosen = Handles<Pool>::find(pool, Code::invalid_value);
    require(chosen->device == device);
    chosen_pools()[static_cast<size_t>(device)] = chosen;
  });
}
ENTRY(cudaMemPoolCreate, (Pool * *pool, const PoolProperties* properties)) {
  return answer([&] { *required(pool) = make_pool(required(properties)->where.id); });
}
ENTRY(cudaMemPoolDestroy, (void* pool)) {
  return answer([&] {
    for (int device = 0; device < device_count(); ++device) require(pool != &default_pool(device));
    const auto taken = Handles<Pool>::take(pool, Code::invalid_value);
    auto& chosen = chosen_pools()[static_cast<size_t>(taken->device)];
    if (chosen.load() == taken) chosen = std::shared_ptr<Pool>();
  });
}
ENTRY(cudaMemPoolSetAttribute, (void* pool, int attribute, const void* value)) {
  return answer([&] {
    const auto of = Handles<Pool>::find(pool, Code::invalid_value);
    of->attributes[attribute] = is_wide(attribute) ? *static_cast<const uint64_t*>(required(value))
                                                   : *static_cast<const uint32_t*>(required(value));
    // It can be set to 0, where it begins again.
    if (attribute == kReservedHigh || attribute == kUsedHigh) of->forget_most();
  });
}
ENTRY(cudaMemPoolGetAttribute, (void* pool, int attribute, void* value)) {
  return answer([&] {
    const auto of = Handles<Pool>::find(pool, Code::invalid_value);
    if (is_wide(attribute))
      *static_cast<uint64_t*>(required(value)) = attribute_of(*of, attribute);
    else
      *static_cast<uint32_t*>(required(value)) =
          static_cast<uint32_t>(attribute_of(*of, attribute));
  });
}
ENTRY(cudaMemPoolTrimTo, (void* pool, size_t /*bytes*/)) {
  return answer([&] { Handles<Pool>::find(pool, Code::invalid_value); });
}
ENTRY(cudaMemPoolSetAccess, (void* pool, const void* descriptions, size_t count)) {
  return answer([&] {
    Handles<Pool>::find(pool, Code::invalid_value);
    require(descriptions != nullptr || count == 0);
  });
}
/// Every device can read and write.
ENTRY(cudaMemPoolGetAccess, (int* flags, void* pool, const void* location)) {
  return answer([&] {
    constexpr int kReadWrite = 3;
    Handles<Pool>::find(pool, Code::invalid_value);
    required(location);
    *required(flags) = kReadWrite;
  });
}
