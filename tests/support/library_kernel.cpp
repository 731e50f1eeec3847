#include "tests/support/library_kernel.hpp"

#include <fmt/format.h>

#include <iterator>
#include <spirv-tools/libspirv.hpp>
#include <stdexcept>

#include "tests/support/drivers.hpp"

namespace lanewise::test {
namespace {

constexpr uint32_t kLocalSize = 64;

const char* type_name(Kind kind, bool int64) {
  switch (kind) {
    case Kind::none:
      return "%void";
    case Kind::pred:
      return "%bool";
    case Kind::u32:
      return "%uint";
    case Kind::b64:
      return int64 ? "%ulong" : "%v2";
    case Kind::vec2:
      return "%v2";
    case Kind::vec3:
      return "%v3";
    case Kind::vec4:
      return "%v4";
  }
  return "";
}

/// Types of functions are declared once.
bool is_like_main(const Signature& s) {
  return s.result == Kind::none && s.params.empty();
}

std::string header(const std::string& name, const Signature& s, bool int64, bool lane_state) {
  std::string t = "OpCapability Shader\nOpCapability Linkage\n";
  if (int64) {
    t += "OpCapability Int64\nOpCapability PhysicalStorageBufferAddresses\n"
         "OpExtension \"SPV_KHR_physical_storage_buffer\"\n"
         "OpMemoryModel PhysicalStorageBuffer64 GLSL450\n";
  } else {
    t += "OpMemoryModel Logical GLSL450\n";
  }
  t += "OpEntryPoint GLCompute %main \"main\" %group %index\n";
  t += fmt::format("OpExecutionMode %main LocalSize {} 1 1\n", kLocalSize);
  t += fmt::format("OpDecorate %f LinkageAttributes \"{}\" Import\n", name);
  if (lane_state) {
    t += "OpDecorate %begin LinkageAttributes \"lw_begin\" Import\n"
         "OpDecorate %begin_lock LinkageAttributes \"lw_begin_lock\" Import\n";
  }
  t += "OpDecorate %group BuiltIn WorkgroupId\nOpDecorate %index BuiltIn LocalInvocationIndex\n"
       "OpDecorate %in DescriptorSet 0\nOpDecorate %in Binding 5\n"
       "OpDecorate %out DescriptorSet 0\nOpDecorate %out Binding 6\n"
       "OpDecorate %words ArrayStride 4\nOpDecorate %block Block\n"
       "OpMemberDecorate %block 0 Offset 0\n"
       "%void = OpTypeVoid\n%bool = OpTypeBool\n%uint = OpTypeInt 32 0\n"
       "%v2 = OpTypeVector %uint 2\n%v3 = OpTypeVector %uint 3\n%v4 = OpTypeVector %uint 4\n";
  if (int64) t += "%ulong = OpTypeInt 64 0\n";
  t += "%words = OpTypeRuntimeArray %uint\n%block = OpTypeStruct %words\n"
       "%pblock = OpTypePointer StorageBuffer %block\n%pword = OpTypePointer StorageBuffer %uint\n"
       "%pgroup = OpTypePointer Input %v3\n%pindex = OpTypePointer Input %uint\n"
       "%in = OpVariable %pblock StorageBuffer\n%out = OpVariable %pblock StorageBuffer\n"
       "%group = OpVariable %pgroup Input\n%index = OpVariable %pindex Input\n";
  for (unsigned i = 0; i < 32; ++i) t += fmt::format("%c{0} = OpConstant %uint {0}\n", i);
  t += fmt::format("%local = OpConstant %uint {}\n", kLocalSize);
  t += "%main_fn = OpTypeFunction %void\n";
  if (is_like_main(s)) return t;
  t += fmt::format("%fn = OpTypeFunction {}", type_name(s.result, int64));
  for (const Kind k : s.params) t += fmt::format(" {}", type_name(k, int64));
  return t + "\n";
}

std::string import_of(const std::string& id, const Signature& s, bool int64,
                      const std::string& type) {
  std::string t = fmt::format("{} = OpFunction {} None {}\n", id, type_name(s.result, int64), type);
  for (size_t i = 0; i < s.params.size(); ++i)
    t += fmt::format("{}_p{} = OpFunctionParameter {}\n", id, i, type_name(s.params[i], int64));
  return t + "OpFunctionEnd\n";
}

/// Loads argument `p` from the words that start at %base + at.
std::string load_argument(size_t p, Kind kind, unsigned at, bool int64) {
  std::string t, parts;
  for (unsigned i = 0; i < words_of(kind); ++i) {
    const std::string id = fmt::format("{}_{}", p, i);
    t += fmt::format(
        "%at{0} = OpIAdd %uint %base %c{1}\n"
        "%ptr{0} = OpAccessChain %pword %in %c0 %at{0}\n"
        "%w{0} = OpLoad %uint %ptr{0}\n",
        id, at + i);
    parts += fmt::format(" %w{}", id);
  }
  if (kind == Kind::pred) return t + fmt::format("%a{0} = OpINotEqual %bool %w{0}_0 %c0\n", p);
  if (kind == Kind::u32) return t + fmt::format("%a{0} = OpCopyObject %uint %w{0}_0\n", p);
  const bool wide = kind == Kind::b64 && int64;
  const char* type = wide ? "%v2" : type_name(kind, int64);
  t += fmt::format("%{}{} = OpCompositeConstruct {}{}\n", wide ? "pair" : "a", p, type, parts);
  return wide ? t + fmt::format("%a{0} = OpBitcast %ulong %pair{0}\n", p) : t;
}

std::string store_result(Kind kind, bool int64) {
  std::string t;
  if (kind == Kind::pred) t += "%bits = OpSelect %uint %r %c1 %c0\n";
  if (kind == Kind::b64 && int64) t += "%pair = OpBitcast %v2 %r\n";
  const unsigned n = words_of(kind);
  t += fmt::format("%obase = OpIMul %uint %item %c{}\n", n);
  for (unsigned i = 0; i < n; ++i) {
    std::string value = kind == Kind::pred ? "%bits" : "%r";
    if (n > 1) {
      const char* from = kind == Kind::b64 && int64 ? "%pair" : "%r";
      t += fmt::format("%e{0} = OpCompositeExtract %uint {1} {0}\n", i, from);
      value = fmt::format("%e{}", i);
    }
    t += fmt::format(
        "%oat{0} = OpIAdd %uint %obase %c{0}\n"
        "%optr{0} = OpAccessChain %pword %out %c0 %oat{0}\nOpStore %optr{0} {1}\n",
        i, value);
  }
  return t;
}

}  // namespace

unsigned words_of(Kind kind) {
  switch (kind) {
    case Kind::none:
      return 0;
    case Kind::pred:
    case Kind::u32:
      return 1;
    case Kind::b64:
    case Kind::vec2:
      return 2;
    case Kind::vec3:
      return 3;
    case Kind::vec4:
      return 4;
  }
  return 0;
}
unsigned argument_words(const Signature& s) {
  unsigned n = 0;
  for (const Kind k : s.params) n += words_of(k);
  return n;
}

std::vector<uint32_t> caller_of(const std::string& name, Variant variant, bool lane_state) {
  const Signature* s = spirv::library::find(name, variant);
  if (s == nullptr) throw std::runtime_error("no such function: " + name);
  const bool int64 = variant != Variant::t0;
  std::string t = header(name, *s, int64, lane_state);
  if (lane_state) {
    t += "%begin_fn = OpTypeFunction %void %v3 %uint\n"
         "%begin_lock_fn = OpTypeFunction %void %uint %uint\n";
  }
  t += import_of("%f", *s, int64, is_like_main(*s) ? "%main_fn" : "%fn");
  if (lane_state) {
    t += import_of("%begin", {"", Kind::none, {Kind::vec3, Kind::u32}}, int64, "%begin_fn");
    t +=
        import_of("%begin_lock", {"", Kind::none, {Kind::u32, Kind::u32}}, int64, "%begin_lock_fn");
  }
  t += "%main = OpFunction %void None %main_fn\n%entry = OpLabel\n"
       "%g3 = OpLoad %v3 %group\n%gx = OpCompositeExtract %uint %g3 0\n"
       "%lane = OpLoad %uint %index\n%first = OpIMul %uint %gx %local\n"
       "%item = OpIAdd %uint %first %lane\n";
  if (lane_state) {
    t += "%ignored1 = OpFunctionCall %void %begin %g3 %lane\n"
         "%ignored2 = OpFunctionCall %void %begin_lock %lane %local\n";
  }
  t += fmt::format("%base = OpIMul %uint %item %c{}\n", argument_words(*s));
  std::string args;
  unsigned at = 0;
  for (size_t p = 0; p < s->params.size(); ++p) {
    t += load_argument(p, s->params[p], at, int64);
    at += words_of(s->params[p]);
    args += fmt::format(" %a{}", p);
  }
  const std::string call_text =
      fmt::format("%r = OpFunctionCall {} %f{}\n", type_name(s->result, int64), args);
  if (s->result != Kind::none) {
    t += call_text + store_result(s->result, int64);
  } else {
    // Lane i calls i / 8 + 1 times, so that parts of a group differ in how often they come by.
    t += "%more = OpShiftRightLogical %uint %lane %c3\n%times = OpIAdd %uint %more %c1\n"
         "OpBranch %head\n%head = OpLabel\n%i = OpPhi %uint %c0 %entry %next %again\n"
         "%go = OpULessThan %bool %i %times\nOpLoopMerge %called %again None\n"
         "OpBranchConditional %go %again %called\n%again = OpLabel\n" +
         call_text +
         "%next = OpIAdd %uint %i %c1\nOpBranch %head\n%called = OpLabel\n"
         "%optr = OpAccessChain %pword %out %c0 %item\nOpStore %optr %c1\n";
  }
  t += "OpReturn\nOpFunctionEnd\n";
  std::vector<uint32_t> words;
  std::string message;
  spvtools::SpirvTools tools(SPV_ENV_UNIVERSAL_1_3);
  tools.SetMessageConsumer(
      [&](spv_message_level_t, const char*, const spv_position_t& p, const char* text) {
        message = fmt::format("{}: {}", p.line, text);
      });
  if (!tools.Assemble(t, &words)) throw std::runtime_error("assembling: " + message + "\n" + t);
  return words;
}

std::vector<Driver> open_drivers() {
  std::vector<Driver> drivers;
  for (const SoftwareDriver& driver : software_drivers()) {
    if (driver.json.empty()) continue;
    Driver d{driver.label, Compute::open(driver.json), {Variant::t0}};
    if (!d.compute) throw std::runtime_error(driver.label + " does not start");
    const ComputeFacts& f = d.compute->facts();
    if (f.int64 && f.device_address && f.storage8 && f.storage16) {
      d.variants.push_back(Variant::t1);
      if (f.int64_atomics) d.variants.push_back(Variant::t1a);
      if (f.float64) d.variants.push_back(Variant::t1f);
      if (f.int64_atomics && f.float64) d.variants.push_back(Variant::t2);
    }
    drivers.push_back(std::move(d));
  }
  return drivers;
}

std::vector<uint32_t> call(Compute& device, Variant variant, const std::string& name,
                           std::vector<uint32_t> arguments) {
  using namespace spirv::library;
  const Signature* s = find(name);
  if (s == nullptr) throw std::runtime_error("no such function: " + name);
  const size_t rows = arguments.size() / argument_words(*s);
  const uint32_t groups = static_cast<uint32_t>((rows + kLocalSize - 1) / kLocalSize);
  arguments.resize(size_t{groups} * kLocalSize * argument_words(*s), 0);
  std::vector<uint32_t> out(size_t{groups} * kLocalSize * words_of(s->result), 0);
  std::vector<uint32_t> arena(16), launch(80), faults(600), backing(4), allocations(4);
  Compute::Job job;
  job.spirv = freeze(link(caller_of(name, variant, false), variant), {});
  job.buffers = {&arena, &launch, &faults, &backing, &allocations, &arguments, &out};
  job.groups = groups;
  const std::string error = device.run(job);
  if (!error.empty()) throw std::runtime_error(name + ": " + error);
  out.resize(rows * words_of(s->result));
  return out;
}

}  // namespace lanewise::test
