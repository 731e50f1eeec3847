// Bundles of clang: device code for several targets in one.
#include <elf.h>

#include <cstring>
#include <string>
#include <string_view>

#include "runtime/host/driver/modules.hpp"
#include "runtime/host/hip/entry.hpp"

namespace lanewise::hip {
namespace {

constexpr std::string_view kMagic = "__CLANG_OFFLOAD_BUNDLE__", kCompressed = "CCOB";

uint64_t number_at(const char* at) {
  uint64_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

bool runs(std::string_view target) {
  for (const std::string_view gpu : {"gfx803", "gfx802", "gfx801", "gfx700", "gfx701", "gfx600"})
    if (target.find(std::string("amdgcn-amd-amdhsa--") + std::string(gpu)) !=
        std::string_view::npos)
      return true;
  return false;
}

}  // namespace

CodeObject code_object_in(const void* data) {
  const auto* const bundle = static_cast<const char*>(data);
  if (std::memcmp(bundle, ELFMAG, SELFMAG) == 0) return {data, driver::bytes_of_image(data)};
  if (std::string_view(bundle, kCompressed.size()) == kCompressed) {
    report_line(
        "the program's device code is a compressed bundle: build it with "
        "-no-offload-compress");
    fail(Code::no_binary);
  }
  require(std::string_view(bundle, kMagic.size()) == kMagic, Code::invalid_image);
  std::string all;
  const char* at = bundle + kMagic.size();
  const uint64_t count = number_at(at);
  at += 8;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t offset = number_at(at), bytes = number_at(at + 8), length = number_at(at + 16);
    const std::string_view target(at + 24, length);
    at += 24 + length;
    if (bytes != 0 && runs(target)) return {bundle + offset, bytes};
    if (!target.starts_with("host")) all += (all.empty() ? "" : ", ") + std::string(target);
  }
  report_line("the program's device code is for " + (all.empty() ? "no GPU" : all) +
              "; GCN1 to GCN3 run here: build it with --offload-arch=gfx803");
  fail(Code::no_binary);
}

}  // namespace lanewise::hip
