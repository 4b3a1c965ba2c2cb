#include "builder/image/image_scan.h"

#include "builder/check/images.h"
#include "builder/image/image_sbom.h"

/* Whatever form is attached; of both SPDX, for they say the same. */
static int read_attached(const struct image *image, const struct descriptor *manifest,
                         struct arena *a, struct strbuf *text, bool *ret_attached, struct err *err)
{
	*ret_attached = false;
	for (unsigned form = 0; form < SBOM_FORMS && !*ret_attached; form++)
		if (image_sbom_attached(image, manifest, (enum sbom_form)form, a, text,
		                        ret_attached, err) != 0)
			return -1;
	return 0;
}

static int not_signed(const struct descriptor *manifest, const struct vouchers *by, struct err *err)
{
	char platform[PLATFORM_TEXT_MAX];

	err_set(err, ERR_CHECK, "%s has no bill of materials that %s signed",
	        platform_text(&manifest->platform, platform),
	        by->n == 1 ? "the key has" : "all keys have");
	return err_hint(err, "`slipway sign --sbom --key KEY` signs those that are attached; with "
	                     "image.sbom and image.sign, push does");
}

static int read_signed(const struct image *image, const struct descriptor *manifest,
                       const struct vouchers *by, struct arena *a, struct strbuf *text,
                       struct err *err)
{
	for (enum sbom_form form = SBOM_SPDX; form < SBOM_FORMS; form++) {
		struct vouched found;

		if (image_sbom_signed(image->store, manifest, form, by, a, text, &found, err) != 0)
			return -1;
		if (found.statement != NULL)
			return 0;
	}
	return not_signed(manifest, by, err);
}

static int read_document(const struct image *image, const struct descriptor *manifest,
                         const struct image_scan_opts *opts, struct arena *a, struct strbuf *text,
                         bool *ret_attached, struct err *err)
{
	const struct image_sbom_opts reading = {.form = SBOM_SPDX,
	                                        .read = true,
	                                        .max_unpacked = opts->max_unpacked,
	                                        .progress = opts->progress};
	bool ignored;

	*ret_attached = opts->by.n > 0;
	if (*ret_attached)
		return read_signed(image, manifest, &opts->by, a, text, err);
	if (!opts->read && read_attached(image, manifest, a, text, ret_attached, err) != 0)
		return -1;
	return *ret_attached ? 0 : image_sbom(image, manifest, &reading, a, text, &ignored, err);
}

static int read_image(const struct image *image, const struct descriptor *root,
                      const struct descriptor *manifest, const struct image_scan_opts *opts,
                      struct arena *a, struct scan_image *to, bool *ret_attached, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(SBOM_BYTES_MAX);
	const struct digest digests[] = {manifest->digest, root->digest};
	char digest[DIGEST_TEXT_MAX];

	to->repository = image_sbom_name(image, a);
	to->digests = arena_memdup(a, digests, sizeof(digests));
	to->n_digests = ARRAY_LEN(digests);
	if (read_document(image, manifest, opts, a, &text, ret_attached, err) != 0 ||
	    scan_read_document(strbuf_str(&text), text.len, a, to, err) != 0)
		return err_wrap(err, "%.19s", digest_text(&manifest->digest, digest));
	return 0;
}

int image_scan_run(const struct image *image, const struct descriptor *root,
                   const struct image_scan_opts *opts, struct arena *a, struct image_scan *ret_scan,
                   struct err *err)
{
	struct image_list all;
	struct image_scan scan = {0};

	if (images_list(image->store, root, NULL, a, &all, err) != 0)
		return -1;
	scan.n = all.n;
	scan.manifests = all.at;
	scan.scanned = arena_calloc(a, all.n, sizeof(*scan.scanned));
	scan.attached = arena_calloc(a, all.n, sizeof(*scan.attached));
	for (size_t i = 0; i < all.n; i++)
		if (read_image(image, root, &all.at[i], opts, a, &scan.scanned[i],
		               &scan.attached[i], err) != 0)
			return -1;
	if (scan_images(scan.scanned, scan.n, &opts->scan, a, &scan.result, err) != 0)
		return -1;
	*ret_scan = scan;
	return 0;
}
