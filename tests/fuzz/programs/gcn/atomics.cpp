// GCN atomics: on the launch's cells and on the group's pool, at once or by compare-and-swap.
#include <array>

#include "tests/fuzz/programs/gcn/writer.hpp"

namespace lanewise::programs::gcn {
namespace {

const char* buffer_name(CombineOp op) {
  static constexpr std::array<const char*, kCombineOps> kNames = {
      "add", "and", "or", "xor", "umin", "umax", "smin", "smax", "add_x2"};
  return kNames[static_cast<size_t>(op)];
}
const char* shared_name(CombineOp op) {
  static constexpr std::array<const char*, kCombineOps - 1> kNames = {
      "add_u32", "and_b32", "or_b32", "xor_b32", "min_u32", "max_u32", "min_i32", "max_i32"};
  return kNames[static_cast<size_t>(op)];
}

/// ds_add_rtn_u32 of add_u32.
std::string returning_name(CombineOp op) {
  std::string name = shared_name(op);
  return name.insert(name.find('_'), "_rtn");
}

/// to = op(a, b).
void operation(Writer& w, CombineOp op, const std::string& to, const std::string& a,
               const std::string& b) {
  static constexpr std::array<const char*, kCombineOps - 1> kNames = {
      "", "v_and_b32", "v_or_b32", "v_xor_b32", "v_min_u32", "v_max_u32", "v_min_i32", "v_max_i32"};
  if (op == CombineOp::add) return w.line("{} {}, vcc, {}, {}", w.add(), to, a, b);
  w.line("{} {}, {}, {}", kNames[static_cast<size_t>(op)], to, a, b);
}

/// Until nobody has been there since the value was seen. `load(to)` and `swap(pair)`, which leaves
/// what it found in the pair's first half, write an access to the place.
template <typename Load, typename Swap>
void by_swaps(Writer& w, CombineOp op, const std::string& from, const Load& load,
              const Swap& swap) {
  const std::string seen = w.vector(), whole = w.mask(), again = w.new_label("again");
  const Writer::Pair pair = w.vectors();
  load(seen);
  w.line("s_mov_b64 {}, exec", whole);
  w.label(again);
  operation(w, op, pair.low, seen, from);
  w.line("v_mov_b32 {}, {}", pair.high, seen);
  swap(pair);
  w.line("v_cmp_ne_u32 vcc, {}, {}", pair.low, seen);
  w.line("v_mov_b32 {}, {}", seen, pair.low);
  if (w.random.chance(2)) {
    w.line("s_and_b64 exec, exec, vcc");
    w.line("s_cbranch_execnz {}", again);
  } else {
    const std::string left = w.mask();
    w.line("s_and_b64 {}, exec, vcc", left);
    w.line("s_mov_b64 exec, {}", left);
    w.line("s_cbranch_scc1 {}", again);
  }
  w.line("s_mov_b64 exec, {}", whole);
}

std::string masked(Writer& w, const Operand& cell, uint32_t cells, uint32_t shift) {
  const std::string at = w.vector();
  if (cell.immediate) {
    w.line("v_mov_b32 {}, {}", at, Writer::number((cell.value & (cells - 1)) << shift));
  } else {
    w.line("v_and_b32 {}, {}, {}", at, cells - 1, Writer::reg(cell.value));
    w.line("v_lshlrev_b32 {}, {}, {}", at, shift, at);
  }
  return at;
}

void written(Writer& w, const Combine& s) {
  const bool wide = s.op == CombineOp::add_wide;
  const std::string at = masked(w, s.cell, kCells, wide ? 3 : 2);
  w.line("{} {}, vcc, {}, {}", w.add(), at, Writer::number(4 * w.program.cells(s.op)), at);
  const std::string place = fmt::format("{}, {}, 0 offen", at, kOut), from = Writer::reg(s.from);
  if (s.swaps && !wide)
    return by_swaps(
        w, s.op, from,
        [&](const std::string& to) {
          w.line("buffer_load_dword {}, {} glc", to, place);
          w.line("s_waitcnt vmcnt(0)");
        },
        [&](const Writer::Pair& pair) {
          w.line("buffer_atomic_cmpswap {}, {} glc", pair.both, place);
          w.line("s_waitcnt vmcnt(0)");
        });
  const std::string glc = w.random.chance(2) ? " glc" : "";
  const Writer::Pair data = w.vectors();
  w.line("v_mov_b32 {}, {}", data.low, from);
  w.line("v_mov_b32 {}, {}", data.high, from);
  w.line("buffer_atomic_{} {}, {}{}", buffer_name(s.op), wide ? data.both : data.low, place, glc);
}

}  // namespace

void combine(Writer& w, const Combine& s) {
  const Scope scope(w);
  if (!s.guard) return written(w, s);
  narrowed(w, loose(w, *s.guard), [&] { written(w, s); });
}

void pool(Writer& w, const Pool& s) {
  const Scope scope(w);
  const std::string start = w.vector(), own = w.vector(), other = w.vector(),
                    from = Writer::reg(s.from);
  w.line("s_mov_b32 m0, -1");
  w.line("v_mov_b32 {}, {}", start, Writer::number(s.start));
  w.line("{} {}, vcc, {}, {}", w.add(), other, kPooled / 2, kSelf);  // groups may be of two lanes
  for (const std::string& number : {std::string(kSelf), other}) {
    w.line("v_and_b32 {}, {}, {}", own, kPooled - 1, number);
    w.line("v_lshlrev_b32 {}, 2, {}", own, own);
    w.line("ds_write_b32 {}, {}", own, start);
  }
  w.line("s_waitcnt lgkmcnt(0)");
  w.line("s_barrier");
  const std::string at = masked(w, s.cell, kPooled, 2), read = masked(w, s.read, kPooled, 2);
  if (s.swaps)
    by_swaps(
        w, s.op, from,
        [&](const std::string& to) {
          w.line("ds_read_b32 {}, {}", to, at);
          w.line("s_waitcnt lgkmcnt(0)");
        },
        [&](const Writer::Pair& pair) {
          w.line("ds_cmpst_rtn_b32 {}, {}, {}, {}", pair.low, at, pair.high, pair.low);
          w.line("s_waitcnt lgkmcnt(0)");
        });
  else if (w.random.chance(2))
    w.line("ds_{} {}, {}", shared_name(s.op), at, from);
  else
    w.line("ds_{} {}, {}, {}", returning_name(s.op), w.vector(), at, from);
  w.line("s_waitcnt lgkmcnt(0)");
  w.line("s_barrier");
  w.line("ds_read_b32 {}, {}", Writer::reg(s.to), read);
  w.line("s_waitcnt lgkmcnt(0)");
  w.line("s_barrier");
}

}  // namespace lanewise::programs::gcn
