// SPDX-License-Identifier: Apache-2.0
// The families of methods, in the order of the table.
#include "line.hpp"

namespace convergence {

namespace {

template <auto first, auto second>
std::vector<line> joined(options const& o) {
    auto all = first(o);
    for (auto& l : second(o)) all.push_back(l);
    return all;
}

}  // namespace

std::vector<family> const& families() {
    static std::vector<family> const all = {
        {"dcgd", "unbiased compression without shifts", dcgd_lines},
        {"diana", "unbiased compression with shifts", diana_lines},
        {"shifts", "local steps with shifts, and differences of gradients", shift_lines},
        {"ef_sgd", "contractive compression with error feedback", ef_sgd_lines},
        {"ef21", "contractive compression of differences", ef21_lines},
        {"cat", "the level chosen for the cost of the message", cat_lines},
        {"vr_diana", "DIANA with rows drawn and variance reduced", vr_diana_lines},
        {"blocks", "the 99 % family", joined<block_lines, block_step_lines>},
        {"gd_sec", "coordinates that moved little stay unsent", gd_sec_lines},
        {"lag", "gradients that changed little stay unsent", lag_lines},
        {"collectives", "sums sent in part, with error feedback of what is left out", collective_lines},
        {"decentralized", "ADMM and gossip among neighbours", joined<admm_lines, gossip_lines>},
        {"vertical", "parties with other features", vertical_lines},
        {"second_order", "Newton steps by what is learned of the Hessian", joined<ds_lsr1_lines, fednl_lines>},
        {"ensemble", "networks whose weights minimise F", ensemble_lines},
        {"lossy", "gTop-k as published, which loses terms: it breaks", lossy_lines, true},
    };
    return all;
}

}  // namespace convergence
