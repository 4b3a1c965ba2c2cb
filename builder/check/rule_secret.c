/* Secrets count in every layer: a file that a later layer hides can still be downloaded. */
#include "builder/check/rules.h"

/* "holds a private key (line 3, byte 120)" */
static void describe(const struct scan_secret *s, struct strbuf *sb)
{
	strbuf_addf(sb, "holds %s (", secret_text(s->kind));
	if (s->inner != NULL && s->inner[0] != '\0')
		strbuf_addf(sb, "in its member '%s', ", s->inner);
	else if (s->inner != NULL)
		strbuf_adds(sb, "unpacked, ");
	if (s->line > 0)
		strbuf_addf(sb, "line %zu, ", s->line);
	strbuf_addf(sb, "at byte %lld)", (long long)s->offset);
}

static void hint(struct check_image *image, struct diag *diag, const struct scan_secret *s)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(16 << 10);
	char digest[DIGEST_TEXT_MAX];

	strbuf_addf(&sb,
	            "leave it out of the image and mount it when the job runs; if it was ever "
	            "pushed, revoke it; if it is no secret: image.check.allow: [{rule: secret, "
	            "path: /%s, ",
	            s->member->path);
	if (!digest_is_zero(&s->member->content))
		strbuf_addf(&sb, "digest: '%s', ", digest_text(&s->member->content, digest));
	strbuf_adds(&sb, "reason: ...}]");
	rule_hint(image, diag, strbuf_str(&sb));
}

static void report(struct check_image *image, size_t layer, const struct scan_secret *s)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(8 << 10);

	describe(s, &sb);
	struct diag *diag =
		rule_report_as(image, RULE_SECRET, secret_severity(s->kind),
	                       (struct rule_place){layer, s->member->path}, strbuf_str(&sb));

	if (diag != NULL)
		hint(image, diag, s);
}

static void report_archives(struct check_image *image, size_t layer, const struct layer_scan *scan)
{
	const struct {
		size_t n;
		const char *why;
	} notes[] = {
		{scan->n_archives_too_large, "too large"},
		{scan->n_archives_unreadable, "encrypted, damaged or of an unknown method"},
	};

	for (size_t i = 0; i < ARRAY_LEN(notes); i++) {
		char text[160];

		if (notes[i].n == 0)
			continue;
		snprintf(text, sizeof(text),
		         "%zu archive%s not looked into to the end for secrets: %s", notes[i].n,
		         notes[i].n == 1 ? " was" : "s were", notes[i].why);
		rule_report_as(image, RULE_SECRET, DIAG_NOTE, (struct rule_place){layer, NULL},
		               text);
	}
}

void rule_check_secrets(struct check_image *image)
{
	for (size_t i = 0; i < image->manifest.n_layers; i++) {
		struct layer_scan *scan = image->layers[i];

		if (scan == NULL || scan->reported)
			continue;
		for (size_t k = 0; k < scan->secrets.n; k++)
			report(image, i, &scan->secrets.at[k]);
		report_archives(image, i, scan);
	}
	rule_check_document_secrets(image);
}
