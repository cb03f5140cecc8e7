// SPDX-License-Identifier: Apache-2.0
// A collective of your own: how the vectors of all ranks become their sum, for sum() and for a reducer.
#include <cstdio>
#include <cstring>
#include <laconic/reduce.hpp>
#include <limits>
#include <span>
#include <string>
#include <vector>

// Each rank receives all vectors and adds them up in the order of the ranks, so that all have the same bits. That is
// best for short vectors. PointToPoint communicators also have exchange(to, mine, from), for schedules of pairs.
struct gather_and_add {
    template <laconic::Scalar T, laconic::OnHost B>
    class adder;
    friend std::string to_string(gather_and_add const&) { return "gather_and_add"; }  // what the ranks compare
};

// What works: each rank makes one for vectors of d numbers, and keeps it.
template <laconic::Scalar T, laconic::OnHost B>
class gather_and_add::adder {
  public:
    adder(gather_and_add const&, std::size_t d, laconic::position_code) : theirs_(d) {}

    // x <- the sum of all ranks' x. Through the session all ranks throw the same where one of them cannot go on.
    template <laconic::Communicator C>
    void operator()(B& on, C& comm, std::span<T> x, laconic::sum_round const& round) {
        session_.start(on, comm, round, x, theirs_.size());  // is x finite, and of the length that all have?
        session_.share_failure(comm);
        session_.finish();
        comm.all_gather({std::as_bytes(x)});
        for (T& v : x) v = 0;
        for (int r = 0; r < comm.size(); ++r) {
            std::memcpy(theirs_.data(), comm.from(r).bytes.data(), theirs_.size() * sizeof(T));
            for (std::size_t i = 0; i < x.size(); ++i) x[i] += theirs_[i];
        }
        session_.check_sum(on, x, 0);  // has the sum overflowed?
        session_.finish();
    }

  private:
    std::vector<T> theirs_;
    laconic::session session_;
};

int main() {
    int wrong = 0;
    laconic::threads::run(4, [&](auto& comm) {
        auto const expect = [&](bool so, char const* what) {
            if (comm.rank() > 0) return;
            std::printf("%s: %s\n", what, so ? "yes" : "no");
            wrong += !so;
        };
        std::vector<float> x(1000, 1.0f + static_cast<float>(comm.rank()));
        laconic::sum(comm, x, gather_and_add{});
        expect(x == std::vector<float>(1000, 10), "sum() adds up by it");

        std::vector<float> gradient(1000, static_cast<float>(comm.rank()));
        laconic::reducer reduce(laconic::plain{laconic::identity{}, gather_and_add{}}, comm, gradient);
        reduce(gradient);
        expect(gradient == std::vector<float>(1000, 1.5f), "a reducer makes means by it");

        std::string why;
        if (comm.rank() == 2) x[7] = std::numeric_limits<float>::quiet_NaN();
        try {
            laconic::sum(comm, x, gather_and_add{});
        } catch (laconic::non_finite_error const& e) {
            why = e.what();
        }
        expect(why.find("rank 2") != std::string::npos, "all ranks throw what is wrong on one");
    });
    return wrong;
}
