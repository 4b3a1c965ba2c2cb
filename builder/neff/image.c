/* What is attached to an image, and sending it what it lacks. */
#include <fcntl.h>
#include <string.h>

#include "base/attr.h"
#include "base/fs.h"
#include "base/interrupt.h"
#include "builder/neff/neff.h"
#include "builder/oci/artifact.h"
#include "builder/oci/referrers.h"

static int read_module(struct store *store, const struct descriptor *entry,
                       const struct digest *subject, struct arena *a, struct neff_module *ret,
                       struct err *err)
{
	struct manifest m;
	char digest[DIGEST_TEXT_MAX];

	if (artifact_open(store, entry, a, &m, err) != 0 || neff_parse(&m, subject, ret, err) != 0)
		return err_wrap(err, "module %s", digest_text(&entry->digest, digest));
	ret->manifest = *entry;
	return 0;
}

int neff_image_list(struct store *store, const struct digest *subject, struct arena *a,
                    struct neff_list *ret, struct err *err)
{
	struct neff_list list = {0};
	struct referrers all;

	if (store_referrers(store, subject, NEFF_ARTIFACT_TYPE, a, &all, err) != 0)
		return -1;
	if (all.n > NEFF_MODULES_MAX)
		return err_set(err, ERR_LIMIT, "it has more than %d modules", NEFF_MODULES_MAX);
	list.at = arena_calloc(a, all.n, sizeof(*list.at));
	for (size_t i = 0; i < all.n; i++) {
		struct neff_module m;

		if (interrupt_check(err) != 0 ||
		    read_module(store, &all.at[i], subject, a, &m, err) != 0)
			return -1;
		/* Two that sent one module at the same moment: either will do. */
		if (neff_find(&list, m.compiler, m.key) == NULL)
			list.at[list.n++] = m;
	}
	neff_sort(&list);
	*ret = list;
	return 0;
}

/* ---- sending ---- */

/* What is sent together. */
struct outgoing {
	const struct attach_place *place;
	const struct descriptor *subject;
	const char *dir;
	struct arena *arena;
	struct referrer *referrers;
	size_t n;
};

/* Read again while it is sent: what has changed meanwhile does not get in. */
static int to_layout(struct layout *layout, const struct descriptor *desc, int fd, struct err *err)
{
	__attribute__((cleanup(layout_blob_done))) struct layout_blob out = {0};
	struct source *source;
	struct digest digest;
	int64_t size;
	int rc;

	if (layout_has(layout, &desc->digest, desc->size))
		return 0;
	source = source_from_fd(fcntl(fd, F_DUPFD_CLOEXEC, 0));
	rc = layout_blob_begin(layout, &out, err);
	if (rc == 0)
		rc = stream_copy(source, &out.hashed.sink, &size, err);
	source_close(source);
	return rc == 0 ? layout_blob_commit(&out, &desc->digest, &digest, &size, err) : -1;
}

static int send_file(const struct outgoing *o, const struct neff_module *m, size_t kind,
                     struct err *err)
{
	enum blob_outcome outcome;
	char path[PATH_MAX];
	AUTO_CLOSE int fd = -1;

	if (neff_path(path, o->dir, m, neff_files[kind].name, err) != 0)
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return err_set(err, ERR_IO, "open '%s'", path);
	return o->place->registry != NULL ? registry_put_blob(o->place->registry, &m->files[kind],
	                                                      fd, NULL, &outcome, err)
	                                  : to_layout(o->place->layout, &m->files[kind], fd, err);
}

static int send_module(struct outgoing *o, struct neff_module *m, struct err *err)
{
	const struct descriptor config = {.media_type = MEDIA_EMPTY,
	                                  .digest = digest_of(EMPTY_BYTES, strlen(EMPTY_BYTES)),
	                                  .size = (int64_t)strlen(EMPTY_BYTES)};
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);

	if (attach_blob(o->place, &config, EMPTY_BYTES, err) != 0)
		return -1;
	for (size_t i = 0; i < NEFF_FILES; i++)
		if (m->files[i].media_type != NULL &&
		    (interrupt_check(err) != 0 || send_file(o, m, i, err) != 0))
			return -1;
	neff_print(m, o->subject, o->arena, &text);
	m->moved = true;
	o->referrers[o->n++] =
		(struct referrer){&m->manifest, arena_memdup(o->arena, text.ptr, text.len)};
	return 0;
}

/* Once for all: a list that clients keep under a tag is changed once. */
static int send_manifests(const struct outgoing *o, struct err *err)
{
	const struct digest *subject = &o->subject->digest;

	if (o->n == 0)
		return 0;
	if (o->place->registry != NULL)
		return registry_put_referrers(o->place->registry, subject, o->referrers, o->n, err);
	for (size_t i = 0; i < o->n; i++)
		if (attach_blob(o->place, o->referrers[i].desc, o->referrers[i].bytes, err) != 0 ||
		    layout_attach(o->place->layout, subject, NULL, o->referrers[i].desc, err) != 0)
			return -1;
	return 0;
}

int neff_push(const struct attach_place *place, struct store *store,
              const struct descriptor *subject, const char *dir, struct neff_list *list,
              struct arena *a, struct err *err)
{
	struct outgoing o = {place, subject, dir, a, NULL, 0};
	struct neff_list have;

	if (neff_image_list(store, &subject->digest, a, &have, err) != 0)
		return -1;
	o.referrers = arena_calloc(a, list->n, sizeof(*o.referrers));
	for (size_t i = 0; i < list->n; i++) {
		struct neff_module *m = &list->at[i];
		const struct neff_module *there = neff_find(&have, m->compiler, m->key);

		if (there != NULL)
			m->manifest = there->manifest;
		else if (send_module(&o, m, err) != 0)
			return err_wrap(err, "module %s", m->key);
	}
	return send_manifests(&o, err);
}
