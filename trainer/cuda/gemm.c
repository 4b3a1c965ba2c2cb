#include "trainer/cuda/gemm.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trainer/cuda/cublaslt.h"
#include "trainer/cuda/driver_internal.h"
#include "trainer/cuda/failure.h"
#include "trainer/cuda/gemm_file.h"
#include "trainer/cuda/launch_products.h"

/* Of a measurement; and what a library's product must save of ours for its own to be taken, so that
 * two that are alike do not change places from one measurement to the next. */
enum { REPEATS = 4, SAVES_PERCENT = 5 };
enum { TITLE_MAX = 256, COMPUTE_TF32 = 80, WORTH_MEASURING = 1 << 22 };

/* BY_THREE: by the kernels that make three products of tf32 of one in f32. */
enum gemm_by { BY_UNDECIDED, BY_KERNELS, BY_THREE, BY_CUBLASLT };

struct gemm_row {
	struct gemm_times times; /* of its shape; 0: not measured */
	enum gemm_by by;
	struct cublaslt_plan *plan; /* NULL: not made yet */
};

struct cuda_gemm {
	enum op_gemm choice;
	struct cublaslt *library; /* NULL: it is not here, or not asked for */
	bool given_up;            /* it failed */
	char why[ERR_MSG_MAX];    /* it does not compute what it could; empty: it does */
	char title[TITLE_MAX];    /* of the file */
	VEC(struct gemm_row) rows;
	void *begin, *end; /* events that take time; NULL: not made yet */
	bool unsaved;
};

static const char *operands_name(const struct cuda_device *d)
{
	static const char *const names[] = {[OPERANDS_F32] = "f32",
	                                    [OPERANDS_F16] = "f16",
	                                    [OPERANDS_BF16] = "bf16",
	                                    [OPERANDS_TF32] = "tf32"};

	return names[d->queue.operands];
}

static void version_text(const struct cuda_gemm *g, char *ret, size_t n)
{
	unsigned version = g->library != NULL ? cublaslt_version(g->library) : 0;

	if (version == 0)
		snprintf(ret, n, "no cuBLASLt");
	else
		snprintf(ret, n, "cuBLASLt %u.%u.%u", version / 10000, version / 100 % 100,
		         version % 100);
}

/* ---- failures ---- */

/* As the error says, and in one line. */
static void keep_reason(struct cuda_gemm *g, const struct err *err)
{
	if (g->why[0] == '\0')
		snprintf(g->why, sizeof(g->why), "%s", err->msg);
}

/* Asked for by its name, a failure is the run's. */
static bool is_demanded(struct cuda_device *d, const struct err *err)
{
	if (d->gemm->choice != OP_GEMM_CUBLASLT)
		return false;
	if (!d->failed)
		d->failure = *err;
	d->failed = true;
	return true;
}

/* ---- one product ---- */

/* Whether the device can compute what is asked for in f32 by its matrix units. */
static bool has_three(const struct cuda_device *d)
{
	return d->queue.operands == OPERANDS_F32 && d->queue.compute >= COMPUTE_TF32;
}

/* A smaller product takes less than a launch by whatever units. */
static bool is_for_three(const struct cuda_device *d, const struct product_shape *s)
{
	return has_three(d) && (uint64_t)s->m * s->n * s->k >= WORTH_MEASURING;
}

static void own_product(struct cuda_device *d, enum gemm_by by, uint32_t form,
                        const struct product_launch *l)
{
	d->queue.by_three = by == BY_THREE;
	cuda_product(&d->queue, (enum product_form)form, l);
	d->queue.by_three = false;
}

static bool takes(const struct cuda_gemm *g, const struct product_shape *s)
{
	bool whole = s->ldc == s->n, adds = (s->ways & WAY_ADD) != 0;

	return g->library != NULL && cublaslt_takes(s) && (s->ways & WAY_BIAS_TIMES) == 0 &&
	       ((s->ways & (WAY_GELU | WAY_SLOPE)) == 0 || whole) &&
	       ((s->ways & WAY_SLOPE) == 0 || !adds);
}

/* What the library cannot do on the way out: its GELU is another function. */
static void finish(struct cuda_queue *q, const struct product_launch *l)
{
	struct op_gelu gelu = {.x = l->c, .y = l->gelu, .n = (size_t)l->m * l->n, .form = l->form};
	struct op_gelu slope = {
		.x = l->slope, .dy = l->c, .dx = l->c, .n = (size_t)l->m * l->n, .form = l->form};

	if (l->slope != NULL)
		cuda_gelu_backward(q, &slope);
	if (l->gelu != NULL)
		cuda_gelu_forward(q, &gelu);
}

static int multiply(struct cuda_device *d, struct gemm_row *row, const struct product_launch *l,
                    struct err *err)
{
	if (cublaslt_multiply(d->gemm->library, row->plan, l, err) != 0)
		return -1;
	finish(&d->queue, l);
	return 0;
}

/* ---- measuring ---- */

/* Microseconds of a product, the driver's and the library's first acquaintance with it aside. */
static int time_product(struct cuda_device *d, struct gemm_row *row, enum gemm_by by,
                        const struct product_launch *l, double *ret_us, struct err *err)
{
	struct cuda_gemm *g = d->gemm;
	float ms = 0;

	for (int i = 0; i <= REPEATS; i++) {
		if (i == 1)
			(void)DO(d, event_record, (g->begin, d->stream));
		if (by != BY_CUBLASLT)
			own_product(d, by, row->times.shape.form, l);
		else if (multiply(d, row, l, err) != 0)
			return -1;
	}
	(void)(DO(d, event_record, (g->end, d->stream)) && DO(d, event_sync, (g->end)) &&
	       DO(d, event_elapsed, (&ms, g->begin, g->end)));
	*ret_us = 1000.0 * (double)ms / REPEATS;
	*ret_us = *ret_us > 0.001 ? *ret_us : 0.001;
	return 0;
}

static void open_events(struct cuda_device *d)
{
	struct cuda_gemm *g = d->gemm;

	if (g->begin == NULL)
		(void)DO(d, event_new, (&g->begin, 0));
	if (g->end == NULL)
		(void)DO(d, event_new, (&g->end, 0));
}

/* All ways that there are, with what is read as it is; what is written goes to `room`. */
static int measure_in(struct cuda_device *d, struct gemm_row *row, const struct product_launch *l,
                      float *room, struct err *err)
{
	struct product_launch trial = *l;

	trial.c = room;
	trial.gelu = l->gelu != NULL ? room + (size_t)l->m * l->ldc : NULL;
	open_events(d);
	if (time_product(d, row, BY_KERNELS, &trial, &row->times.own_us, err) != 0 ||
	    (is_for_three(d, &row->times.shape) &&
	     time_product(d, row, BY_THREE, &trial, &row->times.three_us, err) != 0) ||
	    (takes(d->gemm, &row->times.shape) &&
	     time_product(d, row, BY_CUBLASLT, &trial, &row->times.library_us, err) != 0))
		return -1;
	d->gemm->unsaved = true;
	return 0;
}

/* No recording has seen this memory, so they stay what they are when it goes. */
static int measure(struct cuda_device *d, struct gemm_row *row, const struct product_launch *l,
                   struct err *err)
{
	size_t n = (size_t)l->m * l->ldc * sizeof(float) * (l->gelu != NULL ? 2 : 1);
	uint64_t room = 0;
	int result = d->library.call.allocate(&room, n), rc;

	if (result != 0) {
		cuda_failure(err, result, cuda_call_names.allocate,
		             cuda_result_name(&d->library, result));
		return err_wrap(err, "%zu MiB to measure products", (n >> 20) + 1);
	}
	rc = measure_in(d, row, l, (float *)(uintptr_t)room, err);
	(void)cuda_done(d, d->library.call.release(room), cuda_call_names.release);
	return rc;
}

/* ---- deciding ---- */

static bool is_measured(const struct gemm_row *row)
{
	return row->times.own_us > 0;
}

/* Measured, and faster by enough. */
static bool is_faster(double us, double than_us)
{
	return us > 0 && us < than_us * (100 - SAVES_PERCENT) / 100;
}

static enum gemm_by fastest(const struct gemm_times *t)
{
	bool three = is_faster(t->three_us, t->own_us);

	if (is_faster(t->library_us, three ? t->three_us : t->own_us))
		return BY_CUBLASLT;
	return three ? BY_THREE : BY_KERNELS;
}

static int plan(struct cuda_gemm *g, struct gemm_row *row, const struct product_launch *l,
                struct err *err)
{
	return row->plan != NULL
	               ? 0
	               : cublaslt_plan_new(g->library, &row->times.shape, l->bias, &row->plan, err);
}

/* row->by, which stays undecided when something failed. */
static int decide(struct cuda_device *d, struct gemm_row *row, const struct product_launch *l,
                  struct err *err)
{
	struct cuda_gemm *g = d->gemm;
	bool demanded = g->choice == OP_GEMM_CUBLASLT, possible = takes(g, &row->times.shape);
	enum gemm_by by = BY_KERNELS;

	if (demanded && possible)
		by = BY_CUBLASLT;
	if (!demanded && (possible || is_for_three(d, &row->times.shape))) {
		if (!is_measured(row) &&
		    ((possible && plan(g, row, l, err) != 0) || measure(d, row, l, err) != 0))
			return -1;
		by = fastest(&row->times);
	}
	if (by == BY_CUBLASLT && plan(g, row, l, err) != 0)
		return -1;
	row->by = by;
	return 0;
}

static struct gemm_row *row_of(struct cuda_gemm *g, const struct product_shape *shape)
{
	for (size_t i = 0; i < g->rows.n; i++)
		if (memcmp(&g->rows.at[i].times.shape, shape, sizeof(*shape)) == 0)
			return &g->rows.at[i];
	vec_push(&g->rows, ((struct gemm_row){.times = {.shape = *shape}}));
	return &g->rows.at[g->rows.n - 1];
}

/* ---- the queue's ---- */

/* A shape that it does not take is the kernels'; a product that fails ends its use. */
static bool product(struct cuda_queue *q, enum product_form form, const struct product_launch *l)
{
	struct cuda_device *d = (struct cuda_device *)q;
	struct product_shape shape = product_shape_of(form, l);
	struct cuda_gemm *g = d->gemm;
	struct gemm_row *row;
	struct err err = {0};

	if (d->failed || g->given_up)
		return d->failed;
	if (g->library == NULL && !is_for_three(d, &shape))
		return false;
	row = row_of(g, &shape);
	if (row->by == BY_UNDECIDED && d->recording)
		return d->spoiled = true; /* nothing is measured while recording */
	if (row->by == BY_UNDECIDED && decide(d, row, l, &err) != 0) {
		row->by = BY_KERNELS;
		keep_reason(g, &err);
		return is_demanded(d, &err);
	}
	if (row->by == BY_THREE)
		own_product(d, BY_THREE, form, l);
	if (row->by != BY_CUBLASLT || multiply(d, row, l, &err) == 0)
		return row->by != BY_KERNELS;
	g->given_up = true;
	keep_reason(g, &err);
	d->spoiled = d->recording;
	return is_demanded(d, &err) || d->recording;
}

/* ---- opening ---- */

static void name_file(struct cuda_device *d)
{
	const struct cuda_about *a = &d->about;
	char version[64];

	version_text(d->gemm, version, sizeof(version));
	snprintf(d->gemm->title, TITLE_MAX, "%s, compute capability %d.%d, CUDA %d.%d, %s, %s",
	         a->name, a->major, a->minor, a->driver / 1000, a->driver % 1000 / 10, version,
	         operands_name(d));
}

/* What an earlier run measured. */
static void read_file(struct cuda_gemm *g)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(GEMM_FILE_MAX);
	struct gemm_times_list known = {0};
	struct err none = {0};
	char path[PATH_MAX];

	if (!gemm_file_path(g->title, path) || gemm_file_read(path, &text, &none) != 0 ||
	    !gemm_file_parse(strbuf_str(&text), g->title, &known))
		return;
	for (size_t i = 0; i < known.all.n; i++)
		row_of(g, &known.all.at[i].shape)->times = known.all.at[i];
	vec_done(&known.all);
}

int cuda_gemm_open(struct cuda_device *d, enum op_gemm choice, struct err *err)
{
	struct cuda_gemm *g = mem_zalloc(sizeof(*g));
	struct err why = {0};

	d->gemm = g;
	g->choice = choice;
	if (choice == OP_GEMM_OWN)
		return 0;
	if (cublaslt_open(d, &g->library, &why) != 0) {
		if (choice == OP_GEMM_CUBLASLT) {
			*err = why;
			return err_wrap(err, "--gemm cublaslt");
		}
		if (why.code != ERR_NOT_FOUND)
			keep_reason(g, &why);
		if (!has_three(d))
			return 0;
	}
	name_file(d);
	read_file(g);
	d->queue.product = product;
	return 0;
}

void cuda_gemm_close(struct cuda_device *d)
{
	struct cuda_gemm *g = d->gemm;

	if (g == NULL)
		return;
	cuda_gemm_keep(d);
	for (size_t i = 0; i < g->rows.n; i++)
		cublaslt_plan_free(g->library, g->rows.at[i].plan);
	if (g->begin != NULL)
		(void)d->library.call.event_free(g->begin);
	if (g->end != NULL)
		(void)d->library.call.event_free(g->end);
	cublaslt_close(g->library);
	vec_done(&g->rows);
	free(g);
	d->gemm = NULL;
	d->queue.product = NULL;
}

void cuda_gemm_keep(struct cuda_device *d)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(GEMM_FILE_MAX);
	struct cuda_gemm *g = d->gemm;
	struct gemm_times_list known = {0};
	struct err none = {0};
	char path[PATH_MAX];

	if (g == NULL || !g->unsaved || d->failed)
		return;
	for (size_t i = 0; i < g->rows.n; i++)
		if (is_measured(&g->rows.at[i]))
			vec_push(&known.all, g->rows.at[i].times);
	gemm_file_text(g->title, known.all.at, known.all.n, &text);
	vec_done(&known.all);
	g->unsaved = false;
	if (!gemm_file_path(g->title, path) || gemm_file_write(path, &text, &none) != 0)
		return; /* the next run measures again */
}

/* ---- what is said of it ---- */

static size_t count(const struct cuda_gemm *g, enum gemm_by by)
{
	size_t n = 0;

	for (size_t i = 0; i < g->rows.n; i++)
		n += g->rows.at[i].by == by;
	return n;
}

void cuda_gemm_describe(const struct cuda_device *d, struct strbuf *sb)
{
	const struct cuda_gemm *g = d->gemm;
	bool library = g != NULL && g->library != NULL && !g->given_up;
	size_t its = library ? count(g, BY_CUBLASLT) : 0;
	size_t three = g != NULL && !g->given_up ? count(g, BY_THREE) : 0;
	size_t all = its + three + (g != NULL ? count(g, BY_KERNELS) : 0);
	char version[64];

	if (!library) {
		strbuf_adds(sb, "own kernels");
	} else {
		version_text(g, version, sizeof(version));
		strbuf_adds(sb, version);
		if (all > 0)
			strbuf_addf(sb, " for %zu of %zu shapes", its, all);
		else if (g->choice == OP_GEMM_AUTO)
			strbuf_adds(sb, " or own kernels, whichever is faster");
	}
	if (three > 0)
		strbuf_addf(sb, ", three products in tf32 for %zu of %zu", three, all);
	if (g != NULL && g->why[0] != '\0')
		strbuf_addf(sb, " (%s)", g->why);
}
