// SPDX-License-Identifier: Apache-2.0
// Another unit of the program.
#include <laconic/laconic.hpp>
