#include "trainer/train/options.h"

struct train_options train_options_default(void)
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
	                      .lr = 5e-5,
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
		.max_backoffs = 3,
	};
}
