/* Activations of a forward pass as the golden folder names them, in the host's memory. */
#include <stdio.h>
#include <string.h>

#include "trainer/model/graph.h"

/* n of the device's values; NULL stays NULL. */
static MUST_USE float *host_copy(struct model *m, const float *from, size_t n)
{
	struct err stays = {0}; /* with the ops, whose next caller gets it */
	float *to;

	if (from == NULL)
		return NULL;
	to = mem_calloc(n, sizeof(*to));
	ops_download(m->ops, to, from, n * sizeof(*to));
	if (ops_sync(m->ops, &stays) != 0)
		memset(to, 0, n * sizeof(*to));
	return to;
}

enum { HELD = 7 }; /* arrays of a group of tokens */

static void hold_group(struct model *m, struct op_tokens *g, float *held[HELD])
{
	size_t n = m->batch * g->n;

	g->data = held[0] = host_copy(m, g->data, n * g->n_data);
	g->mask = held[1] = host_copy(m, g->mask, n);
	g->pad = held[2] = host_copy(m, g->pad, g->n_pad);
	g->mask_token = held[3] = host_copy(m, g->mask_token, m->dims.channels);
	for (size_t d = 0; d < g->ndim; d++)
		g->position[d] = held[4 + d] =
			host_copy(m, g->position[d], g->dim[d] * (1 + 2 * g->bands));
}

/* The tokens are described, not formed, on their way through the network. */
static void keep_tokens(struct model *m)
{
	size_t tokens = m->dims.n_tokens * m->dims.channels;
	float *held[OP_TOKEN_GROUPS][HELD] = {{NULL}};
	struct op_cross host = m->cross_op;

	for (size_t g = 0; g < OP_TOKEN_GROUPS; g++)
		hold_group(m, &host.groups[g], held[g]);
	m->kept_tokens = mem_calloc(m->batch * tokens, sizeof(float));
	for (size_t i = 0; i < m->batch; i++)
		op_tokens_form(&host, i, m->kept_tokens + i * tokens);
	for (size_t g = 0; g < OP_TOKEN_GROUPS; g++)
		for (size_t i = 0; i < HELD; i++)
			free(held[g][i]);
}

/* What is gone when the next layer has read it. */
void activations_keep(struct model *m)
{
	free(m->kept_tokens);
	free(m->kept_query);
	keep_tokens(m);
	m->kept_query = host_copy(m, m->query, m->n_points * m->dims.queries);
}

void model_keep_activations(struct model *m, bool keep)
{
	m->keep = keep;
}

static bool give(struct model *m, float *data, size_t rows, size_t width, struct activation *ret)
{
	*ret = (struct activation){data, 3, {m->batch, rows, width}};
	return true;
}

static bool give_tokens(struct model *m, struct activation *ret)
{
	size_t n = m->batch * m->dims.n_tokens * m->dims.channels;
	float *copy = mem_calloc(n, sizeof(*copy));

	memcpy(copy, m->kept_tokens, n * sizeof(*copy));
	return give(m, copy, m->dims.n_tokens, m->dims.channels, ret);
}

/* The queries are the same for every clip. */
static bool give_queries(struct model *m, struct activation *ret)
{
	size_t n = m->n_points * m->dims.queries;
	float *copy = mem_calloc(m->batch * n, sizeof(*copy));

	for (size_t i = 0; i < m->batch; i++)
		memcpy(copy + i * n, m->kept_query, n * sizeof(*copy));
	return give(m, copy, m->n_points, m->dims.queries, ret);
}

static bool give_layer(struct model *m, const char *name, struct activation *ret)
{
	size_t n = m->config.num_latents, w = m->config.d_latents;

	for (size_t i = 0; i < m->dims.n_layers; i++) {
		char layer[64];

		snprintf(layer, sizeof(layer), "act.self_attends.%zu.out", i);
		if (strcmp(layer, name) == 0)
			return give(m, host_copy(m, m->self[i].y, m->batch * n * w), n, w, ret);
	}
	return false;
}

bool model_activation(struct model *m, const char *name, struct activation *ret)
{
	const struct model_config *c = &m->config;
	size_t n = c->num_latents, w = c->d_latents, points = m->n_points;
	const struct {
		const char *name;
		const float *data;
		size_t rows, width;
	} table[] = {
		{"act.cross_attention.context", m->cross.o, n, m->dims.enc_v},
		{"act.cross_attention.attn_out", m->cross.attn_out, n, w},
		{"act.cross_attention.out", m->cross.y, n, w},
		{"act.decoder.attn_out", m->dec.attn_out, points, m->dims.queries},
		{"act.decoder.cross_out", m->dec.y, points, m->dims.queries},
		{"act.decoder.final", m->final, points, c->output_num_channels},
	};

	if (strcmp(name, "act.preprocessed") == 0 && m->kept_tokens != NULL)
		return give_tokens(m, ret);
	if (strcmp(name, "act.decoder.query") == 0 && m->kept_query != NULL)
		return give_queries(m, ret);
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (strcmp(table[i].name, name) == 0 && table[i].data != NULL)
			return give(m,
			            host_copy(m, table[i].data,
			                      m->batch * table[i].rows * table[i].width),
			            table[i].rows, table[i].width, ret);
	return give_layer(m, name, ret);
}
