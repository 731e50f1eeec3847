// Traces of others as they come: compressed, raw, cut off, with opcodes newer than this program.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "runtime/support/error.hpp"
#include "runtime/trace/formats.hpp"
#include "runtime/trace/record.hpp"
#include "runtime/trace/site_text.hpp"

namespace lanewise::trace {
namespace {

std::string file(const std::string& name, const std::string& content) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("lanewise-interchange-" + name)).string();
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

/// Each event a word: "K0" and "k0" for the ends of a kernel, else opcode, group.warp, the first
/// address in hex, and how many lanes.
struct Recorded final : Sink {
  void kernel(const Kernel& k) override { kernels.push_back(k); }
  void site(const Site& s) override { sites.push_back(s); }
  void buffer(const Buffer&) override {}
  void event(const Event& e) override {
    ++events;
    if (e.kind == EventKind::kernel_begin) return add(fmt::format("K{}", e.kernel));
    if (e.kind == EventKind::kernel_end) return add(fmt::format("k{}", e.kernel));
    if (e.kind != EventKind::wave) return add("host");
    Lanes lanes;
    unpack(e.wave, lanes);
    add(fmt::format("{}:{}.{}:{:x}/{}", sites[e.wave.site].text, e.wave.group, e.wave.wave,
                    lanes.count != 0 ? lanes.address[0] : 0, lanes.count));
    addresses += fmt::format("{:x} ", lanes.count != 0 ? lanes.address[0] : 0);
    sms.push_back(e.wave.sm);
  }
  void add(const std::string& word) {
    if (events < 100) text += (text.empty() ? "" : " ") + word;
  }
  std::vector<Kernel> kernels;
  std::vector<Site> sites;
  std::vector<uint16_t> sms;
  std::string text, addresses;
  uint64_t events = 0;
};

std::string bytes_of(std::string_view hex) {
  std::string out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    out += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return out;
}

// "0 1000" and a line feed, 60,000 times, by gzip -9, xz -9e and zstd -19.
constexpr std::string_view kGzip =
    "1f8b0800000000000203edc5311100300800b1bd2a90f0f837878f5eb2a4d9ea254992244992244992244992"
    "2449922449922449922449922449922449922449922449922449922449922449922449922449922449922449"
    "9224499224499224499224499224499224499224499224499224499224499224499224499224499224499224"
    "4992244992244992244992244992244992244992244992244992244992244992244992244992244992244992"
    "2449922449922449922449922449922449922449922449922449922449922449922449922449922449922449"
    "9224499224499224499224499224499224499224499224499224499224499224499224499224499224499224"
    "4992244992244992244992244992244992244992244992244992244992244992244992244992244992244992"
    "2449922449922449922449922449922449922449922449922449922449922449922449922449922449922449"
    "9224499224499224499224499224499224499224499224499224499224499224499224499224499224499224"
    "4992244992244992244992244992244992244992244992244992244992244992244992244992244992244992"
    "2449922449922449922449922449922449922449922449922449922449922449922449922449922449922449"
    "9224499224499224499224499224499224499224499224499224499224499224499224499224499224499224"
    "4992244992244992244992244992244992244992244992244992244992244992244992244992244992244992"
    "2449922449922449922449922449922449922449922449922449922449922449922449922449922449922449"
    "9224499224499224499224499224499224499224499224499224e9ff0e1be7f091a0680600";
constexpr std::string_view kXz =
    "fd377a585a000004e6d6b446020021011c00000010cf58cce6689f00885d00180802879d0770b426ac7b5da8"
    "a74eb122b8814628c36facf7defa184553a04b13e2c44f51fad39e65275db8588cec135fcc9d448af02b83ed"
    "12d89858188cd0c2dbb0baac1e36c1299669d9867a0af035d7581f5c7127453c99f440423ba86680bda23e56"
    "657e48f4d07456839c046eccbdd9e88aad972dff2eeb9a1dbaceb127185a9692b6400000f28f08766bb39360"
    "0001a401a0d119008f419826b1c467fb020000000004595a";
constexpr std::string_view kZstd =
    "28b52ffda4a06806007c0000383020313030300a0100f6ffca8b11440000000100fdffca0b10440000000100"
    "fdff3900023d00000001009de80e8057b927f4";

TEST_CASE("who reads a trace is notified how much of the file was read, packed or not") {
  std::string plain;
  for (int i = 0; i < 200000; ++i) plain += "0 1000\n";
  for (const std::string& path : {file("seen.din", plain), file("seen.din.gz", bytes_of(kGzip))}) {
    CAPTURE(path);
    std::vector<uint64_t> read;
    ReadOptions options;
    options.progress = [&](uint64_t done, uint64_t whole) {
      CHECK(whole == std::filesystem::file_size(path));
      read.push_back(done);
    };
    Recorded recorded;
    read_any(path, recorded, options);
    REQUIRE_FALSE(read.empty());
    CHECK(std::ranges::is_sorted(read));
    CHECK(read.back() == std::filesystem::file_size(path));
    if (path.ends_with(".din")) CHECK(read.size() > 4);
    const size_t reported = read.size();
    read_any(path, recorded);
    CHECK(read.size() == reported);
  }
}

TEST_CASE("gzip, xz and zstd are known by their content") {
  for (const auto& [name, hex] : {std::pair("many.din.gz", kGzip), std::pair("many.din.xz", kXz),
                                  std::pair("many.din.zst", kZstd), std::pair("many.din", kXz)}) {
    const std::string shown = name;
    CAPTURE(shown);
    Recorded once, twice;
    CHECK(read_any(file(name, bytes_of(hex)), once).complete);
    CHECK_EQ(once.events, 60002);
    // Two chunks behind each other are one file.
    CHECK(read_any(file(name, bytes_of(hex) + bytes_of(hex)), twice).complete);
    CHECK_EQ(twice.events, 120002);
  }
}

TEST_CASE("a small file that unpacks to one giant line is refused") {
  // A frame of one block, 128 KiB of 'a'.
  const std::string frame = bytes_of("28b52ffd003803001061");
  std::string bomb;
  for (int n = 0; n < 100'000; ++n) bomb += frame;  // 12 GiB
  Recorded recorded;
  std::string message;
  try {
    read_any(file("bomb.din.zst", bomb), recorded);
  } catch (const Error& e) {
    message = e.what();
  }
  CHECK(message.ends_with(":1: the line is longer than 1048576 bytes"));
}

TEST_CASE("lines around the size of a chunk are read whole") {
  for (const size_t size : {size_t{16382}, size_t{16383}, size_t{16384}, size_t{16385},
                            size_t{32766}, size_t{32767}, size_t{1} << 20}) {
    for (const std::string end : {"\n", "\r\n", ""}) {
      CAPTURE(size);
      std::string line = "r 10000000";
      line.resize(size - 2 - (end.size() == 2 ? 1 : 0), ' ');
      Recorded recorded;
      const auto result =
          read_any(file("wide.din", "r 10000000 4\n" + line + " 4" + end), recorded);
      CHECK(result.complete);
      CHECK_EQ(recorded.events, 4);
    }
  }
}

TEST_CASE("compressed data that are damaged are an error, those that end early are cut") {
  for (const auto& [name, hex] :
       {std::pair("d.din.gz", kGzip), std::pair("d.din.xz", kXz), std::pair("d.din.zst", kZstd)}) {
    const std::string shown = name;
    CAPTURE(shown);
    std::string bytes = bytes_of(hex);
    Recorded part, none;
    CHECK_FALSE(read_any(file(name, bytes.substr(0, bytes.size() - 3)), part).complete);
    CHECK(part.events <= 60002);
    for (size_t i = bytes.size() / 2; i < bytes.size() / 2 + 4; ++i) bytes[i] ^= 0x55;
    CHECK_THROWS_AS(read_any(file(name, bytes), none), Error);
  }
}

const std::string kHead =
    "-kernel name = k\n-grid dim = (4,2,1)\n-block dim = (64,1,1)\n-accelsim tracer version = 4\n"
    "-enable lineinfo = 0\n\n";

TEST_CASE("raw .trace: warps in the order of the file, whatever stands before the PC") {
  const auto line = [](const std::string& where, const std::string& rest) {
    return where + " " + rest + "\n";
  };
  const std::string ld = "0010 00000003 1 R4 LDG.E 1 R2 4 1 0x1000 4",
                    st = "0020 00000003 0 STG.E 2 R2 R4 4 1 0x2000 4",
                    add = "0030 ffffffff 1 R4 IADD3 3 R2 R3 R4 0";
  const std::string wanted = "K0 LDG.E:1.0:1000/2 LDG.E:6.1:1000/2 STG.E:1.0:2000/2 k0";
  Recorded recorded;
  SUBCASE("block and warp") {
    const ReadResult r =
        read_any(file("plain.trace", kHead + line("1 0 0 0", ld) + line("2 1 0 1", ld) +
                                         line("1 0 0 0", add) + line("1 0 0 0", st)),
                 recorded);
    CHECK(r.complete);
    CHECK(r.warnings.empty());
    CHECK_EQ(recorded.text, wanted);
    CHECK_EQ(recorded.sites[0].pc, 0x10);
    CHECK_EQ(recorded.sms[0], kAnySm);
  }
  SUBCASE("and the cluster's seven numbers, and a source line") {
    std::string head = kHead;
    head.replace(head.find("lineinfo = 0"), 12, "lineinfo = 1");
    read_any(file("cluster.trace", head + line("1 0 0 0 0 0 0 0 0 0 0 77", ld) +
                                       line("2 1 0 1 1 0 0 1 0 0 1 77", ld) +
                                       line("1 0 0 0 0 0 0 0 0 0 0 78", st)),
             recorded);
    CHECK_EQ(recorded.text, wanted);
    CHECK_EQ(recorded.sites[0].line, 77);
  }
  SUBCASE("and the SM, as old tracers write it") {
    read_any(file("sm.trace",
                  kHead +
                      "#traces format = threadblock_x threadblock_y threadblock_z warpid_tb sm_id "
                      "warpid_sm PC mask dest_num reg_dests opcode src_num reg_srcs mem_width\n" +
                      line("1 0 0 0 5 9", ld) + line("2 1 0 1 6 9", ld) + line("1 0 0 0 5 9", st)),
             recorded);
    CHECK_EQ(recorded.text, wanted);
    CHECK_EQ(recorded.sms, std::vector<uint16_t>{5, 6, 5});
  }
  SUBCASE("a last line that may be a part of one is left out; the two forms do not mix") {
    const ReadResult r = read_any(
        file("cut.trace", kHead + line("1 0 0 0", ld) + "1 0 0 0 " + st.substr(0, st.size() - 1)),
        recorded);
    CHECK_FALSE(r.complete);
    CHECK_EQ(recorded.text, "K0 LDG.E:1.0:1000/2 k0");
    CHECK_THROWS_AS(
        read_any(file("both.trace", kHead + line("1 0 0 0", ld) + "#BEGIN_TB\n"), recorded), Error);
    CHECK_THROWS_AS(read_any(file("none.trace", kHead + line("1 0 0 0", "rubbish here")), recorded),
                    Error);
  }
}

TEST_CASE("LDGSTS: raw traces have it twice, and the one of global memory counts") {
  const std::string head = "0010 00000001 0 LDGSTS.E.BYPASS.LTC128B.128 2 R2 R4 16 1 ";
  const std::string shared = head + "0x400 16\n", global = head + "0x9000 16\n";
  Recorded raw, grouped;
  read_any(file("ldgsts.trace", kHead + "0 0 0 0 " + shared + "1 0 0 0 " + shared + "0 0 0 0 " +
                                    global + "1 0 0 0 " + global),
           raw);
  CHECK_EQ(raw.addresses, "9000 9000 ");
  CHECK_EQ(raw.sites[0].bytes, 16);
  CHECK_EQ(raw.sites[0].prefetch_bytes, 128);
  CHECK_EQ(raw.sites[0].op, ir::CacheOp::cg);
  read_any(file("ldgsts.traceg", kHead +
                                     "#BEGIN_TB\nthread block = 0,0,0\ncluster rank = 0\nwarp = 0\n"
                                     "insts = 1\n" +
                                     global + "#END_TB\n"),
           grouped);
  CHECK_EQ(grouped.addresses, "9000 ");
}

/// Two groups of two warps, with something in front of the last load of each warp.
std::string two_groups(const std::string& barrier) {
  std::string text = kHead;
  const auto load = [](const std::string& address) {
    return "0010 00000001 1 R4 LDG.E 1 R2 4 1 0x" + address + " 4\n";
  };
  for (const std::string group : {"0", "1"})
    text += "#BEGIN_TB\nthread block = " + group + ",0,0\nwarp = 0\ninsts = 9\n" +
            load(group + "a1") + load(group + "a2") + barrier + load(group + "a3") +
            "warp = 1\ninsts = 9\n" + load(group + "b1") + barrier + load(group + "b2") +
            "#END_TB\n";
  return text;
}
std::string addresses(const std::string& path, const ReadOptions& options) {
  Recorded recorded;
  read_any(path, recorded, options);
  return recorded.addresses;
}

TEST_CASE("trace.interleave: what was assumed of the order of warps") {
  const std::string path = file("order.traceg", two_groups(""));
  ReadOptions options;
  CHECK_EQ(policies_of(path, options),
           std::vector<std::pair<std::string, std::string>>{{"trace.interleave", "serial"}});
  CHECK_EQ(addresses(path, options), "a1 a2 a3 b1 b2 1a1 1a2 1a3 1b1 1b2 ");
  set_policy(options, "trace.interleave=round-robin");
  CHECK_EQ(addresses(path, options), "a1 b1 1a1 1b1 a2 b2 1a2 1b2 a3 1a3 ");
  set_policy(options, "trace.resident=1");
  CHECK_EQ(policies_of(path, options).size(), 2);
  CHECK_EQ(addresses(path, options), "a1 b1 a2 b2 a3 1a1 1b1 1a2 1b2 1a3 ");
  // Nobody passes the barrier in front of a3 and b2 before both are there.
  const std::string waits =
      file("barrier.traceg", two_groups("0020 ffffffff 0 BAR.SYNC.DEFER_BLOCKING 1 R255 0\n"));
  CHECK_EQ(addresses(waits, options), "a1 b1 a2 a3 b2 1a1 1b1 1a2 1a3 1b2 ");
  CHECK_EQ(addresses(waits, ReadOptions{}), "a1 a2 a3 b1 b2 1a1 1a2 1a3 1b1 1b2 ");
  CHECK(policies_of("x.trace.xz", options).empty());
  CHECK_EQ(policies_of("x.traceg.xz", options).size(), 2);
  for (const char* bad : {"trace.interleave", "trace.interleave=both", "trace.resident=0",
                          "gcn.align=dword", "trace.resident=1x"})
    CHECK_THROWS_AS(set_policy(options, bad), Error);
}

TEST_CASE("suffixes and opcodes that are not known are counted") {
  const std::string path =
      file("new.traceg", kHead +
                             "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 5\n"
                             "0010 00000001 1 R4 LDG.E.WIDER 1 R2 32 1 0x1000 4\n"
                             "0010 00000001 1 R4 LDG.E.WIDER 1 R2 32 1 0x2000 4\n"
                             "0020 00000001 1 R4 UBLKCP.S.G 1 R2 16 1 0x3000 4\n"
                             "0030 ffffffff 0 CCTL.NEWOP 0 0\n"
                             "0040 00000001 1 R4 FADD 2 R2 R3 0\n#END_TB\n");
  Recorded recorded;
  const ReadResult r = read_any(path, recorded);
  CHECK(r.complete);
  CHECK_EQ(recorded.text, "K0 LDG.E.WIDER:0.0:1000/1 LDG.E.WIDER:0.0:2000/1 k0");
  CHECK_EQ(recorded.sites[0].bytes, 32);
  REQUIRE_EQ(r.warnings.size(), 3);
  CHECK_EQ(r.warnings[0],
           "CCTL.NEWOP: suffix .NEWOP is not known: 1 such instruction of a kernel is left out");
  CHECK_EQ(r.warnings[1], "UBLKCP.S.G has addresses, but is not known: 1 times it is left out");
  CHECK_EQ(r.warnings[2],
           "suffix .WIDER of LDG.E.WIDER is not known: 2 times the access counts without it");
  // Text by hand still has to be right.
  CHECK_THROWS_AS(sass_site("LDG.E.WIDER"), Error);
}

TEST_CASE(".traceg that ends early loses its last thread block only") {
  const std::string whole = two_groups("");
  for (const size_t left_out : {1, 9, 12, 30, 60}) {
    CAPTURE(left_out);
    Recorded recorded;
    const ReadResult r =
        read_any(file("short.traceg", whole.substr(0, whole.size() - left_out)), recorded);
    // Only the last line feed is missing.
    CHECK_EQ(r.complete, left_out == 1);
    CHECK_EQ(recorded.addresses,
             left_out == 1 ? "a1 a2 a3 b1 b2 1a1 1a2 1a3 1b1 1b2 " : "a1 a2 a3 b1 b2 ");
    CHECK(recorded.text.ends_with(" k0"));
  }
}

TEST_CASE("kernelslist: several kernels, grouped and raw") {
  const std::string folder =
      (std::filesystem::temp_directory_path() / "lanewise-interchange-list").string();
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/kernel-1.traceg") << two_groups("");
  std::ofstream(folder + "/kernel-2.trace")
      << kHead + "0 0 0 0 0010 00000001 0 STG.E 2 R2 R4 4 1 0x7 4\n";
  std::ofstream(folder + "/kernelslist.g")
      << "MemcpyHtoD,0x00001000,64\nkernel-1.traceg\nncclAllReduce,1\nkernel-2.trace\n";
  Recorded recorded;
  const ReadResult r = read_any(folder + "/kernelslist.g", recorded);
  CHECK(r.complete);
  CHECK_EQ(recorded.kernels.size(), 2);
  CHECK(recorded.text.starts_with("host K0 LDG.E:0.0:a1/1 "));
  CHECK(recorded.text.ends_with(" k0 K1 STG.E:0.0:7/1 k1"));
  CHECK_EQ(r.warnings, std::vector<std::string>{"ncclAllReduce: 1 calls are left out"});
}

TEST_CASE("NVBit's mem_trace, among what the program prints") {
  const auto access = [](unsigned launch, const char* cta, unsigned warp, const char* opcode,
                         std::vector<uint64_t> at, unsigned count = 32) {
    std::string text =
        fmt::format("MEMTRACE: CTX 0x{:016x} - grid_launch_id {} - CTA {} - warp {} - {} - ", 7,
                    launch, cta, warp, opcode);
    at.resize(count);
    for (const uint64_t a : at) text += fmt::format("0x{:016x} ", a);
    return text + "\n";
  };
  // The id of the launch line is that of the next launch, as some versions have it.
  const std::string launch =
      "MEMTRACE: CTX 0x0000000000000007 - LAUNCH - Kernel pc 0x00007f00 - Kernel name saxpy(int, "
      "float*) - grid launch id 1 - grid size 4,2,1 - block size 64,1,1 - nregs 8 - shmem 0 - cuda "
      "stream id 0\n";
  const std::string path =
      file("run.log", "hello\n" + launch + access(0, "1,1,0", 1, "LDG.E.64", {0x1000, 0, 0x1008}) +
                          "result = 3\n" + access(0, "1,1,0", 1, "STG.E", {0x2000}) +
                          access(1, "0,0,0", 0, "LDG.E", {0x3000}) + "bye\n");
  Recorded recorded;
  CHECK(read_any(path, recorded).complete);
  CHECK_EQ(recorded.text, "K0 LDG.E.64:5.1:1000/2 STG.E:5.1:2000/1 k0 K1 LDG.E:0.0:3000/1 k1");
  CHECK_EQ(recorded.kernels[0].name, "saxpy(int, float*)");
  CHECK_EQ(recorded.kernels[0].block[0], 64);
  CHECK_EQ(recorded.kernels[1].name, "launch 1");
  CHECK_EQ(recorded.sites[0].bytes, 8);

  Recorded cut;
  const std::string part = access(0, "0,0,0", 0, "LDG.E", {0x20}, 9);
  CHECK_FALSE(read_any(file("cut.log", access(0, "0,0,0", 0, "LDG.E", {0x10}) +
                                           part.substr(0, part.size() - 1)),
                       cut)
                  .complete);
  CHECK_EQ(cut.text, "K0 LDG.E:0.0:10/1 k0");
  CHECK_THROWS_AS(read_any(file("other.log", "hello\nworld\n"), cut), Error);
}

}  // namespace
}  // namespace lanewise::trace
