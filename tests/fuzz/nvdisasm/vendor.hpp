// nvdisasm as a function.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace nvdisasm {

struct Word {
  uint64_t bits = 0;
  uint32_t control = 0;
};

/// Its text of each word, without the semicolon; nullopt where it refuses the word. Each word is
/// the first of a bundle of its own, whose address (place * 32) its relative targets count from.
/// Throws std::runtime_error when the program cannot be run.
class Vendor {
 public:
  Vendor(std::string program, std::string folder, unsigned arch);
  /// False when there is no such program, or it does not know the target.
  bool usable() const;
  std::vector<std::optional<std::string>> texts(std::span<const Word> words) const;

 private:
  struct Output {
    std::string text, errors;
  };
  Output run(std::span<const Word> words) const;

  std::string program_, folder_;
  unsigned arch_;
};

/// Blanks at the end and runs of blanks do not count.
std::string squeezed(const std::string& text);

}  // namespace nvdisasm
