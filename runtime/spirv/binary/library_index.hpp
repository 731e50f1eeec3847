// One variant of the shader library, taken apart so that parts of it can be copied out fast.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/spirv/binary/library.hpp"

namespace lanewise::spirv::library {

class Index {
 public:
  /// The index of a variant; made on first use, kept for the life of the process.
  static const Index& of(Variant variant);

  explicit Index(std::span<const uint32_t> words);
  const std::vector<Signature>& signatures() const { return signatures_; }
  /// A module with the named functions and everything they reach.
  std::vector<uint32_t> subset(const std::vector<std::string>& names) const;

 private:
  struct Range {
    size_t begin = 0, end = 0;
  };
  struct Function {
    Range range;
    std::vector<uint32_t> callees;  ///< indices into functions_
  };
  void scan();
  void read_signatures();
  Kind kind_of(uint32_t type_id) const;
  std::vector<bool> reached_functions(const std::vector<std::string>& names) const;
  std::vector<bool> used_globals(const std::vector<bool>& reached) const;

  std::span<const uint32_t> words_;
  std::vector<Range> preamble_;  ///< capabilities to memory model
  std::vector<Range> decorations_;
  std::vector<Range> globals_;                           ///< types, constants, variables
  std::unordered_map<uint32_t, uint32_t> global_of_id_;  ///< id -> index into globals_
  std::vector<Function> functions_;
  std::unordered_map<uint32_t, uint32_t> function_of_id_;
  std::map<std::string, uint32_t, std::less<>> exports_;  ///< name -> id
  std::vector<Signature> signatures_;
};

}  // namespace lanewise::spirv::library
