// SPDX-License-Identifier: Apache-2.0
//
// What a test includes beside the header that it tests: the library as a whole, the test framework, and common headers
// of others. The test programs are compiled behind it, within the library's namespaces.
#pragma once

#include "common/eigen_solvers.hpp"
#include "laconic/all.hpp"
#include "support/read_others.hpp"

using namespace laconic;
using namespace laconic::messages;
using namespace laconic::wire;
