// Ifs, switches, irreducible regions, calls; loops are in loops.cpp.
#include "tests/fuzz/programs/sass/control.hpp"

#include <algorithm>

#include "tests/fuzz/programs/sass/shape.hpp"

namespace lanewise::programs::sass {

Code::Code(const Program& program, const Style& style, Registers& registers,
           const uint32_t* function, bool any_across)
    : p_(program),
      style_(style),
      function_(function == nullptr ? nullptr : &program.functions.at(*function)),
      registers_(registers),
      w_(program, style, registers, function),
      any_across_(any_across) {
  bare_ = !any_across && w_.random.chance(5);
  end_ = w_.new_label("end");
}

std::string Code::kernel() {
  start();
  block(p_.body);
  if (style_.one_end) {
    put_value(w_, "", fmt::format("R{}", Registers::kMark), kEndMark);
    w_.label(end_);
    store_all("", fmt::format("R{}", Registers::kMark));
    w_.line("EXIT");
  } else {
    end_with("", kEndMark);
  }
  const std::string stop = w_.new_label("stop");
  w_.text += cold_;
  w_.label(stop);
  w_.line("BRA `({})", stop);
  return w_.text;
}

std::string Code::function(const std::string& name) {
  w_.label(name);
  for (uint32_t n = function_->arguments; n < function_->registers; ++n)
    w_.line("MOV {}, RZ", w_.reg(n));
  block(function_->body);
  w_.label(end_);
  w_.line("RET");
  return w_.text + cold_;
}

void Code::start() {
  const uint32_t self = Registers::kSelf, thread = Registers::kThread, out = Registers::kOut;
  w_.line("MOV R1, c[0x0][0x20]");
  w_.line("S2R R{}, SR_TID.X", self);
  w_.line("S2R R{}, SR_CTAID.X", thread);
  if (w_.random.chance(2))
    w_.line("XMAD R{}, R{}, c[0x0][0x8], R{}", thread, thread, self);
  else
    w_.line("XMAD R{}, R{}, {:#x}, R{}", thread, thread, p_.block, self);
  const std::string offset = w_.word();
  w_.line("XMAD {}, R{}, {:#x}, RZ", offset, thread, 4 * p_.stride());
  w_.line("IADD R{}.CC, {}, c[0x0][0x148]", out, offset);
  w_.line("IADD.X R{}, RZ, c[0x0][0x14c]", out + 1);
  for (uint32_t n = 0; n < p_.stored(); ++n) initial(n, p_.registers[n]);
}

void Code::initial(uint32_t number, const Initial& i) {
  const std::string to = w_.reg(number), thread = fmt::format("R{}", Registers::kThread);
  if (i.kind == Initial::Kind::thread) return w_.line("MOV {}, {}", to, thread);
  if (i.kind == Initial::Kind::value) return put_value(w_, "", to, i.value);
  const std::string scale = w_.word(), product = w_.word();
  w_.line("MOV32I {}, {:#x}", scale, i.scale);
  multiply(w_, "", product, thread, scale);
  if (i.kind == Initial::Kind::linear)
    return w_.line("IADD32I {}, {}, {:#x}", to, product, i.value);
  w_.line("IADD32I {}, {}, {:#x}", product, product, i.value);
  w_.line("LOP32I.AND {}, {}, {:#x}", product, product, kTableWords - 1);
  load_table(w_, "", to, product);
}

/// Vectors start at registers and at places that are multiples of their length.
void Code::store_all(const std::string& lead, const std::string& mark) {
  const uint32_t most = w_.random.pick({4U, 4U, 2U, 1U});
  for (uint32_t n = 0; n < p_.stored();) {
    uint32_t count = most;
    while (n % count != 0 || n + count > p_.stored()) count /= 2;
    w_.line("{}STG.E{} [R{}+{:#x}], {}", lead, count == 1 ? "" : fmt::format(".{}", 32 * count),
            Registers::kOut, 4 * (kSlots + n), w_.reg(n));
    n += count;
  }
  w_.line("{}STG.E [R{}+{:#x}], {}", lead, Registers::kOut, 4 * (kSlots + p_.stored()), mark);
}

void Code::end_with(const std::string& lead, uint32_t mark) {
  const std::string value = w_.word();
  w_.line("MOV32I {}, {:#x}", value, mark);
  store_all(lead, value);
  w_.line("{}EXIT", lead);
}

void Code::put(const Return& s, const Statement&) {
  if (function_ != nullptr) return style_.one_end ? jump(branch(end_)) : w_.line("RET");
  if (!style_.one_end) return end_with("", s.mark);
  put_value(w_, "", fmt::format("R{}", Registers::kMark), s.mark);
  jump(branch(end_));
}

void Code::block(const Block& b) {
  for (const Statement& s : b) {
    if (is_plain(s)) plain(w_, s);
    std::visit([&](const auto& what) { put(what, s); }, s.what);
  }
}

Code::Jump Code::meet_at(const std::string& label, bool bare) {
  if (bare) return branch(label);
  w_.line("SSY `({})", label);
  return {"SYNC", ""};
}

void Code::aside(const std::string& name, const Block& b, const Jump& back) {
  std::string text;
  std::swap(text, w_.text);
  w_.label(name);
  block(b);
  if (!always_leaves(b)) jump(back);
  std::swap(text, w_.text);
  cold_ += text;
}

void Code::put(const If& s, const Statement&) {
  if (short_if(s) || in_two_passes(s)) return;
  const std::string join = w_.new_label("join");
  // Where one side's lanes have all gone there is nobody to meet.
  const bool alone = always_leaves(s.yes) && s.no.empty() && w_.random.chance(2);
  const Jump out = meet_at(join, alone || may_be_bare());
  if (s.no.empty())
    one_sided(s, out, join);
  else
    two_sided(s, out);
  w_.label(join);
}

/// Without a side of its own: predicated instructions, or only a jump.
bool Code::short_if(const If& s) {
  const auto few = [](const Block& b) { return b.size() <= 3 && std::ranges::all_of(b, is_plain); };
  if (style_.predicate_ifs && few(s.yes) && few(s.no)) {
    predicated(s);
    return true;
  }
  return s.no.empty() && always_leaves(s.yes) && (s.yes.size() == 1 || style_.predicate_ifs) &&
         leaves_predicated(s);
}

void Code::predicated(const If& s) {
  const Predicate p = test(w_, s.test);
  w_.hold(p.number);
  for (const Statement& one : s.yes) plain(w_, one, p.lead());
  for (const Statement& one : s.no) plain(w_, one, (!p).lead());
  w_.release(p.number);
}

bool Code::leaves_predicated(const If& s) {
  for (size_t n = 0; n + 1 < s.yes.size(); ++n)
    if (!is_plain(s.yes[n])) return false;
  const Predicate p = test(w_, s.test);
  w_.hold(p.number);
  for (size_t n = 0; n + 1 < s.yes.size(); ++n) plain(w_, s.yes[n], p.lead());
  w_.release(p.number);
  if (const auto* away = std::get_if<Leave>(&s.yes.back().what)) {
    leave(p.lead(), loops_.size() - away->levels, away->goes_on);
  } else if (function_ != nullptr) {
    w_.line("{}RET", p.lead());
  } else if (style_.one_end) {
    w_.line("{}MOV32I R{}, {:#x}", p.lead(), Registers::kMark,
            std::get<Return>(s.yes.back().what).mark);
    jump(branch(end_), p.lead());
  } else {
    end_with(p.lead(), std::get<Return>(s.yes.back().what).mark);
  }
  return true;
}

void Code::one_sided(const If& s, const Jump& out, const std::string& join) {
  // Lanes that have nothing to do wait at once, or where the others come to.
  const bool at_once = out.first == "BRA" || w_.random.chance(2);
  const std::string skip = at_once ? join : w_.new_label("skip");
  jump_unless(s.test, at_once ? out : branch(skip));
  block(s.yes);
  if (!at_once) w_.label(skip);
  if (out.first != "BRA" && !(at_once && always_leaves(s.yes))) jump(out);
}

void Code::two_sided(const If& s, const Jump& out) {
  const std::string other = w_.new_label(style_.cold_sides ? "cold" : "else");
  jump_unless(s.test, branch(other));
  block(s.yes);
  if (style_.cold_sides) {
    if (!always_leaves(s.yes)) jump(out);
    return aside(other, s.no, out);
  }
  if (!always_leaves(s.yes)) jump(out);
  w_.label(other);
  block(s.no);
  if (out.first != "BRA" && !always_leaves(s.no)) jump(out);
}

/// First one side, then the other; the predicate outlives the first.
bool Code::in_two_passes(const If& s) {
  if (function_ != nullptr || s.no.empty() || bare_ || !w_.random.chance(4)) return false;
  const auto number = w_.lasting_predicate();
  if (!number) return false;
  const Predicate p = test_into(w_, s.test, *number);
  const std::string middle = w_.new_label("middle"), join = w_.new_label("join");
  const auto pass = [&](const Block& side, Predicate without, const std::string& meet) {
    w_.line("SSY `({})", meet);
    w_.line("{}SYNC", without.lead());
    block(side);
    if (!always_leaves(side)) w_.line("SYNC");
    w_.label(meet);
  };
  pass(s.yes, !p, middle);
  pass(s.no, p, join);
  w_.release(*number);
  return true;
}

void Code::put(const Switch& s, const Statement& whole) {
  const std::string n = w_.own_word(), join = w_.new_label("join");
  w_.line("LOP32I.AND {}, {}, {:#x}", n, w_.reg(s.selector), s.mask);
  const Jump out = meet_at(join, may_be_bare());
  const bool falls = std::ranges::any_of(s.cases, [](const Case& c) { return c.falls; });
  if (falls && looks_across(p_, whole)) {
    in_runs(s, n, out);
    return w_.label(join);
  }
  std::vector<std::string> names;
  for (size_t c = 0; c < s.cases.size(); ++c) names.push_back(w_.new_label("case"));
  choose(s, n, names, out);
  for (size_t c = 0; c < s.cases.size(); ++c) {
    w_.label(names[c]);
    block(s.cases[c].body);
    const bool last = c + 1 == s.cases.size();
    if (last ? out.first != "BRA" : !s.cases[c].falls) jump(out);
  }
  w_.label(join);
}

void Code::choose(const Switch& s, const std::string& n, const std::vector<std::string>& names,
                  const Jump& none) {
  const auto count = static_cast<uint32_t>(s.cases.size());
  if (style_.switches == Style::Switches::chain)
    for (uint32_t c = 0; c < count; ++c) equal(n, c, names[c]);
  else
    return halves(n, 0, count, names, none);
  jump(none);
}

void Code::equal(const std::string& n, uint32_t c, const std::string& to) {
  const uint32_t p = w_.predicate();
  const bool opposite = w_.random.chance(2);
  w_.line("ISETP.{}.AND P{}, PT, {}, {:#x}, PT", opposite ? "NE" : "EQ", p, n, c);
  jump(branch(to), fmt::format("@{}P{} ", opposite ? "!" : "", p));
}

void Code::halves(const std::string& n, uint32_t first, uint32_t last,
                  const std::vector<std::string>& names, const Jump& none) {
  if (last - first < 3) {
    for (uint32_t c = first; c < last; ++c) equal(n, c, names[c]);
    return jump(none);
  }
  const uint32_t middle = (first + last) / 2, p = w_.predicate();
  const std::string upper = w_.new_label("upper");
  w_.line("ISETP.GE.U32.AND P{}, PT, {}, {:#x}, PT", p, n, middle);
  jump(branch(upper), fmt::format("@P{} ", p));
  halves(n, first, middle, names, none);
  w_.label(upper);
  halves(n, middle, last, names, none);
}

/// Lanes that fall into a case must meet those that enter it: cases that fall into one another
/// are entered together.
void Code::in_runs(const Switch& s, const std::string& n, const Jump& out) {
  std::vector<std::pair<size_t, size_t>> runs;
  for (size_t first = 0, c = 0; c < s.cases.size(); ++c) {
    if (s.cases[c].falls && c + 1 < s.cases.size()) continue;
    runs.emplace_back(first, c);
    first = c + 1;
  }
  std::vector<std::string> names;
  for (const auto& [first, last] : runs) {
    const uint32_t p = w_.predicate();
    names.push_back(w_.new_label("run"));
    w_.line("ISETP.LE.U32.AND P{}, PT, {}, {:#x}, PT", p, n, last);
    jump(branch(names.back()), fmt::format("@P{} ", p));
  }
  jump(out);
  for (size_t r = 0; r < runs.size(); ++r) {
    w_.label(names[r]);
    run_of_cases(s, n, runs[r].first, runs[r].second, out);
  }
}

void Code::run_of_cases(const Switch& s, const std::string& n, size_t first, size_t last,
                        const Jump& out) {
  std::vector<std::string> names(s.cases.size());
  for (size_t c = last; c > first; --c) {
    names[c] = w_.new_label("case");
    w_.line("SSY `({})", names[c]);
  }
  for (size_t c = first; c <= last; ++c) {
    if (c != first) w_.label(names[c]);
    if (c != last) {
      const uint32_t p = w_.predicate();
      w_.line("ISETP.GT.U32.AND P{}, PT, {}, {:#x}, PT", p, n, c);
      w_.line("@P{} SYNC", p);
    }
    block(s.cases[c].body);
    if (c == last)
      jump(out);
    else
      w_.line("SYNC");
  }
}

void Code::put(const Region& s, const Statement&) {
  const std::string join = w_.new_label("join");
  const Jump out = meet_at(join, may_be_bare());
  const bool one_exit = out.first != "BRA" && w_.random.chance(2);
  const std::string last = w_.new_label("out"), fuel = w_.reg(s.fuel);
  std::vector<Jump> to;
  for (size_t n = 0; n < s.nodes.size(); ++n) to.push_back(branch(w_.new_label("node")));
  to.push_back(one_exit ? branch(last) : out);
  put_value(w_, "", fuel, s.steps);
  jump_if(s.enter_second, to[1]);
  for (size_t n = 0; n < s.nodes.size(); ++n) {
    const Region::Node& node = s.nodes[n];
    w_.label(to[n].second);
    block(node.straight);
    jump_if({Relation::eq, s.fuel, Operand::imm(0)}, to.back());
    w_.line("IADD32I {}, {}, -0x1", fuel, fuel);
    jump_if(node.test, to.at(node.yes));
    if (node.no != n + 1 || (node.no == s.nodes.size() && !one_exit)) jump(to.at(node.no));
  }
  if (one_exit) {
    w_.label(last);
    jump(out);
  }
  w_.label(join);
}

void Code::put(const Call& s, const Statement&) {
  const Function& f = p_.functions.at(s.function);
  const uint32_t first = registers_.functions.at(s.function);
  for (uint32_t n = 0; n < f.arguments; ++n)
    w_.line("MOV R{}, {}", first + n, w_.reg(s.arguments.at(n)));
  if (w_.random.chance(3)) {
    const std::string back = w_.new_label("back");
    w_.line("PRET `({})", back);
    jump(branch(fmt::format(".L_f{}", s.function)));
    w_.label(back);
  } else {
    w_.line("CAL `(.L_f{})", s.function);
  }
  for (uint32_t n = 0; n < f.results; ++n)
    w_.line("MOV {}, R{}", w_.reg(s.results.at(n)), first + n);
}

}  // namespace lanewise::programs::sass
