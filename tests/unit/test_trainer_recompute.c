/* Activation checkpointing: the same bits from less memory, and the memory that was foretold. */
#include <string.h>

#include "tests/harness.h"
#include "tests/unit/random_model.h"
#include "trainer/model/memory.h"

static const struct recompute none = {false, 0};
static const struct recompute settings[] = {{true, 0}, {true, 3}, {true, 2}, {true, 1}};

static bool same_grads(struct model *a, struct model *b)
{
	return memcmp(model_grads(a)->data, model_grads(b)->data,
	              model_grads(a)->n_values * sizeof(float)) == 0;
}

/* More layers than random_config has, so that every setting differs. */
static struct model_config deep_config(struct philox *r)
{
	struct model_config c = random_config(r);

	c.num_self_attends_per_block = pick(r, 1, 4);
	return c;
}

/* The gradients of two micro-steps of different clips. */
static struct model *two_steps(const struct model_config *c, struct recompute again,
                               struct ops *ops, const struct batch *b, struct losses *losses)
{
	static const struct loss_weights weights = {0.5, 1, 0.3};
	struct model *m = run_recomputing(c, again, ops, b, losses);
	struct batch second = *b;
	struct logits logits;

	second.dropout_seed++;
	second.n = 1;
	model_forward(m, &second, &logits);
	model_loss(m, &weights, losses);
	model_backward(m, &weights, 0.5);
	return m;
}

static void check_settings(const struct model_config *c, const struct batch *b, size_t number,
                           struct ops ops[3])
{
	struct losses want_losses, losses;
	struct model *want = two_steps(c, none, &ops[0], b, &want_losses);

	for (size_t k = 0; k < ARRAY_LEN(settings); k++) {
		struct model *got = two_steps(c, settings[k], &ops[(number + k) % 3], b, &losses);
		bool ok =
			same_grads(want, got) && memcmp(&want_losses, &losses, sizeof(losses)) == 0;

		if (!ok)
			printf("# configuration %zu, setting %zu\n", number, k);
		CHECK(ok);
		model_free(got);
	}
	model_free(want);
}

static void check_bits(const struct ops_options *options, size_t n)
{
	static const unsigned threads[] = {1, 2, 5};
	struct ops ops[3];

	for (size_t i = 0; i < 3; i++) {
		struct ops_options with = *options;

		with.n_threads = threads[i];
		CHECK(ops_open(&with, &ops[i]));
	}
	for (size_t i = 0; i < n; i++) {
		struct philox r = philox_start(2025, STREAM_SYNTHETIC, i);
		struct model_config c = i == 0 ? model_config_tiny() : deep_config(&r);
		struct clip_memory clips = random_clips(&r, &c);
		struct err err = {0};

		CHECK_OK(model_config_check(&c, &err), &err);
		check_settings(&c, &clips.b, i, ops);
		free_clips(&clips);
	}
	for (size_t i = 0; i < 3; i++)
		ops_done(&ops[i]);
}

static void same_bits_f32(void)
{
	check_bits(&(struct ops_options){.precision = PRECISION_F32}, 12);
}

static void same_bits_bf16(void)
{
	check_bits(&(struct ops_options){.precision = PRECISION_BF16}, 10);
}

static void same_bits_elsewhere(void)
{
	check_bits(&(struct ops_options){.reference = true}, 3);
	check_bits(&(struct ops_options){.plain_cross = true}, 3);
	check_bits(&(struct ops_options){.isa = "generic"}, 3);
}

static size_t held(const struct model_config *c, struct recompute again, const struct batch *b)
{
	struct ops ops;
	struct model *m;
	size_t bytes, points = b->n_out_image + b->n_out_audio + 1;

	CHECK(ops_open(&(struct ops_options){.n_threads = 1}, &ops));
	m = model_new(c, &ops);
	model_set_recompute(m, again);
	model_reserve(m, b->n, points);
	bytes = model_workspace_bytes(m);
	model_free(m);
	ops_done(&ops);
	return bytes;
}

static double foretold(const struct model_config *c, struct recompute again, const struct batch *b)
{
	struct memory_use use = {.batch = b->n,
	                         .points = b->n_out_image + b->n_out_audio + 1,
	                         .threads = 1,
	                         .recompute = again};
	struct model_memory memory = model_memory(c, &use);

	return memory.bytes[MEMORY_ENCODER] + memory.bytes[MEMORY_DECODER];
}

/* To the byte: the estimate adds up what the allocation adds up. */
static void memory_is_foretold(void)
{
	for (size_t i = 0; i < 40; i++) {
		struct philox r = philox_start(2026, STREAM_SYNTHETIC, i);
		struct model_config c = deep_config(&r);
		struct clip_memory clips = random_clips(&r, &c);

		CHECK(held(&c, none, &clips.b) == (size_t)foretold(&c, none, &clips.b));
		for (size_t k = 0; k < ARRAY_LEN(settings); k++)
			CHECK(held(&c, settings[k], &clips.b) ==
			      (size_t)foretold(&c, settings[k], &clips.b));
		free_clips(&clips);
	}
}

/* Of the full model: each setting takes less than the one before; a layer that keeps its input alone
 * takes a seventh of one that keeps its products, one more layer of which is shared. */
static void less_and_less(void)
{
	struct model_config c = model_config_full();
	struct batch b = {.n = 2, .n_out_image = 512, .n_out_audio = 512};
	double all = foretold(&c, none, &b), before = all;
	double row = 2.0 * (double)c.num_latents * (double)c.d_latents * sizeof(float);

	for (size_t k = 0; k < ARRAY_LEN(settings); k++) {
		double now = foretold(&c, settings[k], &b);

		printf("# setting %zu: %.1f of %.1f MB\n", k, now / 1e6, all / 1e6);
		CHECK(now < before - row);
		before = now;
	}
	/* 8 layers x (q, k, v, o, attn_out, hidden, three outputs of norms and GELU), less one layer's
	 * shared products */
	CHECK(all - before > (8 * 9 - 7) * row);
}

/* A setting that changes takes effect at once. */
static void can_be_changed(void)
{
	struct model_config c = model_config_tiny();
	struct philox r = philox_start(7, STREAM_SYNTHETIC, 0);
	struct clip_memory clips = random_clips(&r, &c);
	struct losses losses;
	struct logits logits;
	struct ops ops;
	struct model *m;
	size_t all, less;

	CHECK(ops_open(&(struct ops_options){.n_threads = 2}, &ops));
	m = run_once(&c, &ops, &clips.b, &losses);
	all = model_workspace_bytes(m);
	model_set_recompute(m, settings[3]);
	model_forward(m, &clips.b, &logits);
	less = model_workspace_bytes(m);
	CHECK(less < all);
	model_set_recompute(m, none);
	model_forward(m, &clips.b, &logits);
	CHECK(model_workspace_bytes(m) == all);
	model_free(m);
	ops_done(&ops);
	free_clips(&clips);
}

static void settings_are_read(void)
{
	static const char *const good[] = {"none", "selective", "full", "2", "1000000"};
	static const char *const bad[] = {"", "0", "-1", "1000001", "Full", "2x", "every"};
	char text[RECOMPUTE_TEXT_MAX];
	struct recompute r;

	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		struct err err = {0};

		CHECK_OK(recompute_parse(good[i], &r, &err), &err);
		CHECK_STR(recompute_text(r, text), good[i]);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct err err = {0};

		CHECK(recompute_parse(bad[i], &r, &err) != 0);
		CHECK(err.code == ERR_USAGE && err.hint[0] != '\0');
	}
	CHECK(recompute_parse("1", &r, &(struct err){0}) == 0 && r.selective && r.every == 1);
	CHECK_INT(recompute_layers((struct recompute){true, 3}, 8), 2);
	CHECK(!recompute_layer((struct recompute){true, 3}, 0));
	CHECK(recompute_layer((struct recompute){true, 3}, 2));
}

int main(void)
{
	TEST("recompute: gradients have the same bits under every setting", same_bits_f32);
	TEST("recompute: in bf16, too", same_bits_bf16);
	TEST("recompute: and in the other arithmetics", same_bits_elsewhere);
	TEST("recompute: the workspace is the estimate's, to the byte", memory_is_foretold);
	TEST("recompute: each setting takes less than the one before", less_and_less);
	TEST("recompute: the setting may change between steps", can_be_changed);
	TEST("recompute: settings are read, others refused", settings_are_read);
	return test_done();
}
