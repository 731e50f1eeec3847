#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "tests/support/take_turns.hpp"

int main(int argc, char** argv) {
  lanewise::test::leave_to_other_devices();
  return doctest::Context(argc, argv).run();
}
