// A call of CUDA's vprintf as instructions: a record in the module's print buffer
// (runtime/layout/print_records.hpp).
#pragma once

#include <algorithm>
#include <bit>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/ir/builder.hpp"
#include "runtime/isa/print_strings.hpp"
#include "runtime/layout/addresses.hpp"
#include "runtime/layout/print_records.hpp"
#include "runtime/support/print_format.hpp"

namespace lanewise::isa {

/// A format of the module and what it reads.
struct KnownFormat {
  ir::Operand address;
  VariableArguments needs;
};

/// The texts of the module's variables that ask for arguments. `address_of(name, offset)`.
template <typename AddressOf>
std::vector<KnownFormat> known_formats(std::span<const ir::Global> globals, AddressOf address_of) {
  constexpr size_t kMost = 256;  // each is compared with at every call that wants them
  const auto is_text = [](std::byte b) {
    const auto c = std::to_integer<unsigned char>(b);
    return c >= ' ' || (c >= '\a' && c <= '\r') || c == '\033';
  };
  std::vector<KnownFormat> found;
  for (const ir::Global& g : globals) {
    for (auto at = g.init.begin(); at != g.init.end() && g.relocs.empty();) {
      const auto end = std::find(at, g.init.end(), std::byte{0});
      std::string text;
      if (std::all_of(at, end, is_text))
        for (auto c = at; c != end; ++c) text += static_cast<char>(*c);
      const VariableArguments needs = variable_arguments(text);
      if (needs.count != 0 && found.size() < kMost)
        found.push_back({address_of(g.name, at - g.init.begin()), needs});
      at = end == g.init.end() ? end : end + 1;
    }
  }
  return found;
}

struct PrintCall {
  ir::Operand buffer;     ///< the address of the variable kPrintBuffer
  ir::Operand format;     ///< b64: a generic address
  ir::Operand arguments;  ///< b64: likewise
  /// What the format reads; nothing where it is chosen at run time. Then what lies behind the
  /// address in the lane's memory is taken, which holds all of them.
  std::optional<VariableArguments> needs;
  std::vector<KnownFormat> formats;  ///< that may be chosen; a call with any other one returns 0
};

class PrintCallEmitter : PrintEmitter {
 public:
  PrintCallEmitter(ir::Builder& b, const PrintCall& call) : PrintEmitter(b), call_(call) {}

  /// What vprintf returns: -1 where the record did not fit. In a block without a guard.
  ir::Reg run() {
    using enum ir::Op;
    b_.program().needs.prints = true;
    const bool known = call_.needs.has_value();
    const auto words =
        known ? static_cast<uint32_t>((call_.needs->bytes + 3) / 4) : guest::kMostPrintWords;
    const uint32_t fixed = guest::kPrintRecordHeader + (words + 1) / 2 * 8;
    const ir::Reg count = known ? b_.make(mov, ir::Type::u32, {ir::imm(words)}) : in_frame();
    ir::Operand returns = ir::imm(known ? call_.needs->count : 0);
    PrintStrings strings;
    strings.arguments = call_.arguments;
    if (known) {
      strings.which = ir::imm(call_.needs->strings);
      strings.slots = ir::imm(std::bit_width(call_.needs->strings));
    } else {
      strings.arguments = offset_;
      strings.space = ir::Space::local;
      strings.slots = b_.make(shr, ir::Type::u32, {count, ir::imm(1)});
      returns = find_format(strings);
    }
    const bool any_strings = !known || call_.needs->strings != 0;
    PrintStringsEmitter copies(b_, strings);
    ir::Operand bytes = ir::imm(fixed);
    if (any_strings) bytes = limited(b_.make(add, ir::Type::u32, {copies.measure(), bytes}));

    const ir::Reg buffer = b_.make(mov, ir::Type::u64, {call_.buffer});
    // Once it is full nobody adds to the count, so that it never wraps.
    const ir::Reg used = b_.reg(ir::Width::b32), old = b_.reg(ir::Width::b32);
    access(load, {used}, {buffer}, ir::Type::u32, 0).order = ir::Order::relaxed;
    const ir::Reg capacity = below(ir::Type::u32, used, ir::imm(guest::kPrintCapacity));
    ir::Mem& count_up = access(atom, {old}, {buffer, bytes}, ir::Type::u32, 0, {capacity});
    count_up.order = ir::Order::relaxed;
    const ir::Reg end = b_.make(ir::Op::add, ir::Type::u32, {old, bytes});
    fits_ = both(capacity, below(ir::Type::u32, end, ir::imm(guest::kPrintCapacity + 1)));
    record_ = address_behind(buffer, old);
    put(bytes, 0);
    put(b_.make(or_, ir::Type::u32, {count, ir::imm(any_strings ? fixed / 8 << 16 : 0)}), 4);
    access(store, {}, {record_, call_.format}, ir::Type::u64, guest::kPrintHeader + 8, {fits_});
    for (uint32_t n = 0; n < words; ++n) argument(n, count);
    if (any_strings) {
      const uint32_t copy = b_.add_block(), after = b_.add_block();
      b_.branch({fits_}, copy, after);
      b_.set_block(copy);
      const ir::Reg to = address_behind(record_, ir::imm(guest::kPrintHeader + fixed));
      copies.copy(to, address_behind(buffer, b_.make(add, ir::Type::u32,
                                                     {end, ir::imm(guest::kPrintHeader)})));
      b_.jump(after);
      b_.set_block(after);
    }
    return b_.make(select, ir::Type::u32, {fits_, returns, ir::imm(0xffffffff)});
  }

 private:
  /// Which of the known formats it is: what it returns, and where its strings are.
  ir::Reg find_format(PrintStrings& strings) {
    using enum ir::Op;
    const ir::Reg returns = b_.make(mov, ir::Type::u32, {ir::imm(0)});
    const ir::Reg which = b_.make(mov, ir::Type::u32, {ir::imm(0)});
    for (const KnownFormat& f : call_.formats) {
      const ir::Reg address = b_.make(mov, ir::Type::u64, {f.address});
      const ir::Reg is = compare(ir::Type::u64, call_.format, address, ir::Cond::eq);
      b_.emit(select, ir::Type::u32, {returns}, {is, ir::imm(f.needs.count), returns});
      if (f.needs.strings != 0)
        b_.emit(select, ir::Type::u32, {which}, {is, ir::imm(f.needs.strings), which});
    }
    strings.which = which;
    strings.unknown = compare(ir::Type::u32, returns, ir::imm(0), ir::Cond::eq);
    return returns;
  }
  ir::Reg address_behind(ir::Reg base, ir::Operand bytes) {
    return b_.make(ir::Op::add, ir::Type::u64, {base, wide(bytes)});
  }
  /// A record that is larger than the whole buffer need not say by how much.
  ir::Reg limited(ir::Reg bytes) {
    return b_.make(ir::Op::min, ir::Type::u32, {bytes, ir::imm(guest::kPrintCapacity + 8)});
  }
  void put(ir::Operand word, int64_t at) {
    access(ir::Op::store, {}, {record_, word}, ir::Type::u32, guest::kPrintHeader + at, {fits_});
  }

  /// Words from the address of the arguments to the end of the lane's memory, kMostPrintWords at
  /// most.
  ir::Reg in_frame() {
    using enum ir::Op;
    const uint32_t local = b_.program().local_bytes;
    const ir::Reg offset =
        b_.make(sub, ir::Type::u64, {call_.arguments, ir::imm(guest::kLocalWindow)});
    const ir::Reg inside = below(ir::Type::u64, offset, ir::imm(local));
    offset_ = narrow(offset);
    const ir::Reg rest = b_.make(sub, ir::Type::u32, {ir::imm(local), offset_});
    const ir::Reg words = b_.make(shr, ir::Type::u32, {rest, ir::imm(2)});
    const ir::Reg most = b_.make(min, ir::Type::u32, {words, ir::imm(guest::kMostPrintWords)});
    return b_.make(select, ir::Type::u32, {inside, most, ir::imm(0)});
  }

  void argument(uint32_t n, ir::Reg count) {
    const ir::Reg word = b_.reg(ir::Width::b32);
    if (call_.needs) {
      access(ir::Op::load, {word}, {call_.arguments}, ir::Type::u32, 4 * n, {fits_}).space =
          ir::Space::generic;
      return put(word, guest::kPrintRecordHeader + 4 * n);
    }
    const ir::Reg wanted = both(below(ir::Type::u32, ir::imm(n), count), fits_);
    access(ir::Op::load, {word}, {offset_}, ir::Type::u32, 4 * n, {wanted}).space =
        ir::Space::local;
    access(ir::Op::store, {}, {record_, word}, ir::Type::u32,
           guest::kPrintHeader + guest::kPrintRecordHeader + 4 * n, {wanted});
  }

  const PrintCall& call_;
  ir::Reg fits_, record_, offset_;
};

/// The variable that kernels print to, as every launch finds it.
inline ir::Global print_buffer() {
  ir::Global g;
  g.name = guest::kPrintBuffer;
  g.align = 16;
  g.size = guest::kPrintBytes;
  g.init.resize(guest::kPrintHeader);
  for (unsigned n = 0; n < 4; ++n) g.init[4 + n] = std::byte(guest::kPrintBytes >> 8 * n & 0xff);
  return g;
}

/// Adds it to modules whose kernels print.
inline void add_print_buffer(ir::Module& module) {
  const auto prints = [](const ir::Program& kernel) { return kernel.needs.prints; };
  if (std::ranges::any_of(module.kernels, prints)) module.globals.push_back(print_buffer());
}

}  // namespace lanewise::isa
