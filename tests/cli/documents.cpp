// What programs read of this one: every command has --json, every document names its versions, and
// shells offer what the table of commands says.
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/cli/support.hpp"

using namespace cli_test;
using nlohmann::json;

namespace {

const std::string kData = LANEWISE_TEST_DATA "/kernels/data/";
const std::string kSamples = LANEWISE_TEST_DATA "/../samples/";

json command_table() {
  return json::parse(program("help --json").out)["commands"];
}

const json* option_of(const json& command, const std::string& name) {
  for (const json& option : command["options"])
    for (const json& n : option["names"])
      if (n == name) return &option;
  return nullptr;
}

void check_versions(const json& document) {
  std::string version = program("--version").out;
  version.pop_back();
  REQUIRE(document.is_object());
  REQUIRE(document.contains("lanewise"));
  CHECK(document["lanewise"] == json{{"version", version}, {"format", 1}});
}

std::string own_file(const std::string& name) {
  return scratch() + "/" + name;
}

/// A line for each command, which ends with code 0 and prints one document.
std::map<std::string, std::vector<std::string>> lines_by_command() {
  const std::string saxpy = kSamples + "kernels/saxpy.ptx";
  const std::string arguments =
      " --device reference --grid 1 --block 32 --arg i32:32 --arg f32:2 "
      "--arg iota:f32[32] --arg print:f32[32]";
  const std::string stream =
      write("add.lw",
            "isa ptx\ncase \"add\" {\n  reg .b32 %a = 1\n"
            "  code \"\"\" add.u32 %a, %a, 1; \"\"\"\n  expect %a == 2\n}\n");
  const std::string trace = own_file("saxpy.lwt"), cubin = kSamples + "cubin/sort.cubin";
  REQUIRE(program("run " + saxpy + arguments + " --trace " + trace).code == 0);
  for (const char* part : {"0", "1"})
    REQUIRE(program("cache " + trace + " --preset gv100 --shard " + part + "/2 -o " +
                    own_file(std::string("part") + part + ".json"))
                .code == 0);
  std::filesystem::create_directories(own_file("documents"));
  std::filesystem::copy_file(stream, own_file("documents/add.lw"),
                             std::filesystem::copy_options::overwrite_existing);
  return {
      {"devices", {""}},
      {"run",
       {saxpy + arguments, saxpy + arguments + " --cache gv100", stream + " --device reference"}},
      {"check", {saxpy + " " + stream, saxpy + " --target sm_90"}},
      {"translate",
       {saxpy + " --emit ir",
        saxpy + " --device profile:vega10 --emit spirv -o " + own_file("made.spv")}},
      {"coverage", {"--isa gcn", kSamples + "cubin/sort.cubin"}},
      {"asm", {kData + "sass/k01_saxpy.sass"}},
      {"disasm", {cubin}},
      {"cache", {trace + " --preset gv100"}},
      {"cache merge", {own_file("part0.json") + " " + own_file("part1.json")}},
      {"chase", {"--preset gm204"}},
      {"preset", {}},
      {"preset list", {""}},
      {"preset show", {"gv100"}},
      {"trace", {}},
      {"trace convert", {trace + " " + own_file("saxpy.din")}},
      {"bench", {"--list --device reference"}},
      {"selftest", {"--device reference --suite " + own_file("documents")}},
      {"explain", {stream}},
      {"diff",
       {saxpy + " " + saxpy +
        " --arg i32:8 --arg f32:2 --arg zero:f32[8] --arg zero:f32[8] "
        "--grid 1 --block 8"}},
      {"help", {"", "run"}},
      {"exec", {}},
  };
}

/// The values that the option takes, as a shell has words.
std::string words_of(const json& values) {
  std::string out;
  for (const json& v : values) out += (out.empty() ? "" : " ") + v.get<std::string>();
  return out;
}

}  // namespace

TEST_CASE("every command has --json, and each of its documents names the versions" * kHostCase) {
  const auto lines = lines_by_command();
  std::set<std::string> seen;
  for (const json& command : command_table()) {
    const std::string path = command["command"];
    CAPTURE(path);
    seen.insert(path);
    REQUIRE(lines.contains(path));
    const bool has_json = option_of(command, "--json") != nullptr;
    CHECK(has_json == !lines.at(path).empty());
    for (const std::string& line : lines.at(path)) {
      CAPTURE(line);
      const Output o = program(path + " " + line + " --json");
      CAPTURE(o.err);
      CHECK(o.code == 0);
      check_versions(json::parse(o.out));
    }
  }
  CHECK(seen.size() == lines.size());
  // Two commands only hold others; the output of a third is its program's.
  const Output exec = program("exec --json -- true");
  CHECK(exec.code == 125);
  CHECK(exec.out.empty());
  CHECK(lines_of(exec.err) == 1);
  CHECK(contains(exec.err, "'exec' has no --json: standard output is the program's"));
}

TEST_CASE("documents in files and about errors name the versions, too" * kHostCase) {
  const std::string saxpy = kSamples + "kernels/saxpy.ptx", made = own_file("made");
  const std::string line = "run " + saxpy +
                           " --device reference --grid 1 --block 32 --arg i32:32 --arg f32:2 "
                           "--arg iota:f32[32] --arg zero:f32[32] --cache gv100";
  REQUIRE(program(line + " --report " + made + ".json --findings " + made +
                  ".findings.json --trace " + made + ".trace.json")
              .code == 0);
  REQUIRE(program(line + " --report " + made + ".perfetto.json").code == 0);
  REQUIRE(program(line + " --report " + made + ".sarif --trace " + made + ".lwt").code == 0);
  REQUIRE(
      program("cache " + made + ".lwt --preset gv100 --shard 0/1 -o " + made + ".part.json").code ==
      0);
  for (const char* ending :
       {".json", ".findings.json", ".trace.json", ".perfetto.json", ".part.json"}) {
    CAPTURE(ending);
    check_versions(json::parse(slurp(made + ending)));
  }
  // SARIF has a member of its own for it, and takes no others.
  const json driver = json::parse(slurp(made + ".sarif"))["runs"][0]["tool"]["driver"];
  CHECK(driver["version"].get<std::string>() + "\n" == program("--version").out);
  for (const char* wrong : {"devices --frob", "run nope.ptx --grid 1 --block 1", "asm nope.sass",
                            "explain --text frob.x32", "frobnicate"}) {
    CAPTURE(wrong);
    const Output o = program(std::string(wrong) + " --json");
    CHECK(o.code != 0);
    CHECK(lines_of(o.err) == 1);
    const json document = json::parse(o.out);
    check_versions(document);
    CHECK(document["error"]["exit_code"] == o.code);
  }
  // What was printed is read again: a preset by `file:`.
  std::ofstream(made + ".preset.json") << program("preset show gv100 --json").out;
  CHECK(program("preset show file:" + made + ".preset.json").code == 0);
}

TEST_CASE("asm, disasm, check and translate print as JSON what they print as text" * kHostCase) {
  const std::string cubin = kSamples + "cubin/sort.cubin";
  const json code = json::parse(program("disasm --json " + cubin).out)["instructions"];
  std::istringstream rows(program("disasm --tsv " + cubin).out);
  size_t n = 0;
  for (std::string row; std::getline(rows, row); ++n) {
    REQUIRE(n < code.size());
    const json& i = code[n];
    CHECK(i["address"].get<std::string>() + "\t" + i["word"].get<std::string>() + "\t" +
              i["text"].get<std::string>() ==
          row);
  }
  CHECK(n == code.size());
  CHECK(n > 20);
  const std::string bad = write("bad.sass", "FROB R0 ;\n");
  const json wrong = json::parse(program("asm --json " + bad).out);
  CHECK(wrong["ok"] == false);
  CHECK(wrong["diagnostics"][0]["line"] == 1);
  const std::string saxpy = kSamples + "kernels/saxpy.ptx";
  const json checked = json::parse(program("check --json " + saxpy).out);
  CHECK(checked["files"][0]["ok"] == true);
  CHECK(checked["files"][0]["kernels"] == 1);
  const json ir = json::parse(program("translate --emit ir --json " + saxpy).out);
  CHECK(ir["kernel"] == "saxpy");
  CHECK(ir["text"] == program("translate --emit ir " + saxpy).out);
  for (const char* both : {"disasm --tsv --json ", "translate -o - --json "})
    CHECK(program(both + cubin).code == 2);
}

TEST_CASE("help and shells offer the values of options" * kHostCase) {
  const std::string help = program("run --help").out;
  for (const char* choice : {"--memcheck arena|alloc|off", "--wave auto|lane|packed|serial"})
    CHECK(contains(help, choice));
  CHECK(contains(program("help --man").out, "auto|lane|packed|serial"));
  std::string script = ". " + write("completion", program("help --completion").out) +
                       "\nask() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); "
                       "_lanewise; echo \"${COMPREPLY[*]}\"; }\n";
  std::vector<std::string> asked, expected;
  const auto ask = [&](const std::string& words, const std::string& answer) {
    script += "ask lanewise " + words + "\n";
    asked.push_back(words);
    expected.push_back(answer);
  };
  size_t with_values = 0;
  for (const json& command : command_table())
    for (const json& option : command["options"]) {
      if (!option.contains("values") || option["positional"]) continue;
      ++with_values;
      const std::string first = option["values"][0], name = option["names"].back();
      const std::string words = command["command"].get<std::string>() + " " + name;
      ask(words + " ''", words_of(option["values"]));
      if (first.find_first_of("=:") == std::string::npos)
        ask(words + " = ''", words_of(option["values"]));
    }
  CHECK(with_values > 50);
  ask("run x.ptx --wave pa", "packed");
  ask("run --wave = pa", "packed");
  ask("run --check init,ra", "init,race");
  ask("run --policy ptx.align = f", "force");
  ask("exec --schedule ra", "random:");
  ask("cache --preset gv100,infi", "gv100,infinite");
  ask("cache merge --js", "--json");
  ask("trace conv", "convert");
  ask("trace convert --pa", "--partial");
  ask("preset show infi", "infinite");
  ask("help sel", "selftest");
  ask("sel", "selftest");
  const std::string file = write("ask.sh", "cd " + own_file("documents") + " || exit\n" + script);
  std::filesystem::create_directories(own_file("documents"));
  for (const auto& entry : std::filesystem::directory_iterator(own_file("documents")))
    std::filesystem::remove_all(entry);  // no file names among the answers
  const std::string out = own_file("answers"),
                    run = "bash " + file + " >" + out + " 2>" + out + ".err";
  CHECK(std::system(run.c_str()) == 0);
  CHECK(slurp(out + ".err").empty());
  std::istringstream answers(slurp(out));
  for (size_t n = 0; n < asked.size(); ++n) {
    CAPTURE(asked[n]);
    std::string answer;
    REQUIRE(std::getline(answers, answer));
    CHECK(answer == expected[n]);
  }
}
