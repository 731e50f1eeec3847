// Barriers for kernels whose lanes are run from barrier to barrier, several lanes per invocation.
//
// All invocations of a group go through the same turns. In one turn each invocation first runs its
// lanes that are not waiting and counts where they arrived; after a control barrier everybody sees
// which guest barriers have opened, and lets its lanes out; after a second one the counts of the
// opened barriers start again.

const uint BARRIERS = 16u;
const uint SYNC = 0u, ARRIVE = 1u, RED_POPC = 2u, RED_AND = 3u, RED_OR = 4u;

shared uint phase_arrived[BARRIERS];
shared uint phase_wanted[BARRIERS];  // thread count, 0 = all lanes that have not ended
shared uint phase_voters[BARRIERS];
shared uint phase_votes[BARRIERS];
shared uint phase_alive;
shared uint phase_moving[2];  // did any lane make progress; one word per odd and even turn
shared uint phase_waves[2];   // does any lane wait for its wave; likewise

void lw_phase_begin(const in uint invocation, const in uint invocations, const in uint lanes) {
  for (uint i = invocation; i < BARRIERS; i += invocations) {
    phase_arrived[i] = 0u;
    phase_wanted[i] = 0u;
    phase_voters[i] = 0u;
    phase_votes[i] = 0u;
  }
  if (invocation == 0u) {
    phase_alive = lanes;
    phase_moving[0] = 0u;
    phase_moving[1] = 0u;
    phase_waves[0] = 0u;
    phase_waves[1] = 0u;
  }
  barrier();
}

void lw_phase_arrive(const in uint id, const in uint count, const in uint kind, const in bool vote,
                     const in uint turn) {
  atomicAdd(phase_arrived[id], 1u);
  atomicMax(phase_wanted[id], count);
  if (kind >= RED_POPC) {
    atomicAdd(phase_voters[id], 1u);
    if (vote) atomicAdd(phase_votes[id], 1u);
  }
  // A lane that only arrives goes on in the next turn.
  if (kind == ARRIVE) phase_moving[turn & 1u] = 1u;
}

void lw_phase_ended() { atomicAdd(phase_alive, 0xffffffffu); }

bool phase_open(const in uint id) {
  uint wanted = phase_wanted[id] == 0u ? phase_alive : phase_wanted[id];
  return phase_arrived[id] != 0u && phase_arrived[id] >= wanted;
}

/// Asked between the two control barriers by every waiting lane.
bool lw_phase_released(const in uint id, const in uint turn) {
  bool open = phase_open(id);
  if (open) phase_moving[turn & 1u] = 1u;
  return open;
}

uint lw_phase_result(const in uint id, const in uint kind) {
  uint votes = phase_votes[id];
  if (kind == RED_POPC) return votes;
  return (kind == RED_AND ? votes == phase_voters[id] : votes != 0u) ? 1u : 0u;
}

/// Before the turn ends: some lane of this invocation waits for its wave.
void lw_phase_wave_waits(const in uint turn) { phase_waves[turn & 1u] = 1u; }

/// Ends a turn for the whole group: 0 = every lane has ended, 1 = some can go on, 2 = none can,
/// 3 = none can but lanes that wait for others of their wave.
uint lw_phase_turn(const in uint invocation, const in uint invocations, const in uint turn) {
  barrier();
  uint alive = phase_alive;
  uint moving = phase_moving[turn & 1u];
  uint waves = phase_waves[turn & 1u];
  for (uint i = invocation; i < BARRIERS; i += invocations) {
    if (!phase_open(i)) continue;
    phase_arrived[i] = 0u;
    phase_wanted[i] = 0u;
    phase_voters[i] = 0u;
    phase_votes[i] = 0u;
  }
  // The next turn writes these words only after the control barrier below.
  if (invocation == 0u) {
    phase_moving[(turn + 1u) & 1u] = 0u;
    phase_waves[(turn + 1u) & 1u] = 0u;
  }
  barrier();
  return alive == 0u ? 0u : moving != 0u ? 1u : waves != 0u ? 3u : 2u;
}
