#include "tests/fuzz/nvdisasm/vendor.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace nvdisasm {
namespace {

constexpr uint64_t kNop = 0x50b0000000070f00, kNopControl = 0x7e0;

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void put(std::ofstream& out, uint64_t word) {
  for (unsigned n = 0; n < 8; ++n) out.put(static_cast<char>(word >> (8 * n)));
}

/// "  /*0008*/   FADD R0, R1, R2 ;  /* 0x... */": address and text.
std::optional<std::pair<uint64_t, std::string>> read_line(const std::string& line) {
  const size_t open = line.find("/*");
  if (open == std::string::npos) return std::nullopt;
  char* end = nullptr;
  const uint64_t address = std::strtoull(line.c_str() + open + 2, &end, 16);
  if (end == line.c_str() + open + 2 || std::string_view(end, 2) != "*/") return std::nullopt;
  std::string text = end + 2;
  text.erase(std::min(text.find(';'), text.size()));
  return std::pair(address, squeezed(text));
}

}  // namespace

std::string squeezed(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\t';
    if (!blank || (!out.empty() && out.back() != ' ')) out += blank ? ' ' : c;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

Vendor::Vendor(std::string program, std::string folder, unsigned arch)
    : program_(std::move(program)), folder_(std::move(folder)), arch_(arch) {}

Vendor::Output Vendor::run(std::span<const Word> words) const {
  const std::string code = folder_ + "/nvdisasm_words.bin", text = code + ".txt",
                    errors = code + ".err";
  {
    std::ofstream out(code, std::ios::binary);
    for (const Word& w : words) {
      put(out, w.control | kNopControl << 21 | kNopControl << 42);
      for (const uint64_t word : {w.bits, kNop, kNop}) put(out, word);
    }
  }
  const std::string command = fmt::format("'{}' -b SM{} -novliw -ndf '{}' >'{}' 2>'{}'", program_,
                                          arch_, code, text, errors);
  // Its exit status says no more than its messages do.
  if (std::system(command.c_str()) == -1) throw std::runtime_error("cannot run " + program_);
  return {contents(text), contents(errors)};
}

bool Vendor::usable() const {
  const Word nop{kNop, static_cast<uint32_t>(kNopControl)};
  const Output o = run({&nop, 1});
  return o.text.find("NOP") != std::string::npos;
}

/// It stops at the first word that it refuses, and prints nothing then: the rest is asked again.
std::vector<std::optional<std::string>> Vendor::texts(std::span<const Word> words) const {
  std::vector<std::optional<std::string>> out(words.size());
  std::vector<Word> accepted(words.begin(), words.end());
  std::vector<bool> refused(words.size());
  // A refused word becomes a NOP, so that every place keeps its address.
  for (size_t round = 0; round <= words.size(); ++round) {
    const Output o = run(accepted);
    if (const size_t at = o.errors.find("at address 0x"); at != std::string::npos) {
      const size_t place = std::strtoull(o.errors.c_str() + at + 11, nullptr, 16) / 32;
      if (place >= words.size() || refused[place]) throw std::runtime_error(o.errors);
      refused[place] = true;
      accepted[place] = {kNop, static_cast<uint32_t>(kNopControl)};
      continue;
    }
    std::istringstream lines(o.text);
    for (std::string line; std::getline(lines, line);)
      if (const auto read = read_line(line); read && read->first % 32 == 8)
        if (read->first / 32 < words.size() && !refused[read->first / 32])
          out[read->first / 32] = read->second;
    return out;
  }
  return out;
}

}  // namespace nvdisasm
