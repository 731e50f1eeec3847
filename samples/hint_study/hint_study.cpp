// What does a cache hint on a store do? Eight work-groups read a table again and again and write
// results that nobody reads. The same kernel runs with four kinds of store on a modelled GPU, and
// the tracker says how often the table had to come from memory.
//   hint_study PRESET.json
#include <lanewise/lanewise.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr unsigned kGroups = 8, kThreads = 256, kRounds = 80;
constexpr uint64_t kTable =
    4 * kThreads * kRounds;  // bytes; so many are written by each group, too

/// The kernel, with a place for the store.
const char* const kText = R"(.version 7.8
.target sm_80
.address_size 64
.visible .entry stream(.param .u64 table, .param .u64 out)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<8>;
  .reg .f32 %f1;
  .reg .pred %p1;
  ld.param.u64 %rd1, [table];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd3, %r1, 81920;
  add.u64 %rd2, %rd2, %rd3;
  mov.u32 %r3, 0;
again:
  mul.wide.u32 %rd4, %r2, 4;
  add.u64 %rd5, %rd1, %rd4;
  ld.global.f32 %f1, [%rd5];
  add.u64 %rd6, %rd2, %rd4;
  STORE [%rd6], %f1;
  add.u32 %r2, %r2, 256;
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p1, %r3, 80;
  @%p1 bra again;
  ret;
}
)";
static_assert(kTable == 81920, "the kernel's text has this number");

void must(lw_status status) {
  if (status == LW_OK) return;
  std::fprintf(stderr, "hint_study: %s\n", lw_last_error());
  std::exit(status);
}

/// The tracker's report as CSV: preset, scope, place, instruction, counter, value.
std::string report_of(const std::string& store, const char* preset) {
  std::string text = kText;
  text.replace(text.find("STORE"), 5, store);
  lw_device* device = nullptr;
  lw_module* module = nullptr;
  lw_kernel* kernel = nullptr;
  lw_buffer *table = nullptr, *out = nullptr;
  lw_cache* cache = nullptr;
  lw_blob* report = nullptr;
  must(lw_device_open(nullptr, &device));
  must(lw_module_load_memory(device, text.data(), text.size(), nullptr, &module));
  must(lw_kernel_get(module, "stream", &kernel));
  must(lw_buffer_create(device, kTable, "table", &table));
  must(lw_buffer_create(device, kTable * kGroups, "out", &out));
  lw_cache_options follow = LW_CACHE_OPTIONS_INIT;
  follow.presets = preset;
  must(lw_cache_start(device, &follow, &cache));

  lw_launch_options options = LW_LAUNCH_OPTIONS_INIT;
  options.grid[0] = kGroups;
  options.block[0] = kThreads;
  const lw_arg args[] = {lw_arg_buffer(table), lw_arg_buffer(out)};
  must(lw_kernel_launch(kernel, &options, args, 2, nullptr));

  must(lw_cache_report(cache, "csv", &report));
  std::string csv(static_cast<const char*>(lw_blob_data(report)), lw_blob_size(report));
  lw_blob_release(report);
  lw_cache_release(cache);
  lw_buffer_release(out);
  lw_buffer_release(table);
  lw_kernel_release(kernel);
  lw_module_release(module);
  lw_device_release(device);
  return csv;
}

/// A counter over all instructions.
unsigned long long total(const std::string& csv, const std::string& counter) {
  const std::string begin = ",total,,," + counter + ",";
  const size_t at = csv.find(begin);
  if (at == std::string::npos) {
    std::fprintf(stderr, "hint_study: the report has no %s\n", counter.c_str());
    std::exit(1);
  }
  return std::strtoull(csv.c_str() + at + begin.size(), nullptr, 10);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string preset =
      std::string("file:") + (argc > 1 ? argv[1] : "samples/hint_study/small_gpu.json");
  std::printf("%-32s  L2 sectors read: %10s %10s   lines written back\n", "store", "hits",
              "misses");
  std::vector<unsigned long long> misses;
  for (const char* store : {"st.global.f32", "st.global.cs.f32", "st.global.L1::evict_first.f32",
                            "st.global.L1::no_allocate.f32"}) {
    const std::string csv = report_of(store, preset.c_str());
    misses.push_back(total(csv, "lts__t_sectors_op_read_lookup_miss.sum"));
    std::printf("%-32s                   %10llu %10llu   %18llu\n", store,
                total(csv, "lts__t_sectors_op_read_lookup_hit.sum"), misses.back(),
                total(csv, "l2_lines_written_back"));
  }
  // Streaming stores leave the table in L2; a hint for L1 alone changes nothing there.
  const bool right = 4 * misses[1] < misses[0] && misses[2] == misses[1] && misses[3] == misses[0];
  return right ? 0 : 1;
}
