#include "trainer/cuda/cublaslt.h"

#include <stdlib.h>

#include "base/mem.h"
#include "trainer/cuda/cublaslt_library.h"
#include "trainer/cuda/driver_internal.h"
#include "trainer/cuda/failure.h"

/* As much as products of a Hopper's size may want; the documentation's recommendation. */
enum { WORKSPACE = 32 << 20 };
enum { NOT_SUPPORTED = 15 }; /* cublasStatus_t */

struct cublaslt {
	struct cuda_device *device;
	struct cublaslt_library library;
	void *handle;
	void *workspace; /* the device's */
};

/*
 * cuBLASLt knows columns: a matrix that lies row by row is its transpose to it, so that c = a b is
 * asked for as c^T = b^T a^T. Its left operand is our b, its right one our a.
 */
struct cublaslt_plan {
	void *operation;
	void *left, *right, *out; /* layouts; out: of c, and of a residual */
	struct cublaslt_algorithm algorithm;
	struct product_shape shape;
};

/* The call; its failure is described. */
#define ASK(c, err, member, arguments)                                                             \
	answer((c)->library.call.member arguments, cublaslt_names.member, (err))

static int answer(int status, const char *call, struct err *err)
{
	return status == 0 ? 0 : cublaslt_failure(status, call, err);
}

/* ---- opening ---- */

static int take_workspace(struct cublaslt *c, struct err *err)
{
	struct cuda_device *d = c->device;
	uint64_t at = 0;
	int result = d->library.call.allocate(&at, WORKSPACE);

	c->workspace = (void *)(uintptr_t)at;
	if (result == 0)
		return 0;
	cuda_failure(err, result, cuda_call_names.allocate, cuda_result_name(&d->library, result));
	return err_wrap(err, "%d MiB for cuBLASLt's workspace", WORKSPACE >> 20);
}

/* What is left for the run. */
static void ask_room(struct cuda_device *d)
{
	size_t total;

	(void)DO(d, memory, (&d->about.memory, &total));
}

int cublaslt_open(struct cuda_device *d, struct cublaslt **ret, struct err *err)
{
	struct cublaslt *c = mem_zalloc(sizeof(*c));

	c->device = d;
	if (cublaslt_library_open(d->about.driver, &c->library, err) != 0 ||
	    ASK(c, err, create, (&c->handle)) != 0 || take_workspace(c, err) != 0) {
		cublaslt_close(c);
		return -1;
	}
	ask_room(d);
	*ret = c;
	return 0;
}

void cublaslt_close(struct cublaslt *c)
{
	if (c == NULL)
		return;
	cuda_release(c->device, c->workspace);
	if (c->handle != NULL)
		(void)c->library.call.destroy(c->handle);
	free(c);
}

unsigned cublaslt_version(const struct cublaslt *c)
{
	return c->library.version;
}

/* ---- plans ---- */

bool cublaslt_takes(const struct product_shape *s)
{
	return s->m > 0 && s->n > 0 && s->k > 0 &&
	       (s->ways & (WAY_RESIDUAL | WAY_ADD)) != (WAY_RESIDUAL | WAY_ADD);
}

static int set_operation(struct cublaslt *c, void *operation, int attribute, int value,
                         struct err *err)
{
	return ASK(c, err, operation_set, (operation, attribute, &value, sizeof(value)));
}

static int describe_operation(struct cublaslt *c, struct cublaslt_plan *p, struct err *err)
{
	static const int computes[] = {[OPERANDS_F32] = CUBLASLT_COMPUTE_F32,
	                               [OPERANDS_F16] = CUBLASLT_COMPUTE_F16,
	                               [OPERANDS_BF16] = CUBLASLT_COMPUTE_BF16,
	                               [OPERANDS_TF32] = CUBLASLT_COMPUTE_TF32};
	int compute = computes[c->device->queue.operands];

	if (ASK(c, err, operation_new, (&p->operation, compute, CUBLASLT_FLOAT)) != 0)
		return -1;
	if (p->shape.form == PRODUCT_NT &&
	    set_operation(c, p->operation, CUBLASLT_TRANSPOSE_A, CUBLASLT_TRANSPOSED, err) != 0)
		return -1;
	if (p->shape.form == PRODUCT_TN &&
	    set_operation(c, p->operation, CUBLASLT_TRANSPOSE_B, CUBLASLT_TRANSPOSED, err) != 0)
		return -1;
	return p->shape.ways & WAY_BIAS ? set_operation(c, p->operation, CUBLASLT_EPILOGUE,
	                                                CUBLASLT_EPILOGUE_BIAS, err)
	                                : 0;
}

/* As they lie in memory: of n values from row to row, that are its columns. */
static int describe_matrices(struct cublaslt *c, struct cublaslt_plan *p, struct err *err)
{
	const struct product_shape *s = &p->shape;
	bool b_deep = s->form == PRODUCT_NT, a_wide = s->form == PRODUCT_TN;

	if (ASK(c, err, layout_new,
	        (&p->left, CUBLASLT_FLOAT, b_deep ? s->k : s->n, b_deep ? s->n : s->k, s->ldb)) !=
	    0)
		return -1;
	if (ASK(c, err, layout_new,
	        (&p->right, CUBLASLT_FLOAT, a_wide ? s->m : s->k, a_wide ? s->k : s->m, s->lda)) !=
	    0)
		return -1;
	return ASK(c, err, layout_new, (&p->out, CUBLASLT_FLOAT, s->n, s->m, s->ldc));
}

static int set_preferences(struct cublaslt *c, const struct product_shape *s, void *preference,
                           struct err *err)
{
	const uint64_t workspace = WORKSPACE;
	/* of its left operand, its right one, what is added, and the result */
	const uint32_t aligned[] = {s->aligned_b, s->aligned_a, s->aligned_c, s->aligned_c};

	if (ASK(c, err, preference_set,
	        (preference, CUBLASLT_WORKSPACE_MAX, &workspace, sizeof(workspace))) != 0)
		return -1;
	for (int i = 0; i < 4; i++)
		if (ASK(c, err, preference_set,
		        (preference, CUBLASLT_ALIGNMENT + i, &aligned[i], sizeof(aligned[i]))) != 0)
			return -1;
	return 0;
}

/* The one that the library thinks the fastest. */
static int find(struct cublaslt *c, struct cublaslt_plan *p, void *preference, struct err *err)
{
	struct cublaslt_found found = {0};
	int n = 0;

	if (set_preferences(c, &p->shape, preference, err) != 0 ||
	    ASK(c, err, find,
	        (c->handle, p->operation, p->left, p->right, p->out, p->out, preference, 1, &found,
	         &n)) != 0)
		return -1;
	if (n < 1 || found.state != 0 || found.workspace > WORKSPACE)
		return cublaslt_failure(NOT_SUPPORTED, cublaslt_names.find, err);
	p->algorithm = found.algorithm;
	return 0;
}

static int find_algorithm(struct cublaslt *c, struct cublaslt_plan *p, struct err *err)
{
	void *preference = NULL;
	int rc;

	if (ASK(c, err, preference_new, (&preference)) != 0)
		return -1;
	rc = find(c, p, preference, err);
	(void)c->library.call.preference_free(preference);
	return rc;
}

/* Part of the operation, and of what the library looks at when it chooses. */
static int set_bias(struct cublaslt *c, struct cublaslt_plan *p, const float *bias, struct err *err)
{
	return bias == NULL ? 0
	                    : ASK(c, err, operation_set,
	                          (p->operation, CUBLASLT_BIAS, &bias, sizeof(bias)));
}

int cublaslt_plan_new(struct cublaslt *c, const struct product_shape *shape, const float *bias,
                      struct cublaslt_plan **ret, struct err *err)
{
	struct cublaslt_plan *p = mem_zalloc(sizeof(*p));

	p->shape = *shape;
	if (describe_operation(c, p, err) == 0 && set_bias(c, p, bias, err) == 0 &&
	    describe_matrices(c, p, err) == 0 && find_algorithm(c, p, err) == 0) {
		*ret = p;
		return 0;
	}
	cublaslt_plan_free(c, p);
	return err_wrap(err, "a product of %u x %u by %u", shape->m, shape->n, shape->k);
}

void cublaslt_plan_free(struct cublaslt *c, struct cublaslt_plan *p)
{
	if (p == NULL)
		return;
	if (p->out != NULL)
		(void)c->library.call.layout_free(p->out);
	if (p->right != NULL)
		(void)c->library.call.layout_free(p->right);
	if (p->left != NULL)
		(void)c->library.call.layout_free(p->left);
	if (p->operation != NULL)
		(void)c->library.call.operation_free(p->operation);
	free(p);
}

/* ---- products ---- */

int cublaslt_multiply(struct cublaslt *c, struct cublaslt_plan *p, const struct product_launch *l,
                      struct err *err)
{
	const float one = 1, added = p->shape.ways & (WAY_ADD | WAY_RESIDUAL) ? 1 : 0;
	const float *add = l->residual != NULL ? l->residual : l->c;

	if (set_bias(c, p, l->bias, err) != 0)
		return -1;
	return ASK(c, err, multiply,
	           (c->handle, p->operation, &one, l->b, p->left, l->a, p->right, &added, add,
	            p->out, l->c, p->out, &p->algorithm, c->workspace, WORKSPACE,
	            c->device->stream));
}
