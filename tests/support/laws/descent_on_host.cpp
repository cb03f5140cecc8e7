// SPDX-License-Identifier: Apache-2.0
// The runs of descent_on.hpp on the host, against which every other backend's are held.
#include "laconic/backend/host.hpp"
#include "support/laws/descent_on.hpp"

std::map<std::string, std::vector<double>> laws::each_run_on_the_host() { return each_run<laconic::host>(); }
laws::states laws::saved_on_the_host_after(std::uint64_t rounds, states const& from) {
    return saved_after<laconic::host>(rounds, from);
}
