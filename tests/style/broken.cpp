// What style_changed must find: a line that clang-format would move, and a product that is widened too late.
unsigned long long widened(unsigned a, unsigned b);
unsigned long long   widened(unsigned a, unsigned b) { return static_cast<unsigned long long>(a * b); }
