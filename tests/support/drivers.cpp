#include "tests/support/drivers.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace lanewise::test {
namespace {

namespace fs = std::filesystem;

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != 0 && *value != '0';
}

/// The first file in a directory whose name starts like this.
std::string find_file(const fs::path& directory, const std::string& prefix) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && name.ends_with(".json")) return entry.path().string();
  }
  return {};
}

std::string first_found(const std::vector<fs::path>& directories, const std::string& prefix) {
  for (const auto& directory : directories) {
    if (auto found = find_file(directory, prefix); !found.empty()) return found;
  }
  return {};
}

/// The newer Mesa of tests/support/fetch_mesa.sh; its version is part of the driver's name.
SoftwareDriver fetched_lavapipe() {
  SoftwareDriver driver{"lavapipe25", "llvmpipe Mesa ", "", 2, true};
  const fs::path folder = LANEWISE_MESA_FOLDER;
  std::string version;
  if (!(std::ifstream(folder / "version") >> version)) return driver;
  driver.part += version;
  driver.json = find_file(folder, "lvp_icd");
  return driver;
}

std::vector<SoftwareDriver> find_drivers() {
  const std::vector<fs::path> places = {"/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d",
                                        "/etc/vulkan/icd.d", "/usr/lib/chromium"};
  std::vector<SoftwareDriver> drivers = {
      {"lavapipe", "llvmpipe", first_found(places, "lvp_icd"), 0},
      {"swiftshader", "SwiftShader", first_found(places, "vk_swiftshader_icd"), 1}};
  if (is_set("LANEWISE_TEST_SYSTEM_DRIVERS")) return drivers;
  drivers.push_back(fetched_lavapipe());
  std::string list;
  for (const auto& driver : drivers) {
    if (!driver.json.empty()) list += (list.empty() ? "" : ":") + driver.json;
  }
  // The older name is for loaders before 1.3.207.
  ::setenv("VK_DRIVER_FILES", list.c_str(), 1);
  ::setenv("VK_ICD_FILENAMES", list.c_str(), 1);
  return drivers;
}

struct Scratch {
  std::vector<fs::path> made;
  ~Scratch() {
    std::error_code error;
    for (const auto& path : made) fs::remove_all(path, error);
  }
};

}  // namespace

const std::vector<SoftwareDriver>& software_drivers() {
  static const std::vector<SoftwareDriver> drivers = find_drivers();
  return drivers;
}

bool names_software_drivers(std::string_view device) {
  return device == "all" || device == "lavapipe" || device == "lavapipe25" ||
         device == "swiftshader";
}

bool missing_devices_allowed() {
  return is_set("LANEWISE_ALLOW_MISSING_DEVICES");
}

std::string scratch_directory(const std::string& name) {
  static Scratch scratch;
  static unsigned counter = 0;
  const fs::path path =
      fs::temp_directory_path() / ("lanewise-test-" + name + "-" + std::to_string(::getpid()) +
                                   "-" + std::to_string(counter++));
  fs::create_directories(path);
  scratch.made.push_back(path);
  return path.string();
}

}  // namespace lanewise::test
