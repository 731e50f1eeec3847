// GCN loops, and how lanes leave them.
#include <algorithm>

#include "tests/fuzz/programs/gcn/masks.hpp"
#include "tests/fuzz/programs/gcn/printer.hpp"

namespace lanewise::programs::gcn {

bool Printer::targeted(const Block& b, uint32_t level, bool goes_on) {
  return std::ranges::any_of(b, [&](const Statement& s) {
    if (const auto* l = std::get_if<Leave>(&s.what))
      return l->levels == level && l->goes_on == goes_on;
    const uint32_t inner = level + (std::holds_alternative<Loop>(s.what) ? 1 : 0);
    return std::ranges::any_of(blocks_in(s),
                               [&](const Block* x) { return targeted(*x, inner, goes_on); });
  });
}

void Printer::set_counter(const Loop& s) {
  const std::string counter = Writer::reg(s.counter);
  if (s.trips.immediate) return w_.line("v_mov_b32 {}, {}", counter, Writer::number(s.trips.value));
  const std::string n = w_.vector();
  w_.line("v_and_b32 {}, {}, {}", n, Writer::number(s.mask), Writer::reg(s.trips.value));
  w_.line("{} {}, vcc, {}, {}", w_.add(), counter, Writer::number(s.least), n);
}

void Printer::put(const Loop& s) {
  const Scope scope(w_);
  set_counter(s);
  const bool counted = s.trips.immediate && !w_.random.chance(4);
  if (counted) {
    const std::string n = w_.scalar();
    w_.line("s_mov_b32 {}, {}", n, Writer::number(s.trips.value));
    w_.uniforms[s.counter] = n;
  }
  Loops l;
  if (!counted || s.again || targeted(s.body, 1, false)) l.out = w_.mask();
  if (targeted(s.body, 1, true)) l.next = w_.mask();
  if (!l.out.empty()) w_.line("s_mov_b64 {}, 0", l.out);
  // The lanes of the start come back, or those that wait.
  const bool from_start = !l.out.empty() && w_.random.chance(3);
  const Saved how = w_.random.chance(2) ? Saved::removable : Saved::gone;
  const std::string saved = from_start ? w_.mask() : l.out;
  if (from_start) w_.line("s_mov_b64 {}, exec", saved);
  if (from_start && how == Saved::removable) frames_.push_back(saved);
  if (w_.apart && !counted) {
    const uint32_t most = s.trips.immediate ? s.trips.value : s.mask + s.least;
    const bool one_more = s.tested_first && style_.rotate_loops;
    l.left = w_.scalar();
    w_.line("s_mov_b32 {}, {}", l.left, Writer::number(std::max(1U, most) + (one_more ? 1 : 0)));
  }
  leave_numbers_behind(w_);
  l.test = w_.new_label("next");
  l.frames = frames_.size();
  l.depth = depth_ + 1;
  const std::string behind = w_.new_label("behind");
  loops_.push_back(l);
  if (s.tested_first && !style_.rotate_loops)
    test_at_top(s, l, behind);
  else
    test_at_bottom(s, l, behind);
  loops_.pop_back();
  w_.label(behind);
  if (from_start && how == Saved::removable) frames_.pop_back();
  if (from_start)
    restore(how, saved);
  else if (!l.out.empty())
    w_.line("s_or_b64 exec, exec, {}", l.out);
  w_.uniforms.erase(s.counter);
}

void Printer::test_at_top(const Loop& s, const Loops& l, const std::string& behind) {
  if (!l.next.empty()) w_.line("s_mov_b64 {}, 0", l.next);
  w_.label(l.test);
  gather(l);
  stay(s, l, behind);
  if (!w_.apart && !l.out.empty() && (w_.uniforms.count(s.counter) == 0 || w_.random.chance(2)))
    w_.line("s_cbranch_execz {}", behind);
  if (!l.next.empty()) w_.line("s_mov_b64 {}, 0", l.next);
  count_down(s);
  block(s.body);
  if (l.left.empty()) return w_.line("s_branch {}", l.test);
  again_by(l.left, l.test);
  gather(l);
}

void Printer::test_at_bottom(const Loop& s, const Loops& l, const std::string& behind) {
  const std::string body = w_.new_label("body");
  if (s.tested_first) {
    if (!l.next.empty()) w_.line("s_mov_b64 {}, 0", l.next);
    w_.line("s_branch {}", l.test);
  }
  w_.label(body);
  if (!l.next.empty()) w_.line("s_mov_b64 {}, 0", l.next);
  if (s.tested_first) count_down(s);
  block(s.body);
  w_.label(l.test);
  gather(l);
  if (!s.tested_first) count_down(s);
  stay(s, l, behind);
  if (!l.left.empty())
    again_by(l.left, body);
  else if (l.out.empty() || w_.apart)
    w_.line("s_branch {}", body);
  else
    w_.line("s_cbranch_execnz {}", body);
}

void Printer::gather(const Loops& l) {
  if (!l.next.empty()) w_.line("s_or_b64 exec, exec, {}", l.next);
}

void Printer::count_down(const Loop& s) {
  const std::string counter = Writer::reg(s.counter);
  if (w_.random.chance(2))
    w_.line("{} {}, vcc, -1, {}", w_.add(), counter, counter);
  else
    w_.line("{} {}, vcc, 1, {}", w_.before_gcn3() ? "v_subrev_i32" : "v_subrev_u32", counter,
            counter);
  const auto it = w_.uniforms.find(s.counter);
  if (it == w_.uniforms.end()) return;
  if (w_.random.chance(2))
    w_.line("s_sub_u32 {}, {}, 1", it->second, it->second);
  else
    w_.line("s_addk_i32 {}, -1", it->second);
}

void Printer::stay(const Loop& s, const Loops& l, const std::string& behind) {
  const Scope scope(w_);
  const Condition left{Relation::ne, s.counter, Operand::imm(0)};
  const auto it = w_.uniforms.find(s.counter);
  if (it != w_.uniforms.end()) {
    // Who is still there comes back behind the loop by EXEC itself.
    if (w_.random.chance(2)) {
      w_.line("s_cmp_eq_u32 {}, 0", it->second);
      jump_by_scc(w_, true, behind, true);
    } else {
      w_.line("s_cmp_lg_u32 {}, 0", it->second);
      jump_by_scc(w_, false, behind, true);
    }
    if (s.again) keep(*s.again, l);
    return;
  }
  if (!s.again) return keep(left, l);
  if (!style_.join_tests) {
    keep(left, l);
    return keep(*s.again, l);
  }
  const std::string a = kept(w_, left), b = test(w_, *s.again), both = w_.mask();
  w_.line("s_and_b64 {}, {}, {}", both, a, b);
  keep(both, l);
}

void Printer::keep(const Condition& c, const Loops& l) {
  if (w_.random.chance(2)) return keep(test(w_, c), l);
  // By the lanes that do not.
  Condition other = c;
  other.relation = negated(c.relation);
  const std::string go = test(w_, other);
  w_.line("s_or_b64 {}, {}, {}", l.out, go, l.out);
  w_.line("s_andn2_b64 exec, exec, {}", w_.random.chance(2) ? go : l.out);
}

void Printer::keep(const std::string& lanes, const Loops& l) {
  const std::string go = w_.mask();
  w_.line("{} {}, exec, {}", w_.random.chance(2) ? "s_andn2_b64" : "s_xor_b64", go, lanes);
  w_.line("s_or_b64 {}, {}, {}", l.out, l.out, go);
  w_.line("s_and_b64 exec, exec, {}", lanes);
}

void Printer::depart(const Leave& s, const std::string& lanes) {
  const Loops& l = loops_.at(loops_.size() - s.levels);
  for (size_t n = l.frames; n < frames_.size(); ++n)
    w_.line("s_andn2_b64 {}, {}, {}", frames_[n], frames_[n], lanes);
  const std::string& to = s.goes_on ? l.next : l.out;
  w_.line("s_or_b64 {}, {}, {}", to, to, lanes);
  nobody(lanes);
}

void Printer::nobody(const std::string& lanes) {
  if (lanes != "exec")
    w_.line("s_andn2_b64 exec, exec, {}", lanes);
  else if (w_.random.chance(2))
    w_.line("s_mov_b64 exec, 0");
  else
    w_.line("s_xor_b64 exec, exec, exec");
}

void Printer::put(const Return& s) {
  w_.line("v_mov_b32 {}, {}", w_.mark(), Writer::number(s.mark));
  if (!style_.one_end) store_all();
  for (const std::string& f : frames_) w_.line("s_andn2_b64 {}, {}, exec", f, f);
  w_.line("s_or_b64 {}, {}, exec", gone_, gone_);
  nobody("exec");
}

}  // namespace lanewise::programs::gcn
