/* Which tiles products are cut into: of the full network's on each device, and at the edges. */
#include "tests/harness.h"
#include "trainer/cuda/product_tiles.h"

static const struct cuda_queue t4g = {.compute = 75, .multiprocessors = 40};
static const struct cuda_queue a100 = {.compute = 80, .multiprocessors = 108};
static const struct cuda_queue a10g = {.compute = 86, .multiprocessors = 80};
static const struct cuda_queue h100 = {.compute = 90, .multiprocessors = 132};

static const struct product_tile *tile_of(const struct cuda_queue *device,
                                          enum cuda_operands operands, uint32_t m, uint32_t n,
                                          unsigned parts)
{
	struct cuda_queue q = *device;

	q.operands = operands;
	return product_tile_for(&q, m, n, parts);
}

/* As docs/bench/kernels.md has them. */
static void products_of_the_network_have_their_tiles(void)
{
	static const struct {
		const struct cuda_queue *device;
		enum cuda_operands operands;
		uint32_t m, n;
		unsigned parts, side;
	} cases[] = {
		{&a100, OPERANDS_BF16, 784, 512, 1, 64},
		{&a100, OPERANDS_BF16, 3136, 512, 1, 128},
		{&a100, OPERANDS_BF16, 12544, 512, 1, 128},
		{&a100, OPERANDS_BF16, 512, 512, 4, 128},
		{&a100, OPERANDS_TF32, 784, 512, 1, 64},
		{&a100, OPERANDS_TF32, 3136, 512, 1, 128},
		{&a10g, OPERANDS_BF16, 784, 512, 1, 64},
		{&a10g, OPERANDS_BF16, 3136, 512, 1, 64},
		{&a10g, OPERANDS_BF16, 12544, 512, 1, 128},
		{&a10g, OPERANDS_TF32, 512, 512, 3, 64},
		{&h100, OPERANDS_BF16, 784, 512, 1, 64},
		{&h100, OPERANDS_BF16, 3136, 512, 1, 128},
		{&h100, OPERANDS_TF32, 512, 512, 4, 64},
		{&t4g, OPERANDS_F16, 12544, 512, 1, 64},
		{&a100, OPERANDS_F32, 12544, 512, 1, 64},
		{&a100, OPERANDS_F16, 1, 1, 1, 64},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		CHECK_INT(tile_of(cases[i].device, cases[i].operands, cases[i].m, cases[i].n,
		                  cases[i].parts)
		                  ->side,
		          cases[i].side);
}

static void kernels_are_those_of_operands_and_device(void)
{
	struct cuda_queue three = a100;

	three.by_three = true;
	CHECK_INT(tile_of(&t4g, OPERANDS_F16, 64, 64, 1)->kernels[PRODUCT_NN],
	          KERNEL_product_f16_nn);
	CHECK_INT(tile_of(&a100, OPERANDS_F16, 64, 64, 1)->kernels[PRODUCT_NN],
	          KERNEL_product_f16_64_nn);
	CHECK_INT(tile_of(&a100, OPERANDS_BF16, 4096, 4096, 1)->kernels[PRODUCT_TN],
	          KERNEL_product_bf16_128_tn);
	CHECK_INT(tile_of(&a100, OPERANDS_F32, 64, 64, 1)->kernels[PRODUCT_NT],
	          KERNEL_product_f32_nt);
	CHECK_INT(tile_of(&three, OPERANDS_F32, 64, 64, 1)->kernels[PRODUCT_NT],
	          KERNEL_product_tf32x3_64_nt);
	CHECK_INT(tile_of(&three, OPERANDS_TF32, 64, 64, 1)->kernels[PRODUCT_NT],
	          KERNEL_product_tf32_64_nt);
}

int main(void)
{
	TEST("tiles: the network's products have those that are said",
	     products_of_the_network_have_their_tiles);
	TEST("tiles: kernels are those of operands and device",
	     kernels_are_those_of_operands_and_device);
	return test_done();
}
