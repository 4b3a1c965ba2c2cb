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
