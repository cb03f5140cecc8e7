// SPDX-License-Identifier: Apache-2.0
// own_loop over nodes of MPI ranks, with a checkpoint from which another number of nodes may go on.
//
//     mpirun -n 4 own_loop_mpi 2 saved          # two nodes of 2 ranks train; this file gets network and states
//     mpirun -n 6 own_loop_mpi 2 again saved    # three nodes go on from there
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "laconic/comm/mpi.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/hierarchy.hpp"
#include "laconic/reducer.hpp"
#include "own/network.hpp"

namespace {

using bytes = std::vector<std::byte>;
constexpr int steps = 1500, all_points = 1024;

// The network and all ranks' states, each after its length; only rank 0 has them all, and writes.
void write(std::string const& path, laconic::mpi::member& comm, own::network const& net, bytes const& state) {
    comm.gather(0, {state});
    if (comm.rank() != 0) return;
    std::ofstream file(path, std::ios::binary);
    auto const put = [&](auto const& x) {
        std::uint64_t const n = x.size() * sizeof(x[0]);
        file.write(reinterpret_cast<char const*>(&n), sizeof n);
        file.write(reinterpret_cast<char const*>(x.data()), std::streamsize(n));
    };
    put(net.first), put(net.second);
    for (int r = 0; r < comm.size(); ++r) put(comm.from(r).bytes);
    if (!file.flush()) throw laconic::file_error(path, 0, 0, "cannot be written");
}
// On every rank; the states, in the order of those ranks that saved them.
std::vector<bytes> read(std::string const& path, own::network& net) {
    std::ifstream file(path, std::ios::binary);
    std::vector<bytes> all;
    for (std::uint64_t n = 0; file.read(reinterpret_cast<char*>(&n), sizeof n);) {
        auto& one = all.emplace_back(n);
        file.read(reinterpret_cast<char*>(one.data()), std::streamsize(n));
    }
    if (all.size() < 3 || all[0].size() != 4 * net.first.size() || all[1].size() != 4 * net.second.size())
        throw laconic::file_error(path, 0, 0, "no checkpoint of own_loop_mpi");
    std::memcpy(net.first.data(), all[0].data(), all[0].size());
    std::memcpy(net.second.data(), all[1].data(), all[1].size());
    return {all.begin() + 2, all.end()};
}

double train(laconic::mpi::member& comm, int per_node, std::string const& to, std::string const& from) {
    auto inside = comm.split(comm.rank() / per_node, 0), across = comm.split(comm.rank() % per_node, 0);
    std::vector<own::point> mine;
    for (int i = comm.rank(); i < all_points; i += comm.size())
        mine.push_back(own::points_of(i / int(own::points))[std::size_t(i) % own::points]);
    own::network net = own::fresh(), gradient;
    laconic::reducer reduce(laconic::error_feedback{laconic::top_k{0.02}}, laconic::hierarchy{inside, across},
                            {{"first", net.first.size()}, {"second", net.second.size()}});
    if (!from.empty()) {
        auto const all = read(from, net);
        reduce.restore(all);
        if (comm.rank() == 0) std::printf("from step %d of %d ranks\n", int(reduce.steps()), int(all.size()));
    }
    int right = 0;
    for (int k = 0; k < steps; ++k) {
        gradient = {};
        for (std::size_t i = 0; i < own::batch; ++i)
            own::backward(net, mine[(reduce.steps() * own::batch + i) % mine.size()], gradient, right);
        reduce.start(1, gradient.second), reduce.start(0, gradient.first);
        reduce.finish();
        own::step(net, gradient);
    }
    auto const did = reduce.statistics();
    write(to, comm, net, reduce.save());
    std::vector<float> of_all(2);  // this rank's share of the loss and of what is classified right
    right = 0;
    for (auto const& p : mine) of_all[0] += own::backward(net, p, gradient, right) * float(comm.size()) / all_points;
    of_all[1] = float(right * comm.size()) / all_points;
    laconic::reducer(laconic::plain{}, comm, of_all)(of_all);
    if (comm.rank() == 0)
        std::printf("%d ranks, step %d: %.1f bytes a step, %.1f in a node, loss %.3f, accuracy %.3f\n", comm.size(),
                    int(reduce.steps()), double(did.bytes_sent) / steps, double(did.bytes_inside) / steps, of_all[0],
                    of_all[1]);
    return of_all[1];
}

}  // namespace

int main(int argc, char** argv) {
    bool good = false;
    laconic::mpi::run(argc, argv, [&](laconic::mpi::member& comm) {
        if (argc < 3 || std::atoi(argv[1]) < 1) throw laconic::argument_error("usage: own_loop_mpi N TO [FROM]");
        good = train(comm, std::atoi(argv[1]), argv[2], argc > 3 ? argv[3] : "") > 0.9;
    });
    return good ? 0 : 1;
}
