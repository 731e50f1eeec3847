// What a program registers before main: fat binaries with their functions and variables. A module
// is loaded when the first of them is used, and once more by each further device that uses it.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lanewise/lanewise.h"
#include "runtime/host/core/failure.hpp"

namespace lanewise::core {

struct Image {
  const void* data = nullptr;  ///< the fat binary, or any program that lw_module_load_memory takes
  size_t bytes = 0;
  std::vector<std::byte> own;  ///< where nobody else keeps it
  std::mutex mutex;
  lw_module* module = nullptr;
  Code code = Code::success;  ///< why it cannot be loaded
  std::string message;        ///< the loader's, when it is loaded or cannot be
  bool quiet = false;         ///< it is the program's to report
  int device = 0;             ///< where it is loaded
  bool on_all = true;         ///< other devices load it as well; a module of a context is not
  bool asks_host = false;     ///< its kernels ask a thread of the host for services (HIP's printf)
  std::shared_ptr<Image> first;      ///< of the device that loaded it first; null = this is it
  std::vector<std::string> managed;  ///< variables that are the first one's

  /// Loaded; throws where it cannot be.
  lw_module* loaded();
  /// A variable of it; throws `otherwise` where there is none.
  void symbol(const std::string& name, uint64_t* address, uint64_t* bytes, Code otherwise);
  void unload();
};

struct Function : std::enable_shared_from_this<Function> {
  std::shared_ptr<Image> image;
  std::string name;
  const void* host = nullptr;  ///< the program's function that launches it
  Function* first = nullptr;   ///< of the device that loaded it first; null = this is it
  std::atomic<lw_kernel*> kernel = nullptr;
  lw_kernel_info info{};
  std::vector<uint32_t> param_sizes, param_offsets;
  uint32_t max_dynamic_shared = 0;  ///< what was asked for with an attribute; 0 = the usual
  Code out_of_bounds = Code::launch_out_of_resources;  ///< for more threads than it is made for
  bool any_side = false;  ///< a block may be as long along each side as it has threads
  int preferred_carveout = -1;
  uint64_t heap_variable = 0;  ///< of its module, where kernels allocate
  std::mutex mutex;
  Code code = Code::success;

  Function(std::shared_ptr<Image> of, std::string called)
      : image(std::move(of)), name(std::move(called)) {}
  /// Its kernel is there; throws where it cannot run.
  Function& ready();
  void unload();

 private:
  void load();
};

struct Variable {
  std::shared_ptr<Image> image;
  std::string name;
  uint64_t bytes = 0;
  bool constant = false;
  void** managed = nullptr;  ///< the host's pointer to it, for a managed one
  bool prepared = false;     ///< that pointer is set

  uint64_t address();
};

/// All that is registered, by the host's addresses.
class Program {
 public:
  static Program& get();

  std::shared_ptr<Image> add_image(const void* data, size_t bytes);
  void remove_image(const std::shared_ptr<Image>& image);
  /// `host` null: known by itself alone.
  Function* add_function(std::shared_ptr<Image> image, const void* host, const char* name);
  void add_variable(const void* host, Variable variable);

  /// As the current device has it. `host` is the function that the program launches by, or the
  /// Function itself; null for neither.
  Function* find_function(const void* host);
  Function& function(const void* host);
  Variable& variable(const void* host);
  std::shared_ptr<Image> image(const std::shared_ptr<Image>& first);
  /// Managed variables get their memory, wherever the program has a pointer to one.
  void prepare_managed();
  /// The oldest GPU that all fat binaries have code for, as in sm_75; 0 where none says.
  unsigned least_target();
  /// The current device was reset: everything is loaded again.
  void unload();

 private:
  /// As one of the later devices has them.
  struct Copies {
    std::map<const Image*, std::shared_ptr<Image>> images;
    std::map<const Function*, std::shared_ptr<Function>> functions;
    std::map<const void*, Variable> variables;
  };
  std::shared_ptr<Image> copy(const std::shared_ptr<Image>& image);

  std::mutex mutex_;
  std::map<const void*, std::shared_ptr<Function>> functions_;
  std::map<const void*, Variable> variables_;
  std::vector<std::shared_ptr<Image>> images_;
  std::map<int, Copies> copies_;
  bool has_managed_ = false;
};

inline constexpr uint32_t kFatBinary = 0xba55ed50;
/// The last error of the C API, and the first of its diagnostics.
std::string last_diagnostics();
/// Bytes of a fat binary by its header; 0 for something else.
size_t fat_binary_bytes(const void* data);

}  // namespace lanewise::core
