// Writes the first inputs of the libFuzzer targets: seeds TESTS OUT makes OUT/TARGET/*.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "runtime/isa/gcn/gcn.hpp"
#include "runtime/isa/sass/sass.hpp"
#include "runtime/trace/format.hpp"

namespace fs = std::filesystem;
using namespace lanewise;

namespace {

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class Seeds {
 public:
  explicit Seeds(fs::path out) : out_(std::move(out)) {}
  void add(const std::string& target, const std::string& bytes) {
    fs::create_directories(out_ / target);
    std::ofstream(out_ / target / std::to_string(count_++), std::ios::binary) << bytes;
  }
  /// Every file below the folder with this ending, cut to what a mutation can still move.
  void add_files(const std::string& target, const fs::path& folder, const std::string& ending) {
    if (!fs::exists(folder)) throw std::runtime_error("no folder " + folder.string());
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.path().string().ends_with(ending)) add(target, contents(entry.path()));
  }

 private:
  fs::path out_;
  unsigned count_ = 0;
};

std::vector<std::string> fields(const std::string& line) {
  std::vector<std::string> out;
  std::stringstream in(line);
  for (std::string f; std::getline(in, f, '\t');) out.push_back(f);
  return out;
}

/// Instruction words and texts of tables: some instructions a seed.
void add_sass(Seeds& seeds, const fs::path& tests) {
  std::ifstream table(tests / "data/sass_words.tsv");
  std::string words, text;
  for (std::string line; std::getline(table, line);) {
    const auto f = fields(line);
    if (f.size() < 4 || line[0] == '#') continue;
    const uint64_t word = std::stoull(f[2], nullptr, 16);
    words.append(reinterpret_cast<const char*>(&word), sizeof word);
    text += f[3] + " ;\n";
    if (words.size() < 64) continue;
    seeds.add("sass_words", std::string("\1") + words);
    seeds.add("sass_text", text);
    words.clear();
    text.clear();
  }
}

void add_gcn(Seeds& seeds, const fs::path& tests) {
  std::ifstream table(tests / "data/gcn_words.tsv");
  std::string words, text;
  for (std::string line; std::getline(table, line);) {
    const auto f = fields(line);
    if (f.size() < 3 || line[0] == '#') continue;
    for (size_t n = 0; n + 1 < f[2].size(); n += 2)
      words += static_cast<char>(std::stoul(f[2].substr(n, 2), nullptr, 16));
    text += f[1] + "\n";
    if (words.size() < 48) continue;
    seeds.add("gcn_words", words);
    seeds.add("gcn_text", text);
    words.clear();
    text.clear();
  }
}

/// A first byte says for the trace target which reader to try.
void add_traces(Seeds& seeds, const fs::path& out) {
  const fs::path path = out / "seed.lwt";
  {
    trace::Writer writer(path.string());
    writer.kernel({});
    writer.finish();
  }
  seeds.add("trace", std::string(1, '\0') + contents(path));
  fs::remove(path);
  seeds.add("trace",
            "\1-kernel name = k\n-kernel id = 1\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n"
            "-shmem = 0\n-nregs = 8\n\n#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 2\n"
            "0008 0000000f 1 R0 LDG.E 1 R2 4 1 0x10000000 4\n"
            "0010 ffffffff 0 EXIT 0 0\n#END_TB\n");
  seeds.add("trace",
            "\2"
            "0 10000000\n1 10000004\n2 400\n");
  seeds.add("trace", "\2r 10000000 4\nw 10000010 8\nm 20 2\nc 0 0\nv 0 0\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: fuzz_seeds TESTS OUT\n";
    return 2;
  }
  try {
    const fs::path tests = argv[1], out = argv[2];
    fs::create_directories(out);
    Seeds seeds(out);
    add_sass(seeds, tests);
    add_gcn(seeds, tests);
    add_traces(seeds, out);
    seeds.add_files("ptx_parse", tests / "kernels/data/ptx", ".ptx");
    seeds.add_files("elf", tests / "kernels/data/sass", ".cubin");
    seeds.add_files("elf", tests / "data/gcn", ".hsaco");
    seeds.add_files("sass_cubin", tests / "kernels/data/sass", ".cubin");
    seeds.add_files("sass_text", tests / "kernels/data/sass", ".sass");
    seeds.add_files("gcn_code_object", tests / "data/gcn", ".hsaco");
    seeds.add_files("gcn_text", tests / "kernels/data/gcn", ".s");
    for (const char* ending : {".o", ".a", ".fatbin"})
      seeds.add_files("containers", tests / "data/exec", ending);
    seeds.add_files("script", tests / "conformance", ".lw");
  } catch (const std::exception& e) {
    std::cerr << "fuzz_seeds: " << e.what() << "\n";
    return 1;
  }
  return 0;
}
