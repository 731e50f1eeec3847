// Objects as compilers leave them and linked, jumps to computed addresses, data in the midst of the
// code. tests/data/gcn/objects has the sources.
#include <cstdlib>

#include "tests/kernels/support.hpp"

using namespace kernels;

namespace {

using Words = std::vector<uint32_t>;

std::string object(const std::string& file) {
  return std::string(LANEWISE_TEST_DATA) + "/data/gcn/objects/" + file;
}

/// One number of each of `groups` groups of four lanes.
Words jumped(const std::string& file, const std::string& kernel, uint32_t groups) {
  auto out = device().buffer(Words(4 * groups), "out");
  device()
      .load_file(object(file))
      .kernel(kernel)
      .launch({.grid = {groups}, .block = {4}}, out)
      .check();
  Words of_group;
  const Words all = out.read<uint32_t>();
  for (uint32_t n = 0; n < all.size(); ++n) {
    if (n % 4 == 0) of_group.push_back(all[n]);
    CHECK(all[n] == of_group.back());
  }
  return of_group;
}

std::string refusal(const std::string& file, const std::string& kernel) {
  try {
    device().load_file(object(file)).kernel(kernel);
  } catch (const lanewise::Error& e) {
    return e.what();
  }
  return {};
}

}  // namespace

TEST_CASE("gcn: jumps go to computed addresses, in objects and in linked files") {
  for (const char* file : {"jumps.gfx803.o", "jumps.gfx803.hsaco"}) {
    CAPTURE(file);
    CHECK(jumped(file, "ladder", 9) == Words{100, 101, 102, 103, 104, 105, 106, 107, 100});
    CHECK(jumped(file, "ways", 1) == Words{505});
    CHECK(jumped(file, "back", 2) == Words{6, 5});
    CHECK(jumped(file, "table", 1) == Words{42});
    CHECK(jumped(file, "kept", 1) == Words{31});
    CHECK(jumped(file, "away", 1) == Words{9});
    CHECK(jumped(file, "astray", 1) == Words{78});
  }
}

TEST_CASE("gcn: a jump to no known target is a fault") {
  auto out = device().buffer(Words(8), "out");
  const auto result = device()
                          .load_file(object("jumps.gfx803.o"))
                          .kernel("astray")
                          .launch({.grid = {2}, .block = {4}}, out);
  CHECK(result.fault_count == 4);
  REQUIRE(!result.faults.empty());
  CHECK(result.faults[0].kind == lanewise::FaultKind::illegal_instruction);
  CHECK(result.faults[0].group.x == 1);
  CHECK(result.faults[0].text.starts_with("s_setpc_b64"));
  CHECK(out.read<uint32_t>() == Words{78, 78, 78, 78, 0, 0, 0, 0});
}

TEST_CASE("gcn: relocations of objects to code, constants and variables") {
  const int table[] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
  std::vector<int32_t> want;
  for (int i = 0; i < 16; ++i) {
    const int pointed = table[2 + i % 8] + ((i & 1) != 0 ? table[5 + i % 8] : 0);
    want.push_back(2 * table[i] + 8 * i + 6 + (i % 4 == 1 ? 7 : 0) + pointed);
  }
  for (const char* file :
       {"gfx803.o", "gfx803.hsaco", "gfx700.o", "gfx600.o", "gfx803.mesa3d.o", "gfx600.mesa3d.o"}) {
    CAPTURE(file);
    if (device().info().tier != "cpu" && std::string(file) != "gfx803.o") continue;
    auto out = device().buffer(std::vector<int32_t>(16), "out");
    device()
        .load_file(object(std::string("tables.") + file))
        .kernel("tables")
        .launch({.grid = {1}, .block = {16}}, out)
        .check();
    CHECK(out.read<int32_t>() == want);
  }
}

TEST_CASE("gcn: what a file does not define is named, by the kernel that needs it") {
  for (const char* file : {"undefined.gfx803.o", "undefined.gfx803.hsaco", "hidden.gfx803.o"}) {
    CAPTURE(file);
    CHECK(jumped(file, "stands_alone", 1) == Words{12});
    const std::string why = refusal(file, "calls");
    CAPTURE(why);
    CHECK(why.find("'calls' at 0x") != std::string::npos);
    CHECK(why.find("'not_there' is defined nowhere in this file") != std::string::npos);
  }
}

TEST_CASE("gcn: a fault in a function names it, and who calls it") {
  auto out = device().buffer(Words(1), "out");
  const auto result = device()
                          .load_file(object("in_function.gfx803.o"))
                          .kernel("calls")
                          .launch({.grid = {1}, .block = {1}}, out);
  REQUIRE(result.faults.size() == 1);
  const lanewise::FaultReport& f = result.faults[0];
  CHECK(f.kernel == "calls");
  CHECK(f.function == "callee");
  CHECK(f.called_from == "calls");
  const std::string text = lanewise::format(f);
  CAPTURE(text);
  CHECK(text.find("at callee+0x28: flat_load_dword") != std::string::npos);
  CHECK(text.find("called from calls\n") != std::string::npos);
}

TEST_CASE("gcn: a launch that is given up says what had faulted") {
  auto out = device().buffer(Words(1), "out"), in = device().buffer(Words(16), "in");
  lanewise::LaunchOptions options{.grid = {1}, .block = {1}};
  // A driver's compiler takes longer, and one that is given up takes the device along.
  options.timeout_seconds = device().info().type == "reference" ? 0.5 : 12;
  options.policies["steps"] = "unlimited";
  std::string why;
  bool ended = false;
  try {
    device()
        .load_file(object("hidden_fault.gfx803.o"))
        .kernel("waits")
        .launch(options, out, in)
        .check();
  } catch (const lanewise::Error& e) {
    why = e.what();
    ended = e.kind() == lanewise::ErrorKind::budget;
  }
  CAPTURE(why);
  // A driver that ends the loop by itself is reported in its own way.
  if (why.find("did not end within") == std::string::npos) return;
  CHECK(ended);
  CHECK(why.find("before that 1 lane faulted, the first: out-of-range access of 4 bytes") !=
        std::string::npos);
  CHECK(why.find("at waits+") != std::string::npos);
}

TEST_CASE("gcn: a function that calls itself has the stack that the launch gives it") {
  const lanewise::Kernel k = device().load_file(object("recursion.gfx803.o")).kernel("sums");
  auto out = device().buffer(Words(1), "out");
  lanewise::LaunchOptions options{.grid = {1}, .block = {1}};
  const auto result = k.launch(options, out, uint32_t{20});
  REQUIRE(!result.ok());
  const std::string text = lanewise::format(result.faults.at(0));
  CAPTURE(text);
  CHECK(text.find("at down+") != std::string::npos);
  CHECK(text.find("48 bytes for each; --stack BYTES") != std::string::npos);
  options.policies["stack"] = "4096";
  // With a whole wave in an invocation a driver may end the loops of so many calls.
  if (std::getenv("LANEWISE_WAVE") != nullptr && device().info().type != "reference") return;
  k.launch(options, out, uint32_t{20}).check();
  CHECK(out.read<uint32_t>() == Words{210});
  options.policies["stack"] = "16";
  CHECK_THROWS_AS(k.launch(options, out, uint32_t{20}), lanewise::Error);
}
