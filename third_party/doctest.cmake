# doctest, unit tests. Debian: doctest-dev.
find_package(doctest CONFIG REQUIRED)
# An assertion is one call, not a stretch of code with a try block: test programs compile in a fraction of the time. An
# exception inside one ends its test case, which fails.
target_compile_definitions(doctest::doctest INTERFACE DOCTEST_CONFIG_SUPER_FAST_ASSERTS)
