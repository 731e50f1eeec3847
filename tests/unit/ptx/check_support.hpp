// One instruction inside the module that the tables were made with.
#pragma once

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "runtime/isa/ptx/check.hpp"

namespace check_test {

using lanewise::Diagnostic;
namespace ptx = lanewise::ptx;

inline std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  REQUIRE(in.good());
  return {std::istreambuf_iterator<char>(in), {}};
}

/// version: "7.8" or "9.0", whose modules declare the same names (.b128 only the later one).
inline std::string module_with(const std::string& line, const std::string& version = "9.0") {
  static const std::string kOld = read(LANEWISE_TEST_DATA "/data/oracle/ptx_module_7.8.ptx");
  static const std::string kNew = read(LANEWISE_TEST_DATA "/data/oracle/ptx_module_9.0.ptx");
  static const std::string kMark = "// <candidate line>";
  std::string text = version == "7.8" ? kOld : kNew;
  return text.replace(text.find(kMark), kMark.size(), line);
}

inline std::vector<std::string> errors_of(const std::vector<Diagnostic>& diagnostics) {
  std::vector<std::string> out;
  for (const Diagnostic& d : diagnostics) {
    if (!d.warning) out.push_back(d.message);
  }
  return out;
}

/// What is wrong with a line, parse errors first; empty when it is legal.
inline std::vector<std::string> errors(const std::string& line, const ptx::CheckOptions& options,
                                       const std::string& version = "9.0") {
  const ptx::ParseResult parsed = ptx::parse(module_with(line, version), 0);
  if (!parsed.ok()) return errors_of(parsed.diagnostics);
  return errors_of(ptx::check(parsed.module, options));
}

}  // namespace check_test
