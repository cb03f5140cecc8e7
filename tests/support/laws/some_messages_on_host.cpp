// SPDX-License-Identifier: Apache-2.0
// The messages of some_messages.hpp on the host, against which every other backend's are held.
#include "laconic/backend/host.hpp"
#include "support/laws/some_messages.hpp"

laws::messages_by_name laws::some_messages_on_the_host() { return some_messages<laconic::host>(); }
