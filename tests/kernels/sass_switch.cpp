// A switch as the vendor's compiler makes it: a table in constant bank 2 and BRX, on every device.
#include "tests/kernels/support.hpp"

using namespace kernels;

TEST_CASE("a compiled switch jumps through its table") {
  std::vector<std::string> files = {"cubin"};
  if (device().info().tier == "cpu") files.insert(files.end(), {"sm_53.cubin", "sm_61.cubin"});
  for (const std::string& file : files) {
    const lanewise::Kernel k = device().load_file(corpus("sass/k30_switch." + file)).kernel("k");
    for (const uint32_t selector : {0U, 1U, 2U, 3U, 4U, 5U, 4000000000U}) {
      CAPTURE(selector);
      lanewise::Buffer data = device().buffer(std::vector<uint32_t>{selector, 0, 4711}, "data");
      k.launch({.grid = {1}, .block = {32}}, data).check();
      const uint32_t cases[] = {11, selector * 77, 13, 4711, 15};
      CHECK(data.read<uint32_t>()[1] == (selector < 5 ? cases[selector] : 99));
    }
  }
}
