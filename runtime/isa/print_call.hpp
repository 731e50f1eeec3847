// A call of CUDA's vprintf as instructions: a record in the module's print buffer
// (runtime/guest/print_layout.hpp).
#pragma once

#include <algorithm>
#include <optional>

#include "runtime/guest/layout.hpp"
#include "runtime/guest/print_layout.hpp"
#include "runtime/ir/builder.hpp"

namespace lanewise::isa {

struct PrintCall {
  ir::Operand buffer;     ///< the address of the variable kPrintBuffer
  ir::Operand format;     ///< b64: a generic address
  ir::Operand arguments;  ///< b64: likewise
  /// Words of arguments that the format reads; nothing where the format is not known. Then what
  /// lies behind the address in the lane's memory is taken, which has room for all of them.
  std::optional<uint32_t> words;
  uint32_t returns = 0;  ///< the number of arguments, 0 where it is not known
};

class PrintCallEmitter {
 public:
  PrintCallEmitter(ir::Builder& b, const PrintCall& call) : b_(b), call_(call) {}

  /// What vprintf returns: -1 where the record found no room. In a block without a guard.
  ir::Reg run() {
    using enum ir::Op;
    b_.program().needs.prints = true;
    const uint32_t words = call_.words.value_or(guest::kMostPrintWords);
    const uint32_t bytes = guest::kPrintRecordHeader + (words + 1) / 2 * 8;
    const ir::Reg buffer = b_.make(mov, ir::Type::u64, {call_.buffer});
    // Once it is full nobody adds to the count, so that it never wraps.
    const ir::Reg used = b_.reg(ir::Width::b32), old = b_.reg(ir::Width::b32);
    access(load, {used}, {buffer}, ir::Type::u32, 0).order = ir::Order::relaxed;
    const ir::Reg room = compare(used, guest::kPrintCapacity);
    ir::Mem& count_up = access(atom, {old}, {buffer, ir::imm(bytes)}, ir::Type::u32, 0, {room});
    count_up.order = ir::Order::relaxed;
    const ir::Reg low = compare(old, guest::kPrintCapacity - bytes + 1);
    fits_ = b_.reg(ir::Width::pred);
    b_.emit(and_, ir::Type::pred, {fits_}, {room, low});
    const ir::Reg wide = b_.make(zext64, ir::Type::u64, {old});
    record_ = b_.make(ir::Op::add, ir::Type::u64, {buffer, wide});
    const ir::Reg count = call_.words ? b_.make(mov, ir::Type::u32, {ir::imm(words)}) : in_frame();
    put(ir::imm(bytes), 0);
    put(count, 4);
    access(store, {}, {record_, call_.format}, ir::Type::u64, guest::kPrintHeader + 8, {fits_});
    for (uint32_t n = 0; n < words; ++n) argument(n, count);
    return b_.make(select, ir::Type::u32, {fits_, ir::imm(call_.returns), ir::imm(0xffffffff)});
  }

 private:
  ir::Reg compare(ir::Operand a, uint32_t below) {
    const ir::Reg less = b_.reg(ir::Width::pred);
    b_.emit(ir::Op::icmp, ir::Type::u32, {less}, {a, ir::imm(below)}).cond = ir::Cond::lt;
    return less;
  }
  ir::Mem& access(ir::Op op, std::vector<ir::Reg> dst, std::vector<ir::Operand> src, ir::Type type,
                  int64_t offset, ir::Guard guard = {}) {
    ir::Inst& i = b_.emit(op, ir::Type::none, std::move(dst), std::move(src));
    i.guard = guard;
    i.mem = ir::Mem{};
    i.mem->elem = type;
    i.mem->offset = offset;
    return *i.mem;
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
    const ir::Reg inside = b_.reg(ir::Width::pred);
    b_.emit(icmp, ir::Type::u64, {inside}, {offset, ir::imm(local)}).cond = ir::Cond::lt;
    offset_ = b_.make(trunc32, ir::Type::u32, {offset});
    const ir::Reg rest = b_.make(sub, ir::Type::u32, {ir::imm(local), offset_});
    const ir::Reg words = b_.make(shr, ir::Type::u32, {rest, ir::imm(2)});
    const ir::Reg most = b_.make(min, ir::Type::u32, {words, ir::imm(guest::kMostPrintWords)});
    return b_.make(select, ir::Type::u32, {inside, most, ir::imm(0)});
  }

  void argument(uint32_t n, ir::Reg count) {
    const ir::Reg word = b_.reg(ir::Width::b32);
    if (call_.words) {
      access(ir::Op::load, {word}, {call_.arguments}, ir::Type::u32, 4 * n, {fits_}).space =
          ir::Space::generic;
      return put(word, guest::kPrintRecordHeader + 4 * n);
    }
    const ir::Reg there = b_.reg(ir::Width::pred), wanted = b_.reg(ir::Width::pred);
    b_.emit(ir::Op::icmp, ir::Type::u32, {there}, {ir::imm(n), count}).cond = ir::Cond::lt;
    b_.emit(ir::Op::and_, ir::Type::pred, {wanted}, {there, fits_});
    access(ir::Op::load, {word}, {offset_}, ir::Type::u32, 4 * n, {wanted}).space =
        ir::Space::local;
    access(ir::Op::store, {}, {record_, word}, ir::Type::u32,
           guest::kPrintHeader + guest::kPrintRecordHeader + 4 * n, {wanted});
  }

  ir::Builder& b_;
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
