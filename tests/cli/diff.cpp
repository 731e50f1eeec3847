// Two forms of one kernel beside each other: equal, different, undecided, and why.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tests/cli/support.hpp"

using namespace cli_test;
using nlohmann::json;

namespace {

const std::string kKernelFiles = LANEWISE_TEST_DATA "/kernels/data/";

/// out[i] = f(in[i], in[i + 64]) for 64 threads; `body` makes %r3 of %r1 and %r2.
std::string kernel(const std::string& name, const std::string& body) {
  return write(name,
               ".version 7.8\n.target sm_75\n.address_size 64\n"
               ".visible .entry k(.param .u64 o, .param .u64 p) {\n"
               ".reg .b32 %r<9>;\n.reg .b64 %d<9>;\n.reg .f32 %f<9>;\n.reg .pred %q<4>;\n"
               "ld.param.u64 %d1, [o];\nld.param.u64 %d2, [p];\n"
               "mov.u32 %r0, %tid.x;\nmul.wide.u32 %d3, %r0, 4;\n"
               "add.u64 %d1, %d1, %d3;\nadd.u64 %d2, %d2, %d3;\n"
               "ld.global.b32 %r1, [%d2];\nld.global.b32 %r2, [%d2+256];\n" +
                   body + "\nst.global.b32 [%d1], %r3;\nret;\n}\n");
}

struct Judged {
  int code = -1;
  json report;
};
Judged diff(const std::string& a, const std::string& b, const std::string& type = "u32",
            const std::string& more = "", unsigned groups = 1) {
  const Output o = program(fmt::format(
      "diff {} {} --grid {} --block 64 --arg zero:{}[64] --arg zero:{}[128] --device {} --json {}",
      a, b, groups, type, type, device(), more));
  CAPTURE(o.err);
  Judged j;
  j.code = o.code;
  j.report = json::parse(o.out, nullptr, false);
  REQUIRE(!j.report.is_discarded());
  return j;
}

const std::string kFloats = "mov.b32 %f1, %r1;\nmov.b32 %f2, %r2;\n";

}  // namespace

TEST_CASE("diff: two ways to say the same are equal") {
  const std::string a = kernel("a.ptx", "add.u32 %r3, %r1, %r2;"),
                    b = kernel("b.ptx",
                               "not.b32 %r4, %r1;\nsub.u32 %r3, %r2, %r4;\n"
                               "sub.u32 %r3, %r3, 1;");
  const Judged j = diff(a, b);
  CHECK(j.code == 0);
  CHECK(j.report["verdict"] == "equal");
  CHECK(j.report["tries"] == 8);
}

TEST_CASE("diff: the first differing store, with both sites and small inputs") {
  const std::string a = kernel("a.ptx", "add.u32 %r3, %r1, %r2;"),
                    b = kernel("b.ptx",
                               "setp.eq.u32 %q1, %r0, 37;\nadd.u32 %r3, %r1, %r2;\n"
                               "@%q1 sub.u32 %r3, %r1, %r2;");
  const Judged j = diff(a, b, "u32", "--save " + scratch() + "/found");
  CHECK(j.code == 1);
  CHECK(j.report["verdict"] == "different");
  CHECK(j.report["different_elements"] == 1);
  const json first = j.report["first"];
  CHECK(first["where"] == "argument 1 (zero:u32[64]), element 37");
  CHECK(first["block"] == "38,1,1");
  CHECK(first["a"]["store"]["thread"] == 37);
  CHECK(first["a"]["store"]["line"] == 18);
  CHECK(first["b"]["store"]["line"] == 20);
  CHECK(contains(first["b"]["store"]["text"], "st.global.b32 [%d1], %r3"));
  CHECK(first["a"]["value"] != first["b"]["value"]);
  // Only the subtrahend is left of the inputs.
  CHECK(std::filesystem::exists(scratch() + "/found2.npy"));
  const Output text = program("diff " + a + " " + b +
                              " --grid 1 --block 64 --arg zero:u32[64] "
                              "--arg zero:u32[128] --device reference");
  CHECK(contains(text.out, "argument 1 (zero:u32[64]): zeros"));
  CHECK(contains(text.out, "argument 2 (zero:u32[128]): [101] = "));
  CHECK(contains(text.out, "first differing store: argument 1"));
}

TEST_CASE("diff: what PTX leaves to the compiler is compared within a bound, and listed") {
  const std::string open = "mul.f32 %f3, %f1, %f2;\nadd.f32 %f3, %f3, %f1;\n",
                    fixed = "mul.rn.f32 %f3, %f1, %f2;\nadd.rn.f32 %f3, %f3, %f1;\n",
                    fused = "fma.rn.f32 %f3, %f1, %f2, %f1;\n", end = "mov.b32 %r3, %f3;";
  const std::string b = kernel("b.ptx", kFloats + fused + end);
  const Judged j = diff(kernel("a.ptx", kFloats + open + end), b, "f32");
  CHECK(j.code == 0);
  CHECK(j.report["within_bound"] > 0);
  CHECK(j.report["largest_within_bound"] <= j.report["bound"]);
  REQUIRE(j.report["open"].size() == 2);
  CHECK(contains(j.report["open"][0]["text"], "mul.f32"));
  CHECK(j.report["open"][0]["why"] == "may be fused");
  CHECK(diff(kernel("a.ptx", kFloats + fixed + end), b, "f32").code == 1);
  // A bound is no licence: one more than the sum is a difference.
  const std::string wrong = "add.f32 %f3, %f3, 0f3F800000;\n";
  CHECK(diff(kernel("a.ptx", kFloats + open + wrong + end), b, "f32").code == 1);
}

TEST_CASE("diff: NaNs may differ in their payload") {
  const std::string a = kernel("a.ptx", "mov.u32 %r3, 0x7fc00000;"),
                    b = kernel("b.ptx", "mov.u32 %r3, 0xffffffff;");
  const Judged j = diff(a, b, "f32");
  CHECK(j.code == 0);
  CHECK(j.report["nan_payloads"] == 8 * 64);
  CHECK(diff(a, b, "u32").code == 1);
}

TEST_CASE("diff: a fault, no store, lane order or a clock decide nothing") {
  const std::string plain = kernel("a.ptx", "add.u32 %r3, %r1, %r2;");
  const Judged fault = diff(plain, kernel("b.ptx", "ld.global.u32 %r3, [%d2+4096];"));
  CHECK(fault.code == 2);
  CHECK(fault.report["why"] == "B faults, A does not");
  CHECK(fault.report["faults"].size() != 0);
  const std::string none = kernel("c.ptx", "bra.uni DONE;\nDONE: exit;");
  const Judged nothing = diff(none, none);
  CHECK(nothing.code == 2);
  CHECK(nothing.report["why"] == "nothing was stored");
  const Judged clock = diff(kernel("d.ptx", "mov.u32 %r3, %clock;"), plain);
  CHECK(clock.code == 2);
  CHECK(contains(clock.report["why"], "depends on a clock"));
  // Each lane takes two tickets: which numbers it gets is a matter of who comes when.
  const std::string tickets = kernel("e.ptx",
                                     "ld.param.u64 %d4, [p];\natom.global.add.u32 %r4, [%d4], 1;\n"
                                     "atom.global.add.u32 %r3, [%d4], 1;");
  const Judged order = diff(tickets, plain);
  CHECK(order.code == 2);
  CHECK(contains(order.report["why"], "the order in which lanes run"));
  CHECK(order.report["first"].is_object());
  // The first lane of a group takes one for all; each group stores something else.
  const std::string groups =
      kernel("f.ptx",
             "ld.param.u64 %d4, [p];\n.shared .b32 mine;\nmov.u32 %r4, %tid.x;\n"
             "setp.ne.u32 %q1, %r4, 0;\n@%q1 bra L;\natom.global.add.u32 %r5, [%d4], 1;\n"
             "st.shared.u32 [mine], %r5;\nL: bar.sync 0;\nld.shared.u32 %r3, [mine];\n"
             "mov.u32 %r4, %ctaid.x;\nmad.lo.u32 %r3, %r3, 100, %r4;");
  const Judged turn = diff(groups, plain, "u32", "", 2);
  CHECK(turn.code == 2);
  CHECK(contains(turn.report["why"], "the order in which groups run"));
  // A group waits for the one before it: the other way round they never end. A device need not run
  // both at a time.
  if (std::string_view(device()) != "reference") return;
  const std::string waits = kernel(
      "g.ptx",
      "ld.param.u64 %d4, [p];\nmov.u32 %r4, %ctaid.x;\nL: ld.volatile.global.u32 %r5, [%d4];\n"
      "setp.ne.u32 %q1, %r4, 0;\nsetp.ne.and.u32 %q1, %r5, 1000, %q1;\n@%q1 bra L;\n"
      "mov.u32 %r3, 1000;\nst.volatile.global.u32 [%d4], %r3;");
  const Judged waiting = diff(waits, plain, "u32", "--max-steps 1000", 2);
  CHECK(waiting.code == 2);
  CHECK(contains(waiting.report["why"], "the order in which groups run"));
}

TEST_CASE("diff: pointers are the same where they point to the same place") {
  // B has a variable of its own, so its buffers lie elsewhere.
  const auto stores = [](const std::string& name, const std::string& value, bool variable) {
    return write(name, std::string(".version 7.8\n.target sm_75\n.address_size 64\n") +
                           (variable ? ".visible .global .align 8 .b8 extra[4096];\n" : "") +
                           ".visible .entry k(.param .u64 o, .param .u64 p) {\n"
                           ".reg .b32 %r<9>;\n.reg .b64 %d<9>;\n"
                           "ld.param.u64 %d1, [o];\nld.param.u64 %d2, [p];\n"
                           "mov.u32 %r0, %tid.x;\nmul.wide.u32 %d3, %r0, 8;\n"
                           "add.u64 %d4, %d1, %d3;\nadd.u64 %d5, %d2, %d3;\n" +
                           value + "\nst.global.b64 [%d4], %d6;\nret;\n}\n");
  };
  const std::string plain = "mov.b64 %d6, %d5;", next = "add.u64 %d6, %d5, 8;",
                    mixed = "mul.lo.u64 %d6, %d5, 3;";
  const std::string a = stores("a.ptx", plain, false);
  const Judged same = diff(a, stores("b.ptx", plain, true), "u64");
  CHECK(same.code == 0);
  CHECK(same.report["pointers"] == 8 * 64);
  const Judged words = diff(a, stores("b.ptx", plain, true), "u32", "--tries 1");
  CHECK(words.code == 2);  // the buffers are too small for 64 pointers
  CHECK(words.report["why"] == "both sides fault");
  CHECK(diff(a, stores("c.ptx", next, true), "u64").code == 1);
  const Judged open = diff(stores("d.ptx", mixed, false), stores("e.ptx", mixed, true), "u64");
  CHECK(open.code == 2);
  CHECK(contains(open.report["why"], "depends on the addresses of buffers"));
}

TEST_CASE("diff: PTX beside what was compiled of it, arguments chosen") {
  const Output o = program("diff " + kKernelFiles + "ptx/saxpy.sm75.ptx " + kKernelFiles +
                           "ptx/saxpy.clang.ptx --device reference");
  CAPTURE(o.out);
  CHECK(o.code == 0);
  CHECK(contains(o.out, "equal: saxpy"));
  CHECK(contains(o.out, "arguments chosen: "));
}

TEST_CASE("diff: what cannot be compared is reported") {
  const std::string a = kernel("a.ptx", "add.u32 %r3, %r1, %r2;");
  CHECK(program("diff " + a).code == 2);
  const Output missing = program("diff " + a + " " + a + " --kernel nobody");
  CHECK(missing.code == 2);
  CHECK(contains(missing.err, "no kernel 'nobody'"));
  const Output other = program("diff " + kKernelFiles + "ptx/saxpy.sm75.ptx " + a);
  CHECK(other.code == 2);
  CHECK(contains(other.err, "have no kernel of one name; name two with --kernel and --kernel-b"));
  const Output bad = program("diff " + a + " " + write("bad.ptx", "not PTX at all"));
  CHECK(bad.code == 1);
}
