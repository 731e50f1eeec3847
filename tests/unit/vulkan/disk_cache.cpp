#include <doctest/doctest.h>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "runtime/vulkan/pipeline/disk_cache.hpp"
#include "runtime/vulkan/pipeline/kernel_cache.hpp"
#include "tests/support/drivers.hpp"

using namespace lanewise;
using namespace lanewise::vulkan;
namespace fs = std::filesystem;

namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string slurp(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void spill(const fs::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
}

constexpr CacheKind kKind = CacheKind::module;

}  // namespace

TEST_CASE("what was stored is loaded, by a later cache too") {
  const std::string directory = test::scratch_directory("cache");
  const CacheKey key = make_key("a kernel"), other = make_key("another");
  CHECK(!(key == other));
  const auto data = bytes_of("some translated words");
  {
    DiskCache cache(directory);
    CHECK(!cache.load(kKind, key));
    cache.store(kKind, key, data);
    CHECK(cache.load(kKind, key) == data);
    CHECK(!cache.load(CacheKind::probe, key));
    CHECK(!cache.load(kKind, other));
    cache.store(kKind, other, {});
  }
  DiskCache again(directory);
  CHECK(again.load(kKind, key) == data);
  CHECK(again.load(kKind, other) == std::vector<std::byte>());
}

TEST_CASE("damage of any byte, any truncation and files of others are ignored, then repaired") {
  const std::string directory = test::scratch_directory("damage");
  DiskCache cache(directory);
  const CacheKey key = make_key("k");
  const auto data = bytes_of("words words words");
  cache.store(kKind, key, data);
  const fs::path path = cache.path_of(kKind, key);
  const std::string good = slurp(path);
  REQUIRE(good.size() > data.size());
  // Every third byte, in a file of header and data.
  for (size_t i = 0; i < good.size(); i += 3) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    spill(path, bad);
    CHECK(!cache.load(kKind, key));
    spill(path, std::string_view(good).substr(0, i));
    CHECK(!cache.load(kKind, key));
  }
  std::string longer = good;
  longer.push_back(1);
  spill(path, longer);
  CHECK(!cache.load(kKind, key));
  spill(path, "not a cache file at all, but long enough to hold a header and some more text");
  CHECK(!cache.load(kKind, key));
  // A good file under another name is not this key's.
  const CacheKey other = make_key("other");
  spill(cache.path_of(kKind, other), good);
  CHECK(!cache.load(kKind, other));
  cache.store(kKind, key, data);
  CHECK(cache.load(kKind, key) == data);
}

TEST_CASE("an unusable directory switches the cache off") {
  const std::string directory = test::scratch_directory("unusable");
  const fs::path file = fs::path(directory) / "a-file";
  spill(file, "x");
  DiskCache cache((file / "below").string());
  CHECK(!cache.usable());
  cache.store(kKind, make_key("k"), bytes_of("x"));
  CHECK(!cache.load(kKind, make_key("k")));
  DiskCache off("off");
  CHECK(!off.usable());
}

TEST_CASE("a directory that vanishes switches the cache off at the next store") {
  const std::string directory = test::scratch_directory("vanishes");
  DiskCache cache(directory);
  REQUIRE(cache.usable());
  fs::remove_all(directory);
  cache.store(kKind, make_key("k"), bytes_of("x"));
  CHECK(!cache.usable());
}

TEST_CASE("the oldest files go when the bound is reached, files of others stay") {
  const std::string directory = test::scratch_directory("bound");
  spill(fs::path(directory) / "mine.txt", "keep me");
  DiskCache cache(directory, 10000);
  const std::vector<std::byte> data(1000);
  const auto key = [](int i) { return make_key(fmt::format("key {}", i)); };
  const auto now = fs::file_time_type::clock::now();
  for (int i = 0; i < 30; ++i) {
    cache.store(kKind, key(i), data);
    const fs::path path = cache.path_of(kKind, key(i));
    if (fs::exists(path)) fs::last_write_time(path, now - std::chrono::hours(100 - i));
  }
  uint64_t total = 0;
  for (const auto& entry : fs::directory_iterator(directory)) total += entry.file_size();
  CHECK(total <= 10007);
  CHECK(cache.load(kKind, key(29)));
  CHECK(!cache.load(kKind, key(0)));
  CHECK(slurp(fs::path(directory) / "mine.txt") == "keep me");
}

TEST_CASE("modules survive their encoding, other bytes are refused") {
  spirv::Module module;
  module.words = {0x07230203, 1, 2, 3};
  module.local_size = 64;
  module.lanes_per_invocation = 8;
  module.backing_bytes = 1234567;
  module.clears_backing = true;
  module.fault_points = {{FaultKind::trap, 7},
                         {FaultKind::none, 8, ir::Space::generic, 16, 8, true, true}};
  module.wave_mode = "packed";
  module.wave_reason = "asked for";
  const auto bytes = encode_module(module);
  const auto back = decode_module(bytes);
  REQUIRE(back);
  CHECK(back->words == module.words);
  CHECK(back->local_size == 64);
  CHECK(back->lanes_per_invocation == 8);
  CHECK(back->backing_bytes == 1234567);
  CHECK(back->clears_backing);
  CHECK(back->fault_points == module.fault_points);
  CHECK(back->wave_mode == "packed");
  CHECK(back->wave_reason == "asked for");
  for (size_t n = 0; n < bytes.size(); ++n) CHECK(!decode_module(std::span(bytes).first(n)));
  module.words[0] = 7;
  CHECK(!decode_module(encode_module(module)));
}

TEST_CASE("every field of options and target changes the cache key") {
  const spirv::Options options;
  const spirv::Target target;
  const std::string base = describe(options, target);
  const auto differs = [&](auto change) {
    spirv::Options o;
    spirv::Target t;
    change(o, t);
    return describe(o, t) != base;
  };
  CHECK(differs([](auto& o, auto&) { o.block.x = 2; }));
  CHECK(differs([](auto& o, auto&) { o.block.z = 2; }));
  CHECK(differs([](auto& o, auto&) { o.dynamic_shared = 4; }));
  CHECK(differs([](auto& o, auto&) { o.memcheck = Memcheck::off; }));
  CHECK(differs([](auto& o, auto&) { o.wave = WaveMode::packed; }));
  CHECK(differs([](auto& o, auto&) { o.policies = {{"a", "b"}}; }));
  for (bool spirv::Target::*flag : {&spirv::Target::int64,
                                    &spirv::Target::bda,
                                    &spirv::Target::storage8,
                                    &spirv::Target::storage16,
                                    &spirv::Target::float64,
                                    &spirv::Target::int64_atomics,
                                    &spirv::Target::native_add,
                                    &spirv::Target::native_compare,
                                    &spirv::Target::native_add64,
                                    &spirv::Target::native_fma64,
                                    &spirv::Target::native_div64,
                                    &spirv::Target::native_sqrt64,
                                    &spirv::Target::native_compare64,
                                    &spirv::Target::native_fma,
                                    &spirv::Target::native_div,
                                    &spirv::Target::native_sqrt,
                                    &spirv::Target::denorm_preserve,
                                    &spirv::Target::rte,
                                    &spirv::Target::signed_zero_inf_nan,
                                    &spirv::Target::denorm_preserve64,
                                    &spirv::Target::rte64,
                                    &spirv::Target::signed_zero_inf_nan64}) {
    CHECK(differs([flag](auto&, auto& t) { t.*flag = !(t.*flag); }));
  }
  for (const auto& [name, member] : spirv::kQuirks) {
    bool spirv::Quirks::*quirk = member;
    CHECK(differs([quirk](auto&, auto& t) { t.quirks.*quirk = true; }));
  }
  CHECK(differs([](auto&, auto& t) { t.subgroup_size = 64; }));
  CHECK(differs([](auto&, auto& t) { t.least_subgroup = 32; }));
  CHECK(differs([](auto&, auto& t) { t.max_invocations = 64; }));
  CHECK(differs([](auto&, auto& t) { t.max_shared = 64; }));
}

TEST_CASE("what others could have written is not used") {
  const std::string directory = test::scratch_directory("trust");
  const CacheKey key = make_key("k");
  const auto data = bytes_of("words");
  DiskCache cache(directory);
  cache.store(kKind, key, data);
  const fs::path path = cache.path_of(kKind, key);
  struct stat s;
  REQUIRE(stat(path.c_str(), &s) == 0);
  CHECK((s.st_mode & 0777) == 0600);
  CHECK(cache.load(kKind, key) == data);
  for (const mode_t mode : {0620, 0602}) {
    chmod(path.c_str(), mode);
    CHECK(!cache.load(kKind, key));
    CHECK(!DiskCache(directory).load(kKind, key));
  }
  cache.store(kKind, key, data);  // made anew: this user's own again
  CHECK(cache.load(kKind, key) == data);

  const fs::path elsewhere = fs::path(directory).parent_path() / "trust_elsewhere.lwc";
  fs::remove(elsewhere);
  fs::rename(path, elsewhere);
  fs::create_symlink(elsewhere, path);
  CHECK(!cache.load(kKind, key));
  fs::remove(path);
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);  // must not be waited for
  CHECK(!cache.load(kKind, key));
  fs::remove(path);
  fs::rename(elsewhere, path);
  CHECK(cache.load(kKind, key) == data);

  for (const mode_t mode : {0720, 0702, 01777}) {
    chmod(directory.c_str(), mode);
    DiskCache open_to_all(directory);
    CHECK(!open_to_all.usable());
    CHECK(!open_to_all.load(kKind, key));
  }
  chmod(directory.c_str(), 0700);
  CHECK(DiskCache(directory).load(kKind, key) == data);
  if (geteuid() != 0) return;
  REQUIRE(chown(path.c_str(), 65534, 65534) == 0);
  CHECK(!cache.load(kKind, key));
  REQUIRE(chown(directory.c_str(), 65534, 65534) == 0);
  CHECK(!DiskCache(directory).usable());
  fs::remove_all(directory);
}

TEST_CASE("a directory that is made is for this user alone") {
  const std::string directory = test::scratch_directory("made") + "/a/b";
  const mode_t mask = umask(0);
  const DiskCache cache(directory);
  umask(mask);
  CHECK(cache.usable());
  struct stat s;
  REQUIRE(stat(directory.c_str(), &s) == 0);
  CHECK((s.st_mode & 0777) == 0700);
}
