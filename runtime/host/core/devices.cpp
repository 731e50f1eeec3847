#include "runtime/host/core/devices.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "runtime/host/core/context.hpp"
#include "runtime/host/core/gpu_table.hpp"

namespace lanewise::core {
namespace {

thread_local int the_device = 0;

std::string uuid_of_gpu(int gpu) {
  std::string bytes("lanewise-device");
  bytes.push_back(static_cast<char>(gpu));
  return bytes;
}

/// "GPU-6c616e65-7769-7365-2d64-657669636500", as nvidia-smi prints it.
std::string uuid_text(int gpu) {
  std::string text = "GPU-";
  int n = 0;
  for (const char byte : uuid_of_gpu(gpu)) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(byte));
    text += digits;
    if (++n == 4 || n == 6 || n == 8 || n == 10) text += '-';
  }
  return text;
}

bool is_number(const std::string& text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// -1 for none: a number that there is, or so much of a UUID that only one of them has it.
int visible_gpu(const std::string& text, const std::vector<int>& gpus) {
  if (is_number(text)) {
    const unsigned long n = std::strtoul(text.c_str(), nullptr, 10);
    return n < gpus.size() ? gpus[n] : -1;
  }
  int found = -1;
  for (const int gpu : gpus) {
    if (!text.starts_with("GPU-") || !uuid_text(gpu).starts_with(text)) continue;
    if (found >= 0) return -1;
    found = gpu;
  }
  return found;
}

std::vector<std::string> items(const std::string& list) {
  std::vector<std::string> all;
  for (size_t at = 0; at <= list.size();) {
    const size_t comma = std::min(list.find(',', at), list.size());
    std::string item = list.substr(at, comma - at);
    std::erase_if(item, [](unsigned char c) { return std::isspace(c) != 0; });
    all.push_back(item);
    at = comma + 1;
  }
  return all;
}

int gpu_index(int device) {
  return Context::current().visible()[static_cast<size_t>(device)];
}

}  // namespace

std::vector<int> visible_devices(const std::string& gpus, const std::vector<std::string>& lists) {
  std::vector<int> left(gpu_count(gpus));
  std::iota(left.begin(), left.end(), 0);
  for (const std::string& list : lists) {
    std::vector<int> chosen;
    for (const std::string& item : items(list)) {
      const int gpu = visible_gpu(item, left);
      if (gpu < 0 || std::ranges::find(chosen, gpu) != chosen.end()) break;
      chosen.push_back(gpu);
    }
    left = chosen;
  }
  return left;
}

int device_count() {
  return static_cast<int>(Context::current().visible().size());
}

void check_device(int device) {
  require(device >= 0 && device < device_count(), Code::invalid_device);
}

int current_device() {
  return the_device;
}

void set_current_device(int device) {
  the_device = device;
}

std::string uuid_of(int device) {
  return uuid_of_gpu(gpu_index(device));
}

int bus_of(int device) {
  return gpu_index(device) + 1;
}

std::string bus_name(int device) {
  char text[16];
  std::snprintf(text, sizeof text, "0000:%02x:00.0", static_cast<unsigned>(bus_of(device)));
  return text;
}

/// With or without the function's number.
int device_at_bus(const char* name) {
  for (int device = 0; device < device_count(); ++device) {
    const std::string text = bus_name(device);
    if (std::strncmp(name, text.c_str(), text.size() - 2) == 0) return device;
  }
  fail(Code::invalid_device);
}

}  // namespace lanewise::core
