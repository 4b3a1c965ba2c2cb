/* See budget.h. */
#include "builder/oci/budget.h"

#include <time.h>

#include "base/interrupt.h"
#include "base/text.h"

/* More than the best that gzip can do. */
enum { RATIO_MAX = 1100, WINDOW_POLL_NS = 5000000 };

#define MIB (INT64_C(1) << 20)

struct bound {
	int64_t floor, per_byte; /* allowed at least, and for each compressed byte read */
	int64_t most;
	bool in_bytes;
	const char *before, *after; /* of the bound, in the message */
};

static const struct bound bounds[BUDGET_COSTS] = {
	[BUDGET_UNPACKED] = {512 * MIB, RATIO_MAX, 256 * 1024 * MIB, true,
                             "the layers unpack to more than", ""},
	[BUDGET_KEPT] = {64 * MIB, 32, INT64_MAX, true,
                         "the layers' paths, links and programs take more than", " of memory"},
	[BUDGET_STEPS] = {8 * MIB, 64, INT64_MAX, false, "the layers' paths lead through more than",
                          " folders and links"},
};

void budget_earn(struct budget *b, int64_t packed)
{
	if (b != NULL)
		atomic_fetch_add_explicit(&b->packed, packed, memory_order_relaxed);
}

/* Adds without passing INT64_MAX: a hole may be that large. */
void budget_spend(struct budget *b, enum budget_cost cost, int64_t amount)
{
	if (b == NULL || amount <= 0)
		return;
	int64_t before = atomic_load_explicit(&b->spent[cost], memory_order_relaxed), after;

	do {
		if (__builtin_add_overflow(before, amount, &after))
			after = INT64_MAX;
	} while (!atomic_compare_exchange_weak_explicit(
		&b->spent[cost], &before, after, memory_order_relaxed, memory_order_relaxed));
}

void budget_spend_arena(struct budget *b, const struct arena *a, size_t *mark)
{
	if (a->bytes != *mark)
		budget_spend(b, BUDGET_KEPT, (int64_t)(a->bytes - *mark));
	*mark = a->bytes;
}

static int64_t bound_of(const struct budget *b, enum budget_cost cost)
{
	int64_t bytes = atomic_load_explicit(&b->packed, memory_order_relaxed), bound;

	if (b->max_unpacked != 0 && cost == BUDGET_UNPACKED)
		return b->max_unpacked;
	/* Who allows so many unpacked bytes allows what they hold. */
	if (bytes < b->max_unpacked / RATIO_MAX)
		bytes = b->max_unpacked / RATIO_MAX;
	if (__builtin_mul_overflow(bytes, bounds[cost].per_byte, &bound) ||
	    __builtin_add_overflow(bound, bounds[cost].floor, &bound) || bound > bounds[cost].most)
		return bounds[cost].most;
	return bound;
}

static bool over(const struct budget *b, enum budget_cost cost)
{
	return atomic_load_explicit(&b->spent[cost], memory_order_relaxed) > bound_of(b, cost);
}

bool budget_exceeded(const struct budget *b)
{
	for (size_t cost = 0; b != NULL && cost < BUDGET_COSTS; cost++)
		if (over(b, (enum budget_cost)cost))
			return true;
	return false;
}

static int fail(const struct budget *b, enum budget_cost cost, struct err *err)
{
	const struct bound *row = &bounds[cost];
	char bound[TEXT_BYTES_MAX], packed[TEXT_BYTES_MAX];

	if (row->in_bytes)
		text_bytes(bound_of(b, cost), bound);
	else
		snprintf(bound, sizeof(bound), "%lld", (long long)bound_of(b, cost));
	err_set(err, ERR_LIMIT, "%s %s%s, and weigh only %s", row->before, bound, row->after,
	        text_bytes(atomic_load(&b->packed), packed));
	return err_hint(err, "if the image is to be trusted, allow it more: --max-unpacked SIZE, "
	                     "or image.check.max_unpacked in the spec of a build");
}

int budget_check(const struct budget *b, struct err *err)
{
	for (size_t cost = 0; b != NULL && cost < BUDGET_COSTS; cost++)
		if (over(b, (enum budget_cost)cost))
			return fail(b, (enum budget_cost)cost, err);
	return 0;
}

int budget_hold_window(struct budget *b, struct err *err)
{
	const struct timespec pause = {0, WINDOW_POLL_NS};

	while (b != NULL && atomic_exchange(&b->large_window, true)) {
		if (interrupt_check(err) != 0)
			return -1;
		(void)nanosleep(&pause, NULL);
	}
	return 0;
}

void budget_release_window(struct budget *b)
{
	if (b != NULL)
		atomic_store(&b->large_window, false);
}
