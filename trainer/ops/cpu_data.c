/* Clips to tokens, points to queries. */
#include <string.h>

#include "trainer/ops/cpu.h"
#include "trainer/ops/threads.h"

enum { COLOURS = 3, COLUMNS = 1 << 12 /* of a task that sums over rows */ };

static void spread_frame(void *ctx, size_t frame, unsigned worker)
{
	const struct op_clip *p = ctx;
	const uint8_t *in = p->video + frame * p->plane * COLOURS;
	float *out = p->image + frame * p->plane * COLOURS;

	(void)worker;
	for (size_t i = 0; i < p->plane; i++)
		for (size_t k = 0; k < COLOURS; k++)
			out[k * p->plane + i] = (float)in[COLOURS * i + k] * (1.0f / 255.0f);
}

void cpu_clip(struct ops *ops, const struct op_clip *p)
{
	struct op_clip task = *p;

	threads_run(cpu_of(ops)->threads, p->frames, spread_frame, &task);
	for (size_t i = 0; i < p->samples; i++)
		p->audio[i] = (float)p->sound[i] * (1.0f / 32768.0f);
}

/* One row of a colour: every `side` values go to the next patch, side by side but for colours. */
static void cut_row(const float *row, size_t patches, size_t side, float *patch)
{
	for (size_t x = 0; x < patches; x++, row += side, patch += side * side * COLOURS)
		for (size_t dx = 0; dx < side; dx++)
			patch[dx * COLOURS] = row[dx];
}

static void cut_frame(void *ctx, size_t frame, unsigned worker)
{
	const struct op_patches *p = ctx;
	size_t h = p->height, w = p->width, side = p->side, patches = w / side;
	const float *image = p->image + frame * COLOURS * h * w;
	float *out = p->y + frame * COLOURS * h * w;

	(void)worker;
	for (size_t y = 0; y < h; y++)
		for (size_t k = 0; k < COLOURS; k++)
			cut_row(image + (k * h + y) * w, patches, side,
			        out + y / side * patches * side * side * COLOURS +
			                y % side * side * COLOURS + k);
}

void cpu_patches(struct ops *ops, const struct op_patches *p)
{
	struct op_patches task = *p;

	threads_run(cpu_of(ops)->threads, p->frames, cut_frame, &task);
}

void cpu_onehot(struct ops *ops, const struct op_onehot *p)
{
	(void)ops;
	memset(p->y, 0, p->rows * p->width * sizeof(float));
	for (size_t r = 0; r < p->rows; r++)
		p->y[r * p->width + (size_t)p->label[r]] = 1;
}

static void repeat_row(void *ctx, size_t i, unsigned worker)
{
	const struct op_repeat *p = ctx;

	(void)worker;
	memcpy(p->y + i * p->n, p->x, p->n * sizeof(float));
}

void cpu_repeat_forward(struct ops *ops, const struct op_repeat *p)
{
	struct op_repeat task = *p;

	threads_run(cpu_of(ops)->threads, p->times, repeat_row, &task);
}

static void sum_columns(void *ctx, size_t i, unsigned worker)
{
	const struct op_repeat *p = ctx;
	size_t from = i * COLUMNS, end = from + COLUMNS < p->n ? from + COLUMNS : p->n;

	(void)worker;
	for (size_t r = 0; r < p->times; r++)
		for (size_t k = from; k < end; k++)
			p->dx[k] += p->dy[r * p->n + k];
}

void cpu_repeat_backward(struct ops *ops, const struct op_repeat *p)
{
	struct op_repeat task = *p;

	threads_run(cpu_of(ops)->threads, (p->n + COLUMNS - 1) / COLUMNS, sum_columns, &task);
}

/* ---- queries ---- */

/* The channels of one point: lines, sines dim-major, cosines dim-major; returns what follows. */
static float *place_position(const struct op_query_group *g, size_t point, float *out)
{
	size_t columns = 1 + 2 * g->bands;

	for (size_t d = g->ndim; d-- > 0; point /= g->dim[d]) {
		const float *row = g->position[d] + point % g->dim[d] * columns;

		out[d] = row[0];
		memcpy(out + g->ndim + d * g->bands, row + 1, g->bands * sizeof(float));
		memcpy(out + g->ndim + (g->ndim + d) * g->bands, row + 1 + g->bands,
		       g->bands * sizeof(float));
	}
	return out + g->ndim * columns;
}

void cpu_queries_forward(struct ops *ops, const struct op_queries *p)
{
	float *out = p->y;

	(void)ops;
	for (size_t k = 0; k < OP_QUERY_GROUPS; k++) {
		const struct op_query_group *g = &p->groups[k];

		for (size_t i = 0; i < g->n; i++, out += p->width) {
			float *at = g->ndim > 0 ? place_position(g, (size_t)g->point[i], out) : out;

			if (g->n_fixed > 0)
				memcpy(at, g->fixed, g->n_fixed * sizeof(float));
			memcpy(at + g->n_fixed, g->pad, g->n_pad * sizeof(float));
		}
	}
}

static void add_rows(const float *dy, size_t rows, size_t width, size_t n, float *d)
{
	for (size_t r = 0; r < rows; r++)
		for (size_t i = 0; i < n; i++)
			d[i] += dy[r * width + i];
}

void cpu_queries_backward(struct ops *ops, const struct op_queries *p)
{
	const float *dy = p->dy;

	(void)ops;
	for (size_t k = 0; k < OP_QUERY_GROUPS; k++) {
		const struct op_query_group *g = &p->groups[k];
		const float *pad = dy + p->width - g->n_pad;

		add_rows(pad - g->n_fixed, g->n, p->width, g->n_fixed, g->dfixed);
		add_rows(pad, g->n, p->width, g->n_pad, g->dpad);
		dy += g->n * p->width;
	}
}
