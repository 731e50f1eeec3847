// What must be found: a line that clang-format would move, a product widened too late, a word.
unsigned long long widenForeign(unsigned a, unsigned b);
unsigned long long   widenForeign(unsigned a, unsigned b) { return static_cast<unsigned long long>(a * b); }
