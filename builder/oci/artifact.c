#include "builder/oci/artifact.h"

#include <string.h>

#include "builder/oci/mediatype.h"

void artifact_form_done(struct artifact_form *form)
{
	strbuf_done(&form->text);
}

static struct descriptor describe(const char *media_type, const void *bytes, size_t len)
{
	return (struct descriptor){
		.media_type = media_type, .digest = digest_of(bytes, len), .size = (int64_t)len};
}

/* A subject is named by type, digest and size alone. */
static struct descriptor plain(const struct descriptor *d)
{
	return (struct descriptor){
		.media_type = d->media_type, .digest = d->digest, .size = d->size};
}

void artifact_form(const struct artifact *artifact, struct arena *a, struct artifact_form *ret_form)
{
	struct artifact_form form = {
		.config = describe(MEDIA_EMPTY, EMPTY_BYTES, strlen(EMPTY_BYTES)),
		.layer = describe(artifact->media_type, artifact->bytes, artifact->len),
		.text = STRBUF_INIT(MANIFEST_BYTES_MAX)};
	struct descriptor *subject = arena_alloc(a, sizeof(*subject));
	struct manifest m = {.media_type = MEDIA_MANIFEST,
	                     .artifact_type = artifact->type,
	                     .config = form.config,
	                     .layers = &form.layer,
	                     .n_layers = 1,
	                     .annotations = artifact->annotations};

	if (artifact->subject != NULL) {
		*subject = plain(artifact->subject);
		m.subject = subject;
	}
	manifest_print(&m, &form.text);
	form.manifest = describe(MEDIA_MANIFEST, strbuf_str(&form.text), form.text.len);
	form.manifest.artifact_type = artifact->type;
	form.manifest.annotations = artifact->annotations;
	*ret_form = form;
}

int artifact_open(struct store *s, const struct descriptor *desc, struct arena *a,
                  struct manifest *ret_manifest, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	char digest[DIGEST_TEXT_MAX];

	if (!media_is_manifest(desc->media_type))
		return err_set(err, ERR_FORMAT, "'%.120s' is not an image manifest",
		               desc->media_type);
	if (store_read(s, desc, MANIFEST_BYTES_MAX, &text, err) != 0 ||
	    manifest_parse(text.ptr, text.len, desc->media_type, a, ret_manifest, err) != 0)
		return err_wrap(err, "manifest %s", digest_text(&desc->digest, digest));
	return 0;
}

const char *artifact_type_of(const struct manifest *m)
{
	return m->artifact_type != NULL && m->artifact_type[0] != '\0' ? m->artifact_type
	                                                               : m->config.media_type;
}

static int check_artifact(const struct manifest *m, const struct digest *subject, const char *type,
                          struct err *err)
{
	char digest[DIGEST_TEXT_MAX];

	if (m->subject == NULL)
		return err_set(err, ERR_FORMAT, "its manifest names no subject");
	if (!digest_equal(&m->subject->digest, subject))
		return err_set(err, ERR_FORMAT, "its manifest is about another image: %s",
		               digest_text(&m->subject->digest, digest));
	if (type != NULL && strcmp(artifact_type_of(m), type) != 0)
		return err_set(err, ERR_FORMAT, "its manifest is of the type '%.120s'",
		               artifact_type_of(m));
	if (m->n_layers != 1)
		return err_set(err, ERR_FORMAT, "its manifest has %zu layers instead of one",
		               m->n_layers);
	return 0;
}

int artifact_read(struct store *s, const struct descriptor *desc, const struct digest *subject,
                  const char *type, size_t max_bytes, struct arena *a, struct strbuf *document,
                  struct err *err)
{
	struct manifest m;

	if (artifact_open(s, desc, a, &m, err) != 0 || check_artifact(&m, subject, type, err) != 0)
		return -1;
	return store_read(s, &m.layers[0], max_bytes, document, err);
}
