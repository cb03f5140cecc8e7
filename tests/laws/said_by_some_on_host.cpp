// SPDX-License-Identifier: Apache-2.0
// The messages of said_by_some.hpp on the host, against which every other backend's are held.
#include "laconic/backend/host.hpp"
#include "laws/said_by_some.hpp"

laws::what_is_said laws::said_by_some_on_the_host() { return said_by_some<laconic::host>(); }
