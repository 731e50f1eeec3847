// Blocks of one range of addresses, which kernels of HIP ask the host for.
#pragma once

#include <cstdint>
#include <map>

namespace lanewise::core {

class BlockPool {
 public:
  BlockPool(uint64_t address, uint64_t bytes);

  /// The address of a block: of a multiple of 2 MiB, so are its bytes, else of 4 KiB. 0 where there
  /// is no block of that size.
  uint64_t take(uint64_t bytes);
  /// False where it was not taken.
  bool give_back(uint64_t address);

 private:
  using Blocks = std::map<uint64_t, uint64_t>;  // bytes by address
  void join(Blocks::iterator block);

  Blocks free_, taken_;
};

}  // namespace lanewise::core
