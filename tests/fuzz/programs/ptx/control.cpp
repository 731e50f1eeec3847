// PTX control flow.
#include "tests/fuzz/programs/ptx/writer.hpp"

#include <algorithm>

namespace lanewise::programs {
namespace ptx {
namespace {

/// The body of the kernel or of one function.
class Printer {
 public:
  Printer(const Program& program, const Style& style, const Function* function,
          const std::string& prefix, Masks masks)
      : p_(program), style_(style), function_(function), w_(program, style, prefix) {
    w_.masks = masks;
  }

  std::string kernel() {
    end_ = w_.new_label("end");
    start();
    block(p_.body);
    if (style_.one_end) {
      w_.line("mov.b32 %mark, {}", kEndMark);
      w_.label(end_);
      store_all("%mark");
    } else {
      store_all(fmt::format("{}", kEndMark));
    }
    if (!cold_.empty()) w_.text += "  ret;\n" + cold_;
    std::string shared;
    if (uses_shared())
      shared =
          fmt::format("  .shared .align 4 .b8 exchanged[{}];\n", 4 * std::max(p_.block, kPooled));
    if (uses_private()) shared += fmt::format("  .local .align 16 .b8 kept[{}];\n", 4 * kSlots);
    return w_.declarations(p_.stored()) + shared + w_.text;
  }

  std::string function(uint32_t number) {
    end_ = w_.new_label("end");
    w_.line("ld.param.u64 %src, [table]");
    for (uint32_t n = 0; n < function_->registers; ++n) {
      if (n < function_->arguments)
        w_.line("ld.param.b32 {}, [a{}]", Writer::reg(n), n);
      else
        w_.line("mov.b32 {}, 0", Writer::reg(n));
    }
    block(function_->body);
    w_.label(end_);
    results();
    w_.text += cold_;
    return head(number) + "\n{\n" + w_.declarations(function_->registers) + w_.text + "}\n";
  }

 private:
  /// Where lanes go that leave a loop's body early.
  struct Targets {
    std::string behind, next;
  };

  bool uses_shared() const {
    bool uses = false;
    each_statement(p_, [&](const Statement& s) {
      uses =
          uses || std::holds_alternative<Exchange>(s.what) || std::holds_alternative<Pool>(s.what);
    });
    return uses;
  }

  bool uses_private() const {
    bool uses = false;
    each_statement(p_, [&](const Statement& s) {
      const auto* store = std::get_if<Store>(&s.what);
      const auto* load = std::get_if<LoadOwn>(&s.what);
      uses =
          uses || (store != nullptr && store->is_private) || (load != nullptr && load->is_private);
    });
    return uses;
  }

  std::string head(uint32_t number) const {
    std::string t = fmt::format(".func (.param .align 4 .b8 result[{}]) f{}(.param .u64 table",
                                4 * function_->results, number);
    for (uint32_t n = 0; n < function_->arguments; ++n) t += fmt::format(", .param .b32 a{}", n);
    return t + ")";
  }
  void results() {
    for (uint32_t n = 0; n < function_->results; ++n)
      w_.line("st.param.b32 [result+{}], {}", 4 * n, Writer::reg(n));
    w_.line("ret");
  }

  void start() {
    const std::string group = w_.word(), thread = w_.word(), at = w_.wide();
    w_.line("ld.param.u64 %src, [src]");
    w_.line("ld.param.u64 %out, [dst]");
    w_.line("mov.u32 %self, %tid.x");
    w_.line("mov.u32 {}, %ctaid.x", group);
    w_.line("mad.lo.u32 {}, {}, {}, %self", thread, group, p_.block);
    w_.line("mul.wide.u32 {}, {}, {}", at, thread, 4 * p_.stride());
    w_.line("add.s64 %out, %out, {}", at);
    if (uses_private()) {
      const std::string zero = w_.word();
      w_.line("mov.b32 {}, 0", zero);
      for (uint32_t n = 0; n < kSlots; n += 4)
        w_.line("st.local.v4.u32 [kept+{}], {{{}, {}, {}, {}}}", 4 * n, zero, zero, zero, zero);
    }
    for (uint32_t n = 0; n < p_.stored(); ++n) initial(n, p_.registers[n], thread);
  }
  void initial(uint32_t number, const Initial& i, const std::string& thread) {
    const std::string to = Writer::reg(number);
    if (i.kind == Initial::Kind::thread) return w_.line("mov.b32 {}, {}", to, thread);
    if (i.kind == Initial::Kind::value)
      return w_.line("mov.b32 {}, {}", to, static_cast<int32_t>(i.value));
    if (i.kind == Initial::Kind::linear)
      return w_.line("mad.lo.u32 {}, {}, {}, {}", to, thread, i.scale, i.value);
    const std::string n = w_.word();
    w_.line("mad.lo.u32 {}, {}, {}, {}", n, thread, i.scale, i.value);
    w_.line("and.b32 {}, {}, {}", n, n, kTableWords - 1);
    w_.line("ld.global.u32 {}, [{}]", to, element(w_, "%src", n));
  }
  void store_all(const std::string& mark) {
    std::vector<std::string> values;
    for (uint32_t n = 0; n < p_.stored(); ++n) values.push_back(Writer::reg(n));
    values.push_back(mark);
    if (mark != "%mark") {
      values.back() = w_.word();
      w_.line("mov.b32 {}, {}", values.back(), mark);
    }
    // Vectors make less code than single words.
    const size_t most = style_.seed % 8 == 0 ? 1 : 4;
    for (size_t n = 0; n < values.size();) {
      const size_t left = values.size() - n;
      const size_t count = std::min<size_t>(most, left >= 4 ? 4 : left >= 2 ? 2 : 1);
      std::string list = values[n];
      for (size_t k = 1; k < count; ++k) list += ", " + values[n + k];
      w_.line("st.global{}.u32 [%out+{}], {}", count == 1 ? "" : fmt::format(".v{}", count),
              4 * (kSlots + n), count == 1 ? list : fmt::format("{{{}}}", list));
      n += count;
    }
  }

  void block(const Block& b) {
    for (const Statement& s : b) {
      if (is_plain(s)) plain(w_, s);
      std::visit([&](const auto& what) { put(what, s); }, s.what);
    }
  }

  void jump(const std::string& to) { w_.line("bra{} {}", w_.random.chance(2) ? ".uni" : "", to); }
  void jump_if(const Condition& c, const std::string& to) {
    // Half of the time the other way round.
    Condition asked = c;
    const bool turned = w_.random.chance(2);
    if (turned) asked.relation = negated(c.relation);
    w_.line("@{}{} bra {}", turned ? "!" : "", test(w_, asked), to);
  }
  void jump_unless(Condition c, const std::string& to) {
    c.relation = negated(c.relation);
    jump_if(c, to);
  }

  /// Alu, Select, Load, Store, LoadOwn with a guard of their own.
  template <typename T>
  void put(const T& what, const Statement& s) {
    if (what.guard) plain(w_, s);
  }
  void put(const Cross& s, const Statement&) { cross(w_, s); }
  void put(const Exchange& s, const Statement&) { exchange(w_, s); }
  void put(const Barrier&, const Statement&) { w_.line("bar.sync 0"); }
  void put(const Combine& s, const Statement&) { combine(w_, s); }
  void put(const Pool& s, const Statement&) { pool(w_, s); }

  static bool few(const Block& b) { return b.size() <= 3 && std::ranges::all_of(b, is_plain); }
  void put(const If& s, const Statement&) {
    if (style_.predicate_ifs && few(s.yes) && few(s.no)) return predicated(s);
    // A jump alone needs no block of its own.
    if (s.yes.size() == 1 && s.no.empty())
      if (const auto* leave = std::get_if<Leave>(&s.yes[0].what))
        return jump_if(s.test, target(*leave));
    const std::string behind = w_.new_label("join");
    if (s.no.empty()) {
      jump_unless(s.test, behind);
      block(s.yes);
    } else if (style_.cold_sides) {
      const std::string other = w_.new_label("cold");
      jump_unless(s.test, other);
      block(s.yes);
      aside(other, s.no, behind);
    } else {
      const std::string other = w_.new_label("else");
      jump_unless(s.test, other);
      block(s.yes);
      jump(behind);
      w_.label(other);
      block(s.no);
    }
    w_.label(behind);
  }
  void predicated(const If& s) {
    const std::string p = test(w_, s.test);
    for (const Statement& one : s.yes) plain(w_, one, fmt::format("@{} ", p));
    for (const Statement& one : s.no) plain(w_, one, fmt::format("@!{} ", p));
  }
  /// A block behind the end of the body.
  void aside(const std::string& name, const Block& b, const std::string& back) {
    std::string text;
    std::swap(text, w_.text);
    w_.label(name);
    block(b);
    jump(back);
    std::swap(text, w_.text);
    cold_ += text;
  }

  void put(const Loop& s, const Statement&) {
    const std::string counter = Writer::reg(s.counter);
    if (s.trips.immediate) {
      w_.line("mov.b32 {}, {}", counter, s.trips.value);
    } else {
      const std::string n = w_.word();
      w_.line("and.b32 {}, {}, {}", n, Writer::reg(s.trips.value), s.mask);
      w_.line("add.u32 {}, {}, {}", counter, n, s.least);
    }
    const Targets t{w_.new_label("behind"), w_.new_label("next")};
    const std::string body = w_.new_label("body");
    loops_.push_back(t);
    if (!s.tested_first) {
      w_.label(body);
      block(s.body);
      w_.label(t.next);
      w_.line("sub.u32 {}, {}, 1", counter, counter);
      stay(s, body, t.behind);
    } else if (style_.rotate_loops) {
      jump(t.next);
      w_.label(body);
      w_.line("sub.u32 {}, {}, 1", counter, counter);
      block(s.body);
      w_.label(t.next);
      stay(s, body, t.behind);
    } else {
      w_.label(t.next);
      go(s, t.behind);
      w_.line("add.u32 {}, {}, -1", counter, counter);
      block(s.body);
      jump(t.next);
    }
    loops_.pop_back();
    w_.label(t.behind);
  }
  static Condition left(const Loop& s) { return {Relation::ne, s.counter, Operand::imm(0)}; }
  std::string both(const Loop& s) {
    const std::string p = test(w_, *s.again), q = w_.predicate();
    w_.line("setp.ne.and.u32 {}, {}, 0, {}", q, Writer::reg(s.counter), p);
    return q;
  }
  /// Jumps to `body` for another iteration, falls through at the end.
  void stay(const Loop& s, const std::string& body, const std::string& behind) {
    if (!s.again) return jump_if(left(s), body);
    if (style_.join_tests) return w_.line("@{} bra {}", both(s), body);
    jump_unless(left(s), behind);
    jump_if(*s.again, body);
  }
  /// Falls through for another iteration.
  void go(const Loop& s, const std::string& behind) {
    if (!s.again) return jump_unless(left(s), behind);
    if (style_.join_tests) return w_.line("@!{} bra {}", both(s), behind);
    jump_unless(left(s), behind);
    jump_unless(*s.again, behind);
  }
  std::string target(const Leave& s) const {
    const Targets& t = loops_.at(loops_.size() - s.levels);
    return s.goes_on ? t.next : t.behind;
  }
  void put(const Leave& s, const Statement&) { jump(target(s)); }
  void put(const Return& s, const Statement&) {
    if (function_ != nullptr) return style_.one_end ? jump(end_) : results();
    if (style_.one_end) {
      w_.line("mov.b32 %mark, {}", s.mark);
      return jump(end_);
    }
    store_all(fmt::format("{}", s.mark));
    w_.line("ret");
  }

  void put(const Switch& s, const Statement&) {
    const std::string n = w_.word(), behind = w_.new_label("join");
    std::vector<std::string> names;
    for (size_t c = 0; c < s.cases.size(); ++c) names.push_back(w_.new_label("case"));
    w_.line("and.b32 {}, {}, {}", n, Writer::reg(s.selector), s.mask);
    choose(s, n, names, behind);
    for (size_t c = 0; c < s.cases.size(); ++c) {
      w_.label(names[c]);
      block(s.cases[c].body);
      if (!s.cases[c].falls && c + 1 < s.cases.size()) jump(behind);
    }
    w_.label(behind);
  }
  void choose(const Switch& s, const std::string& n, const std::vector<std::string>& names,
              const std::string& behind) {
    if (style_.switches == Style::Switches::table) {
      const std::string table = w_.new_label("table");
      std::string list;
      for (uint32_t c = 0; c <= s.mask; ++c)
        list += (c == 0 ? "" : ", ") + (c < names.size() ? names[c] : behind);
      w_.text += fmt::format("{}: .branchtargets {};\n", table, list);
      return w_.line("brx.idx {}, {}", n, table);
    }
    if (style_.switches == Style::Switches::halves)
      halves(n, 0, static_cast<uint32_t>(names.size()), names);
    else
      for (uint32_t c = 0; c < names.size(); ++c) equal(n, c, names[c]);
    jump(behind);
  }
  void equal(const std::string& n, uint32_t c, const std::string& to) {
    const std::string p = w_.predicate();
    w_.line("setp.eq.u32 {}, {}, {}", p, n, c);
    w_.line("@{} bra {}", p, to);
  }
  /// Falls through for what is none of `first` to `last` - 1.
  void halves(const std::string& n, uint32_t first, uint32_t last,
              const std::vector<std::string>& names) {
    if (last - first < 3) {
      for (uint32_t c = first; c < last; ++c) equal(n, c, names[c]);
      return;
    }
    const uint32_t middle = (first + last) / 2;
    const std::string p = w_.predicate(), upper = w_.new_label("upper"), done = w_.new_label("no");
    w_.line("setp.ge.u32 {}, {}, {}", p, n, middle);
    w_.line("@{} bra {}", p, upper);
    halves(n, first, middle, names);
    jump(done);
    w_.label(upper);
    halves(n, middle, last, names);
    w_.label(done);
  }

  void put(const Region& s, const Statement&) {
    std::vector<std::string> names;
    for (size_t n = 0; n < s.nodes.size(); ++n) names.push_back(w_.new_label("node"));
    names.push_back(w_.new_label("join"));
    const std::string fuel = Writer::reg(s.fuel);
    w_.line("mov.b32 {}, {}", fuel, s.steps);
    jump_if(s.enter_second, names[1]);
    for (size_t n = 0; n < s.nodes.size(); ++n) {
      const Region::Node& node = s.nodes[n];
      w_.label(names[n]);
      block(node.straight);
      jump_if({Relation::eq, s.fuel, Operand::imm(0)}, names.back());
      w_.line("sub.u32 {}, {}, 1", fuel, fuel);
      jump_if(node.test, names.at(node.yes));
      if (node.no != n + 1) jump(names.at(node.no));
    }
    w_.label(names.back());
  }

  void put(const Call& s, const Statement&) {
    const Function& f = p_.functions.at(s.function);
    std::string list = "table";
    w_.text += "  {\n";
    w_.line(".param .u64 table");
    w_.line("st.param.u64 [table], %src");
    for (uint32_t n = 0; n < f.arguments; ++n) {
      w_.line(".param .b32 a{}", n);
      w_.line("st.param.b32 [a{}], {}", n, Writer::reg(s.arguments.at(n)));
      list += fmt::format(", a{}", n);
    }
    w_.line(".param .align 4 .b8 got[{}]", 4 * f.results);
    w_.line("call (got), f{}, ({})", s.function, list);
    for (uint32_t n = 0; n < f.results; ++n)
      w_.line("ld.param.b32 {}, [got+{}]", Writer::reg(s.results.at(n)), 4 * n);
    w_.text += "  }\n";
  }

  const Program& p_;
  const Style& style_;
  const Function* function_;
  Writer w_;
  std::string end_, cold_;
  std::vector<Targets> loops_;  ///< innermost last
};

}  // namespace
}  // namespace ptx

namespace {

Text print_ptx(const Program& program, const Style& style) {
  Text t;
  using ptx::Masks;
  const Masks masks = style.seed % 4 == 0   ? Masks::all
                      : style.seed % 4 == 1 ? Masks::active
                                            : Masks::none;
  t.target = masks == Masks::active ? "sm_75" : "sm_60";
  t.version = "6.3";
  for (uint32_t n = 0; n < program.functions.size(); ++n)
    t.declarations +=
        ptx::Printer(program, style, &program.functions[n], fmt::format("f{}_", n), masks)
            .function(n);
  t.code = ptx::Printer(program, style, nullptr, "", masks).kernel();
  return t;
}

}  // namespace

InstructionSet ptx_set() {
  using enum CrossOp;
  return {
      "ptx",
      32,
      {{ballot, any, all, active, shuffle_index, shuffle_xor, shuffle_up, shuffle_down, read_first},
       true,
       true,
       true,
       true,
       true,
       true},
      print_ptx};
}

}  // namespace lanewise::programs
