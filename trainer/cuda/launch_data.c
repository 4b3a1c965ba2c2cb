/* Ops between clips and the network, and the losses. */
#include "trainer/cuda/launch.h"

enum { COLOURS = 3, SUMS = 3 };

_Static_assert((int)OP_L1_SUMS == SUMS && (int)OP_ENTROPY_SUMS == SUMS,
               "the kernels of losses write three sums");

static unsigned blocks_of(size_t n, unsigned each)
{
	return (unsigned)((n + each - 1) / each);
}

/* `x` blocks, unless there are none. */
static void launch(struct cuda_queue *q, enum cuda_kernel kernel, unsigned x, const void *params)
{
	if (x > 0)
		q->launch(q, kernel, (const unsigned[3]){x, 1, 1}, params);
}

/* ---- a clip's way in ---- */

void cuda_clip(struct cuda_queue *q, const struct op_clip *p)
{
	struct clip_launch video = {.bytes = p->video,
	                            .out = p->image,
	                            .n = p->frames * COLOURS * p->plane,
	                            .plane = p->plane};
	struct clip_launch sound = {
		.bytes = (const uint8_t *)p->sound, .out = p->audio, .n = p->samples};

	launch(q, KERNEL_clip_video, cuda_each_blocks(video.n), &video);
	launch(q, KERNEL_clip_sound, cuda_each_blocks(sound.n), &sound);
}

void cuda_patches(struct cuda_queue *q, const struct op_patches *p)
{
	size_t plane = p->height * p->width;
	struct patches_launch l = {.image = p->image,
	                           .patches = p->y,
	                           .n = p->frames * COLOURS * plane,
	                           .frame_stride = COLOURS * plane,
	                           .row_stride = p->width,
	                           .pixel_stride = 1,
	                           .colour_stride = plane,
	                           .frames = (uint32_t)p->frames, /* of all clips: they lie
	                                                             one after the other */
	                           .grid_h = (uint32_t)(p->height / p->side),
	                           .grid_w = (uint32_t)(p->width / p->side),
	                           .patch = (uint32_t)p->side};

	launch(q, KERNEL_patches_of_floats, cuda_each_blocks(l.n), &l);
}

void cuda_onehot(struct cuda_queue *q, const struct op_onehot *p)
{
	struct onehot_launch l = {.label = p->label,
	                          .out = p->y,
	                          .n = p->rows * p->width,
	                          .width = (uint32_t)p->width};

	launch(q, KERNEL_onehot, cuda_each_blocks(l.n), &l);
}

void cuda_repeat_forward(struct cuda_queue *q, const struct op_repeat *p)
{
	struct repeat_launch l = {.x = p->x, .out = p->y, .n = p->n, .copies = p->times};

	launch(q, KERNEL_repeat, cuda_each_blocks(l.n * l.copies), &l);
}

void cuda_repeat_backward(struct cuda_queue *q, const struct op_repeat *p)
{
	cuda_add_columns(q, p->dy, p->times, p->n, p->n, p->dx);
}

/* ---- queries ---- */

void cuda_queries_forward(struct cuda_queue *q, const struct op_queries *p)
{
	float *out = p->y;

	for (size_t k = 0; k < OP_QUERY_GROUPS; k++) {
		const struct op_query_group *g = &p->groups[k];
		struct queries_launch l = {.points = g->point,
		                           .fixed = g->fixed,
		                           .pad = g->pad,
		                           .out = out,
		                           .width = (uint32_t)p->width,
		                           .n_fixed = (uint32_t)g->n_fixed,
		                           .ndim = (uint32_t)g->ndim,
		                           .bands = (uint32_t)g->bands};

		for (size_t d = 0; d < g->ndim; d++) {
			l.position[d] = g->position[d];
			l.dim[d] = (uint32_t)g->dim[d];
		}
		launch(q, KERNEL_queries, (unsigned)g->n, &l);
		out += g->n * p->width;
	}
}

void cuda_queries_backward(struct cuda_queue *q, const struct op_queries *p)
{
	const float *dy = p->dy;

	for (size_t k = 0; k < OP_QUERY_GROUPS; k++) {
		const struct op_query_group *g = &p->groups[k];
		const float *pad = dy + p->width - g->n_pad;

		cuda_add_columns(q, pad - g->n_fixed, g->n, g->n_fixed, p->width, g->dfixed);
		cuda_add_columns(q, pad, g->n, g->n_pad, p->width, g->dpad);
		dy += g->n * p->width;
	}
}

/* ---- losses ---- */

/* sums[SUMS] = the sums down the columns of partial[rows, SUMS]. */
static void add_up(struct cuda_queue *q, const double *partial, size_t rows, double *sums)
{
	struct add_doubles_launch l = {
		.x = partial, .out = sums, .rows = (uint32_t)rows, .columns = SUMS};

	launch(q, KERNEL_add_doubles, 1, &l);
}

static struct absolute_launch absolute_of(const struct op_l1 *p)
{
	return (struct absolute_launch){.x = p->x,
	                                .target = p->target,
	                                .points = p->point,
	                                .n = p->batch * p->points * p->channels,
	                                .clip_stride = p->clip,
	                                .n_points = (uint32_t)p->points,
	                                .channels = (uint32_t)p->channels,
	                                .plane = (uint32_t)p->plane};
}

void cuda_l1_forward(struct cuda_queue *q, const struct op_l1 *p)
{
	struct absolute_launch l = absolute_of(p);
	unsigned blocks = blocks_of(l.n, EACH_THREADS);

	l.partial = q->scratch(q, (blocks + 1) * SUMS * sizeof(double));
	launch(q, KERNEL_absolute_loss, blocks, &l);
	add_up(q, l.partial, blocks, p->sums);
}

void cuda_l1_backward(struct cuda_queue *q, const struct op_l1 *p)
{
	struct absolute_launch l = absolute_of(p);

	l.d = p->dx;
	l.factor = (float)p->factor;
	launch(q, KERNEL_absolute_loss, blocks_of(l.n, EACH_THREADS), &l);
}

static struct entropy_launch entropy_of(const struct op_entropy *p)
{
	return (struct entropy_launch){.x = p->x,
	                               .label = p->label,
	                               .rows = (uint32_t)p->rows,
	                               .width = (uint32_t)p->width};
}

void cuda_entropy_forward(struct cuda_queue *q, const struct op_entropy *p)
{
	struct entropy_launch l = entropy_of(p);

	l.partial = q->scratch(q, (p->rows + 1) * SUMS * sizeof(double));
	launch(q, KERNEL_entropy, blocks_of(p->rows, ROW_WARPS), &l);
	add_up(q, l.partial, p->rows, p->sums);
}

void cuda_entropy_backward(struct cuda_queue *q, const struct op_entropy *p)
{
	struct entropy_launch l = entropy_of(p);

	l.d = p->dx;
	l.factor = (float)p->factor;
	launch(q, KERNEL_entropy, blocks_of(p->rows, ROW_WARPS), &l);
}
