// Cross-lane operations when one invocation carries a whole wave (LANES lanes).
//
// A lane that reaches such an operation puts down what it brings and stops. When no lane of the
// wave can run, lw_wave_next looks at the sets of lanes that wait together: the same stop in the
// same iterations of the loops around it, with the same member mask; a rendezvous is the same kind
// of operation with the same mask, wherever the lanes stand. A set that is complete is carried out
// for each of its lanes, which then run on with their results. A rendezvous is complete when all
// lanes of its mask are there, any other set when no lane stands at a lower place: places are
// compared by the loops around them from the outside in, where each begins and how often it has
// turned, and then by their numbers. Nothing here talks to other invocations, so host subgroups do not matter.
// Loops go in steps of 8 lanes, because llvmpipe allows an invocation 65535 iterations in all.

uint wave_stop[LANES];  // which stop the lane waits at, barriers too
uint wave_begin[LEVEL_WORDS], wave_iteration[LEVEL_WORDS];  // [level][lane]: its loops
uint wave_low[LANES], wave_high[LANES];
uint wave_b[LANES], wave_c[LANES];
uint wave_members[LANES];
uint wave_result0[LANES], wave_result1[LANES];
uvec2 wave_present;   // lanes that exist
uvec2 wave_live;      // of these, lanes that have not ended
uvec2 wave_stopped;   // wait at a cross-lane operation
uvec2 wave_deferred;  // go on in the next turn
uvec2 wave_unseen;      // stopped lanes that this pass has not looked at
uvec2 wave_true;      // the operand was not zero
uvec2 wave_set, wave_voters;  // the set: its lanes, those of them in the member mask
uint wave_set_kind;
uint wave_kind[LANES];
uint wave_reduced;

uvec2 wave_bit(const in uint i) {
  uint bit = 1u << (i & 31u);
  return i < 32u ? uvec2(bit, 0u) : uvec2(0u, bit);
}
bool wave_has(const in uvec2 mask, const in uint i) {
  return ((i < 32u ? mask.x : mask.y) >> (i & 31u) & 1u) != 0u;
}
bool wave_empty(const in uvec2 mask) { return (mask.x | mask.y) == 0u; }
uint wave_lowest(const in uvec2 mask) {
  return uint(mask.x != 0u ? findLSB(mask.x) : mask.y != 0u ? 32 + findLSB(mask.y) : 0);
}
uvec2 wave_below(const in uint n) {
  uint low = n >= 32u ? ~0u : (1u << n) - 1u;
  uint high = n >= 64u ? ~0u : n <= 32u ? 0u : (1u << (n - 32u)) - 1u;
  return uvec2(low, high);
}
uvec2 wave_mask(const in uint members) { return members == ~0u ? uvec2(~0u) : uvec2(members, 0u); }
uint wave_in(const in uint i) { return min(i, LANES - 1u); }

/// `lanes` = how many lanes of the wave exist, 0 for an invocation without any.
void lw_wave_begin(const in uint lanes) {
  wave_present = wave_below(min(lanes, LANES));
  wave_live = wave_present;
  wave_stopped = uvec2(0u);
  wave_deferred = uvec2(0u);
  wave_true = uvec2(0u);
}

/// The lane neither waits for its wave nor for the next turn, nor has it ended.
bool lw_wave_runs(const in uint slot) {
  return wave_has(wave_live & ~(wave_stopped | wave_deferred), slot);
}
void lw_wave_leave(const in uint slot, const in bool ended) {
  if (ended) wave_live &= ~wave_bit(slot);
}
void lw_wave_defer(const in uint slot) { wave_deferred |= wave_bit(slot); }
void lw_wave_new_turn() { wave_deferred = uvec2(0u); }

uint lw_wave_first_live() { return wave_lowest(wave_live); }
bool lw_wave_any_live() { return !wave_empty(wave_live); }
bool lw_wave_any_stopped() { return !wave_empty(wave_stopped); }

/// The place at which the lane waits, level after level; past its innermost loop `begin` is that of
/// the stop itself.
void lw_wave_stand(const in uint slot, const in uint stop) { wave_stop[wave_in(slot)] = stop; }
void lw_wave_level(const in uint slot, const in uint level, const in uint begin,
                   const in uint iteration) {
  uint at = min(level * LANES + wave_in(slot), LEVEL_WORDS - 1u);
  wave_begin[at] = begin;
  wave_iteration[at] = iteration;
}

void lw_wave_put(const in uint slot, const in uint kind, const in uint low, const in uint high,
                 const in uint b, const in uint c, const in uint members) {
  uint i = wave_in(slot);
  wave_kind[i] = kind;
  wave_low[i] = low;
  wave_high[i] = high;
  wave_b[i] = b;
  wave_c[i] = c;
  wave_members[i] = members;
  uvec2 bit = wave_bit(slot);
  wave_stopped |= bit;
  wave_true = (wave_true & ~bit) | (low != 0u ? bit : uvec2(0u));
}

bool wave_is_rendezvous(const in uint i) { return (wave_kind[wave_in(i)] & RENDEZVOUS_KIND) != 0u; }
/// Lanes that wait together have the same: of a rendezvous the kind, which no stop's number equals.
uint wave_key(const in uint i) {
  return wave_is_rendezvous(i) ? wave_kind[wave_in(i)] : wave_stop[wave_in(i)];
}

/// The bit of lane i when it waits with the lane of that key and mask.
uvec2 wave_together(const in uint i, const in uint key, const in uint members) {
  bool same = i < LANES && wave_key(i) == key && wave_members[wave_in(i)] == members;
  return same ? wave_bit(i) : uvec2(0u);
}
uvec2 wave_together8(const in uint i, const in uint key, const in uint members) {
  return wave_together(i, key, members) | wave_together(i + 1u, key, members) |
         wave_together(i + 2u, key, members) | wave_together(i + 3u, key, members) |
         wave_together(i + 4u, key, members) | wave_together(i + 5u, key, members) |
         wave_together(i + 6u, key, members) | wave_together(i + 7u, key, members);
}

// What a place is compared by: at each level the loop's begin and its iteration, in the end the stop.
uint wave_word(const in uint i, const in uint word) {
  uint at = min((word >> 1u) * LANES + wave_in(i), LEVEL_WORDS - 1u);
  if (word >= 2u * LEVELS) return wave_stop[wave_in(i)];
  return (word & 1u) == 0u ? wave_begin[at] : wave_iteration[at];
}
uvec2 wave_equals(const in uint i, const in uint word, const in uint value) {
  return i < LANES && wave_word(i, word) == value ? wave_bit(i) : uvec2(0u);
}
/// The lanes of the set whose word is that value.
uvec2 wave_narrow(const in uvec2 set, const in uint word, const in uint value) {
  uvec2 found = uvec2(0u);
  for (uint i = 0u; i < LANES; i += 8u) {
    found |= wave_equals(i, word, value) | wave_equals(i + 1u, word, value) |
             wave_equals(i + 2u, word, value) | wave_equals(i + 3u, word, value) |
             wave_equals(i + 4u, word, value) | wave_equals(i + 5u, word, value) |
             wave_equals(i + 6u, word, value) | wave_equals(i + 7u, word, value);
  }
  return found & set;
}
uint wave_value(const in uvec2 set, const in uint i, const in uint word) {
  return wave_has(set, i) && i < LANES ? wave_word(i, word) : ~0u;
}
uint wave_least(const in uvec2 set, const in uint word) {
  uint least = ~0u;
  for (uint i = 0u; i < LANES; i += 8u) {
    uint a = min(wave_value(set, i, word), wave_value(set, i + 1u, word));
    uint b = min(wave_value(set, i + 2u, word), wave_value(set, i + 3u, word));
    uint c = min(wave_value(set, i + 4u, word), wave_value(set, i + 5u, word));
    uint d = min(wave_value(set, i + 6u, word), wave_value(set, i + 7u, word));
    least = min(least, min(min(a, b), min(c, d)));
  }
  return least;
}
/// The lanes of the set at its lowest place.
uvec2 wave_lowest_place(uvec2 set) {
  for (uint word = 0u; word <= 2u * LEVELS; ++word)
    set = wave_narrow(set, word, wave_least(set, word));
  return set;
}

void wave_take_set(const in uint first) {
  uint key = wave_key(first), members = wave_members[wave_in(first)];
  uvec2 set = uvec2(0u);
  for (uint i = 0u; i < LANES; i += 8u) set |= wave_together8(i, key, members);
  wave_set = set & wave_stopped;
  if (!wave_is_rendezvous(first)) {  // iterations do not mix
    for (uint word = 1u; word < 2u * LEVELS; word += 2u)
      wave_set = wave_narrow(wave_set, word, wave_word(first, word));
  }
  wave_voters = wave_set & wave_mask(members);
  wave_set_kind = wave_kind[wave_in(first)] & ~RENDEZVOUS_KIND;
}

void lw_wave_look() { wave_unseen = wave_stopped; }

/// Takes up the next set of waiting lanes: 0 = there is none, 1 = it lacks lanes, 2 = complete.
uint lw_wave_next() {
  if (wave_empty(wave_unseen)) return 0u;
  uint first = wave_lowest(wave_unseen);
  wave_take_set(first);
  wave_unseen &= ~wave_set;
  bool meets = wave_is_rendezvous(first);
  uvec2 awaited = meets ? wave_mask(wave_members[wave_in(first)]) : uvec2(~0u);
  if (wave_empty(awaited & wave_live & ~wave_set)) return 2u;
  if (meets) return 1u;
  return wave_has(wave_lowest_place(wave_live), first) ? 2u : 1u;
}

/// Takes up the set at the lowest place, complete or not; false = nobody waits.
bool lw_wave_force() {
  if (wave_empty(wave_stopped)) return false;
  wave_take_set(wave_lowest(wave_lowest_place(wave_stopped)));
  return true;
}

uint lw_wave_set_kind() { return wave_set_kind; }
bool lw_wave_takes_part(const in uint slot) { return wave_has(wave_set, slot); }
void lw_wave_done() { wave_stopped &= ~wave_set; }
uint lw_wave_result0(const in uint slot) { return wave_result0[wave_in(slot)]; }
uint lw_wave_result1(const in uint slot) { return wave_result1[wave_in(slot)]; }

void lw_wave_give(const in uint slot, const in uint first, const in uint second) {
  wave_result0[wave_in(slot)] = first;
  wave_result1[wave_in(slot)] = second;
}

uvec2 wave_yes() { return wave_true & wave_voters; }

// --- what each operation gives to one lane of the set -------------------------------------------

void lw_wave_ballot(const in uint slot) { lw_wave_give(slot, wave_yes().x, wave_yes().y); }
void lw_wave_any(const in uint slot) { lw_wave_give(slot, wave_empty(wave_yes()) ? 0u : 1u, 0u); }
void lw_wave_all(const in uint slot) {
  lw_wave_give(slot, wave_yes() == wave_voters ? 1u : 0u, 0u);
}
void lw_wave_uni(const in uint slot) {
  lw_wave_give(slot, wave_yes() == wave_voters || wave_empty(wave_yes()) ? 1u : 0u, 0u);
}
void lw_wave_active(const in uint slot) { lw_wave_give(slot, wave_set.x, wave_set.y); }

void lw_wave_elect(const in uint slot) {
  uint leader = wave_lowest(wave_empty(wave_voters) ? wave_set : wave_voters);
  lw_wave_give(slot, leader, leader == slot ? 1u : 0u);
}

void lw_wave_first(const in uint slot) {
  lw_wave_give(slot, wave_low[wave_in(wave_lowest(wave_set))], 0u);
}

/// Operand c: bits 4:0 the clamp, bits 12:8 the mask that cuts the wave into segments. Waves of 64
/// shuffle in halves. mode = ShflMode.
void lw_wave_shfl(const in uint slot, const in uint mode) {
  uint at = wave_in(slot);
  int self = int(slot & 31u), b = int(wave_b[at] & 31u);
  int segment = int(wave_c[at] >> 8u & 31u), clamped = int(wave_c[at] & 31u);
  int lowest = self & segment;
  int limit = lowest | (clamped & ~segment);
  int from = mode == 0u ? self - b : mode == 1u ? self + b : mode == 2u ? self ^ b
                                                                       : lowest | (b & ~segment);
  bool in_range = mode == 0u ? from >= limit : from <= limit;
  uint read = uint(in_range ? from : self) | (slot & 32u);
  uint value = wave_has(wave_set, read) ? wave_low[wave_in(read)] : 0u;
  lw_wave_give(slot, value, in_range ? 1u : 0u);
}

uvec2 wave_equal(const in uint i, const in uint low, const in uint high, const in bool wide) {
  uint at = wave_in(i);
  bool same = i < LANES && wave_low[at] == low && (!wide || wave_high[at] == high);
  return same ? wave_bit(i) : uvec2(0u);
}
/// The voters whose value is that of the lane in `slot`; wide = the high words count.
uvec2 wave_matches(const in uint slot, const in bool wide) {
  uint low = wave_low[wave_in(slot)], high = wave_high[wave_in(slot)];
  uvec2 found = uvec2(0u);
  for (uint i = 0u; i < LANES; i += 8u) {
    found |= wave_equal(i, low, high, wide) | wave_equal(i + 1u, low, high, wide) |
             wave_equal(i + 2u, low, high, wide) | wave_equal(i + 3u, low, high, wide) |
             wave_equal(i + 4u, low, high, wide) | wave_equal(i + 5u, low, high, wide) |
             wave_equal(i + 6u, low, high, wide) | wave_equal(i + 7u, low, high, wide);
  }
  return found & wave_voters;
}
void lw_wave_match_any(const in uint slot, const in bool wide) {
  lw_wave_give(slot, wave_matches(slot, wide).x, 0u);
}
void lw_wave_match_all(const in uint slot, const in bool wide) {
  bool agree = wave_matches(slot, wide) == wave_voters;
  lw_wave_give(slot, agree ? wave_voters.x : 0u, agree ? 1u : 0u);
}

/// AtomOp: 0 add, 3 min, 4 max, 7 and, 8 or, 9 xor.
uint wave_combine(const in uint operation, const in bool is_signed, const in uint a,
                  const in uint b) {
  bool less = is_signed ? int(a) < int(b) : a < b;
  if (operation == 3u) return less ? a : b;
  if (operation == 4u) return less ? b : a;
  if (operation == 7u) return a & b;
  if (operation == 8u) return a | b;
  if (operation == 9u) return a ^ b;
  return a + b;
}
/// Once per set, before lw_wave_reduced.
void lw_wave_reduce(const in uint operation, const in bool is_signed) {
  uint first = wave_lowest(wave_voters);
  uint total = wave_empty(wave_voters) ? 0u : wave_low[wave_in(first)];
  for (uint i = 0u; i < LANES; ++i) {
    bool counts = i != first && wave_has(wave_voters, i);
    total = counts ? wave_combine(operation, is_signed, total, wave_low[i]) : total;
  }
  wave_reduced = total;
}
void lw_wave_reduced(const in uint slot) { lw_wave_give(slot, wave_reduced, 0u); }

/// Which lane readlane reads; ~0 = it does not exist.
uint lw_wave_from(const in uint slot) {
  uint from = wave_b[wave_in(slot)] & (LANES - 1u);
  return wave_has(wave_present, from) ? from : ~0u;
}
