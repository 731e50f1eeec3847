// The rows of the accept tables, run: what the assembler takes must do on every device what it does
// on the reference engine. Cache hints do not reach the device's code, so many rows are the same
// translation; each runs on the reference engine, and a sample of the translations, the commonest
// first, on the devices. LANEWISE_PTX_TRANSLATIONS says how many (0 = all).
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

constexpr size_t kSample = 64;
constexpr uint64_t kGbuf = guest::kArenaBase + 0x10000, kGvar = guest::kArenaBase + 0x8000,
                   kCbuf = guest::kArenaBase + 0x9000, kOutput = guest::kArenaBase + kOutputOffset,
                   kParams = guest::kArenaBase + kParamOffset;

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
      for (const Assembler& a : kAssemblers) {
        const bool takes = std::ranges::any_of(
            a.columns, [&](char c) { return verdicts[static_cast<size_t>(c - '0')] == 'A'; });
        if (!takes) continue;
        groups[a.version].push_back({text, a.target, a.version});
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
  static int found = 0;  // every step compiles: the first rows must do
  if (found >= 12 || run(*device.engine, bundle.program) == run(reference, bundle.program)) return;
  if (rows.size() == 1) {
    ++found;
    FAIL_CHECK(device.label << " differs from the reference engine: " << rows[0].text);
    return;
  }
  const auto middle = rows.begin() + static_cast<std::ptrdiff_t>(rows.size() / 2);
  find_difference(device, reference, {rows.begin(), middle});
  find_difference(device, reference, {middle, rows.end()});
}

/// The program without what only the cache tracker reads. The policy operand stays, as what
/// computes it would be dead otherwise.
ir::Program without_policies(ir::Program program) {
  for (ir::Block& block : program.blocks)
    for (ir::Inst& inst : block.insts)
      if (inst.mem) inst.mem->cache = {.hint = inst.mem->cache.hint};
  return program;
}

/// Hints must not change a device's code.
std::vector<uint32_t> translated_without_policies(const TestEngine& engine, const Bundle& bundle) {
  const ir::Program bare = without_policies(bundle.program);
  return engine.engine->translate(request_for(bare));
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
    const std::vector<uint32_t> words = engine.engine->translate(request);
    CHECK(spirv::validate(words) == "");
    if (engine.label == "lavapipe") CHECK(words == translated_without_policies(engine, bundle));
    if (run(*engine.engine, bundle.program) == expected) continue;
    FAIL_CHECK(engine.label << " differs in a bundle that begins with " << rows[0].text);
    find_difference(engine, *reference, rows);
  }
}

/// Equal for rows whose device code is the same.
std::string translation_key(const PtxRow& row) {
  ir::Program program = without_policies(lower_bundle({row}, kGbuf, kGvar, kCbuf).program);
  for (ir::Site& site : program.sites) site = {};
  for (ir::Block& block : program.blocks)
    for (ir::Inst& inst : block.insts)
      if (inst.mem) inst.mem->cache = {};
  return ir::print(program);
}

std::vector<PtxRow> part_of(const std::vector<PtxRow>& rows, size_t at) {
  const size_t end = std::min(rows.size(), at + kBundleRows);
  return {rows.begin() + static_cast<std::ptrdiff_t>(at),
          rows.begin() + static_cast<std::ptrdiff_t>(end)};
}

/// Removes the rows that lowering refuses, bundle by bundle, and counts them by reason.
void remove_refused(std::vector<PtxRow>& rows, std::map<std::string, size_t>& reasons) {
  std::vector<PtxRow> kept;
  for (size_t at = 0; at < rows.size(); at += kBundleRows) {
    std::vector<PtxRow> part = part_of(rows, at);
    while (!part.empty()) {  // what the parser refuses hides what lowering refuses
      const Bundle bundle = lower_bundle(part, kGbuf, kGvar, kCbuf);
      for (const std::string& reason : bundle.reasons) ++reasons[reason.substr(0, 60)];
      const std::set<size_t> bad(bundle.refused.begin(), bundle.refused.end());
      if (bad.empty()) break;
      REQUIRE(!bad.contains(SIZE_MAX));
      for (auto i = bad.rbegin(); i != bad.rend(); ++i)
        part.erase(part.begin() + static_cast<std::ptrdiff_t>(*i));
    }
    kept.insert(kept.end(), part.begin(), part.end());
  }
  rows = std::move(kept);
}

struct Translation {
  PtxRow row;
  size_t rows = 1;  ///< how many are this one
};

std::vector<Translation> translations_of(const std::vector<PtxRow>& rows) {
  std::vector<Translation> list;
  std::map<std::string, size_t> known;
  for (const PtxRow& row : rows) {
    const auto [it, fresh] = known.try_emplace(translation_key(row), list.size());
    if (fresh)
      list.push_back({row});
    else
      ++list[it->second].rows;
  }
  return list;
}

/// Half of them the commonest, the others by chance.
std::vector<Translation> sampled(std::vector<Translation> list, size_t wanted) {
  if (wanted == 0 || list.size() <= wanted) return list;
  std::ranges::stable_sort(list, [](const auto& a, const auto& b) { return a.rows > b.rows; });
  std::shuffle(list.begin() + static_cast<std::ptrdiff_t>(wanted / 2), list.end(), std::mt19937(7));
  list.resize(wanted);
  return list;
}

}  // namespace

TEST_CASE("every accepted row translates and runs on the reference engine, a sample on devices") {
  size_t wanted = kSample;
  if (const char* text = std::getenv("LANEWISE_PTX_TRANSLATIONS"))
    wanted = std::strtoul(text, nullptr, 10);
  auto groups = accepted_rows();
  size_t accepted = 0, kept = 0, on_devices = 0, translations = 0;
  std::map<std::string, size_t> reasons;
  for (auto& [name, rows] : groups) {
    accepted += rows.size();
    remove_refused(rows, reasons);
    kept += rows.size();
  }
  for (auto& [name, rows] : groups) {
    for (size_t at = 0; at < rows.size(); at += kBundleRows) {
      const Bundle bundle = lower_bundle(part_of(rows, at), kGbuf, kGvar, kCbuf);
      REQUIRE_MESSAGE(bundle.reasons.empty(), bundle.reasons[0], ": ",
                      rows[at + bundle.refused[0]].text);
      const auto problems = ir::verify(bundle.program);
      REQUIRE_MESSAGE(problems.empty(), problems.front());
      run(*test_engines()[0].engine, bundle.program);
    }
    // Small groups are what only one target takes: a few of each.
    const size_t share = wanted == 0 ? 0 : std::max<size_t>(4, wanted * rows.size() / kept);
    std::vector<PtxRow> chosen;
    for (const Translation& t : sampled(translations_of(rows), share)) {
      chosen.push_back(t.row);
      on_devices += t.rows;
      ++translations;
    }
    for (size_t at = 0; at < chosen.size(); at += kBundleRows) run_bundle(part_of(chosen, at));
  }
  for (const auto& [reason, count] : reasons) MESSAGE(count, " rows are refused: ", reason);
  MESSAGE(accepted, " rows are accepted, ", kept, " translate; ", translations, " translations of ",
          on_devices, " rows ran on devices");
  CHECK(accepted > 6000);
  CHECK(kept * 100 > accepted * 98);
  CHECK(on_devices >= std::min(kept, wanted == 0 ? kept : 2000));
  CHECK(validation_messages() == 0);
}
