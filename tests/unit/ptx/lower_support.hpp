// Helpers of the PTX lowering tests.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "runtime/isa/ptx/lower.hpp"

namespace lanewise::ptx::test {

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// "LINE:COLUMN: message", one per line.
inline std::string text(const std::vector<Diagnostic>& diagnostics) {
  std::string out;
  for (const Diagnostic& d : diagnostics)
    out += std::to_string(d.line) + ":" + std::to_string(d.column) + ": " + d.message + "\n";
  return out;
}

/// Parses and lowers a whole file; parse errors come first.
inline LowerResult lower_text(const std::string& source) {
  ParseResult parsed = parse(source);
  LowerResult result = lower(parsed.module);
  result.diagnostics.insert(result.diagnostics.begin(), parsed.diagnostics.begin(),
                            parsed.diagnostics.end());
  return result;
}

/// A kernel around a few lines, with registers of every type; line 1 of `lines` is line 20.
inline std::string kernel_with(const std::string& lines, const std::string& module_level = {}) {
  return ".version 7.8\n.target sm_80\n.address_size 64\n"
         ".global .align 16 .b8 gbuf[1024];.shared .align 16 .b8 sbuf[256];"
         ".const .align 16 .b8 cbuf[64]; " +
         module_level +
         "\n.visible .entry k(.param .u64 kp0, .param .u32 kp1, .param .align 8 .b8 kparr[24])\n{\n"
         ".reg .pred %p<8>;\n.reg .b16 %h<8>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<16>;\n"
         ".reg .f32 %f<8>;\n.reg .f64 %fd<8>;\n.reg .u32 %u<4>;\n.reg .s32 %s<4>;\n"
         ".reg .f16 %hf<4>;\n.reg .f16x2 %hh<4>;\n.reg .v4 .b32 %vec4;\n"
         ".local .align 16 .b8 lbuf[64];\n\n" +
         lines + "\nret;\n}\n";
}

/// The IR of such a kernel's instructions, one per line, blocks left out of the first block only.
inline std::string ir_of(const std::string& lines, const std::string& module_level = {}) {
  const LowerResult r = lower_text(kernel_with(lines, module_level));
  if (!r.diagnostics.empty()) return text(r.diagnostics);
  std::string out;
  const ir::Program& p = r.module.kernels.at(0);
  for (const std::string& problem : ir::verify(p)) out += "verify: " + problem + "\n";
  for (const ir::Inst& inst : p.blocks.at(0).insts) {
    std::string line = ir::print(p, inst);
    line.erase(std::min(line.rfind(" #"), line.size()));  // the site
    out += line + "\n";
  }
  return out;
}

/// The first diagnostic of such a kernel, or "accepted".
inline std::string error_of(const std::string& lines, const std::string& module_level = {}) {
  const LowerResult r = lower_text(kernel_with(lines, module_level));
  return r.diagnostics.empty() ? "accepted" : text({r.diagnostics.front()});
}

}  // namespace lanewise::ptx::test
