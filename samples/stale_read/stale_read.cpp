// A load that returns an old value, and the instruction that fixes it. Group 0 of a Maxwell kernel
// reads a word on SM 0, group 1 writes it on SM 1, group 5 reads it on SM 0 again. The L1 caches of
// the SMs do not know of each other, so group 5 finds the old value in SM 0's L1, unless it throws
// the line out first.
//   stale_read
#include <lanewise/lanewise.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

constexpr uint32_t kOld = 10, kNew = 0x77;

/// c[0x0][0x140] is the flag, c[0x0][0x148] where each group writes what it read.
const char* const kText = R"(
stale:
S2R R4, SR_CTAID.X ;
MOV R2, c[0x0][0x140] ;
MOV R3, c[0x0][0x144] ;
SHL R8, R4, 0x2 ;
IADD R6.CC, R8, c[0x0][0x148] ;
IADD.X R7, RZ, c[0x0][0x14c] ;
MOV32I R5, 0x77 ;
ISETP.EQ.U32.AND P0, PT, R4, 0x1, PT ;
ISETP.EQ.U32.AND P1, PT, R4, 0x5, PT ;
@P1 CURE ;
LDG.E R0, [R2] ;
@P0 STG.E [R2], R5 ;
STG.E [R6], R0 ;
EXIT ;
)";

void must(lw_status status) {
  if (status == LW_OK) return;
  std::fprintf(stderr, "stale_read: %s\n", lw_last_error());
  std::exit(status);
}

struct Seen {
  uint32_t value = 0;   ///< what group 5 read
  std::string finding;  ///< the tracker's word on it, empty when it has none
};

/// The lines of the report about rule H1, "stale read".
std::string finding_in(const std::string& report) {
  const size_t begin = report.find("H1 ");
  if (begin == std::string::npos) return {};
  size_t end = begin;
  for (int line = 0; line < 4 && end != std::string::npos; ++line) end = report.find('\n', end + 1);
  return report.substr(begin, end == std::string::npos ? end : end + 1 - begin);
}

Seen run(const std::string& cure) {
  std::string text = kText;
  text.replace(text.find("CURE"), 4, cure);
  lw_device* device = nullptr;
  lw_module* module = nullptr;
  lw_kernel* kernel = nullptr;
  lw_buffer *flag = nullptr, *read = nullptr;
  lw_cache* cache = nullptr;
  lw_blob* report = nullptr;
  // Loads that return what the modelled caches hold are the reference engine's alone.
  must(lw_device_open("reference", &device));
  lw_module_options sass = LW_MODULE_OPTIONS_INIT;
  sass.isa = "sass";
  sass.target = "sm_50";
  must(lw_module_load_memory(device, text.data(), text.size(), &sass, &module));
  must(lw_kernel_get(module, nullptr, &kernel));
  must(lw_buffer_create(device, 4, "flag", &flag));
  must(lw_buffer_create(device, 4 * 6, "read", &read));
  must(lw_buffer_write(flag, 0, &kOld, sizeof kOld));
  lw_cache_options follow = LW_CACHE_OPTIONS_INIT;
  follow.presets = "sm50-spec";
  follow.flags = LW_CACHE_EXACT;
  must(lw_cache_start(device, &follow, &cache));

  lw_launch_options options = LW_LAUNCH_OPTIONS_INIT;
  options.grid[0] = 6;
  options.block[0] = 1;
  const lw_arg args[] = {lw_arg_buffer(flag), lw_arg_buffer(read)};
  must(lw_kernel_launch(kernel, &options, args, 2, nullptr));

  Seen seen;
  must(lw_buffer_read(read, 5 * 4, &seen.value, sizeof seen.value));
  must(lw_cache_report(cache, "txt", &report));
  seen.finding = finding_in(static_cast<const char*>(lw_blob_data(report)));
  lw_blob_release(report);
  lw_cache_release(cache);
  lw_buffer_release(read);
  lw_buffer_release(flag);
  lw_kernel_release(kernel);
  lw_module_release(module);
  lw_device_release(device);
  return seen;
}

}  // namespace

int main() {
  bool right = true;
  for (const bool cured : {false, true}) {
    const std::string cure = cured ? "CCTL.E.IV [R2]" : "NOP";
    const Seen seen = run(cure);
    std::printf("%-14s in front of the load: group 5 reads %#x, which is %s\n", cure.c_str(),
                seen.value, seen.value == kNew ? "new" : "OLD");
    std::printf("%s", seen.finding.c_str());
    right = right && seen.value == (cured ? kNew : kOld) && seen.finding.empty() == cured;
  }
  return right ? 0 : 1;
}
