// The library that LD_AUDIT names: the loader asks it about each object before any of the object's
// code runs, the program's own among them.
#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "runtime/host/exec/object/inspect.hpp"
#include "runtime/host/exec/takeover/memory.hpp"
#include "runtime/host/exec/takeover/redirect.hpp"
#include "runtime/host/exec/takeover/report.hpp"
#include "runtime/host/exec/takeover/resolve.hpp"
#include "runtime/layout/addresses.hpp"

namespace lanewise::exec {
namespace {

std::string_view file_name(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
  return path;
}

/// The stand-in for a shared runtime of this version.
char* stand_in(CudaMajor major) {
  static const Beside libraries[] = {Beside("cuda/libcudart.so.11.0"),
                                     Beside("cuda/libcudart.so.12"),
                                     Beside("cuda/libcudart.so.13")};
  return const_cast<char*>(libraries[static_cast<unsigned>(major) - 11].path);
}

char* hip_stand_in() {
  static const Beside library("cuda/libamdhip64.so.5");
  return const_cast<char*>(library.path);
}

char* driver_stand_in() {
  static const Beside library("cuda/libcuda.so.1");
  return const_cast<char*>(library.path);
}

/// The heap of a program that lies at fixed addresses begins where the device's memory does. With
/// these pages taken, the C library puts it elsewhere, and an address says whose it is.
void keep_device_addresses() {
  constexpr uintptr_t kChunk = uintptr_t{1} << 28, kEnd = uintptr_t{1} << 36;
  if (map_at(guest::kArenaBase, kEnd - guest::kArenaBase, PROT_NONE) != nullptr) return;
  for (uintptr_t at = guest::kArenaBase; at < kEnd; at += kChunk) map_at(at, kChunk, PROT_NONE);
}

/// What the loader calls the program by.
uintptr_t program_cookie = 0;
/// What the program is linked with is loaded.
bool started = false;

/// A module or a library asks for it: it may be installed, but it needs NVIDIA's driver.
void report_vendor(const char* name, std::string_view vendor) {
  static std::string_view reported[32];
  static size_t count = 0;
  for (size_t n = 0; n < count; ++n)
    if (reported[n] == vendor) return;
  if (count < sizeof reported / sizeof *reported) reported[count++] = vendor;
  Line line;
  line << "a library of the program loads " << file_name(name) << " (" << vendor
       << "), which Lanewise has nothing in place of: its calls need NVIDIA's driver";
  report(line.text());
}

/// "libnvrtc.so.12", "libnvrtc-ab12.so.11.2"
bool is_compiler(std::string_view name) {
  return name.starts_with("libnvrtc.so") ||
         (name.starts_with("libnvrtc-") && !name.starts_with("libnvrtc-builtins"));
}

/// The last places where the loader looks: programs that compile CUDA C++ use the installed NVRTC.
void report_missing_compiler(const char* path) {
  static bool reported = false;
  const std::string_view name = file_name(path);
  if (reported || !is_compiler(name) || access(path, R_OK) == 0) return;
  reported = true;
  Line line;
  line << name << " is not installed, which compiles CUDA C++ at run time: install NVRTC of the "
       << "CUDA toolkit (Debian: nvidia-cuda-toolkit; Python: pip install nvidia-cuda-nvrtc) and "
          "name its folder in LD_LIBRARY_PATH";
  report(line.text());
}

/// Machine code that NVRTC makes for the GPU that the program sees cannot run here; it has the PTX
/// of it as well, which every call that loads machine code takes.
void take_ptx_of_compiler(const MappedObject& library, uintptr_t bias) {
  redirect_within(library, bias, "nvrtcGetCUBINSize", "nvrtcGetPTXSize");
  redirect_within(library, bias, "nvrtcGetCUBIN", "nvrtcGetPTX");
}

void take_over(const link_map& map, bool is_program) {
  const char* path = is_program ? "/proc/self/exe" : map.l_name;
  const MappedObject object(path);
  if (!object.ok()) return;
  if (!is_program && is_compiler(file_name(path))) return take_ptx_of_compiler(object, map.l_addr);
  if (is_program) {
    char name[4096];
    const ssize_t size = readlink(path, name, sizeof name);
    const Line why =
        refusal(object, size > 0 ? std::string_view(name, static_cast<size_t>(size)) : "program");
    if (!why.empty()) refuse(why.text());
    if (object.header().e_type == ET_EXEC) keep_device_addresses();
  }
  const CudaMajor major = static_runtime(object);
  if (major == CudaMajor::none) return;
  const unsigned count =
      redirect_runtime(object, object.header().e_type == ET_EXEC ? 0 : map.l_addr, major);
  if (std::getenv("LANEWISE_VERBOSE") == nullptr) return;
  Line line;
  line << "took over " << count << " functions of CUDA " << static_cast<unsigned>(major) << " in '"
       << std::string_view(is_program ? "the program" : map.l_name) << "'";
  report(line.text());
}

}  // namespace
}  // namespace lanewise::exec

extern "C" {

__attribute__((visibility("default"))) unsigned la_version(unsigned version) {
  return version < LAV_CURRENT ? version : LAV_CURRENT;
}

__attribute__((visibility("default"))) unsigned la_objopen(link_map* map, Lmid_t space,
                                                           uintptr_t* cookie) {
  static bool seen_program = false;
  if (space == LM_ID_BASE) {
    const bool is_program = !seen_program;
    seen_program = true;
    if (is_program) lanewise::exec::program_cookie = *cookie;
    lanewise::exec::take_over(*map, is_program);
  }
  return 0;
}

__attribute__((visibility("default"))) void la_preinit(uintptr_t*) {
  lanewise::exec::started = true;
}

__attribute__((visibility("default"))) char* la_objsearch(const char* name, uintptr_t* asker,
                                                          unsigned flag) {
  using namespace lanewise::exec;
  if (flag == LA_SER_DEFAULT) report_missing_compiler(name);
  if (flag != LA_SER_ORIG) return const_cast<char*>(name);
  const CudaMajor major = shared_runtime(file_name(name));
  if (major != CudaMajor::none) return stand_in(major);
  if (is_driver(file_name(name))) return driver_stand_in();
  if (is_hip(file_name(name))) return hip_stand_in();
  if (const std::string_view vendor = vendor_library(file_name(name)); !vendor.empty()) {
    // It is linked, and nothing of it is called, or the program would have been refused.
    if (!started && *asker == program_cookie) return stand_in(CudaMajor::cuda13);
    report_vendor(name, vendor);
  }
  return const_cast<char*>(name);
}
}
