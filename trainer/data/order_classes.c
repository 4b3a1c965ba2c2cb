#include "trainer/data/order_classes.h"

#include <stdlib.h>

#include "base/mem.h"
#include "trainer/data/order.h"

/* Neighbouring clips of one class. */
struct class_run {
	uint32_t label;
	uint64_t first, n;
	uint64_t before; /* clips of the class in the runs before this one */
};

/* The clips of one class: runs [run, run + n_runs). */
struct class_clips {
	size_t run, n_runs;
	uint64_t n;
};

struct order_classes {
	VEC(struct class_run) runs; /* by label, then by first */
	VEC(struct class_clips) classes;
};

static void find_runs(struct order_classes *c, uint64_t n_clips,
                      uint32_t (*label)(const void *ctx, uint64_t clip), const void *ctx)
{
	for (uint64_t i = 0; i < n_clips; i++) {
		struct class_run run = {.label = label(ctx, i), .first = i, .n = 1};
		struct class_run *last = c->runs.n > 0 ? &c->runs.at[c->runs.n - 1] : NULL;

		if (last != NULL && last->label == run.label)
			last->n++;
		else
			vec_push(&c->runs, run);
	}
}

static int by_label(const void *left, const void *right)
{
	const struct class_run *a = left, *b = right;

	if (a->label != b->label)
		return a->label < b->label ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

/* The sorted runs of a label become a class. */
static void find_classes(struct order_classes *c)
{
	for (size_t i = 0; i < c->runs.n; i++) {
		struct class_run *run = &c->runs.at[i];
		struct class_clips *class;

		if (i == 0 || run->label != run[-1].label) {
			struct class_clips empty = {.run = i};

			vec_push(&c->classes, empty);
		}
		class = &c->classes.at[c->classes.n - 1];
		run->before = class->n;
		class->n += run->n;
		class->n_runs++;
	}
}

struct order_classes *order_classes_new(uint64_t n_clips,
                                        uint32_t (*label)(const void *ctx, uint64_t clip),
                                        const void *ctx)
{
	struct order_classes *c = mem_zalloc(sizeof(*c));

	find_runs(c, n_clips, label, ctx);
	qsort(c->runs.at, c->runs.n, sizeof(*c->runs.at), by_label);
	find_classes(c);
	return c;
}

void order_classes_free(struct order_classes *c)
{
	if (c == NULL)
		return;
	vec_done(&c->runs);
	vec_done(&c->classes);
	free(c);
}

size_t order_classes_n(const struct order_classes *c)
{
	return c->classes.n;
}

/* Clip number x of a class: in the last run that does not begin beyond it. */
static uint64_t clip_of_class(const struct order_classes *c, const struct class_clips *class,
                              uint64_t x)
{
	const struct class_run *runs = c->runs.at + class->run;
	size_t low = 0, high = class->n_runs;

	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (runs[mid].before <= x)
			low = mid;
		else
			high = mid;
	}
	return runs[low].first + (x - runs[low].before);
}

uint64_t order_classes_clip(const struct order_classes *c, uint64_t seed, uint64_t sample)
{
	uint64_t n = c->classes.n, round = sample / n;
	uint64_t k = order_permute(seed, STREAM_CLASSES, round, n, sample % n);
	const struct class_clips *class = &c->classes.at[k];
	/* The pass over the class, and the class, so that no two share their orders. */
	uint64_t which = k << 32 | (uint32_t)(round / class->n);

	return clip_of_class(
		c, class,
		order_permute(seed, STREAM_CLASS_CLIPS, which, class->n, round % class->n));
}
