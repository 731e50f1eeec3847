constant int table[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
constant int *constant pointers[2] = {table + 2, table + 5};
global int counter = 5;
global int zeros[4];

__attribute__((noinline)) int helper(int x) { return x * 3 + table[x & 15]; }
__attribute__((noinline)) static int local_helper(int x) { return x * 5; }

kernel void tables(global int *out) {
  const int i = __builtin_amdgcn_workitem_id_x();
  counter = 6;
  zeros[1] = 7;
  int all = 0;
#pragma nounroll
  for (int n = 0; n <= (i & 1); ++n) all += pointers[n][i & 7];
  out[i] = table[i & 15] + helper(i) + local_helper(i) + counter + zeros[i & 3] + all;
}
