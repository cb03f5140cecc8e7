// SPDX-License-Identifier: Apache-2.0
// All headers may be included in two units of one program.
#include <laconic/laconic.hpp>
