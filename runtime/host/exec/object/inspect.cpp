#include "runtime/host/exec/object/inspect.hpp"

#include <cstring>

#include "runtime/isa/elf/fat_entries.hpp"

namespace lanewise::exec {
namespace {

/// Sorted.
constexpr std::string_view kNames[] = {
#define NAME(name) #name,
#include "cudart_names.def"
#undef NAME
};

/// Libraries of the vendor that nothing stands in for, and how the names that they export begin.
/// Longer names first.
struct Vendor {
  std::string_view library, prefix, what;
};
constexpr Vendor kVendors[] = {
    {"libcublasLt", "cublasLt", "cuBLASLt"},
    {"libcublas", "cublas", "cuBLAS"},
    {"libcudnn", "cudnn", "cuDNN"},
    {"libcufftw", "fftw", "cuFFT's FFTW interface"},
    {"libcufft", "cufft", "cuFFT"},
    {"libcufile", "cuFile", "cuFile"},
    {"libcupti", "cupti", "CUPTI"},
    {"libcurand", "curand", "cuRAND"},
    {"libcusolverMg", "cusolverMg", "cuSOLVER for several GPUs"},
    {"libcusolver", "cusolver", "cuSOLVER"},
    {"libcusparseLt", "cusparseLt", "cuSPARSELt"},
    {"libcusparse", "cusparse", "cuSPARSE"},
    {"libcutensor", "cutensor", "cuTENSOR"},
    {"libnccl", "nccl", "NCCL"},
    {"libnpp", "npp", "NPP"},
    {"libnvJitLink", "__nvJitLink", "nvJitLink"},
    {"libnvidia-ml", "nvml", "NVML"},
    {"libnvjpeg", "nvjpeg", "nvJPEG"},
    {"libnvToolsExt", "nvtx", "NVTX"},
};

const Vendor* vendor_of(std::string_view file_name) {
  for (const Vendor& vendor : kVendors)
    if (file_name.starts_with(vendor.library))  // "libnppc.so.12" is a part
      return &vendor;
  return nullptr;
}

std::string_view first_call(const MappedObject& object, const Vendor& vendor) {
  std::string_view found;
  const Elf64_Shdr* table = object.section_of_type(SHT_DYNSYM);
  if (table == nullptr) return found;
  for_each_symbol(object, *table, [&](const Elf64_Sym& symbol, std::string_view name) {
    if (found.empty() && symbol.st_shndx == SHN_UNDEF && name.starts_with(vendor.prefix))
      found = name;
  });
  return found;
}

void add_vendors(Line& line, const MappedObject& object, std::string_view path) {
  for_each_needed(object, [&](std::string_view needed) {
    const Vendor* vendor = vendor_of(needed);
    if (vendor == nullptr) return;
    const std::string_view call = first_call(object, *vendor);
    if (call.empty()) return;
    if (line.empty())
      line << "'" << path << "' links libraries of NVIDIA that need its driver: ";
    else
      line << "; ";
    line << needed << " (" << vendor->what << ", whose first missing call is " << call << ")";
  });
  if (!line.empty())
    line << ". Build the program without them, or with an implementation in CUDA C++; the "
            "runtime's own calls and its kernels run here";
}

/// The targets of the images, where no image can run: PTX, or machine code up to Pascal.
class Images {
 public:
  void add(const elf::FatEntry& entry) {
    ++count_;
    if (entry.kind == elf::FatEntry::kPtx || (entry.sm >= 50 && entry.sm <= 62)) usable_ = true;
    for (unsigned n = 0; n < listed_; ++n)
      if (sm_[n] == entry.sm) return;
    if (listed_ < sizeof sm_ / sizeof *sm_) sm_[listed_++] = entry.sm;
  }
  bool none_usable() const { return count_ != 0 && !usable_; }
  void list(Line& line) const {
    for (unsigned n = 0; n < listed_; ++n) line << (n == 0 ? "sm_" : ", sm_") << sm_[n];
  }

 private:
  unsigned sm_[16] = {}, listed_ = 0, count_ = 0;
  bool usable_ = false;
};

/// The toolkit adds a cubin without kernels to each program.
bool has_code(const elf::FatEntry& entry) {
  return entry.kind != elf::FatEntry::kCubin || entry.compressed() ||
         memmem(entry.data.data(), entry.data.size(), ".text.", 6) != nullptr;
}

Images images_of(const MappedObject& object) {
  Images images;
  for (const std::string_view name : {".nv_fatbin", "__nv_relfatbin"}) {
    const Elf64_Shdr* section = object.section_named(name);
    if (section == nullptr) continue;
    elf::for_each_fat_binary(object.contents(*section), [&](std::string_view fat) {
      elf::FatEntries entries(fat);
      for (elf::FatEntry entry; entries.next(entry);)
        if (has_code(entry)) images.add(entry);
    });
  }
  return images;
}

bool needs_shared_runtime(const MappedObject& object) {
  bool found = false;
  for_each_needed(object, [&](std::string_view needed) {
    found = found || shared_runtime(needed) != CudaMajor::none;
  });
  return found;
}

}  // namespace

Line& Line::operator<<(std::string_view text) {
  const size_t take = text.size() < sizeof text_ - size_ ? text.size() : sizeof text_ - size_;
  std::memcpy(text_ + size_, text.data(), take);
  size_ += take;
  return *this;
}

Line& Line::operator<<(unsigned number) {
  char digits[10];
  size_t at = sizeof digits;
  do digits[--at] = static_cast<char>('0' + number % 10);
  while ((number /= 10) != 0);
  return *this << std::string_view(digits + at, sizeof digits - at);
}

const char* runtime_name(std::string_view name) {
  size_t low = 0, high = sizeof kNames / sizeof *kNames;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    const int order = kNames[middle].compare(name);
    if (order == 0) return kNames[middle].data();
    (order < 0 ? low : high) = order < 0 ? middle + 1 : middle;
  }
  return nullptr;
}

const char* linked_entry(const Elf64_Sym& symbol, std::string_view name) {
  if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) return nullptr;
  const bool exported = ELF64_ST_BIND(symbol.st_info) != STB_LOCAL &&
                        ELF64_ST_VISIBILITY(symbol.st_other) == STV_DEFAULT;
  return exported ? nullptr : runtime_name(name);
}

CudaMajor static_runtime(const MappedObject& object) {
  const Elf64_Shdr* table = object.section_of_type(SHT_SYMTAB);
  if (table == nullptr) return CudaMajor::none;
  bool any = false, old = false, second_properties = false;
  for_each_symbol(object, *table, [&](const Elf64_Sym& symbol, std::string_view name) {
    if (!name.starts_with("cuda") || linked_entry(symbol, name) == nullptr) return;
    any = any || name == "cudaMalloc";
    old = old || name == "cudaThreadExit" || name == "cudaBindTexture";
    second_properties = second_properties || name == "cudaGetDeviceProperties_v2";
  });
  return !any                ? CudaMajor::none
         : second_properties ? CudaMajor::cuda12
         : old               ? CudaMajor::cuda11
                             : CudaMajor::cuda13;
}

CudaMajor shared_runtime(std::string_view name) {
  if (!name.starts_with("libcudart")) return CudaMajor::none;
  name.remove_prefix(9);
  if (name.starts_with('-'))  // a name that was made unique with a hash
    while (!name.empty() && name.front() != '.') name.remove_prefix(1);
  if (!name.starts_with(".so")) return CudaMajor::none;
  name.remove_prefix(3);
  if (name.starts_with(".11")) return CudaMajor::cuda11;
  if (name.starts_with(".12")) return CudaMajor::cuda12;
  return name.empty() || name.starts_with(".13") ? CudaMajor::cuda13 : CudaMajor::none;
}

bool is_driver(std::string_view name) {
  return name == "libcuda.so" || name.starts_with("libcuda.so.");
}

bool is_hip(std::string_view name) {
  return name == "libamdhip64.so" || name.starts_with("libamdhip64.so.");
}

std::string_view vendor_library(std::string_view file_name) {
  const Vendor* vendor = vendor_of(file_name);
  return vendor == nullptr ? std::string_view() : vendor->what;
}

Line refusal(const MappedObject& object, std::string_view path) {
  Line line;
  const bool linked_in = static_runtime(object) != CudaMajor::none;
  const bool kernels = object.section_named(".nv_fatbin") != nullptr ||
                       object.section_named(".nvFatBinSegment") != nullptr;
  if (!linked_in && !kernels && !needs_shared_runtime(object)) {
    add_vendors(line, object, path);
    return line;
  }
  if (!object.has_segment(PT_INTERP)) {
    line << "'" << path
         << "' is linked fully static, so no library can be loaded into it: link it without "
            "-static";
    return line;
  }
  if (!linked_in && !needs_shared_runtime(object) &&
      object.section_of_type(SHT_SYMTAB) == nullptr) {
    line << "'" << path
         << "' is stripped, and the CUDA runtime inside it can be found by its symbols only: "
            "link it without -s and do not strip it, or build it with nvcc -cudart shared";
    return line;
  }
  const Images images = images_of(object);
  if (images.none_usable()) {
    line << "'" << path << "' has machine code for ";
    images.list(line);
    line << " only, and no PTX: build it with nvcc -gencode arch=compute_75,code=compute_75 (which "
            "adds PTX), or for sm_50 to sm_62";
    return line;
  }
  add_vendors(line, object, path);
  return line;
}

}  // namespace lanewise::exec
