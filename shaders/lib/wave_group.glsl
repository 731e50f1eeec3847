// Cross-lane operations that all lanes of a group reach together, one lane per invocation: values
// and votes pass through shared memory, whatever the host's subgroups are. One control barrier an
// operation is enough, because the next one uses another part of the memory: a lane that writes a
// part again has passed a barrier that everybody reached after reading it.
//
// group_words: two parts of `lanes` values, then three parts of two vote words a wave.

layout(constant_id = 8) const uint GROUP_WORDS = 1u;
shared uint group_words[GROUP_WORDS];
uint group_exchanges, group_votes;  // so far, the same in all lanes
uvec2 group_yes, group_present;     // of the latest vote: who voted yes, who is there
bool group_in_range;

uint group_first(const in uint width) { return lane_index & ~(width - 1u); }
uvec2 group_lanes(const in uint width, const in uint lanes) {
  return wave_below(min(width, lanes - group_first(width)));
}
uint group_vote_words(const in uint width, const in uint lanes) {
  return 2u * ((lanes + width - 1u) / width);
}

void lw_group_begin(const in uint width, const in uint lanes) {
  uint words = 3u * group_vote_words(width, lanes);
  for (uint i = lane_index; i < words; i += lanes) group_words[2u * lanes + i] = 0u;
  group_exchanges = 0u;
  group_votes = 0u;
  lw_barrier();
}

void lw_group_vote(const in bool yes, const in uint width, const in uint lanes) {
  uint words = group_vote_words(width, lanes);
  uint first = group_first(width), mine = lane_index - first;
  uint wave = 2u * lanes + 2u * (first / width);
  uint now = wave + group_votes % 3u * words, next = wave + (group_votes + 1u) % 3u * words;
  if (mine == 0u) {
    group_words[next] = 0u;
    group_words[next + 1u] = 0u;
  }
  if (yes) atomicOr(group_words[now + (mine >> 5)], 1u << (mine & 31u));
  lw_barrier();
  group_yes = uvec2(group_words[now], group_words[now + 1u]);
  group_present = group_lanes(width, lanes);
  group_votes += 1u;
}
uint lw_group_ballot() { return group_yes.x; }
B64 lw_group_ballot64() { return b64(group_yes.x, group_yes.y); }
bool lw_group_any() { return !wave_empty(group_yes); }
bool lw_group_all() { return group_yes == group_present; }
bool lw_group_uni() { return wave_empty(group_yes) || group_yes == group_present; }
uint lw_group_active(const in uint width, const in uint lanes) { return group_lanes(width, lanes).x; }

/// The first word of the part that this exchange uses.
uint group_exchange(const in uint value, const in uint lanes) {
  uint part = (group_exchanges & 1u) * lanes;
  group_words[part + lane_index] = value;
  lw_barrier();
  group_exchanges += 1u;
  return part;
}

/// As lw_wave_shfl.
uint lw_group_shfl(const in uint value, const in uint b, const in uint c, const in uint mode,
                   const in uint width, const in uint lanes) {
  uint part = group_exchange(value, lanes), first = group_first(width);
  uint slot = lane_index - first;
  int self = int(slot & 31u), by = int(b & 31u);
  int segment = int(c >> 8u & 31u), clamped = int(c & 31u);
  int lowest = self & segment;
  int limit = lowest | (clamped & ~segment);
  int from = mode == 0u ? self - by : mode == 1u ? self + by : mode == 2u ? self ^ by
                                                                          : lowest | (by & ~segment);
  group_in_range = mode == 0u ? from >= limit : from <= limit;
  uint read = first + (uint(group_in_range ? from : self) | (slot & 32u));
  return read < lanes ? group_words[part + read] : 0u;
}
bool lw_group_in_range() { return group_in_range; }

/// What lane `from` of the wave brought; 0 when it does not exist.
uint lw_group_read(const in uint value, const in uint from, const in uint width, const in uint lanes) {
  uint part = group_exchange(value, lanes);
  uint read = group_first(width) + (from & (width - 1u));
  return read < lanes ? group_words[part + read] : 0u;
}

/// Lanes of the wave that brought the same value.
uint lw_group_match(const in uint value, const in uint width, const in uint lanes) {
  uint part = group_exchange(value, lanes) + group_first(width);
  uint count = min(width, lanes - group_first(width)), found = 0u;
  for (uint i = 0u; i < min(count, 32u); ++i) found |= uint(group_words[part + i] == value) << i;
  return found;
}
/// All of them or none.
uint lw_group_match_all(const in uint value, const in uint width, const in uint lanes) {
  uint found = lw_group_match(value, width, lanes);
  return found == group_lanes(width, lanes).x ? found : 0u;
}

/// operation as for lw_wave_reduce.
uint lw_group_reduce(const in uint value, const in uint operation, const in bool is_signed,
                     const in uint width, const in uint lanes) {
  uint part = group_exchange(value, lanes) + group_first(width);
  uint count = min(width, lanes - group_first(width)), total = group_words[part];
  for (uint i = 1u; i < count; ++i)
    total = wave_combine(operation, is_signed, total, group_words[part + i]);
  return total;
}
