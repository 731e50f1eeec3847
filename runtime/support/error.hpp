// The runtime throws and reports what the public API declares.
#pragma once

#include "lanewise/error.hpp"
