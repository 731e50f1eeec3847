// A kernel of PTX: what the test has written between the address of its buffers and the end.
#pragma once

#include "runtime/isa/ptx/lower.hpp"
#include "tests/differential/engines.hpp"

namespace lanewise::test {

/// Parameters as run_on gives them: %rd1 = [in], %rd2 = [out] are loaded. `registers`: directives
/// that declare all registers.
inline ir::Program ptx_kernel(const std::string& registers, const std::string& body) {
  const std::string text =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param "
      ".u64 out)\n{\n" +
      registers + "\nld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];\n" + body + "ret;\n}\n";
  const ptx::ParseResult parsed = ptx::parse(text, 0);
  REQUIRE_MESSAGE(parsed.ok(), parsed.diagnostics[0].message);
  ptx::LowerResult lowered = ptx::lower(parsed.module);
  REQUIRE_MESSAGE(lowered.diagnostics.empty(), lowered.diagnostics[0].message);
  return lowered.module.kernels.at(0);
}

}  // namespace lanewise::test
