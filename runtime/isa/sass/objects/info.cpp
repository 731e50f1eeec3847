#include "runtime/isa/sass/objects/info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "runtime/isa/sass/lowering/link.hpp"

namespace lanewise::sass {
namespace {

using elf::Bytes;
using elf::ElfError;

constexpr uint32_t kUnboundedStack = 0xffffffff;  // the kernel recurses

enum Attribute : uint8_t {
  kMaxThreads = 0x05,
  kFrameSize = 0x11,
  kMinStackSize = 0x12,
  kParamInfo = 0x17,
  kParamSize = 0x19,
  kMaxStackSize = 0x23,
  kJumpTargets = 0x34,
};

/// One record of an .nv.info section.
struct Info {
  uint8_t attribute = 0;
  Bytes payload;
};

std::vector<Info> read_info(Bytes data) {
  std::vector<Info> out;
  for (uint64_t at = 0; at < data.size();) {
    const auto format = elf::read<uint8_t>(data, at, "an .nv.info record");
    const auto value = elf::read<uint16_t>(data, at + 2, "an .nv.info record");
    Info i;
    i.attribute = elf::read<uint8_t>(data, at + 1, "an .nv.info record");
    if (format < 1 || format > 4)
      throw ElfError(fmt::format(".nv.info format {} is unknown", format));
    const uint64_t inlined = format == 4 ? 4 : 2, length = format == 4 ? value : 2;
    if (at + inlined + length > data.size()) throw ElfError("an .nv.info record is cut off");
    i.payload = data.subspan(at + inlined, length);
    at += inlined + length;
    out.push_back(i);
  }
  return out;
}

}  // namespace

std::map<uint32_t, uint32_t> stack_sizes(Bytes info) {
  std::map<uint32_t, uint32_t> out;
  for (const Info& i : read_info(info)) {
    if (i.attribute != kFrameSize && i.attribute != kMinStackSize && i.attribute != kMaxStackSize)
      continue;
    const auto symbol = elf::read<uint32_t>(i.payload, 0, "a stack size");
    auto bytes = elf::read<uint32_t>(i.payload, 4, "a stack size");
    if (bytes == kUnboundedStack) bytes = kRecursionStack;
    out[symbol] = std::max(out[symbol], bytes);
  }
  return out;
}

void read_parameters(Bytes info, Kernel& k) {
  k.has_params = true;
  std::map<unsigned, ir::Param> params;
  for (const Info& i : read_info(info)) {
    if (i.attribute == kParamSize) {
      k.param_bytes = elf::read<uint16_t>(i.payload, 0, "a parameter size");
    } else if (i.attribute == kMaxThreads) {
      for (unsigned n = 0; n < 3; ++n)
        k.max_block[n] = elf::read<uint32_t>(i.payload, 4 * n, "a thread limit");
    } else if (i.attribute == kParamInfo) {
      const auto ordinal = elf::read<uint16_t>(i.payload, 4, "a parameter");
      ir::Param p;
      p.name = fmt::format("param{}", ordinal);
      p.offset = elf::read<uint16_t>(i.payload, 6, "a parameter");
      p.size = elf::read<uint32_t>(i.payload, 8, "a parameter") >> 18;
      params[ordinal] = p;
    }
  }
  for (auto& [ordinal, p] : params) {
    if (p.offset + p.size > k.param_bytes)
      throw ElfError(
          fmt::format("parameter {} of '{}' lies outside the parameter block", ordinal, k.name));
    k.params.push_back(std::move(p));
  }
}

void read_jumps(Bytes info, Kernel& k) {
  constexpr const char* kWhat = "a list of a jump's targets";
  for (const Info& i : read_info(info)) {
    if (i.attribute != kJumpTargets) continue;
    for (uint64_t at = 0; at < i.payload.size();) {
      const auto pc = elf::read<uint32_t>(i.payload, at, kWhat);
      const auto count = elf::read<uint32_t>(i.payload, at + 8, kWhat);
      at += 12;
      // Without a target it is a call through a pointer, of which nothing is known.
      for (uint32_t n = 0; n < count; ++n, at += 4)
        k.jumps[pc].push_back(elf::read<uint32_t>(i.payload, at, kWhat));
    }
  }
}

}  // namespace lanewise::sass
