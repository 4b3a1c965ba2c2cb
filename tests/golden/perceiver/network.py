"""The multimodal autoencoder at any size, from the classes of Hugging Face's transformers.

PerceiverForMultimodalAutoencoding fixes bands, paddings and widths; here they come from a set's
configuration, and everything else is assembled as that class assembles it.
"""
import torch
from transformers import PerceiverConfig
from transformers.models.perceiver import modeling_perceiver as hf


def fourier(bands, resolution):
    return {"num_bands": bands, "max_resolution": resolution, "sine_only": False, "concat_pos": True}


def preprocessor(c, config):
    samples, grid = config.num_frames * config.audio_samples_per_frame, config.image_size
    return hf.PerceiverMultimodalPreprocessor(
        min_padding_size=c["encoder_min_padding_size"],
        modalities={
            "audio": hf.PerceiverAudioPreprocessor(
                config, position_encoding_type="fourier", prep_type="patches",
                fourier_position_encoding_kwargs=fourier(c["audio_num_bands"], (samples,)),
                samples_per_patch=config.samples_per_patch),
            "image": hf.PerceiverImagePreprocessor(
                config, position_encoding_type="fourier", prep_type="patches",
                fourier_position_encoding_kwargs=fourier(c["image_num_bands"], (config.num_frames, grid, grid)),
                spatial_downsample=c["spatial_downsample"], temporal_downsample=1),
            "label": hf.PerceiverOneHotPreprocessor(config),
        },
        # Which tokens are masked is an input of a golden set: see masks().
        mask_probs={"image": 0.0, "audio": 0.0, "label": 0.0})


def decoder(c, config):
    samples, grid = config.num_frames * config.audio_samples_per_frame, config.image_size
    common = {"concat_preprocessed_input": False, "use_query_residual": False}
    only = {"position_encoding_only": True, **common}
    width = c["output_num_channels"]
    modalities = {
        "audio": hf.PerceiverBasicDecoder(
            config, output_index_dims=(samples // config.samples_per_patch,), output_num_channels=width,
            position_encoding_type="fourier",
            fourier_position_encoding_kwargs=fourier(c["audio_num_bands"], (samples,)), **only),
        "image": hf.PerceiverBasicVideoAutoencodingDecoder(
            config, output_shape=config.output_shape, output_num_channels=width, position_encoding_type="fourier",
            fourier_position_encoding_kwargs=fourier(c["image_num_bands"], (config.num_frames, grid, grid)), **only),
        "label": hf.PerceiverClassificationDecoder(
            config, position_encoding_type="trainable",
            trainable_position_encoding_kwargs={"num_channels": c["label_query_channels"], "index_dims": 1}, **only),
    }
    return hf.PerceiverMultimodalDecoder(
        config, modalities=modalities, num_outputs=None, output_num_channels=width,
        min_padding_size=c["decoder_min_padding_size"], **common)


class Autoencoder(torch.nn.Module):
    """Its parameters have the names of PerceiverForMultimodalAutoencoding's."""

    def __init__(self, c):
        super().__init__()
        known = PerceiverConfig().to_dict()
        config = PerceiverConfig(num_labels=c["num_labels"], **{k: v for k, v in c.items() if k in known})
        width = c["output_num_channels"]
        post = hf.PerceiverMultimodalPostprocessor(modalities={
            "audio": hf.PerceiverAudioPostprocessor(config, in_channels=width),
            "image": hf.PerceiverProjectionPostprocessor(in_channels=width, out_channels=3),
            "label": hf.PerceiverClassificationPostprocessor(config, in_channels=width)})
        self.labels = c["num_labels"]
        self.perceiver = hf.PerceiverModel(config, input_preprocessor=preprocessor(c, config),
                                           decoder=decoder(c, config), output_postprocessor=post)

    def forward(self, batch):
        inputs = {
            "image": batch["image"].double(), "audio": batch["audio"].double(),
            "label": torch.nn.functional.one_hot(batch["label"].long(), self.labels).double()}
        points = {"image": batch["out_image"].long(), "audio": batch["out_audio"].long(), "label": None}
        with masks(batch):
            return self.perceiver(inputs=inputs, subsampled_output_points=points).logits


class masks:
    """The preprocessor draws each modality's mask by torch.bernoulli; for a while it gets the batch's."""

    def __init__(self, batch):
        self.next = iter([batch[f"mask_{name}"] for name in ("audio", "image", "label")])

    def __enter__(self):
        self.bernoulli = torch.bernoulli
        torch.bernoulli = lambda p: next(self.next).to(p.dtype)

    def __exit__(self, *_):
        torch.bernoulli = self.bernoulli


def watch(model, store):
    """Hooks that put the activations under a golden folder's names into the dictionary `store`."""
    p = model.perceiver
    encoder, decoding = p.encoder, p.decoder.decoder
    inner = decoding.decoding_cross_attention
    first = lambda out: out[0] if isinstance(out, tuple) else out

    def keep(module, name):
        return module.register_forward_hook(lambda _m, _i, out: store.__setitem__(name, first(out).detach()))

    def count(_m, _i, out):
        n = sum(name.startswith("act.self_attends.") for name in store)
        store[f"act.self_attends.{n}.out"] = first(out).detach()

    return [
        keep(p.input_preprocessor, "act.preprocessed"),
        keep(encoder.cross_attention.attention.self, "act.cross_attention.context"),
        keep(encoder.cross_attention.attention, "act.cross_attention.attn_out"),
        keep(encoder.cross_attention, "act.cross_attention.out"),
        *[layer.register_forward_hook(count) for layer in encoder.self_attends],
        inner.register_forward_pre_hook(lambda _m, args: store.__setitem__("act.decoder.query", args[0].detach())),
        keep(inner.attention, "act.decoder.attn_out"),
        keep(inner, "act.decoder.cross_out"),
        keep(decoding.final_layer, "act.decoder.final"),
    ]
