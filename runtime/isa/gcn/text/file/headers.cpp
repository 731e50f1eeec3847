#include "runtime/isa/gcn/text/file/headers.hpp"

#include <fmt/format.h>

#include "runtime/isa/gcn/text/expression.hpp"
#include "runtime/isa/gcn/text/source/macro.hpp"

namespace lanewise::gcn {
namespace {

void expect_end(Cursor& in) {
  if (!in.done()) in.fail("unexpected text behind the directive" + in.found());
}

void read_quoted(Cursor& in, const char* what) {
  in.expect('"', what);
  in.until("\"");
  in.expect('"', "behind the text");
}

/// Of "amdgcn-amd-amdhsa--gfx803".
std::string_view processor_in(std::string_view target) {
  const size_t gfx = target.find("gfx");
  return gfx == std::string_view::npos ? std::string_view() : Cursor(target, gfx).word();
}
Gen known_target(Cursor& in) {
  in.skip_blanks();
  const auto gen = gen_named(processor_in(in.rest()));
  if (!gen) Cursor::fail_at(in.at(), "unknown target, expected gfx600, gfx700 or gfx803");
  return *gen;
}

constexpr std::string_view kWholeTarget = ".amd_amdgpu_isa";

}  // namespace

std::optional<Gen> named_for_all(std::string_view text) {
  for (size_t at = text.find(kWholeTarget); at != std::string_view::npos;
       at = text.find(kWholeTarget, at + 1)) {
    const size_t line = text.find_last_of("\n;", at) + 1;
    const std::string_view before = text.substr(line, at - line), behind = text.substr(at);
    if (before.find_first_not_of(" \t\r") == std::string_view::npos)
      return gen_named(processor_in(behind.substr(0, behind.find('\n'))));
  }
  return {};
}

bool Headers::directive(std::string_view name, Cursor& in) {
  if (name == ".amdgcn_target") {
    target(in);
  } else if (name == ".hsa_code_object_version") {
    hsa_ = old_system_ = true;
    read_constant(in, "a version");
    in.expect(',', "between the numbers of the version");
    read_constant(in, "a version");
    expect_end(in);
  } else if (name == ".hsa_code_object_isa") {
    old_target(in);
  } else if (name == kWholeTarget) {
    whole_target(in);
  } else if (name == ".amdhsa_code_object_version") {
    read_constant(in, "a version");  // of the metadata, which say themselves what they hold
    expect_end(in);
  } else if (name == ".amd_kernel_code_t") {
    expect_end(in);
    code_block_.emplace();
  } else if (name == ".amdhsa_kernel") {
    name_ = std::string(read_name(in));
    descriptor_.emplace(gen_, xnack_);
    if (name_.empty()) in.fail("expected the kernel's name" + in.found());
    expect_end(in);
  } else if (name.starts_with(".amdhsa_") || name == ".end_amdhsa_kernel" ||
             name == ".end_amd_kernel_code_t") {
    in.fail(fmt::format("{}: only possible inside {}", name,
                        name.starts_with(".end_amd_") ? ".amd_kernel_code_t" : ".amdhsa_kernel"));
  } else {
    return false;
  }
  return true;
}

std::string Headers::line(Cursor& in, const std::string& kernel) {
  if (in.done()) return {};
  Cursor end = in;
  if (end.until(" \t\r") != block_end())
    return descriptor_ ? descriptor_->line(in) : code_block_->line(in);
  const std::optional<KernelDescriptorBlock> descriptor = std::move(descriptor_);
  const std::optional<KernelCodeBlock> code_block = std::move(code_block_);
  descriptor_.reset();
  code_block_.reset();
  if (code_block) {
    use(code_block->machine());
    blocks_[kernel] = code_block->values();
    old_kernels_[kernel] = code_block->problem();
  } else {
    blocks_[name_] = descriptor->values();
    descriptor->end();
  }
  expect_end(end);
  return {};
}

void Headers::target(Cursor& in) {
  const std::string_view text = in.rest(), processor = processor_in(text);
  if (const Gen gen = known_target(in); !forced_) gen_ = gen;
  hsa_ = text.find("amdhsa") != std::string_view::npos;
  xnack_ = processor == "gfx801" || processor == "gfx810";
}

/// At the end, for everything in front.
void Headers::whole_target(Cursor& in) {
  in.skip_blanks();
  const size_t at = in.at();
  const Gen gen = known_target(in);
  if (!forced_ && gen != gen_)
    Cursor::fail_at(at, fmt::format("the lines in front of this are for {}", gcn::name(gen_)));
}

/// `8,0,3,"AMD","AMDGPU"`, or nothing: the target that is known already.
void Headers::old_target(Cursor& in) {
  hsa_ = old_system_ = true;
  if (in.done()) return;
  const int64_t major = read_constant(in, "the instruction set's version");
  for (int n = 0; n < 2; ++n) {
    in.expect(',', "between the numbers of the version");
    read_constant(in, "the instruction set's version");
  }
  in.expect(',', "before the vendor");
  read_quoted(in, "before the vendor");
  in.expect(',', "before the architecture");
  read_quoted(in, "before the architecture");
  expect_end(in);
  use(major);
}

void Headers::use(int64_t major) {
  if (!forced_ && major >= 6 && major <= 8) gen_ = static_cast<Gen>(major - 6);
}

}  // namespace lanewise::gcn
