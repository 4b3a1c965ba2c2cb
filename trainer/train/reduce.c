#include "trainer/train/reduce.h"

#include "trainer/ops/ops.h"

static int begin(const struct grad_sum *s, const struct grad_bucket *b, struct err *err)
{
	const struct reducer *q = s->reducer;
	float *values = s->values + b->first;

	return q->begin_f32 != NULL ? q->begin_f32(q->ctx, values, b->n, err)
	                            : q->sum_f32(q->ctx, values, b->n, err);
}

static void begin_due(struct grad_sum *s)
{
	while (s->rc == 0 && s->begun < s->buckets.n)
		s->rc = begin(s, &s->buckets.at[s->begun++], &s->err);
}

static void close_bucket(struct grad_sum *s)
{
	struct grad_bucket b = {s->open, s->done - s->open};

	vec_push(&s->buckets, b);
	s->done = s->open;
}

static bool begins_meanwhile(const struct grad_sum *s)
{
	return !s->last && s->values != NULL && s->reducer->begin_f32 != NULL;
}

bool grad_sum_listens(const struct grad_sum *s)
{
	return s->listens;
}

/* Tensors [first, first + n) are final; the backward pass walks from the table's end to its
 * beginning. */
static void grads_ready(void *ctx, size_t first, size_t n)
{
	struct grad_sum *s = ctx;
	const struct tensors *g = model_grads(s->model);
	size_t end = first + n < g->n ? g->at[first + n].offset : g->n_values;

	if (end != s->open)
		BUG("gradients are final out of order: tensor %zu", first);
	s->open = g->at[first].offset;
	if (s->done - s->open < BUCKET_VALUES && first > 0)
		return;
	close_bucket(s);
	if (begins_meanwhile(s))
		begin_due(s);
}

void grad_sum_start(struct grad_sum *s, const struct reducer *reducer, struct model *model,
                    bool last)
{
	const struct tensors *grads = model_grads(model);

	s->reducer = reducer;
	s->model = model;
	s->last = last;
	s->values = grads->ops->device->shared || reducer->on_device ? grads->data : NULL;
	s->begun = 0;
	s->rc = 0;
	s->listens = !s->cut || begins_meanwhile(s);
	if (!s->listens)
		return;
	s->buckets.n = 0;
	s->open = s->done = grads->n_values;
	model_on_grads_ready(model, (struct grads_ready){grads_ready, s});
}

static int sum_up(struct grad_sum *s, struct err *err)
{
	const struct reducer *q = s->reducer;

	begin_due(s);
	if (s->rc != 0) {
		*err = s->err;
		return -1;
	}
	return q->begin_f32 != NULL ? q->wait(q->ctx, err) : 0;
}

/* By way of the host's memory. */
static int sum_fetched(struct grad_sum *s, const struct tensors *grads, struct err *err)
{
	size_t bytes = grads->n_values * sizeof(float);

	if (s->room.at == NULL)
		s->room = buffer_new_pinned(grads->ops, bytes, "sums of gradients");
	ops_download(grads->ops, s->room.at, grads->data, bytes);
	if (ops_sync(grads->ops, err) != 0)
		return -1;
	s->values = s->room.at;
	if (sum_up(s, err) != 0)
		return -1;
	ops_upload(grads->ops, grads->data, s->room.at, bytes);
	return 0;
}

int grad_sum_finish(struct grad_sum *s, struct err *err)
{
	const struct tensors *grads = model_grads(s->model);

	model_on_grads_ready(s->model, (struct grads_ready){0});
	s->cut = true;
	if (s->open != 0)
		BUG("gradients %zu and before were never final", s->open);
	return s->values != NULL ? sum_up(s, err) : sum_fetched(s, grads, err);
}

void grad_sum_done(struct grad_sum *s)
{
	vec_done(&s->buckets);
	if (s->room.at != NULL)
		buffer_free(model_grads(s->model)->ops, &s->room);
}
