#include "tests/fuzz/programs/harness/run.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "runtime/api/program/policies.hpp"
#include "runtime/guest/allocator.hpp"
#include "runtime/ir/passes/pipeline.hpp"
#include "runtime/script/run/stream.hpp"
#include "runtime/script/run/wrap.hpp"
#include "runtime/script/script.hpp"
#include "runtime/spirv/translate.hpp"

namespace lanewise::programs {
namespace {

/// As much as scripts have.
constexpr uint64_t kArenaBytes = uint64_t{1} << 20;

struct Layout {
  guest::Allocator allocator;
  uint64_t table, out, params;

  explicit Layout(const Program& p)
      : table(allocator.allocate(4 * kTableWords, "table", true)),
        out(allocator.allocate(uint64_t{4} * p.words(), "out")),
        params(allocator.allocate(16, "(parameters)", true)) {
    if (allocator.high_water() > kArenaBytes) throw std::runtime_error("too many lanes");
  }
};

std::string what_wrote(const Program& p, uint32_t word) {
  if (word < kSlots) return fmt::format("slot {}", word);
  if (word < kSlots + p.stored()) return fmt::format("register {}", word - kSlots);
  return "the mark of its end";
}

}  // namespace

Compiled compile(const Program& program, const InstructionSet& set, const Style& style) {
  const Text text = set.print(program, style);
  const script::Script parsed = script::parse(code_script(program, set, text));
  if (!parsed.ok())
    throw std::runtime_error("the program is no script: " + parsed.diagnostics[0].message);
  const script::Case& c = parsed.cases.at(0);
  host::detail::Compiled made =
      script::compile_stream(c, std::get<script::Code>(c.steps.at(0)), {});
  std::string messages;
  for (const Diagnostic& d : made.diagnostics)
    if (!d.warning) messages += fmt::format("line {}: {}\n", d.line, d.message);
  if (!messages.empty()) throw std::runtime_error(messages);
  Compiled out;
  out.policies = host::detail::complete_policies({text.policies.begin(), text.policies.end()});
  out.program = std::move(made.module.kernels.at(0));
  out.shared = text.shared;
  host::detail::apply_policies(out.program, out.policies);
  if (!style.own_exits) {
    script::HiddenRegisters hidden;
    hidden.out_at = program.threads() * hidden.in_stride();
    script::wrap(out.program, hidden, {program.groups, 1, 1}, {program.block, 1, 1});
  }
  out.optimised = out.program;
  ir::optimise(
      out.optimised, {{{program.block, 1, 1}}}, [](const ir::Pass& pass, const ir::Program& p) {
        const std::vector<std::string> defects = ir::verify(p);
        if (!defects.empty())
          throw std::runtime_error(fmt::format("after pass {}: {}", pass.name, defects[0]));
      });
  return out;
}

std::optional<std::string> run(Engine& engine, const Compiled& compiled, const Program& program,
                               const Outcome& outcome, const Setup& setup) {
  const Layout at(program);
  std::vector<uint32_t> words(outcome.words.size(), kUntouched);
  LaunchRequest request;
  // Devices run the passes themselves.
  const bool optimised = setup.passes && engine.info().type == "reference";
  request.program = optimised ? &compiled.optimised : &compiled.program;
  request.grid = {program.groups, 1, 1};
  request.block = {program.block, 1, 1};
  request.dynamic_shared = compiled.shared;
  request.params.resize(std::max<size_t>(16, compiled.program.param_bytes));
  std::memcpy(request.params.data(), &at.table, 8);
  std::memcpy(request.params.data() + 8, &at.out, 8);
  request.param_address = at.params;
  std::vector<std::byte> record(size_t{16} * program.threads());
  request.record = record;
  request.allocations = at.allocator.allocations();
  request.memcheck = setup.memcheck;
  request.wave = setup.wave;
  request.schedule = setup.schedule;
  std::map<std::string, std::string> policies = compiled.policies;
  policies["passes"] = setup.passes ? "on" : "off";
  request.policies = std::move(policies);
  request.step_budget = kStepBudget;
  engine.reserve(kArenaBytes);
  if (const std::vector<uint32_t> words = engine.translate(request).words; !words.empty()) {
    const std::string problem = spirv::validate(words);
    if (!problem.empty()) return "its module is not valid: " + problem;
  }
  if (!engine.info().profile.empty()) return std::nullopt;  // compiles and runs nothing
  engine.write(at.table, std::as_bytes(std::span(program.table)));
  engine.write(at.out, std::as_bytes(std::span(words)));
  engine.write(at.params, request.params);
  const LaunchResult result = engine.launch(request);
  engine.read(at.out, std::as_writable_bytes(std::span(words)));
  if (result.fault_count != 0) {
    const Fault f = result.faults.empty() ? Fault{} : result.faults[0];
    // One invocation for a whole wave is soon at the end of what a driver lets it loop; it says so.
    const bool ended_by_driver = f.kind == FaultKind::step_budget && f.address == 1;
    if (ended_by_driver && result.wave_mode == "serial") {  // asked for, or chosen
      ++ended_by_drivers;
      return std::nullopt;
    }
    return fmt::format("{} lanes fault, lane {} of group {} with {} at {:#x}", result.fault_count,
                       f.lane, f.group[0], name(f.kind), f.address);
  }
  size_t wrong = 0, first = 0;
  for (size_t n = words.size(); n-- > 0;)
    if (words[n] != outcome.words[n]) ++wrong, first = n;
  if (wrong == 0) return std::nullopt;
  if (first >= program.cells(CombineOp::add))
    return fmt::format(
        "{} of {} words are wrong; first of the cells, word {}: {:#x}, expected {:#x}", wrong,
        words.size(), first - program.cells(CombineOp::add), words[first], outcome.words[first]);
  return fmt::format(
      "{} of {} words are wrong; first of lane {} of group {}, {}: {:#x}, expected {:#x}", wrong,
      words.size(), first / program.stride() % program.block,
      first / program.stride() / program.block,
      what_wrote(program, static_cast<uint32_t>(first % program.stride())), words[first],
      outcome.words[first]);
}

}  // namespace lanewise::programs
