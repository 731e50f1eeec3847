// `lanewise exec`: compiled CUDA programs, and files with device code in them. The programs were
// made by tests/data/exec/build.sh.
#include <sys/stat.h>

#include "tests/cli/support.hpp"

using namespace cli_test;

namespace {

/// An executable copy of a packed program.
std::string packed(const std::string& name) {
  const std::string path = scratch() + "/" + name;
  if (std::filesystem::exists(path)) return path;
  std::filesystem::copy_file(LANEWISE_TEST_DATA "/data/exec/" + name, path);
  chmod(path.c_str(), 0755);
  return path;
}

Output exec(const std::string& words) {
  return program("exec --device reference " + words);
}

/// What vector_add prints, up to its process id.
bool is_sum(const Output& o, const std::string& error = "cudaSuccess") {
  return o.out.starts_with((error == "cudaSuccess" ? "3 " : "0 ") + error + " pid ");
}

void replace_all(std::string& bytes, const std::string& from, const std::string& to) {
  REQUIRE(from.size() == to.size());
  REQUIRE(contains(bytes, from));
  for (size_t at = 0; (at = bytes.find(from, at)) != std::string::npos; at += to.size())
    bytes.replace(at, from.size(), to);
}

std::string executable(const std::string& name, const std::string& bytes) {
  const std::string path = write(name, bytes);
  chmod(path.c_str(), 0755);
  return path;
}

/// What an ELF file has beside the name of a version.
std::string version_hash(const std::string& name) {
  uint32_t h = 0;
  for (const char c : name) {
    h = (h << 4) + static_cast<unsigned char>(c);
    h = (h ^ (h & 0xf0000000) >> 24) & 0x0fffffff;
  }
  return {reinterpret_cast<const char*>(&h), sizeof h};
}

}  // namespace

TEST_CASE("exec: static and shared runtimes of CUDA 11 and 13 are taken over" * kHostCase) {
  for (const char* name : {"vector_add.cuda13", "vector_add.cuda13.no_pie", "vector_add.cuda11",
                           "vector_add.cuda13.shared", "vector_add.cuda11.shared"}) {
    CAPTURE(name);
    const Output o = exec(packed(name));
    CHECK(o.code == 0);
    CHECK(is_sum(o));
    CHECK(o.err.empty());
  }
  const Output verbose = exec("--verbose " + packed("vector_add.cuda11"));
  CHECK(contains(verbose.err, "took over 395 functions of CUDA 11 in 'the program'"));
  CHECK(contains(verbose.err, "taken: PTX for sm_52, compressed with LZ4"));
  CHECK(contains(verbose.err, "kernels run on reference"));
  const Output machine = exec("--verbose --isa sass " + packed("vector_add.cuda11"));
  CHECK(is_sum(machine));
  CHECK(contains(machine.err, "taken: a cubin for sm_52; kernels: _Z3addPKfS0_Pfi"));
  // Without a name: a GPU, or the reference engine, however many drivers there are for the CPU.
  const std::string devices = program("devices").out;
  const bool has_gpu = contains(devices, " discrete ") || contains(devices, " integrated ") ||
                       contains(devices, " virtual ");
  const Output by_itself = program("exec --verbose --device auto " + packed("vector_add.cuda13"));
  CHECK(is_sum(by_itself));
  CHECK(contains(by_itself.err, "kernels run on reference") != has_gpu);
  // One that asks for the library and the symbol version of CUDA 12.
  std::string twelve = slurp(packed("vector_add.cuda11.shared"));
  replace_all(twelve, "libcudart.so.11.0", std::string("libcudart.so.12\0\0", 17));
  replace_all(twelve, version_hash("libcudart.so.11.0"), version_hash("libcudart.so.12"));
  const Output o = exec(executable("vector_add.cuda12.shared", twelve));
  CHECK(o.code == 0);
  CHECK(is_sum(o));
  CHECK(o.err.empty());
}

TEST_CASE("exec: separately compiled files, plug-ins and modules" * kHostCase) {
  for (const char* name : {"linked.cuda13", "linked.cuda11"}) {
    const Output o = exec(packed(name));
    CHECK(o.code == 0);
    CHECK(o.out == "factor 5\n2007 26 cudaSuccess\n");
  }
  const Output plugin = exec(packed("plugin_host.program") + " " + packed("plugin.cuda13.so"));
  CHECK(plugin.out == "twice 21 is 42\ntwice 21 is 42\n");
  CHECK(plugin.code == 0);
}

TEST_CASE("exec: the process, its arguments and its children" * kHostCase) {
  // The shell prints its process id, and so does the program that takes its place.
  const Output same = exec("sh -c 'echo $$; exec " + packed("vector_add.cuda13") + "'");
  const std::string pid = same.out.substr(0, same.out.find('\n'));
  CHECK(same.out == pid + "\n3 cudaSuccess pid " + pid + "\n");
  const Output child = exec("sh -c '" + packed("vector_add.cuda13") + "; exit 9'");
  CHECK(is_sum(child));
  CHECK(child.code == 9);
  CHECK(exec("echo '' '[a,b]' -- --device x").out == " [a,b] -- --device x\n");
  CHECK(exec("-- echo --memcheck").out == "--memcheck\n");
  CHECK(exec("sh -c 'kill -9 $$'").code == 128 + 9);
  CHECK(exec("sh -c 'exit 77'").code == 77);
  CHECK(contains(program("exec --print-env").out, "export LANEWISE_FAULT_EXIT_CODE='1'\n"));
  // The variables alone do the same.
  const Output variables = program("exec --print-env --device reference --fault-exit-code 5 > " +
                                   scratch() + "/variables; . " + scratch() + "/variables; " +
                                   packed("vector_add.cuda13") + " fault");
  CHECK(variables.code == 5);
}

TEST_CASE("exec: faults are reported, and exit code 0 becomes another" * kHostCase) {
  for (const char* name : {"vector_add.cuda13", "vector_add.cuda11", "vector_add.cuda13.shared"})
    for (const char* how : {" fault", " _exit"}) {
      CAPTURE(name);
      CAPTURE(how);
      const Output o = exec(packed(name) + how);
      CHECK(o.code == 1);
      CHECK(is_sum(o, "cudaErrorIllegalAddress"));
      CHECK(contains(o.err, "vector_add.cu:"));
      CHECK(exec("--fault-exit-code 7 " + packed(name) + how).code == 7);
      CHECK(exec("--fault-exit-code 0 " + packed(name) + how).code == 0);
    }
  // Each process of a runner has a file of its own.
  const std::string app = packed("vector_add.cuda13");
  exec("--findings " + scratch() + "/found.%p.xml sh -c '" + app + " fault; " + app + "'");
  int files = 0, failures = 0;
  for (const auto& entry : std::filesystem::directory_iterator(scratch())) {
    if (!entry.path().filename().string().starts_with("found.")) continue;
    ++files;
    failures += contains(slurp(entry.path()), "<failure") ? 1 : 0;
  }
  CHECK(files == 2);
  CHECK(failures == 1);
}

TEST_CASE("exec: reports, schedules and GPUs that cannot be are refused before the program starts" *
          kHostCase) {
  const std::string app = packed("vector_add.cuda13");
  const std::string kRefused[][2] = {
      {"--report r.html ", "--report needs --cache"},
      {"--cache gv100 --report r.qqq ", "no report for this ending"},
      {"--cache gv100 --report " + scratch() + "/none/r.html ", "there is no directory"},
      {"--gpu t4,none ", "--gpu t4,none: expected one of t4, gtx980, "},
      {"--gpu 17 ", "--gpu 17: expected 1 to 16 devices"},
      {"--schedule search:0 ", "--schedule search:0: expected default|"}};
  for (const auto& row : kRefused) {
    CAPTURE(row[0]);
    const Output o = exec(row[0] + app);
    CHECK(o.code == 125);
    CHECK(o.out.empty());
    CHECK(contains(o.err, row[1]));
  }
  const std::string report = scratch() + "/exec.perfetto.json";
  CHECK(is_sum(exec("--cache gv100 --report " + report + " " + app)));
  CHECK(slurp(report).starts_with("{\"displayTimeUnit\""));
}

TEST_CASE("exec: programs that cannot be run, and what to do" * kHostCase) {
  struct Row {
    std::string words;
    int code;
    std::string message;
  };
  const std::string program_file = packed("vector_add.cuda13");
  // The name of a library that the program needs, and of a call, as if it were cuBLAS.
  std::string vendor = slurp(packed("vector_add.cuda13.shared"));
  replace_all(vendor, "libstdc++.so.6", "libcublas.so.1");
  replace_all(vendor, "_ZdlPvm", "cublasX");
  const std::string links_vendor = executable("links_vendor", vendor);
  const std::string plain = write("plain.txt", "no program");
  const Row rows[] = {
      {packed("vector_add.stripped"), 125, "is stripped"},
      {packed("vector_add.only_sm_80"), 125, "has machine code for sm_80 only, and no PTX"},
      {links_vendor, 125, "libcublas.so.1 (cuBLAS, whose first missing call is cublasX)"},
      {scratch() + "/not_there", 127, "was not found"},
      {plain, 126, "is not executable"},
      {"", 125, "no program is named"},
      {"--memcheck some " + program_file, 125, "'some' is none of arena, alloc, off"},
      {"--unknown " + program_file, 125, "there is no option '--unknown'"},
      {"--fault-exit-code 256 " + program_file, 125, "from 0 to 255"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.words);
    const Output o = exec(row.words);
    CHECK(o.code == row.code);
    CHECK(contains(o.err, row.message));
    CHECK(lines_of(o.err) == 1);
    CHECK(o.out.empty());
  }
  // A child gets the same line, from within.
  const Output child = exec("sh -c '" + packed("vector_add.stripped") + "; echo code $?'");
  CHECK(contains(child.err, "is stripped"));
  CHECK(child.out == "code 125\n");

  // The loader ends this one, and says less.
  std::string compiles = slurp(packed("vector_add.cuda13.shared"));
  replace_all(compiles, "libstdc++.so.6", "libnvrtc.so.99");
  const Output missing = exec(executable("compiles", compiles));
  CHECK(missing.code == 127);
  CHECK(contains(missing.err, "libnvrtc.so.99 is not installed, which compiles CUDA C++"));

  const std::string set_id = scratch() + "/set_id";
  std::filesystem::copy_file(program_file, set_id);
  if (chown(set_id.c_str(), geteuid() == 0 ? 65534 : geteuid(), static_cast<gid_t>(-1)) == 0 &&
      geteuid() == 0 && chmod(set_id.c_str(), 04755) == 0) {
    const Output o = exec(set_id);
    CHECK(o.code == 125);
    CHECK(contains(o.err, "gains rights"));
  }
}

TEST_CASE("files with code for a GPU in them" * kHostCase) {
  const std::string data = LANEWISE_TEST_DATA "/data/exec/";
  struct Row {
    const char* file;
    size_t kernels;
    const char* taken;
  };
  const Row rows[] = {
      {"vector_add.cuda13", 1, "taken: PTX for sm_75, compressed with zstd; kernels: _Z3add"},
      {"vector_add.cuda11", 1, "taken: PTX for sm_52, compressed with LZ4; kernels: _Z3add"},
      {"vector_add.cuda13.shared", 1, "taken: PTX for sm_75"},
      {"vector_add.stripped", 1, "taken: PTX for sm_75"},
      {"plugin.cuda13.so", 1, "kernels: _Z5twicePi"},
      {"plugin.none.fatbin", 1, "taken: PTX for sm_75; kernels: _Z5twicePi"},
      {"plugin.size.fatbin", 1, "taken: PTX for sm_75, compressed with zstd; kernels: _Z5twicePi"},
      {"plugin.lz4.fatbin", 1, "taken: PTX for sm_52, compressed with LZ4; kernels: _Z5twicePi"},
      {"linked.cuda13", 2, "2 of them were linked; kernels: _Z11main_kernelPi, _Z11part_kernelPi"},
      {"linked_archive.a", 2,
       "2 of them were linked; kernels: _Z11main_kernelPi, _Z11part_kernelPi"},
      {"many.cuda13.shared", 100, "_Z6kernelILi100EEvPf, _Z6kernelILi99EEvPf"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.file);
    const Output o = program("check " + data + row.file);
    CHECK(o.code == 0);
    CHECK(contains(o.err, row.taken));
    CHECK(o.out == data + row.file + ": ok, " + std::to_string(row.kernels) + " kernels\n");
  }
  // A kernel of the second file of an archive, whose static variable has its neighbour's name.
  const std::string out = scratch() + "/linked.bin";
  const Output part =
      program("run --device reference " + data +
              "linked_archive.a --kernel _Z11part_kernelPi --block 8 --arg out:" + out + ":i32[8]");
  CHECK(part.code == 0);
  CHECK(contains(part.out, "factor 5\n"));
  CHECK(read_bin<int>(out) == std::vector<int>{5, 8, 11, 14, 17, 20, 23, 26});
  CHECK(contains(
      program("translate --emit ir " + data + "many.cuda13.shared --kernel _Z6kernelILi7EEvPf").out,
      "program \"_Z6kernelILi7EEvPf\""));

  // As the source calls it.
  CHECK(program("run --device reference " + data +
                "plugin.lz4.fatbin --kernel twice --arg out:" + out + ":i32[1]")
            .code == 0);
  CHECK(contains(
      program("translate --emit ir " + data + "many.cuda13.shared --kernel 'kernel<7>(float*)'")
          .out,
      "program \"_Z6kernelILi7EEvPf\""));
  CHECK(contains(program("translate --emit ir " + data + "many.cuda13.shared --kernel kernel").err,
                 "no kernel 'kernel'"));
  const Output covered = program("coverage " + data + "linked.cuda13 " + data + "plugin.cuda13.so");
  CHECK(covered.code == 0);
  CHECK(covered.out == data + "linked.cuda13\t_Z11main_kernelPi\tsupported\n" + data +
                           "linked.cuda13\t_Z11part_kernelPi\tsupported\n" + data +
                           "plugin.cuda13.so\t_Z5twicePi\tsupported\n");

  const Output machine = program("disasm --kernel _Z11part_kernelPi " + data + "linked.cuda11");
  CHECK(machine.code == 0);
  CHECK(contains(machine.out, "_Z11part_kernelPi:"));
  CHECK(!contains(machine.out, "_Z11main_kernelPi:"));
  const Output text = program("disasm " + data + "vector_add.cuda13");
  CHECK(text.code == 0);
  CHECK(contains(text.out, ".visible .entry _Z3addPKfS0_Pfi("));
  CHECK(contains(text.err, "so this is its PTX"));

  const Output none = program("check " + data + "plugin_host.program");
  CHECK(none.code == 2);
  CHECK(contains(none.err, "it holds no code for a GPU"));
}

TEST_CASE("files with code for a GPU that are broken are refused" * kHostCase) {
  const std::string data = LANEWISE_TEST_DATA "/data/exec/";
  for (const char* name : {"linked_part.o", "linked_archive.a", "plugin.size.fatbin"}) {
    const std::string bytes = slurp(data + name);
    for (size_t n = 0; n < bytes.size(); n += bytes.size() / 12) {
      CAPTURE(name);
      CAPTURE(n);
      const int cut = program("check " + write("cut.container", bytes.substr(0, n))).code;
      CHECK((cut >= 1 && cut <= 2));
      std::string wrong = bytes;
      for (size_t at = n; at < std::min(n + 16, bytes.size()); ++at) wrong[at] = '\xff';
      const int code = program("check " + write("wrong.container", wrong)).code;
      CHECK((code >= 0 && code <= 2));
    }
  }
}
