/*
 * Modules held against what AWS documents of its compiler: those that we write are within it, and
 * one that is not is refused by name.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "trainer/hlo/graph.h"
#include "trainer/hlo/module.h"
#include "trainer/neuron/limits.h"
#include "trainer/neuron/modules.h"
#include "trainer/neuron/uses.h"

/* All that a module can be made of: dropout, masks, replicas, both forms of GELU. */
static struct neuron_run run_of(bool second)
{
	struct neuron_run run = {.config = model_config_tiny(),
	                         .step = {.batch = 2,
	                                  .n_out_image = 4,
	                                  .n_out_audio = 4,
	                                  .decode_label = true,
	                                  .masked = true,
	                                  .training = true,
	                                  .rounds = second,
	                                  .replicas = second ? 4 : 1}};

	run.config.attention_probs_dropout_prob = 0.1;
	run.config.hidden_act = second ? GELU_TANH : GELU_ERF;
	run.measure = run.step;
	run.measure.training = false;
	run.optimizer = (struct optimizer_options){.kind = second ? OPTIMIZER_SGD : OPTIMIZER_ADAMW,
	                                           .beta1 = 0.9,
	                                           .beta2 = 0.999,
	                                           .eps = 1e-8,
	                                           .momentum = 0.9,
	                                           .ema_decay = 0.9};
	neuron_use_shapes(&run, 2, second);
	return run;
}

static void module_of(const struct neuron_run *run, enum neuron_module which, struct strbuf *ret)
{
	struct neuron_net n;

	neuron_module_build(run, which, &n);
	neuron_write(&n, neuron_module_name(which), ret, NULL);
	neuron_net_done(&n);
}

static void what_we_write_is_within_the_limits(void)
{
	for (int second = 0; second < 2; second++) {
		struct neuron_run run = run_of(second);

		for (enum neuron_module m = 0; m < NEURON_MODULES; m++) {
			AUTO(strbuf) struct strbuf bytes = {0};
			struct neuron_checked checked = {0};
			struct err err = {0};

			module_of(&run, m, &bytes);
			CHECK_OK(neuron_check(neuron_module_name(m), bytes.ptr, bytes.len, &checked,
			                      &err),
			         &err);
			CHECK(checked.instructions > 100 && checked.largest > 0);
			/* dropout's bits, and GELU's function */
			CHECK((checked.unlisted > 0) ==
			      (m == NEURON_STEP || (m != NEURON_UPDATE && !second)));
		}
	}
}

/* Whether an operand of a product is the same all along one of the product's batch dimensions. */
static bool is_repeated(const struct hlo_graph *g, const struct hlo_node *product, unsigned side)
{
	const struct hlo_node *operand = &g->nodes.at[product->operand[side]];
	const struct hlo_dims *batch = &product->dot.batch[side];

	for (unsigned i = 0; operand->op == HLO_BROADCAST && i < batch->n; i++) {
		bool given = operand->shape.dim[batch->at[i]] == 1;

		for (unsigned k = 0; k < operand->dims.n; k++)
			given = given || operand->dims.at[k] == batch->at[i];
		if (!given)
			return true;
	}
	return false;
}

/* XLA takes such repetitions out of products, and had wrong sums then in modules of one clip. */
static void no_product_repeats_its_operand_for_each_head(void)
{
	size_t products = 0;

	for (int second = 0; second < 2; second++) {
		struct neuron_run run = run_of(second);

		run.config.num_cross_attention_heads = 2;
		run.config.qk_channels = run.config.v_channels = run.config.d_latents;
		run.step.batch = run.measure.batch = 1;
		for (enum neuron_module m = 0; m < NEURON_MODULES; m++) {
			struct neuron_net n;

			neuron_module_build(&run, m, &n);
			for (size_t i = 0; i < n.graph.nodes.n; i++) {
				const struct hlo_node *node = &n.graph.nodes.at[i];

				if (node->op != HLO_DOT)
					continue;
				products++;
				CHECK(!is_repeated(&n.graph, node, 0) &&
				      !is_repeated(&n.graph, node, 1));
			}
			neuron_net_done(&n);
		}
	}
	CHECK(products > 100);
}

static void every_operator_is_documented(void)
{
	size_t unlisted = 0;

	for (enum hlo_op op = 0; op < HLO_OPS; op++)
		unlisted += !neuron_is_listed(hlo_op_name(op));
	CHECK_INT(unlisted, 3); /* erf, and, xor */
	CHECK(!neuron_is_listed("erf") && !neuron_is_listed("cholesky"));
}

/* A small module: tanh, a sum, a product. */
static void small_module(int64_t rows, struct strbuf *ret)
{
	struct hlo_graph g = {.replicas = 2};
	const struct hlo_dot dims = {.contracted = {HLO_DIMS(1), HLO_DIMS(0)}};
	unsigned x = hlo_parameter(&g, &HLO_SHAPE(HLO_F32, rows, 3), "x");
	unsigned y = hlo_parameter(&g, &HLO_SHAPE(HLO_F32, 3, 2), "y");
	unsigned product = hlo_dot(&g, hlo_unary(&g, HLO_TANH, x), y, &dims);
	unsigned sum = hlo_all_reduce(&g, hlo_reduce(&g, HLO_SUM, product, HLO_DIMS(0)));
	struct hlo_module m = {.name = "small", .graph = &g, .results = &sum, .n = 1};

	hlo_encode(&m, ret);
	hlo_graph_done(&g);
}

/* Every place of `from` in the bytes becomes `to`, which is as long. */
static size_t replace(struct strbuf *bytes, const char *from, size_t n, const char *to)
{
	size_t count = 0;

	for (size_t i = 0; i + n <= bytes->len; i++)
		if (memcmp(bytes->ptr + i, from, n) == 0) {
			memcpy(bytes->ptr + i, to, n);
			count++;
		}
	return count;
}

#define OPCODE(letters) "\x12" letters /* its field's tag, then its length and letters */

/* A shape of two dimensions. */
#define F32(dims) "\x10\x0b\x1a\x02" dims
#define S64(dims) "\x10\x05\x1a\x02" dims
#define S32(dims) "\x10\x04\x1a\x02" dims

static void what_no_document_allows_is_refused(void)
{
	static const struct {
		const char *from, *to, *says;
		enum err_code code;
	} rows[] = {
		{OPCODE("\x04tanh"), OPCODE("\x04sinh"), "(sinh) is an operator that no document",
	         ERR_UNSUPPORTED},
		{OPCODE("\x03"
	                "add"),
	         OPCODE("\x03"
	                "and"),
	         "not one by which the compiler reduces", ERR_UNSUPPORTED},
		{OPCODE("\x08"
	                "constant"),
	         OPCODE("\x08"
	                "exponent"),
	         "(exponent) is an operator", ERR_UNSUPPORTED},
		{OPCODE("\x08"
	                "constant"),
	         OPCODE("\x08"
	                "subtract"),
	         "(reduce) does not begin with", ERR_UNSUPPORTED},
		{F32("\x03\x02"), S64("\x03\x02"), "(parameter) has a type that the engines",
	         ERR_UNSUPPORTED},
		{F32("\x05\x02"), S32("\x05\x02"), "(dot) is of whole numbers", ERR_UNSUPPORTED},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(strbuf) struct strbuf bytes = {0};
		struct neuron_checked checked;
		struct err err = {0};

		small_module(5, &bytes);
		CHECK_OK(neuron_check("small", bytes.ptr, bytes.len, &checked, &err), &err);
		CHECK(replace(&bytes, rows[i].from, strlen(rows[i].from), rows[i].to) > 0);
		CHECK(neuron_check("small", bytes.ptr, bytes.len, &checked, &err) != 0);
		CHECK_INT(err.code, rows[i].code);
		if (strstr(err.msg, rows[i].says) == NULL)
			CHECK_STR(err.msg, rows[i].says);
	}
}

static void a_value_that_is_too_large_is_refused(void)
{
	AUTO(strbuf) struct strbuf fits = {0}, large = {0};
	struct neuron_checked checked;
	struct err err = {0};
	const int64_t most = ((int64_t)1 << 32) / 12;

	small_module(most, &fits);
	CHECK_OK(neuron_check("step", fits.ptr, fits.len, &checked, &err), &err);
	CHECK(checked.largest == 12.0 * (double)most);
	small_module(most + 1, &large);
	CHECK(neuron_check("step", large.ptr, large.len, &checked, &err) != 0);
	CHECK_INT(err.code, ERR_LIMIT);
	CHECK(strstr(err.msg, "module step: x has 4294967304 bytes, the compiler takes 4 GiB") !=
	      NULL);
}

static void what_is_no_module_is_refused(void)
{
	AUTO(strbuf) struct strbuf bytes = {0};
	struct neuron_checked checked;
	struct err err = {0};
	size_t refused = 0;

	small_module(5, &bytes);
	for (size_t i = 0; i < bytes.len; i++)
		refused += neuron_check("small", bytes.ptr, i, &checked, &err) != 0;
	/* cut between two fields behind the entry it is still whole */
	CHECK(refused > bytes.len * 9 / 10);
	CHECK(neuron_check("none", "", 0, &checked, &err) != 0);
	CHECK_INT(err.code, ERR_FORMAT);
}

int main(void)
{
	TEST("neuron limits: the modules that we write are within them",
	     what_we_write_is_within_the_limits);
	TEST("neuron limits: no product repeats its operand for each head",
	     no_product_repeats_its_operand_for_each_head);
	TEST("neuron limits: every operator is in a document of AWS's, three of them not in its "
	     "list",
	     every_operator_is_documented);
	TEST("neuron limits: an operator, a type, a reduction that no document allows is refused",
	     what_no_document_allows_is_refused);
	TEST("neuron limits: a value of more than 4 GiB is refused",
	     a_value_that_is_too_large_is_refused);
	TEST("neuron limits: bytes that are no module are refused", what_is_no_module_is_refused);
	return test_done();
}
