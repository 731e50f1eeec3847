#include "runtime/host/core/api_watch.hpp"

#include <map>
#include <mutex>
#include <thread>

#include "runtime/host/core/context.hpp"

namespace lanewise::core {
namespace {

struct Failed {
  std::map<std::string, uint64_t> unseen;  ///< "cudaMemcpy failed with ...": how often
};
std::mutex the_mutex;
std::map<std::thread::id, Failed>& failed() {
  static auto* const all = new std::map<std::thread::id, Failed>;  // asked when the program ends
  return *all;
}

bool watched() {
  const Context* context = Context::opened();
  return context != nullptr && context->settings().api;
}

/// Without what the library puts before names that differ between versions.
std::string plain(const std::string& name) {
  const size_t at = name.find("_cu");
  return name.starts_with("lanewise_") && at != std::string::npos ? name.substr(at + 1) : name;
}

}  // namespace

void note_failed_call(const char* name, const std::string& error) {
  if (!watched()) return;
  const std::lock_guard lock(the_mutex);
  ++failed()[std::this_thread::get_id()].unseen[plain(name) + " " + error];
}

void note_errors_seen() {
  if (!watched()) return;
  const std::lock_guard lock(the_mutex);
  failed().erase(std::this_thread::get_id());
}

void note_misuse(const std::string& what) {
  if (!watched()) return;
  Context::opened()->add_finding("api-misuse", "host program", what);
}

void report_failed_calls() {
  if (!watched()) return;
  const std::lock_guard lock(the_mutex);
  for (const auto& [thread, of] : failed())
    for (const auto& [text, times] : of.unseen) {
      const size_t space = text.find(' ');
      const std::string call = text.substr(0, space), error = text.substr(space + 1);
      Context::opened()->add_finding(
          "api-unchecked", call,
          call + " failed with " + error +
              (times > 1 ? ", " + std::to_string(times) + " times" : std::string()) +
              "; the program asked neither for its last error nor for the error's text");
    }
  failed().clear();
}

}  // namespace lanewise::core
