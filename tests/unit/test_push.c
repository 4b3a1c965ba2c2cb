/*
 * Pushing against registries in memory: what is sent, in which order, and what is not.
 */
#include "builder/registry/push.h"

#include <pthread.h>

#include "base/fs.h"
#include "base/mem.h"
#include "builder/oci/mediatype.h"
#include "tests/harness.h"

/* ---- registries in memory: every host, repository and digest is one key ---- */

struct thing {
	char *key; /* "host/repository digest-or-tag" */
	char *bytes;
	size_t len;
};

struct memory {
	struct http_transport transport;
	pthread_mutex_t lock;
	VEC(struct thing) things;
	VEC(char *) log; /* "PUT blob", "PUT manifests/v1", ... */
	const char *fail; /* a request whose log line has this is answered 403 */
};

static const struct thing *find(const struct memory *m, const char *key)
{
	for (size_t i = 0; i < m->things.n; i++)
		if (strcmp(m->things.at[i].key, key) == 0)
			return &m->things.at[i];
	return NULL;
}

static void add(struct memory *m, const char *key, const void *bytes, size_t len)
{
	struct thing t = {mem_strdup(key), mem_zalloc(len + 1), len};

	memcpy(t.bytes, bytes, len);
	if (find(m, key) != NULL) {
		free(t.key);
		free(t.bytes);
		return;
	}
	vec_push(&m->things, t);
}

static void reply_header(struct http_response *resp, const char *name, const char *value)
{
	struct err err = {0};

	CHECK_OK(http_header_add(&resp->headers, name, strlen(name), value, strlen(value), &err), &err);
}

static void reply_thing(const struct http_request *req, const struct thing *t, struct http_response *resp)
{
	char text[DIGEST_TEXT_MAX];
	struct digest d;

	resp->status = t != NULL ? 200 : 404;
	if (t == NULL)
		return;
	snprintf(text, sizeof(text), "%zu", t->len);
	reply_header(resp, "Content-Length", text);
	d = digest_of(t->bytes, t->len);
	reply_header(resp, "Docker-Content-Digest", digest_text(&d, text));
	reply_header(resp, "Content-Type",
	             strstr(t->bytes, MEDIA_INDEX) != NULL ? MEDIA_INDEX : MEDIA_MANIFEST);
	if (strcmp(req->method, "GET") == 0)
		strbuf_add(&resp->body, t->bytes, t->len);
}

/* The digest of a "digest=" or "mount=" parameter. */
static const char *parameter(const char *url, const char *name, char out[256])
{
	const char *at = strstr(url, name);

	snprintf(out, 256, "%.*s", at != NULL ? (int)strcspn(at + strlen(name), "&") : 0,
	         at != NULL ? at + strlen(name) : "");
	return out;
}

static void decode(char *text)
{
	for (char *at = strstr(text, "%2F"); at != NULL; at = strstr(text, "%2F")) {
		*at = '/';
		memmove(at + 1, at + 3, strlen(at + 3) + 1);
	}
}

static void reply_uploads(struct memory *m, const struct http_request *req, const char *repository,
                          struct http_response *resp)
{
	char digest[256], from[256], key[600];
	const char *host_end = strchr(repository, '/');

	if (strcmp(req->method, "PUT") == 0) {
		char *bytes = mem_zalloc((size_t)req->body.size);

		CHECK_INT(pread(req->body.fd, bytes, (size_t)req->body.size, 0), req->body.size);
		snprintf(key, sizeof(key), "%s %s", repository, parameter(req->url, "digest=", digest));
		add(m, key, bytes, (size_t)req->body.size);
		free(bytes);
		resp->status = 201;
		return;
	}
	parameter(req->url, "mount=", digest);
	parameter(req->url, "from=", from);
	decode(from);
	snprintf(key, sizeof(key), "%.*s/%s %s", (int)(host_end - repository), repository, from, digest);
	const struct thing *t = digest[0] != '\0' ? find(m, key) : NULL;

	if (t != NULL) {
		snprintf(key, sizeof(key), "%s %s", repository, digest);
		add(m, key, t->bytes, t->len);
	}
	resp->status = t != NULL ? 201 : 202;
	reply_header(resp, "Location", "session");
}

static void reply(struct memory *m, const struct http_request *req, struct http_response *resp)
{
	char repository[256], key[600];
	const char *host = strstr(req->url, "://") + 3, *path = strstr(host, "/v2/") + 4;
	const char *kind = strstr(path, "/blobs/") != NULL ? strstr(path, "/blobs/") : strstr(path, "/manifests/");
	size_t host_len = strcspn(host, ":/");

	snprintf(repository, sizeof(repository), "%.*s/%.*s", (int)host_len, host, (int)(kind - path), path);
	if (strncmp(kind, "/blobs/uploads/", 15) == 0) {
		reply_uploads(m, req, repository, resp);
		return;
	}
	snprintf(key, sizeof(key), "%s %s", repository, strrchr(kind, '/') + 1);
	if (strcmp(req->method, "PUT") != 0) {
		reply_thing(req, find(m, key), resp);
		return;
	}
	char text[DIGEST_TEXT_MAX];
	struct digest d = digest_of(req->body.bytes, (size_t)req->body.size);

	add(m, key, req->body.bytes, (size_t)req->body.size);
	snprintf(key, sizeof(key), "%s %s", repository, digest_text(&d, text));
	add(m, key, req->body.bytes, (size_t)req->body.size);
	resp->status = 201;
}

static int perform(struct http_transport *t, const struct http_request *req, struct http_response *resp,
                   struct err *err UNUSED)
{
	struct memory *m = (struct memory *)t;
	char line[700];

	snprintf(line, sizeof(line), "%s %s", req->method, strstr(req->url, "/v2/"));
	http_response_done(resp);
	pthread_mutex_lock(&m->lock);
	vec_push(&m->log, mem_strdup(line));
	if (m->fail != NULL && strstr(line, m->fail) != NULL)
		resp->status = 403;
	else
		reply(m, req, resp);
	pthread_mutex_unlock(&m->lock);
	return 0;
}

struct owned_bytes {
	struct source source;
	char *bytes;
	struct source *inner;
};

static int owned_read(struct source *s, void *buf, size_t cap, size_t *ret_n, struct err *err)
{
	return source_read(((struct owned_bytes *)s)->inner, buf, cap, ret_n, err);
}

static void owned_close(struct source *s)
{
	struct owned_bytes *o = (struct owned_bytes *)s;

	source_close(o->inner);
	free(o->bytes);
	free(o);
}

static int open_body(struct http_transport *t, const struct http_request *req, struct http_response *resp,
                     struct source **ret_body, struct err *err)
{
	struct owned_bytes *o;

	if (perform(t, req, resp, err) != 0)
		return -1;
	o = mem_zalloc(sizeof(*o));
	size_t len = resp->body.len;

	o->source = (struct source){owned_read, owned_close};
	o->bytes = strbuf_take(&resp->body);
	o->inner = source_from_bytes(o->bytes, len);
	*ret_body = &o->source;
	return 0;
}

/* ---- the scene: a layout with an image of two platforms ---- */

struct scene {
	char dir[4096];
	struct arena arena;
	struct layout *layout;
	struct memory memory;
	struct registry *registry, *base;
	struct descriptor shared, base_layer, config, manifests[2], root;
	struct push_opts opts;
	struct push_result result;
	struct err err;
};

static struct registry *open_registry(struct scene *s, const char *host, const char *repository)
{
	const struct ref ref = {.kind = REF_REGISTRY, .host = host, .repository = repository};
	struct registry *r = NULL;

	CHECK_OK(registry_open(&ref, &(struct registry_opts){.transport = &s->memory.transport}, &r, &s->err),
	         &s->err);
	return r;
}

static void put(struct scene *s, const char *type, const char *text, struct descriptor *ret_desc)
{
	CHECK_OK(layout_put(s->layout, type, text, strlen(text), ret_desc, &s->err), &s->err);
}

static void make_manifest(struct scene *s, const char *base_name, const char *own, struct descriptor *ret_desc)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	struct descriptor layers[3] = {s->base_layer, s->shared};
	struct manifest m = {.media_type = MEDIA_MANIFEST, .config = s->config, .layers = layers, .n_layers = 3};

	put(s, MEDIA_LAYER, own, &layers[2]);
	if (base_name != NULL)
		strmap_set(&m.annotations, &s->arena, ANNOTATION_BASE_NAME, base_name);
	manifest_print(&m, &text);
	put(s, MEDIA_MANIFEST, text.ptr, ret_desc);
}

static void scene_start(struct scene *s, const char *base_name)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	struct index index = {.media_type = MEDIA_INDEX, .n_manifests = 2};
	static const char *tags[] = {"v1", "latest"};

	*s = (struct scene){.memory.transport = {perform, open_body, NULL}};
	pthread_mutex_init(&s->memory.lock, NULL);
	test_tmpdir(s->dir);
	CHECK_OK(layout_open(s->dir, LAYOUT_WRITE, &s->layout, &s->err), &s->err);
	put(s, MEDIA_CONFIG, "{}", &s->config);
	put(s, MEDIA_LAYER, "shared by both platforms", &s->shared);
	put(s, MEDIA_LAYER, "base", &s->base_layer);
	make_manifest(s, base_name, "one", &s->manifests[0]);
	make_manifest(s, base_name, "two", &s->manifests[1]);
	index.manifests = s->manifests;
	index_print(&index, &text);
	put(s, MEDIA_INDEX, text.ptr, &s->root);
	s->registry = open_registry(s, "r.example", "team/app");
	s->opts = (struct push_opts){.layout = s->layout, .root = &s->root, .tags = {tags, 2}, .jobs = 3};
}

static void scene_done(struct scene *s)
{
	registry_close(s->registry);
	registry_close(s->base);
	layout_close(s->layout);
	CHECK_OK(fs_remove_tree(s->dir, &s->err), &s->err);
	for (size_t i = 0; i < s->memory.things.n; i++) {
		free(s->memory.things.at[i].key);
		free(s->memory.things.at[i].bytes);
	}
	vec_done(&s->memory.things);
	for (size_t i = 0; i < s->memory.log.n; i++)
		free(s->memory.log.at[i]);
	vec_done(&s->memory.log);
	pthread_mutex_destroy(&s->memory.lock);
	arena_done(&s->arena);
}

static int push(struct scene *s)
{
	return push_image(s->registry, &s->opts, &s->result, &s->err);
}

static bool stored(struct scene *s, const char *repository, const struct descriptor *d)
{
	char key[400], text[DIGEST_TEXT_MAX];

	snprintf(key, sizeof(key), "%s %s", repository, digest_text(&d->digest, text));
	return find(&s->memory, key) != NULL;
}

/* Position of the first log line with this text, -1 if there is none. */
static int logged(const struct scene *s, const char *text)
{
	for (size_t i = 0; i < s->memory.log.n; i++)
		if (strstr(s->memory.log.at[i], text) != NULL)
			return (int)i;
	return -1;
}

static int count(const struct scene *s, const char *text)
{
	int n = 0;

	for (size_t i = 0; i < s->memory.log.n; i++)
		n += strstr(s->memory.log.at[i], text) != NULL;
	return n;
}

static void order(void)
{
	AUTO(scene) struct scene s;
	char line[200], text[DIGEST_TEXT_MAX];
	int last_blob = -1;

	scene_start(&s, NULL);
	CHECK_OK(push(&s), &s.err);
	CHECK_INT(s.result.n_uploaded, 5);
	CHECK_INT(s.result.n_manifests_put, 5);
	CHECK_INT(count(&s, "PUT /v2/team/app/blobs/"), 5);
	for (size_t i = 0; i < s.memory.log.n; i++)
		if (strstr(s.memory.log.at[i], "PUT /v2/team/app/blobs/") != NULL)
			last_blob = (int)i;
	for (int i = 0; i < 2; i++) {
		snprintf(line, sizeof(line), "PUT /v2/team/app/manifests/%s",
		         digest_text(&s.manifests[i].digest, text));
		CHECK(logged(&s, line) > last_blob);
		CHECK(stored(&s, "r.example/team/app", &s.manifests[i]));
	}
	int child = logged(&s, line);

	snprintf(line, sizeof(line), "PUT /v2/team/app/manifests/%s", digest_text(&s.root.digest, text));
	CHECK(logged(&s, line) > child);
	CHECK(logged(&s, "PUT /v2/team/app/manifests/v1") > logged(&s, line));
	CHECK(logged(&s, "PUT /v2/team/app/manifests/latest") > logged(&s, "PUT /v2/team/app/manifests/v1"));
}

static void twice(void)
{
	AUTO(scene) struct scene s;

	scene_start(&s, NULL);
	CHECK_OK(push(&s), &s.err);
	CHECK_OK(push(&s), &s.err);
	CHECK_INT(s.result.n_uploaded, 0);
	CHECK_INT(s.result.n_existed, 5);
	CHECK_INT(s.result.bytes_uploaded, 0);
	CHECK_INT(s.result.n_manifests_put, 0);
	CHECK_INT(count(&s, "PUT /v2/team/app/blobs/"), 5);
	CHECK_INT(count(&s, "PUT /v2/team/app/manifests/"), 5);
}

static void no_tag_on_half_an_image(void)
{
	AUTO(scene) struct scene s;

	scene_start(&s, NULL);
	s.memory.fail = "PUT /v2/team/app/blobs/uploads/";
	CHECK(push(&s) != 0);
	CHECK_INT(s.err.code, ERR_DENIED);
	CHECK_INT(count(&s, "/manifests/"), 0);
	s.memory.fail = NULL;
	s.err = (struct err){0};
	CHECK_OK(push(&s), &s.err);
	CHECK_INT(s.result.n_uploaded, 5);
}

static void mounts_the_base(void)
{
	AUTO(scene) struct scene s;
	char key[200], text[DIGEST_TEXT_MAX];

	scene_start(&s, "r.example/lib/base:12");
	snprintf(key, sizeof(key), "r.example/lib/base %s", digest_text(&s.base_layer.digest, text));
	add(&s.memory, key, "base", 4);
	CHECK_OK(push(&s), &s.err);
	CHECK_INT(s.result.n_mounted, 1);
	CHECK_INT(s.result.n_uploaded, 4);
	CHECK(stored(&s, "r.example/team/app", &s.base_layer));
	/* The configuration is not the base's. */
	snprintf(key, sizeof(key), "mount=%s", digest_text(&s.config.digest, text));
	CHECK_INT(count(&s, key), 0);
}

static void foreign_base_is_not_mounted(void)
{
	AUTO(scene) struct scene s;

	scene_start(&s, "other.example/lib/base:12");
	CHECK_OK(push(&s), &s.err);
	CHECK_INT(count(&s, "mount="), 0);
}

static void copies_what_the_layout_lacks(void)
{
	AUTO(scene) struct scene s;
	char key[PATH_MAX], text[DIGEST_TEXT_MAX];

	scene_start(&s, "other.example/lib/base:12");
	CHECK_OK(layout_blob_path(s.layout, &s.base_layer.digest, key, &s.err), &s.err);
	CHECK(unlink(key) == 0);
	CHECK(push(&s) != 0);
	CHECK_INT(s.err.code, ERR_NOT_FOUND);
	s.err = (struct err){0};
	s.base = open_registry(&s, "other.example", "lib/base");
	s.opts.base = s.base;
	snprintf(key, sizeof(key), "other.example/lib/base %s", digest_text(&s.base_layer.digest, text));
	add(&s.memory, key, "base", 4);
	CHECK_OK(push(&s), &s.err);
	CHECK(stored(&s, "r.example/team/app", &s.base_layer));
}

static void damaged_base(void)
{
	AUTO(scene) struct scene s;
	char key[PATH_MAX], text[DIGEST_TEXT_MAX];

	scene_start(&s, "other.example/lib/base:12");
	CHECK_OK(layout_blob_path(s.layout, &s.base_layer.digest, key, &s.err), &s.err);
	CHECK(unlink(key) == 0);
	s.base = open_registry(&s, "other.example", "lib/base");
	s.opts.base = s.base;
	snprintf(key, sizeof(key), "other.example/lib/base %s", digest_text(&s.base_layer.digest, text));
	add(&s.memory, key, "bass", 4);
	CHECK(push(&s) != 0);
	CHECK_INT(s.err.code, ERR_DIGEST);
	CHECK(!stored(&s, "r.example/team/app", &s.base_layer));
}

/* What the registry would not take is said before it is asked for anything. */
static void limits(void)
{
	static const struct {
		struct push_limits limits;
		enum err_code code;
		const char *says;
	} table[] = {{{.registry = "ECR", .layer_max = 10}, ERR_LIMIT, "ECR accepts at most 10"},
	             {{.registry = "ECR", .manifest_max = 20}, ERR_LIMIT, "ECR accepts at most 20"}};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct scene s;

		scene_start(&s, NULL);
		s.opts.limits = &table[i].limits;
		CHECK(push(&s) != 0);
		CHECK_INT(s.err.code, table[i].code);
		CHECK(strstr(s.err.msg, table[i].says) != NULL);
		CHECK_INT(s.memory.log.n, 0);
		scene_done(&s);
	}
}

static void types_with_parameters(void)
{
	static const struct push_limits plain = {.registry = "ECR", .plain_types = true};
	struct scene s;

	scene_start(&s, NULL);
	struct descriptor layer = s.shared;
	struct manifest m = {.media_type = MEDIA_MANIFEST, .config = s.config, .layers = &layer, .n_layers = 1};
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);

	layer.media_type = "application/x;a=b";
	manifest_print(&m, &text);
	put(&s, MEDIA_MANIFEST, text.ptr, &s.root);
	s.opts.limits = &plain;
	CHECK(push(&s) != 0);
	CHECK_INT(s.err.code, ERR_UNSUPPORTED);
	CHECK_INT(s.memory.log.n, 0);
	scene_done(&s);
}

int main(void)
{
	TEST("push: each blob once, then manifests, then the index, then tags", order);
	TEST("push: the second time nothing is sent", twice);
	TEST("push: a failed blob leaves no manifest and no tag", no_tag_on_half_an_image);
	TEST("push: layers of a base on the same registry are mounted", mounts_the_base);
	TEST("push: a base on another registry is not mounted", foreign_base_is_not_mounted);
	TEST("push: a layer that the layout lacks is copied from the base", copies_what_the_layout_lacks);
	TEST("push: a corrupt base layer is not passed on", damaged_base);
	TEST("push: what is larger than the registry takes is refused before anything is sent", limits);
	TEST("push: media types with parameters are refused where the registry refuses them", types_with_parameters);
	return test_done();
}
