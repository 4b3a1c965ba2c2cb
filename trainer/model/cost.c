#include "trainer/model/cost.h"

/* Forward; the backward pass of a product is two more of its size. */
static double product(size_t m, size_t n, size_t k)
{
	return 2.0 * (double)m * (double)n * (double)k;
}

static double mlp(size_t rows, size_t width, size_t widening)
{
	return 2 * product(rows, width * widening, width);
}

/* Projections of queries, of output, and the MLP; keys and values of `kv` rows when given. */
static double projections(size_t rows, size_t q, size_t kv_rows, size_t kv, size_t qk, size_t v,
                          size_t widening)
{
	return product(rows, qk, q) + product(kv_rows, qk, kv) + product(kv_rows, v, kv) +
	       product(rows, q, v) + mlp(rows, q, widening);
}

static double attention(size_t nq, size_t nk, size_t qk, size_t v)
{
	return product(nq, nk, qk) + product(nq, nk, v);
}

/* The folded, structured form: data channels, and the tables of positions; one more product of
 * scores in backward. */
static double folded(const struct model_config *c, const struct model_dims *d, size_t batch)
{
	size_t lines = c->num_frames + d->grid_h + d->grid_w;
	double tokens = product(c->num_latents, d->n_image, d->image_data) +
	                product(c->num_latents, lines, 1 + 2 * c->image_num_bands) +
	                product(c->num_latents, d->n_audio, d->audio_data + d->audio_pos);
	double small = product(c->num_latents, d->channels, d->enc_qk) +
	               product(batch * c->num_latents, d->channels, d->enc_v);

	return 5 * (double)batch * tokens + 3 * small;
}

struct model_cost model_cost(const struct model_config *c, const struct batch *b)
{
	struct model_dims d = model_dims(c);
	struct model_cost cost = {0};
	size_t points = b->n_out_audio + b->n_out_image + (b->decode_label ? 1 : 0);
	size_t rows = b->n * c->num_latents, n = c->num_latents, w = c->d_latents;
	double batch = (double)b->n;
	double cross =
		projections(rows, w, 0, 0, d.enc_qk, d.enc_v, c->cross_attention_widening_factor);
	double formed = product(b->n * d.n_tokens, d.enc_qk + d.enc_v, d.channels) +
	                batch * attention(n, d.n_tokens, d.enc_qk, d.enc_v);
	double self = (double)d.n_layers * projections(rows, w, rows, w, d.self_qk, d.self_v,
	                                               c->self_attention_widening_factor);
	double self_scores = (double)d.n_layers * batch * attention(n, n, d.self_qk, d.self_v);
	double decoder = projections(b->n * points, d.queries, rows, w, d.dec_qk, d.dec_v, 1) +
	                 product(b->n * points, c->output_num_channels, d.queries);
	double decoder_scores = batch * attention(points, n, d.dec_qk, d.dec_v);

	cost.cross =
		3 * cross + (c->num_cross_attention_heads == 1 ? folded(c, &d, b->n) : 3 * formed);
	cost.self = 3 * self + 3.5 * self_scores; /* scores are computed again in backward */
	cost.decoder = 3 * decoder + 3.5 * decoder_scores;
	cost.executed = cost.cross + cost.self + cost.decoder;
	cost.plain = 3 * (cross + formed + self + self_scores + decoder + decoder_scores);
	return cost;
}
