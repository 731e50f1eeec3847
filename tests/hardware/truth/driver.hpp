// NVIDIA's driver API, as far as it is documented and the truth tables need it. The library is
// opened when the program runs: LANEWISE_CUDA_DRIVER names another one than libcuda.so.1.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/hardware/truth/driver_structs.hpp"

namespace lanewise::truth {

/// There is no driver, or no device of it.
struct NoCuda : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// A call that failed. After some errors nothing works any more in this process.
struct CudaError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// The driver's assembler takes this text not; what it says.
struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Entries;  ///< the driver's functions

/// Device memory, freed with it.
class Memory {
 public:
  Memory(std::shared_ptr<const Entries> entries, uint64_t bytes);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  uint64_t address() const { return address_; }
  void write(std::span<const std::byte> bytes, uint64_t offset = 0);
  void read(std::span<std::byte> bytes, uint64_t offset = 0) const;
  void copy_from(const Memory& other, uint64_t bytes);

 private:
  std::shared_ptr<const Entries> entries_;
  uint64_t address_ = 0;
};

struct Shape {
  uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  uint32_t shared = 0;  ///< dynamic, bytes
};

/// One module of PTX text.
class Program {
 public:
  Program(std::shared_ptr<const Entries> entries, const std::string& text);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  /// Starts a kernel and waits for its end. Arguments: the bytes of each.
  void launch(const std::string& kernel, const Shape& shape,
              std::span<const std::vector<std::byte>> arguments) const;
  /// The same; milliseconds by the device's own events.
  double timed(const std::string& kernel, const Shape& shape,
               std::span<const std::vector<std::byte>> arguments) const;
  /// Fills a variable of the module.
  void write_variable(const std::string& name, std::span<const std::byte> bytes) const;

 private:
  void start(const std::string& kernel, const Shape& shape,
             std::span<const std::vector<std::byte>> arguments) const;
  std::shared_ptr<const Entries> entries_;
  void* module_ = nullptr;
};

/// A CUDA array, or one of several levels, and the texture and surface objects of it that are asked
/// for.
class Array {
 public:
  Array(std::shared_ptr<const Entries> entries, const cuda::ArrayDescriptor& shape,
        unsigned texel_bytes, unsigned levels);
  ~Array();
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  /// Texels without gaps, x first, level after level.
  void write(std::span<const std::byte> texels) const;
  void read(std::span<std::byte> texels) const;
  /// What kernels take; valid as long as the array.
  uint64_t texture(const cuda::Sampling& sampling);
  uint64_t surface();

 private:
  void copy(std::byte* host, bool to_device) const;
  cuda::Resource resource() const;
  std::shared_ptr<const Entries> entries_;
  cuda::ArrayDescriptor shape_;
  unsigned texel_bytes_, levels_;
  void* array_ = nullptr;
  std::vector<uint64_t> textures_, surfaces_;
};

struct Facts {
  std::string name;
  int driver = 0;  ///< 13000 for CUDA 13.0
  int major = 0, minor = 0;
  int multiprocessors = 0, l2_bytes = 0;
  uint64_t memory = 0;
};

/// The first device.
class Card {
 public:
  Card();  ///< throws NoCuda
  const Facts& facts() const { return facts_; }
  /// "sm_90", and the latest version of PTX that this driver takes.
  std::string target() const;
  std::string ptx_version() const;
  /// The two directives that a text for this card begins with.
  std::string header() const;
  std::unique_ptr<Memory> allocate(uint64_t bytes) const;
  /// Lines that policies keep in L2 become plain ones.
  void reset_persisting_lines() const;
  std::unique_ptr<Array> array(const cuda::ArrayDescriptor& shape, unsigned texel_bytes,
                               unsigned levels = 1) const;
  /// The same program for the text of the call before.
  std::shared_ptr<const Program> load(const std::string& text) const;
  /// Milliseconds that the driver's compiler takes for it, with nothing kept from before.
  double compile_ms(const std::string& text) const;

 private:
  std::shared_ptr<const Entries> entries_;
  Facts facts_;
  mutable std::string last_text_;
  mutable std::shared_ptr<const Program> last_;
};

template <typename T>
std::vector<std::byte> argument(T value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  return {bytes.begin(), bytes.end()};
}

}  // namespace lanewise::truth
