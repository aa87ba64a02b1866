#pragma once
#include <vector>

#include "loops/lstm_steps.h"
#include "tuner/model.h"

namespace loopbrick {

/// What an LSTM's schedule costs: its products by the Model, those of a time step T times, the
/// element-wise parts by the vector, a barrier for each that the text has.
///
/// Needs    the schedule is valid for the problem (why_not of loops/plan.h says nothing).
/// Threads  predict may be called at once.
class LstmModel {
 public:
  LstmModel(const Problem& problem, const Conditions& conditions, const Machine& machine,
            const Limits& limits);

  Prediction predict(const Schedule& schedule) const;

 private:
  void add(const Model& product, const Step& step, double times, Prediction& sum) const;
  const Model& model(LstmProduct product) const {
    return models_[static_cast<std::size_t>(product)];
  }
  double elementwise_seconds() const;

  Problem problem_;
  Lstm lstm_;
  Conditions conditions_;
  Limits limits_;
  std::vector<Model> models_;       ///< by LstmProduct
  std::vector<Model> of_one_step_;  ///< dx, dw and dr of one time step
};

}  // namespace loopbrick
