/* Rules over manifest and configuration: media types, counts, diff IDs, history, platform, size. */
#include <string.h>

#include "base/text.h"
#include "builder/check/rules.h"
#include "builder/oci/mediatype.h"

void rule_check_manifest(struct check_image *image)
{
	const struct manifest *m = &image->manifest;

	if (strcmp(media_to_oci(m->config.media_type), MEDIA_CONFIG) != 0)
		rule_report(image, RULE_MEDIA_TYPE, NO_PLACE,
		            "configuration has the media type '%s', not '%s'", m->config.media_type,
		            MEDIA_CONFIG);
	for (size_t i = 0; i < m->n_layers; i++)
		if (!media_is_layer(m->layers[i].media_type))
			rule_report(image, RULE_MEDIA_TYPE, (struct rule_place){i, NULL},
			            "'%s' is not a layer type that a runtime can unpack",
			            m->layers[i].media_type);
	if (m->n_layers > IMAGE_LAYERS_MAX)
		rule_hint(image,
		          rule_report(image, RULE_LAYER_COUNT, NO_PLACE,
		                      "%zu layers, but a node can mount at most %d", m->n_layers,
		                      IMAGE_LAYERS_MAX),
		          "join layers, or raise `split:`");
}

void rule_check_diff_ids(struct check_image *image)
{
	const struct image_config *c = &image->config;

	if (!image->has_config)
		return;
	if (c->n_diff_ids != image->manifest.n_layers) {
		rule_report(image, RULE_DIFF_ID, NO_PLACE,
		            "the configuration has %zu diff IDs for %zu layers", c->n_diff_ids,
		            image->manifest.n_layers);
		return;
	}
	for (size_t i = 0; i < c->n_diff_ids; i++) {
		const struct layer_scan *scan = image->layers[i];
		char want[DIGEST_TEXT_MAX], have[DIGEST_TEXT_MAX];

		if (scan == NULL || scan->failure.code != ERR_NONE ||
		    digest_equal(&scan->diff_id, &c->diff_ids[i]))
			continue;
		rule_report(image, RULE_DIFF_ID, (struct rule_place){i, NULL},
		            "the configuration says diff ID %s, but the layer unpacks to %s",
		            digest_text(&c->diff_ids[i], want), digest_text(&scan->diff_id, have));
	}
}

void rule_check_history(struct check_image *image)
{
	const struct image_config *c = &image->config;

	if (image->has_config && c->has_history &&
	    c->n_nonempty_history != image->manifest.n_layers)
		rule_report(image, RULE_HISTORY, NO_PLACE,
		            "the history has %zu entries with a layer, the image has %zu layers",
		            c->n_nonempty_history, image->manifest.n_layers);
}

void rule_check_platform(struct check_image *image)
{
	char have[PLATFORM_TEXT_MAX];

	if (!image->has_config || image->desc.platform.os[0] == '\0')
		return;
	if (strcmp(image->desc.platform.os, image->config.platform.os) != 0 ||
	    strcmp(image->desc.platform.architecture, image->config.platform.architecture) != 0)
		rule_report(image, RULE_PLATFORM, NO_PLACE, "the configuration is for %s",
		            platform_text(&image->config.platform, have));
}

void rule_check_size(struct check_image *image)
{
	int64_t total = 0, budget = image->run->opts->size_budget;
	char have[TEXT_BYTES_MAX], most[TEXT_BYTES_MAX];

	for (size_t i = 0; i < image->manifest.n_layers; i++)
		if (__builtin_add_overflow(total, image->manifest.layers[i].size, &total))
			total = INT64_MAX;
	if (budget <= 0 || total <= budget)
		return;
	struct diag *diag =
		rule_report(image, RULE_SIZE_BUDGET, NO_PLACE,
	                    "the layers have %s (%lld bytes), the budget is %s (%lld bytes)",
	                    text_bytes(total, have), (long long)total, text_bytes(budget, most),
	                    (long long)budget);

	rule_at(diag, image->run->opts->at.size_budget);
	rule_hint(image, diag,
	          "`slipway inspect` shows each layer's size: pack less, or raise size_budget");
}
