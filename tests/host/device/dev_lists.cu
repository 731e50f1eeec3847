// Lists in buckets that threads of all blocks push to: nodes and texts by malloc, heads by compare-and-swap. Another launch turns each list
// around and sums it, the last one frees what it finds.
#include "check.h"

struct Item {
  unsigned key;
  char* text;  // as many letters as the key says
  Item* next;
};

__global__ void push(unsigned long long* heads, unsigned buckets, unsigned each) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned n = 0; n < each; ++n) {
    const unsigned key = t * each + n, length = key % 5 + 1;
    Item* item = static_cast<Item*>(malloc(sizeof(Item)));
    item->key = key;
    item->text = static_cast<char*>(malloc(length));
    for (unsigned i = 0; i < length; ++i) item->text[i] = static_cast<char>('a' + (key + i) % 26);
    unsigned long long* head = heads + key * 2654435761U % buckets;
    unsigned long long before = *head, found;
    do {
      found = before;
      item->next = reinterpret_cast<Item*>(found);
      __threadfence();
      before = atomicCAS(head, found, reinterpret_cast<unsigned long long>(item));
    } while (before != found);
  }
}
__global__ void turn_around(unsigned long long* heads, unsigned* items, unsigned* letters) {
  const unsigned b = blockIdx.x * blockDim.x + threadIdx.x;
  Item* turned = nullptr;
  unsigned count = 0, sum = 0;
  for (Item* at = reinterpret_cast<Item*>(heads[b]); at != nullptr;) {
    Item* next = at->next;
    at->next = turned;
    turned = at;
    at = next;
    ++count;
    for (unsigned i = 0; i < turned->key % 5 + 1; ++i) sum += turned->text[i] * (turned->key % 3 + 1);
  }
  heads[b] = reinterpret_cast<unsigned long long>(turned);
  items[b] = count, letters[b] = sum;
}
__global__ void release(unsigned long long* heads) {
  const unsigned b = blockIdx.x * blockDim.x + threadIdx.x;
  for (Item* at = reinterpret_cast<Item*>(heads[b]); at != nullptr;) {
    Item* next = at->next;
    free(at->text);
    free(at);
    at = next;
  }
  heads[b] = 0;
}

int main() {
  const unsigned buckets = 32, blocks = 3, threads = 32, each = 4, keys = blocks * threads * each;
  unsigned long long* heads;
  unsigned *items, *letters;
  CHECK(cudaMalloc(&heads, buckets * sizeof(*heads)));
  CHECK(cudaMallocManaged(&items, buckets * sizeof(*items)));
  CHECK(cudaMallocManaged(&letters, buckets * sizeof(*letters)));
  unsigned expected[buckets] = {}, sums[buckets] = {};
  for (unsigned key = 0; key < keys; ++key) {
    const unsigned b = key * 2654435761U % buckets;
    ++expected[b];
    for (unsigned i = 0; i < key % 5 + 1; ++i) sums[b] += ('a' + (key + i) % 26) * (key % 3 + 1);
  }
  CHECK(cudaMemset(heads, 0, buckets * sizeof(*heads)));
  for (int round = 0; round < 2; ++round) {
    push<<<blocks, threads>>>(heads, buckets, each);
    turn_around<<<1, buckets>>>(heads, items, letters);
    release<<<1, buckets>>>(heads);
    CHECK(cudaDeviceSynchronize());
    for (unsigned b = 0; b < buckets; ++b) REQUIRE(items[b] == expected[b] && letters[b] == sums[b]);
  }
  CHECK(cudaFree(heads));
  CHECK(cudaFree(items));
  CHECK(cudaFree(letters));
  std::puts("dev_lists: ok");
}
