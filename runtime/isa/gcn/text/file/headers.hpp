// What an assembly file says of its target and of how its kernels start.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/isa/gcn/objects/kernel_code.hpp"
#include "runtime/isa/gcn/objects/kernel_descriptor.hpp"

namespace lanewise::gcn {

/// The target that compilers name at the end of files without another directive for it.
std::optional<Gen> named_for_all(std::string_view text);

class Headers {
 public:
  /// `forced`: the caller chose the target, whatever the file says.
  Headers(Gen& gen, bool forced) : gen_(gen), forced_(forced) {}

  /// One of these directives, carried out; false for others. Throws SyntaxError.
  bool directive(std::string_view name, Cursor& in);
  /// Lines belong to an open block, which ends by a directive of its own.
  bool is_open() const { return !block_end().empty(); }
  /// A line of the open block; `kernel` is the one whose label stands in front. Returns a warning
  /// or nothing. Throws SyntaxError.
  std::string line(Cursor& in, const std::string& kernel);
  std::string_view block_end() const {
    return descriptor_ ? ".end_amdhsa_kernel" : code_block_ ? ".end_amd_kernel_code_t" : "";
  }

  /// Kernels that a block describes, and the lines of the blocks.
  const std::map<std::string, AmdhsaValues>& blocks() const { return blocks_; }
  /// The block is the old one, in front of the code.
  bool is_old(const std::string& kernel) const { return old_kernels_.contains(kernel); }
  /// Why no launch here can be as the kernel's old block asks; empty where one can.
  std::string problem(const std::string& kernel) const {
    return is_old(kernel) ? old_kernels_.at(kernel) : std::string();
  }
  /// Of the block in work.
  const std::string& name() const { return name_; }
  /// The target's system.
  bool hsa() const { return hsa_; }
  /// The file has directives of code objects before version 3.
  bool is_old_system() const { return old_system_; }

 private:
  void target(Cursor& in);
  void whole_target(Cursor& in);
  void old_target(Cursor& in);
  void use(int64_t major);

  Gen& gen_;
  bool forced_, hsa_ = false, old_system_ = false, xnack_ = false;
  std::string name_;
  std::optional<KernelDescriptorBlock> descriptor_;  ///< inside of .amdhsa_kernel
  std::optional<KernelCodeBlock> code_block_;        ///< inside of .amd_kernel_code_t
  std::map<std::string, AmdhsaValues> blocks_;
  std::map<std::string, std::string> old_kernels_;  ///< and why no launch can start them
};

}  // namespace lanewise::gcn
