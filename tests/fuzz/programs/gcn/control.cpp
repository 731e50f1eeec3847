// GCN: start and end of a program, ifs.
#include <algorithm>

#include "tests/fuzz/programs/gcn/masks.hpp"
#include "tests/fuzz/programs/gcn/printer.hpp"

namespace lanewise::programs {
namespace gcn {

std::string Printer::kernel() {
  start();
  returns_ = contains<Return>();
  if (returns_) {
    gone_ = w_.mask();
    w_.line("s_mov_b64 {}, 0", gone_);
  }
  block(p_.body);
  w_.line("v_mov_b32 {}, {}", w_.mark(), Writer::number(kEndMark));
  if (returns_ && style_.one_end) w_.line("s_or_b64 exec, exec, {}", gone_);
  store_all();
  if (contains<Return>() || !cold_.empty()) w_.line("s_endpgm");
  return w_.text + cold_;
}

void Printer::start() {
  w_.line("s_load_dwordx4 s[4:7], s[0:1], 0x0");
  w_.line("s_mul_i32 s3, s2, {}", Writer::number(p_.block));
  w_.line("{} {}, vcc, s3, {}", w_.add(), kThread, kSelf);
  w_.line("s_waitcnt lgkmcnt(0)");
  descriptor(8, "s4", "s5", 4 * kTableWords, 0);
  descriptor(12, "s6", "s7", 4 * p_.words(), 0);
  // GCN3 counts bytes where those before it count records.
  descriptor(16, "s6", "s7", (w_.before_gcn3() ? 1 : 4 * p_.stride()) * p_.threads(),
             4 * p_.stride());
  descriptor(20, "0", "0", 0, 0);
  w_.line("s_movk_i32 s3, {}", Writer::number(4 * p_.stride()));
  w_.line("v_mul_lo_u32 {}, {}, s3", kOwnOffset, kThread);
  w_.line("{} v4, vcc, s6, {}", w_.add(), kOwnOffset);
  w_.line("v_mov_b32 v5, s7");
  w_.line("v_addc_u32 v5, vcc, 0, v5, vcc");
  for (uint32_t n = 0; n < p_.stored(); ++n) initial(Writer::reg(n), p_.registers[n]);
}

void Printer::descriptor(uint32_t at, const std::string& low, const std::string& high,
                         uint32_t records, uint32_t record) {
  w_.line("s_mov_b32 s{}, {}", at, low);
  w_.line("s_and_b32 s{}, {}, 0xffff", at + 1, high);
  if (record != 0) w_.line("s_or_b32 s{}, s{}, {:#x}", at + 1, at + 1, record << 16);
  w_.line("s_mov_b32 s{}, {}", at + 2, Writer::number(records));
  w_.line("s_mov_b32 s{}, 0xf000", at + 3);
}

void Printer::initial(const std::string& to, const Initial& i) {
  const Scope scope(w_);
  if (i.kind == Initial::Kind::thread) return w_.line("v_mov_b32 {}, {}", to, kThread);
  if (i.kind == Initial::Kind::value)
    return w_.line("v_mov_b32 {}, {}", to, Writer::number(i.value));
  const std::string n = w_.vector();
  const bool linear = i.kind == Initial::Kind::linear;
  if (linear)
    w_.line("v_mul_lo_u32 {}, {}, {}", n, kThread, w_.small(Operand::imm(i.scale)));
  else
    w_.line("v_mul_u32_u24 {}, {}, {}", n, i.scale, kThread);
  w_.line("{} {}, vcc, {}, {}", w_.add(), linear ? to : n, Writer::number(i.value), n);
  if (!linear) load_element(w_, to, n);
}

void Printer::store_all() {
  // Vectors make less code than single words.
  const uint32_t most = style_.seed % 8 == 0 ? 1 : 4, end = p_.stored() + 1;
  for (uint32_t n = 0; n < end;) {
    const uint32_t left = end - n, count = std::min(most, left >= 4 ? 4U : left >= 2 ? 2U : 1U);
    store_words(w_, kSlots + n, n, count);
    n += count;
  }
}

void Printer::block(const Block& b) {
  ++depth_;
  for (const Statement& s : b) {
    if (w_.has_odd_masks && w_.odd.chance(3)) leave_numbers_behind(w_);
    std::visit([&](const auto& what) { put(what); }, s.what);
    // Where all lanes have left, the rest may be jumped over.
    if (loops_.empty() || loops_.back().depth != depth_ || !leaves(s)) continue;
    if (!w_.apart && w_.random.chance(2)) w_.line("s_cbranch_execz {}", loops_.back().test);
  }
  --depth_;
}

bool Printer::leaves(const Statement& s) {
  if (std::holds_alternative<Leave>(s.what) || std::holds_alternative<Return>(s.what)) return true;
  for (const Block* b : blocks_in(s))
    for (const Statement& inner : *b)
      if (leaves(inner)) return true;
  return false;
}

void Printer::restore(Saved way, const std::string& saved) {
  if (way == Saved::others || w_.random.chance(2))
    w_.line("s_or_b64 exec, exec, {}", saved);
  else
    w_.line("s_mov_b64 exec, {}", saved);
  if (way == Saved::gone) take_out_gone();
}

bool Printer::may_skip(const Block& b) {
  return (!w_.apart || std::ranges::all_of(b, is_plain)) && w_.random.chance(2);
}
void Printer::again_by(const std::string& left, const std::string& to) {
  w_.line("s_sub_u32 {}, {}, 1", left, left);
  w_.line("s_cmp_lg_u32 {}, 0", left);
  w_.line("s_cbranch_scc1 {}", to);
}

void Printer::take_out_gone() {
  for (const Loops& l : loops_) {
    if (!l.out.empty()) w_.line("s_andn2_b64 exec, exec, {}", l.out);
    if (!l.next.empty()) w_.line("s_andn2_b64 exec, exec, {}", l.next);
  }
  if (returns_) w_.line("s_andn2_b64 exec, exec, {}", gone_);
}

void Printer::put(const If& s) {
  const Scope scope(w_);
  if (style_.predicate_ifs && few(s.yes) && few(s.no)) return predicated_if(s);
  if (!w_.random.chance(3) && scalar_test(w_, s.test)) return uniform_if(s);
  if (s.yes.size() == 1 && s.no.empty() && w_.random.chance(2))
    if (const auto* leave = std::get_if<Leave>(&s.yes[0].what))
      return depart(*leave, kept(w_, s.test));
  if (s.no.empty()) return one_side(s);
  two_sides(s);
}

void Printer::predicated_if(const If& s) {
  const std::string lanes = kept(w_, s.test);
  for (const Statement& one : s.yes) predicated(w_, one, lanes, false);
  for (const Statement& one : s.no) predicated(w_, one, lanes, true);
}

void Printer::uniform_if(const If& s) {
  const std::string other = w_.new_label("else"), behind = w_.new_label("join");
  jump_by_scc(w_, false, s.no.empty() ? behind : other, false);
  block(s.yes);
  if (!s.no.empty()) {
    w_.line("s_branch {}", behind);
    w_.label(other);
    block(s.no);
  }
  w_.label(behind);
}

void Printer::save_and_enter(const std::string& saved, const std::string& lanes) {
  if (w_.random.chance(3)) {
    w_.line("s_mov_b64 {}, exec", saved);
    w_.line("s_and_b64 exec, exec, {}", lanes);
  } else {
    w_.line("s_and_saveexec_b64 {}, {}", saved, lanes);
  }
}

void Printer::inside(Saved way, const std::string& saved, const Block& b) {
  if (way == Saved::removable) frames_.push_back(saved);
  block(b);
  if (way == Saved::removable) frames_.pop_back();
}

Printer::Trap Printer::trap(const Condition& c) {
  if (!w_.random.chance(3) || !scalar_test(w_, c)) return {};
  Trap t{w_.scalar(), w_.random.chance(2), false};
  w_.line("s_cselect_b32 {}, {}", t.value, t.loops ? "3, 0" : "0, 0x40000000");
  return t;
}
void Printer::trap(const std::string& lanes, Trap& t) {
  if (w_.apart || !t.value.empty() || !w_.random.chance(4)) return;
  t = {w_.vector(), w_.random.chance(2), true};
  w_.line("v_cndmask_b32_e64 {}, {}, {}", t.value, t.loops ? "0, 3" : "64, 0", lanes);
}
void Printer::pass(const Trap& t) {
  if (t.value.empty()) return;
  std::string n = t.value;
  if (t.in_lanes) {
    n = w_.scalar();
    w_.line("v_readfirstlane_b32 {}, {}", n, t.value);
  }
  if (t.loops) {
    const std::string head = w_.new_label("trap");
    w_.label(head);
    return again_by(n, head);
  }
  if (t.in_lanes) w_.line("s_lshl_b32 {}, {}, 24", n, n);
  const std::string at = w_.mask();
  const std::string low = "s" + at.substr(2, at.find(':') - 2),
                    high = "s" + at.substr(at.find(':') + 1, at.size() - at.find(':') - 2);
  w_.line("s_add_u32 {}, s4, {}", low, n);
  w_.line("s_addc_u32 {}, s5, 0", high);
  w_.line("s_load_dword {}, {}, 0x0", low, at);
  w_.line("s_waitcnt lgkmcnt(0)");
}

void Printer::one_side(const If& s) {
  const Saved how = way();
  const std::string saved = w_.mask(), end = w_.new_label("end"), past = w_.new_label("past");
  const bool by_vcc = !w_.apart && w_.random.chance(4), skips = may_skip(s.yes);
  Trap laid = skips ? trap(s.test) : Trap();
  const std::string lanes = by_vcc ? by_halves(w_, test(w_, s.test)) : loose(w_, s.test);
  if (skips) trap(lanes, laid);
  const bool jumps = by_vcc && lanes == "vcc";
  if (jumps) w_.line("s_cbranch_vccz {}", past);
  const bool skipped = by_vcc && skip_if_none(w_, lanes, past);
  save_and_enter(saved, lanes);
  if (how == Saved::others) w_.line("s_xor_b64 {}, exec, {}", saved, saved);
  if (skips) w_.line("s_cbranch_execz {}", end);
  pass(laid);
  inside(how, saved, s.yes);
  if (skips) w_.label(end);
  restore(how, saved);
  if (jumps || skipped) w_.label(past);
}

void Printer::two_sides(const If& s) {
  const Saved how = way();
  const bool skips = may_skip(s.yes), skips_other = may_skip(s.no);
  Trap laid = skips ? trap(s.test) : Trap();
  const std::string saved = w_.mask(), lanes = collected(w_, by_halves(w_, kept(w_, s.test))),
                    other = w_.new_label("else"), end = w_.new_label("end");
  if (skips) trap(lanes, laid);
  save_and_enter(saved, lanes);
  if (how == Saved::others) w_.line("s_xor_b64 {}, exec, {}", saved, saved);
  if (skips) w_.line("s_cbranch_execz {}", other);
  pass(laid);
  inside(how, saved, s.yes);
  if (skips) w_.label(other);
  turn(how, saved, lanes);
  if (style_.cold_sides && !w_.apart) {
    aside(how, saved, s.no, end);
  } else {
    if (skips_other) w_.line("s_cbranch_execz {}", end);
    inside(how, saved, s.no);
    if (skips_other) w_.label(end);
  }
  restore(how, saved);
}

void Printer::turn(Saved how, const std::string& saved, const std::string& lanes) {
  if (how != Saved::others) {
    if (how == Saved::removable && w_.random.chance(2))
      w_.line("s_xor_b64 exec, exec, {}", saved);
    else
      w_.line("s_andn2_b64 exec, {}, {}", saved, lanes);
    return;
  }
  switch (w_.random.below(3)) {
    case 0:
      w_.line("s_or_saveexec_b64 {}, {}", saved, saved);
      return w_.line("s_xor_b64 exec, exec, {}", saved);
    case 1:
      w_.line("s_mov_b64 vcc, exec");
      w_.line("s_mov_b64 exec, {}", saved);
      return w_.line("s_mov_b64 {}, vcc", saved);
    default:
      w_.line("s_or_b64 vcc, exec, {}", saved);
      w_.line("s_mov_b64 {}, exec", saved);
      return w_.line("s_andn2_b64 exec, vcc, {}", saved);
  }
}

void Printer::aside(Saved how, const std::string& saved, const Block& b, const std::string& back) {
  const std::string name = w_.new_label("cold");
  w_.line("s_cbranch_execnz {}", name);
  std::string text;
  std::swap(text, w_.text);
  w_.label(name);
  inside(how, saved, b);
  w_.line("s_branch {}", back);
  std::swap(text, w_.text);
  cold_ += text;
  w_.label(back);
}

}  // namespace gcn

namespace {

Text print_gcn(const Program& program, const Style& style) {
  static constexpr const char* kNames[] = {"gfx600", "gfx700", "gfx803"};
  const auto target = static_cast<size_t>(style.seed / 8 % 3);
  gcn::Printer printer(program, style, static_cast<gcn::Target>(target));
  Text t;
  t.target = kNames[target];
  t.code = printer.kernel();
  if (printer.contains<Exchange>() || printer.contains<Pool>())
    t.shared = 4 * std::max(program.block, kPooled);
  return t;
}

}  // namespace

InstructionSet gcn_set() {
  using enum CrossOp;
  return {
      "gcn",
      64,
      {{ballot, any, all, active, shuffle_index, shuffle_xor, shuffle_up, shuffle_down, read_first},
       false,
       true,
       true,
       true},
      print_gcn};
}

}  // namespace lanewise::programs
