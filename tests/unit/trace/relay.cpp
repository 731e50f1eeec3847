// A trace to sinks in threads of their own (trace::Relay): all of it, in its order, errors
// included.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <random>

#include "runtime/support/error.hpp"
#include "runtime/trace/formats.hpp"
#include "runtime/trace/relay.hpp"

namespace lanewise::trace {
namespace {

/// Writes down what it gets.
class RelayLog final : public Sink {
 public:
  explicit RelayLog(uint64_t fails_at = ~uint64_t{0}) : fails_at_(fails_at) {}
  void kernel(const Kernel& k) override { add("kernel " + k.name); }
  void site(const Site& s) override { add("site " + s.text); }
  void buffer(const Buffer& b) override { add("buffer " + b.name); }
  void event(const Event& e) override {
    if (e.kind != EventKind::wave) return add(fmt::format("event {}", int(e.kind)));
    add(fmt::format("wave {} {} {} {} {:x} {:x} {} {}", e.wave.site, e.wave.group, e.wave.wave,
                    e.wave.sm, e.wave.mask, e.wave.base, e.wave.stride, e.wave.deltas.size()));
  }
  void finish() override { add("finish"); }
  std::string text;

 private:
  void add(const std::string& line) {
    if (count_++ == fails_at_) throw Error(ErrorKind::usage, fmt::format("fails at {}", fails_at_));
    text += line + "\n";
  }
  uint64_t count_ = 0, fails_at_;
};

void play_to(Sink& to, size_t events, unsigned seed) {
  std::mt19937_64 random(seed);
  Kernel k;
  k.name = "k";
  to.kernel(k);
  Event e;
  std::vector<StridedWave> waves;
  for (size_t i = 0; i < events;) {
    Site s;
    s.text = fmt::format("at {}", i);
    if (random() % 50 == 0) to.site(s);
    if (random() % 80 == 0) to.buffer({fmt::format("b{}", i), 1, 2, false, false});
    if (random() % 4 == 0) {
      e.wave = {};
      e.wave.base = random();
      e.wave.deltas.assign(random() % 40, 1);
      e.kind = random() % 9 == 0 ? EventKind::kernel_end : EventKind::wave;
      to.event(e);
      ++i;
      continue;
    }
    waves.resize(1 + random() % 900);
    for (StridedWave& w : waves)
      w = {static_cast<uint32_t>(random() % 9),
           static_cast<uint32_t>(i++),
           1,
           2,
           random(),
           random(),
           4};
    to.waves(waves);
  }
  to.finish();
}

TEST_CASE("trace relay: several sinks get what one gets") {
  for (unsigned seed = 1; seed < 4; ++seed) {
    RelayLog alone;
    play_to(alone, 60'000, seed);
    RelayLog a, b, c;
    Sink* const sinks[] = {&a, &b, &c};
    {
      Relay relay(sinks);
      play_to(relay, 60'000, seed);
    }
    CHECK((a.text == alone.text));
    CHECK((b.text == alone.text));
    CHECK((c.text == alone.text));
  }
}

TEST_CASE("trace relay: a sink's error is the caller's") {
  for (const uint64_t at : {0, 5, 20'000, 40'000}) {
    RelayLog a, b(at), c(at + 3);
    Sink* const sinks[] = {&a, &b, &c};
    const auto run = [&] {
      Relay relay(sinks);
      play_to(relay, 60'000, 7);
    };
    CHECK_THROWS_WITH(run(), fmt::format("fails at {}", at).c_str());
  }
  // Without finish(), nothing hangs and nothing is thrown.
  RelayLog a;
  Sink* const sinks[] = {&a};
  Relay(sinks).kernel({});
}

TEST_CASE("trace relay: a trace that is cut off or damaged reports the same as without threads") {
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("relay{}.lwt", ::getpid())).string();
  {
    Writer writer(path, 5'000);
    Kernel k;
    writer.kernel(k);
    for (int i = 0; i < 9; ++i) writer.site({});
    std::mt19937_64 random(3);
    for (int i = 0; i < 20'000; ++i) {
      Event e;
      e.wave.site = static_cast<uint32_t>(random() % 9);
      e.wave.mask = 0xffff'ffffU;
      e.wave.mode = AddressMode::affine;
      e.wave.base = random() % 1'000'000;
      e.wave.stride = 4;
      writer.event(e);
    }
    writer.finish();
  }
  const auto whole = std::filesystem::file_size(path);
  const auto compare = [&] {
    RelayLog alone, threaded;
    Sink* const sinks[] = {&threaded};
    std::string reported[2];
    const auto read = [&](std::string& to, auto how) {
      try {
        const ReadResult r = how();
        to = fmt::format("{} {} {}", r.complete, r.events, r.note);
      } catch (const Error& e) {
        to = e.what();
      }
    };
    read(reported[0], [&] { return read_any(path, alone); });
    read(reported[1], [&] { return read_in_threads(path, sinks); });
    CHECK_EQ(reported[0], reported[1]);
    CHECK((alone.text == threaded.text));
  };
  compare();
  {
    std::FILE* f = std::fopen(path.c_str(), "r+b");
    std::fseek(f, static_cast<long>(whole / 2), SEEK_SET);
    std::fputc(1, f);
    std::fputc(2, f);
    std::fclose(f);
  }
  compare();
  std::filesystem::resize_file(path, whole / 3);
  compare();
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace lanewise::trace
