// Reads what print.cpp writes; the grammar is in docs/ir.md.
#include <fmt/format.h>

#include <limits>

#include "runtime/ir/ir.hpp"
#include "runtime/ir/make.hpp"
#include "runtime/ir/scanner.hpp"
#include "runtime/ir/text.hpp"
#include "runtime/ir/wave_ops.hpp"

namespace lanewise::ir {
namespace {

/// The enumerator that name() prints as `word`. name() gives "?" behind the last one.
template <typename Enum>
std::optional<Enum> enum_named(std::string_view word) {
  for (unsigned v = 0; v < 256; ++v) {
    const std::string_view n = name(static_cast<Enum>(v));
    if (n == "?") break;
    if (n == word) return static_cast<Enum>(v);
  }
  return std::nullopt;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : in_(text) {}

  Program run() {
    if (!in_.next_line()) in_.fail("the text is empty, expected 'program'");
    header();
    while (in_.next_line()) {
      line();
      in_.end_of_line();
    }
    if (p_.blocks.empty()) in_.fail("the program has no block");
    if (open_) in_.fail("the last block has no terminator");
    for (const auto& [block, scanner] : pending_) {
      if (block >= p_.blocks.size()) {
        scanner.fail_at_word(
            fmt::format("b{} does not exist (there are {} blocks)", block, p_.blocks.size()));
      }
    }
    return std::move(p_);
  }

 private:
  static constexpr uint32_t kMax32 = std::numeric_limits<uint32_t>::max();
  uint32_t number32() { return static_cast<uint32_t>(in_.number(kMax32)); }

  template <typename Enum>
  Enum enumerator(const char* what) {
    const std::string_view w = in_.word(what);
    if (const auto v = enum_named<Enum>(w)) return *v;
    in_.fail_at_word(fmt::format("'{}', expected {}", w, what));
  }

  void header() {
    in_.expect_word("program");
    p_.name = in_.quoted();
    const std::string_view isa = in_.word("ptx, sass or gcn");
    bool known = false;
    for (const Isa i : {Isa::ptx, Isa::sass, Isa::gcn}) {
      if (text::name(i) != isa) continue;
      p_.isa = i;
      known = true;
    }
    if (!known) in_.fail_at_word(fmt::format("'{}', expected ptx, sass or gcn", isa));
    in_.expect_word("wave");
    p_.wave_lanes = number32();
    p_.rendezvous = in_.accept_word("rendezvous");
    in_.end_of_line();
  }

  void line() {
    if (in_.accept_word("block")) return block();
    if (!p_.blocks.empty()) return statement();
    if (in_.accept_word("memory")) return memory();
    if (in_.accept_word("required_block")) {
      for (uint32_t& n : p_.required_block) n = number32();
    } else if (in_.accept_word("max_block")) {
      p_.max_block = number32();
    } else if (in_.accept_word("param")) {
      param();
    } else if (in_.accept_word("symbol")) {
      p_.symbols.push_back({in_.quoted()});
    } else if (in_.accept_word("variable")) {
      Variable v;
      v.address = in_.number(~uint64_t{0});
      v.size = in_.number(~uint64_t{0});
      v.read_only = in_.accept_word("read_only");
      p_.variables.push_back(v);
    } else if (in_.accept_word("site")) {
      site();
    } else if (in_.accept_word("reg")) {
      reg();
    } else {
      in_.fail(
          "expected memory, required_block, max_block, param, symbol, variable, site, reg or "
          "block");
    }
  }

  void memory() {
    in_.expect_word("param");
    p_.param_bytes = number32();
    in_.expect_word("shared");
    p_.shared_bytes = number32();
    in_.expect_word("local");
    p_.local_bytes = number32();
    if (in_.accept_word("reserved")) p_.reserved_shared = number32();
  }

  void param() {
    Param a;
    a.name = in_.quoted();
    a.type = enumerator<Type>("a type");
    in_.expect_word("offset");
    a.offset = number32();
    in_.expect_word("size");
    a.size = number32();
    in_.expect_word("align");
    a.align = number32();
    a.pointer = in_.accept_word("pointer");
    p_.params.push_back(std::move(a));
  }

  void site() {
    Site s;
    s.line = number32();
    s.pc = in_.number();
    s.text = in_.quoted();
    if (in_.peek() == '"') {
      s.source_file = in_.quoted();
      s.source_line = number32();
    }
    if (in_.accept_word("asserts")) {
      s.assertion = in_.quoted();
      s.function = in_.quoted();
    } else if (in_.accept_word("in")) {
      s.function = in_.quoted();
    }
    p_.sites.push_back(std::move(s));
  }

  void reg() {
    const std::string_view w = in_.word("a register");
    const auto id = static_cast<uint32_t>(p_.regs.size());
    if (w.size() < 2 || in_.to_number(w.substr(1), kMax32) != id) {
      in_.fail_at_word(fmt::format("'{}', expected register number {}", w, id));
    }
    const char letter = w[0];
    RegInfo info;
    info.width = enumerator<Width>("pred, b32 or b64");
    info.scalar = in_.accept_word("scalar");
    if (in_.peek() == '"') info.name = in_.quoted();
    p_.regs.push_back(std::move(info));
    check_letter(letter, id);
  }

  void block() {
    if (open_) in_.fail_at_word("the block before has no terminator");
    const std::string_view w = in_.word("a block");
    if (w[0] != 'b' || in_.to_number(w.substr(1), kMax32) != p_.blocks.size()) {
      in_.fail_at_word(fmt::format("'{}', expected b{}", w, p_.blocks.size()));
    }
    Block b;
    if (in_.peek() == '"') b.label = in_.quoted();
    p_.blocks.push_back(std::move(b));
    open_ = true;
  }

  void statement() {
    if (!open_) in_.fail("the block has ended, expected 'block'");
    if (in_.accept_word("jump")) return end_block(jump_to(target()));
    if (in_.accept_word("branch")) {
      const Guard cond = guard();
      const uint32_t taken = target();
      return end_block(branch_on(cond, taken, target()));
    }
    if (in_.accept_word("switch")) return switch_();
    if (in_.accept_word("exit")) return end_block({});
    p_.blocks.back().insts.push_back(instruction());
  }

  void end_block(Terminator t) {
    t.uniform = in_.accept_word("uniform");
    t.site = site_reference();
    p_.blocks.back().term = std::move(t);
    open_ = false;
  }

  void switch_() {
    Terminator t;
    t.kind = Terminator::Kind::switch_;
    t.selector = operand();
    in_.expect('[');
    while (!in_.accept_word("default")) {
      t.cases.push_back(in_.number());
      in_.expect(':');
      t.targets.push_back(target());
      in_.expect(',');
    }
    in_.expect(':');
    t.targets.push_back(target());
    in_.expect(']');
    end_block(std::move(t));
  }

  uint32_t target() {
    const std::string_view w = in_.word("a block");
    if (w[0] != 'b') in_.fail_at_word(fmt::format("'{}', expected a block", w));
    const auto b = static_cast<uint32_t>(in_.to_number(w.substr(1), kMax32));
    if (b >= p_.blocks.size()) pending_.emplace_back(b, in_);
    return b;
  }

  uint32_t site_reference() {
    if (!in_.accept('#')) return kNone;
    const uint32_t s = number32();
    if (s >= p_.sites.size()) {
      in_.fail_at_word(fmt::format("site {} does not exist (there are {})", s, p_.sites.size()));
    }
    return s;
  }

  static bool is_reg(std::string_view w) {
    return w == "_" || (w.size() > 1 && (w[0] == 'r' || w[0] == 'p' || w[0] == 'd') &&
                        w[1] >= '0' && w[1] <= '9');
  }

  void check_letter(char letter, uint32_t id) {
    const Width w = p_.regs[id].width;
    const char want = text::letter(w);
    if (letter != want) {
      in_.fail_at_word(
          fmt::format("register {} is {}, expected the name {}{}", id, name(w), want, id));
    }
  }

  Reg to_reg(std::string_view w) {
    if (!is_reg(w)) in_.fail_at_word(fmt::format("'{}', expected a register", w));
    if (w == "_") return {};
    const auto id = static_cast<uint32_t>(in_.to_number(w.substr(1), kMax32));
    if (id >= p_.regs.size()) {
      in_.fail_at_word(
          fmt::format("register {} does not exist (there are {})", id, p_.regs.size()));
    }
    check_letter(w[0], id);
    return Reg{id};
  }

  Guard guard() {
    in_.expect('@');
    Guard g;
    g.negate = in_.accept('!');
    g.reg = to_reg(in_.word("a register"));
    return g;
  }

  Operand operand() {
    if (in_.accept('$')) {
      const uint32_t symbol = number32();
      if (symbol >= p_.symbols.size()) {
        in_.fail_at_word(
            fmt::format("symbol {} does not exist (there are {})", symbol, p_.symbols.size()));
      }
      in_.accept('+');
      return Operand::address_of(symbol, in_.signed_number());
    }
    const std::string_view w = in_.word("an operand");
    if (w == "_") return {};
    if (is_reg(w)) return to_reg(w);
    return Operand::immediate(in_.to_number(w, std::numeric_limits<uint64_t>::max()));
  }

  Inst instruction() {
    Inst i;
    if (in_.peek() == '@') i.guard = guard();
    std::string_view w = in_.word("an operation");
    if (is_reg(w)) {
      i.dst.push_back(to_reg(w));
      while (in_.accept(',')) i.dst.push_back(to_reg(in_.word("a register")));
      in_.expect('=');
      w = in_.word("an operation");
    }
    operation(w, i);
    if (const char c = in_.peek(); c != '\n' && c != '\0' && c != '{' && c != '<' && c != '#') {
      do i.src.push_back(operand());
      while (in_.accept(','));
    }
    if (in_.accept('{')) memory_attributes(i.mem.emplace());
    if (in_.accept('<')) {
      if (in_.accept_word("texture"))
        texture_attributes(i.texture.emplace());
      else
        buffer_attributes(i.buffer.emplace());
    }
    i.site = site_reference();
    return i;
  }

  void operation(std::string_view w, Inst& i) {
    size_t dot = w.find('.');
    const std::string_view op = w.substr(0, dot);
    const auto found = op_named(op);
    if (!found) in_.fail_at_word(fmt::format("'{}' is no operation", op));
    i.op = *found;
    for (int types = 0; dot != std::string_view::npos;) {
      w.remove_prefix(dot + 1);
      dot = w.find('.');
      modifier(w.substr(0, dot), i, types);
    }
  }

  void modifier(std::string_view m, Inst& i, int& types) {
    if (const auto mode = text::mode_named(i.op, m)) {
      i.mode = *mode;
    } else if (const auto type = enum_named<Type>(m); type && types < 2) {
      (types++ == 0 ? i.type : i.from) = *type;
    } else if (const auto cond = enum_named<Cond>(m)) {
      i.cond = *cond;
    } else if (const auto round = enum_named<Round>(m)) {
      i.round = *round;
    } else if (m == "ftz") {
      i.ftz = true;
    } else if (m == "sat") {
      i.sat = true;
    } else if (m == "apart") {
      let_come_apart(i);
    } else if (m == "any_nan") {
      i.any_nan = true;
    } else if (m.starts_with("mode")) {
      i.mode = static_cast<uint8_t>(in_.to_number(m.substr(4), 255));
    } else {
      in_.fail_at_word(fmt::format("'{}' is no modifier of {}", m, text::op_name(i.op)));
    }
  }

  /// What stands behind the attribute's name.
  template <typename Value, typename... What>
  void read(Value& value, What... what) {
    if constexpr (std::is_same_v<Value, bool>) {
      value = true;
      return;
    } else {
      in_.expect('=');
    }
    if constexpr (std::is_enum_v<Value>)
      value = enumerator<Value>(what...);
    else if constexpr (std::is_same_v<Value, Operand>)
      value = operand();
    else if constexpr (std::is_signed_v<Value>)
      value = in_.signed_number();
    else if constexpr (std::is_unsigned_v<Value>)
      value = static_cast<Value>(in_.number(what...));
  }
  template <typename Attributes>
  bool attribute(Attributes& a, std::string_view key) {
    bool found = false;
    text::each_attribute(a, [&](const char* name, auto member, auto... what) {
      if (found || key != name) return;
      found = true;
      read(a.*member, what...);
    });
    return found;
  }
  void memory_attributes(Mem& m) {
    m.space = enumerator<Space>("a memory space");
    m.elem = enumerator<Type>("an element type");
    while (!in_.accept('}')) {
      const std::string_view key = in_.word("an attribute or '}'");
      if (!attribute(m, key) && !attribute(m.cache, key))
        in_.fail_at_word(fmt::format("'{}' is no memory attribute", key));
    }
  }
  template <typename Attributes>
  void attributes(Attributes& a, const char* kind) {
    while (!in_.accept('>')) {
      const std::string_view key = in_.word("an attribute or '>'");
      if (!attribute(a, key)) in_.fail_at_word(fmt::format("'{}' is no {} attribute", key, kind));
    }
  }
  void buffer_attributes(BufferAccess& b) {
    const std::string_view gen = in_.word("gfx6, gfx7 or gfx8");
    if (gen != "gfx6" && gen != "gfx7" && gen != "gfx8") {
      in_.fail_at_word(fmt::format("'{}', expected gfx6, gfx7 or gfx8", gen));
    }
    b.gen = static_cast<BufferAccess::Gen>(gen[3] - '6');
    attributes(b, "buffer");
  }
  void texture_attributes(TextureAccess& t) {
    t.dim = enumerator<TextureAccess::Dim>("1d, 2d, 3d, cube or described");
    attributes(t, "texture");
  }

  text::Scanner in_;
  Program p_;
  bool open_ = false;  ///< the last block still lacks its terminator
  std::vector<std::pair<uint32_t, text::Scanner>> pending_;  ///< targets seen before their block
};

}  // namespace

Program parse_program(std::string_view text) {
  return Parser(text).run();
}

}  // namespace lanewise::ir
