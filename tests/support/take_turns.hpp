// For the main of a doctest program: its cases are skipped where it is another device's turn.
#pragma once

#include <doctest/doctest.h>

#include "tests/support/turns.hpp"

namespace lanewise::test {

inline void leave_to_other_devices() {
  Turns turns(std::getenv("LANEWISE_TEST_TURNS"));
  for (const doctest::detail::TestCase& c : doctest::detail::getRegisteredTests())
    // The set is ordered by what stays.
    if (!turns.runs(c.m_file.c_str(), c.m_name))
      const_cast<doctest::detail::TestCase&>(c).m_skip = true;
}

}  // namespace lanewise::test
