// SPDX-License-Identifier: Apache-2.0
// Compiles the loop that most methods share.
#include "trial.hpp"

namespace convergence {

template void run(std::vector<common> const&, toy const&, std::uint64_t, course&, nothing_more);

}  // namespace convergence
