# CLI11, command line parser. Debian: libcli11-dev.
find_package(CLI11 CONFIG REQUIRED)
