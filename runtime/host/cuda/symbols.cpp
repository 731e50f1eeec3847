// Variables of modules.
#include "runtime/host/cuda/copy.hpp"

namespace lanewise::cuda {
namespace {

void* address_in(const void* symbol, size_t bytes, size_t offset) {
  Variable& variable = Program::get().variable(required(symbol));
  require(offset <= variable.bytes && bytes <= variable.bytes - offset);
  return pointer_at(variable.address() + offset);
}
Copy to_symbol(const void* symbol, const void* from, size_t bytes, size_t offset, int kind) {
  require(kind == kHostToDevice || kind == kDeviceToDevice || kind == kDefault,
          Code::invalid_copy_kind);
  return copy_of(address_in(symbol, bytes, offset), from, bytes, kind);
}
Copy from_symbol(void* to, const void* symbol, size_t bytes, size_t offset, int kind) {
  require(kind == kDeviceToHost || kind == kDeviceToDevice || kind == kDefault,
          Code::invalid_copy_kind);
  return copy_of(to, address_in(symbol, bytes, offset), bytes, kind);
}

}  // namespace
}  // namespace lanewise::cuda

using namespace lanewise::cuda;

ENTRY_PTDS(cudaMemcpyToSymbol,
           (const void* symbol, const void* from, size_t bytes, size_t offset, int kind)) {
  return answer(
      [&] { copy_now(stream_of(nullptr), to_symbol(symbol, from, bytes, offset, kind)); });
}
ENTRY_PTSZ(cudaMemcpyToSymbolAsync, (const void* symbol, const void* from, size_t bytes,
                                     size_t offset, int kind, StreamHandle stream)) {
  return answer(
      [&] { copy_later(stream_of(stream), to_symbol(symbol, from, bytes, offset, kind)); });
}
ENTRY_PTDS(cudaMemcpyFromSymbol,
           (void* to, const void* symbol, size_t bytes, size_t offset, int kind)) {
  return answer(
      [&] { copy_now(stream_of(nullptr), from_symbol(to, symbol, bytes, offset, kind)); });
}
ENTRY_PTSZ(cudaMemcpyFromSymbolAsync, (void* to, const void* symbol, size_t bytes, size_t offset,
                                       int kind, StreamHandle stream)) {
  return answer(
      [&] { copy_later(stream_of(stream), from_symbol(to, symbol, bytes, offset, kind)); });
}
ENTRY(cudaGetSymbolAddress, (void** address, const void* symbol)) {
  return answer([&] { *required(address) = address_in(symbol, 0, 0); });
}
ENTRY(cudaGetSymbolSize, (size_t * bytes, const void* symbol)) {
  return answer([&] { *required(bytes) = Program::get().variable(required(symbol)).bytes; });
}
