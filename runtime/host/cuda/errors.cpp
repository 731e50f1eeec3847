// Errors: their numbers, names and texts, and each thread's last one.
#include <cstring>

#include "runtime/host/core/api_watch.hpp"
#include "runtime/host/cuda/entry.hpp"

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

const Row* row_of(int number) {
  for (const Row& row : kRows)
    if (row.number == number) return &row;
  return nullptr;
}

}  // namespace

int number_of(Code code) {
  switch (code) {
    case Code::success:
      return 0;
    case Code::invalid_value:
      return 1;
    case Code::out_of_memory:
      return 2;
    case Code::not_initialised:
      return 3;
    case Code::invalid_configuration:
      return 9;
    case Code::invalid_pitch:
      return 12;
    case Code::invalid_symbol:
      return 13;
    case Code::invalid_texture:
      return 18;
    case Code::invalid_channels:
      return 20;
    case Code::invalid_copy_kind:
      return 21;
    case Code::invalid_device_function:
      return 98;
    case Code::no_device:
      return 100;
    case Code::peer_enabled:
      return 704;
    case Code::peer_not_enabled:
      return 705;
    case Code::invalid_device:
      return 101;
    case Code::invalid_image:
      return 200;
    case Code::invalid_context:
      return 201;
    case Code::no_binary:
      return 209;
    case Code::invalid_program:
      return 218;
    case Code::file_not_found:
      return 301;
    case Code::invalid_handle:
      return 400;
    case Code::not_found:
      return 500;
    case Code::not_ready:
      return 600;
    case Code::illegal_address:
      return 700;
    case Code::launch_out_of_resources:
      return 701;
    case Code::timeout:
      return 702;
    case Code::assertion:
      return 710;
    case Code::already_registered:
      return 712;
    case Code::not_registered:
      return 713;
    case Code::hardware_stack:
      return 714;
    case Code::illegal_instruction:
      return 715;
    case Code::misaligned_address:
      return 716;
    case Code::launch_failure:
      return 719;
    case Code::cooperative_too_large:
      return 720;
    case Code::not_permitted:
      return 800;
    case Code::not_supported:
      return 801;
    case Code::capture_unsupported:
      return 900;
    case Code::capture_invalidated:
      return 901;
    case Code::capture_unmatched:
      return 903;
    case Code::capture_unjoined:
      return 904;
    case Code::capture_isolation:
      return 905;
    case Code::capture_implicit:
      return 906;
    case Code::captured_event:
      return 907;
    case Code::capture_wrong_thread:
      return 908;
    case Code::graph_update_failure:
      return 910;
    case Code::unknown:
      break;
  }
  return 999;
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
