// SPDX-License-Identifier: Apache-2.0
#include <Eigen/Core>
#include <algorithm>
#include <vector>

#include "laconic/compiled.hpp"
#include "laconic/resume.hpp"
#include "named_reductions.hpp"

namespace laconic::compiled {

// One of the two, which are made in place.
struct reducer::held {
    std::unique_ptr<any_reducer<float, backend>> of_float;
    std::unique_ptr<any_reducer<double, backend>> of_double;

    auto visit(auto call) const { return of_float ? call(*of_float) : call(*of_double); }
    // Calls call(reducer, span of the numbers).
    void with(void* x, std::size_t n, number_type numbers, auto call) const {
        auto const use = [&](auto& by, auto* first) { call(by, std::span(first, n)); };
        if (of_double) {
            if (numbers != number_type::float64)
                throw argument_error("this reducer takes vectors of float64, not of float32 or of numbers of 16 bits");
            return use(*of_double, static_cast<double*>(x));
        }
        switch (numbers) {
            case number_type::float32:
                return use(*of_float, static_cast<float*>(x));
            case number_type::float16:
                return use(*of_float, static_cast<Eigen::half*>(x));
            case number_type::bfloat16:
                return use(*of_float, static_cast<Eigen::bfloat16*>(x));
            default:
                throw argument_error(
                    "this reducer takes vectors of float32 and of numbers of 16 bits: one for float64 is made with "
                    "number_type::float64");
        }
    }
};

reducer::reducer(std::string_view reduction, any_communicator comm, std::vector<layer> const& layers,
                 reducer_options options, number_type numbers)
    : held_(new held) {
    auto const make = [&]<class T>(std::unique_ptr<any_reducer<T, backend>>& made) {
        made = std::make_unique<any_reducer<T, backend>>(parse_reduction<T, backend>(reduction), comm, layers,
                                                         std::move(options));
    };
    numbers == number_type::float64 ? make(held_->of_double) : make(held_->of_float);
}
reducer::reducer(reducer&&) noexcept = default;
reducer& reducer::operator=(reducer&&) noexcept = default;
reducer::~reducer() = default;

void reducer::reduce(void* x, std::size_t n, number_type numbers, step_options const& options) {
    held_->with(x, n, numbers, [&](auto& by, auto numbers_of) { by(numbers_of, options); });
}
void reducer::start(std::size_t l, void* x, std::size_t n, number_type numbers, step_options const& options) {
    held_->with(x, n, numbers, [&](auto& by, auto numbers_of) { by.start(l, numbers_of, options); });
}
void reducer::bind(std::size_t l, void* x, std::size_t n, number_type numbers) {
    held_->with(x, n, numbers, [&](auto& by, auto numbers_of) { by.bind(l, numbers_of); });
}
void reducer::broadcast(void* x, std::size_t n, number_type numbers, int root) {
    held_->with(x, n, numbers, [&](auto& by, auto numbers_of) { by.broadcast(numbers_of, root); });
}
void reducer::finish(step_options const& options) {
    held_->visit([&](auto& by) { by.finish(options); });
}
void reducer::drop() {
    held_->visit([](auto& by) { by.drop(); });
}
void reducer::reorder() {
    held_->visit([](auto& by) { by.reorder(); });
}
std::vector<std::byte> reducer::save() const {
    return held_->visit([](auto& by) { return by.save(); });
}
void reducer::restore(std::span<std::byte const> saved) {
    held_->visit([&](auto& by) { by.restore(saved); });
}
void reducer::restore(std::span<std::vector<std::byte> const> saved) {
    held_->visit([&](auto& by) { by.restore(saved); });
}
void reducer::rebind(any_communicator comm) {
    held_->visit([&](auto& by) { by.rebind(comm); });
}
std::uint64_t reducer::steps() const {
    return held_->visit([](auto& by) { return by.steps(); });
}
std::uint64_t reducer::seed() const {
    return held_->visit([](auto& by) { return by.seed(); });
}
reducer_statistics reducer::statistics() const {
    return held_->visit([](auto& by) { return by.statistics(); });
}
std::vector<std::string> reducer::resume(std::span<std::byte const> saved) {
    return held_->visit([&](auto& by) { return laconic::resume(by, saved); });
}
std::vector<std::string> reducer::resume(std::span<std::vector<std::byte> const> saved) {
    return held_->visit([&](auto& by) { return laconic::resume(by, saved); });
}
void reducer::copy_residual(std::size_t l, std::span<float> to) const {
    held_->visit([&](auto& by) {
        auto const e = by.residual(l);
        if (to.size() != e.size()) throw shape_error({"a residual of ", e.size(), " numbers, copied to ", to.size()});
        std::transform(e.begin(), e.end(), to.begin(), [](auto v) { return static_cast<float>(v); });
    });
}
void reducer::set_residual(std::size_t l, std::span<float const> x) {
    held_->visit([&]<class T>(any_reducer<T, backend>& by) { by.set_residual(l, std::vector<T>(x.begin(), x.end())); });
}

std::vector<listed_value> list_compressors() { return laconic::list_compressors<float, backend>(); }
std::vector<listed_value> list_reductions() { return laconic::list_reductions<float, backend>(); }
std::vector<listed_value> list_collectives() { return laconic::list_collectives<float, backend>(); }

}  // namespace laconic::compiled
