// SPDX-License-Identifier: Apache-2.0
// What loops have in common: they look once, agree, save and restore; and those of second_order/ allocate nothing after
// their first round.
#include "laconic/loop_base.hpp"

#include "support/allocations.hpp"
#include "support/everything.hpp"

struct counted_bowl {  // |x|^2 / 2
    int* calls;
    std::size_t dimension() const { return 3; }
    double value(std::span<double const> x) const { return (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) / 2; }
    void gradient(std::span<double const> x, std::span<double> g) const {
        if (++*calls == 100) throw std::runtime_error("tired");
        std::copy(x.begin(), x.end(), g.begin());
    }
};

template <class F, class C>
class halving : public loop_base<halving<F, C>, F, C, double> {
    using base = loop_base<halving, F, C, double>;
    friend base;

  public:
    halving(F const& f, C& comm, std::span<double> x, std::uint64_t seed, std::string const& method = "halving")
        : base(f, comm, x, seed) {
        this->agree({{"the method", method}});
    }
    void round() {
        auto const here = this->look();
        for (std::size_t i = 0; i < this->x_.size(); ++i) this->x_[i] -= .5 * here.gradient[i];
        ++sum_, ++this->round_, this->looked_ = false;
    }
    int sum() const { return sum_; }
    bool broken = false;

  private:
    void require_consistent() const {
        if (broken) throw comm_error(0, "broken");
    }
    void recover() { broken = false; }
    void state(auto& archive) { archive(sum_); }
    int sum_ = 0;
};

TEST_CASE("loop: look() computes once, and passes on what the objective throws") {
    threads::run(1, [](threads::member& comm) {
        int calls = 0;
        counted_bowl const f{&calls};
        std::vector<double> x{4, 2, 0};
        halving run(f, comm, std::span<double>(x), 1);
        CHECK(run.look().value() == 10);
        CHECK(run.look().gradient[0] == 4);
        CHECK(calls == 1);
        run.round();
        CHECK(calls == 1);
        CHECK(x == std::vector<double>{2, 1, 0});
        CHECK(run.look().round == 1);
        CHECK(run.rounds() == 1);
        calls = 99;
        run.round();
        CHECK_THROWS_WITH(run.look(), "tired");
        CHECK(run.look().value() == .625);
        run.broken = true;
        CHECK_THROWS_AS(run.look(), comm_error);
        CHECK_THROWS_AS(run.save(), comm_error);
    });
}

TEST_CASE("loop: states are restored, and only those of the same run; a restored loop is whole") {
    threads::run(2, [](threads::member& comm) {
        int calls = 0;
        counted_bowl const f{&calls};
        std::vector<double> x{4, 2, 0}, y(x);
        halving run(f, comm, std::span<double>(x), 1), other(f, comm, std::span<double>(y), 1);
        run.round(), run.round();
        other.look();
        other.broken = true;
        other.restore(run.save());
        CHECK(y == x);
        CHECK(other.sum() == 2);
        CHECK(other.rounds() == 2);
        CHECK(other.look().gradient[0] == 1);
        halving named(f, comm, std::span<double>(y), 1, "another"), seeded(f, comm, std::span<double>(y), 2);
        CHECK_THROWS_WITH_AS(named.restore(run.save()), doctest::Contains("another"), shape_error);
        CHECK_THROWS_AS(seeded.restore(run.save()), shape_error);
        auto const saved = run.save();
        std::string const text(reinterpret_cast<char const*>(saved.data()), saved.size());
        CHECK(text.find("the dimension: 3\nthe bytes of a number: 8\nthe version of the wire format: " +
                        std::to_string(wire::wire_version) + "\nthe method: halving\nthe seed: 1\nrank " +
                        std::to_string(comm.rank()) + " of 2\n") != text.npos);
        CHECK_THROWS_AS(other.restore(std::span(saved).first(saved.size() - 1)), wire_error);
        CHECK(other.sum() == 2);
    });
}

TEST_CASE("loop: a handle is copied, to the communicator and to the objective") {
    threads::run(1, [](threads::member& comm) {
        int calls = 0, others = 0;
        metered mine(comm), theirs(comm);
        any_communicator handle(mine);
        any_objective<> objective = counted_bowl{&calls};
        std::vector<double> x{4, 2, 0};
        descent run(recursion<identity>{}, objective, handle, std::span<double>(x), 1);
        handle = theirs;
        objective = counted_bowl{&others};
        auto const sent = mine.bytes_sent();
        run.round();
        CHECK(mine.bytes_sent() > sent);
        CHECK(theirs.bytes_sent() == 0);
        CHECK(calls == 1);
        CHECK(others == 0);
        CHECK(run.look().value() == 0);
    });
}

TEST_CASE("loop: ranks must agree, and x must suit the objective") {
    threads::run(2, [](threads::member& comm) {
        int calls = 0;
        counted_bowl const f{&calls};
        std::vector<double> x(3), few(2);
        auto const seed = std::uint64_t(comm.rank());
        CHECK_THROWS_WITH_AS((halving(f, comm, std::span<double>(x), seed)), doctest::Contains("the seed"),
                             agreement_error);
        CHECK_THROWS_WITH_AS((halving(f, comm, std::span<double>(x), 1, comm.rank() == 0 ? "a" : "b")),
                             doctest::Contains("the method"), agreement_error);
        CHECK_THROWS_WITH_AS((halving(f, comm, std::span<double>(few), 1)),
                             "x has 2 numbers, the objective's dimension is 3", shape_error);
        x[0] = comm.rank();
        CHECK_THROWS_WITH_AS((halving(f, comm, std::span<double>(x), 1)), doctest::Contains("the starting point"),
                             agreement_error);
    });
}

// sum_i c_i (1 + i) (sqrt(1 + x_i^2)), nothing of which allocates.
struct separable_bowl {
    double c;
    std::size_t dimension() const { return 6; }
    double value(std::span<double const> x) const {
        double sum = 0;
        for (std::size_t i = 0; i < 6; ++i) sum += c * double(1 + i) * std::sqrt(1 + (x[i] - 1) * (x[i] - 1));
        return sum;
    }
    void gradient(std::span<double const> x, std::span<double> g) const {
        for (std::size_t i = 0; i < 6; ++i)
            g[i] = c * double(1 + i) * (x[i] - 1) / std::sqrt(1 + (x[i] - 1) * (x[i] - 1));
    }
    double bend(std::span<double const> x, std::size_t i) const {
        return c * double(1 + i) * std::pow(1 + (x[i] - 1) * (x[i] - 1), -1.5);
    }
    void hessian_times(std::span<double const> x, std::span<double const> v, std::span<double> out) const {
        for (std::size_t i = 0; i < 6; ++i) out[i] = bend(x, i) * v[i];
    }
    void hessian(std::span<double const> x, Eigen::MatrixXd& h) const {
        h.setZero(6, 6);
        for (std::size_t i = 0; i < 6; ++i) h(Eigen::Index(i), Eigen::Index(i)) = bend(x, i);
    }
};

void allocates_nothing(auto const& method) {
    threads::run(3, [&](threads::member& comm) {
        separable_bowl const f{1. + comm.rank()};
        std::vector<double> x(6, 1.6);
        metered wire(comm);
        auto run = method.template start<double>(problem{}, f, wire, std::span<double>(x), 1);
        CHECK(last_to_allocate(9, [&] { run.round(); }) <= 1);
    });
}

TEST_CASE("loops of second_order/ allocate nothing after their first round") {
    for (auto const how : {curvature_transport::ship_y, curvature_transport::ship_s_and_y, curvature_transport::ship_m,
                           curvature_transport::gram})
        allocates_nothing(ds_lsr1<>{.memory = 3, .curvature = how});
    allocates_nothing(fednl<top_k<>>{.compressor = {3}});
    allocates_nothing(fednl<top_k<>>{.compressor = {3}, .start_in_full = false});
}
