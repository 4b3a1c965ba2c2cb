#include "trainer/ops/gemm_choice.h"

#include <string.h>

static const char *const names[OP_GEMMS] = {
	[OP_GEMM_AUTO] = "auto",
	[OP_GEMM_OWN] = "own",
	[OP_GEMM_CUBLASLT] = "cublaslt",
};

int gemm_choice_parse(const char *text, enum op_gemm *ret, struct err *err)
{
	for (enum op_gemm g = OP_GEMM_AUTO; g < OP_GEMMS; g++)
		if (strcmp(text, names[g]) == 0) {
			*ret = g;
			return 0;
		}
	return err_set(err, ERR_USAGE, "--gemm is '%.60s', expected auto, own or cublaslt", text);
}
