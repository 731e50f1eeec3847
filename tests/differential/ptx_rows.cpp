// The rows of the accept tables, run: what the assembler takes must do on every device what it does
// on the reference engine, and what the manual's oracle says. Each row is a kernel of its own,
// translated, validated, launched and compared by itself. Registers and addresses are data and
// cache hints do not reach the device's code, so rows whose code is equal, word for word, share one
// pipeline: that is what makes thousands affordable. LANEWISE_PTX_TRANSLATIONS says how many kinds
// of programs run on the devices (0 = all rows).
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include "runtime/spirv/translate.hpp"
#include "tests/differential/engines.hpp"
#include "tests/support/ptx_row_expect.hpp"

namespace ptx_rows {

using namespace lanewise;
using namespace lanewise::test;

namespace {

constexpr size_t kSample = 100, kMostOfOneKind = 200;
constexpr uint64_t kWindow = guest::kArenaBase + 0x8000, kWindowBytes = 0x3000;
constexpr RowPlace kPlace = {kWindow + 0x2000, kWindow + 0x400, kWindow + 0x1000,
                             guest::kArenaBase + kOutputOffset};
constexpr uint64_t kParams = guest::kArenaBase + kParamOffset;

/// The columns of the tables by the assembler that made them; what it takes for some target,
/// lowering takes for the newest.
struct Assembler {
  std::string_view columns;
  const char* target;
  const char* version;
};
constexpr Assembler kAssemblers[] = {{"4567", "sm_100", "9.0"}, {"0123", "sm_90", "7.8"}};

bool is_memory_row(const std::string& text) {
  static const std::set<std::string> kOpcodes = {
      "st",      "ld",     "ldu", "prefetch", "prefetchu", "createpolicy", "applypriority",
      "discard", "atom",   "red", "cvta",     "isspacep",  "mapa",         "getctarank",
      "fence",   "membar", "cp"};
  return kOpcodes.contains(parse_row(text).opcode) && text.find("%clock") == std::string::npos;
}

std::vector<PtxRow> accepted_rows() {
  std::vector<PtxRow> rows;
  for (const char* table : {"ptx_st.tsv", "ptx_ld.tsv", "ptx_misc.tsv"}) {
    std::ifstream in(std::string(LANEWISE_TEST_DATA "/data/oracle/") + table);
    std::string line;
    std::getline(in, line);
    while (std::getline(in, line)) {
      const size_t first = line.find('\t');
      const std::string text = line.substr(0, first), verdicts = line.substr(first + 1, 8);
      if (!is_memory_row(text)) continue;
      for (const Assembler& a : kAssemblers) {
        const bool takes = std::ranges::any_of(
            a.columns, [&](char c) { return verdicts[static_cast<size_t>(c - '0')] == 'A'; });
        if (!takes) continue;
        rows.push_back({text, a.target, a.version});
        break;
      }
    }
  }
  return rows;
}

std::vector<std::byte> pattern(size_t bytes, uint32_t seed) {
  std::mt19937 rng(seed);
  std::vector<std::byte> out(bytes);
  for (std::byte& b : out) b = std::byte(rng() >> 11 & 0xff);
  return out;
}

/// Every other compare-and-swap finds in memory what it compares with.
void let_swaps_happen(const RowKernel& kernel, uint32_t number, std::vector<std::byte>& arena) {
  if (kernel.parts.opcode != "atom" || !kernel.parts.has("cas") || number / 2 % 2 == 0) return;
  const auto words = kernel.initial(kernel.parts.operands[2]);
  if (!words) return;
  for (const size_t at : {size_t{0}, size_t{256}})
    std::memcpy(arena.data() + (kPlace.gbuf - kWindow) + at, words->data(), sizeof *words);
}

/// sbuf and lbuf start as copies of gbuf where the row reaches them.
RowMemory memory_before(const RowKernel& kernel, uint32_t number) {
  static const std::vector<std::byte> kBytes = pattern(kWindowBytes, 1);
  RowMemory m{kWindow, kBytes, {}, {}};
  let_swaps_happen(kernel, number, m.arena);
  const auto gbuf = m.arena.begin() + static_cast<std::ptrdiff_t>(kPlace.gbuf - kWindow);
  if (kernel.shared) m.shared.assign(gbuf, gbuf + kSpaceBytes);
  if (kernel.local) m.local.assign(gbuf, gbuf + kSpaceBytes);
  return m;
}

struct Row {
  RowKernel kernel;
  ir::Program program;
  RowMemory before;
};

LaunchRequest request_for(const ir::Program& program, const std::vector<std::byte>& params) {
  LaunchRequest request;
  request.program = &program;
  request.grid = request.block = {1, 1, 1};
  request.params = params;
  request.param_address = kParams;
  return request;
}

struct Result {
  std::vector<std::byte> arena, output;
  std::vector<Fault> faults;
  bool operator==(const Result& o) const {
    if (arena != o.arena || output != o.output || faults.size() != o.faults.size()) return false;
    return std::ranges::equal(faults, o.faults, [](const Fault& a, const Fault& b) {
      return a.kind == b.kind && a.site == b.site && a.address == b.address;
    });
  }
};

/// `program` is the row's, or one whose device code is the same.
Result run(Engine& engine, const ir::Program& program, const Row& row) {
  static const std::vector<std::byte> kNoOutput(kRowOutputBytes);
  engine.reserve(kArenaBytes);
  engine.write(kWindow, row.before.arena);
  engine.write(kPlace.output, kNoOutput);
  engine.write(kParams, row.kernel.params);
  Result result;
  result.faults = engine.launch(request_for(program, row.kernel.params)).faults;
  result.arena.resize(kWindowBytes);
  result.output.resize(kRowOutputBytes);
  engine.read(kWindow, result.arena);
  engine.read(kPlace.output, result.output);
  return result;
}

/// The same as the output of a kernel.
Result as_result(const RowOutcome& outcome, const RowKernel& kernel) {
  Result result{outcome.memory.arena, std::vector<std::byte>(kRowOutputBytes), {}};
  size_t at = 0;
  for (size_t i = 0; i < outcome.results.size(); ++i) {
    const size_t bytes = std::max(register_bits(kernel.destinations[i]) / 8, 4U);
    std::memcpy(result.output.data() + at, outcome.results[i].data(), bytes);
    at += bytes;
  }
  const auto copy = [&](const std::vector<std::byte>& from, size_t to) {
    std::ranges::copy(from, result.output.begin() + static_cast<std::ptrdiff_t>(to));
  };
  copy(outcome.memory.shared, kRowResultBytes);
  copy(outcome.memory.local, kRowResultBytes + kSpaceBytes);
  return result;
}

/// True when the oracle has an answer.
bool check_with_oracle(const Row& row, const Result& result) {
  const auto expected = expected_outcome(row.kernel, kPlace, row.before);
  if (!expected) return false;
  const Result wanted = as_result(*expected, row.kernel);
  if (wanted.arena != result.arena || wanted.output != result.output ||
      expected->faults == result.faults.empty())
    FAIL_CHECK("not what the manual says: " << row.kernel.row.text);
  return true;
}

/// The program without what only the cache tracker reads. What goes past the caches still does (it
/// is an atomic access), whatever operator asked for it. The policy operand stays, as what
/// computes it would be dead otherwise.
ir::Program without_policies(ir::Program program) {
  for (ir::Block& block : program.blocks)
    for (ir::Inst& inst : block.insts)
      if (inst.mem) {
        const bool strong = ir::is_strong(inst);
        inst.mem->cache = {.hint = inst.mem->cache.hint};
        if (strong && !ir::is_strong(inst))
          inst.mem->cache.op = inst.op == ir::Op::load ? ir::CacheOp::cv : ir::CacheOp::wt;
      }
  return program;
}

/// Equal for rows that are the same program but for their policies.
std::string kind_of(const ir::Program& source) {
  ir::Program program = without_policies(source);
  for (ir::Site& site : program.sites) site = {};
  for (ir::RegInfo& reg : program.regs) reg.name.clear();
  return ir::print(program);
}

/// Half of the kinds are the commonest ones, of which a part of the rows is taken, the others are
/// chosen by chance.
std::vector<std::vector<Row>> sampled(std::map<std::string, std::vector<Row>> kinds,
                                      size_t wanted) {
  std::vector<std::vector<Row>> list;
  for (auto& [kind, rows] : kinds) list.push_back(std::move(rows));
  if (wanted == 0 || list.size() <= wanted) return list;
  std::ranges::stable_sort(list, [](const auto& a, const auto& b) { return a.size() > b.size(); });
  std::shuffle(list.begin() + static_cast<std::ptrdiff_t>(wanted / 2), list.end(), std::mt19937(7));
  list.resize(wanted);
  for (std::vector<Row>& rows : list) {
    std::ranges::shuffle(rows, std::mt19937(9));
    if (rows.size() > kMostOfOneKind) rows.resize(kMostOfOneKind);
  }
  return list;
}

std::vector<uint32_t> translated(Engine& engine, const ir::Program& program, const Row& row) {
  return engine.translate(request_for(program, row.kernel.params)).words;
}

/// Also for a device without 64-bit integers. What SwiftShader gets in the end is validated by the
/// validation layer, as all that is launched.
void check_translation(const Row& row, const std::vector<uint32_t>& words) {
  CHECK_MESSAGE(spirv::validate(words) == "", row.kernel.row.text);
  spirv::Options options;
  options.block = {1, 1, 1};
  const spirv::Module narrow = spirv::translate(row.program, options, spirv::Target{});
  CHECK_MESSAGE(spirv::validate(narrow.words) == "", row.kernel.row.text);
}

/// Each row is translated; all of one kind must be the same code, whatever their policies are, so
/// that they may share a pipeline. What a device does is what the reference engine does.
void run_kind_on_devices(const std::vector<Row>& rows) {
  const Row& first = rows.front();
  Engine& lavapipe = *test_engines()[1].engine;
  const std::vector<uint32_t> words = translated(lavapipe, without_policies(first.program), first);
  check_translation(first, words);
  const std::vector<TestEngine> engines = engines_in_turn();
  for (const Row& row : rows) {
    CHECK_MESSAGE(words == translated(lavapipe, row.program, row), row.kernel.row.text);
    const Result expected = run(*engines[0].engine, row.program, row);
    for (size_t i = 1; i < engines.size(); ++i)
      if (!(run(*engines[i].engine, first.program, row) == expected))
        FAIL_CHECK(engines[i].label << " differs: " << row.kernel.row.text);
  }
}

struct Totals {
  size_t accepted = 0, translate = 0, with_oracle = 0, on_devices = 0;
  std::map<std::string, size_t> refused;
};

/// Lowers every accepted row and runs it on the reference engine.
std::map<std::string, std::vector<Row>> run_on_reference(Totals& totals) {
  std::map<std::string, std::vector<Row>> kinds;
  Engine& reference = *test_engines()[0].engine;
  uint32_t number = 0;
  for (const PtxRow& text : accepted_rows()) {
    ++totals.accepted;
    Row row{row_kernel(text, ++number, kPlace), {}, {}};
    LoweredRow lowered = lower_row(row.kernel, kPlace);
    if (!lowered.refused.empty()) {
      ++totals.refused[lowered.refused];
      continue;
    }
    ++totals.translate;
    row.program = std::move(lowered.program);
    row.before = memory_before(row.kernel, number);
    const auto problems = ir::verify(row.program);
    REQUIRE_MESSAGE(problems.empty(), problems.front());
    totals.with_oracle += check_with_oracle(row, run(reference, row.program, row)) ? 1 : 0;
    kinds[kind_of(row.program)].push_back(std::move(row));
  }
  return kinds;
}

}  // namespace

TEST_CASE("every accepted row translates and runs on the reference engine, 2,000 on devices") {
  size_t wanted = kSample;
  if (const char* text = std::getenv("LANEWISE_PTX_TRANSLATIONS"))
    wanted = std::strtoul(text, nullptr, 10);
  REQUIRE(test_engines()[0].label == "reference");
  Totals totals;
  const auto kinds = run_on_reference(totals);
  const size_t all_kinds = kinds.size();
  const auto chosen = sampled(kinds, wanted);
  if (test_engines().size() > 1) {
    for (const std::vector<Row>& rows : chosen) {
      run_kind_on_devices(rows);
      totals.on_devices += rows.size();
    }
    if (wanted == 0 || wanted >= kSample)
      CHECK(totals.on_devices >= std::min<size_t>(totals.translate, 2000));
  }
  for (const auto& [reason, count] : totals.refused) MESSAGE(count, " rows are refused: ", reason);
  MESSAGE(totals.accepted, " rows are accepted, ", totals.translate,
          " translate, the oracle knows ", totals.with_oracle, "; ", totals.on_devices, " rows of ",
          chosen.size(), " kinds among ", all_kinds, " ran on devices");
  CHECK(totals.accepted > 6000);
  CHECK(totals.translate * 100 > totals.accepted * 98);
  CHECK(totals.with_oracle * 10 > totals.translate * 8);
  CHECK(validation_messages() == 0);
}

}  // namespace ptx_rows
