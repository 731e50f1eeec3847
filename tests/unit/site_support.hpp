// What a site says of an instruction when its text cannot be asked.
#pragma once

#include <doctest/doctest.h>

#include <vector>

#include "runtime/events/plan.hpp"

namespace lanewise {

/// The sites of the only kernel, whose texts are no instructions of its set any more.
template <typename Lowered>
std::vector<trace::Site> sites_without_text(Lowered lowered) {
  for (const Diagnostic& d : lowered.diagnostics) FAIL_CHECK(d.line, ": ", d.message);
  REQUIRE(lowered.module.kernels.size() == 1);
  ir::Program& program = lowered.module.kernels[0];
  for (ir::Site& s : program.sites) s.text = "no instruction";
  return events::number(program).sites;
}

}  // namespace lanewise
