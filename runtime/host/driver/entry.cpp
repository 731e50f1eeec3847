// Errors of the driver, and what every call of it needs.
#include "runtime/host/driver/entry.hpp"

#include <dlfcn.h>

#include <string_view>

#include "runtime/host/core/api_watch.hpp"

namespace lanewise::driver {
namespace {

struct Row {
  int number;
  const char* name;
  const char* text;
};
constexpr Row kRows[] = {
#define ERROR(number, name, text) {number, #name, text},
#include "runtime/host/driver/errors.def"
#undef ERROR
};

const Row* row_of(int number) {
  for (const Row& row : kRows)
    if (row.number == number) return &row;
  return nullptr;
}

int give(const char** out, int number, const char* Row::*what) {
  const Row* row = row_of(number);
  if (out == nullptr) return number_of(Code::invalid_value);
  *out = row != nullptr ? row->*what : nullptr;
  return row != nullptr ? 0 : number_of(Code::invalid_value);
}

bool is_of_nvrtc(const void* code) {
  Dl_info found;
  return dladdr(code, &found) != 0 && found.dli_fname != nullptr &&
         std::string_view(found.dli_fname).find("libnvrtc") != std::string_view::npos;
}

}  // namespace

int number_of_runtime(int number) {
  constexpr int kInvalidValue = 1, kNotFound = 500, kInvalidHandle = 400;
  switch (number) {
    case 9:   // invalid configuration
    case 12:  // invalid pitch
    case 21:  // invalid copy direction
      return kInvalidValue;
    case 13:  // invalid symbol
      return kNotFound;
    case 98:  // invalid device function
      return kInvalidHandle;
    default:
      return number;
  }
}

int number_of(Code code) {
  return number_of_runtime(cuda::number_of(code));
}

int refuse(cuda::Once& once, const char* name, const char* why, const void* caller) {
  if (!is_of_nvrtc(caller) && !once.done.exchange(true))
    report_line(std::string(name) + " is not supported: " + why);
  return number_of(Code::not_supported);
}

int failed_with(int number, const char* call) {
  const Row* row = row_of(number);
  if (number != number_of(Code::not_ready))
    note_failed_call(call, row != nullptr ? row->name : "an unknown error");
  return number;
}

void check_needs(Needs needs) {
  if (needs == Needs::nothing) return;
  require(is_initialised(), Code::not_initialised);
  if (needs == Needs::device) return;
  require(current_context() != nullptr, Code::invalid_context);
  if (const Context* context = Context::opened();
      context != nullptr && context->failure() != Code::success)
    fail(context->failure());
}

KeepsLastError::KeepsLastError()
    : last_(cuda::last_error()),
      used_(cuda::used_runtime()),
      thread_used_(cuda::thread_used_runtime()) {}
KeepsLastError::~KeepsLastError() {
  cuda::last_error() = last_;
  cuda::used_runtime() = used_;
  cuda::thread_used_runtime() = thread_used_;
}

}  // namespace lanewise::driver

using namespace lanewise::driver;

ENTRY(cuGetErrorName, (int error, const char** out)) {
  if (error != 0) note_errors_seen();
  return give(out, error, &Row::name);
}
ENTRY(cuGetErrorString, (int error, const char** out)) {
  if (error != 0) note_errors_seen();
  return give(out, error, &Row::text);
}
