// Launches, with arguments one by one or as a block, and with the calls of CUDA 3.
#include "runtime/host/driver/launch.hpp"

#include <cstring>

#include "runtime/host/core/gpu.hpp"
#include "runtime/host/cuda/functions.hpp"
#include "runtime/host/driver/entry.hpp"

namespace lanewise::driver {
namespace {

/// Where the arguments lie: pointers to each, or into the block that `extra` names.
class Arguments {
 public:
  Arguments(const Function& function, void** pointers, void** extra, uintptr_t end)
      : pointers_(pointers) {
    const size_t count = function.param_sizes.size();
    require(pointers == nullptr || extra == nullptr);
    if (extra == nullptr) {
      require(pointers != nullptr || count == 0);
      return;
    }
    const auto [block, bytes] = block_of(extra, end);
    for (size_t i = 0; i < count; ++i) {
      require(size_t{function.param_offsets[i]} + function.param_sizes[i] <= bytes);
      into_.push_back(block + function.param_offsets[i]);
    }
    pointers_ = into_.data();
  }
  void** pointers() const { return pointers_; }

 private:
  static std::pair<std::byte*, size_t> block_of(void** extra, uintptr_t end) {
    enum : uintptr_t { kPointer = 1, kSize = 2 };
    std::byte* block = nullptr;
    size_t bytes = 0;
    for (; reinterpret_cast<uintptr_t>(*extra) != end; extra += 2) {
      const auto what = reinterpret_cast<uintptr_t>(*extra);
      require(what == kPointer || what == kSize);
      if (what == kPointer)
        block = static_cast<std::byte*>(extra[1]);
      else
        bytes = *static_cast<const size_t*>(required(extra[1]));
    }
    require(block != nullptr || bytes == 0);
    return {block, bytes};
  }

  void** pointers_;
  std::vector<void*> into_;
};

}  // namespace

void launch(Function* handle, const Shape& shape, StreamHandle stream, void** pointers,
            void** extra, uintptr_t end) {
  Function& function = Program::get().function(required(handle));
  const Arguments arguments(function, pointers, extra, end);
  enqueue_launch(stream_of(stream), function, shape, arguments.pointers());
}

namespace {

/// CUlaunchConfig
struct Configuration {
  unsigned grid[3], block[3], shared;
  StreamHandle stream;
  const cuda::LaunchAttribute* attributes;
  unsigned count;
};

Shape shape_of(const Configuration& c) {
  Shape shape{{c.grid[0], c.grid[1], c.grid[2]}, {c.block[0], c.block[1], c.block[2]}, c.shared};
  cuda::apply(shape, c.attributes, c.count, "cuLaunchKernelEx");
  return shape;
}

/// What the calls of CUDA 3 set beforehand.
struct Prepared {
  Shape shape;
  std::vector<std::byte> block;
};
Prepared& prepared_of(Function* handle) {
  static auto* const all = new std::map<const Function*, Prepared>;
  return (*all)[&Program::get().function(required(handle))];
}
int set_argument(Function* function, int offset, const void* data, size_t bytes) {
  return answer([&] {
    Prepared& to = prepared_of(function);
    require(offset >= 0 && static_cast<size_t>(offset) + bytes <= to.block.size());
    std::memcpy(to.block.data() + offset, required(data), bytes);
  });
}
int launch_prepared(Function* function, int width, int height, StreamHandle stream) {
  return answer([&] {
    Prepared& as = prepared_of(function);
    require(width > 0 && height > 0);
    as.shape.grid[0] = static_cast<unsigned>(width);
    as.shape.grid[1] = static_cast<unsigned>(height);
    size_t bytes = as.block.size();
    void* extra[] = {pointer_at(1), as.block.data(), pointer_at(2), &bytes, nullptr};
    launch(function, as.shape, stream, nullptr, extra);
  });
}

}  // namespace
}  // namespace lanewise::driver

using namespace lanewise::driver;

ENTRY_PTSZ(cuLaunchKernel, (Function * function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                            unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                            StreamHandle stream, void** arguments, void** extra)) {
  return answer([&] {
    launch(function, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared}, stream,
           arguments, extra);
  });
}
ENTRY_PTSZ(cuLaunchCooperativeKernel,
           (Function * function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
            unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
            StreamHandle stream, void** arguments)) {
  return answer([&] {
    launch(function, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, true}, stream,
           arguments, nullptr);
  });
}
ENTRY_PTSZ(cuLaunchKernelEx, (const Configuration* configuration, Function* function,
                              void** arguments, void** extra)) {
  return answer([&] {
    launch(function, shape_of(*required(configuration)), configuration->stream, arguments, extra);
  });
}

ENTRY(cuFuncSetBlockShape, (Function * function, int x, int y, int z)) {
  return answer([&] {
    require(x > 0 && y > 0 && z > 0);
    Shape& shape = prepared_of(function).shape;
    shape.block[0] = static_cast<unsigned>(x);
    shape.block[1] = static_cast<unsigned>(y);
    shape.block[2] = static_cast<unsigned>(z);
  });
}
ENTRY(cuFuncSetSharedSize, (Function * function, unsigned bytes)) {
  return answer([&] { prepared_of(function).shape.dynamic_shared = bytes; });
}
ENTRY(cuParamSetSize, (Function * function, unsigned bytes)) {
  return answer([&] { prepared_of(function).block.resize(bytes); });
}
ENTRY(cuParamSeti, (Function * function, int offset, unsigned value)) {
  return set_argument(function, offset, &value, sizeof value);
}
ENTRY(cuParamSetf, (Function * function, int offset, float value)) {
  return set_argument(function, offset, &value, sizeof value);
}
ENTRY(cuParamSetv, (Function * function, int offset, const void* data, unsigned bytes)) {
  return set_argument(function, offset, data, bytes);
}
ENTRY(cuLaunch, (Function * function)) {
  return launch_prepared(function, 1, 1, nullptr);
}
ENTRY(cuLaunchGrid, (Function * function, int width, int height)) {
  return launch_prepared(function, width, height, nullptr);
}
ENTRY(cuLaunchGridAsync, (Function * function, int width, int height, StreamHandle stream)) {
  return launch_prepared(function, width, height, stream);
}

ENTRY(cuOccupancyMaxActiveClusters,
      (int* clusters, Function* function, const Configuration* configuration)) {
  return answer([&] {
    const Shape shape = shape_of(*required(configuration));
    const auto threads = static_cast<int>(shape.block[0] * shape.block[1] * shape.block[2]);
    *required(clusters) = cuda::active_blocks(function, threads, shape.dynamic_shared) *
                          current_gpu().multiprocessors;
  });
}
ENTRY(cuOccupancyMaxPotentialClusterSize,
      (int* size, Function* function, const Configuration* configuration)) {
  return answer([&] {
    Program::get().function(function);
    required(configuration);
    *required(size) = 1;
  });
}
