// The kernels of the benchmarks under CUDA and through Lanewise: the same PTX, inputs and results.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "runtime/bench/pairs/guest_text.hpp"
#include "runtime/bench/pairs/sides.hpp"
#include "tests/hardware/device/rows.hpp"
#include "tests/hardware/truth/both.hpp"

namespace lanewise::truth {
namespace {

using bench::Pair;
using bench::Problem;
using kit::Json;

constexpr unsigned kRounds = 10;

double median(std::vector<double> v) {
  std::ranges::sort(v);
  return v[v.size() / 2];
}

Shape shape_of(const Pair& p) {
  return {{p.grid.x, p.grid.y, p.grid.z}, {p.block.x, p.block.y, p.block.z}, p.dynamic_shared};
}

/// Milliseconds under CUDA, after a round that compiles; `wrong`: what the host's model says.
double native_ms(const Card& card, const Pair& pair, const Problem& problem, unsigned rounds,
                 std::string& wrong) {
  const auto program = card.load(std::string(bench::guest_text(pair.file)));
  std::vector<std::unique_ptr<Memory>> memory;
  for (const bench::Bytes& b : problem.buffers) memory.push_back(card.allocate(b.size()));
  std::vector<std::vector<std::byte>> arguments;
  std::istringstream names(pair.parameters);
  for (std::string name; names >> name;) {
    const auto index = static_cast<size_t>(name[1] - '0');
    arguments.push_back(name[0] == 'p'   ? argument(memory.at(index)->address())
                        : name[0] == 'i' ? argument(problem.integers.at(index))
                                         : argument(problem.number));
  }
  std::vector<double> times;
  for (unsigned n = 0; n <= rounds; ++n) {
    for (size_t i = 0; i < memory.size(); ++i) memory[i]->write(problem.buffers[i]);
    const double ms = program->timed(pair.kernel, shape_of(pair), arguments);
    if (n != 0) times.push_back(ms);
  }
  std::vector<bench::Bytes> after = problem.buffers;
  for (size_t i = 0; i < after.size(); ++i) memory[i]->read(after[i]);
  wrong = problem.wrong(after);
  return median(times);
}

/// The row with what `measure` puts in; where either side refuses, with the reason. A lost device
/// ends the table.
template <typename Measure>
void print_measured(Json& row, const Measure& measure) {
  const auto failed = [&](const char* why) {
    row.erase("value");
    row["failed"] = why;
  };
  try {
    measure();
  } catch (const Refused& e) {
    failed(e.what());
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::device) throw;
    failed(e.what());
  }
  kit::print_row(row);
}

/// What NVIDIA's compiler takes for the pair's file, beside translation and Vulkan's compiler for
/// the one kernel.
void compile_times(Bench& bench, const std::string& name, const Pair& pair,
                   const Problem& problem) {
  Json row = kit::figure(fmt::format("{}/{}/compile", name, pair.name), 0, "ms");
  row["beside"] = "CUDA, the whole file";
  print_measured(row, [&] {
    row["other"] = bench.card.compile_ms(std::string(bench::guest_text(pair.file)));
    bench::GuestSide guest(pair, problem, bench.ours.info().name, Memcheck::off);
    guest.run();
    row["value"] = guest.first_times().translate_ms + guest.first_times().pipeline_ms;
    row["translate_ms"] = guest.first_times().translate_ms;
  });
}

double copy_rate(const Card& card, uint64_t bytes) {
  const auto from = card.allocate(bytes), to = card.allocate(bytes);
  // Events around a launch of nothing cannot time a copy; the host's clock can, when it is long.
  to->copy_from(*from, bytes);
  const auto start = std::chrono::steady_clock::now();
  for (unsigned n = 0; n < kRounds; ++n) to->copy_from(*from, bytes);
  const double s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / kRounds;
  return 2e-9 * static_cast<double>(bytes) / s;
}

}  // namespace

bool speed_table(Bench& bench, const std::string& name) {
  const unsigned rounds = bench.small ? 1 : kRounds;
  bool right = true;
  Json copy = kit::figure(fmt::format("{}/cuMemcpyDtoD", name),
                          copy_rate(bench.card, bench.small ? 1 << 20 : uint64_t{1} << 30), "GB/s");
  kit::print_row(copy);
  for (const Pair& pair : bench::ptx_pairs()) {
    if (bench.small && pair.name != "copy1") continue;
    if (pair.name.ends_with(".unrolled")) continue;  // the same guest kernel beside other GLSL
    if (pair.texture.name != nullptr) continue;      // CUDA binds no texture to a module's variable
    const Problem problem = pair.problem();
    for (const Memcheck check : {Memcheck::alloc, Memcheck::off}) {
      const std::string key =
          fmt::format("{}/{}{}", name, pair.name, check == Memcheck::off ? "/off" : "");
      Json row = kit::figure(key, 0, "ms");
      print_measured(row, [&] {
        std::string wrong_there;
        row["beside"] = "CUDA";
        row["other"] = native_ms(bench.card, pair, problem, rounds, wrong_there);
        if (!wrong_there.empty()) row["card_wrong"] = wrong_there;
        bench::GuestSide guest(pair, problem, bench.ours.info().name, check);
        guest.run();
        std::vector<double> times;
        for (unsigned n = 0; n < rounds; ++n) times.push_back(guest.run().ms);
        row["value"] = median(times);
        if (const std::string wrong = guest.wrong(); !wrong.empty()) {
          row["wrong"] = wrong;
          right = false;
        }
      });
    }
    compile_times(bench, name, pair, problem);
  }
  return right;
}

}  // namespace lanewise::truth
