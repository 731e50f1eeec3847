#include "runtime/ir/text.hpp"

#include <fmt/format.h>

namespace lanewise::ir::text {

std::string_view op_name(Op op) {
  std::string_view n = info(op).name;
  if (n.ends_with('_')) n.remove_suffix(1);
  return n;
}

std::string_view mode_name(Op op, uint8_t mode) {
  std::string_view n;
  switch (op) {
    case Op::mov:
      n = ir::name(static_cast<Choice>(mode));
      break;
    case Op::sreg:
      n = ir::name(static_cast<SReg>(mode));
      break;
    case Op::barrier:
      n = ir::name(static_cast<BarrierKind>(mode));
      break;
    case Op::shfl:
      n = ir::name(static_cast<ShflMode>(mode));
      break;
    case Op::cachectl:
      n = ir::name(static_cast<CacheCtl>(mode));
      break;
    default:
      break;
  }
  return n == "?" ? std::string_view() : n;
}

std::optional<uint8_t> mode_named(Op op, std::string_view name) {
  for (unsigned m = 0; m < 256; ++m) {
    const std::string_view n = mode_name(op, static_cast<uint8_t>(m));
    if (n.empty() && m != 0) return std::nullopt;
    if (n == name) return static_cast<uint8_t>(m);
  }
  return std::nullopt;
}

std::string_view name(Isa isa) {
  constexpr std::string_view kNames[] = {"ptx", "sass", "gcn"};
  return kNames[static_cast<size_t>(isa)];
}

std::string quote(std::string_view s) {
  std::string out = "\"";
  for (const char c : s) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace lanewise::ir::text
