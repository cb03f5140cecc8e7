// SPDX-License-Identifier: Apache-2.0
//
// What most tests include, read once: headers of others alone, so that no header of the library leans on another one of
// it. cmake/check_layers.cmake finds those that lean on these.
#pragma once

#include <Eigen/Core>
#include <xsimd/xsimd.hpp>

#include "support/test.hpp"
