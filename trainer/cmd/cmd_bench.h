/*
 * The parts of the bench command.
 */
#ifndef SLIPWAY_TRAINER_CMD_CMD_BENCH_H
#define SLIPWAY_TRAINER_CMD_CMD_BENCH_H

#include "base/strbuf.h"
#include "trainer/model/config.h"
#include "trainer/ops/profile.h"

struct jsonw;

/*
 * Per row of a profile: its products in a step, and the seconds of each step. A machine's speed
 * drifts from step to step, so each step has a peak of its own, the greater one of two taken just
 * before and after it: shares are of that, and the middle one of the steps' shares counts.
 */
struct bench_layers {
	struct profile_row rows[PROFILE_ROWS];
	size_t n, steps, taken;
	double *seconds; /* [PROFILE_ROWS][steps] */
	double *peaks;   /* [steps], floating operations per second; 0 for the reference */
};

void bench_layers_init(struct bench_layers *l, size_t steps);
void bench_layers_done(struct bench_layers *l);

/* Takes over one step's profile; what the rows do not explain of `seconds` becomes a row. */
void bench_layers_take(struct bench_layers *l, const struct profile *p, double seconds,
                       double peak);

/* Seconds of a row, and its share of each step's peak (0 without one): the medians of the steps. */
double bench_seconds(const struct bench_layers *l, size_t row);
double bench_row_share(const struct bench_layers *l, size_t row);

/* The rows with their medians, as a table or as the value of the JSON key `layers`. */
void bench_layers_text(const struct bench_layers *l, struct strbuf *sb);
void bench_layers_json(const struct bench_layers *l, struct jsonw *w);

/*
 * Floating operations per second of multiply-add in registers (cmd_bench_peak.c), all threads, fast
 * ops only: over so many rounds, of which a million take some 5 ms. LONG is for beside a step.
 */
enum { BENCH_PEAK_SHORT = 1000000, BENCH_PEAK_LONG = 6000000 };
double bench_peak(struct ops *ops, size_t rounds);

/* The middle one of n > 0 values, which it sorts. */
double bench_middle(double *values, size_t n);

/*
 * once, which returns a rate in floating operations per second, and the peak in turns: the median
 * of each turn's share, whose two sides saw the same moment of the machine.
 */
double bench_share(struct ops *ops, size_t turns, double (*once)(void *ctx), void *ctx);

/* Scores that the attentions of a step exponentiate, and whether the cross attention is folded. */
struct bench_scores {
	double cross, self, decoder;
	bool folded;
};

/*
 * Ops that each thread does alone (cmd_bench_alone.c): one of them done once, in floating
 * operations per second of all threads together. And the share of the one that stands for a row, 0
 * when none does.
 */
enum { BENCH_ALONE = 4 };
struct bench_alone;
struct bench_alone *bench_alone_new(struct ops *ops);
void bench_alone_free(struct bench_alone *r);
double bench_alone_once(struct bench_alone *r, size_t op);
double bench_alone_of(const struct profile_row *row, const double *share);

/*
 * The attentions' loops, their operands where a step's lie (cmd_bench_far.c): one of them done
 * once, in floating operations per second; what they are called, each with its share of the peak;
 * and for an attention's row the best of its shares, and the operations of a score in the loop,
 * false when there is none.
 */
enum { BENCH_FAR = 8 };
struct bench_far;
struct bench_far *bench_far_new(struct ops *ops);
void bench_far_free(struct bench_far *r);
double bench_far_once(struct bench_far *r, size_t row);
void bench_far_text(const double *share, struct strbuf *sb);
bool bench_far_of(const struct profile_row *row, const double *share, double *ret_flop,
                  double *ret_share);

/*
 * What bounds each part: its products at the speed of the register tile and its passes over the
 * scores, both measured in the first cache, and these with their operands where a step's lie. A
 * turn belongs after each of `steps` steps, so that a part and its bound see the same moments of
 * the machine. The text has, beside the bounds, the part alone, its own share, and whether it meets
 * the target: 75 % of the peak, 60 % of that of bf16.
 */
struct bench_bounds;
struct bench_bounds *bench_bounds_new(struct ops *ops, size_t steps);
void bench_bounds_free(struct bench_bounds *b); /* takes NULL */
void bench_bounds_turn(struct bench_bounds *b);
void bench_bounds_text(struct bench_bounds *b, const struct bench_layers *l,
                       const struct bench_scores *scores, double peak, struct strbuf *sb);

/* Products of n x n by n on a device, beside multiply-adds in its registers, and what a step of the
 * config needs; as text or JSON. */
struct bench_products {
	const struct model_config *config;
	size_t n;
	bool json;
};
int bench_products(const struct bench_products *b, struct ops *ops, struct strbuf *sb,
                   struct err *err) MUST_USE;

/* The model's matrix products for `batch` clips and `points` decoded points, timed one by one. */
void bench_shapes(struct ops *ops, const struct model_config *c, size_t batch, size_t points,
                  bool json, struct strbuf *sb);

#endif
