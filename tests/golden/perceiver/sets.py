"""The sets: what each configuration is there for, and the figures that all of them have in common."""

OPTIMIZERS = {
    "sgd": {"type": "sgd", "lr": 0.05, "momentum": 0.9, "weight_decay": 0.0, "max_grad_norm": 0.0},
    "sgd_clip": {"type": "sgd", "lr": 0.05, "momentum": 0.9, "weight_decay": 0.0, "max_grad_norm": 0.05},
    "adamw": {"type": "adamw", "lr": 0.001, "betas": [0.9, 0.999], "eps": 1e-8, "weight_decay": 0.1, "max_grad_norm": 10.0},
}

COMMON = {
    "num_frames": 2,
    "image_size": 2,
    "output_shape": [1, 2, 4, 4],
    "audio_samples_per_frame": 12,
    "samples_per_patch": 4,
    "num_labels": 5,
    "num_latents": 6,
    "d_latents": 8,
    "num_blocks": 1,
    "num_self_attends_per_block": 1,
    "num_self_attention_heads": 2,
    "num_cross_attention_heads": 1,
    "self_attention_widening_factor": 1,
    "cross_attention_widening_factor": 1,
    "cross_attention_shape_for_attention": "kv",
    "qk_channels": None,
    "v_channels": None,
    "use_query_residual": True,
    "hidden_act": "gelu",
    "attention_probs_dropout_prob": 0.0,
    "audio_num_bands": 3,
    "image_num_bands": 2,
    "spatial_downsample": 2,
    "temporal_downsample": 1,
    "output_num_channels": 8,
    "label_query_channels": 6,
    "encoder_min_padding_size": 4,
    "decoder_min_padding_size": 2,
    "layer_norm_eps_effective": 1e-5,
    "batch_size": 2,
    "image_output_points": 10,
    "audio_output_points": 3,
    "loss_weights": {"image": 0.03, "audio": 1.0, "label": 0.0001},
    "weight_scale": 8.0,
    "masked_from_step": 2,
    "optimizers": OPTIMIZERS,
}

SETS = {
    # The published model's form, small: one head over folded keys, two layers of four heads.
    "published": {"num_self_attends_per_block": 2, "num_self_attention_heads": 4,
                  "seed": 101},
    # Two heads of cross attention as wide as the latents, so keys are formed; GELU by tanh; tokens masked from the start.
    "cross-heads": {"num_cross_attention_heads": 2, "cross_attention_shape_for_attention": "q", "d_latents": 12,
                    "num_self_attention_heads": 3, "hidden_act": "gelu_new", "output_shape": [1, 2, 4, 6],
                    "image_size": 3, "masked_from_step": 0, "batch_size": 3, "seed": 202},
    # Explicit widths of keys and values, blocks that share their weights, wider MLPs, no residual of the queries.
    "explicit-widths": {"qk_channels": 12, "v_channels": 8, "num_blocks": 2, "use_query_residual": False,
                        "self_attention_widening_factor": 2, "cross_attention_widening_factor": 2,
                        "masked_from_step": 1, "seed": 303},
    # More tokens and latents than one tile holds, in a grid that is not square; labels weigh as much as the rest.
    "many-tokens": {"num_frames": 3, "output_shape": [1, 3, 3, 23], "image_size": 23, "spatial_downsample": 1,
                    "audio_samples_per_frame": 120, "samples_per_patch": 6, "num_latents": 35, "num_labels": 3,
                    "image_num_bands": 1, "encoder_min_padding_size": 3, "audio_num_bands": 2,
                    "image_output_points": 40, "audio_output_points": 17,
                    "loss_weights": {"image": 1.0, "audio": 1.0, "label": 1.0}, "masked_from_step": 0,
                    "seed": 404},
}


def config_of(name):
    return {**COMMON, **SETS[name]}
