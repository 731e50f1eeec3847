// What nearly every test includes, for builds with LANEWISE_BATCH.
#pragma once

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <random>
#include <sstream>

#include "runtime/support/precompiled.hpp"
