// GCN switches and regions with gotos.
#include <algorithm>

#include "tests/fuzz/programs/gcn/printer.hpp"

namespace lanewise::programs::gcn {

void Printer::put(const Switch& s) {
  const Scope scope(w_);
  const bool falls = std::ranges::any_of(s.cases, [](const Case& c) { return c.falls; });
  const std::string u = w_.uniform(Operand::reg(s.selector));
  if (!u.empty() && !w_.random.chance(3)) return uniform_switch(s, u);
  const std::string n = w_.vector();
  w_.line("v_and_b32 {}, {}, {}", n, Writer::number(s.mask), Writer::reg(s.selector));
  if (style_.switches == Style::Switches::table && !falls && !w_.apart) return one_by_one(s, n);
  in_order(s, n);
}

void Printer::uniform_switch(const Switch& s, const std::string& selector) {
  const std::string n = w_.scalar(), behind = w_.new_label("join");
  w_.line("s_and_b32 {}, {}, {}", n, selector, Writer::number(s.mask));
  const std::vector<std::string> names = jumps(s, n);
  w_.line("s_branch {}", behind);
  for (size_t c = 0; c < s.cases.size(); ++c) {
    w_.label(names[c]);
    block(s.cases[c].body);
    if (!s.cases[c].falls) w_.line("s_branch {}", behind);
  }
  w_.label(behind);
}

std::vector<std::string> Printer::jumps(const Switch& s, const std::string& n) {
  std::vector<std::string> names;
  for (uint32_t c = 0; c < s.cases.size(); ++c) {
    names.push_back(w_.new_label("case"));
    w_.line("s_cmp_eq_u32 {}, {}", n, c);
    w_.line("s_cbranch_scc1 {}", names.back());
  }
  return names;
}

void Printer::in_order(const Switch& s, const std::string& n) {
  const std::string rest = w_.mask(), done = w_.mask(), fallen = w_.mask(), here = w_.mask();
  w_.line("s_mov_b64 {}, exec", rest);
  w_.line("s_mov_b64 {}, 0", done);
  w_.line("s_mov_b64 exec, 0");
  for (uint32_t c = 0; c < s.cases.size(); ++c) {
    w_.line("s_mov_b64 {}, exec", fallen);
    w_.line("s_mov_b64 exec, {}", rest);
    w_.line("v_cmp_eq_u32 {}, {}, {}", here, c, n);
    w_.line("s_andn2_b64 {}, {}, {}", rest, rest, here);
    w_.line("s_or_b64 exec, {}, {}", here, fallen);
    const std::string skip = w_.new_label("skip");
    const bool skips = may_skip(s.cases[c].body);
    if (skips) w_.line("s_cbranch_execz {}", skip);
    block(s.cases[c].body);
    if (skips) w_.label(skip);
    if (s.cases[c].falls) continue;
    w_.line("s_or_b64 {}, {}, exec", done, done);
    w_.line("s_mov_b64 exec, 0");
  }
  w_.line("s_or_b64 exec, exec, {}", done);
  w_.line("s_or_b64 exec, exec, {}", rest);
}

void Printer::one_by_one(const Switch& s, const std::string& n) {
  const std::string rest = w_.mask(), done = w_.mask(), here = w_.mask(), first = w_.scalar(),
                    head = w_.new_label("each"), joined = w_.new_label("joined"),
                    behind = w_.new_label("join");
  w_.line("s_mov_b64 {}, exec", rest);
  w_.line("s_mov_b64 {}, 0", done);
  w_.label(head);
  w_.line("s_cbranch_execz {}", behind);
  w_.line("v_readfirstlane_b32 {}, {}", first, n);
  w_.line("v_cmp_eq_u32 {}, {}, {}", here, first, n);
  w_.line("s_andn2_b64 {}, {}, {}", rest, rest, here);
  w_.line("s_mov_b64 exec, {}", here);
  const std::vector<std::string> names = jumps(s, first);
  w_.line("s_branch {}", joined);
  for (size_t c = 0; c < s.cases.size(); ++c) {
    w_.label(names[c]);
    block(s.cases[c].body);
    if (c + 1 < s.cases.size()) w_.line("s_branch {}", joined);
  }
  w_.label(joined);
  w_.line("s_or_b64 {}, {}, exec", done, done);
  w_.line("s_mov_b64 exec, {}", rest);
  w_.line("s_branch {}", head);
  w_.label(behind);
  w_.line("s_mov_b64 exec, {}", done);
}

void Printer::put(const Region& s) {
  const Scope scope(w_);
  const std::string whole = w_.mask();
  w_.line("s_mov_b64 {}, exec", whole);
  w_.line("v_mov_b32 {}, {}", Writer::reg(s.fuel), Writer::number(s.steps));
  if (w_.apart || w_.random.chance(2))
    dispatched(s);
  else
    by_jumps(s);
  w_.line("s_mov_b64 exec, {}", whole);
}

void Printer::dispatched(const Region& s) {
  const std::string at = w_.vector(), yes = w_.vector(), no = w_.vector(), inside = w_.mask(),
                    head = w_.new_label("turn");
  const auto end = static_cast<uint32_t>(s.nodes.size());
  w_.line("v_cndmask_b32_e64 {}, 0, 1, {}", at, kept(w_, s.enter_second));
  // Each turn takes a lane one block further at least.
  const std::string turns = w_.scalar();
  if (w_.apart) w_.line("s_mov_b32 {}, {}", turns, s.steps + 1);
  w_.label(head);
  w_.line("s_mov_b64 {}, exec", inside);
  for (uint32_t n = 0; n < end; ++n) {
    const Scope scope(w_);
    const Region::Node& node = s.nodes[n];
    const std::string skip = w_.new_label("other");
    w_.line("v_cmp_eq_u32 vcc, {}, {}", n, at);
    w_.line("s_and_b64 exec, exec, vcc");
    const bool skips = !w_.apart && w_.random.chance(2);
    if (skips) w_.line("s_cbranch_execz {}", skip);
    block(node.straight);
    w_.line("v_mov_b32 {}, {}", yes, node.yes);
    w_.line("v_mov_b32 {}, {}", no, node.no);
    const std::string c = test(w_, node.test);
    w_.line("v_cndmask_b32_e64 {}, {}, {}, {}", at, no, yes, c);
    const std::string dry = kept(w_, {Relation::eq, s.fuel, Operand::imm(0)});
    w_.line("v_mov_b32 {}, {}", no, end);
    w_.line("v_cndmask_b32_e64 {}, {}, {}, {}", at, at, no, dry);
    w_.line("s_andn2_b64 exec, exec, {}", dry);
    w_.line("{} {}, vcc, -1, {}", w_.add(), Writer::reg(s.fuel), Writer::reg(s.fuel));
    if (skips) w_.label(skip);
    w_.line("s_mov_b64 exec, {}", inside);
  }
  w_.line("v_cmp_gt_u32 vcc, {}, {}", end, at);
  w_.line("s_and_b64 exec, exec, vcc");
  if (w_.apart)
    again_by(turns, head);
  else
    w_.line("s_cbranch_execnz {}", head);
}

void Printer::by_jumps(const Region& s) {
  const size_t end = s.nodes.size();
  std::vector<std::string> names, waiting;
  for (size_t n = 0; n < end; ++n) {
    names.push_back(w_.new_label("node"));
    waiting.push_back(w_.mask());
    w_.line("s_mov_b64 {}, 0", waiting.back());
  }
  const std::string second = kept(w_, s.enter_second);
  w_.line("s_andn2_b64 {}, exec, {}", waiting[0], second);
  w_.line("s_mov_b64 {}, {}", waiting[1], second);
  const auto jump_if_any = [&](size_t n) {
    set_scc_if_any(w_, waiting[n]);
    w_.line("s_cbranch_scc1 {}", names[n]);
  };
  if (w_.random.chance(2)) jump_if_any(1);
  for (size_t n = 0; n < end; ++n) {
    const Scope scope(w_);
    const Region::Node& node = s.nodes[n];
    w_.label(names[n]);
    w_.line("s_mov_b64 exec, {}", waiting[n]);
    w_.line("s_mov_b64 {}, 0", waiting[n]);
    block(node.straight);
    w_.line("v_cmp_ne_u32 vcc, 0, {}", Writer::reg(s.fuel));
    w_.line("s_and_b64 exec, exec, vcc");
    w_.line("{} {}, vcc, -1, {}", w_.add(), Writer::reg(s.fuel), Writer::reg(s.fuel));
    const std::string yes = kept(w_, node.test), no = w_.mask();
    w_.line("s_andn2_b64 {}, exec, {}", no, yes);
    if (node.yes < end) w_.line("s_or_b64 {}, {}, {}", waiting[node.yes], waiting[node.yes], yes);
    if (node.no < end) w_.line("s_or_b64 {}, {}, {}", waiting[node.no], waiting[node.no], no);
    if (node.yes < end) jump_if_any(node.yes);
    if (node.no < end && node.no != n + 1) jump_if_any(node.no);
  }
  for (size_t n = 0; n < end; ++n) jump_if_any(n);
}

}  // namespace lanewise::programs::gcn
