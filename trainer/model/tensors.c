#include "trainer/model/tensors.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "trainer/ops/floats.h"

size_t tensors_add(struct tensors *t, const char *name, int ndim, const size_t *shape)
{
	struct tensor one = {.ndim = ndim, .n = 1, .offset = t->n_values};

	for (int i = 0; i < ndim; i++) {
		one.shape[i] = shape[i];
		if (__builtin_mul_overflow(one.n, shape[i], &one.n) || one.n > (size_t)1 << 40)
			BUG("tensor %s is too large: the config was not checked", name);
	}
	t->names = mem_realloc(t->names, t->n + 1, sizeof(t->names[0]));
	t->names[t->n] = mem_strdup(name);
	one.name = t->names[t->n];
	t->at = mem_vec_grow(t->at, t->n, &t->cap, sizeof(t->at[0]));
	t->at[t->n] = one;
	t->n_params += one.n;
	t->n_values += (one.n + TENSOR_ALIGN - 1) / TENSOR_ALIGN * TENSOR_ALIGN;
	return t->n++;
}

static size_t bytes_of(const struct tensors *t)
{
	return t->n_values * sizeof(float);
}

void tensors_zero(struct tensors *t)
{
	if (t->data == NULL)
		return;
	if (t->ops != NULL)
		ops_zero(t->ops, t->data, bytes_of(t));
	else
		memset(t->data, 0, bytes_of(t));
}

void tensors_alloc(struct tensors *t, struct ops *ops, const char *what)
{
	t->ops = ops;
	t->memory = (struct buffer){0};
	if (ops != NULL)
		t->memory = buffer_new(ops, bytes_of(t), what);
	t->data = ops != NULL ? t->memory.at : floats_new(t->n_values);
	for (size_t i = 0; i < t->n; i++)
		t->at[i].data = t->data != NULL ? t->data + t->at[i].offset : NULL;
	tensors_zero(t);
}

void tensors_copy(struct tensors *to, const struct tensors *from)
{
	if (to->data == NULL || from->data == NULL)
		return;
	if (to->ops == NULL && from->ops == NULL)
		memcpy(to->data, from->data, bytes_of(from));
	else if (to->ops == NULL)
		ops_download(from->ops, to->data, from->data, bytes_of(from));
	else if (from->ops == NULL)
		ops_upload(to->ops, to->data, from->data, bytes_of(from));
	else
		ops_copy(to->ops, to->data, from->data, bytes_of(from));
}

void tensors_like(const struct tensors *like, struct ops *ops, const char *what,
                  struct tensors *ret)
{
	*ret = *like;
	ret->names = NULL;
	ret->cap = like->n;
	ret->at = mem_calloc(like->n, sizeof(like->at[0]));
	memcpy(ret->at, like->at, like->n * sizeof(like->at[0]));
	tensors_alloc(ret, ops, what);
}

void tensors_done(struct tensors *t)
{
	for (size_t i = 0; t->names != NULL && i < t->n; i++)
		free(t->names[i]);
	free(t->names);
	free(t->at);
	if (t->ops != NULL)
		buffer_free(t->ops, &t->memory);
	else
		free(t->data);
	*t = (struct tensors){0};
}

struct tensor *tensors_find(const struct tensors *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->at[i].name, name) == 0)
			return &t->at[i];
	return NULL;
}
