#include "trainer/train/schedule.h"

#include <math.h>

double schedule_lr(const struct schedule_options *s, double lr, uint64_t step)
{
	double progress;

	if (step < s->warmup_steps)
		return lr * (double)(step + 1) / (double)s->warmup_steps;
	if (s->kind == SCHEDULE_CONSTANT || step < s->decay_from || s->total_steps <= s->decay_from)
		return lr;
	progress = (double)(step - s->decay_from) / (double)(s->total_steps - s->decay_from);
	progress = progress < 1 ? progress : 1;
	return lr * (s->final_factor + (1 - s->final_factor) * 0.5 * (1 + cos(M_PI * progress)));
}

void schedule_fit(struct schedule_options *s, uint64_t total)
{
	if (s->warmup_share > 0)
		s->warmup_steps = (uint64_t)llround(s->warmup_share * (double)total);
	s->decay_from = (uint64_t)llround(s->decay_share * (double)total);
	if (s->decay_from < s->warmup_steps)
		s->decay_from = s->warmup_steps;
	s->total_steps = total;
}
