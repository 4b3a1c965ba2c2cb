/*
 * The derivative of a graph's value, as more values of the same graph: reverse accumulation over
 * its nodes (Griewank and Walther, "Evaluating Derivatives", section 3.2), one rule for each
 * operator.
 */
#ifndef SLIPWAY_TRAINER_HLO_GRADIENT_H
#define SLIPWAY_TRAINER_HLO_GRADIENT_H

#include "trainer/hlo/graph.h"

/*
 * ret[i] = d(of)/d(by[i]), of by[i]'s shape, in float32; `of` is a scalar of float32. The largest
 * of a reduction, comparisons, signs and bits count as constants: softmax, which subtracts its
 * largest, does not change by it. Rounding to bfloat16 counts as the identity; where the graph
 * rounds, the products that the derivative adds round their operands, too.
 */
void hlo_gradient(struct hlo_graph *g, unsigned of, const unsigned *by, size_t n, unsigned *ret);

#endif
