// One question about several accesses: may some check of them have something against it? It costs
// a compare for each index or address that differs, whatever is added to it and however many
// accesses are made with it. "Yes" may be wrong, "no" never is.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "runtime/ir/ir.hpp"
#include "runtime/spirv/binary/module_builder.hpp"

namespace lanewise::spirv {

class RowQuestion {
 public:
  struct Access {
    Id wanted = spv::NoResult;  ///< it does not happen where this is false; NoResult = it does
    Id address = spv::NoResult;
    uint32_t bytes = 0;
    uint32_t align = 1;  ///< that the address must have
    /// Bytes around it that are asked about, too, if the question is about the address.
    uint32_t before = 0, behind = 0;
  };
  /// What an access must stay behind: the value of a parameter, or an address that is known.
  /// Everything up to its end lies below 2^32 - 64 KiB.
  struct Pointer {
    uint32_t param = ir::kNone;  ///< by byte offset
    uint32_t address = 0;
    Id beyond = spv::NoResult;  ///< bytes from there on that may be accessed
    uint32_t align = 1;         ///< of the parameter, where there are bytes beyond it
    Id start = spv::NoResult;   ///< in place of `address`: only the lane knows it
    /// Bytes of the spaces whose windows an address may lie in instead; 0 = in none.
    uint32_t shared = 0, local = 0;
    bool operator==(const Pointer&) const = default;
  };
  /// Of parameters: the 32-bit words, and which words have been read.
  struct Params {
    std::function<Id(uint32_t offset)> word;
    std::function<uint32_t(Id)> offset_of;         ///< kNone = it is none
    std::function<bool(uint32_t offset)> aligned;  ///< surely a multiple of 16
    /// Computes what does not change during the launch once, where the lane begins.
    std::function<Id(const std::function<Id()>&)> once;
  };

  RowQuestion(ModuleBuilder& m, Params params) : m_(m), params_(std::move(params)) {}
  void add(const Access& access, const Pointer& pointer);
  /// The access may go anywhere in memory that begins at the address `memory`: parameters point
  /// there, too. `known`: what the host has found out about a parameter's value, if it has.
  void add_anywhere(const Access& access, const Pointer& memory,
                    const std::function<std::optional<Pointer>(uint32_t param)>& known);
  /// Through no parameter.
  void add_address(const Access& access, const Pointer& pointer) {
    add_place(access, pointer, false);
  }
  /// In a space of a known size at least as large as the access; addresses have 32 bits.
  void add_small(const Access& access, uint64_t size);
  Id ask();

 private:
  /// param + index * scale + constant, as 64-bit sums of the parts.
  struct Linear {
    uint32_t param = ir::kNone;
    Id index = spv::NoResult;
    uint32_t scale = 1;
    bool is_signed = false, wide = false;  ///< wide: the index has 64 bits
    int64_t constant = 0;
    bool known = true;  ///< there is nothing else in it
  };
  /// Accesses that differ in their pointers alone: index * scale + scale + too_many bytes.
  struct Bound {
    int64_t too_many = 0;
    uint32_t scale = 1;
    bool halves = false;  ///< the upper half of all indices is negative
    std::vector<Id> reaches;
  };
  /// Accesses with one index, whatever it is multiplied by: it must lie in [least, each of bounds).
  struct Index {
    Id wanted, index;
    bool wide;
    uint32_t least = 0;
    std::vector<Bound> bounds;
  };
  /// Accesses at constant distances from one address.
  struct Place {
    Id wanted, address;
    Pointer pointer;
    bool small = false;
    int64_t least = 0, end = 0;  ///< of the distances
    uint32_t align = 1;
  };

  void collect(Id value, int depth, uint64_t factor, Linear& sum) const;
  void indexed(Id value, uint64_t factor, Linear& sum) const;
  Id untagged(Id word) const;
  bool add_index(const Access& access, const Pointer& pointer, const Linear& sum);
  void add_place(const Access& access, const Pointer& pointer, bool small);
  Pointer pointer_into(uint32_t param, const Pointer& memory);
  Id reach_of(const Access& access, const Pointer& pointer, int64_t constant);
  Id bound_of(const Bound& bound);
  Id base_of(const Pointer& pointer);
  Id less_by(Id value, uint64_t amount);
  Id at_least(Id value, Id bound) { return m_.test(spv::OpUGreaterThanEqual, {value, bound}); }
  void doubt(Id wanted, Id doubtful);
  static bool is_stricter(const Bound& a, const Bound& b);
  void ask_index(const Index& index);
  void ask_high(size_t first);
  void ask_places(const Place& first);
  void ask_alone(const Place& place);
  static bool alike(const Place& a, const Place& b);
  bool constant_of(Id value, int64_t& constant) const;

  ModuleBuilder& m_;
  Params params_;
  std::vector<Index> indices_;
  std::vector<Place> places_;
  Id doubtful_ = spv::NoResult;
};

}  // namespace lanewise::spirv
