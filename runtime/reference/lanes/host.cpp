#include <cstdlib>
#include <string>

#include "runtime/reference/lanes/handlers.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::reference {
namespace {

struct Host {
  const char* name;
  Finder find;
  bool runs;
};

}  // namespace

Finder host_finder() {
  const Host hosts[] = {
#ifdef LANEWISE_LANES_X86
      {"avx512", lanes_avx512::find,
       __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
           __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
           __builtin_cpu_supports("fma") != 0 && __builtin_cpu_supports("bmi") != 0},
      {"avx2", lanes_avx2::find,
       __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
           __builtin_cpu_supports("bmi") != 0},
#endif
      {"portable", lanes_portable::find, true},
  };
  const char* env = std::getenv("LANEWISE_LANES");
  const std::string wanted = env != nullptr ? env : "";
  for (const Host& host : hosts)
    if (host.runs && (wanted.empty() || wanted == host.name)) return host.find;
  throw Error(ErrorKind::usage,
              "LANEWISE_LANES is '" + wanted +
                  "'; portable, or avx2 or avx512 where the host has it, was expected");
}

}  // namespace lanewise::reference
