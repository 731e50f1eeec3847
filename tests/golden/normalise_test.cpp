// One more instruction must be one more line, and nothing else.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "tests/golden/normalise.hpp"

using lanewise::golden::normalise;

namespace {

std::string module(const std::string& more) {
  return R"(; SPIR-V
               OpCapability Shader
               OpEntryPoint GLCompute %main "main"
               OpName %main "main"
       %uint = OpTypeInt 32 0
          %7 = OpTypeFunction %void
       %main = OpFunction %void None %7
         %10 = OpLabel
)" + more +
         R"(         %20 = OpIAdd %uint %uint_1 %uint_2
         %21 = OpFunctionCall %uint %30 %20
               OpBranch %22
         %22 = OpLabel
               OpReturn
               OpFunctionEnd
         %30 = OpFunction %uint None %8
         %31 = OpFunctionParameter %uint
         %32 = OpLabel
               OpReturnValue %31
               OpFunctionEnd
)";
}

std::multiset<std::string> lines(const std::string& text) {
  std::istringstream in(text);
  std::multiset<std::string> all;
  for (std::string line; std::getline(in, line);) all.insert(line);
  return all;
}

}  // namespace

TEST_CASE("golden: names say operation and place, library functions their cost") {
  const std::string text = normalise(module(""));
  CHECK(text.find("%b0.IAdd.0 = OpIAdd %uint %uint_1 %uint_2\n") != std::string::npos);
  CHECK(text.find("OpFunctionCall %uint %library_4 %b0.IAdd.0\n") != std::string::npos);
  CHECK(text.find("OpBranch %b1\n") != std::string::npos);
  CHECK(text.find("; library: 1 functions, 4 instructions; with what they call: 4\n") !=
        std::string::npos);
  CHECK(text.find("OpReturnValue") == std::string::npos);
}

TEST_CASE("golden: an instruction more is a line more") {
  const auto before = lines(normalise(module("")));
  const auto after = lines(normalise(module("         %19 = OpISub %uint %uint_1 %uint_1\n")));
  std::multiset<std::string> added;
  std::ranges::set_difference(after, before, std::inserter(added, added.end()));
  CHECK(added == std::multiset<std::string>{"%b0.ISub.0 = OpISub %uint %uint_1 %uint_1"});
}
