// What the programs of this folder share.
#pragma once

#include "../../../samples/programs/check.h"

#define CHECK(call) MUST(call)
#define REQUIRE(what)                                                    \
  do {                                                                   \
    if (what) break;                                                     \
    std::printf("%s:%d: %s does not hold\n", __FILE__, __LINE__, #what); \
    std::exit(1);                                                        \
  } while (0)
