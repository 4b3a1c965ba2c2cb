#include "trainer/neuron/layers.h"
#include "trainer/neuron/net.h"

/* ---- tokens ---- */

/* Position channels of a grid: lines, then sines, then cosines, each dimension after dimension
 * (op_position_channel); [n, ndim * (1 + 2 * bands)]. */
struct token_grid {
	unsigned ndim;
	int64_t dim[3], bands;
	unsigned table[3]; /* [dim, 1 + 2 * bands] */
};

static unsigned spread_columns(struct hlo_graph *g, const struct token_grid *grid, unsigned d,
                               int64_t first, int64_t end)
{
	struct hlo_shape shape = {.type = HLO_F32, .rank = grid->ndim + 1};

	for (unsigned i = 0; i < grid->ndim; i++)
		shape.dim[i] = grid->dim[i];
	shape.dim[grid->ndim] = end - first;
	return hlo_broadcast(g, hlo_slice(g, grid->table[d], 1, first, end), &shape,
	                     HLO_DIMS(d, grid->ndim));
}

static unsigned positions(struct hlo_graph *g, const struct token_grid *grid)
{
	const int64_t ends[] = {0, 1, 1 + grid->bands, 1 + 2 * grid->bands};
	struct hlo_shape flat = {.type = HLO_F32, .rank = 2, .dim = {1, 0}};
	unsigned parts[9], n = 0;

	for (unsigned of = 0; of < 3; of++)
		for (unsigned d = 0; d < grid->ndim; d++)
			parts[n++] = spread_columns(g, grid, d, ends[of], ends[of + 1]);
	for (unsigned d = 0; d < grid->ndim; d++)
		flat.dim[0] *= grid->dim[d];
	flat.dim[1] = grid->ndim * (1 + 2 * grid->bands);
	return hlo_reshape(g, hlo_concatenate(g, parts, n, grid->ndim), &flat);
}

static unsigned table(struct neuron_net *n, size_t which, int64_t rows, int64_t bands)
{
	struct hlo_shape shape = HLO_SHAPE(HLO_F32, rows, 1 + 2 * bands);

	return neuron_input(n, NEURON_POSITION, which, &shape);
}

static unsigned audio_positions(struct neuron_net *n)
{
	struct token_grid grid = {.ndim = 1,
	                          .dim = {(int64_t)n->dims.n_audio},
	                          .bands = (int64_t)n->config.audio_num_bands};

	grid.table[0] = table(n, 0, grid.dim[0], grid.bands);
	return positions(&n->graph, &grid);
}

static unsigned image_positions(struct neuron_net *n)
{
	struct token_grid grid = {.ndim = 3,
	                          .dim = {(int64_t)n->config.num_frames, (int64_t)n->dims.grid_h,
	                                  (int64_t)n->dims.grid_w},
	                          .bands = (int64_t)n->config.image_num_bands};

	for (unsigned d = 0; d < 3; d++)
		grid.table[d] = table(n, 1 + d, grid.dim[d], grid.bands);
	return positions(&n->graph, &grid);
}

/* A trained vector in every token. */
static unsigned in_tokens(struct neuron_net *n, size_t id, int64_t tokens)
{
	unsigned of_a_clip = neuron_repeat(&n->graph, neuron_vector(n, id), tokens);

	return neuron_repeat(&n->graph, of_a_clip, (int64_t)n->shape.batch);
}

/* The mask's vector where the mask is 1. */
static unsigned hide(struct neuron_net *n, enum modality m, unsigned tokens)
{
	struct hlo_graph *g = &n->graph;
	struct hlo_shape shape = *hlo_shape_of(g, tokens);
	struct hlo_shape mask = HLO_SHAPE(HLO_F32, shape.dim[0], shape.dim[1]);
	unsigned hidden;

	if (!n->shape.masked)
		return tokens;
	hidden = neuron_input(n, NEURON_MASK, m, &mask);
	hidden = hlo_with(g, HLO_AT_LEAST, hlo_broadcast(g, hidden, &shape, HLO_DIMS(0, 1)), 0.5);
	return hlo_select(g, hidden, in_tokens(n, n->ids.mask[m], shape.dim[1]), tokens);
}

/* [data | positions | padding]; position may be NULL */
static unsigned tokens_of(struct neuron_net *n, enum modality m, unsigned data,
                          const unsigned *position)
{
	struct hlo_graph *g = &n->graph;
	int64_t batch = hlo_shape_of(g, data)->dim[0], tokens = hlo_shape_of(g, data)->dim[1];
	unsigned parts[3] = {data}, k = 1;

	if (position != NULL)
		parts[k++] = neuron_repeat(g, *position, batch);
	if (params_token_pad(&n->config, m) > 0)
		parts[k++] = in_tokens(n, n->ids.pad[m], tokens);
	return hide(n, m, hlo_concatenate(g, parts, k, 2));
}

/* [batch, all tokens, channels] */
static unsigned tokens(struct neuron_net *n)
{
	const struct model_dims *d = &n->dims;
	int64_t batch = (int64_t)n->shape.batch;
	struct hlo_shape audio = HLO_SHAPE(HLO_F32, batch, (int64_t)d->n_audio,
	                                   (int64_t)d->audio_data),
			 image = HLO_SHAPE(HLO_F32, batch, (int64_t)d->n_image,
	                                   (int64_t)d->image_data),
			 label = HLO_SHAPE(HLO_F32, batch, (int64_t)n->config.num_labels),
			 token = HLO_SHAPE(HLO_F32, batch, 1, (int64_t)n->config.num_labels);
	unsigned heard = neuron_input(n, NEURON_AUDIO, 0, &audio);
	unsigned seen = neuron_input(n, NEURON_PATCHES, 0, &image);
	unsigned said = neuron_input(n, NEURON_LABELS, 0, &label);
	unsigned where[MODALITIES] = {[AUDIO] = audio_positions(n), [IMAGE] = image_positions(n)};
	unsigned parts[MODALITIES] = {
		[AUDIO] = tokens_of(n, AUDIO, heard, &where[AUDIO]),
		[IMAGE] = tokens_of(n, IMAGE, seen, &where[IMAGE]),
		[LABEL] = tokens_of(n, LABEL, hlo_reshape(&n->graph, said, &token), NULL)};

	return hlo_concatenate(&n->graph, parts, MODALITIES, 1);
}

/* ---- cross attention ---- */

/* Rows [first, end) of a weight or a bias that belong to a head. */
static unsigned head_rows(struct neuron_net *n, size_t id, size_t head, size_t width)
{
	return hlo_slice(&n->graph, n->weight[id], 0, (int64_t)(head * width),
	                 (int64_t)((head + 1) * width));
}

/* The probabilities of all heads, [batch, heads * latents, tokens]. The tokens are not repeated for
 * each head: a compiler would have to see that, and XLA, which does, then has wrong sums in
 * some modules of one clip. */
static unsigned cross_probabilities(struct neuron_net *n, unsigned q, unsigned tokens)
{
	struct hlo_graph *g = &n->graph;
	size_t heads = n->config.num_cross_attention_heads, width = n->dims.enc_qk / heads;
	int64_t batch = (int64_t)n->shape.batch;
	struct hlo_dot fold = {.contracted = {HLO_DIMS(1), HLO_DIMS(0)}};
	AUTO_FREE unsigned *folded = mem_calloc(heads, sizeof(*folded));
	unsigned all;

	for (size_t h = 0; h < heads; h++) {
		unsigned part =
			hlo_slice(g, q, 1, (int64_t)(h * width), (int64_t)((h + 1) * width));
		unsigned rows = head_rows(n, n->ids.cross.key, h, width);

		folded[h] = hlo_dot(g, part, rows, &fold);
	}
	all = neuron_repeat(g, hlo_concatenate(g, folded, (unsigned)heads, 0), batch);
	return neuron_probabilities(n, all, tokens, width, 0);
}

/* (P t) Wv^T + rowsum(P) bv of one head: [batch, latents, v] */
static unsigned cross_head(struct neuron_net *n, unsigned probabilities, unsigned tokens,
                           size_t head)
{
	struct hlo_graph *g = &n->graph;
	size_t width = n->dims.enc_v / n->config.num_cross_attention_heads;
	int64_t latents = (int64_t)n->config.num_latents, first = (int64_t)head * latents;
	struct hlo_shape shape;
	struct hlo_dot dot = {.batch = {HLO_DIMS(0), HLO_DIMS(0)},
	                      .contracted = {HLO_DIMS(2), HLO_DIMS(1)}};
	unsigned p = hlo_slice(g, probabilities, 1, first, first + latents);
	unsigned mixed, values, bias, sums;

	mixed = hlo_dot(g, p, tokens, &dot);
	values = neuron_product(g, mixed, head_rows(n, n->ids.cross.value, head, width));
	shape = *hlo_shape_of(g, values);
	sums = hlo_broadcast(g, hlo_reduce(g, HLO_SUM, p, HLO_DIMS(2)), &shape, HLO_DIMS(0, 1));
	bias = hlo_broadcast(g, head_rows(n, n->ids.cross.value + 1, head, width), &shape,
	                     HLO_DIMS(2));
	return hlo_binary(g, HLO_ADD, values, hlo_binary(g, HLO_MULTIPLY, sums, bias));
}

static unsigned cross_attention(struct neuron_net *n, unsigned tokens)
{
	struct hlo_graph *g = &n->graph;
	const struct layer_params *p = &n->ids.cross;
	size_t heads = n->config.num_cross_attention_heads;
	AUTO_FREE unsigned *contexts = mem_calloc(heads, sizeof(*contexts));
	unsigned latents = n->weight[n->ids.latents];
	unsigned q = neuron_linear(n, neuron_layer_norm(n, latents, p->norm_q), p->query);
	unsigned probabilities = cross_probabilities(n, q, tokens), out;

	for (size_t h = 0; h < heads; h++)
		contexts[h] = cross_head(n, probabilities, tokens, h);
	out = neuron_linear(n, hlo_concatenate(g, contexts, (unsigned)heads, 2), p->out);
	if (n->config.use_query_residual)
		out = hlo_binary(g, HLO_ADD, out,
		                 neuron_repeat(g, latents, (int64_t)n->shape.batch));
	return neuron_mlp(n, p, out);
}

/* ---- self attention ---- */

/* [batch, rows, heads * width] as [batch, heads, rows, width] */
static unsigned split_heads(struct hlo_graph *g, unsigned x, size_t heads)
{
	struct hlo_shape s = *hlo_shape_of(g, x);
	struct hlo_shape four =
		HLO_SHAPE(HLO_F32, s.dim[0], s.dim[1], (int64_t)heads, s.dim[2] / (int64_t)heads);

	return hlo_transpose(g, hlo_reshape(g, x, &four), HLO_DIMS(0, 2, 1, 3));
}

static unsigned join_heads(struct hlo_graph *g, unsigned x)
{
	struct hlo_shape s = *hlo_shape_of(g, x);
	struct hlo_shape three = HLO_SHAPE(HLO_F32, s.dim[0], s.dim[2], s.dim[1] * s.dim[3]);

	return hlo_reshape(g, hlo_transpose(g, x, HLO_DIMS(0, 2, 1, 3)), &three);
}

static unsigned self_attention(struct neuron_net *n, unsigned x, size_t index)
{
	struct hlo_graph *g = &n->graph;
	const struct layer_params *p = &n->ids.self[index % n->config.num_self_attends_per_block];
	size_t heads = n->config.num_self_attention_heads;
	struct hlo_dot mix = {.batch = {HLO_DIMS(0, 1), HLO_DIMS(0, 1)},
	                      .contracted = {HLO_DIMS(3), HLO_DIMS(2)}};
	unsigned norm = neuron_layer_norm(n, x, p->norm_q);
	unsigned q = split_heads(g, neuron_linear(n, norm, p->query), heads);
	unsigned k = split_heads(g, neuron_product(g, norm, n->weight[p->key]), heads);
	unsigned v = split_heads(g, neuron_linear(n, norm, p->value), heads);
	unsigned mixed = hlo_dot(
		g, neuron_probabilities(n, q, k, n->dims.self_qk / heads, (uint32_t)index + 1), v,
		&mix);
	unsigned out = neuron_linear(n, join_heads(g, mixed), p->out);

	return neuron_mlp(n, p, hlo_binary(g, HLO_ADD, out, x));
}

unsigned neuron_encoder(struct neuron_net *n)
{
	unsigned x = neuron_layer_norm(n, tokens(n), n->ids.cross.norm_kv);

	x = cross_attention(n, x);
	for (size_t i = 0; i < n->dims.n_layers; i++)
		x = self_attention(n, x, i);
	return x;
}
