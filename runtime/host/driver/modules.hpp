// Modules and libraries: device code that a program loads itself.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/host/core/program.hpp"
#include "runtime/host/driver/contexts.hpp"

namespace lanewise::driver {

struct TextureReference;

/// CUmodule and CUlibrary
struct Module {
  std::shared_ptr<core::Image> image;
  std::map<std::string, core::Function*> functions;
  std::map<std::string, TextureReference*> textures;  ///< that the program asked for
  DriverContext* context = nullptr;                   ///< null for a library, which all have
  std::vector<std::string> names;                     ///< of its kernels
};

/// CUjit_option and what it is set to; texts of the compiler go into the program's buffers.
class Options {
 public:
  Options(unsigned count, const int* options, void** values)
      : count_(options != nullptr && values != nullptr ? count : 0),
        options_(options),
        values_(values) {}
  bool has_error_log() const { return find(kErrorLog) != nullptr; }
  /// Both logs, each as long as it was found to be, and the time that nobody measures.
  void finish(const std::string& information, const std::string& errors) const;

 private:
  static constexpr int kWallTime = 2, kInfoLog = 3, kInfoBytes = 4, kErrorLog = 5, kErrorBytes = 6;
  void** find(int option) const;
  void write(int log, int size, const std::string& text) const;

  unsigned count_;
  const int* options_;
  void** values_;
};

/// What cuModuleLoadData and cuLibraryLoadData give.
Module* load_module(const void* data, const Options& options, bool library);
/// Throws where there is none of this name.
core::Function* function_named(Module& module, const char* name);
void variable(Module& module, const char* name, uint64_t* address, size_t* bytes);
/// The same with a copy of the host's at the same address.
void managed(Module& module, const char* name, uint64_t* address, size_t* bytes);
/// PTX text, a cubin, a fat binary, or its wrapper; loaded at once. All devices have a library's.
std::shared_ptr<core::Image> load_image(const void* data, const Options& options,
                                        bool library = false);
/// Bytes of one of these that a program names without its size.
size_t bytes_of_image(const void* data);
/// Waits for the device's work.
void unload(Module& module);
std::vector<std::byte> read_file(const char* path);

}  // namespace lanewise::driver
