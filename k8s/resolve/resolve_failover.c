/* fleet.failover: texts into milliseconds. */
#include <stdlib.h>

#include "k8s/resolve/resolve_internal.h"

enum { SECOND_MS = 1000, MINUTE_MS = 60 * SECOND_MS };

/* Ten years: what is longer is as good as never, and sums of it fit. */
static const int64_t longest_ms = 3650LL * 24 * 60 * MINUTE_MS;

/* "1h30m", which check_duration has seen. */
static int64_t duration_ms(const char *text)
{
	int64_t sum = 0;

	while (*text >= '0' && *text <= '9' && sum <= longest_ms) {
		char *unit;
		long long n = strtoll(text, &unit, 10);

		sum += n * (*unit == 'h' ? 60 * MINUTE_MS : *unit == 'm' ? MINUTE_MS : SECOND_MS);
		if (*unit == '\0')
			break;
		text = unit + 1;
	}
	return sum < longest_ms ? sum : longest_ms;
}

void resolve_failover(struct resolver *r)
{
	const struct failover_section *s = &r->sections->fleet.failover;

	r->fleet->failover = (struct fleet_failover){
		.enabled = s->enabled || !r->sections->fleet.set,
		.reclaimed = s->has_reclaimed ? s->reclaimed : r->sections->storage.set,
		.returns = r->sections->job.returns,
		.after_ms = duration_ms(s->after),
		.unschedulable_ms = duration_ms(s->unschedulable),
		.boot_ms = duration_ms(s->boot),
		.backoff_ms = duration_ms(s->backoff),
		.image = s->image,
	};
}
