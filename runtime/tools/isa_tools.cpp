#include "runtime/tools/isa_tools.hpp"

#include <fmt/format.h>

namespace lanewise::tools {
namespace {

const std::vector<IsaTools>& all_tools() {
  static const std::vector<IsaTools> tools = {sass_tools(), gcn_tools()};
  return tools;
}

}  // namespace

std::vector<std::string> isa_names() {
  std::vector<std::string> names;
  for (const IsaTools& t : all_tools()) names.emplace_back(t.name);
  return names;
}

const IsaTools& tools_named(std::string_view name) {
  for (const IsaTools& t : all_tools())
    if (t.name == name) return t;
  throw Error(ErrorKind::usage,
              fmt::format("there is no assembler for '{}'; those that there are: {}", name,
                          fmt::join(isa_names(), ", ")));
}

const IsaTools* tools_for_container(std::span<const std::byte> file) {
  for (const IsaTools& t : all_tools())
    if (t.is_container(file)) return &t;
  return nullptr;
}

std::string tsv(const Code& code, bool remarks) {
  std::string out;
  for (const CodeRow& r : code.rows) {
    out += fmt::format("{}\t{}\t{}", r.address, r.word, r.text);
    if (remarks) out += fmt::format("\t{}\t{}", r.control, r.remark);
    out += '\n';
  }
  return out;
}

}  // namespace lanewise::tools
