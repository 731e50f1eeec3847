// .amdgpu_metadata of assembly files: the styles of YAML that are read, and those that are refused.
#include <doctest/doctest.h>

#include <string>

#include "runtime/isa/gcn/gcn.hpp"

using namespace lanewise;

namespace {

gcn::Listing parsed(const std::string& kernels) {
  return gcn::parse(
      ".amdgcn_target \"amdgcn-amd-amdhsa--gfx803\"\nk:\n s_endpgm\n.amdhsa_kernel k\n"
      " .amdhsa_kernarg_size 16\n .amdhsa_next_free_vgpr 1\n .amdhsa_next_free_sgpr 8\n"
      ".end_amdhsa_kernel\n.amdgpu_metadata\n" +
      kernels + "amdhsa.version:\n  - 1\n  - 0\n.end_amdgpu_metadata\n");
}

std::string metadata_complaint(const std::string& kernels) {
  const gcn::Listing l = parsed(kernels);
  return l.diagnostics.empty() ? "" : l.diagnostics[0].message;
}

}  // namespace

TEST_CASE("gcn metadata: wherever the dashes stand") {
  for (const std::string indent : {"", "  ", "    "}) {
    for (const std::string inner : {"", "  ", "    "}) {
      const std::string field = indent + "  ", arg = field + inner;
      CAPTURE(indent.size());
      CAPTURE(inner.size());
      const gcn::Listing l =
          parsed("amdhsa.kernels:\n" + indent + "- .args:\n" + arg + "- .name: out\n" + arg +
                 "  .offset: 0\n" + arg + "  .size: 8\n" + arg + "  .value_kind: global_buffer\n" +
                 arg + "- .offset: 0x8\n" + arg + "  .size: 4\n" + arg +
                 "  .value_kind: by_value\n" + arg + "  .name: 'n'\n" + field + ".name: k\n");
      REQUIRE(l.ok());
      REQUIRE(l.kernels.size() == 1);
      const auto& params = l.kernels[0].params;
      REQUIRE(params.size() == 2);
      CHECK(params[0].name == "out");
      CHECK(params[0].pointer);
      CHECK(params[1].name == "n");
      CHECK(params[1].offset == 8);
      CHECK(params[1].size == 4);
    }
  }
}

// LLVM writes so what YAML would take for a truth value or a number.
TEST_CASE("gcn metadata: strings with a tag") {
  const gcn::Listing l = parsed(
      "amdhsa.printf:\n  - !str '1:1:4:%d\\n'\namdhsa.kernels:\n  - .args:\n"
      "      - .name: !str n\n        .offset: 0\n        .size: 4\n"
      "        .value_kind: by_value\n      - .name: !!str 'y'\n        .offset: 4\n"
      "        .size: 4\n        .value_kind: by_value\n    .name: !str k\n");
  REQUIRE_MESSAGE(l.ok(), l.diagnostics[0].message);
  REQUIRE(l.kernels.size() == 1);
  REQUIRE(l.kernels[0].params.size() == 2);
  CHECK(l.kernels[0].params[0].name == "n");
  CHECK(l.kernels[0].params[1].name == "y");
  REQUIRE(l.print_formats.size() == 1);
  CHECK(l.print_formats[0] == "1:1:4:%d\\n");
  CHECK(metadata_complaint("amdhsa.kernels:\n  - .name: !int 1\n").find("style of YAML") !=
        std::string::npos);
}

TEST_CASE("gcn metadata: flow style, and both styles in each other") {
  for (
      const std::string kernels :
      {"amdhsa.kernels:\n  - { .name: k, .args: [ { .name: out, .offset: 0, .size: 8, .value_kind: "
       "global_buffer }, {.name: 'n', .offset: 0x8, .size: 4, .value_kind: by_value} ] }\n",
       "amdhsa.kernels: [{.name: k, .args: [\n  {.name: out,  # where to\n   .offset: 0, .size: "
       "8,\n"
       "   .value_kind: global_buffer},\n\n  {\".name\": \"n\", .offset: 8, .size: 4, .value_kind: "
       "by_value}]}]\n",
       "amdhsa.kernels:\n- .args:\n  - {.name: out, .offset: 0, .size: 8, .value_kind: "
       "global_buffer}\n  -\n    .name: !str n\n    .offset: 8 # behind it\n    .size: 4\n"
       "    .value_kind: by_value\n  .name: k\n"}) {
    CAPTURE(kernels);
    const gcn::Listing l = parsed(kernels);
    REQUIRE_MESSAGE(l.ok(), l.diagnostics[0].message);
    REQUIRE(l.kernels.size() == 1);
    const auto& params = l.kernels[0].params;
    REQUIRE(params.size() == 2);
    CHECK(params[0].name == "out");
    CHECK(params[0].pointer);
    CHECK(params[1].name == "n");
    CHECK(params[1].offset == 8);
    CHECK(params[1].size == 4);
  }
}

TEST_CASE("gcn metadata: what is wrong has its line") {
  const auto line_of = [](const std::string& kernels) {
    const gcn::Listing l = parsed(kernels);
    return l.diagnostics.empty() ? 0 : l.diagnostics[0].line;
  };
  CHECK(line_of("amdhsa.kernels:\n  - .name: k\n    nothing\n") == 12);
  CHECK(line_of("amdhsa.kernels: [ {.name: k}\n") != 0);
  CHECK(line_of("amdhsa.kernels:\n  - { .name: k, ] }\n") == 11);
  CHECK(line_of("amdhsa.kernels:\n  - .name: 'k\n") == 11);
  CHECK(line_of("amdhsa.kernels: " + std::string(100000, '[') + "\n") == 10);
}

TEST_CASE("gcn metadata: what is not read is refused") {
  const std::string start = "amdhsa.kernels:\n  - .name: k\n    .args:\n";
  for (const std::string args :
       {"      - .name: &anchor x\n", "      - .name: |\n", "      - { .name: *x }\n"}) {
    CAPTURE(args);
    CHECK(metadata_complaint(start + args).find("this style of YAML is not read") !=
          std::string::npos);
  }
  CHECK(metadata_complaint("amdhsa.kernels:\n  - .name: k\n    .args: []\n") == "");
  CHECK(metadata_complaint(start +
                           "      - .name: x\n        .size: 8\n        .value_kind: by_value\n") ==
        "metadata: an argument of kernel 'k' has no .offset");
}

TEST_CASE("gcn metadata: names of types that say nothing bind nothing") {
  const auto type_of = [](const std::string& name, int size, const char* kind = "by_value") {
    const gcn::Listing l = parsed(
        "amdhsa.kernels:\n  - .name: k\n    .args:\n      - .name: a\n        .offset: 0\n"
        "        .size: " +
        std::to_string(size) + "\n        .value_kind: " + kind +
        (name.empty() ? "" : "\n        .type_name: '" + name + "'") + "\n");
    REQUIRE(l.ok());
    return l.kernels.at(0).params.at(0).type;
  };
  using ir::Type;
  CHECK(type_of("float", 4) == Type::f32);
  CHECK(type_of("double", 8) == Type::f64);
  CHECK(type_of("half", 2) == Type::f16);
  CHECK(type_of("uint", 4) == Type::u32);
  CHECK(type_of("long", 8) == Type::s64);
  for (const char* name :
       {"", "real_arg", "struct pair", "enum color", "float2", "char4", "pixel*"})
    for (const int size : {4, 8}) CHECK(type_of(name, size) == Type::none);
  CHECK(type_of("float", 8) == Type::none);
  CHECK(type_of("float_ptr", 8, "global_buffer") == Type::u64);
  CHECK(type_of("image2d_t", 8, "image") == Type::u64);
  CHECK(type_of("int*", 4, "dynamic_shared_pointer") == Type::u32);
}
