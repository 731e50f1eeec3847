// The strings among the arguments of a call of vprintf as instructions: a lane copies them behind
// the arguments of its record, as they are at the call. What lies in shared or local memory is gone
// when the host reads the records, and a buffer may have been written again.
#pragma once

#include <functional>

#include "runtime/ir/builder.hpp"
#include "runtime/layout/addresses.hpp"
#include "runtime/layout/print_records.hpp"

namespace lanewise::isa {

/// What both emitters of such a call are made of.
class PrintEmitter {
 protected:
  explicit PrintEmitter(ir::Builder& b) : b_(b) {}

  ir::Reg wide(ir::Operand word) { return b_.make(ir::Op::zext64, ir::Type::u64, {word}); }
  ir::Reg narrow(ir::Operand pair) { return b_.make(ir::Op::trunc32, ir::Type::u32, {pair}); }
  ir::Reg compare(ir::Type type, ir::Operand a, ir::Operand b, ir::Cond cond) {
    const ir::Reg holds = b_.reg(ir::Width::pred);
    b_.emit(ir::Op::icmp, type, {holds}, {a, b}).cond = cond;
    return holds;
  }
  ir::Reg below(ir::Type type, ir::Operand a, ir::Operand limit) {
    return compare(type, a, limit, ir::Cond::lt);
  }
  ir::Reg not_zero(ir::Type type, ir::Operand a) {
    return compare(type, a, ir::imm(0), ir::Cond::ne);
  }
  ir::Reg both(ir::Reg a, ir::Reg b) { return b_.make(ir::Op::and_, ir::Type::pred, {a, b}); }
  ir::Reg either(ir::Reg a, ir::Reg b) { return b_.make(ir::Op::or_, ir::Type::pred, {a, b}); }
  ir::Mem& access(ir::Op op, std::vector<ir::Reg> dst, std::vector<ir::Operand> src, ir::Type type,
                  int64_t offset, ir::Guard guard = {}) {
    ir::Inst& i = b_.emit(op, ir::Type::none, std::move(dst), std::move(src));
    i.guard = guard;
    i.mem = ir::Mem{};
    i.mem->elem = type;
    i.mem->offset = offset;
    return *i.mem;
  }

  ir::Builder& b_;
};

/// Where the strings are looked for.
struct PrintStrings {
  ir::Operand arguments;  ///< address of the first argument
  ir::Space space = ir::Space::generic;
  ir::Operand slots;  ///< how many pairs of words are arguments
  /// A word; bit n: what lies 8 * n bytes behind is a string's address.
  ir::Operand which;
  /// A predicate: nothing is known of the format, and every address in shared or local memory is
  /// taken for a string's. None: it is always known.
  ir::Operand unknown;
};

/// Both functions go on in a block of their own.
class PrintStringsEmitter : PrintEmitter {
 public:
  PrintStringsEmitter(ir::Builder& b, const PrintStrings& strings)
      : PrintEmitter(b), strings_(strings) {}

  /// Bytes that the strings take in the record.
  ir::Reg measure() {
    const ir::Reg sum = b_.make(ir::Op::mov, ir::Type::u32, {ir::imm(0)});
    Visit visit;
    visit.end = [&] { b_.emit(ir::Op::add, ir::Type::u32, {sum}, {sum, entry_bytes()}); };
    walk(visit);
    return sum;
  }

  /// Writes them from `to` on. Another lane may have changed a string since it was measured, so
  /// what does not end before `end` is cut off there.
  void copy(ir::Reg to, ir::Reg end) {
    using enum ir::Op;
    const ir::Reg last = b_.make(sub, ir::Type::u64, {end, ir::imm(guest::kPrintStringHeader)});
    Visit visit;
    visit.wanted = [&] { return below(ir::Type::u64, to, last); };
    visit.begin = [&] {
      put(to, slot_, ir::Type::u32, 0);
      const ir::Reg left = narrow(b_.make(sub, ir::Type::u64, {last, to}));
      b_.emit(min, ir::Type::u32, {limit_}, {limit_, left});
    };
    visit.character = [&](ir::Reg c) {
      const ir::Reg at = b_.make(add, ir::Type::u64, {to, wide(length_)});
      put(at, c, ir::Type::u8, guest::kPrintStringHeader);
    };
    visit.end = [&] {
      put(to, length_, ir::Type::u32, 4);
      b_.emit(add, ir::Type::u64, {to}, {to, wide(entry_bytes())});
    };
    walk(visit);
  }

 private:
  struct Visit {
    std::function<ir::Reg()> wanted;
    std::function<void()> begin, end;
    std::function<void(ir::Reg)> character;
  };

  void walk(const Visit& visit) {
    using enum ir::Op;
    const uint32_t head = b_.add_block(), begin = b_.add_block(), character = b_.add_block(),
                   end = b_.add_block(), next = b_.add_block(), after = b_.add_block();
    slot_ = b_.make(mov, ir::Type::u32, {ir::imm(0)});
    b_.jump(head);

    b_.set_block(head);
    const ir::Reg address = argument();
    limit_ = b_.make(mov, ir::Type::u32, {ir::imm(guest::kPrintCapacity)});
    ir::Reg is_string = is_known(address);
    if (strings_.unknown.is_reg()) is_string = either(is_string, lies_in_a_window(address));
    if (visit.wanted) is_string = both(is_string, visit.wanted());
    b_.branch({is_string}, begin, next);

    b_.set_block(begin);
    if (visit.begin) visit.begin();
    length_ = b_.make(mov, ir::Type::u32, {ir::imm(0)});
    b_.jump(character);

    b_.set_block(character);
    const ir::Reg at = b_.make(add, ir::Type::u64, {address, wide(length_)});
    const ir::Reg c = b_.reg(ir::Width::b32);
    access(load, {c}, {at}, ir::Type::u8, 0).space = ir::Space::generic;
    if (visit.character) visit.character(c);
    b_.emit(add, ir::Type::u32, {length_}, {length_, ir::imm(1)});
    const ir::Reg more = both(not_zero(ir::Type::u32, c), below(ir::Type::u32, length_, limit_));
    b_.branch({more}, character, end);

    b_.set_block(end);
    visit.end();
    b_.jump(next);

    b_.set_block(next);
    b_.emit(add, ir::Type::u32, {slot_}, {slot_, ir::imm(1)});
    b_.branch({below(ir::Type::u32, slot_, strings_.slots)}, head, after);
    b_.set_block(after);
  }

  /// Two words: nothing says that the arguments of a format that is not known are aligned.
  ir::Reg argument() {
    using enum ir::Op;
    const bool is_wide = strings_.space == ir::Space::generic;
    const ir::Type type = is_wide ? ir::Type::u64 : ir::Type::u32;
    const ir::Reg bytes = b_.make(shl, ir::Type::u32, {slot_, ir::imm(3)});
    const ir::Reg at = b_.make(add, type, {strings_.arguments, is_wide ? wide(bytes) : bytes});
    const ir::Reg low = b_.reg(ir::Width::b32), high = b_.reg(ir::Width::b32);
    ir::Guard there;
    if (!strings_.slots.is_imm()) there = {below(ir::Type::u32, slot_, strings_.slots)};
    for (const ir::Reg word : {low, high}) {
      if (!there.always()) b_.emit(mov, ir::Type::u32, {word}, {ir::imm(0)});
      access(load, {word}, {at}, ir::Type::u32, word == high ? 4 : 0, there).space = strings_.space;
    }
    return b_.make(pack64, ir::Type::u64, {low, high});
  }

  ir::Reg is_known(ir::Reg address) {
    using enum ir::Op;
    const ir::Reg rest = b_.make(shr, ir::Type::u32, {strings_.which, slot_});
    const ir::Reg bit = b_.make(and_, ir::Type::u32, {rest, ir::imm(1)});
    return both(not_zero(ir::Type::u32, bit), not_zero(ir::Type::u64, address));
  }
  /// Of a format that is not known. Also limits the length to the window's end.
  ir::Reg lies_in_a_window(ir::Reg address) {
    using enum ir::Op;
    ir::Inst& size = b_.emit(sreg, ir::Type::u32, {b_.reg(ir::Width::b32)}, {});
    size.mode = static_cast<uint8_t>(ir::SReg::total_smem_size);
    const ir::Reg shared = wide(size.dst[0]);
    const ir::Operand local = ir::imm(b_.program().local_bytes);
    const auto in = [&](uint64_t window, ir::Operand bytes) {
      const ir::Reg offset = b_.make(sub, ir::Type::u64, {address, ir::imm(window)});
      const ir::Reg inside = below(ir::Type::u64, offset, bytes);
      const ir::Reg left = narrow(b_.make(sub, ir::Type::u64, {bytes, offset}));
      const ir::Reg limits = both(inside, strings_.unknown.reg());
      b_.emit(select, ir::Type::u32, {limit_}, {limits, left, limit_});
      return inside;
    };
    const ir::Reg in_shared = in(guest::kSharedWindow, shared);
    const ir::Reg inside = either(in_shared, in(guest::kLocalWindow, local));
    return both(strings_.unknown.reg(), inside);
  }

  /// A multiple of eight: the header, the characters and the zero.
  ir::Reg entry_bytes() {
    using enum ir::Op;
    const ir::Reg up =
        b_.make(add, ir::Type::u32, {length_, ir::imm(guest::kPrintStringHeader + 7)});
    return b_.make(and_, ir::Type::u32, {up, ir::imm(~uint32_t{7})});
  }

  void put(ir::Reg at, ir::Reg value, ir::Type type, int64_t offset) {
    access(ir::Op::store, {}, {at, value}, type, offset);
  }

  const PrintStrings& strings_;
  ir::Reg slot_, length_, limit_;
};

}  // namespace lanewise::isa
