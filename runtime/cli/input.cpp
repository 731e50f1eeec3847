#include "runtime/cli/input.hpp"

#include <cstdio>

#include "runtime/support/input_file.hpp"
#include "runtime/support/output_file.hpp"

namespace lanewise::cli {

std::string read_input(const std::string& path) {
  if (path != "-") return read_file(path);
  std::string text;
  char chunk[65536];
  for (size_t n = 0; (n = std::fread(chunk, 1, sizeof chunk, stdin)) > 0;) {
    text.append(chunk, n);
    if (text.size() > kMaxProgramBytes)
      throw Error(ErrorKind::usage, "standard input is larger than a program can be");
  }
  if (std::ferror(stdin) != 0) throw Error(ErrorKind::usage, "cannot read standard input");
  return text;
}

std::string input_name(const std::string& path) {
  return path == "-" ? "<stdin>" : path;
}

std::string include_folder(const std::string& path) {
  return path == "-" ? std::string() : folder_of(path);
}

Module load_input(Device& device, const std::vector<std::string>& paths, Isa isa,
                  const std::string& target) {
  if (paths.size() == 1)
    return device.load_text(read_input(paths[0]), isa, input_name(paths[0]), target,
                            include_folder(paths[0]));
  std::vector<ModuleInput> inputs;
  for (const std::string& path : paths) inputs.push_back({read_input(path), input_name(path)});
  return device.link(inputs, isa, target);
}

void write_output(const std::string& path, std::string_view data) {
  if (!path.empty() && path != "-") return write_file(path, data);
  std::fwrite(data.data(), 1, data.size(), stdout);  // whether it went well is asked at the end
}

}  // namespace lanewise::cli
