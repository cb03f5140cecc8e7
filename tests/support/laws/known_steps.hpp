// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <initializer_list>
#include <vector>

#include "laconic/optim/adam.hpp"
#include "laconic/optim/dion2.hpp"
#include "laconic/optim/lion.hpp"
#include "laconic/optim/muon.hpp"
#include "laconic/optim/step.hpp"
#include "support/steps.hpp"

/// Known answers of steps whose memories live on a backend: PyTorch's numbers, and those of their papers' programs.
namespace laws {

template <class B>
void known_momentum() {
    auto const is = [](laconic::momentum_options const& how, std::initializer_list<steps::known> all) {
        steps::comes_to<B>(laconic::momentum<double, B>(how), steps::bowls_gradient, std::vector<double>(8, 1), all);
    };
    is({.rate = .1, .nesterov = true}, {{1, .888671875, .749140625, 6.08099905415},
                                        {10, .0786756200668, -.920640149204, 3.45017268353},
                                        {100, .330352080416, -.408288943007, 2.57865208227}});
    is({.rate = .7, .weight_decay = .01, .nesterov = true}, {{1, .207403125, -.769315625, 3.35667835127},
                                                             {10, .322314068908, -.407219699816, 2.52655413114},
                                                             {100, .326624293785, -.404023746702, 2.52588059344}});
    is({.rate = .1, .dampening = .5}, {{1, .94140625, .86796875, 6.93774644852},
                                       {10, .108283999106, -.941810244037, 3.75009290812},
                                       {100, .328651235381, -.415392649912, 2.58191623694}});
}

template <class B>
void known_adam_and_lion() {
    using adam = laconic::adam<double, B>;
    auto const is = [](auto const& step, std::initializer_list<steps::known> all) {
        steps::comes_to<B>(step, steps::bowls_gradient, std::vector<double>(8, 1), all);
    };
    is(adam(.1), {{1, .900000001707, .900000000757, 6.8800000099},
                  {10, .167864686798, .0420021261499, 2.13517956438},
                  {100, .330368459068, -.405987353178, 2.5802390018}});
    is(adam({.rate = .1, .weight_decay = .01}), {{1, .900000001678, .900000000752, 6.88000000831},
                                                 {10, .165986815984, .0422121986178, 2.06826789328},
                                                 {100, .326375235687, -.40191854125, 2.52860913822}});
    is(adam({.rate = .1, .weight_decay = .01, .decoupled = true}),
       {{1, .899000001707, .899000000757, 6.86520800989},
        {10, .164767405546, .0369496875414, 2.12783971629},
        {100, .330122059596, -.40519146371, 2.57718972709}});
    is(adam({.rate = .1, .amsgrad = true}), {{1, .900000001707, .900000000757, 6.8800000099},
                                             {10, .167886815122, .0420021261499, 2.1351955142},
                                             {100, .330089001227, -.405525510257, 2.57995138597}});
    is(adam({.rate = .1, .beta2 = .95}),
       {{10, .150342105806, .0291866875121, 2.1124933678}, {100, .328713675082, -.408906897843, 2.57652366835}});
    is(adam({.rate = .1, .beta2 = .95, .amsgrad = true}), {{1, .900000001707, .900000000757, 6.8800000099},
                                                           {10, .16571021027, .0297810006242, 2.12813516464},
                                                           {100, .330020526743, -.405452638795, 2.57281298141}});
    is(adam({.rate = .1, .beta2 = .99, .epsilon = 1e-3, .bias_correction = false}),
       {{1, .901678028317, .900751703077, 6.88999894856},
        {10, -.0302362345408, -.571198194741, 2.78753155409},
        {100, .331744354898, -.403097453688, 2.57928979223}});
    is(laconic::rmsprop<double, B>(.1), {{1, .939382137526, .872617608764, 6.9427157986},
                                         {10, .54024516335, .1203251916, 2.95557663785},
                                         {100, .328600319599, -.442918946233, 2.60958841764}});
    is(laconic::lion<double, B>({.rate = .01, .weight_decay = .1}),
       {{1, .989, .989, 7.864928},
        {10, .890493682307, .890493682307, 6.73807260104},
        {100, -.0272863817492, -.0472863817492, 2.13885192341}});
}

template <class B>
void known_matrix_steps() {
    using laconic::matrix_scale, laconic::orthogonalization;
    using muon = laconic::muon<double, B>;
    using dion2 = laconic::dion2<double, B>;
    auto const is = [](std::size_t rows, std::size_t columns, auto const& step,
                       std::initializer_list<steps::known> all) {
        steps::comes_to<B>(step, steps::matrix_bowl{int(rows), int(columns)}, std::vector<double>(rows * columns), all);
    };
    is(4, 6, muon({.rows = 4, .rate = .02}),
       {{1, -.0112050752614, .0174647460029, .00136538564042}, {10, -.112893082972, .173182547275, .133944282723}});
    is(4, 6, muon({.rows = 4, .rate = .02, .scale = matrix_scale::match_rms_adamw}),
       {{1, -.00548934338398, .00855594323888, .000327692553701},
        {10, -.0548292839704, .0848147882949, .0321616966192}});
    is(4, 6, muon({.rows = 4, .rate = .02, .scale = matrix_scale::spectral}),
       {{1, -.00914890563997, .0142599053981, .000910257093613}, {10, -.0918848549352, .141385696716, .0893079128065}});
    is(4, 6, muon({.rows = 4, .rate = .02, .beta = .9, .nesterov = false}),
       {{1, -.0112050752614, .0174647460029, .00136538564042}, {10, -.112780879801, .173176117676, .133951443188}});
    is(4, 6, muon({.rows = 4, .rate = .02, .by = orthogonalization::polar_express}),
       {{1, -.0111470640737, .0159408605755, .00156079134436}, {10, -.100163158992, .15118504864, .146709264064}});
    is(6, 3, muon({.rows = 6, .rate = .02}),
       {{1, -.00725780027555, .0153899516281, .00182709827109}, {10, -.0727894629203, .151711660703, .177264710377}});
    is(6, 3, muon({.rows = 6, .rate = .02, .by = orthogonalization::polar_express}),
       {{1, -.0102493447921, .0138090674608, .00241523815845}, {10, -.103399650203, .143194772591, .237264422878}});
    is(4, 6, dion2({.rows = 4, .rate = .02, .fraction = .5}),
       {{1, 0, .0135447645984, .00058053856842}, {10, -.0167190965701, .127989384886, .0413613290229}});
    is(6, 3, dion2({.rows = 6, .rate = .02, .fraction = .5}),
       {{1, -.00960331922238, 0, .00181656335575}, {10, -.0571444417122, .0766528529425, .11550860282}});
}

}  // namespace laws
