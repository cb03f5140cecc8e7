// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace laconic {

/// Plain loops, one a kernel, each the shortest that says what its result is: the definition that the other backends
/// are tested against. Slow, and allocates as it likes. Each kernel's contract stands at its host form.
struct reference {
    template <class T>
    using array = std::vector<T>;
};

}  // namespace laconic
