#include "trainer/train/options.h"

struct train_options train_options_seeds(void)
{
	return (struct train_options){
		.seed = 1,
		.batch_size = 8,
		.accumulate = 1,
		.image_points = 512,
		.audio_points = 512,
		.label_mask_prob = 1,
		.weights = {.image = 0.03, .audio = 1, .label = 1e-4},
		.optimizer = {.kind = OPTIMIZER_ADAMW,
	                      .lr = 1e-5,
	                      .momentum = 0.9,
	                      .beta1 = 0.9,
	                      .beta2 = 0.999,
	                      .eps = 1e-8,
	                      .weight_decay = 0.1,
	                      .max_grad_norm = 10},
		.schedule = {.kind = SCHEDULE_CONSTANT, .final_factor = 0},
		.max_steps = 28125,
		.log_steps = 20,
		.max_bad_steps = 20,
	};
}

struct train_options train_options_paper(void)
{
	struct train_options o = train_options_seeds();

	/* 512 audio points are single samples there; 32 patches of 16 decode as many */
	o.audio_points = 32;
	o.label_mask_prob = 0.5;
	o.optimizer.lr = 5e-4;
	o.schedule = (struct schedule_options){.kind = SCHEDULE_COSINE,
	                                       .warmup_steps = 1000,
	                                       .decay_from = 14063,
	                                       .total_steps = 28125};
	return o;
}
