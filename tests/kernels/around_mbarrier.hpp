// Kernels of one group around an mbarrier.
#pragma once

#include "tests/kernels/support.hpp"

namespace kernels::around_mbarrier {

/// Lanes of one group run `body` and leave `n` words each at %q, the rest of the buffer being at
/// %p.
inline std::vector<uint32_t> run(const std::string& body, unsigned lanes, unsigned n,
                                 const std::vector<uint32_t>& in = {},
                                 const std::string& copies = {}) {
  const std::string text =
      ".version 8.4\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
      ".reg .b64 %p, %q, %s<8>;\n.reg .b32 %t, %r<16>;\n.reg .pred %o, %w;\n"
      ".shared .align 16 .b8 m[4096];\n.shared .align 8 .b64 bar;\n"
      "ld.param.u64 %p, [p];\nmov.u32 %t, %tid.x;\nmul.wide.u32 %q, %t, " +
      std::to_string(4 * n) + ";\nadd.u64 %q, %p, %q;\nsetp.eq.u32 %o, %t, 0;\n" + body +
      "ret;\n}\n";
  std::vector<uint32_t> memory(lanes * n);
  memory.insert(memory.end(), in.begin(), in.end());
  auto buffer = device().buffer(memory);
  lanewise::LaunchOptions options{.grid = {1}, .block = {lanes}};
  if (!copies.empty()) options.policies["async.copy"] = copies;
  device().load_text(text, lanewise::Isa::ptx).kernel("k").launch(options, buffer).check();
  return buffer.read<uint32_t>();
}

inline std::string init(unsigned count) {
  return "@%o mbarrier.init.shared.b64 [bar], " + std::to_string(count) + ";\nbar.sync 0;\n";
}

}  // namespace kernels::around_mbarrier
