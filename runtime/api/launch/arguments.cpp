#include "runtime/api/launch/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "runtime/guest/event_words.hpp"
#include "runtime/layout/launch_block.hpp"

namespace lanewise::host {
namespace {

bool is_integer(const Argument& arg) {
  return arg.kind == LW_ARG_SIGNED || arg.kind == LW_ARG_UNSIGNED;
}

/// The value of an integer argument, sign- or zero-extended to 64 bits.
uint64_t integer_value(const Argument& arg) {
  uint64_t value = 0;
  std::memcpy(&value, arg.bytes.all().data(), arg.bytes.all().size());
  const unsigned bits = 8 * static_cast<unsigned>(arg.bytes.all().size());
  if (arg.kind == LW_ARG_SIGNED && bits < 64 && ((value >> (bits - 1)) & 1) != 0)
    value |= ~0ULL << bits;
  return value;
}

/// True when the low `size` bytes keep the value, read either as signed or as unsigned.
bool fits(uint64_t value, unsigned size) {
  if (size >= 8) return true;
  const unsigned bits = 8 * size;
  const uint64_t high = value >> bits;
  const uint64_t sign_run = ~0ULL >> bits;
  return high == 0 || (high == sign_run && ((value >> (bits - 1)) & 1) != 0);
}

/// What the caller says the bytes are.
std::string_view kind_text(const Argument& arg) {
  return is_integer(arg)             ? "an integer"
         : arg.kind == LW_ARG_FLOAT  ? "a floating-point number"
         : arg.kind == LW_ARG_BUFFER ? "a buffer"
                                     : "bytes";
}

/// 32-bit addresses reach the arena's first 3.75 GiB, and some programs have no others.
bool has_narrow_addresses(const ir::Program& p) {
  return std::ranges::any_of(p.blocks, [&](const ir::Block& block) {
    return std::ranges::any_of(block.insts, [&](const ir::Inst& i) {
      if (!i.mem || i.src.empty() || !ir::wide_space(i.mem->space)) return false;
      return i.src[0].is_reg() && p.regs[i.src[0].index].width == ir::Width::b32;
    });
  });
}

/// A number of 64 bits may be an address, unless the program says which parameters are pointers.
bool may_be_pointer(const ir::Program& p, const ir::Param& param) {
  if (param.pointer) return true;
  if (ir::is_float(param.type)) return false;
  if (param.size < 8) return param.size == 4 && has_narrow_addresses(p);
  if (param.type == ir::Type::none) return true;
  return p.isa != ir::Isa::gcn && std::ranges::none_of(p.params, &ir::Param::pointer);
}

/// Which argument: kernels of code objects may name none.
std::string argument_text(const ir::Program& p, size_t i) {
  const std::string& name = p.params[i].name;
  return fmt::format("kernel '{}': argument {}{}", p.name, i + 1,
                     name.empty() ? std::string() : fmt::format(" ('{}')", name));
}

/// The same bytes mean different numbers: 1 for a parameter of type f32 would be 1.4e-45.
void check_kind(const ir::Program& p, size_t i, const Argument& arg) {
  const ir::Param& param = p.params[i];
  if (arg.kind == LW_ARG_BUFFER) {
    const std::string why = no_buffer(p, i);
    if (why.empty()) return;
    fail(ErrorDetail::argument_kind, why);
  }
  if (arg.kind == LW_ARG_BYTES || param.type == ir::Type::none) return;
  if ((arg.kind == LW_ARG_FLOAT) == ir::is_float(param.type)) return;
  fail(ErrorDetail::argument_kind,
       fmt::format("{} is declared as {}, {} was given", argument_text(p, i), ir::name(param.type),
                   kind_text(arg)));
}

void place_argument(const ir::Program& p, size_t i, const Argument& arg,
                    std::vector<std::byte>& block) {
  const ir::Param& param = p.params[i];
  if (param.offset > block.size() || block.size() - param.offset < param.size)
    throw Error(
        ErrorKind::usage,
        fmt::format("kernel '{}': argument {} ('{}') lies outside its {} bytes of arguments",
                    p.name, i + 1, param.name, block.size()));
  std::byte* at = block.data() + param.offset;
  if (arg.bytes.all().size() == param.size) {
    std::copy(arg.bytes.all().begin(), arg.bytes.all().end(), at);
    return;
  }
  if ((is_integer(arg) || arg.kind == LW_ARG_BUFFER) && param.size <= 8) {
    const uint64_t value = integer_value(arg);
    if (fits(value, param.size)) {
      std::memcpy(at, &value, param.size);
      return;
    }
  }
  fail(ErrorDetail::argument_kind,
       fmt::format("kernel '{}': argument {} ('{}') takes {} bytes, {} were given", p.name, i + 1,
                   param.name, param.size, arg.bytes.all().size()));
}

bool has_mesa_values(const ir::Program& p) {
  return std::ranges::any_of(p.needs.hidden,
                             [](const ir::Param& h) { return h.name == guest::kMesaValues; });
}

/// PTX declares its parameters, and a code object whose metadata lists what the runtime adds lists
/// all arguments, which may be none.
bool declares_parameters(const ir::Program& p) {
  return !p.params.empty() || p.isa == ir::Isa::ptx ||
         std::ranges::any_of(p.needs.hidden,
                             [](const ir::Param& h) { return h.name.starts_with("hidden_"); });
}

/// What Mesa puts behind the arguments of kernels that ask for it: the number of dimensions and
/// offsets of the grid, which no launch here has. Its files do not say who asks; only the size of
/// the block does.
void add_mesa_values(const ir::Program& p, uint32_t dimensions, std::vector<std::byte>& block) {
  constexpr size_t kBytes = 16;
  const size_t at = (block.size() + 3) / 4 * 4;
  if (!has_mesa_values(p) || at + kBytes != p.param_bytes) return;
  block.resize(p.param_bytes);
  std::memcpy(block.data() + at, &dimensions, sizeof dimensions);
}

/// Kernels whose text names no parameters (SASS, bare GCN streams): the arguments in order, each at
/// the next multiple of its own size, as a C compiler lays them out.
std::vector<std::byte> unnamed_parameters(const ir::Program& p, std::span<const Argument> args,
                                          uint32_t dimensions) {
  std::vector<std::byte> block;
  for (const Argument& arg : args) {
    const size_t size = arg.bytes.all().size();
    const size_t align = std::clamp<size_t>(std::bit_floor(size), 1, 16);
    block.resize((block.size() + align - 1) / align * align);
    block.insert(block.end(), arg.bytes.all().begin(), arg.bytes.all().end());
  }
  add_mesa_values(p, dimensions, block);
  if (block.size() < p.param_bytes) {
    fail(ErrorDetail::argument_count,
         fmt::format("kernel '{}' reads {} bytes of parameters, the {} arguments given take "
                     "{}",
                     p.name, p.param_bytes, args.size(), block.size()));
  }
  return block;
}

}  // namespace

void check_devices(const Device& device, std::span<const Argument> args) {
  for (size_t i = 0; i < args.size(); ++i) {
    const auto& buffer = args[i].buffer;
    if (buffer == nullptr || buffer->memory.device.get() == &device) continue;
    fail(ErrorDetail::other_device,
         fmt::format("argument {} is a buffer of another device ({}); the kernel "
                     "was loaded on {}",
                     i + 1, buffer->memory.device->info.name, device.info.name));
  }
}

std::string no_buffer(const ir::Program& p, size_t index) {
  const ir::Param& param = p.params[index];
  if (may_be_pointer(p, param)) return {};
  const std::string declared = param.type == ir::Type::none ? fmt::format("{} bytes", param.size)
                                                            : std::string(ir::name(param.type));
  return fmt::format("{} is declared as {}, a buffer was given: it takes no pointer",
                     argument_text(p, index), declared);
}

std::vector<std::byte> parameter_block(const ir::Program& p, std::span<const Argument> args,
                                       uint32_t dimensions) {
  if (!declares_parameters(p)) return unnamed_parameters(p, args, dimensions);
  if (args.size() != p.params.size()) {
    std::string wanted;
    for (const ir::Param& param : p.params) {
      wanted += fmt::format(
          "{}{}{}({}{} bytes)", wanted.empty() ? "" : ", ", param.name,
          param.name.empty() ? "" : " ",
          param.type == ir::Type::none ? std::string() : std::string(ir::name(param.type)) + ", ",
          param.size);
    }
    fail(ErrorDetail::argument_count,
         fmt::format("kernel '{}' takes {} arguments, {} were given{}", p.name, p.params.size(),
                     args.size(), wanted.empty() ? std::string() : "; in order: " + wanted));
  }
  std::vector<std::byte> block(p.param_bytes);
  for (size_t i = 0; i < args.size(); ++i) {
    check_kind(p, i, args[i]);
    place_argument(p, i, args[i], block);
  }
  return block;
}

}  // namespace lanewise::host
