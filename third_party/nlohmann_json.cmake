# JSON for Modern C++. Debian: nlohmann-json3-dev.
find_package(nlohmann_json CONFIG REQUIRED)
