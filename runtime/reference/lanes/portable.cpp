#define LANEWISE_LANES lanes_portable
#include "runtime/reference/lanes/find.hpp"
