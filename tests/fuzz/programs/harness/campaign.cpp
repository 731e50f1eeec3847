#include "tests/fuzz/programs/harness/campaign.hpp"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "runtime/script/script.hpp"
#include "tests/fuzz/programs/harness/engines.hpp"
#include "tests/fuzz/programs/harness/shrink.hpp"

namespace lanewise::programs {
namespace {

constexpr unsigned kEnough = 5;  ///< mismatches

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// What all threads share.
struct Board {
  explicit Board(const CampaignOptions& o) : next(o.seed), times(targets(o.device).size()) {}
  std::atomic<uint64_t> next;
  std::atomic<uint64_t> done = 0;
  std::atomic<unsigned> wrong = 0;
  std::mutex printing;
  struct Time {
    std::atomic<uint64_t> programs = 0, refused = 0, too_large = 0, microseconds = 0;
  };
  std::vector<Time> times;
};

class Worker {
 public:
  Worker(const InstructionSet& set, const CampaignOptions& options, Board& board)
      : set_(set), o_(options), board_(board), targets_(targets(options.device)) {}

  void run(double end) {
    while (board_.wrong < kEnough) {
      const uint64_t seed = board_.next++;
      if (o_.seconds > 0 ? now() >= end : seed >= o_.seed + o_.programs) return;
      program(seed);
      ++board_.done;
    }
  }

 private:
  Setup setup(uint64_t seed) const {
    Setup s{o_.memchecks[seed % o_.memchecks.size()], o_.wave, o_.schedules[0]};
    using Passes = CampaignOptions::Passes;
    s.passes = o_.passes == Passes::on || (o_.passes == Passes::mix && seed % 4 != 0);
    return s;
  }

  void program(uint64_t seed) {
    const Made made = make_program(seed, set_, o_.choices);
    try {
      const Compiled compiled = compile(made.program, set_, made.style);
      const Outcome outcome = evaluate(made.program).value();
      for (size_t n = 0; n < targets_.size(); ++n) on_target(made, compiled, outcome, n);
    } catch (const std::exception& e) {
      const std::lock_guard lock(board_.printing);
      ++board_.wrong;
      fmt::print("FAILED {} seed {}: {}\n", set_.name, seed, e.what());
      std::fflush(stdout);
    }
  }

  void on_target(const Made& made, const Compiled& compiled, const Outcome& outcome, size_t n) {
    const Target& target = targets_[n];
    Board::Time& time = board_.times[n];
    const double start = now();
    const bool reference = target.label == "reference";
    Setup how = setup(made.program.seed);
    std::optional<std::string> what;
    try {
      const bool both = reference && o_.passes == CampaignOptions::Passes::mix;
      for (size_t k = 0; k < (reference ? o_.schedules.size() : 1) && !what; ++k) {
        how.schedule = o_.schedules[k];
        for (int ways = both ? 2 : 1; ways > 0 && !what; --ways) {
          if (both) how.passes = ways == 1;
          what = programs::run(engines_.at(target), compiled, made.program, outcome, how);
        }
      }
    } catch (const Error& e) {
      // In lane and wave mode a device runs operations across lanes only where it knows who comes.
      const std::string_view text = e.what();
      const char* const excuse = o_.wave == WaveMode::lane     ? "cannot run in lane mode"
                                 : o_.wave == WaveMode::packed ? "cannot be kept together"
                                                               : nullptr;
      if (excuse != nullptr && e.kind() == ErrorKind::guest &&
          text.find(excuse) != std::string_view::npos) {
        ++time.refused;
      } else if (e.kind() == ErrorKind::device &&
                 text.find("is too large for this driver's compiler") != std::string_view::npos) {
        ++time.too_large;
      } else {
        report(made, target, how, fmt::format("cannot run: {}", e.what()));
      }
      return;
    }
    time.microseconds += static_cast<uint64_t>(1e6 * (now() - start));
    ++time.programs;
    if (what) report(made, target, how, *what);
  }

  bool fails(const Made& m, const Target& target, const Setup& how) {
    try {
      const auto outcome = evaluate(m.program);
      if (!outcome) return false;
      const Compiled compiled = compile(m.program, set_, m.style);
      try {
        return programs::run(engines_.at(target), compiled, m.program, *outcome, how).has_value();
      } catch (const Error&) {
        return true;
      }
    } catch (const std::exception&) {
      return false;
    }
  }

  /// The script is run as `lanewise run` does it.
  bool script_fails(const std::string& text, const Target& target) {
    script::Script parsed = script::parse(text);
    if (!parsed.ok() || parsed.cases.size() != 1) return false;
    // What was wrong may be that the program does not end.
    parsed.cases[0].policies.emplace_back("steps", std::to_string(kStepBudget));
    const script::CaseResult r = script::run(parsed.cases[0], engines_.at(target));
    return r.diagnostics.empty() && !r.ok();
  }

  static const char* schedule_name(WaveSchedule schedule) {
    if (schedule == WaveSchedule::automatic) return "";
    return schedule == WaveSchedule::lockstep ? ", lockstep" : ", until_stop";
  }

  void report(const Made& made, const Target& target, const Setup& how, const std::string& what) {
    ++board_.wrong;
    const uint64_t seed = made.program.seed;
    {
      const std::lock_guard lock(board_.printing);
      fmt::print(
          "MISMATCH {} seed {} on {} (program {} of this run{}): {}\n", set_.name, seed,
          target.label, seed - o_.seed + 1,
          fmt::format("{}{}", schedule_name(how.schedule), how.passes ? ", after the passes" : ""),
          what);
      std::fflush(stdout);
    }
    const Made least = shrink(
        made, [&](const Made& m) { return fails(m, target, how); }, o_.shrink_seconds);
    const std::string text =
        fmt::format("# fuzz_programs --isa {} --seed {} on {}: {}\n", set_.name, seed, target.label,
                    what) +
        case_script(least.program, set_, set_.print(least.program, least.style),
                    evaluate(least.program).value(), how, "found by random programs");
    const std::string path =
        fmt::format("{}/program_{}_{}_{}.lw", o_.out, set_.name, seed, target.label);
    std::ofstream(path) << text;
    const bool alone = script_fails(text, target);
    const std::lock_guard lock(board_.printing);
    fmt::print("{}: {}, {} statements of {}\n", path,
               alone ? "fails when run alone" : "does NOT fail when run alone",
               statements(least.program), statements(made.program));
    std::fflush(stdout);
  }
  static size_t statements(const Program& p) {
    size_t n = 0;
    each_statement(p, [&](const Statement&) { ++n; });
    return n;
  }

  const InstructionSet& set_;
  const CampaignOptions& o_;
  Board& board_;
  const std::vector<Target> targets_;
  Engines engines_;
};

std::string counted(uint64_t count, std::string_view what) {
  return count == 0 ? "" : fmt::format(" ({} {})", count, what);
}

}  // namespace

bool run_campaign(const InstructionSet& set, const CampaignOptions& options) {
  {
    // A device that cannot be opened is one error here, and no mismatch of each program.
    Engines engines;
    for (const Target& target : targets(options.device)) engines.at(target);
  }
  std::filesystem::create_directories(options.out);
  Board board(options);
  const double start = now(), end = start + options.seconds;
  std::vector<std::thread> threads;
  for (unsigned n = 0; n < options.jobs; ++n)
    threads.emplace_back([&] { Worker(set, options, board).run(end); });
  for (std::thread& t : threads) t.join();
  fmt::print("{}: {} programs from seed {}, {} mismatches, {:.1f} s;", set.name, board.done.load(),
             options.seed, board.wrong.load(), now() - start);
  const std::vector<Target> list = targets(options.device);
  for (size_t n = 0; n < list.size(); ++n)
    fmt::print(" {} {:.2f} ms a program{}{};", list[n].label,
               1e-3 * static_cast<double>(board.times[n].microseconds) /
                   static_cast<double>(std::max<uint64_t>(1, board.times[n].programs)),
               counted(board.times[n].refused, "cannot run in this mode"),
               counted(board.times[n].too_large, "too large for the driver's compiler"));
  if (const uint64_t ended = ended_by_drivers.exchange(0); ended != 0)
    fmt::print(" {} runs were ended by the driver's limit of loops;", ended);
  fmt::print("\n");
  std::fflush(stdout);
  return board.wrong == 0;
}

void show(const InstructionSet& set, const CampaignOptions& options, const std::string& what) {
  const Made made = make_program(options.seed, set, options.choices);
  const Text text = set.print(made.program, made.style);
  if (what == "text") {
    fmt::print("{}{}", text.declarations, text.code);
    return;
  }
  const Setup setup{options.memchecks[options.seed % options.memchecks.size()], options.wave};
  fmt::print("{}", case_script(made.program, set, text, evaluate(made.program).value(), setup,
                               fmt::format("program {}", options.seed)));
}

}  // namespace lanewise::programs
