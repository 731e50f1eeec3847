// Any text as GCN assembly: a listing or diagnostics; what was read encodes, and lowers.
#include <cstdlib>

#include "runtime/isa/gcn/gcn.hpp"

using namespace lanewise;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const gcn::Gen gen : {gcn::Gen::gfx6, gcn::Gen::gfx8}) {
    const gcn::Listing listing = gcn::parse(text, gen);
    for (const Diagnostic& d : listing.diagnostics)
      if (d.message.empty() || d.line == 0) std::abort();
    if (!listing.ok()) continue;
    for (const gcn::Kernel& k : listing.kernels)
      for (const gcn::Instruction& i : k.code) {
        // Words between instructions that are none (`.long`) stay data, and only they do.
        const bool data = i.text.starts_with(".long");
        if (gcn::decode(gcn::encode(i, gen), gen).has_value() == data) std::abort();
      }
    gcn::lower(listing);
  }
  return 0;
}
