#include "trainer/train/loss_scale.h"

#include <math.h>

double loss_scale_of(const struct loss_scale *s, enum op_precision precision)
{
	return precision == PRECISION_F16 ? ldexp(1, LOSS_SCALE_FIRST + s->moved) : 1;
}

bool loss_scale_lower(struct loss_scale *s, enum op_precision precision)
{
	if (precision != PRECISION_F16 || LOSS_SCALE_FIRST + s->moved <= 0)
		return false;
	*s = (struct loss_scale){.moved = s->moved - 1};
	return true;
}

void loss_scale_update(struct loss_scale *s, enum op_precision precision)
{
	if (precision != PRECISION_F16 || ++s->good < LOSS_SCALE_RAISE)
		return;
	s->good = 0;
	s->moved += LOSS_SCALE_FIRST + s->moved < LOSS_SCALE_LARGEST;
}
