// The user's files: whole or as they were.
#include <sys/stat.h>

#include "tests/cli/support.hpp"

using namespace cli_test;

namespace {

/// Stores 7 to p and 8 to q.
const std::string& kernel() {
  static const std::string path = write("files.ptx", kHeader + R"(
.visible .entry k(.param .u64 p, .param .u64 q)
{
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [p];
  ld.param.u64 %rd2, [q];
  st.global.u32 [%rd1], 7;
  st.global.u32 [%rd2], 8;
  ret;
}
)");
  return path;
}

const std::string kSeven("\x07\0\0\0", 4);

/// Names in the scratch folder that begin with a point: what the program left behind.
size_t left_behind() {
  size_t n = 0;
  for (const auto& e : std::filesystem::directory_iterator(scratch()))
    n += e.path().filename().string().starts_with(".") ? 1 : 0;
  return n;
}

}  // namespace

TEST_CASE("out: to what cannot be written is refused before anything runs") {
  const std::string good = write("files_good.bin", "old");
  std::filesystem::create_directories(scratch() + "/files.bin");
  for (const std::string& wrong : {scratch() + "/files.bin", scratch() + "/no/such.bin",
                                   scratch() + "/files_good.bin/x.bin"}) {
    const Output o =
        run(kernel() + " --arg out:" + good + ":u32[1] --arg out:" + wrong + ":u32[1]");
    CAPTURE(o.err);
    CHECK(o.code == 2);
    CHECK(lines_of(o.err) == 1);
    CHECK(contains(o.err, "cannot write '" + wrong + "'"));
    CHECK(slurp(good) == "old");
  }
}

TEST_CASE("out: through a link keeps the link and the mode") {
  const std::string target = write("files_target.bin", "old");
  chmod(target.c_str(), 0600);
  const std::string link = scratch() + "/files_link.bin";
  std::filesystem::remove(link);
  std::filesystem::create_symlink(target, link);
  CHECK(run(kernel() + " --arg out:" + link + ":u32[1] --arg zero:u32[1]").code == 0);
  CHECK(std::filesystem::is_symlink(link));
  CHECK(slurp(target) == kSeven);
  struct stat s;
  REQUIRE(stat(target.c_str(), &s) == 0);
  CHECK((s.st_mode & 07777) == 0600);
}

TEST_CASE("out: to a device writes there and leaves it one") {
  const std::string null = device_file("null", 3), full = device_file("full", 7);
  if (null.empty() || full.empty()) {
    MESSAGE("skipped: no devices here");
    return;
  }
  CHECK(run(kernel() + " --arg zero:u32[1] --arg out:" + null + ":u32[1]").code == 0);
  CHECK(std::filesystem::is_character_file(null));
  const Output o = run(kernel() + " --arg zero:u32[1] --arg out:" + full + ":u32[1]");
  CHECK(o.code == 2);
  CHECK(o.err == "lanewise: error: cannot write '" + full + "': No space left on device\n");
  CHECK(std::filesystem::is_character_file(full));
  CHECK(left_behind() == 0);
}

TEST_CASE("a full disk leaves every old file, whatever writes it") {
  const std::string npy = write("files_old.npy", "old");
  const std::string trace = write("files_old.lwt", "old"), report = write("files_old.html", "old");
  // A limit of 4 KiB a file is a full disk as the program sees it.
  const auto limited = [](const std::string& arguments) {
    const std::string err = scratch() + "/limit_err";
    const std::string line = "bash -c 'ulimit -f 4; timeout 120 " LANEWISE_PROGRAM " " +
                             with_sizes(arguments) + "' >/dev/null 2>" + err;
    const int status = std::system(line.c_str());
    Output o;
    o.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    o.err = slurp(err);
    return o;
  };
  const std::string device_option = "run --device reference ";
  const Output array =
      limited(device_option + kernel() + " --arg out:" + npy + ":u32[100000] --arg zero:u32[1]");
  CHECK(array.code == 2);
  CHECK(array.err == "lanewise: error: cannot write '" + npy + "': File too large\n");
  CHECK(slurp(npy) == "old");
  std::string events;
  for (unsigned i = 0; i < 50000; ++i) events += "r " + std::to_string(1000 + i % 7919) + " 4\n";
  const std::string din = write("files.din", events);
  const Output converted = limited("trace convert " + din + " " + trace);
  CHECK(converted.code == 2);
  CHECK(contains(converted.err, "File too large"));
  CHECK(slurp(trace) == "old");
  const Output page = limited("cache " + din + " --preset gv100 --report " + report);
  CHECK(page.code == 2);
  CHECK(contains(page.err, "File too large"));
  CHECK(slurp(report) == "old");
  const std::string text = write("files_old.txt", "old");
  const Output translated = limited("translate --emit ir -o " + text +
                                    " " LANEWISE_TEST_DATA "/../samples/kernels/sgemm.ptx");
  CHECK(translated.code == 2);
  CHECK(slurp(text) == "old");
  CHECK(left_behind() == 0);
}

TEST_CASE("in place equals out: a trace is converted to itself") {
  const std::string a = write("files_self.din", "r 1000 4\nw 2000 8\n");
  const Output o = program("trace convert " + a + " " + a);
  CAPTURE(o.err);
  CHECK(o.code == 0);
  CHECK(slurp(a) == "r 1000 4\nw 2000 8\n");
}

TEST_CASE("a failed run truncates nothing") {
  const std::string trace = write("files_failed.lwt", "old"),
                    out = write("files_failed.bin", "old");
  const std::string wrong = write("files_wrong.ptx", kHeader + ".visible .entry k() { what; }\n");
  CHECK(run(wrong + " --trace " + trace + " --arg out:" + out + ":u32[1]").code == 1);
  CHECK(run(kernel() + " --trace " + trace + " --arg out:" + out + ":u32[1]").code == 2);
  CHECK(slurp(trace) == "old");
  CHECK(slurp(out) == "old");
  const std::string damaged = write("files_damaged.din", "r 1000 4\nwhat\n");
  const std::string report = write("files_failed.json", "old");
  CHECK(program("trace convert " + damaged + " " + trace).code == 2);
  CHECK(program("cache " + damaged + " --preset gv100 --report " + report).code == 2);
  CHECK(program("cache /no/such.din --preset gv100 --report " + report).code == 2);
  CHECK(slurp(trace) == "old");
  CHECK(slurp(report) == "old");
  CHECK(left_behind() == 0);
}

TEST_CASE("after a fault the buffers are written as they stand") {
  const std::string out = scratch() + "/files_fault.bin";
  const Output o = run(kernel() + " --arg out:" + out + ":u32[1] --arg u64:0");
  CAPTURE(o.err);
  CHECK(o.code == 1);
  CHECK(slurp(out) == kSeven);
}
