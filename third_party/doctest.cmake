# doctest, unit tests. Debian: doctest-dev.
find_package(doctest CONFIG REQUIRED)
