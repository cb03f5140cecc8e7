// SPDX-License-Identifier: Apache-2.0
// Another unit of the program, which includes what main.cpp includes: nothing may be defined twice.
#include <laconic/laconic.hpp>
