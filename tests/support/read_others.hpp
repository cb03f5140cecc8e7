// SPDX-License-Identifier: Apache-2.0
//
// The headers of others that most sources include, read once. No header of the library is among them, so that none leans on
// another one; cmake/check_layers.cmake finds those that lean on these.
#pragma once

#include <Eigen/Core>
#include <xsimd/xsimd.hpp>

#include "support/test.hpp"
