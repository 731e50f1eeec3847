#include "runtime/host/exec/takeover/resolve.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <cstring>

#include "runtime/host/exec/takeover/exit_code.hpp"
#include "runtime/host/exec/takeover/report.hpp"

namespace lanewise::exec {
namespace {

/// In the program's namespace of libraries, whichever this code is in.
void* cuda_library() {
  static void* library = nullptr;  // a race opens it twice and gets the same
  if (library != nullptr) return library;
  const Beside file(LANEWISE_CUDA_BESIDE);
  const char* other = std::getenv("LANEWISE_CUDA_LIBRARY");
  library = dlmopen(LM_ID_BASE, other != nullptr ? other : file.path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    Line line;
    const char* reason = dlerror();
    line << "the library that runs CUDA programs cannot be loaded: "
         << std::string_view(reason == nullptr ? "no reason is known" : reason);
    refuse(line.text());
  }
  watch_exit(library);
  return library;
}

/// The same name has other arguments or structures in some versions: that of CUDA 11 is exported
/// as lanewise_cuda11_NAME, for names of default streams of each thread as well.
void* versioned(void* library, const Entry& entry) {
  const std::string_view name(entry.name);
  const bool per_thread = name.ends_with("_ptsz") || name.ends_with("_ptds");
  for (const size_t cut : {size_t{0}, size_t{per_thread ? 5U : 0U}}) {
    Line symbol;
    symbol << "lanewise_cuda" << static_cast<unsigned>(entry.major) << "_"
           << std::string_view(name.data(), name.size() - cut) << std::string_view("\0", 1);
    if (void* found = dlsym(library, symbol.text().data()); found != nullptr) return found;
  }
  return nullptr;
}

int answer_not_supported() {
  constexpr int kErrorNotSupported = 801;
  return kErrorNotSupported;
}

}  // namespace

Beside::Beside(const char* file) {
  Dl_info self{};
  path[0] = '\0';
  if (dladdr(reinterpret_cast<void*>(&lanewise_first_call_code), &self) == 0 ||
      self.dli_fname == nullptr)
    return;
  const char* slash = std::strrchr(self.dli_fname, '/');
  const size_t folder = slash == nullptr ? 0 : static_cast<size_t>(slash - self.dli_fname) + 1;
  const size_t size = std::strlen(file) + 1;
  if (folder + size > sizeof path) return;
  std::memcpy(path, self.dli_fname, folder);
  std::memcpy(path + folder, file, size);
}

void* serve_first_call(Entry& entry) {
  void* library = cuda_library();
  void* found = versioned(library, entry);
  if (found == nullptr) found = dlsym(library, entry.name);
  if (found != nullptr) {
    __atomic_store_n(entry.slot, found, __ATOMIC_RELEASE);
    return found;
  }
  if (!__atomic_exchange_n(&entry.reported, true, __ATOMIC_RELAXED)) {
    Line line;
    line << std::string_view(entry.name)
         << (std::string_view(entry.name).starts_with("cuda")
                 ? " is not supported: the call answers cudaErrorNotSupported (801)"
                 : " is not supported: the call answers 801, not supported");
    report(line.text());
  }
  return reinterpret_cast<void*>(&answer_not_supported);
}

}  // namespace lanewise::exec

// Arguments are in rdi, rsi, rdx, rcx, r8, r9 and xmm0-7; al counts vector registers of variable
// arguments; r10 is a static chain.
asm(R"(
.text
.globl lanewise_first_call_code
.hidden lanewise_first_call_code
.type lanewise_first_call_code, @function
lanewise_first_call_code:
  push %rbp
  mov %rsp, %rbp
  push %rax
  push %rdi
  push %rsi
  push %rdx
  push %rcx
  push %r8
  push %r9
  push %r10
  sub $128, %rsp
  movups %xmm0, (%rsp)
  movups %xmm1, 16(%rsp)
  movups %xmm2, 32(%rsp)
  movups %xmm3, 48(%rsp)
  movups %xmm4, 64(%rsp)
  movups %xmm5, 80(%rsp)
  movups %xmm6, 96(%rsp)
  movups %xmm7, 112(%rsp)
  mov 8(%rbp), %rdi
  and $-16, %rsp
  call lanewise_first_call
  mov %rax, %r11
  lea -192(%rbp), %rsp
  movups (%rsp), %xmm0
  movups 16(%rsp), %xmm1
  movups 32(%rsp), %xmm2
  movups 48(%rsp), %xmm3
  movups 64(%rsp), %xmm4
  movups 80(%rsp), %xmm5
  movups 96(%rsp), %xmm6
  movups 112(%rsp), %xmm7
  add $128, %rsp
  pop %r10
  pop %r9
  pop %r8
  pop %rcx
  pop %rdx
  pop %rsi
  pop %rdi
  pop %rax
  pop %rbp
  add $8, %rsp
  jmp *%r11
.size lanewise_first_call_code, .-lanewise_first_call_code
)");
