// The rows of the accept tables, run: what the assembler takes must do on every device what it does
// on the reference engine. LANEWISE_PTX_ROWS says how many rows run (0 = all), else a sample.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "runtime/spirv/translate.hpp"
#include "tests/differential/engines.hpp"
#include "tests/support/ptx_bundle.hpp"

using namespace lanewise;
using namespace lanewise::test;

namespace {

constexpr size_t kSample = 2304;
constexpr uint64_t kGbuf = guest::kArenaBase + 0x10000, kGvar = guest::kArenaBase + 0x8000,
                   kCbuf = guest::kArenaBase + 0x9000, kOutput = guest::kArenaBase + kOutputOffset,
                   kParams = guest::kArenaBase + kParamOffset;

struct Column {
  size_t index;
  const char* target;
  const char* version;
};
/// In the order of preference: the newest target that takes a row runs it.
constexpr Column kColumns[] = {{6, "sm_100", "9.0"}, {7, "sm_120", "9.0"}, {5, "sm_90", "9.0"},
                               {4, "sm_75", "9.0"},  {2, "sm_80", "7.8"},  {3, "sm_90", "7.8"},
                               {1, "sm_70", "7.8"},  {0, "sm_50", "7.8"}};

bool is_memory_row(const std::string& text) {
  static const std::set<std::string> kOpcodes = {
      "st",      "ld",     "ldu", "prefetch", "prefetchu", "createpolicy", "applypriority",
      "discard", "atom",   "red", "cvta",     "isspacep",  "mapa",         "getctarank",
      "fence",   "membar", "cp"};
  const size_t from = text.starts_with('@') ? text.find(' ') + 1 : 0;
  const size_t to = text.find_first_of(". ;", from);
  return kOpcodes.contains(text.substr(from, to - from));
}

/// Accepted rows, grouped by the module they run in.
std::map<std::string, std::vector<PtxRow>> accepted_rows() {
  std::map<std::string, std::vector<PtxRow>> groups;
  for (const char* table : {"ptx_st.tsv", "ptx_ld.tsv", "ptx_misc.tsv"}) {
    std::ifstream in(std::string(LANEWISE_TEST_DATA "/data/oracle/") + table);
    std::string line;
    std::getline(in, line);
    while (std::getline(in, line)) {
      const size_t first = line.find('\t');
      const std::string text = line.substr(0, first), verdicts = line.substr(first + 1, 8);
      if (!is_memory_row(text) || text.find("%clock") != std::string::npos) continue;
      for (const Column& c : kColumns) {
        if (verdicts[c.index] != 'A') continue;
        groups[std::string(c.target) + c.version].push_back({text, c.target, c.version});
        break;
      }
    }
  }
  return groups;
}

std::vector<std::byte> pattern(size_t bytes, uint32_t seed) {
  std::mt19937 rng(seed);
  std::vector<std::byte> out(bytes);
  for (std::byte& b : out) b = std::byte(rng() >> 11 & 0xff);
  return out;
}

LaunchRequest request_for(const ir::Program& program) {
  LaunchRequest request;
  request.program = &program;
  request.grid = request.block = {1, 1, 1};
  request.params.resize(program.param_bytes);
  const std::vector<std::byte> array = pattern(128, 3);
  const uint64_t zero = 0;
  std::memcpy(request.params.data(), &kOutput, 8);
  std::memcpy(request.params.data() + 64, array.data(), 128);
  std::memcpy(request.params.data() + 64 + 120, &zero, 8);
  request.param_address = kParams;
  return request;
}

struct Result {
  std::vector<std::byte> memory;
  std::vector<Fault> faults;
  bool operator==(const Result& o) const {
    if (memory != o.memory || faults.size() != o.faults.size()) return false;
    return std::ranges::equal(faults, o.faults, [](const Fault& a, const Fault& b) {
      return a.kind == b.kind && a.site == b.site && a.address == b.address;
    });
  }
};

Result run(Engine& engine, const ir::Program& program) {
  engine.reserve(kArenaBytes);
  engine.write(kGbuf, pattern(kBufferBytes, 1));
  engine.write(kGvar, pattern(64, 2));
  engine.write(kCbuf, pattern(kConstBytes, 4));
  engine.write(kOutput, pattern(kOutputBytes, 5));
  const LaunchRequest request = request_for(program);
  engine.write(kParams, request.params);
  Result result;
  result.faults = engine.launch(request).faults;
  const std::pair<uint64_t, uint64_t> parts[] = {
      {kGbuf, kBufferBytes}, {kGvar, 64}, {kOutput, kOutputBytes}};
  for (const auto& [address, bytes] : parts) {
    std::vector<std::byte> part(bytes);
    engine.read(address, part);
    result.memory.insert(result.memory.end(), part.begin(), part.end());
  }
  return result;
}

/// The rows of a bundle that differ on a device, found by halves.
void find_difference(const TestEngine& device, Engine& reference, const std::vector<PtxRow>& rows) {
  const Bundle bundle = lower_bundle(rows, kGbuf, kGvar, kCbuf);
  if (run(*device.engine, bundle.program) == run(reference, bundle.program)) return;
  if (rows.size() == 1) {
    FAIL_CHECK(device.label << " differs from the reference engine: " << rows[0].text);
    return;
  }
  const auto middle = rows.begin() + static_cast<std::ptrdiff_t>(rows.size() / 2);
  find_difference(device, reference, {rows.begin(), middle});
  find_difference(device, reference, {middle, rows.end()});
}

void run_bundle(const std::vector<PtxRow>& rows) {
  const Bundle bundle = lower_bundle(rows, kGbuf, kGvar, kCbuf);
  REQUIRE(bundle.refused.empty());
  const auto problems = ir::verify(bundle.program);
  REQUIRE_MESSAGE(problems.empty(), problems.front());
  Engine* reference = nullptr;
  Result expected;
  for (const TestEngine& engine : test_engines()) {
    if (reference == nullptr) {
      reference = engine.engine.get();
      REQUIRE(engine.label == "reference");
      expected = run(*reference, bundle.program);
      continue;
    }
    CAPTURE(engine.label);
    const LaunchRequest request = request_for(bundle.program);
    CHECK(spirv::validate(engine.engine->translate(request)) == "");
    if (run(*engine.engine, bundle.program) == expected) continue;
    FAIL_CHECK(engine.label << " differs in a bundle that begins with " << rows[0].text);
    find_difference(engine, *reference, rows);
  }
}

/// Removes the rows that lowering refuses, bundle by bundle; counts them by reason.
void remove_refused(std::vector<PtxRow>& rows, std::map<std::string, size_t>& reasons) {
  std::vector<PtxRow> kept;
  for (size_t at = 0; at < rows.size(); at += kBundleRows) {
    const size_t end = std::min(rows.size(), at + kBundleRows);
    std::vector<PtxRow> part(rows.begin() + static_cast<std::ptrdiff_t>(at),
                             rows.begin() + static_cast<std::ptrdiff_t>(end));
    const Bundle bundle = lower_bundle(part, kGbuf, kGvar, kCbuf);
    const std::set<size_t> bad(bundle.refused.begin(), bundle.refused.end());
    for (size_t i = 0; i < part.size(); ++i)
      if (!bad.contains(i)) kept.push_back(part[i]);
    for (const std::string& reason : bundle.reasons) ++reasons[reason.substr(0, 60)];
    REQUIRE(!bad.contains(SIZE_MAX));
  }
  rows = std::move(kept);
}

}  // namespace

TEST_CASE("accepted rows do on every device what they do on the reference engine") {
  size_t wanted = kSample;
  if (const char* text = std::getenv("LANEWISE_PTX_ROWS")) wanted = std::strtoul(text, nullptr, 10);
  auto groups = accepted_rows();
  size_t accepted = 0, run = 0, kept = 0;
  std::map<std::string, size_t> reasons;
  for (auto& [name, rows] : groups) {
    accepted += rows.size();
    remove_refused(rows, reasons);
    kept += rows.size();
  }
  for (const auto& [reason, count] : reasons) MESSAGE(count, " rows refused: ", reason);
  CHECK(accepted > 5000);
  CHECK(kept * 100 > accepted * 98);
  for (auto& [name, rows] : groups) {
    std::shuffle(rows.begin(), rows.end(), std::mt19937(7));
    const size_t share = wanted == 0 ? rows.size() : (rows.size() * wanted + kept - 1) / kept;
    rows.resize(std::min(rows.size(), share));
    for (size_t at = 0; at < rows.size(); at += kBundleRows) {
      const size_t end = std::min(rows.size(), at + kBundleRows);
      run_bundle({rows.begin() + static_cast<std::ptrdiff_t>(at),
                  rows.begin() + static_cast<std::ptrdiff_t>(end)});
    }
    run += rows.size();
  }
  MESSAGE(accepted, " rows are accepted, ", kept, " of them translate, ", run, " ran");
  CHECK(run >= std::min(kept, std::max<size_t>(wanted, 1)));
  CHECK(validation_messages() == 0);
}
