#include "trainer/ops/precision.h"

#include <string.h>

static const char *const names[PRECISIONS] = {
	[PRECISION_F32] = "f32",
	[PRECISION_BF16] = "bf16",
	[PRECISION_F16] = "f16",
	[PRECISION_TF32] = "tf32",
};

const char *precision_name(enum op_precision p)
{
	return names[p];
}

int precision_parse(const char *text, enum op_precision *ret, struct err *err)
{
	for (enum op_precision p = PRECISION_F32; p < PRECISIONS; p++)
		if (strcmp(text, names[p]) == 0) {
			*ret = p;
			return 0;
		}
	return err_set(err, ERR_USAGE, "--precision is '%.60s', expected f32, tf32, bf16 or f16",
	               text);
}
