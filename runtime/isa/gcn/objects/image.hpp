// A code object in memory: its sections at their places, relocations carried out. Objects that no
// linker has seen get their places here, as a linker would give them.
#pragma once

#include <deque>

#include "runtime/isa/elf/elf.hpp"
#include "runtime/isa/gcn/gcn.hpp"

namespace lanewise::gcn {

enum SectionFlag : uint64_t { kWritten = 1, kLoaded = 2, kCode = 4 };
enum SymbolSection : uint16_t {
  kUndefined = 0,
  kFirstReserved = 0xff00,
  kInLds = 0xff00,
  kAbsolute = 0xfff1,
  kCommon = 0xfff2
};
inline constexpr uint16_t kRelocatable = 1;  ///< of elf::File::type

class ImageBuilder {
 public:
  /// Fills Listing::image, constants, unresolved and address_words. The sections of an object that
  /// is not linked get addresses and their own bytes, its symbols follow; both live as long as
  /// this.
  void build(elf::File& file, Listing& listing);
  uint64_t base() const { return base_; }  ///< the address of the image's first byte

 private:
  void place(elf::File& file);
  void link(const elf::File& file, Listing& listing);
  void load(const elf::File& file, const elf::Section& section, Listing& listing);

  std::deque<std::vector<std::byte>> bytes_;
  uint64_t base_ = 0;
  /// By symbol: where its address is kept for code that loads it.
  std::map<uint32_t, uint64_t> slots_;
};

}  // namespace lanewise::gcn
