// Lanewise's own trace file. The format is described in docs/trace-format.md.
#pragma once

#include <string>

#include "runtime/support/output_file.hpp"
#include "runtime/trace/event.hpp"

namespace lanewise::trace {

inline constexpr uint32_t kTraceVersion = 1;

/// Writes a trace file block by block; memory use is one block. The file is there once finish() has
/// run, and not before.
class Writer final : public Sink {
 public:
  explicit Writer(const std::string& path, size_t block_bytes = size_t{1} << 20);
  void kernel(const Kernel& k) override;
  void site(const Site& s) override;
  void buffer(const Buffer& b) override;
  void event(const Event& e) override;
  void waves(std::span<const StridedWave> waves) override;
  void finish() override;

 private:
  void flush_block(bool last);
  void end_item();

  OutputFile file_;
  std::string block_;
  size_t block_bytes_;
  uint64_t previous_base_ = 0;  ///< of this block; addresses are stored relative to it
  uint64_t events_ = 0;
  bool finished_ = false;
};

/// Reads a whole trace into the sink. A file that ends early is read up to its last whole block.
/// Throws Error(usage) for anything that is not a trace, for a version we do not know, and for a
/// block that is whole but damaged.
ReadResult read_trace(const std::string& path, Sink& sink);
/// True when the file starts with the magic of this format.
bool is_trace(const std::string& path);

}  // namespace lanewise::trace
