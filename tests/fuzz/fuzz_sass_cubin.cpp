// Any bytes as a cubin: a listing or diagnostics, and lowering what was read never crashes.
#include <cstdlib>

#include "runtime/isa/sass/sass.hpp"

using namespace lanewise;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const sass::Listing listing = sass::read_cubin(std::as_bytes(std::span(data, size)));
  for (const Diagnostic& d : listing.diagnostics)
    if (d.message.empty()) std::abort();
  if (!listing.ok()) return 0;
  sass::print(listing);
  sass::lower(listing);
  return 0;
}
