// Build tool: turns the compiled library (one module with a dummy entry point) into a SPIR-V
// library and prints it as C++. Drops the entry point and all names, exports the lw_ functions.
// Conversions between floats round: compilers that take narrowing and widening again for nothing
// are given so, which GLSL's `precise` does not do. Negation rounds nothing: drivers for GPUs
// without a fused sum of its own split what is fused behind an exact one.
//
// usage: export_library IN.spv OUT.cpp SYMBOL
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

using Words = std::vector<uint32_t>;

// The few opcodes this tool looks at, by their numbers in the SPIR-V specification.
enum : uint32_t {
  kSourceContinued = 2,
  kSource = 3,
  kSourceExtension = 4,
  kName = 5,
  kMemberName = 6,
  kString = 7,
  kLine = 8,
  kMemoryModel = 14,
  kEntryPoint = 15,
  kExecutionMode = 16,
  kCapability = 17,
  kFunction = 54,
  kFunctionEnd = 56,
  kDecorate = 71,
  kFConvert = 115,
  kFNegate = 127,
  kNoLine = 317,
  kModuleProcessed = 330
};
constexpr uint32_t kCapabilityLinkage = 5, kDecorationBuiltIn = 11, kDecorationLinkage = 41,
                   kDecorationNoContraction = 42;
constexpr uint32_t kMagic = 0x07230203, kExport = 0;

std::string text_at(const Words& w, size_t at) {
  return std::string(reinterpret_cast<const char*>(&w[at]));
}

void append_text(Words& out, const std::string& text) {
  const size_t at = out.size();
  out.resize(at + text.size() / 4 + 1, 0);
  std::memcpy(&out[at], text.data(), text.size());
}

void append_export(Words& out, uint32_t id, const std::string& name) {
  const size_t at = out.size();
  out.insert(out.end(), {0, id, kDecorationLinkage});
  append_text(out, name);
  out.push_back(kExport);
  out[at] = kDecorate | static_cast<uint32_t>(out.size() - at) << 16;
}

void append_exact_conversions(Words& out, const Words& in) {
  for (size_t at = 5; at < in.size(); at += in[at] >> 16)
    if ((in[at] & 0xffff) == kFConvert)
      out.insert(out.end(), {kDecorate | 3U << 16, in[at + 2], kDecorationNoContraction});
}

bool dropped(uint32_t op) {
  switch (op) {
    case kSourceContinued:
    case kSource:
    case kSourceExtension:
    case kName:
    case kMemberName:
    case kString:
    case kLine:
    case kNoLine:
    case kModuleProcessed:
    case kEntryPoint:
    case kExecutionMode:
      return true;
    default:
      return false;
  }
}

struct Names {
  std::map<uint32_t, std::string> exported;  ///< function id -> name
  std::set<uint32_t> entries;
  std::set<uint32_t> negations;
};

Names find_names(const Words& in) {
  Names names;
  for (size_t at = 5; at < in.size(); at += in[at] >> 16) {
    const uint32_t op = in[at] & 0xffff;
    if (op == kEntryPoint) names.entries.insert(in[at + 2]);
    if (op == kFNegate) names.negations.insert(in[at + 2]);
    if (op != kName) continue;
    const std::string name = text_at(in, at + 2);
    const size_t paren = name.find('(');
    if (name.rfind("lw_", 0) == 0 && paren != std::string::npos)
      names.exported[in[at + 1]] = name.substr(0, paren);
  }
  return names;
}

Words make_library(const Words& in) {
  const Names names = find_names(in);
  Words out(in.begin(), in.begin() + 5);
  bool exports_written = false, skipping = false;
  for (size_t at = 5; at < in.size(); at += in[at] >> 16) {
    const uint32_t op = in[at] & 0xffff, count = in[at] >> 16;
    if (op == kFunction) skipping = names.entries.count(in[at + 2]) != 0;
    const bool needless =
        op == kDecorate &&
        (in[at + 2] == kDecorationBuiltIn ||
         (in[at + 2] == kDecorationNoContraction && names.negations.contains(in[at + 1])));
    if (!skipping && !dropped(op) && !needless) {
      if (op == kDecorate && !exports_written) {
        exports_written = true;
        for (const auto& [id, name] : names.exported) append_export(out, id, name);
        append_exact_conversions(out, in);
      }
      out.insert(out.end(), in.begin() + static_cast<ptrdiff_t>(at),
                 in.begin() + static_cast<ptrdiff_t>(at + count));
      if (op == kCapability && in[at + 1] == 1)  // Shader: Linkage goes next to it
        out.insert(out.end(), {kCapability | 2U << 16, kCapabilityLinkage});
    }
    if (op == kFunctionEnd) skipping = false;
  }
  return out;
}

void print_cpp(std::ostream& os, const Words& words, const std::string& symbol) {
  os << "// Made by shaders/tools/export_library.cpp from shaders/lib.\n"
     << "#include \"shaders/library_words.hpp\"\n\nnamespace lanewise::shaders {\nnamespace {\n"
     << "constexpr uint32_t kWords[] = {";
  for (size_t i = 0; i < words.size(); ++i) os << (i % 16 == 0 ? "\n" : "") << words[i] << ',';
  os << "\n};\n}\nstd::span<const uint32_t> " << symbol << "() { return kWords; }\n"
     << "}  // namespace lanewise::shaders\n";
}

Words read_words(const char* path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return {};
  Words words(static_cast<size_t>(file.tellg()) / 4);
  file.seekg(0);
  file.read(reinterpret_cast<char*>(words.data()), static_cast<std::streamsize>(words.size() * 4));
  return words;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: export_library IN.spv OUT.cpp SYMBOL\n";
    return 2;
  }
  const Words in = read_words(argv[1]);
  if (in.size() < 5 || in[0] != kMagic) {
    std::cerr << "export_library: error: " << argv[1] << " is not a SPIR-V module\n";
    return 2;
  }
  std::ofstream out(argv[2]);
  print_cpp(out, make_library(in), argv[3]);
  out.close();
  if (!out) {
    std::cerr << "export_library: error: cannot write " << argv[2] << "\n";
    return 2;
  }
  return 0;
}
