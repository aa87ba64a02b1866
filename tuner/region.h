#pragma once
#include <array>

#include "loops/contraction.h"
#include "loops/schedule.h"

namespace loopbrick {

/// How many elements of each axis one round of a loop walks.
struct Region {
  std::array<double, kAxisCount> size{};

  double& operator[](Axis axis) { return size[static_cast<std::size_t>(index_of(axis))]; }
  double operator[](Axis axis) const { return size[static_cast<std::size_t>(index_of(axis))]; }
};

/// All of the problem; an axis it lacks or of extent 0 counts as 1.
Region whole_region(const Contraction& contraction);

/// Elements that the loop walks in this region.
double around(const Region& region, const Loop& loop);

/// The region of one round of `step` elements.
void shrink(Region& region, const Loop& loop, double step);

/// Whole parts of `total`, the last one shorter.
double parts(double total, double step);

/// The loop at place i of the step, nullptr where a copy stands.
const Loop* loop_at(const Step& step, int i);

}  // namespace loopbrick
