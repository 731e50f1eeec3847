// Virtual functions that come to call themselves, with arguments and results in words and in memory.
struct Big {
  int v[80];
};

struct Shape {
  __device__ virtual unsigned area(unsigned s) const = 0;
};
struct Square : Shape {
  unsigned a;
  __device__ Square(unsigned x) : a(x) {}
  __device__ unsigned area(unsigned s) const { return a ^ s; }
};
struct Nested : Square {
  __device__ Nested(unsigned x) : Square(x) {}
  __device__ unsigned area(unsigned s) const { return Square::area(s) + (s ? this->area(s - 1) : 0); }
};
extern "C" __global__ void areas(const unsigned* in, unsigned* out) {
  const unsigned x = in[threadIdx.x];
  Square s(x);
  Nested n(x);
  const Shape* p = &s;
  if (x & 1) p = &n;
  out[threadIdx.x] = p->area(x >> 1 & 15);
}

struct Node {
  __device__ virtual Big eval(Big b, int depth) const = 0;
};
struct Leaf : Node {
  int k;
  __device__ Leaf(int x) : k(x) {}
  __device__ Big eval(Big b, int depth) const {
    b.v[(depth * 7 + k) % 80] += k;
    return b;
  }
};
struct Both : Node {
  const Node *first, *second;
  __device__ Both(const Node* f, const Node* s) : first(f), second(s) {}
  __device__ Big eval(Big b, int depth) const {
    const Big x = first->eval(b, depth + 1);
    const int s = x.v[depth % 80];
    Big y = second->eval(x, depth + 1);
    y.v[(s + depth) & 63] ^= b.v[depth * 3 % 80] + 5;
    return y;
  }
};
extern "C" __global__ void trees(const int* in, int* out) {
  const int x = in[threadIdx.x] & 63;
  const Leaf a(x), b(x * 3 + 1);
  const Both c(&a, &b), d(&c, &a), e(&d, &c);
  const Node* all[4] = {&a, &c, &d, &e};
  Big z;
  for (int i = 0; i < 80; ++i) z.v[i] = i * x;
  z = all[threadIdx.x & 3]->eval(z, 1);
  int sum = 0;
  for (int i = 0; i < 80; ++i) sum = sum * 31 + z.v[i];
  out[threadIdx.x] = sum;
}
