/* Secrets count in every layer: a file that a later layer hides can still be downloaded. */
#include "builder/check/rules.h"

void rule_check_secrets(struct check_image *image)
{
	for (size_t i = 0; i < image->manifest.n_layers; i++) {
		struct layer_scan *scan = image->layers[i];

		if (scan == NULL || scan->reported)
			continue;
		for (size_t k = 0; k < scan->secrets.n; k++) {
			const struct scan_secret *s = &scan->secrets.at[k];
			struct diag *diag;

			diag = rule_report(
				image, RULE_SECRET, (struct rule_place){i, s->member->path},
				"holds %s (at byte %lld)", s->what, (long long)s->offset);
			rule_hint(image, diag,
			          "leave it out of the image and mount it when the job runs; if it "
			          "was "
			          "ever pushed, revoke it");
		}
	}
}
