// What a wrong launch looks like: saxpy is launched as if its buffers were longer than they are,
// and the report says which instruction of which lane went past which buffer. Nothing crashes, and
// the elements that do exist are computed.
//   find_fault KERNEL.ptx
#include <cstdio>
#include <lanewise/lanewise.hpp>

int main(int argc, char** argv) try {
  auto device = lanewise::Device::open();
  const auto kernel =
      device.load_file(argc > 1 ? argv[1] : "samples/kernels/saxpy.ptx").kernel("saxpy");
  auto x = device.buffer(std::vector<float>(1000, 1.0f), "x");
  auto y = device.buffer(std::vector<float>(1000, 2.0f), "y");
  const lanewise::LaunchOptions shape{
      .grid = {4}, .block = {256}, .memcheck = lanewise::Memcheck::alloc};
  const auto result = kernel.launch(shape, 1002, 10.0f, x, y);  // two elements too many

  std::printf("%llu lanes faulted\n", static_cast<unsigned long long>(result.fault_count));
  for (const auto& fault : result.faults) std::printf("%s", lanewise::format(fault).c_str());
  const auto values = y.read<float>();
  std::printf("y[0] = %g, y[999] = %g: the good elements are there\n", values[0], values[999]);
  return result.fault_count == 2 && values[999] == 12.0f ? 0 : 1;
} catch (const lanewise::Error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return static_cast<int>(e.kind());
}
