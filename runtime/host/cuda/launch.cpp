// Launches of kernels.
#include "runtime/host/cuda/entry.hpp"

namespace lanewise::cuda {
namespace {

struct Configuration {
  Dim grid, block;
  size_t shared;
  StreamHandle stream;
};
/// What stands between <<<...>>> and the call of the stub: launches in arguments of launches nest.
/// Without a destructor: destructors of the program may launch.
struct Configurations {
  static constexpr size_t kMost = 64;
  Configuration pushed[kMost];
  size_t count;
};
thread_local Configurations configurations;

int launch(const void* host, Dim grid, Dim block, void** args, size_t shared, StreamHandle stream,
           bool cooperative = false) {
  return answer([&] {
    Function& function = Program::get().function(host);
    const Shape shape{{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared, cooperative};
    enqueue_launch(stream_of(stream), function, shape, args);
  });
}

}  // namespace
}  // namespace lanewise::cuda

using namespace lanewise::cuda;

// Names of the ABI.
// NOLINTBEGIN(bugprone-reserved-identifier)
LANEWISE_ENTRY unsigned __cudaPushCallConfiguration(Dim grid, Dim block, size_t shared,
                                                    StreamHandle stream) {
  Configurations& all = configurations;
  if (all.count == Configurations::kMost) return 1;
  all.pushed[all.count++] = {grid, block, shared, stream};
  return 0;
}
// These two succeed after a kernel has failed as well: the launch function that nvcc generates asks
// for its kernel once and keeps the answer, and the configuration that <<<>>> pushed has to be
// popped.
ENTRY(__cudaPopCallConfiguration, (Dim * grid, Dim* block, size_t* shared, StreamHandle* stream)) {
  return answer(
      [&] {
        Configurations& all = configurations;
        require(all.count != 0);
        const Configuration& last = all.pushed[--all.count];
        *grid = last.grid, *block = last.block, *shared = last.shared, *stream = last.stream;
      },
      After::works);
}
ENTRY(__cudaGetKernel, (const void** kernel, const void* host)) {
  return answer(
      [&] {
        *kernel = Program::get().find_function(host);
        require(*kernel != nullptr, Code::invalid_device_function);
      },
      After::works);
}
ENTRY_PTSZ(__cudaLaunchKernel, (const void* kernel, Dim grid, Dim block, void** args, size_t shared,
                                StreamHandle stream)) {
  return launch(kernel, grid, block, args, shared, stream);
}
ENTRY_PTSZ(cudaLaunchKernel, (const void* host, Dim grid, Dim block, void** args, size_t shared,
                              StreamHandle stream)) {
  return launch(host, grid, block, args, shared, stream);
}
ENTRY_PTSZ(cudaLaunchCooperativeKernel, (const void* host, Dim grid, Dim block, void** args,
                                         size_t shared, StreamHandle stream)) {
  return launch(host, grid, block, args, shared, stream, true);
}
// NOLINTEND(bugprone-reserved-identifier)
