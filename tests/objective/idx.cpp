// SPDX-License-Identifier: Apache-2.0
// IDX files of images and labels are read as they are, and wrong, cut or impossible ones are refused by name.
#include "laconic/objective/idx.hpp"

#include <fstream>

#include "support/everything.hpp"

std::string bytes(std::initializer_list<std::uint32_t> head, std::string const& body) {
    std::string text;
    for (auto const word : head)
        for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(word >> shift & 0xff);
    return text + body;
}

laconic::idx_images images_of(std::string const& text) {
    std::istringstream in(text);
    return laconic::read_idx_images(in, "pictures");
}

std::vector<std::uint8_t> labels_of(std::string const& text) {
    std::istringstream in(text);
    return laconic::read_idx_labels(in, "names");
}

std::string refusal(auto&& call) {
    try {
        call();
    } catch (laconic::file_error const& e) {
        CHECK(e.line == 0);
        CHECK(e.column == 0);
        return e.what();
    }
    return "nothing was thrown";
}

std::string const two_pictures = bytes({0x803, 2, 1, 3}, std::string("\x00\xff\x33\x01\x00\x80", 6));

TEST_CASE("two small pictures") {
    auto const images = images_of(two_pictures);
    CHECK(images.count == 2);
    CHECK(images.height == 1);
    CHECK(images.width == 3);
    CHECK(images.pixels == std::vector<std::uint8_t>{0, 255, 51, 1, 0, 128});
    auto const labels = labels_of(bytes({0x801, 2}, "\x09\x02"));
    CHECK(labels == std::vector<std::uint8_t>{9, 2});

    auto const data = laconic::idx_dataset(images, labels, "toy");
    CHECK(data.name == "toy");
    CHECK(data.labels == std::vector<double>{9, 2});
    CHECK(data.rows.isCompressed());
    CHECK(data.rows.nonZeros() == 4);
    CHECK(Eigen::MatrixXd(data.rows) == Eigen::MatrixXd{{0, 1, 0.2}, {1 / 255.0, 0, 128 / 255.0}});

    auto const single = laconic::idx_dataset<float>(images, labels, "toy");
    CHECK(single.rows.coeff(1, 2) == 128 / 255.0f);
}

TEST_CASE("pictures and labels that do not belong together are refused") {
    auto const images = images_of(two_pictures);
    CHECK_THROWS_AS(laconic::idx_dataset(images, {1}, "toy"), laconic::shape_error);
    CHECK_THROWS_AS(laconic::idx_dataset(images, {1, 2, 3}, "toy"), laconic::shape_error);
    auto broken = images;
    broken.pixels.pop_back();
    CHECK_THROWS_AS(laconic::idx_dataset(broken, {1, 2}, "toy"), laconic::shape_error);
    CHECK_THROWS_AS(laconic::idx_dataset({}, {}, "toy"), laconic::argument_error);
}

TEST_CASE("a wrong magic number is refused") {
    CHECK(refusal([] { images_of(bytes({0x801, 2}, "ab")); }) == "pictures: the magic number is 2049, not 2051");
    CHECK(refusal([] { labels_of(two_pictures); }) == "names: the magic number is 2051, not 2049");
    CHECK(refusal([] { images_of("\x1f\x8b\x08\x08 gzip"); }).find("magic") != std::string::npos);
}

TEST_CASE("every truncation is refused, and so is a byte too many") {
    for (std::size_t n = 0; n < two_pictures.size(); ++n) {
        CAPTURE(n);
        CHECK(refusal([&] { images_of(two_pictures.substr(0, n)); }).find("truncated") != std::string::npos);
    }
    CHECK(refusal([] { images_of(two_pictures + "x"); }) == "pictures: there are bytes after the last one announced");
    auto const labels = bytes({0x801, 3}, "abc");
    for (std::size_t n = 0; n < labels.size(); ++n)
        CHECK(refusal([&] { labels_of(labels.substr(0, n)); }).find("truncated") != std::string::npos);
    CHECK(refusal([&] { labels_of(labels + std::string(1, '\0')); }).find("after the last") != std::string::npos);

    std::ifstream missing("/no/such/file");
    CHECK(refusal([&] { laconic::read_idx_images(missing, "m"); }) == "m: cannot be read");
}

TEST_CASE("sizes are not believed: no allocation beyond what the stream holds") {
    std::uint32_t const most = 0xffffffff;
    // 2^32 labels, 2^32 pictures of one pixel, and products that wrap round 2^64 to something small
    CHECK(refusal([&] {
              labels_of(bytes({0x801, most}, "abc"));
          }) == "names: truncated: 3 bytes where 4294967295 are announced");
    CHECK(refusal([&] {
              images_of(bytes({0x803, most, 1, 1}, "abc"));
          }).find("truncated: 3 bytes") != std::string::npos);
    CHECK(refusal([&] {
              images_of(bytes({0x803, most, 1 << 15, 1 << 16}, ""));
          }).find("truncated") != std::string::npos);
    CHECK(refusal([&] { images_of(bytes({0x803, most, most, most}, "")); }).find("pixels") != std::string::npos);
    CHECK(refusal([&] { images_of(bytes({0x803, 1u << 31, 1u << 31, 4}, "")); }).find("pixels") != std::string::npos);
    CHECK(refusal([&] { images_of(bytes({0x803, 3, 0, 5}, "")); }) == "pictures: pictures of 0 x 5 pixels");
    CHECK(refusal([&] { images_of(bytes({0x803, 3, 5, 0}, "")); }) == "pictures: pictures of 5 x 0 pixels");
}
