// Memory events of traced launches: each lane writes its own stream of words, a row of the buffer
// for each position in the stream. runtime/guest/event_words.hpp is the same for the host.

layout(set = 0, binding = 5, std430) buffer EventWords { uint w[]; } events;

const uint TRACE_HEADER = 64u;

uint trace_written[LANES];
uint trace_base, trace_capacity, trace_stride;

void lw_trace_begin() {
  uint gx = launch.w[LAUNCH_GRID], gy = launch.w[LAUNCH_GRID + 1u];
  uint linear = (lane_group.z * gy + lane_group.y) * gx + lane_group.x;
  trace_capacity = launch.w[LAUNCH_TRACE_CAPACITY];
  trace_stride = launch.w[LAUNCH_TRACE_STRIDE];
  trace_base =
      TRACE_HEADER + (linear - launch.w[LAUNCH_TRACE_FIRST]) * trace_capacity * trace_stride;
  for (uint i = 0u; i < LANES; ++i) trace_written[i] = 0u;
}

/// Words beyond the capacity are counted all the same: the host runs the slice again with more. Some
/// compilers run both sides of branches, so what can never be is not there (FORM_FITS, FORM_SHORT).
void trace_put(const in uint word, const in uint lo, const in uint hi, const in bool wide,
               const in uint form) {
  uint i = slot_index();
  uint at = trace_written[i];
  uint next = at + pick(wide, 3u, 1u);
  trace_written[i] = next;
  if ((form & FORM_FITS) == 0u) {
    if (next > trace_capacity) {
      atomicMax(events.w[0], next);
      return;
    }
  }
  uint where = trace_base + at * trace_stride + lane_index;
  events.w[where] = word;
  if (wide) {
    events.w[where + trace_stride] = lo;
    events.w[where + 2u * trace_stride] = hi;
  }
}

void lw_trace(const in uint point, const in B64 address, const in uint form, const in bool taken) {
  uint bits = form & 31u, drop = (form >> 8) & 15u;
  uint low = (1u << drop) - 1u;
  uint lo = lo64(address), hi = hi64(address);
  uint offset = lo;
  bool close = hi == 0u;
  bool reported = taken;
  if ((form & FORM_ARENA) != 0u) {
    B64 from = sub64(address, b64(ARENA_BASE, 0u));
    bool inside =
        lt64(from, b64(launch.w[LAUNCH_ARENA_SIZE], launch.w[LAUNCH_ARENA_SIZE + 1u]));
    bool window = both(both((form & FORM_WINDOWS) != 0u, hi == 0u),
                       either(lo >> 24 == SHARED_WINDOW, lo >> 24 == LOCAL_WINDOW));
    reported = both(reported, either(either(inside, window), (form & FORM_ANYWHERE) != 0u));
    reported = both(reported, either((form & FORM_FORCE) != 0u, (lo & low) == 0u));
    offset = lo64(from);
    close = both(inside, hi64(from) == 0u);
  }
  bool narrow = both(close, (offset >> drop) <= (~0u >> bits));
  uint word = pick(narrow, (offset >> drop) << bits | point, point << bits | ((1u << bits) - 1u));
  if ((form & FORM_NO_ADDRESS) != 0u) {
    word = point;
    narrow = true;
    reported = taken;
  }
  if ((form & FORM_SHORT) != 0u) narrow = true;
  if (reported) trace_put(word, lo & ~low, hi, !narrow, form);
}

void lw_trace_end() {
  uint at = trace_written[slot_index()];
  if (at < trace_capacity) events.w[trace_base + at * trace_stride + lane_index] = 0u;
}
