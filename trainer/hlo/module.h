/*
 * A graph as a module that a compiler takes: XLA's HloModuleProto, and the text that XLA prints and
 * reads of the same module. What no result needs is left out, but for parameters. The module has
 * the graph as its entry computation, whose result is a tuple, and a computation of two scalars for
 * each kind of reduction in use.
 *
 * The same graph gives the same bytes. Source of the field numbers: xla/service/hlo.proto and
 * xla/xla_data.proto of OpenXLA; of the text: what XLA's parser reads (xla/hlo/parser).
 */
#ifndef SLIPWAY_TRAINER_HLO_MODULE_H
#define SLIPWAY_TRAINER_HLO_MODULE_H

#include "base/strbuf.h"
#include "trainer/hlo/graph.h"

struct hlo_module {
	const char *name;
	const struct hlo_graph *graph;
	const unsigned *results; /* the tuple's, n of them, at least one */
	size_t n;
};

/* Appends the serialized HloModuleProto; at most 1 GiB, else ret->overflow. */
void hlo_encode(const struct hlo_module *m, struct strbuf *ret);

/* Appends the text, a line an instruction. */
void hlo_print(const struct hlo_module *m, struct strbuf *ret);

/* Of each value whether a result needs it, or it is a parameter; the caller frees. */
MUST_USE bool *hlo_live(const struct hlo_module *m);

/* What becomes of all values of a reduction. */
struct hlo_reducer {
	enum hlo_op op, by; /* HLO_SUM by HLO_ADD */
	const char *name;   /* of its computation */
};

/* The reducer of a node, and its number; NULL where the node has none. */
enum { HLO_REDUCERS = 2 };
const struct hlo_reducer *hlo_reducer(const struct hlo_node *node, unsigned *ret_number);
const struct hlo_reducer *hlo_reducer_at(unsigned number);

/* Which reducers the live values use. */
void hlo_reducers_used(const struct hlo_module *m, const bool *live, bool ret[HLO_REDUCERS]);

#endif
