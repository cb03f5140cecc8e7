// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
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

/// The types of numbers that a reducer takes by their address.
enum class number_type : std::uint8_t { float32, float64, float16, bfloat16 };

/// laconic::reducer with a reduction such as "error_feedback(top_k(0.01))", for vectors of float and of numbers of 16
/// bits, or for vectors of double. Its members are those of reducer, where they are described. It makes no duplicate of
/// the communicator: from start() to finish() the caller sends nothing over it.
class reducer {
  public:
    /// For layers of `numbers`, in any mixture unless these are float64. Throws parse_error with the place in the text
    /// and the valid names, and what reducer's constructor throws.
    reducer(std::string_view reduction, any_communicator comm, std::vector<layer> const& layers,
            reducer_options options = {}, number_type numbers = number_type::float32);
    template <std::integral D>
    reducer(std::string_view reduction, any_communicator comm, D d, reducer_options options = {})
        : reducer(reduction, std::move(comm), std::vector<layer>{{"", d}}, std::move(options)) {}
    /// For one vector of the length of `like`.
    template <Contiguous X>
    reducer(std::string_view reduction, any_communicator comm, X const& like, reducer_options options = {})
        : reducer(reduction, std::move(comm), std::vector<layer>{{"", like.size()}}, std::move(options),
                  type_of<X const>()) {}
    reducer(reducer&&) noexcept;
    reducer& operator=(reducer&&) noexcept;
    ~reducer();

    /// Throws argument_error for numbers of another type than those of the constructor.
    template <class X>
    void operator()(X&& x, step_options const& options = {}) {
        reduce(data_of(x), detail::view(x).size(), type_of<X>(), options);
    }
    template <class X>
    void start(std::size_t l, X&& x, step_options const& options = {}) {
        start(l, data_of(x), detail::view(x).size(), type_of<X>(), options);
    }
    template <class X>
    void bind(std::size_t l, X&& x) {
        bind(l, data_of(x), detail::view(x).size(), type_of<X>());
    }
    /// n numbers at x.
    void start(std::size_t l, void* x, std::size_t n, number_type numbers, step_options const& options = {});
    void bind(std::size_t l, void* x, std::size_t n, number_type numbers);
    void finish(step_options const& options = {});
    void drop();
    void reorder();
    template <class X>
    void broadcast(X&& x, int root = 0) {
        broadcast(data_of(x), detail::view(x).size(), type_of<X>(), root);
    }
    void broadcast(void* x, std::size_t n, number_type numbers, int root = 0);
    std::vector<std::byte> save() const;
    void restore(std::span<std::byte const> saved);
    void restore(std::span<std::vector<std::byte> const> saved);
    void rebind(any_communicator comm);
    std::uint64_t steps() const;
    std::uint64_t seed() const;
    reducer_statistics statistics() const;
    /// The same as laconic::resume() of resume.hpp.
    [[nodiscard]] std::vector<std::string> resume(std::span<std::byte const> saved);
    [[nodiscard]] std::vector<std::string> resume(std::span<std::vector<std::byte> const> saved);
    /// Copies the residual of a layer to `to`, or replaces it by x; with float64 it is converted. Throws shape_error for
    /// another length.
    void copy_residual(std::size_t l, std::span<float> to) const;
    void set_residual(std::size_t l, std::span<float const> x);

  private:
    template <class X>
    static constexpr number_type type_of() {
        using E = detail::element_of<std::remove_reference_t<X>>;
        if constexpr (std::same_as<E, double>) return number_type::float64;
        if constexpr (detail::Number16<E>)  // the largest bfloat16 is beyond the other format
            return static_cast<float>(static_cast<E>(1e30f)) < 2e30f ? number_type::bfloat16 : number_type::float16;
        return number_type::float32;
    }
    template <class X>
    static void* data_of(X& x) {
        using T = std::conditional_t<std::same_as<detail::element_of<X>, double>, double, float>;
        if constexpr (detail::takes<T, X&>()) return detail::view(x).data();
        return nullptr;
    }
    void reduce(void* x, std::size_t n, number_type numbers, step_options const& options);

    struct held;
    std::unique_ptr<held> held_;
};

/// All methods, compressors, reductions and collectives that these texts may have.
std::vector<listed_value> list_methods();
std::vector<listed_value> list_compressors();
std::vector<listed_value> list_reductions();
std::vector<listed_value> list_collectives();

}  // namespace laconic::compiled
