// Linking at run time. PTX texts become fat binaries of one image each, behind an empty one that
// says how long all of it is; the loader links several fat binaries in one program.
#include "runtime/host/driver/link.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/host/core/status.hpp"
#include "runtime/host/driver/entry.hpp"
#include "runtime/host/driver/modules.hpp"

namespace lanewise::driver {
namespace {

using Bytes = std::vector<std::byte>;

/// The header of a fat binary, and ours behind it.
struct LinkedHeader {
  uint32_t magic = kFatBinary;
  uint16_t version = 1, header = 32;
  uint64_t bytes = 0;  ///< of images: there are none in it
  char by[8] = {'l', 'a', 'n', 'e', 'w', 'i', 's', 'e'};
  uint64_t all = 0;
};
static_assert(sizeof(LinkedHeader) == 32);

struct FatHeader {
  uint32_t magic = kFatBinary;
  uint16_t version = 1, header = 16;
  uint64_t bytes = 0;
};
struct FatImage {
  uint16_t kind = 1, version = 0x101;
  uint32_t header = 64;
  uint64_t bytes = 0;
  uint32_t packed = 0, unused[2] = {};
  uint32_t target = 0, more[2] = {};
  uint64_t flags = 0;
  uint64_t other = 0, whole = 0;
};
static_assert(offsetof(FatImage, target) == 28 && sizeof(FatImage) == 64);

template <typename T>
void append(Bytes& to, const T& value) {
  const auto* first = reinterpret_cast<const std::byte*>(&value);
  to.insert(to.end(), first, first + sizeof value);
}
void pad(Bytes& to) {
  to.resize((to.size() + 7) / 8 * 8);
}

/// The number in ".target sm_75".
uint32_t target_of(std::string_view text) {
  const size_t at = text.find("sm_");
  return at == std::string_view::npos ? 0 : static_cast<uint32_t>(std::atoi(&text[at + 3]));
}

Bytes fat_binary_of(const std::string& text) {
  FatImage image;
  image.bytes = (text.size() + 1 + 7) / 8 * 8;
  image.target = target_of(text);
  FatHeader header;
  header.bytes = sizeof image + image.bytes;
  Bytes out;
  append(out, header);
  append(out, image);
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  out.insert(out.end(), first, first + text.size() + 1);
  pad(out);
  return out;
}

/// CUlinkState. Its options stay the program's until it is destroyed.
struct Link {
  Options options;
  std::vector<Bytes> parts;  ///< fat binaries
  Bytes only;                ///< machine code, which is not linked
  Bytes out;
  std::string errors;

  explicit Link(Options o) : options(o) {}
};

enum Kind : int { kCubin, kPtx, kFatBinaryInput, kObject, kLibrary, kNvvm };

void add(Link& link, int kind, const void* data, size_t bytes) {
  require(kind >= kCubin && kind <= kNvvm && data != nullptr && bytes != 0);
  const auto* first = static_cast<const std::byte*>(data);
  const auto refuse_kind = [&](const char* what) {
    link.errors += what;
    link.options.finish({}, link.errors);
    fail(Code::not_supported, what);
  };
  if (kind == kPtx) {
    const auto* text = static_cast<const char*>(data);
    link.parts.push_back(fat_binary_of(std::string(text, strnlen(text, bytes))));
  } else if (kind == kFatBinaryInput) {
    require(bytes >= sizeof(FatHeader) && fat_binary_bytes(data) != 0 &&
                fat_binary_bytes(data) <= bytes,
            Code::invalid_image);
    link.parts.emplace_back(first, first + fat_binary_bytes(data));
    pad(link.parts.back());
  } else if (kind == kCubin && link.parts.empty() && link.only.empty()) {
    link.only.assign(first, first + bytes);
  } else {
    refuse_kind(
        "cuLinkAdd: PTX and fat binaries are linked; cubins, objects, archives and NVVM are not");
  }
}

void complete(Link& link) {
  if (!link.only.empty()) {
    require(link.parts.empty(), Code::not_supported);
    link.out = link.only;
    return;
  }
  require(!link.parts.empty());
  LinkedHeader header;
  header.all = sizeof header;
  for (const Bytes& part : link.parts) header.all += part.size();
  Bytes out;
  append(out, header);
  for (const Bytes& part : link.parts) out.insert(out.end(), part.begin(), part.end());
  size_t kernels = 0;
  if (const lw_status status = lw_check(out.data(), out.size(), nullptr, &kernels);
      status != LW_OK) {
    const Code code = code_of(status);
    link.errors += last_diagnostics();
    link.options.finish({}, link.errors);
    if (!link.options.has_error_log()) report_line(link.errors);
    fail(code);
  }
  link.options.finish({}, {});
  link.out = std::move(out);
}

std::shared_ptr<Link> link_of(Link* handle) {
  return Handles<Link>::find(handle);
}

}  // namespace

size_t linked_bytes(const void* data) {
  const LinkedHeader ours;
  constexpr size_t kSame = offsetof(LinkedHeader, all);
  if (std::memcmp(data, &ours, sizeof(FatHeader)) != 0 || std::memcmp(data, &ours, kSame) != 0)
    return 0;
  uint64_t all = 0;
  std::memcpy(&all, static_cast<const std::byte*>(data) + kSame, sizeof all);
  return all;
}

}  // namespace lanewise::driver

using namespace lanewise::driver;

ENTRY(cuLinkCreate_v2, (unsigned count, const int* options, void** values, Link** out)) {
  return answer([&] {
    *required(out) = Handles<Link>::add(std::make_shared<Link>(Options(count, options, values)));
  });
}
ALSO(cuLinkCreate, cuLinkCreate_v2);
ENTRY(cuLinkAddData_v2,
      (Link * link, int kind, const void* data, size_t bytes, const char* /*name*/,
       unsigned /*count*/, const int* /*options*/, void** /*values*/)) {
  return answer([&] { add(*link_of(link), kind, data, bytes); });
}
ALSO(cuLinkAddData, cuLinkAddData_v2);
ENTRY(cuLinkAddFile_v2, (Link * link, int kind, const char* path, unsigned /*count*/,
                         const int* /*options*/, void** /*values*/)) {
  return answer([&] {
    const Bytes bytes = read_file(path);
    add(*link_of(link), kind, bytes.data(), bytes.size());
  });
}
ALSO(cuLinkAddFile, cuLinkAddFile_v2);
ENTRY(cuLinkComplete, (Link * link, void** image, size_t* bytes)) {
  return answer([&] {
    const auto of = link_of(link);
    complete(*of);
    *required(image) = of->out.data();
    if (bytes != nullptr) *bytes = of->out.size();
  });
}
ENTRY(cuLinkDestroy, (Link * link)) {
  return answer([&] { Handles<Link>::take(link); }, Needs::device);
}
