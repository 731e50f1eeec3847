// The memory model of PTX under schedules with weak memory: what it forbids never shows in 10,000
// rounds of a shape, what it allows does.
#include <functional>

#include "tests/unit/ptx/lower_support.hpp"
#include "tests/unit/run_support.hpp"

using namespace lanewise;
using ptx::test::lower_text;

namespace {

constexpr uint32_t kRounds = 10000, kRoundsOfLaunch = 1000, kWords = 8;

/// Values of a round: what its threads' reads gave, in the order of the text, and what x, y and z
/// are at its end.
struct Round {
  const uint32_t* reads;
  uint32_t x, y, z;
};
using Seen = std::function<bool(const Round&)>;

/// Threads are separated by '|', lines by ';': `st.relaxed.gpu x 1`, `ld.acquire.gpu y`,
/// `atom.add.relaxed.gpu x 1`, `fence.sc.gpu`, `st.relaxed.gpu y r0` (what read 0 gave), `bar`.
struct Shape {
  const char* name;
  const char* threads;
  Seen seen;
  bool across = false;  ///< each thread in a group of its own
};

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> out(1);
  for (const char c : text)
    if (c == at)
      out.emplace_back();
    else if (c != ' ' || !out.back().empty())
      out.back() += c;
  for (std::string& s : out)
    while (s.ends_with(' ')) s.pop_back();
  return out;
}

std::string line_of(const std::string& text, uint32_t& reads) {
  const std::vector<std::string> word = split(text, ' ');
  const auto place = [&] { return "[%rd1+" + std::to_string(4 * (word[1][0] - 'x')) + "]"; };
  const auto value = [&](const std::string& v) { return v[0] == 'r' ? "%r1" + v.substr(1) : v; };
  const std::string dot =
      word[0].find('.') == std::string::npos ? "" : word[0].substr(0, word[0].find('.'));
  if (word[0] == "bar") return "bar.sync 0;\n";
  if (dot == "fence") return word[0] + ";\n";
  if (dot == "st") return word[0] + ".global.u32 " + place() + ", " + value(word[2]) + ";\n";
  const std::string result = "%r1" + std::to_string(reads++);
  if (dot == "ld") return word[0] + ".global.u32 " + result + ", " + place() + ";\n";
  // atom.add.relaxed.gpu
  const std::vector<std::string> part = split(word[0], '.');
  return "atom." + part[2] + "." + part[3] + ".global." + part[1] +
         (part[1] == "exch" ? ".b32 " : ".u32 ") + result + ", " + place() + ", " + value(word[2]) +
         ";\n";
}

std::string kernel_of(const Shape& shape, uint32_t threads) {
  const std::string n = std::to_string(threads);
  std::string text =
      ".version 7.8\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 memory) {\n"
      ".reg .pred %p<8>;\n.reg .b32 %r<32>;\n.reg .b64 %rd<8>;\nld.param.u64 %rd1, [memory];\n"
      "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n";
  if (shape.across) text += "rem.u32 %r1, %r2, " + n + ";\ndiv.u32 %r2, %r2, " + n + ";\n";
  text +=
      "mul.wide.u32 %rd2, %r2, " + std::to_string(4 * kWords) + ";\nadd.u64 %rd1, %rd1, %rd2;\n";
  uint32_t reads = 0, thread = 0;
  for (const std::string& lines : split(shape.threads, '|')) {
    const uint32_t first = reads;
    const std::string number = std::to_string(thread++);
    text += "setp.ne.u32 %p1, %r1, " + number + ";\n@%p1 bra next" + number + ";\n";
    for (const std::string& line : split(lines, ';')) text += line_of(line, reads);
    for (uint32_t r = first; r < reads; ++r)
      text += "st.global.u32 [%rd1+" + std::to_string(12 + 4 * r) + "], %r1" + std::to_string(r) +
              ";\n";
    text += "ret;\nnext" + number + ":\n";
  }
  return text + "ret;\n}\n";
}

/// How many rounds showed it, of launches until one does, or of all.
uint32_t shown(const Shape& shape, bool once) {
  const auto threads = static_cast<uint32_t>(split(shape.threads, '|').size());
  const ptx::LowerResult lowered = lower_text(kernel_of(shape, threads));
  REQUIRE_MESSAGE(lowered.diagnostics.empty(), shape.name, ptx::test::text(lowered.diagnostics));
  test::Bench bench;
  const std::vector<uint32_t> zeros(kRoundsOfLaunch * kWords);
  const uint64_t memory = bench.put(zeros);
  bench.arg(memory);
  uint32_t count = 0;
  for (uint32_t launch = 0; launch < kRounds / kRoundsOfLaunch && (count == 0 || !once); ++launch) {
    bench.write(memory, zeros);
    const auto result = bench.run(
        lowered.module.kernels.at(0), shape.across ? threads * kRoundsOfLaunch : kRoundsOfLaunch,
        shape.across ? 1 : threads, "random:" + std::to_string(launch + 8) + ",weak");
    REQUIRE(result.faults.empty());
    const auto words = bench.get<uint32_t>(memory, zeros.size());
    for (size_t at = 0; at < words.size(); at += kWords)
      if (shape.seen({&words[at + 3], words[at], words[at + 1], words[at + 2]})) ++count;
  }
  return count;
}

bool reads(const Round& r, std::initializer_list<uint32_t> values) {
  return std::equal(values.begin(), values.end(), r.reads);
}
Seen read(std::initializer_list<uint32_t> values) {
  return [values = std::vector<uint32_t>(values)](const Round& r) {
    return std::equal(values.begin(), values.end(), r.reads);
  };
}

std::vector<Shape> allowed() {
  const Seen mp = read({1, 0}), none = read({0, 0}), ones = read({1, 1}), iriw = read({1, 0, 1, 0});
  return {
      {"MP, weak", "st.weak x 1; st.weak y 1 | ld.weak y; ld.weak x", mp},
      {"MP, relaxed", "st.relaxed.gpu x 1; st.relaxed.gpu y 1 | ld.relaxed.gpu y; ld.relaxed.gpu x",
       mp},
      {"MP, released, not acquired",
       "st.relaxed.gpu x 1; st.release.gpu y 1 | ld.relaxed.gpu y; ld.relaxed.gpu x", mp},
      {"MP, acquired, not released",
       "st.relaxed.gpu x 1; st.relaxed.gpu y 1 | ld.acquire.gpu y; ld.relaxed.gpu x", mp},
      {"MP, a fence before a weak store",
       "st.weak x 1; fence.acq_rel.gpu; st.weak y 1 | ld.acquire.gpu y; ld.weak x", mp},
      {"MP, fences of the group between groups",
       "st.weak x 1; fence.acq_rel.cta; st.relaxed.gpu y 1 | "
       "ld.relaxed.gpu y; fence.acq_rel.gpu; ld.weak x",
       mp, true},
      {"MP, released to the group, acquired in another",
       "st.weak x 1; st.release.cta y 1 | ld.acquire.gpu y; ld.weak x", mp, true},
      {"SB, relaxed", "st.relaxed.gpu x 1; ld.relaxed.gpu y | st.relaxed.gpu y 1; ld.relaxed.gpu x",
       none},
      {"SB, released and acquired",
       "st.release.gpu x 1; ld.acquire.gpu y | st.release.gpu y 1; ld.acquire.gpu x", none},
      {"SB, fence.acq_rel",
       "st.relaxed.gpu x 1; fence.acq_rel.gpu; ld.relaxed.gpu y | "
       "st.relaxed.gpu y 1; fence.acq_rel.gpu; ld.relaxed.gpu x",
       none},
      {"LB, weak", "ld.weak x; st.weak y 1 | ld.weak y; st.weak x 1", ones},
      {"LB, relaxed", "ld.relaxed.gpu x; st.relaxed.gpu y 1 | ld.relaxed.gpu y; st.relaxed.gpu x 1",
       ones, true},
      {"LB, one side depends",
       "ld.relaxed.gpu x; st.relaxed.gpu y 1 | ld.relaxed.gpu y; st.relaxed.gpu x r1", ones},
      {"LB, one side is fenced",
       "ld.relaxed.gpu x; st.relaxed.gpu y 1 | "
       "ld.relaxed.gpu y; fence.acq_rel.gpu; st.relaxed.gpu x 1",
       ones},
      {"IRIW, relaxed",
       "st.relaxed.gpu x 1 | st.relaxed.gpu y 1 | ld.relaxed.gpu x; ld.relaxed.gpu y | "
       "ld.relaxed.gpu y; ld.relaxed.gpu x",
       iriw},
      {"IRIW, released and acquired, between groups",
       "st.release.gpu x 1 | st.release.gpu y 1 | ld.acquire.gpu x; ld.acquire.gpu y | "
       "ld.acquire.gpu y; ld.acquire.gpu x",
       iriw, true},
      {"IRIW, fence.acq_rel",
       "st.relaxed.gpu x 1 | st.relaxed.gpu y 1 | "
       "ld.relaxed.gpu x; fence.acq_rel.gpu; ld.relaxed.gpu y | "
       "ld.relaxed.gpu y; fence.acq_rel.gpu; ld.relaxed.gpu x",
       iriw},
      {"WRC, relaxed",
       "st.relaxed.gpu x 1 | ld.relaxed.gpu x; st.relaxed.gpu y 1 | "
       "ld.relaxed.gpu y; ld.relaxed.gpu x",
       read({1, 1, 0})},
      {"2+2W, relaxed",
       "st.relaxed.gpu x 1; st.relaxed.gpu y 2 | st.relaxed.gpu y 1; st.relaxed.gpu x 2",
       [](const Round& r) { return r.x == 1 && r.y == 1; }},
      {"S, relaxed",
       "st.relaxed.gpu x 2; st.relaxed.gpu y 1 | ld.relaxed.gpu y; st.relaxed.gpu x 1",
       [](const Round& r) { return reads(r, {1}) && r.x == 2; }},
      {"R, relaxed",
       "st.relaxed.gpu x 1; st.relaxed.gpu y 1 | st.relaxed.gpu y 2; ld.relaxed.gpu x",
       [](const Round& r) { return reads(r, {0}) && r.y == 2; }},
  };
}

std::vector<Shape> forbidden() {
  const Seen mp = read({1, 0}), none = read({0, 0}), ones = read({1, 1}), iriw = read({1, 0, 1, 0});
  return {
      {"MP, released and acquired", "st.weak x 1; st.release.gpu y 1 | ld.acquire.gpu y; ld.weak x",
       mp},
      {"MP, released and acquired between groups",
       "st.weak x 1; st.release.gpu y 1 | ld.acquire.gpu y; ld.weak x", mp, true},
      {"MP, fences",
       "st.weak x 1; fence.acq_rel.gpu; st.relaxed.gpu y 1 | "
       "ld.relaxed.gpu y; fence.acq_rel.gpu; ld.weak x",
       mp, true},
      {"MP, fences of the group in it",
       "st.weak x 1; fence.acq_rel.cta; st.relaxed.cta y 1 | "
       "ld.relaxed.cta y; fence.acq_rel.cta; ld.weak x",
       mp},
      {"MP, a relaxed store behind the release",
       "st.weak x 1; st.release.gpu y 1; st.relaxed.gpu y 2 | ld.acquire.gpu y; ld.weak x",
       read({2, 0})},
      {"MP, an acquire behind a relaxed read",
       "st.weak x 1; st.release.gpu y 1; st.relaxed.gpu z 1 | "
       "ld.relaxed.gpu y; ld.acquire.gpu y; ld.weak x",
       read({1, 1, 0})},
      {"MP, an atomic in between",
       "st.weak x 1; st.release.gpu y 1 | atom.add.relaxed.gpu y 1 | ld.acquire.gpu y; ld.weak x",
       [](const Round& r) {
         return reads(r, {1, 2, 0});
       },
       true},
      {"MP, atomics",
       "st.weak x 1; atom.exch.release.gpu y 1 | atom.exch.acquire.gpu y 2; ld.weak x",
       [](const Round& r) { return r.reads[1] == 1 && r.reads[2] == 0; }, true},
      {"MP, a barrier", "st.weak x 1; bar | bar; ld.weak x", read({0})},
      {"SB, fence.sc",
       "st.relaxed.gpu x 1; fence.sc.gpu; ld.relaxed.gpu y | "
       "st.relaxed.gpu y 1; fence.sc.gpu; ld.relaxed.gpu x",
       none, true},
      {"SB, fence.sc of the group in it",
       "st.relaxed.gpu x 1; fence.sc.cta; ld.relaxed.gpu y | "
       "st.relaxed.gpu y 1; fence.sc.gpu; ld.relaxed.gpu x",
       none},
      {"LB, fences",
       "ld.relaxed.gpu x; fence.acq_rel.gpu; st.relaxed.gpu y 1 | "
       "ld.relaxed.gpu y; fence.acq_rel.gpu; st.relaxed.gpu x 1",
       ones, true},
      {"LB, released and acquired",
       "ld.acquire.gpu x; st.release.gpu y 1 | ld.acquire.gpu y; st.release.gpu x 1", ones},
      {"LB, relaxed loads and releases",
       "ld.relaxed.gpu x; st.release.gpu y 1 | ld.acquire.gpu y; st.relaxed.gpu x 1", ones},
      {"LB, both sides depend: nothing out of thin air",
       "ld.relaxed.gpu x; st.relaxed.gpu y r0 | ld.relaxed.gpu y; st.relaxed.gpu x r1",
       [](const Round& r) { return r.reads[0] != 0 || r.reads[1] != 0; }},
      {"IRIW, fence.sc",
       "st.relaxed.gpu x 1 | st.relaxed.gpu y 1 | "
       "ld.relaxed.gpu x; fence.sc.gpu; ld.relaxed.gpu y | "
       "ld.relaxed.gpu y; fence.sc.gpu; ld.relaxed.gpu x",
       iriw, true},
      {"WRC, released and acquired",
       "st.weak x 1 | ld.relaxed.gpu x; st.release.gpu y 1 | ld.acquire.gpu y; ld.relaxed.gpu x",
       read({1, 1, 0}), true},
      {"ISA2, released and acquired",
       "st.weak x 1; st.release.gpu y 1 | ld.acquire.gpu y; st.release.gpu z 1 | "
       "ld.acquire.gpu z; ld.weak x",
       read({1, 1, 0}), true},
      {"RWC, fence.sc",
       "st.relaxed.gpu x 1 | ld.relaxed.gpu x; fence.sc.gpu; ld.relaxed.gpu y | "
       "st.relaxed.gpu y 1; fence.sc.gpu; ld.relaxed.gpu x",
       read({1, 0, 0})},
      {"2+2W, fence.sc",
       "st.relaxed.gpu x 1; fence.sc.gpu; st.relaxed.gpu y 2 | "
       "st.relaxed.gpu y 1; fence.sc.gpu; st.relaxed.gpu x 2",
       [](const Round& r) { return r.x == 1 && r.y == 1; }},
      {"S, released and acquired",
       "st.relaxed.gpu x 2; st.release.gpu y 1 | ld.acquire.gpu y; st.relaxed.gpu x 1",
       [](const Round& r) { return reads(r, {1}) && r.x == 2; }},
      {"R, fence.sc",
       "st.relaxed.gpu x 1; fence.sc.gpu; st.relaxed.gpu y 1 | "
       "st.relaxed.gpu y 2; fence.sc.gpu; ld.relaxed.gpu x",
       [](const Round& r) { return reads(r, {0}) && r.y == 2; }},
      {"CoRR", "st.relaxed.gpu x 1 | ld.relaxed.gpu x; ld.relaxed.gpu x", mp},
      {"CoRR, two readers of two stores",
       "st.relaxed.gpu x 1 | st.relaxed.gpu x 2 | ld.relaxed.gpu x; ld.relaxed.gpu x | "
       "ld.relaxed.gpu x; ld.relaxed.gpu x",
       read({1, 2, 2, 1}), true},
      {"CoWW", "st.relaxed.gpu x 1; st.relaxed.gpu x 2", [](const Round& r) { return r.x != 2; }},
      {"CoWR", "st.relaxed.gpu x 1; ld.relaxed.gpu x | st.relaxed.gpu x 2",
       [](const Round& r) { return reads(r, {0}) || (reads(r, {2}) && r.x == 1); }},
      {"CoRW", "ld.relaxed.gpu x; st.relaxed.gpu x 1",
       [](const Round& r) { return !reads(r, {0}); }},
      {"CoRW, of another store", "ld.relaxed.gpu x; st.relaxed.gpu x 1 | st.relaxed.gpu x 2",
       [](const Round& r) { return reads(r, {2}) && r.x == 2; }},
      {"atomics lose nothing",
       "atom.add.relaxed.gpu x 1 | atom.add.relaxed.gpu x 1 | atom.add.relaxed.gpu x 1",
       [](const Round& r) {
         return r.x != 3 || r.reads[0] + r.reads[1] + r.reads[2] != 3 || r.reads[0] == r.reads[1];
       },
       true},
      {"no store between an atomic and what it read",
       "atom.add.relaxed.gpu x 4 | st.relaxed.gpu x 1",
       [](const Round& r) { return r.x != 1 && r.x != 5; }},
  };
}

}  // namespace

TEST_CASE("litmus: what PTX allows shows") {
  for (const Shape& shape : allowed()) {
    CAPTURE(std::string(shape.name));
    CHECK(shown(shape, true) > 0);
  }
}

TEST_CASE("litmus: what PTX forbids never shows in 10,000 rounds") {
  for (const Shape& shape : forbidden()) {
    CAPTURE(std::string(shape.name));
    CHECK(shown(shape, false) == 0);
  }
}
