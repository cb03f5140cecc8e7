// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Models, data readers and solvers: objectives of linear models, softmax regression and networks over rows of data.
#include "laconic/objective/activation.hpp"
#include "laconic/objective/dataset.hpp"
#include "laconic/objective/idx.hpp"
#include "laconic/objective/l1_newton.hpp"
#include "laconic/objective/libsvm.hpp"
#include "laconic/objective/linear_model.hpp"
#include "laconic/objective/linear_party.hpp"
#include "laconic/objective/mixture.hpp"
#include "laconic/objective/neural_network.hpp"
#include "laconic/objective/objective.hpp"
#include "laconic/objective/optimum.hpp"
#include "laconic/objective/output_loss.hpp"
#include "laconic/objective/party.hpp"
#include "laconic/objective/perceptron.hpp"
#include "laconic/objective/regression.hpp"
#include "laconic/objective/softmax.hpp"
#include "laconic/objective/weighted.hpp"
