// A kernel that cannot be lowered stands in nobody's way but its own.
#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/isa/ptx/lower.hpp"
#include "runtime/isa/ptx/text/parser.hpp"

using namespace lanewise;

namespace {

const std::string kHeader = ".version 7.5\n.target sm_75\n.address_size 64\n";

std::string kernel(const std::string& name, const std::string& body) {
  return ".visible .entry " + name + "()\n{\n  .reg .b32 %r<4>;\n" + body + "  ret;\n}\n";
}

std::string function(const std::string& name, const std::string& body) {
  return ".func " + name + "()\n{\n  .reg .b32 %r<4>;\n" + body + "  ret;\n}\n";
}

ptx::LowerResult lower(const std::string& text, const std::string& header = kHeader) {
  const ptx::ParseResult parsed = ptx::parse(header + text);
  REQUIRE(parsed.diagnostics.empty());
  return ptx::lower(parsed.module);
}

std::vector<std::string> names(const std::vector<isa::RejectedKernel>& list) {
  std::vector<std::string> out;
  for (const auto& r : list) out.push_back(r.name);
  return out;
}

}  // namespace

TEST_CASE("the other kernels of a file are lowered") {
  const auto r = lower(kernel("good", "  mov.u32 %r1, 1;\n") + kernel("bad", "  frob.u32 %r1;\n") +
                       kernel("too", "  mov.u32 %r2, 2;\n"));
  CHECK(!r.unusable);
  REQUIRE(r.module.kernels.size() == 2);
  CHECK(r.module.kernels[1].name == "too");
  REQUIRE(names(r.rejected) == std::vector<std::string>{"bad"});
  REQUIRE(r.rejected[0].diagnostics.size() == 1);
  CHECK(r.rejected[0].diagnostics[0].line == 13);
  CHECK(r.diagnostics.size() == 1);
}

TEST_CASE("a kernel that wants thread block clusters does not prevent others") {
  const auto with = [](const std::string& directive) {
    return ".entry " + directive.substr(1, 2) + "() " + directive + " { ret; }\n";
  };
  const std::string sm90 = ".version 7.8\n.target sm_90\n.address_size 64\n";
  const auto r = lower(with(".reqnctapercluster 2, 1") + with(".explicitcluster") +
                           with(".maxclusterrank 8") + kernel("good", ""),
                       sm90);
  CHECK(!r.unusable);
  CHECK(names(r.rejected) == std::vector<std::string>{"re", "ex"});
  for (const auto& rejected : r.rejected) {
    REQUIRE(rejected.diagnostics.size() == 1);
    CHECK(rejected.diagnostics[0].message.starts_with("thread block clusters are not supported"));
  }
  CHECK(r.module.kernels.size() == 2);
  CHECK(lower(with(".reqnctapercluster 1"), sm90).rejected.empty());
  CHECK(lower(with(".explicitcluster .reqnctapercluster 1, 1"), sm90).rejected.empty());
  CHECK(lower(with(".explicitcluster .reqnctapercluster 2"), sm90).rejected.size() == 1);
  for (const char* directive : {".reqnctapercluster 1", ".maxclusterrank 8", ".explicitcluster"}) {
    const auto early = lower(with(directive));
    REQUIRE(early.rejected.size() == 1);
    CHECK(early.rejected[0].diagnostics.at(0).message.ends_with(
        "needs .target sm_90 or higher, the module says sm_75"));
  }
}

TEST_CASE("a function at fault rejects every kernel that calls it, and is reported once") {
  const auto r =
      lower(function("f", "  frob.u32 %r1;\n") + function("g", "  mov.u32 %r1, 1;\n") +
            kernel("a", "  call f;\n") + kernel("b", "  call f;\n") + kernel("c", "  call g;\n"));
  CHECK(names(r.rejected) == std::vector<std::string>{"a", "b"});
  for (const auto& rejected : r.rejected) CHECK(rejected.diagnostics.size() == 1);
  CHECK(r.diagnostics.size() == 1);
  REQUIRE(r.module.kernels.size() == 1);
  CHECK(r.module.kernels[0].name == "c");
}

TEST_CASE("a function at fault that nobody calls is reported and rejects nothing") {
  const auto r = lower(function("f", "  frob.u32 %r1;\n") + kernel("a", ""));
  CHECK(r.rejected.empty());
  CHECK(r.module.kernels.size() == 1);
  CHECK(r.diagnostics.size() == 1);
  CHECK(!r.unusable);
}

TEST_CASE("a module variable at fault makes the whole file unusable") {
  CHECK(lower(".global .u64 x[1] = {nope};\n" + kernel("a", "")).unusable);
  CHECK(!lower(".global .u64 x[1] = {12};\n" + kernel("a", "")).unusable);
}
