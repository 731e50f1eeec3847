// Barriers for kernels whose lanes are run from barrier to barrier, several lanes per invocation.
//
// All invocations of a group go through the same rounds. In one round each invocation first runs its
// lanes that are not waiting and counts where they arrived; after a control barrier everybody sees
// which guest barriers have opened, and lets its lanes out; after a second one the counts of the
// opened barriers start again.

const uint BARRIERS = 16u;
const uint SYNC = 0u, ARRIVE = 1u, RED_POPC = 2u, RED_AND = 3u, RED_OR = 4u;

shared uint phase_arrived[BARRIERS];
shared uint phase_gone[BARRIERS];     // of these, how many have been let out
shared uint phase_wanted[BARRIERS];  // thread count, 0 = all lanes that have not ended
shared uint phase_most[BARRIERS];     // the largest count named, 0 taken as the whole group
shared uint phase_least[BARRIERS];    // complement of the smallest one
shared uint phase_voters[BARRIERS];
shared uint phase_votes[BARRIERS];
shared uint phase_alive;
shared uint phase_moving[2];  // did any lane make progress; one word per odd and even round
shared uint phase_waves[2];   // does any lane wait for its wave; likewise
uint phase_lanes;             // of the group

void phase_clear(const in uint id) {
  phase_arrived[id] = 0u;
  phase_gone[id] = 0u;
  phase_wanted[id] = 0u;
  phase_most[id] = 0u;
  phase_least[id] = 0u;
  phase_voters[id] = 0u;
  phase_votes[id] = 0u;
}

void lw_phase_begin(const in uint invocation, const in uint invocations, const in uint lanes) {
  phase_lanes = lanes;
  for (uint i = invocation; i < BARRIERS; i += invocations) phase_clear(i);
  if (invocation == 0u) {
    phase_alive = lanes;
    phase_moving[0] = 0u;
    phase_moving[1] = 0u;
    phase_waves[0] = 0u;
    phase_waves[1] = 0u;
  }
  barrier();
}

/// Returns how many have arrived before.
uint lw_phase_arrive(const in uint id, const in uint count, const in uint kind, const in bool vote,
                     const in uint round) {
  uint ticket = atomicAdd(phase_arrived[id], 1u);
  uint named = count == 0u ? phase_lanes : count;
  atomicMax(phase_wanted[id], count);
  atomicMax(phase_most[id], named);
  atomicMax(phase_least[id], ~named);
  if (kind >= RED_POPC) {
    atomicAdd(phase_voters[id], 1u);
    if (vote) atomicAdd(phase_votes[id], 1u);
  }
  // A lane that only arrives goes on in the next round.
  if (kind == ARRIVE) phase_moving[round & 1u] = 1u;
  return ticket;
}

/// The lane waits for nobody: it goes on in the next round.
void lw_phase_yield(const in uint round) { phase_moving[round & 1u] = 1u; }

void lw_phase_ended() { atomicAdd(phase_alive, 0xffffffffu); }

/// How many of those who have arrived go on now: full sets of the count. A barrier at which lanes
/// have named different counts never opens, nor does a reduction that more than one set has joined.
uint phase_opens(const in uint id) {
  uint here = phase_arrived[id] - phase_gone[id];
  bool everyone = phase_wanted[id] == 0u;
  uint wanted = max(everyone ? phase_alive : phase_wanted[id], 1u);
  bool joined = phase_voters[id] != 0u && here > wanted;
  if (phase_most[id] != ~phase_least[id] || joined) return 0u;
  return everyone && here >= wanted ? here : here / wanted * wanted;
}

/// Asked between the two control barriers by every waiting lane.
bool lw_phase_released(const in uint id, const in uint ticket, const in uint round) {
  bool open = ticket - phase_gone[id] < phase_opens(id);
  if (open) phase_moving[round & 1u] = 1u;
  return open;
}

uint lw_phase_result(const in uint id, const in uint kind) {
  uint votes = phase_votes[id];
  if (kind == RED_POPC) return votes;
  return (kind == RED_AND ? votes == phase_voters[id] : votes != 0u) ? 1u : 0u;
}

/// Before the round ends: some lane of this invocation waits for its wave.
void lw_phase_wave_waits(const in uint round) { phase_waves[round & 1u] = 1u; }

/// Ends a round for the whole group: 0 = every lane has ended, 1 = some can go on, 2 = none can,
/// 3 = none can but lanes that wait for others of their wave.
uint lw_phase_end_round(const in uint invocation, const in uint invocations, const in uint round) {
  barrier();
  uint alive = phase_alive;
  uint moving = phase_moving[round & 1u];
  uint waves = phase_waves[round & 1u];
  for (uint i = invocation; i < BARRIERS; i += invocations) {
    uint opens = phase_opens(i);
    if (opens == 0u) continue;
    phase_gone[i] += opens;
    if (phase_gone[i] == phase_arrived[i]) phase_clear(i);
  }
  // The next round writes these words only after the control barrier below.
  if (invocation == 0u) {
    phase_moving[(round + 1u) & 1u] = 0u;
    phase_waves[(round + 1u) & 1u] = 0u;
  }
  barrier();
  return alive == 0u ? 0u : moving != 0u ? 1u : waves != 0u ? 3u : 2u;
}
