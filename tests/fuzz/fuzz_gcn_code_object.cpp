// Any bytes as a code object: kernels or diagnostics, and lowering what was read never crashes.
#include <cstdlib>

#include "runtime/isa/gcn/objects/code_object.hpp"

using namespace lanewise;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const gcn::Listing listing = gcn::read_code_object(std::as_bytes(std::span(data, size)));
  for (const Diagnostic& d : listing.diagnostics)
    if (d.message.empty()) std::abort();
  if (listing.ok()) gcn::lower(listing);
  return 0;
}
