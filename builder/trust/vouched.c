#include "builder/trust/vouched.h"

#include <string.h>

static bool has_same(const struct signatures *all, const struct signature *wanted)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->at[i].good && all->at[i].statement_len == wanted->statement_len &&
		    memcmp(all->at[i].statement, wanted->statement, wanted->statement_len) == 0)
			return true;
	return false;
}

/* A statement of the first key's that every other one has signed, too. */
static const struct signature *choose(const struct signatures *lists, size_t n)
{
	for (size_t i = 0; i < lists[0].n; i++) {
		const struct signature *s = &lists[0].at[i];
		size_t k = 1;

		while (s->good && k < n && has_same(&lists[k], s))
			k++;
		if (s->good && k == n)
			return s;
	}
	return NULL;
}

int vouched_find(struct store *s, const struct digest *subject, const char *predicate_type,
                 const struct vouchers *by, struct arena *a, struct vouched *ret_vouched,
                 struct err *err)
{
	struct signatures *lists = arena_calloc(a, by->n, sizeof(*lists));
	struct vouched vouched = {.missing = by->n};

	if (by->n == 0)
		BUG("nobody is to vouch for it");
	for (size_t i = 0; i < by->n; i++) {
		const struct signature_wish wish = {.key = by->keys[i],
		                                    .predicate_type = predicate_type,
		                                    .forms = SIGNATURE_BUNDLE,
		                                    .cache = by->cache};

		if (signatures_verify(s, subject, &wish, a, &lists[i], err) != 0)
			return -1;
		if (lists[i].n_good > 0)
			continue;
		*ret_vouched = (struct vouched){.missing = i, .all = lists[i]};
		return 0;
	}
	vouched.statement = choose(lists, by->n);
	*ret_vouched = vouched;
	return 0;
}
