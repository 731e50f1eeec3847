#include "runtime/isa/gcn/text/operands/hardware_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "runtime/isa/gcn/text/expression.hpp"
#include "runtime/isa/gcn/text/operands/number_text.hpp"

namespace lanewise::gcn {
namespace {

struct Name {
  unsigned code;
  std::string_view text;
};
constexpr Name kRegisters[] = {
    {1, "HW_REG_MODE"},      {2, "HW_REG_STATUS"},    {3, "HW_REG_TRAPSTS"}, {4, "HW_REG_HW_ID"},
    {5, "HW_REG_GPR_ALLOC"}, {6, "HW_REG_LDS_ALLOC"}, {7, "HW_REG_IB_STS"}};
constexpr unsigned kMsgGs = 2, kMsgGsDone = 3, kMsgSaveWave = 4, kMsgSystem = 15;
constexpr Name kMessages[] = {{1, "MSG_INTERRUPT"},
                              {kMsgGs, "MSG_GS"},
                              {kMsgGsDone, "MSG_GS_DONE"},
                              {kMsgSaveWave, "MSG_SAVEWAVE"},
                              {kMsgSystem, "MSG_SYSMSG"}};
constexpr Name kGeometry[] = {
    {0, "GS_OP_NOP"}, {1, "GS_OP_CUT"}, {2, "GS_OP_EMIT"}, {3, "GS_OP_EMIT_CUT"}};
constexpr Name kSystem[] = {{1, "SYSMSG_OP_ECC_ERR_INTERRUPT"},
                            {2, "SYSMSG_OP_REG_RD"},
                            {3, "SYSMSG_OP_HOST_TRAP_ACK"},
                            {4, "SYSMSG_OP_TTRACE_PC"}};

uint32_t number(Cursor& in, const char* what, int64_t least, int64_t most) {
  in.skip_blanks();
  const size_t at = in.at();
  const int64_t n = read_bits(in, what);
  if (n < least || n > most)
    Cursor::fail_value(at, fmt::format("{} goes from {} to {}", what, least, most));
  return static_cast<uint32_t>(n);
}

template <size_t N>
uint32_t named(Cursor& in, const Name (&names)[N], const char* what, int64_t most) {
  in.skip_blanks();
  for (const Name& n : names)
    if (in.take_word(n.text)) return n.code;
  return number(in, what, 0, most);
}

template <size_t N>
std::string_view name_of(const Name (&names)[N], unsigned code) {
  for (const Name& n : names)
    if (n.code == code) return n.text;
  return {};
}

}  // namespace

Operand read_hwreg(Cursor& in) {
  in.skip_blanks();
  if (!in.take_word("hwreg")) return immediate(number(in, "a register's field", 0, 0xffff));
  in.expect('(', "after 'hwreg'");
  const uint32_t id = named(in, kRegisters, "a hardware register", 63);
  uint32_t offset = 0, size = 32;
  if (in.take(',')) {
    offset = number(in, "the first bit", 0, 31);
    in.expect(',', "before the number of bits");
    size = number(in, "the number of bits", 1, 32);
  }
  in.expect(')', "after the register's field");
  return immediate(id | offset << 6 | (size - 1) << 11);
}

std::string write_hwreg(const Operand& o) {
  const std::string_view name = name_of(kRegisters, hwreg_id(o));
  std::string out = "hwreg(" + (name.empty() ? std::to_string(hwreg_id(o)) : std::string(name));
  if (hwreg_offset(o) != 0 || hwreg_size(o) != 32)
    out += fmt::format(", {}, {}", hwreg_offset(o), hwreg_size(o));
  return out + ")";
}

namespace {

/// A message by its name has what it is documented to have; one by its number what fits the fields.
struct Message {
  uint32_t id = 0, operation = 0, stream = 0;
  bool named = false, has_operation = false, has_stream = false;

  bool geometry() const { return id == kMsgGs || id == kMsgGsDone; }
  std::string problem(Gen gen) const {
    if (!named) return {};
    if (id == kMsgSaveWave && gen != Gen::gfx8) return "there is no such message here";
    const bool system = id == kMsgSystem;
    if ((geometry() || system) != has_operation)
      return has_operation ? "the message has no operations" : "the message needs an operation";
    const bool known =
        system       ? operation >= 1 && operation <= std::size(kSystem)
        : geometry() ? operation < std::size(kGeometry) && (operation != 0 || id == kMsgGsDone)
                     : true;
    if (!known) return "the message has no such operation";
    if (has_stream && (!geometry() || operation == 0)) return "the operation has no streams";
    return {};
  }
};

}  // namespace

Operand read_message(Cursor& in, Gen gen) {
  in.skip_blanks();
  if (!in.take_word("sendmsg")) return immediate(number(in, "a message", -0x8000, 0xffff) & 0xffff);
  in.expect('(', "after 'sendmsg'");
  in.skip_blanks();
  const size_t at = in.at();
  Message m;
  m.named = std::isalpha(static_cast<unsigned char>(in.peek())) != 0;
  m.id = named(in, kMessages, "a message", 15);
  m.has_operation = in.take(',');
  if (m.has_operation)
    m.operation = m.id == kMsgSystem ? named(in, kSystem, "an operation", 7)
                                     : named(in, kGeometry, "an operation", 7);
  m.has_stream = m.has_operation && in.take(',');
  if (m.has_stream) m.stream = number(in, "a stream", 0, 3);
  in.expect(')', "after the message");
  if (const std::string problem = m.problem(gen); !problem.empty()) Cursor::fail_value(at, problem);
  return immediate(m.id | m.operation << 4 | m.stream << 8);
}

namespace {

constexpr std::string_view kIndexed[] = {"SRC0", "SRC1", "SRC2", "DST"};

}  // namespace

Operand read_gpr_idx(Cursor& in) {
  in.skip_blanks();
  if (!in.take_word("gpr_idx")) return immediate(number(in, "the indexed operands", 0, 15));
  in.expect('(', "after 'gpr_idx'");
  uint32_t value = 0;
  for (bool more = !in.take(')'); more; more = in.take(',')) {
    const size_t at = in.at();
    unsigned bit = 0;
    while (bit < std::size(kIndexed) && !in.take_word(kIndexed[bit])) ++bit;
    if (bit == std::size(kIndexed))
      Cursor::fail_at(at, "expected SRC0, SRC1, SRC2 or DST" + in.found(at));
    if ((value >> bit & 1) != 0) Cursor::fail_at(at, "the operand is there twice");
    value |= 1U << bit;
    if (in.take(')')) return immediate(value);
  }
  if (value != 0) in.expect(')', "after the indexed operands");
  return immediate(value);
}

std::string write_gpr_idx(const Operand& o) {
  std::string out = "gpr_idx(";
  for (unsigned bit = 0; bit < std::size(kIndexed); ++bit) {
    if ((o.value >> bit & 1) == 0) continue;
    if (out.back() != '(') out += ',';
    out += kIndexed[bit];
  }
  return out + ')';
}

std::string write_message(const Operand& o, Gen gen) {
  const unsigned id = o.value & 15, operation = o.value >> 4 & 7, stream = o.value >> 8 & 3;
  const std::string_view name =
      id == kMsgSaveWave && gen != Gen::gfx8 ? std::string_view() : name_of(kMessages, id);
  const std::string plain = fmt::format("sendmsg({}, {}, {})", id, operation, stream);
  if ((o.value & ~0x37fU) != 0) return std::to_string(o.value & 0xffff);
  if (name.empty()) return plain;
  const bool geometry = id == kMsgGs || id == kMsgGsDone;
  if (geometry) {
    const std::string_view op = name_of(kGeometry, operation);
    if (op.empty() || (operation == 0 && (id == kMsgGs || stream != 0))) return plain;
    if (operation == 0) return fmt::format("sendmsg({}, {})", name, op);
    return fmt::format("sendmsg({}, {}, {})", name, op, stream);
  }
  if (id == kMsgSystem) {
    const std::string_view op = name_of(kSystem, operation);
    if (op.empty() || stream != 0) return plain;
    return fmt::format("sendmsg({}, {})", name, op);
  }
  return operation == 0 && stream == 0 ? fmt::format("sendmsg({})", name) : plain;
}

namespace {

struct Counter {
  std::string_view name, saturating;  ///< the second one stands for the most where it is beyond
  unsigned pos, len;
};
constexpr Counter kCounters[] = {
    {"vmcnt", "vmcnt_sat", 0, 4}, {"expcnt", "expcnt_sat", 4, 3}, {"lgkmcnt", "lgkmcnt_sat", 8, 4}};

}  // namespace

Operand read_waitcnt(Cursor& in) {
  in.skip_blanks();
  const bool named = std::ranges::any_of(
      kCounters, [&](const Counter& c) { return in.rest().starts_with(c.name); });
  if (!named) return lowest_bits(read_bits(in, "a count of each counter"), 16);
  Operand o;
  o.immediate = true;
  o.value = 0xf7f;
  do {
    in.skip_blanks();
    const size_t at = in.at();
    const Counter* found = nullptr;
    bool saturates = false;
    for (const Counter& c : kCounters)
      if ((saturates = in.take_word(c.saturating)) || in.take_word(c.name)) {
        found = &c;
        break;
      }
    if (found == nullptr)
      Cursor::fail_at(at, "expected vmcnt(n), expcnt(n) or lgkmcnt(n)" + in.found(at));
    in.expect('(', "after the counter's name");
    const int64_t n = read_constant(in, "a count");
    const uint32_t most = (1U << found->len) - 1;
    if (n < 0 || (n > most && !saturates))
      Cursor::fail_value(at, fmt::format("{} goes up to {}", found->name, most));
    in.expect(')', "after the count");
    const uint32_t count = n > most ? most : static_cast<uint32_t>(n);
    o.value = (o.value & ~(most << found->pos)) | count << found->pos;
    if (!in.take('&')) in.take(',');
  } while (!in.done());
  return o;
}

std::string write_waitcnt(uint32_t value) {
  std::string out;
  for (const Counter& c : kCounters) {
    const uint32_t most = (1U << c.len) - 1, n = value >> c.pos & most;
    if (n != most) out += fmt::format("{}{}({})", out.empty() ? "" : " ", c.name, n);
  }
  const bool plain = (value & ~0xf7fU) == 0 && !out.empty();
  return plain ? out : fmt::format("{:#x}", value);
}

}  // namespace lanewise::gcn
