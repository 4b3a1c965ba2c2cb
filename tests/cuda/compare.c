#include "tests/cuda/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trainer/ops/philox.h"

enum { GUARD = 64, ORDERS = 3 };

static struct guarded *add(struct compared *c, size_t n, size_t each, bool result)
{
	struct guarded *a = &c->arrays[c->n++];
	char *all = mem_calloc(n * each + 2 * GUARD, 1);

	memset(all, 0x5a, n * each + 2 * GUARD);
	*a = (struct guarded){.at = all + GUARD, .n = n, .each = each, .result = result};
	return a;
}

static float *floats(struct compared *c, size_t n, bool result)
{
	struct philox r = philox_start(77 + c->n, STREAM_SYNTHETIC, n);
	float *x = add(c, n, sizeof(float), result)->at;

	for (size_t i = 0; i < n; i++)
		x[i] = (float)philox_normal(&r);
	return x;
}

float *compared_input(struct compared *c, size_t n)
{
	return floats(c, n, false);
}

float *compared_result(struct compared *c, size_t n)
{
	return floats(c, n, true);
}

double *compared_doubles(struct compared *c, size_t n)
{
	return add(c, n, sizeof(double), true)->at;
}

static bool guards_whole(const struct guarded *a)
{
	const unsigned char *before = (const unsigned char *)a->at - GUARD;
	const unsigned char *after = (const unsigned char *)a->at + a->n * a->each;

	for (size_t i = 0; i < GUARD; i++)
		if (before[i] != 0x5a || after[i] != 0x5a)
			return false;
	return true;
}

/* All arrays' values, one after the other. */
struct snapshot {
	void *at[GUARDED_MAX];
};

static struct snapshot take(const struct compared *c)
{
	struct snapshot s = {{0}};

	for (size_t i = 0; i < c->n; i++) {
		s.at[i] = mem_calloc(c->arrays[i].n, c->arrays[i].each);
		memcpy(s.at[i], c->arrays[i].at, c->arrays[i].n * c->arrays[i].each);
	}
	return s;
}

static void give_back(const struct compared *c, const struct snapshot *s)
{
	for (size_t i = 0; i < c->n; i++)
		memcpy(c->arrays[i].at, s->at[i], c->arrays[i].n * c->arrays[i].each);
}

static void drop(struct snapshot *s)
{
	for (size_t i = 0; i < GUARDED_MAX; i++)
		free(s->at[i]);
}

static double value(const struct guarded *a, const void *from, size_t i)
{
	return a->each == sizeof(double) ? ((const double *)from)[i] : ((const float *)from)[i];
}

static bool near(const struct compared *c, const struct snapshot *want, char *why, size_t room)
{
	for (size_t k = 0; k < c->n; k++) {
		const struct guarded *a = &c->arrays[k];

		for (size_t i = 0; i < a->n; i++) {
			double x = value(a, a->at, i), y = value(a, want->at[k], i);

			if (x == y || fabs(x - y) <= c->tolerance * (1 + fabs(y)) ||
			    (isnan(x) && isnan(y)))
				continue;
			snprintf(why, room, "value %zu of array %zu is %.9g and not %.9g", i, k, x,
			         y);
			return false;
		}
		if (!guards_whole(a)) {
			snprintf(why, room, "something was written beyond array %zu", k);
			return false;
		}
	}
	return true;
}

static bool same(const struct compared *c, const struct snapshot *first)
{
	for (size_t k = 0; k < c->n; k++)
		if (memcmp(c->arrays[k].at, first->at[k], c->arrays[k].n * c->arrays[k].each) != 0)
			return false;
	return true;
}

static bool run_one(struct compared *c, const struct engine *engine, uint64_t seed,
                    const struct snapshot *want, struct snapshot *first, char *why, size_t room)
{
	struct emulated_queue q = emulated_queue(engine, c->operands, seed);
	bool ok = false;

	c->device(&q.queue, c->op);
	if (q.problem != NULL)
		snprintf(why, room, "%s: %s", q.problem_kernel, q.problem);
	else
		ok = near(c, want, why, room);
	emulated_queue_done(&q);
	if (ok && first->at[0] == NULL)
		*first = take(c);
	if (ok && !same(c, first)) {
		snprintf(why, room, "other bits than the first run's");
		ok = false;
	}
	return ok;
}

/* Devices before 8.0 have neither bf16 nor tf32. Where products are multiply-adds, all devices of a
 * text have the same kernels. */
static bool is_of_use(const struct compared *c, size_t engine)
{
	enum { ONE_OF_EACH = 3 };

	if (c->since > 0)
		return engines[engine].compute >= c->since;
	if (c->operands == OPERANDS_F32)
		return engine < ONE_OF_EACH;
	return c->operands == OPERANDS_F16 || engines[engine].compute >= 80;
}

/* Every engine that has the operands; more orders of threads on the first. */
static bool run_all(struct compared *c, const struct snapshot *before, const struct snapshot *want,
                    char *why, size_t room)
{
	struct snapshot first = {{0}};
	char what[160];
	bool ok = true;

	for (size_t e = 0; e < ENGINES && ok; e++) {
		if (!is_of_use(c, e))
			continue;
		for (uint64_t seed = 0; seed < (e == 0 ? ORDERS : 1) && ok; seed++) {
			give_back(c, before);
			ok = run_one(c, &engines[e], 1000 * seed + e, want, &first, what,
			             sizeof(what));
			if (!ok)
				snprintf(why, room, "%s: %s, order %u: %s", c->name,
				         engines[e].name, (unsigned)seed, what);
		}
	}
	drop(&first);
	return ok;
}

/* FNV-1a. */
static uint64_t sum_of(const struct compared *c)
{
	uint64_t sum = 14695981039346656037u;

	for (size_t k = 0; k < c->n; k++) {
		const unsigned char *bytes = c->arrays[k].at;

		for (size_t i = 0; i < c->arrays[k].n * c->arrays[k].each; i++)
			sum = (sum ^ bytes[i]) * 1099511628211u;
	}
	return sum;
}

const char *compared_run(struct compared *c, const struct engine *engine, uint64_t seed,
                         uint64_t *ret)
{
	struct emulated_queue q = emulated_queue(engine, c->operands, seed);
	struct snapshot before = take(c);

	c->device(&q.queue, c->op);
	*ret = sum_of(c);
	give_back(c, &before);
	drop(&before);
	emulated_queue_done(&q);
	return q.problem;
}

void compared_done(struct compared *c)
{
	for (size_t i = 0; i < c->n; i++)
		free((char *)c->arrays[i].at - GUARD);
	c->n = 0;
}

const char *compare(struct compared *c)
{
	static char why[256];
	struct snapshot before = take(c), want;
	bool ok;

	c->reference(c->op);
	want = take(c);
	ok = run_all(c, &before, &want, why, sizeof(why));
	drop(&before);
	drop(&want);
	compared_done(c);
	return ok ? NULL : why;
}
