/*
 * A stand-in for libcublasLt.so.12: plain loops, which the stand-in for the driver runs in their
 * stream's order as it does kernels, so that recordings have them, too. Operands are rounded as the
 * compute type allows. It checks what the library would refuse, or read wrongly and never say: lives
 * and sizes of handles and attributes, types, sizes and distances of matrices that belong together,
 * that an algorithm is used for what it was found for, that addresses are aligned as was promised,
 * and that all of it, the workspace, too, lies in the device's memory.
 *
 * A product takes half of the time that a kernel of the driver's stand-in with its tiles would, one
 * of a depth below STANDIN_LT_SLOW_BELOW (16) twice of it.
 *
 * Variables: STANDIN_LT_VERSION (120405); STANDIN_LT_FAIL_CALL, STANDIN_LT_FAIL_AT (1) and
 * STANDIN_LT_STATUS (14) have a call fail once; STANDIN_LT_LACKS is a depth for which no algorithm
 * is found; STANDIN_REPORT gets a line at the end of the process: "cublaslt N products M recorded
 * held N problem TEXT" with the products asked for, those that were part of a recording among them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cuda/cublaslt_standin.h"
#include "tests/cuda/emulate.h"
#include "tests/cuda/standin_internal.h"
#include "tests/cuda/uses.h"
#include "trainer/cuda/cublaslt_library.h"

enum { FINE = 0, NOT_INITIALIZED = 1, INVALID = 7, UNSUPPORTED = 15 };
enum { WORKSPACE_NEEDED = 1 << 20, TILE = 64 };

enum kind { HANDLE = 0x4c74, OPERATION, LAYOUT, PREFERENCE };

/* What any of the library's objects is. */
struct object {
	enum kind kind;
	int compute, transpose[2], epilogue; /* an operation's */
	const float *bias;
	uint64_t rows, columns; /* a layout's */
	int64_t stride;
	uint64_t workspace; /* a preference's */
	uint32_t aligned[4];
};

/* A product: what the task holds. Columns lie side by side, `stride` from one to the next. */
struct matrix {
	const float *at;
	uint32_t stride;
	uint32_t transposed;
};

struct lt_product {
	struct matrix a, b;
	const float *c, *bias;
	float *d;
	uint32_t m, n, k, c_stride;
	float beta;
	int compute;
};

_Static_assert(sizeof(struct lt_product) <= PARAMS_MAX, "a task holds a product");

/* What an algorithm remembers of what it was found for. */
struct found_for {
	uint32_t m, n, k, ld[3];
	int compute, transposed, epilogue;
	uint32_t aligned[4];
};

static struct {
	struct standin_cublaslt_state state;
	char fail_call[64];
	size_t fail_at, calls;
	int status;
} lt;

static struct uses uses;

static size_t setting(const char *name, size_t otherwise)
{
	const char *text = getenv(name);

	return text != NULL ? strtoul(text, NULL, 10) : otherwise;
}

void standin_cublaslt_fail(const char *call, size_t at, int status)
{
	lt.state = (struct standin_cublaslt_state){0};
	snprintf(lt.fail_call, sizeof(lt.fail_call), "%s", call);
	lt.fail_at = at;
	lt.calls = 0;
	lt.status = status;
}

struct standin_cublaslt_state standin_cublaslt_state(void)
{
	return lt.state;
}

__attribute__((constructor)) static void begin(void)
{
	const char *call = getenv("STANDIN_LT_FAIL_CALL");

	standin_cublaslt_fail(call != NULL ? call : "", setting("STANDIN_LT_FAIL_AT", 1),
	                      (int)setting("STANDIN_LT_STATUS", 14));
}

__attribute__((destructor)) static void report(void)
{
	const char *path = getenv("STANDIN_REPORT");
	FILE *f = path != NULL && lt.state.calls > 0 ? fopen(path, "a") : NULL;

	uses_report(&uses);
	if (f == NULL)
		return;
	fprintf(f, "cublaslt %zu products %zu recorded held %zu problem %s\n", lt.state.products,
	        lt.state.recorded, lt.state.held,
	        lt.state.problem != NULL ? lt.state.problem : "none");
	(void)fclose(f);
}

static int refuse(int status, const char *problem)
{
	if (lt.state.problem == NULL)
		lt.state.problem = problem;
	return status;
}

/* 0, or what this call is to fail with. */
static int planted(const char *name)
{
	lt.state.calls++;
	uses_count(&uses, name);
	if (strcmp(lt.fail_call, name) != 0)
		return 0;
	return ++lt.calls == lt.fail_at ? lt.status : 0;
}

#define MAY_FAIL                                                                                   \
	do {                                                                                       \
		int fails = planted(__func__);                                                     \
                                                                                                   \
		if (fails != 0)                                                                    \
			return fails;                                                              \
	} while (0)

/* ---- objects ---- */

static struct object *make(enum kind kind)
{
	struct object *o = calloc(1, sizeof(*o));

	if (o == NULL)
		abort();
	o->kind = kind;
	lt.state.held++;
	return o;
}

static const struct object *as(const void *at, enum kind kind)
{
	const struct object *o = at;

	return o != NULL && o->kind == kind ? o : NULL;
}

/* Like the library, it gives back what it holds whatever it then answers. */
static int drop(void *at, enum kind kind, const char *name)
{
	struct object *o = at;
	int fails;

	if (as(at, kind) == NULL)
		return refuse(INVALID, "something else, or nothing, given back");
	o->kind = 0;
	free(o);
	lt.state.held--;
	fails = planted(name);
	return fails;
}

size_t cublasLtGetVersion(void)
{
	return setting("STANDIN_LT_VERSION", 120405);
}

int cublasLtCreate(void **handle)
{
	MAY_FAIL;
	if (!gpu.current)
		return refuse(NOT_INITIALIZED, "begun without a context");
	*handle = make(HANDLE);
	return FINE;
}

int cublasLtDestroy(void *handle)
{
	return drop(handle, HANDLE, __func__);
}

int cublasLtMatmulDescCreate(void **operation, int compute, int scale)
{
	struct object *o;

	MAY_FAIL;
	if (scale != CUBLASLT_FLOAT ||
	    (compute != CUBLASLT_COMPUTE_F32 && compute != CUBLASLT_COMPUTE_F16 &&
	     compute != CUBLASLT_COMPUTE_BF16 && compute != CUBLASLT_COMPUTE_TF32))
		return refuse(INVALID, "an arithmetic that is not the trainer's");
	o = make(OPERATION);
	o->compute = compute;
	o->epilogue = 1;
	*operation = o;
	return FINE;
}

int cublasLtMatmulDescSetAttribute(void *operation, int attribute, const void *value, size_t n)
{
	struct object *o = operation;
	int number = 0;

	MAY_FAIL;
	if (as(o, OPERATION) == NULL || n != (attribute == CUBLASLT_BIAS ? 8 : 4))
		return refuse(INVALID, "an attribute of nothing, or of another size");
	if (attribute == CUBLASLT_BIAS) {
		memcpy(&o->bias, value, sizeof(o->bias));
		return FINE;
	}
	memcpy(&number, value, sizeof(number));
	if ((attribute == CUBLASLT_TRANSPOSE_A || attribute == CUBLASLT_TRANSPOSE_B) &&
	    number == CUBLASLT_TRANSPOSED)
		o->transpose[attribute - CUBLASLT_TRANSPOSE_A] = 1;
	else if (attribute == CUBLASLT_EPILOGUE && number == CUBLASLT_EPILOGUE_BIAS)
		o->epilogue = number;
	else
		return refuse(INVALID, "an attribute that the trainer does not use");
	return FINE;
}

int cublasLtMatmulDescDestroy(void *operation)
{
	return drop(operation, OPERATION, __func__);
}

int cublasLtMatrixLayoutCreate(void **layout, int type, uint64_t rows, uint64_t columns,
                               int64_t stride)
{
	struct object *o;

	MAY_FAIL;
	if (type != CUBLASLT_FLOAT || rows == 0 || columns == 0 || stride < (int64_t)rows)
		return refuse(INVALID, "a matrix of another type, or whose columns overlap");
	o = make(LAYOUT);
	o->rows = rows;
	o->columns = columns;
	o->stride = stride;
	*layout = o;
	return FINE;
}

int cublasLtMatrixLayoutDestroy(void *layout)
{
	return drop(layout, LAYOUT, __func__);
}

int cublasLtMatmulPreferenceCreate(void **preference)
{
	MAY_FAIL;
	*preference = make(PREFERENCE);
	return FINE;
}

int cublasLtMatmulPreferenceSetAttribute(void *preference, int attribute, const void *value,
                                         size_t n)
{
	struct object *o = preference;
	int which = attribute - CUBLASLT_ALIGNMENT;

	MAY_FAIL;
	if (as(o, PREFERENCE) == NULL || n != (attribute == CUBLASLT_WORKSPACE_MAX ? 8 : 4))
		return refuse(INVALID, "a preference of nothing, or of another size");
	if (attribute == CUBLASLT_WORKSPACE_MAX)
		memcpy(&o->workspace, value, sizeof(o->workspace));
	else if (which >= 0 && which < 4)
		memcpy(&o->aligned[which], value, sizeof(o->aligned[which]));
	else
		return refuse(INVALID, "a preference that the trainer does not have");
	return FINE;
}

int cublasLtMatmulPreferenceDestroy(void *preference)
{
	return drop(preference, PREFERENCE, __func__);
}

/* ---- choosing ---- */

struct product_of {
	const struct object *operation, *a, *b, *c, *d;
};

static bool equal(const struct object *a, const struct object *b)
{
	return a->rows == b->rows && a->columns == b->columns && a->stride == b->stride;
}

/* Objects that make up a product; *ret what an algorithm for it remembers. */
static bool belong(const struct product_of *p, struct found_for *ret)
{
	const struct object *o = p->operation;
	uint64_t m, k, k_of_b, n;

	if (o == NULL || p->a == NULL || p->b == NULL || p->c == NULL || p->d == NULL)
		return false;
	m = o->transpose[0] ? p->a->columns : p->a->rows;
	k = o->transpose[0] ? p->a->rows : p->a->columns;
	k_of_b = o->transpose[1] ? p->b->columns : p->b->rows;
	n = o->transpose[1] ? p->b->rows : p->b->columns;
	memset(ret, 0, sizeof(*ret));
	*ret = (struct found_for){
		.m = (uint32_t)m,
		.n = (uint32_t)n,
		.k = (uint32_t)k,
		.ld = {(uint32_t)p->a->stride, (uint32_t)p->b->stride, (uint32_t)p->d->stride},
		.compute = o->compute,
		.transposed = o->transpose[0] + 2 * o->transpose[1],
		.epilogue = o->epilogue};
	return k == k_of_b && p->d->rows == m && p->d->columns == n && equal(p->c, p->d);
}

/* An algorithm is 64 bytes that mean nothing to anybody else: here, where its product is. */
enum { ALGORITHMS = 512 };
static struct found_for algorithms[ALGORITHMS];
static size_t n_algorithms;

static bool is_power(uint32_t n)
{
	return n >= 4 && n <= 256 && (n & (n - 1)) == 0;
}

int cublasLtMatmulAlgoGetHeuristic(void *handle, void *operation, void *a, void *b, void *c,
                                   void *d, void *preference, int wanted,
                                   struct cublaslt_found *found, int *n_found)
{
	struct product_of p = {as(operation, OPERATION), as(a, LAYOUT), as(b, LAYOUT),
	                       as(c, LAYOUT), as(d, LAYOUT)};
	const struct object *o = as(preference, PREFERENCE);
	struct found_for f;

	MAY_FAIL;
	if (as(handle, HANDLE) == NULL || o == NULL || wanted != 1 || !belong(&p, &f))
		return refuse(INVALID, "an algorithm asked for matrices that do not fit");
	if (f.epilogue == CUBLASLT_EPILOGUE_BIAS && p.operation->bias == NULL)
		return refuse(INVALID, "a bias that is nowhere");
	*n_found = 0;
	if (f.k == setting("STANDIN_LT_LACKS", 0) || o->workspace < WORKSPACE_NEEDED)
		return UNSUPPORTED;
	for (int i = 0; i < 4; i++)
		if (!is_power(f.aligned[i] = o->aligned[i]))
			return refuse(INVALID, "an alignment that is not one");
	algorithms[n_algorithms % ALGORITHMS] = f;
	*found = (struct cublaslt_found){.algorithm = {{HANDLE, n_algorithms++ % ALGORITHMS}},
	                                 .workspace = WORKSPACE_NEEDED};
	*n_found = 1;
	return FINE;
}

/* ---- multiplying ---- */

static float rounded(float value, int compute)
{
	return compute == CUBLASLT_COMPUTE_BF16   ? bf16_value(bf16_bits(value))
	       : compute == CUBLASLT_COMPUTE_F16  ? f16_value(f16_bits(value))
	       : compute == CUBLASLT_COMPUTE_TF32 ? tf32_value(tf32_bits(value))
	                                          : value;
}

static float element(const struct matrix *x, size_t row, size_t column)
{
	return x->transposed ? x->at[row * x->stride + column] : x->at[column * x->stride + row];
}

static void run_product(const void *params)
{
	const struct lt_product *p = params;

	for (size_t j = 0; j < p->n; j++)
		for (size_t i = 0; i < p->m; i++) {
			float sum = 0, *to = &p->d[j * p->c_stride + i];

			for (size_t l = 0; l < p->k; l++)
				sum = fmaf(rounded(element(&p->a, i, l), p->compute),
				           rounded(element(&p->b, l, j), p->compute), sum);
			if (p->beta != 0)
				sum += p->c[j * p->c_stride + i];
			*to = sum + (p->bias != NULL ? p->bias[i] : 0);
		}
}

static const struct standin_kernel product_kernel = {
	"cublasLt", "product", run_product, 0, 0, sizeof(struct lt_product)};

/* All of a matrix is the device's, and where it was promised to begin. */
static bool lies_there(const void *at, const struct object *layout, uint32_t aligned)
{
	size_t last = (size_t)layout->stride * (layout->columns - 1) + layout->rows;

	return (uintptr_t)at % aligned == 0 && within(at, last * sizeof(float));
}

static double us_of(const struct found_for *f)
{
	double tiles = (double)((f->m + TILE - 1) / TILE) * ((f->n + TILE - 1) / TILE);

	return tiles * 128 / 1000 * (f->k < setting("STANDIN_LT_SLOW_BELOW", 16) ? 2 : 0.5);
}

static bool is_for(const struct cublaslt_algorithm *algorithm, const struct found_for *f)
{
	struct found_for g;

	if (algorithm == NULL || algorithm->data[0] != HANDLE || algorithm->data[1] >= ALGORITHMS)
		return false;
	g = algorithms[algorithm->data[1]];
	memset(g.aligned, 0, sizeof(g.aligned));
	return memcmp(&g, f, sizeof(g)) == 0;
}

int cublasLtMatmul(void *handle, void *operation, const void *alpha, const void *a, void *a_layout,
                   const void *b, void *b_layout, const void *beta, const void *c, void *c_layout,
                   void *d, void *d_layout, const struct cublaslt_algorithm *algorithm,
                   void *workspace, size_t workspace_n, void *stream)
{
	struct product_of p = {as(operation, OPERATION), as(a_layout, LAYOUT), as(b_layout, LAYOUT),
	                       as(c_layout, LAYOUT), as(d_layout, LAYOUT)};
	struct task t = {.kernel = &product_kernel, .grid = {1, 1, 1}};
	struct lt_product *l = (struct lt_product *)t.params;
	const uint32_t *aligned;
	struct found_for f;
	float one, add;

	MAY_FAIL;
	if (as(handle, HANDLE) == NULL || !belong(&p, &f) || !is_for(algorithm, &f))
		return refuse(INVALID, "a product of what does not fit, or by another's algorithm");
	aligned = algorithms[algorithm->data[1]].aligned;
	if (!lies_there(a, p.a, aligned[0]) || !lies_there(b, p.b, aligned[1]) ||
	    !lies_there(c, p.c, aligned[2]) || !lies_there(d, p.d, aligned[3]))
		return refuse(INVALID, "a matrix that is not the device's, or not aligned");
	if (workspace_n < WORKSPACE_NEEDED || (uintptr_t)workspace % 256 != 0 ||
	    !within(workspace, workspace_n))
		return refuse(INVALID, "a workspace that is too small, or not the device's");
	if (f.epilogue == CUBLASLT_EPILOGUE_BIAS && !within(p.operation->bias, f.m * sizeof(float)))
		return refuse(INVALID, "a bias that is not the device's");
	memcpy(&one, alpha, sizeof(one));
	memcpy(&add, beta, sizeof(add));
	if (one != 1 || (add != 0 && add != 1))
		return refuse(INVALID, "factors that the trainer does not have");
	*l = (struct lt_product){.a = {a, f.ld[0], (uint32_t)p.operation->transpose[0]},
	                         .b = {b, f.ld[1], (uint32_t)p.operation->transpose[1]},
	                         .c = c,
	                         .bias = f.epilogue == CUBLASLT_EPILOGUE_BIAS ? p.operation->bias
	                                                                      : NULL,
	                         .d = d,
	                         .m = f.m,
	                         .n = f.n,
	                         .k = f.k,
	                         .c_stride = f.ld[2],
	                         .beta = add,
	                         .compute = f.compute};
	t.us = us_of(&f);
	lt.state.products++;
	lt.state.recorded += is_recording();
	return push(&t, stream) == 0 ? FINE : refuse(INVALID, "not a stream");
}
