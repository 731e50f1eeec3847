#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/support/exclusions.hpp"
#include "tests/values/ptx/ptx.hpp"

namespace values::ptx {

namespace {

std::string device() {
  const char* name = std::getenv("LANEWISE_TEST_DEVICE");
  return name == nullptr ? "reference" : name;
}
bool on_reference() {
  return device() == "reference";
}

/// Forms that repeat on devices what others show there: predicates that are combined with a
/// comparison and other ways to say yes, but for two comparisons; second names; saturation and
/// flushing behind a conversion, but for two directions; video instructions of both signs. The
/// reference engine runs every form.
bool adds_nothing_on_devices(const std::string& form) {
  Mods m(form);
  if (m.opcode() == "isspacep" || m.opcode() == "cvta")
    return form.find("::") != std::string::npos;  // other names of shared and param
  if (m.opcode() == "cvt") {
    const bool seldom = !m.one_of({"rz", "rp", "rzi", "rpi"}).empty();
    return seldom && (m.take("sat") || m.take("ftz"));
  }
  if (video::makers().contains(m.opcode())) {  // all of one sign; second operations behind vadd
    const bool mixed =
        form.find("s32") != std::string::npos && form.find("u32") != std::string::npos;
    return mixed || (!m.opcode().starts_with("vadd") && !m.one_of({"min", "max"}).empty());
  }
  if (m.opcode() != "setp" && m.opcode() != "set") return false;
  const std::string compare = m.one_of({"ne", "gtu"});
  const bool plain = m.opcode() == "setp" || m.take("u32");
  const bool combined = !m.one_of({"and", "or", "xor"}).empty();
  return compare.empty() && (combined || !plain);
}

bool runs_here(const std::string& form) {
  static const auto kExcluded = lanewise::test::excluded_patterns("values_ptx", "form");
  return on_reference() ||
         (!adds_nothing_on_devices(form) && lanewise::test::lavapipes_turn(form) &&
          !lanewise::test::is_excluded(kExcluded, form));
}

/// Ops of one family of opcodes.
std::vector<Case> cases_of(const Makers& makers, bool near = false) {
  std::vector<Op> out;
  for (Op& op : ops())
    if (makers.contains(Mods(op.form).opcode()) && (op.near != nullptr) == near &&
        runs_here(op.form))
      out.push_back(std::move(op));
  return joined(out);
}

}  // namespace

TEST_CASE("values: moves, packing, special registers") {
  std::vector<Op> all = move::extra_ops();
  for (Op& op : video::part_ops()) all.push_back(std::move(op));
  for (Op& op : ops())
    if (move::makers().contains(Mods(op.form).opcode())) all.push_back(std::move(op));
  std::erase_if(all, [](const Op& op) { return !runs_here(op.form); });
  check(instruction_set(), joined(all));
}
TEST_CASE("values: arithmetic, integers and floats") {
  check(instruction_set(), cases_of(integer::makers()));
}
TEST_CASE("values: other floats") {
  Makers rest = floats::makers();
  for (const auto& [opcode, maker] : integer::makers()) rest.erase(opcode);
  check(instruction_set(), cases_of(rest));
}
TEST_CASE("values: logic, shifts, fields") {
  check(instruction_set(), cases_of(bit_ops::makers()));
}
TEST_CASE("values: carries") {
  check(instruction_set(), cases_of({{"addc", nullptr}, {"subc", nullptr}, {"madc", nullptr}}));
}
TEST_CASE("values: comparisons and selections") {
  check(instruction_set(), cases_of(compare::makers()));
}
TEST_CASE("values: video instructions") {
  check(instruction_set(), cases_of(video::makers()));
}
TEST_CASE("values: conversions") {
  check(instruction_set(), cases_of(convert::makers()));
}
TEST_CASE("values: approximate functions") {
  check(instruction_set(), cases_of(approximate::makers(), true));
}
TEST_CASE("values: constants as operands") {
  if (on_reference()) check(instruction_set(), joined(with_constants(ops())));
}
TEST_CASE("values: every form of loads and stores") {
  const std::vector<Op> all = memory::ops();
  CHECK(all.size() > 8000);
  if (on_reference()) check(instruction_set(), joined(all));
}
TEST_CASE("values: lanes") {
  std::vector<Case> together, apart;
  for (Case& c : wave::cases())
    (c.text.find("@low") == std::string::npos ? together : apart).push_back(std::move(c));
  check(instruction_set(), together);
  // Half a wave in a branch: one kernel each, so that all lanes are surely together at its start.
  // Devices are held to the reference engine's divergence by tests/differential/waves.cpp.
  if (!on_reference()) return;
  InstructionSet one = instruction_set();
  one.cases_in_kernel = 1;
  check(one, apart);
}

}  // namespace values::ptx
