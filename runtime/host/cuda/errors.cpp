// Errors: their numbers, names and texts, and each thread's last one.
#include <cstring>

#include "runtime/host/core/api_watch.hpp"
#include "runtime/host/cuda/entry.hpp"
#include "runtime/support/beside.hpp"

namespace lanewise::cuda {
namespace {

thread_local int the_last_error = 0;

struct Row {
  int number;
  const char* name;
  const char* text;
};
constexpr Row kRows[] = {
#define ERROR(number, name, text) {number, #name, text},
#include "runtime/host/cuda/errors.def"
#undef ERROR
};
constexpr const char* kUnknown = "unrecognized error code";

/// Of each code but `unknown`.
constexpr std::pair<Code, int> kNumbers[] = {
    {Code::success, 0},
    {Code::invalid_value, 1},
    {Code::out_of_memory, 2},
    {Code::not_initialised, 3},
    {Code::invalid_configuration, 9},
    {Code::invalid_pitch, 12},
    {Code::invalid_symbol, 13},
    {Code::invalid_texture, 18},
    {Code::invalid_channels, 20},
    {Code::invalid_copy_kind, 21},
    {Code::invalid_device_function, 98},
    {Code::no_device, 100},
    {Code::invalid_device, 101},
    {Code::invalid_image, 200},
    {Code::invalid_context, 201},
    {Code::no_binary, 209},
    {Code::invalid_program, 218},
    {Code::file_not_found, 301},
    {Code::invalid_handle, 400},
    {Code::not_found, 500},
    {Code::not_ready, 600},
    {Code::illegal_address, 700},
    {Code::launch_out_of_resources, 701},
    {Code::timeout, 702},
    {Code::peer_enabled, 704},
    {Code::peer_not_enabled, 705},
    {Code::assertion, 710},
    {Code::already_registered, 712},
    {Code::not_registered, 713},
    {Code::hardware_stack, 714},
    {Code::illegal_instruction, 715},
    {Code::misaligned_address, 716},
    {Code::launch_failure, 719},
    {Code::cooperative_too_large, 720},
    {Code::not_permitted, 800},
    {Code::not_supported, 801},
    {Code::capture_unsupported, 900},
    {Code::capture_invalidated, 901},
    {Code::capture_unmatched, 903},
    {Code::capture_unjoined, 904},
    {Code::capture_isolation, 905},
    {Code::capture_implicit, 906},
    {Code::captured_event, 907},
    {Code::capture_wrong_thread, 908},
    {Code::graph_update_failure, 910},
};
static_assert(std::size(kNumbers) == static_cast<size_t>(Code::unknown));
constexpr int kUnknownNumber = 999;

const Row* row_of(int number) {
  for (const Row& row : kRows)
    if (row.number == number) return &row;
  return nullptr;
}

}  // namespace

int number_of(Code code) {
  return beside(kNumbers, code, kUnknownNumber);
}

bool& thread_used_runtime() {
  thread_local bool used = false;
  return used;
}
std::atomic<bool>& used_runtime() {
  static std::atomic<bool> used = false;
  return used;
}

int& last_error() {
  return the_last_error;
}

const char* name_of(int number) {
  const Row* row = row_of(number);
  return row != nullptr ? row->name : kUnknown;
}

int keep_error(int number, const char* call) {
  if (number != 0) the_last_error = number;
  // What a query answers is no failure.
  if (number != 0 && number != number_of(Code::not_ready)) note_failed_call(call, name_of(number));
  return number;
}

int refuse(Once& once, const char* name, const char* why) {
  if (!once.done.exchange(true)) report_line(std::string(name) + " is not supported: " + why);
  return keep_error(number_of(Code::not_supported), name);
}

}  // namespace lanewise::cuda

using namespace lanewise::cuda;

/// What a kernel did stays the last error.
ENTRY(cudaGetLastError, ()) {
  note_errors_seen();
  const Context* context = Context::opened();
  const int last = the_last_error;
  the_last_error =
      context != nullptr && context->failure() != Code::success ? number_of(context->failure()) : 0;
  return last;
}
ENTRY(cudaPeekAtLastError, ()) {
  note_errors_seen();
  return the_last_error;
}
LANEWISE_ENTRY const char* cudaGetErrorString(int error) {
  if (error != 0) note_errors_seen();
  const Row* row = row_of(error);
  return row != nullptr ? row->text : kUnknown;
}
LANEWISE_ENTRY const char* cudaGetErrorName(int error) {
  if (error != 0) note_errors_seen();
  return lanewise::cuda::name_of(error);
}
