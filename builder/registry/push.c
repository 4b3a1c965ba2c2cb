/*
 * The order of a push: blobs, manifests, index, tags. Each thing once, whoever names it.
 */
#include "builder/registry/push.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "base/pool.h"
#include "builder/oci/mediatype.h"

enum { PUSH_DEPTH_MAX = 4, PUSH_JOBS = 4 };

struct push_blob {
	struct descriptor desc;
	const char *mount_from; /* repository of the base on this registry, NULL = none */
};

struct push {
	struct registry *registry;
	const struct push_opts *opts;
	struct store *store;
	struct arena arena;
	VEC(struct push_blob) blobs;
	VEC(struct descriptor) documents; /* children before parents */
	struct push_result result;
	pthread_mutex_t lock;
};

/* ---- what is to be sent ---- */

static bool has_blob(const struct push *p, const struct digest *d)
{
	for (size_t i = 0; i < p->blobs.n; i++)
		if (digest_equal(&p->blobs.at[i].desc.digest, d))
			return true;
	return false;
}

static void add_blob(struct push *p, const struct descriptor *desc, const char *mount_from)
{
	if (!has_blob(p, &desc->digest))
		vec_push(&p->blobs, ((struct push_blob){*desc, mount_from}));
}

/* The base's repository, when it is on the target's registry. */
static const char *mount_source(struct push *p, const struct manifest *m)
{
	const char *name = strmap_get(&m->annotations, ANNOTATION_BASE_NAME);
	struct ref ref;
	struct err ignored = {0};

	if (p->opts->limits != NULL && p->opts->limits->no_mount)
		return NULL;
	if (name == NULL || ref_parse(name, &p->arena, &ref, &ignored) != 0 ||
	    ref.kind != REF_REGISTRY)
		return NULL;
	return strcmp(ref.host, registry_host(p->registry)) == 0 ? ref.repository : NULL;
}

static int collect_blobs(struct push *p, const struct descriptor *desc, int depth, struct err *err);

static int check_document(const struct push *p, const struct descriptor *desc, struct err *err)
{
	const struct push_limits *l = p->opts->limits;
	char digest[DIGEST_TEXT_MAX];

	if (l != NULL && l->manifest_max > 0 && desc->size > l->manifest_max) {
		err_set(err, ERR_LIMIT, "manifest %s has %lld bytes; %s accepts at most %lld",
		        digest_text(&desc->digest, digest), (long long)desc->size, l->registry,
		        (long long)l->manifest_max);
		return err_hint(err, "use fewer layers or shorter annotations");
	}
	return 0;
}

static int check_layer(const struct push *p, const struct descriptor *desc, struct err *err)
{
	const struct push_limits *l = p->opts->limits;
	char digest[DIGEST_TEXT_MAX];

	if (l != NULL && l->layer_max > 0 && desc->size > l->layer_max) {
		err_set(err, ERR_LIMIT, "layer %s has %lld bytes; %s accepts at most %lld",
		        digest_text(&desc->digest, digest), (long long)desc->size, l->registry,
		        (long long)l->layer_max);
		return err_hint(err, "split it into more layers, for example with `split:`");
	}
	if (l != NULL && l->plain_types && strchr(desc->media_type, ';') != NULL)
		return err_set(
			err, ERR_UNSUPPORTED,
			"layer %s has the media type '%.100s'; %s accepts none with parameters",
			digest_text(&desc->digest, digest), desc->media_type, l->registry);
	return 0;
}

static int collect_manifest(struct push *p, const struct strbuf *text,
                            const struct descriptor *desc, struct err *err)
{
	struct manifest m;

	if (manifest_parse(text->ptr, text->len, desc->media_type, &p->arena, &m, err) != 0)
		return -1;
	const char *from = mount_source(p, &m);

	add_blob(p, &m.config, NULL);
	for (size_t i = 0; i < m.n_layers; i++) {
		if (check_layer(p, &m.layers[i], err) != 0)
			return -1;
		add_blob(p, &m.layers[i], from);
	}
	return 0;
}

static int collect_index(struct push *p, const struct strbuf *text, const struct descriptor *desc,
                         int depth, struct err *err)
{
	struct index index;

	if (index_parse(text->ptr, text->len, desc->media_type, &p->arena, &index, err) != 0)
		return -1;
	for (size_t i = 0; i < index.n_manifests; i++)
		if (collect_blobs(p, &index.manifests[i], depth + 1, err) != 0)
			return -1;
	return 0;
}

static int collect_blobs(struct push *p, const struct descriptor *desc, int depth, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	char digest[DIGEST_TEXT_MAX];
	int status;

	if (depth > PUSH_DEPTH_MAX)
		return err_set(err, ERR_LIMIT, "indexes are nested too deeply");
	for (size_t i = 0; i < p->documents.n; i++)
		if (digest_equal(&p->documents.at[i].digest, &desc->digest))
			return 0;
	if (check_document(p, desc, err) != 0)
		return -1;
	if (store_read(p->store, desc, MANIFEST_BYTES_MAX, &text, err) != 0)
		return err_wrap(err, "manifest %s", digest_text(&desc->digest, digest));
	status = media_is_index(desc->media_type) ? collect_index(p, &text, desc, depth, err)
	                                          : collect_manifest(p, &text, desc, err);
	if (status != 0)
		return -1;
	vec_push(&p->documents, *desc);
	return 0;
}

/* ---- sending ---- */

/* A base layer that the layout lacks, out of the base's own registry into an unlinked file. */
static int fetch_from_base(struct push *p, const struct descriptor *desc, int *ret_fd,
                           struct err *err)
{
	const char *dir = getenv("TMPDIR");
	AUTO_CLOSE int fd = open(dir != NULL ? dir : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	struct store *base = registry_store(p->opts->base);
	struct source *source = NULL;
	struct fd_sink sink;
	int status = fd >= 0 ? store_open(base, desc, &source, err)
	                     : err_set(err, ERR_IO, "create a temporary file");

	fd_sink_init(&sink, fd);
	if (status == 0)
		status = stream_copy(source, &sink.sink, NULL, err);
	source_close(source);
	store_close(base);
	if (status != 0)
		return err_wrap(err, "base layer");
	*ret_fd = fd;
	fd = -1;
	return 0;
}

/* First without the bytes (HEAD, mount); only if that does not help they are fetched. */
static int put_missing(struct push *p, const struct push_blob *b, enum blob_outcome *ret_outcome,
                       struct err *err)
{
	AUTO_CLOSE int fd = -1;

	if (registry_put_blob(p->registry, &b->desc, -1, b->mount_from, ret_outcome, err) == 0)
		return 0;
	if (err->code != ERR_NOT_FOUND || p->opts->base == NULL)
		return -1;
	*err = (struct err){0};
	if (fetch_from_base(p, &b->desc, &fd, err) != 0)
		return -1;
	return registry_put_blob(p->registry, &b->desc, fd, NULL, ret_outcome, err);
}

static void count_outcome(struct push *p, enum blob_outcome outcome, int64_t size)
{
	pthread_mutex_lock(&p->lock);
	p->result.n_existed += outcome == BLOB_EXISTED;
	p->result.n_mounted += outcome == BLOB_MOUNTED;
	p->result.n_uploaded += outcome == BLOB_UPLOADED;
	p->result.bytes_uploaded += outcome == BLOB_UPLOADED ? size : 0;
	pthread_mutex_unlock(&p->lock);
}

static int put_blob(void *ctx, size_t i, struct err *err)
{
	struct push *p = ctx;
	const struct push_blob *b = &p->blobs.at[i];
	AUTO_CLOSE int fd = -1;
	enum blob_outcome outcome;
	int status;

	if (layout_has(p->opts->layout, &b->desc.digest, b->desc.size)) {
		if (layout_open_fd(p->opts->layout, &b->desc.digest, &fd, err) != 0)
			return -1;
		status = registry_put_blob(p->registry, &b->desc, fd, b->mount_from, &outcome, err);
	} else {
		status = put_missing(p, b, &outcome, err);
	}
	if (status == 0)
		count_outcome(p, outcome, b->desc.size);
	return status;
}

static int put_document(struct push *p, const char *reference, const struct descriptor *desc,
                        struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	bool existed = false;

	if (store_read(p->store, desc, MANIFEST_BYTES_MAX, &text, err) != 0 ||
	    registry_put_manifest(p->registry, reference, desc, text.ptr, &existed, err) != 0)
		return -1;
	p->result.n_manifests_put += !existed;
	return 0;
}

static int put_documents(struct push *p, struct err *err)
{
	char digest[DIGEST_TEXT_MAX];

	for (size_t i = 0; i < p->documents.n; i++)
		if (put_document(p, digest_text(&p->documents.at[i].digest, digest),
		                 &p->documents.at[i], err) != 0)
			return -1;
	if (p->opts->before_tags != NULL &&
	    p->opts->before_tags(p->opts->ctx, p->registry, err) != 0)
		return -1;
	for (size_t i = 0; i < p->opts->tags.n; i++)
		if (put_document(p, p->opts->tags.at[i], p->opts->root, err) != 0)
			return err_wrap(err, "tag '%s'", p->opts->tags.at[i]);
	return 0;
}

/* The biggest first: else it might start last and keep everybody waiting. */
static int by_size(const void *a, const void *b)
{
	int64_t left = ((const struct push_blob *)a)->desc.size,
		right = ((const struct push_blob *)b)->desc.size;

	return (left < right) - (left > right);
}

static int push_all(struct push *p, struct err *err)
{
	if (collect_blobs(p, p->opts->root, 0, err) != 0)
		return -1;
	if (p->blobs.n > 1)
		qsort(p->blobs.at, p->blobs.n, sizeof(*p->blobs.at), by_size);
	if (pool_run(p->blobs.n, p->opts->jobs != 0 ? p->opts->jobs : PUSH_JOBS, put_blob, p,
	             err) != 0)
		return -1;
	return put_documents(p, err);
}

int push_image(struct registry *r, const struct push_opts *opts, struct push_result *ret_result,
               struct err *err)
{
	struct push p = {.registry = r, .opts = opts, .store = layout_store(opts->layout)};

	pthread_mutex_init(&p.lock, NULL);
	int status = push_all(&p, err);

	pthread_mutex_destroy(&p.lock);
	store_close(p.store);
	vec_done(&p.blobs);
	vec_done(&p.documents);
	arena_done(&p.arena);
	if (status == 0)
		*ret_result = p.result;
	return status;
}
