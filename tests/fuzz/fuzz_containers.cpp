// Any bytes as a fat binary, a host's object or an archive: images or an error, never a crash.
#include "lanewise/error.hpp"
#include "runtime/api/program/embedded.hpp"
#include "runtime/api/program/fat_binary.hpp"

using namespace lanewise;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  if (!host::detail::is_container(file)) return 0;
  for (const Isa isa : {Isa::automatic, Isa::sass}) try {
      host::detail::images_of(file, isa);
    } catch (const Error&) {
    }
  return 0;
}
