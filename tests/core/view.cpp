// SPDX-License-Identifier: Apache-2.0
// A view is the caller's memory, for any contiguous range of float or double, and for nothing else.
#include "laconic/core/view.hpp"

#include <list>

#include "support/everything.hpp"

static_assert(Scalar<float> && Scalar<double> && !Scalar<int> && !Scalar<long double> && !Scalar<double const>);
static_assert(Contiguous<std::vector<double>> && Contiguous<std::vector<double> const>);
static_assert(Contiguous<std::array<float, 3>> && Contiguous<std::span<double const>>);
static_assert(Contiguous<Eigen::VectorXd> && Contiguous<Eigen::RowVector3f> && Contiguous<Eigen::ArrayXd>);
static_assert(Contiguous<Eigen::Map<Eigen::VectorXd>> && Contiguous<Eigen::Ref<Eigen::VectorXd>>);
static_assert(Contiguous<Eigen::VectorBlock<Eigen::VectorXd>> && Contiguous<Eigen::MatrixXd::ColXpr>);
static_assert(Contiguous<Eigen::MatrixXd> && Contiguous<Eigen::Matrix3f> && Contiguous<Eigen::ArrayXXf const>);
static_assert(Contiguous<Eigen::Map<Eigen::MatrixXf>> &&
              Contiguous<Eigen::Ref<Eigen::MatrixXf, 0, Eigen::Stride<0, 0>>>);
static_assert(detail::Number16<Eigen::half> && detail::Number16<Eigen::bfloat16>);
static_assert(!detail::Number16<std::int16_t> && !detail::Number16<std::uint16_t> && !detail::Number16<float>);
// What skips elements, or may do so.
static_assert(!Contiguous<Eigen::MatrixXd::RowXpr> && !Contiguous<Eigen::Block<Eigen::MatrixXd>>);
static_assert(!Contiguous<Eigen::Ref<Eigen::MatrixXd>> &&
              !Contiguous<Eigen::Map<Eigen::MatrixXd, 0, Eigen::OuterStride<>>>);
static_assert(!Contiguous<Eigen::Transpose<Eigen::MatrixXd>>);
static_assert(!Contiguous<Eigen::Map<Eigen::VectorXd, 0, Eigen::InnerStride<>>>);
static_assert(!Contiguous<Eigen::Map<Eigen::VectorXd, 0, Eigen::InnerStride<2>>>);
static_assert(!Contiguous<std::list<double>> && !Contiguous<std::vector<bool>> && !Contiguous<double>);

static_assert(std::same_as<detail::element_of<std::vector<double> const>, double>);
static_assert(std::same_as<detail::element_of<std::span<float const>>, float>);
static_assert(std::same_as<detail::element_of<Eigen::VectorXf>, float>);

// What ends with its elements, and what only points to them.
template <class... X>
constexpr bool own = (detail::owns_elements<X>() && ...);
template <class... X>
constexpr bool point = (!detail::owns_elements<X>() && ...);
static_assert(own<std::vector<float>, std::array<float, 2>, Eigen::VectorXf, Eigen::Matrix3d, Eigen::ArrayXf>);
struct pointer_and_size {
    float* begin_ = nullptr;
    float* data() const { return begin_; }
    std::size_t size() const { return 0; }
};
static_assert(point<std::span<float>, std::span<float, 2>, pointer_and_size>);
static_assert(point<Eigen::Map<Eigen::VectorXf>, Eigen::Ref<Eigen::VectorXf>, Eigen::VectorBlock<Eigen::VectorXf>,
                    Eigen::MatrixXf::ColXpr, Eigen::Map<Eigen::MatrixXf>>);

template <class X>
concept Viewable = requires(X&& x) {
    detail::view(std::forward<X>(x));
};
static_assert(Viewable<std::vector<double>&> && Viewable<std::vector<double> const&>);
static_assert(!Viewable<std::vector<double>> && !Viewable<Eigen::VectorXd> && !Viewable<std::array<double, 2>>);
static_assert(Viewable<std::span<double>> && Viewable<std::span<double>&> && Viewable<std::span<double const>>);

TEST_CASE("a view is the same memory") {
    std::vector<double> v{1, 2, 3};
    auto const over = detail::view(v);
    static_assert(std::same_as<decltype(detail::view(v)), std::span<double>>);
    static_assert(std::same_as<decltype(detail::view(std::as_const(v))), std::span<double const>>);
    CHECK(over.data() == v.data());
    CHECK(over.size() == 3);
    over[1] = 5;
    CHECK(v[1] == 5);

    Eigen::VectorXf e = Eigen::VectorXf::Constant(4, 2);
    detail::view(e)[3] = 7;
    CHECK(e[3] == 7);
    CHECK(detail::view(std::as_const(e)).size() == 4);

    std::span<double> const s(v);
    CHECK(detail::view(s).data() == v.data());
    CHECK(detail::view(std::span<double const>(v)).size() == 3);

    Eigen::MatrixXd m = Eigen::MatrixXd::Identity(3, 3);
    auto column = m.col(1);
    CHECK(detail::view(column)[1] == 1);
    CHECK(detail::view(column).size() == 3);
}
