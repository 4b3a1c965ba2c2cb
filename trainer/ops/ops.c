#include "trainer/ops/ops.h"

#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "base/err.h"
#include "base/mem.h"
#include "trainer/ops/cpu.h"
#include "trainer/ops/fast.h"
#include "trainer/ops/floats.h"
#include "trainer/ops/kernels.h"
#include "trainer/ops/threads.h"

static struct ops cpu_ops(const struct op_table *table, struct cpu fields)
{
	struct cpu *own = mem_zalloc(sizeof(*own));

	*own = fields;
	return (struct ops){.table = table,
	                    .device = &cpu_device,
	                    .own = own,
	                    .rounds = fields.products != NULL && fields.products->rounds
	                                      ? PRECISION_BF16
	                                      : PRECISION_F32,
	                    .part = ""};
}

bool ops_open(const struct ops_options *options, struct ops *ret)
{
	struct cpu cpu = {0};

	*ret = (struct ops){0};
	if (options->precision == PRECISION_F16 || options->precision == PRECISION_TF32 ||
	    (options->reference && options->precision != PRECISION_F32))
		return false;
	if (options->reference) {
		*ret = cpu_ops(&ops_reference, cpu);
		return true;
	}
	cpu.kernels = kernels_find(options->isa);
	if (cpu.kernels == NULL)
		return false;
	cpu.products =
		options->precision == PRECISION_BF16 ? &cpu.kernels->bf16 : &cpu.kernels->f32;
	cpu.threads = threads_new(options->n_threads > 0 ? options->n_threads : cpus_usable());
	*ret = cpu_ops(options->plain_cross ? &ops_fast_plain : &ops_fast, cpu);
	return true;
}

struct ops cpu_alone(const struct ops *ops)
{
	return cpu_ops(&ops_fast, (struct cpu){.kernels = cpu_of(ops)->kernels,
	                                       .products = cpu_of(ops)->products});
}

int ops_require(const struct ops_options *options, struct ops *ret, struct err *err)
{
	if (options->gemm == OP_GEMM_CUBLASLT) {
		err_set(err, ERR_USAGE, "--gemm cublaslt: cuBLASLt is a GPU's");
		return err_hint(err, "Give --gemm auto, or --device cuda.");
	}
	if (ops_open(options, ret))
		return 0;
	if (options->precision == PRECISION_F16) {
		err_set(err, ERR_USAGE, "f16 is a GPU's: a processor multiplies in f32 or bf16");
		return err_hint(err, "Give --precision bf16 or f32, or --device cuda.");
	}
	if (options->precision == PRECISION_TF32) {
		err_set(err, ERR_USAGE, "tf32 is a GPU's: a processor multiplies in f32 or bf16");
		return err_hint(err, "Give --precision f32 or bf16, or --device cuda.");
	}
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
	if (ops->device != NULL) {
		buffer_free(ops, &ops->figures);
		buffer_free(ops, &ops->figures_seen);
		ops->device->close(ops);
	}
	*ops = (struct ops){0};
}

void ops_describe(const struct ops *ops, struct strbuf *sb)
{
	ops->device->describe(ops, sb);
}

void ops_products(const struct ops *ops, struct strbuf *sb)
{
	if (ops->device->products != NULL)
		ops->device->products(ops, sb);
}

const char *ops_isa(const struct ops *ops)
{
	const struct cpu *cpu = cpu_of(ops);

	return cpu->kernels != NULL ? cpu->kernels->name : "reference";
}

enum op_precision ops_rounds(const struct ops *ops)
{
	return ops->rounds;
}

const char *ops_precision(const struct ops *ops)
{
	if (ops_rounds(ops) == PRECISION_F32)
		return "f32";
	return cpu_of(ops)->kernels->native_bf16 ? "bf16" : "bf16 by f32 arithmetic";
}

unsigned ops_threads(const struct ops *ops)
{
	return threads_count(cpu_of(ops)->threads);
}

float *ops_scratch(struct cpu *ops, size_t n)
{
	if (n <= ops->scratch_n)
		return ops->scratch;
	free(ops->scratch);
	ops->scratch = floats_new(n);
	ops->scratch_n = n;
	return ops->scratch;
}
