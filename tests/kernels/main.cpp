// The main of tests on a device: the run fails when the validation layer had anything to say, and
// cases are skipped where it is another device's turn.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>

#include "runtime/vulkan/vulkan_engine.hpp"
#include "tests/support/take_turns.hpp"

int main(int argc, char** argv) {
  lanewise::test::leave_to_other_devices();
  doctest::Context context(argc, argv);
  const int failed = context.run();
  const unsigned messages = lanewise::vulkan::validation_messages();
  if (messages != 0) std::printf("the validation layer reported %u messages\n", messages);
  return failed != 0 || messages != 0 ? 1 : 0;
}
