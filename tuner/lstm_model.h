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
  void add(LstmProduct product, const Step& step, double times, Prediction& sum) const;
  double elementwise_seconds() const;

  Problem problem_;
  Lstm lstm_;
  Conditions conditions_;
  Limits limits_;
  std::vector<Model> models_;  ///< by LstmProduct
};

}  // namespace loopbrick
