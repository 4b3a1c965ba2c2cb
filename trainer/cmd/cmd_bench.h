/*
 * The parts of the bench command.
 */
#ifndef SLIPWAY_TRAINER_CMD_CMD_BENCH_H
#define SLIPWAY_TRAINER_CMD_CMD_BENCH_H

#include "base/strbuf.h"
#include "trainer/model/config.h"
#include "trainer/ops/profile.h"

struct jsonw;

/* Per row of a profile: its products in a step, and the seconds of each step. */
struct bench_layers {
	struct profile_row rows[PROFILE_ROWS];
	size_t n, steps, taken;
	double *seconds; /* [PROFILE_ROWS][steps] */
};

void bench_layers_init(struct bench_layers *l, size_t steps);
void bench_layers_done(struct bench_layers *l);

/* Takes over one step's profile; what the rows do not explain of `seconds` becomes a row. */
void bench_layers_take(struct bench_layers *l, const struct profile *p, double seconds);

/* Seconds of a row, the median of the steps. */
double bench_median(struct bench_layers *l, size_t row);

/* The rows with their medians, as a table or as the value of the JSON key `layers`. */
void bench_layers_text(struct bench_layers *l, double peak, struct strbuf *sb);
void bench_layers_json(struct bench_layers *l, double peak, struct jsonw *w);

/* Floating operations per second of multiply-add in registers, all threads; fast ops only. */
double bench_peak(struct ops *ops);

/* Scores that the attentions of a step exponentiate, and whether the cross attention is folded. */
struct bench_scores {
	double cross, self, decoder;
	bool folded;
};

/*
 * Floating operations per second of ops that each thread does alone (cmd_bench_alone.c), all
 * threads together; and that of the op which stands for a row, 0 when none does.
 */
enum { BENCH_ALONE = 4 };
void bench_alone(struct ops *ops, double *ret_rate);
double bench_alone_of(const struct profile_row *row, const double *rate);

/* What bounds each part: its products at the speed of the register tile and its passes over the
 * scores, both measured in the first cache; beside the part alone, and the part's own time. */
void bench_bounds(struct ops *ops, struct bench_layers *l, const struct bench_scores *scores,
                  double peak, struct strbuf *sb);

/* The model's matrix products for `batch` clips and `points` decoded points, timed one by one. */
void bench_shapes(struct ops *ops, const struct model_config *c, size_t batch, size_t points,
                  bool json, struct strbuf *sb);

#endif
