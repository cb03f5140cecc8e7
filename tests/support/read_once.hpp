// SPDX-License-Identifier: Apache-2.0
//
// What most tests include, read once: headers of others alone, so that no header of the library leans on another one of
// it. cmake/check_layers.cmake finds those that lean on these.
#pragma once

#include <doctest/doctest.h>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <vector>
#include <xsimd/xsimd.hpp>
