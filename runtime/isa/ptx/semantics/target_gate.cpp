#include "runtime/isa/ptx/semantics/target_gate.hpp"

namespace lanewise::ptx {
namespace {

struct Gate {
  std::string_view opcode;     ///< empty = any
  std::string_view qualifier;  ///< empty = any; one ending in `:` stands for a family
  unsigned sm, version;        ///< version as major * 10 + minor
};
// Measured with the real assembler.
constexpr Gate kGates[] = {
    {"", "cluster", 90, 78},        {"", "shared::cluster", 90, 78},
    {"", "shared::cta", 0, 78},     {"", "param::entry", 0, 83},
    {"", "param::func", 0, 83},     {"", "v8", 0, 88},
    {"", "mmio", 70, 82},           {"", "L1::", 70, 74},
    {"", "L2::cache_hint", 80, 74}, {"ld", "L2::64B", 75, 74},
    {"ld", "L2::128B", 75, 74},     {"ld", "L2::256B", 80, 74},
    {"ld", "relaxed", 70, 60},      {"ld", "acquire", 70, 60},
    {"st", "relaxed", 70, 60},      {"st", "release", 70, 60},
    {"atom", "relaxed", 70, 60},    {"atom", "acquire", 70, 60},
    {"atom", "release", 70, 60},    {"atom", "acq_rel", 70, 60},
    {"red", "relaxed", 70, 60},     {"red", "acquire", 70, 60},
    {"red", "release", 70, 60},     {"red", "acq_rel", 70, 60},
    {"atom", "cta", 60, 50},        {"atom", "gpu", 60, 50},
    {"atom", "sys", 60, 50},        {"red", "cta", 60, 50},
    {"red", "gpu", 60, 50},         {"red", "sys", 60, 50},
    {"fence", "", 70, 60},          {"createpolicy", "", 80, 74},
    {"discard", "", 80, 74},        {"applypriority", "", 80, 74},
    {"prefetch", "L2::", 80, 74},   {"cp", "", 80, 70},
    {"redux", "", 80, 70},          {"elect", "", 90, 80},
    {"match", "", 70, 60},          {"add", "bf16", 90, 78},
    {"add", "bf16x2", 90, 78},      {"sub", "bf16", 90, 78},
    {"sub", "bf16x2", 90, 78},      {"mul", "bf16", 90, 78},
    {"mul", "bf16x2", 90, 78},      {"set", "bf16", 90, 78},
    {"set", "bf16x2", 90, 78},      {"setp", "bf16", 90, 78},
    {"setp", "bf16x2", 90, 78},     {"ex2", "bf16", 90, 78},
    {"ex2", "bf16x2", 90, 78},      {"tanh", "bf16", 90, 78},
    {"tanh", "bf16x2", 90, 78},     {"fma", "bf16", 80, 70},
    {"fma", "bf16x2", 80, 70},      {"neg", "bf16", 80, 70},
    {"neg", "bf16x2", 80, 70},      {"abs", "bf16", 80, 70},
    {"abs", "bf16x2", 80, 70},      {"min", "bf16", 80, 70},
    {"min", "bf16x2", 80, 70},      {"max", "bf16", 80, 70},
    {"max", "bf16x2", 80, 70},      {"fma", "relu", 80, 70},
    {"min", "xorsign", 86, 72},     {"max", "xorsign", 86, 72},
    {"min", "relu", 90, 80},        {"max", "relu", 90, 80},
    {"add", "u16x2", 90, 80},       {"add", "s16x2", 90, 80},
    {"min", "u16x2", 90, 80},       {"min", "s16x2", 90, 80},
    {"max", "u16x2", 90, 80},       {"max", "s16x2", 90, 80},
};

bool applies(const Gate& gate, std::string_view opcode, const Form& form) {
  if (!gate.opcode.empty() && gate.opcode != opcode) return false;
  if (gate.qualifier.empty()) return true;
  if (opcode == "cp" && gate.qualifier == "shared::cta") return false;
  for (const auto& [slot, value] : form.values)
    if (gate.qualifier.ends_with(':') ? value.starts_with(gate.qualifier) : value == gate.qualifier)
      return true;
  return false;
}

}  // namespace

std::string cluster_gate(const Module& module) {
  const unsigned sm = sm_number(module.target);
  if (sm == 0 || sm >= 90) return {};
  return "needs .target sm_90 or higher, the module says " + module.target;
}

std::string target_gate(const Module& module, std::string_view opcode, const Form& form) {
  const unsigned sm = sm_number(module.target);
  const unsigned version = module.version_major * 10 + module.version_minor;
  const bool wide = (form.get("vec") == "v8" && form.type().bits == 32) ||
                    (form.get("vec") == "v4" && form.type().bits == 64);
  if (wide && ((sm != 0 && sm < 100) || (version != 0 && version < 88)))
    return "accesses of 256 bits need .target sm_100 and .version 8.8 or higher";
  for (const Gate& gate : kGates) {
    if (!applies(gate, opcode, form)) continue;
    std::string what(opcode);
    if (!gate.qualifier.empty()) what.append(" .").append(gate.qualifier);
    if (sm != 0 && sm < gate.sm)
      return "'" + what + "' in this form needs .target sm_" + std::to_string(gate.sm) +
             " or higher, the module says " + module.target;
    if (version != 0 && version < gate.version)
      return "'" + what + "' in this form needs .version " + std::to_string(gate.version / 10) +
             "." + std::to_string(gate.version % 10) + " or higher";
  }
  return {};
}

}  // namespace lanewise::ptx
