// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "laconic/any/communicator.hpp"
#include "laconic/any/objective.hpp"
#include "laconic/core/listed.hpp"
#include "laconic/reduction/options.hpp"
#include "laconic/run_settings.hpp"

/// Runs and reducers from texts, for programs that link laconic::compiled: they are compiled there, once, and this
/// header compiles several times faster than the others. They compute on the host, over any communicator, which must
/// outlive the call or the reducer.
///
///     find_package(laconic REQUIRED COMPONENTS compiled)
///     target_link_libraries(yours PRIVATE laconic::compiled)
namespace laconic::compiled {

/// Runs a method, such as "diana(rand_k(0.1) | natural)", as laconic::descend() does; it moves x in place. Throws
/// parse_error with the place in the text and the valid names, and what descend() throws.
run_result descend(std::string_view method, any_objective<> const& objective, std::span<double> x,
                   any_communicator comm, run_settings how = {});
template <Contiguous X>
requires std::same_as < detail::element_of<X>,
double > run_result descend(std::string_view method, any_objective<> const& objective, X& x, any_communicator comm,
                            run_settings how = {}) {
    return descend(method, objective, detail::view(x), std::move(comm), how);
}

/// laconic::reducer for vectors of float with a reduction such as "error_feedback(top_k(0.01))". Its members are those
/// of reducer, where they are described. It makes no duplicate of the communicator: from start() to finish() the caller
/// sends nothing over it.
class reducer {
  public:
    /// Throws parse_error with the place in the text and the valid names, and what reducer's constructor throws.
    reducer(std::string_view reduction, any_communicator comm, std::vector<layer> const& layers,
            reducer_options options = {});
    template <std::integral D>
    reducer(std::string_view reduction, any_communicator comm, D d, reducer_options options = {})
        : reducer(reduction, std::move(comm), std::vector<layer>{{"", d}}, std::move(options)) {}
    /// For one vector of the length of `like`.
    template <Contiguous X>
    reducer(std::string_view reduction, any_communicator comm, X const& like, reducer_options options = {})
        : reducer(reduction, std::move(comm), like.size(), std::move(options)) {
        static_assert(detail::is_like<float, X>());
    }
    reducer(reducer&&) noexcept;
    reducer& operator=(reducer&&) noexcept;
    ~reducer();

    template <class X>
    void operator()(X&& x, step_options const& options = {}) {
        if constexpr (detail::takes<float, X>()) reduce(floats(x), options);
    }
    template <class X>
    void start(std::size_t l, X&& x, step_options const& options = {}) {
        if constexpr (detail::takes<float, X>()) start_layer(l, floats(x), options);
    }
    template <class X>
    void bind(std::size_t l, X&& x) {
        if constexpr (detail::takes<float, X>()) bind_layer(l, floats(x));
    }
    void finish(step_options const& options = {});
    void drop();
    std::vector<std::byte> save() const;
    void restore(std::span<std::byte const> saved);
    void restore(std::span<std::vector<std::byte> const> saved);
    void rebind(any_communicator comm);
    std::uint64_t steps() const;
    std::uint64_t seed() const;
    reducer_statistics statistics() const;

  private:
    template <class X>
    static std::span<float> floats(X& x) {
        static_assert(std::same_as<detail::element_of<X>, float>, "laconic::compiled reduces vectors of float alone");
        return detail::view(x);
    }
    void reduce(std::span<float> x, step_options const& options);
    void start_layer(std::size_t l, std::span<float> x, step_options const& options);
    void bind_layer(std::size_t l, std::span<float> x);

    struct held;
    std::unique_ptr<held> held_;
};

/// All methods, compressors, reductions and collectives that these texts may have.
std::vector<listed_value> list_methods();
std::vector<listed_value> list_compressors();
std::vector<listed_value> list_reductions();
std::vector<listed_value> list_collectives();

}  // namespace laconic::compiled
