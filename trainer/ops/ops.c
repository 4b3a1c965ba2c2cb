#include "trainer/ops/ops.h"

#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "base/err.h"
#include "trainer/ops/cpu.h"
#include "trainer/ops/fast.h"
#include "trainer/ops/floats.h"
#include "trainer/ops/kernels.h"
#include "trainer/ops/threads.h"

bool ops_open(const struct ops_options *options, struct ops *ret)
{
	*ret = (struct ops){.table = &ops_reference, .device = &cpu_device, .part = ""};
	if (options->reference)
		return options->precision == PRECISION_F32;
	ret->kernels = kernels_find(options->isa);
	if (ret->kernels == NULL)
		return false;
	ret->products =
		options->precision == PRECISION_BF16 ? &ret->kernels->bf16 : &ret->kernels->f32;
	ret->table = options->plain_cross ? &ops_fast_plain : &ops_fast;
	ret->threads = threads_new(options->n_threads > 0 ? options->n_threads : cpus_usable());
	return true;
}

int ops_require(const struct ops_options *options, struct ops *ret, struct err *err)
{
	if (ops_open(options, ret))
		return 0;
	if (options->reference) {
		err_set(err, ERR_USAGE, "the reference arithmetic has no bf16");
		return err_hint(err, "Give --precision f32, or the fast path.");
	}
	err_set(err, ERR_USAGE, "this processor does not support the instruction set '%.60s'",
	        options->isa != NULL ? options->isa : "");
	return err_hint(err, "slipway-trainer probe shows what it supports.");
}

void ops_done(struct ops *ops)
{
	if (ops->device != NULL)
		ops->device->close(ops);
	*ops = (struct ops){0};
}

void ops_describe(const struct ops *ops, struct strbuf *sb)
{
	ops->device->describe(ops, sb);
}

const char *ops_isa(const struct ops *ops)
{
	return ops->kernels != NULL ? ops->kernels->name : "reference";
}

enum op_precision ops_rounds(const struct ops *ops)
{
	return ops->products != NULL && ops->products->per == 2 ? PRECISION_BF16 : PRECISION_F32;
}

const char *ops_precision(const struct ops *ops)
{
	if (ops_rounds(ops) == PRECISION_F32)
		return "f32";
	return ops->kernels->native_bf16 ? "bf16" : "bf16 by f32 arithmetic";
}

unsigned ops_threads(const struct ops *ops)
{
	return threads_count(ops->threads);
}

float *ops_scratch(struct ops *ops, size_t n)
{
	if (n <= ops->scratch_n)
		return ops->scratch;
	free(ops->scratch);
	ops->scratch = floats_new(n);
	ops->scratch_n = n;
	return ops->scratch;
}
