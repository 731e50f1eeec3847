// Built without optimisation as well: loops in conditions in loops, left by break and continue, over
// arrays in private memory. Lanes leave them one by one, and nothing else depends on who is where.
#define ID __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x()

kernel void bfs(global const int2 *nodes, global const int *edges, global char *mask,
                global char *updating, global char *visited, global int *cost, int n,
                global char *over) {
  const int i = ID;
  if (i < n && mask[i]) {
    mask[i] = 0;
    for (int e = nodes[i].x; e < nodes[i].x + nodes[i].y; e++) {
      const int id = edges[e];
      if (!visited[id]) {
        cost[id] = cost[i] + 1;
        updating[id] = 1;
      }
    }
  }
  if (i < n && updating[i]) {
    *over = 1;
    updating[i] = 0;
  }
}

kernel void array(global const int *in, global int *out, int n) {
  const int i = ID;
  int a[200];
  for (int k = 0; k < 200; k++) a[k] = in[k] + i;
  for (int k = 0; k < n + (i & 3); k++) {
    const int at = (a[k % 200] & 0x7fffffff) % 200;
    if (at == 7) continue;
    if (at > 190 + (i & 7)) break;
    a[at] += k;
  }
  int s = 0;
  for (int k = 0; k < 200; k++) s = s * 31 + a[k];
  out[i] = s;
}
