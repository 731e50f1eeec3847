# {fmt}, text formatting. Debian: libfmt-dev.
find_package(fmt CONFIG REQUIRED)
