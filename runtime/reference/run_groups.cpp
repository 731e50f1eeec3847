#include "runtime/reference/run_groups.hpp"

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <thread>

#include "lanewise/error_detail.hpp"
#include "runtime/guest/ended.hpp"
#include "runtime/reference/schedule/orders.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::reference {
namespace {

using Clock = std::chrono::steady_clock;
/// What starting threads costs is little beside that.
constexpr std::chrono::microseconds kAlone{300};
/// Groups that are alive where a schedule chooses.
constexpr uint64_t kTogether = 32;
/// Memory of all groups that run at the same time.
constexpr unsigned long kMostThreads = 1024;
constexpr uint64_t kMostBytes = uint64_t{1} << 28;
/// Groups that stand aside; a large GPU holds a few thousand.
constexpr uint64_t kMostAside = 1024;
/// Turns in which a group gets nowhere before it stands aside.
constexpr uint32_t kTurnsBeforeAside = 16;
/// The same of those in which it may get somewhere and no lane ends, and where others stand aside
/// already.
constexpr uint32_t kTurnsInPlace = 4096, kLaterTurnsInPlace = 256;
/// Turns of one group before another has some.
constexpr uint32_t kTurnsAtATime = 32;
/// The same for all that stand aside, before the first of them uses up its steps.
constexpr uint64_t kMostIdleTurns = uint64_t{1} << 15;

/// The host's arithmetic in its default state (nearest even, subnormals alive) while it lives,
/// whatever the calling application has set.
class DefaultArithmetic {
 public:
  DefaultArithmetic() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultArithmetic() { std::fesetenv(&saved_); }
  DefaultArithmetic(const DefaultArithmetic&) = delete;
  DefaultArithmetic& operator=(const DefaultArithmetic&) = delete;

 private:
  std::fenv_t saved_;
};

/// What one thread's groups did wrong.
struct Findings {
  struct OfGroup {
    uint64_t group, count;
    std::vector<Fault> faults;
  };
  std::vector<OfGroup> groups;  ///< in their order
  size_t faults = 0;
  std::exception_ptr error;
  uint64_t error_group = std::numeric_limits<uint64_t>::max();

  void collect(uint64_t n, Group& group) {
    OfGroup found{n, 0, {}};
    found.count = group.collect(found.faults, kMaxFaults - std::min<size_t>(faults, kMaxFaults));
    faults += found.faults.size();
    if (found.count != 0) groups.push_back(std::move(found));
  }
};

class Groups {
 public:
  Groups(const LaunchRequest& request, const DecodedProgram& program, const MemoryView& memory,
         const Setting& setting, Threads threads)
      : request_(request),
        program_(program),
        memory_(memory),
        setting_(setting),
        total_(request.grid.total()),
        others_(threads.most - 1),
        alone_(threads.asked ? Clock::duration::zero() : kAlone) {}

  void run(LaunchResult& result) {
    if (setting_.orders != nullptr || (setting_.resident && total_ > 1))
      run_together();
    else
      run_apart();
    gather(result);
  }

  /// On this thread alone: one after another, but for those that stand aside.
  void run_patient(uint64_t most_aside, LaunchResult& result) {
    const DefaultArithmetic arithmetic;
    Alive now;
    try {
      for (bool goes_on = true; goes_on && now.number < total_; ++now.number) {
        if (now.group == nullptr)
          now.group = std::make_unique<Group>(request_, program_, memory_, setting_);
        if (!groups_.empty()) now.group->wait_for_others();
        now.group->start(index_of(now.number));
        goes_on = run_patiently(*now.group, groups_.empty() ? kTurnsInPlace : kLaterTurnsInPlace);
        if (goes_on && !now.group->has_ended()) {
          now.group->wait_for_others();
          groups_.push_back({std::move(now.group), now.number});
        } else {
          own_.collect(now.number, *now.group);
        }
        const bool last = now.number + 1 == total_;
        while (goes_on && !groups_.empty() && (last || groups_.size() >= most_aside))
          goes_on = take_turns_until_one_ends();
      }
    } catch (...) {
      own_.error = std::current_exception();
      if (now.group != nullptr && !now.group->has_ended()) own_.collect(now.number, *now.group);
    }
    for (const Alive& a : groups_) own_.collect(a.number, *a.group);
    gather(result);
  }

 private:
  /// With several groups alive, on this thread alone.
  void run_together() {
    const DefaultArithmetic arithmetic;
    try {
      if (setting_.orders == nullptr)
        take_turns();
      else
        take_steps(setting_.resident ? total_ : std::min(total_, kTogether));
    } catch (...) {
      own_.error = std::current_exception();
    }
    for (const Alive& a : groups_)
      if (setting_.orders == nullptr || !a.group->has_ended()) own_.collect(a.number, *a.group);
  }

  void run_apart() {
    std::vector<std::thread> threads;
    run_some(own_, [&](Group& group) {
      if (threads.size() == others_.size() || Clock::now() - start_ < alone_) return;
      if (total_ - std::min(total_, next_.load()) < 2) return;
      group.share();
      for (Findings& findings : others_)
        threads.emplace_back([&] {
          run_some(
              findings, [](Group&) {}, true);
        });
    });
    for (std::thread& t : threads) t.join();
  }

  template <typename Between>
  void run_some(Findings& findings, Between between, bool shared = false) {
    const DefaultArithmetic arithmetic;
    uint64_t n = 0;
    try {
      Group group(request_, program_, memory_, setting_);
      if (shared) group.share();
      for (; (n = next_.fetch_add(1)) < total_ && n < end_; between(group)) {
        try {
          if (!group.run(index_of(n))) end_behind(n);
        } catch (...) {
          findings.collect(n, group);
          throw;
        }
        findings.collect(n, group);
      }
    } catch (...) {
      findings.error = std::current_exception();
      findings.error_group = n;
      end_behind(n);
    }
  }

  struct Alive {
    std::unique_ptr<Group> group;
    uint64_t number = 0;
  };
  /// In a place of its own, or in that of a group that has ended.
  void start(size_t slot, uint64_t number) {
    if (slot == groups_.size())
      groups_.push_back({std::make_unique<Group>(request_, program_, memory_, setting_)});
    groups_[slot].number = number;
    groups_[slot].group->start(index_of(number));
  }

  /// Until it has ended or got nowhere for long; false: the launch is given up.
  static bool run_patiently(Group& group, uint32_t turns_in_place) {
    while (!group.has_ended() && group.idle_turns() < kTurnsBeforeAside &&
           group.turns_in_place() < turns_in_place)
      if (!group.take_turn()) return false;
    return true;
  }

  static bool take_some_turns(Group& group) {
    for (uint32_t n = 0; n < kTurnsAtATime && !group.has_ended(); ++n) {
      if (!group.take_turn()) return false;
      if (group.idle_turns() != 0) break;
    }
    return true;
  }

  /// Of those that stand aside. Where all get nowhere for long, the first uses up its steps. False:
  /// the launch is given up.
  bool take_turns_until_one_ends() {
    const uint64_t most_idle =
        std::max(kMostIdleTurns, request_.step_budget / kResidentSlice / groups_.size());
    const size_t all = groups_.size();
    for (uint64_t idle = 0; groups_.size() == all; ++idle) {
      if (idle >= most_idle) groups_.front().group->stop_waiting();
      for (const Alive& a : groups_) {
        if (!take_some_turns(*a.group)) return false;
        if (a.group->idle_turns() == 0) idle = 0;
      }
      std::erase_if(groups_, [&](const Alive& a) {
        if (a.group->has_ended()) own_.collect(a.number, *a.group);
        return a.group->has_ended();
      });
    }
    return true;
  }

  /// Until all have ended, or one gives the launch up.
  void take_turns() {
    for (uint64_t n = 0; n < total_; ++n) start(n, n);
    for (bool any = true; any;) {
      any = false;
      for (const Alive& a : groups_) {
        if (a.group->has_ended()) continue;
        any = true;
        if (!a.group->take_turn()) return;
      }
    }
  }

  /// Steps as the schedule chooses them.
  void take_steps(uint64_t together) {
    Orders& orders = *setting_.orders;
    uint64_t begun = 0;
    const auto begin = [&](size_t slot) {
      start(slot, orders.group_at(begun++));
      orders.begin(slot, groups_[slot].number, groups_[slot].group->runnable());
    };
    for (size_t slot = 0; slot < together; ++slot) begin(slot);
    for (uint64_t live = together; live != 0;) {
      const size_t slot = orders.pick_group();
      Group& group = *groups_[slot].group;
      if (!group.step(slot)) return;
      if (!group.has_ended()) continue;
      own_.collect(groups_[slot].number, group);
      if (begun < total_)
        begin(slot);
      else
        orders.end(slot), --live;
    }
  }

  /// No group behind it starts any more; those before it run to their ends.
  void end_behind(uint64_t n) {
    uint64_t end = end_.load();
    while (n + 1 < end && !end_.compare_exchange_weak(end, n + 1)) {
    }
  }

  std::array<uint32_t, 3> index_of(uint64_t n) const {
    const Dim3& grid = request_.grid;
    if (request_.last_group_first) n = total_ - 1 - n;
    return {static_cast<uint32_t>(n % grid.x), static_cast<uint32_t>(n / grid.x % grid.y),
            static_cast<uint32_t>(n / grid.x / grid.y)};
  }

  void gather(LaunchResult& result) {
    std::vector<Findings::OfGroup> all;
    const Findings* failed = nullptr;
    const auto gather_from = [&](Findings& f) {
      for (Findings::OfGroup& g : f.groups)
        if (g.group < end_) all.push_back(std::move(g));
      if (f.error != nullptr && (failed == nullptr || f.error_group < failed->error_group))
        failed = &f;
    };
    gather_from(own_);
    std::ranges::for_each(others_, gather_from);
    std::ranges::sort(all, {}, &Findings::OfGroup::group);
    for (const Findings::OfGroup& g : all) {
      result.fault_count += g.count;
      const size_t some = std::min(g.faults.size(), kMaxFaults - result.faults.size());
      result.faults.insert(result.faults.end(), g.faults.begin(),
                           g.faults.begin() + static_cast<ptrdiff_t>(some));
    }
    if (failed == nullptr) return;
    try {
      std::rethrow_exception(failed->error);
    } catch (const DetailedError& why) {
      throw guest::Ended(why, std::move(result));
    }
  }

  const LaunchRequest& request_;
  const DecodedProgram& program_;
  const MemoryView& memory_;
  const Setting& setting_;
  const uint64_t total_;
  Findings own_;                  ///< of the launching thread's groups
  std::vector<Findings> others_;  ///< of each other thread's
  std::vector<Alive> groups_;     ///< where several are alive
  const Clock::duration alone_;   ///< before they start
  std::atomic<uint64_t> next_ = 0;
  std::atomic<uint64_t> end_ = std::numeric_limits<uint64_t>::max();
  const Clock::time_point start_ = Clock::now();
};

}  // namespace

Threads threads_for(uint64_t group_bytes) {
  const char* env = std::getenv("LANEWISE_THREADS");
  char* end = nullptr;
  const unsigned long asked = env != nullptr && *env != '\0' ? std::strtoul(env, &end, 10) : 0;
  if (end != nullptr && (*end != '\0' || asked == 0 || asked > kMostThreads))
    throw Error(ErrorKind::usage, "LANEWISE_THREADS is '" + std::string(env) + "'; 1 to " +
                                      std::to_string(kMostThreads) + " was expected");
  const uint32_t cores =
      asked != 0 ? static_cast<uint32_t>(asked) : std::max(std::thread::hardware_concurrency(), 1U);
  const uint64_t fit = kMostBytes / std::max<uint64_t>(group_bytes, 1);
  return {static_cast<uint32_t>(std::clamp<uint64_t>(fit, 1, cores)), asked != 0};
}

void run_groups(const LaunchRequest& request, const DecodedProgram& program,
                const MemoryView& memory, const Setting& setting, Threads threads,
                LaunchResult& result) {
  Groups(request, program, memory, setting, threads).run(result);
}

void run_patient_groups(const LaunchRequest& request, const DecodedProgram& program,
                        const MemoryView& memory, const Setting& setting, uint64_t group_bytes,
                        LaunchResult& result) {
  const uint64_t fit = kMostBytes / std::max<uint64_t>(group_bytes, 1);
  Groups(request, program, memory, setting, {})
      .run_patient(std::clamp<uint64_t>(fit, 1, kMostAside), result);
}

}  // namespace lanewise::reference
