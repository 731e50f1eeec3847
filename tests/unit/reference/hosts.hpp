// Every kind of host whose handlers this one can run.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "runtime/reference/lanes/handlers.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::test {

class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

template <typename Check>
void on_every_host(Check check) {
  for (const char* host : {"portable", "avx2", "avx512"}) {
    const Variable lanes("LANEWISE_LANES", host);
    CAPTURE(std::string(host));
    try {
      reference::host_finder();
    } catch (const Error&) {
      // This host is none of that kind, or the build has portable ones alone.
      CHECK(host != std::string_view("portable"));
      continue;
    }
    check();
  }
}

}  // namespace lanewise::test
