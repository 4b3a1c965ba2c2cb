#include "builder/registry/registry.h"

#include <fcntl.h>

#include "builder/oci/mediatype.h"
#include "tests/harness.h"
#include "tests/unit/fake_transport.h"

/* "hello", "m", and an index that says what it is */
#define HELLO "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
#define EM    "sha256:62c66a7a5dd70c3146618063c344e531e6d4b59e379808443ce962b3abd63c5a"
#define INDEX_TEXT "{\"mediaType\":\"application/vnd.oci.image.index.v1+json\"}"
#define INDEX "sha256:3f4fd586ef426e8fc33d108ea8280de33e5cffcb58ce63421f973b0ceab5f872"

#define V2    "https://r.example/v2/app"
#define HEAD  "HEAD " V2 "/blobs/" HELLO
#define POST  "POST " V2 "/blobs/uploads/"
#define OCTET "\nContent-Type: application/octet-stream\n\nhello"
#define UP(n) "https://r.example/v2/app/blobs/uploads/" n
#define ACCEPT "\nAccept: " MEDIA_ACCEPT_MANIFESTS

struct scene {
	struct fake fake;
	struct registry *registry;
	struct descriptor desc;
	int fd;
	enum blob_outcome outcome;
	struct progress progress;
	int64_t advanced;
	unsigned n_notes;
	char note[1024], result[32];
	struct err err;
};

static struct scene *scene_of(struct progress *p)
{
	return (struct scene *)((char *)p - offsetof(struct scene, progress));
}

static unsigned on_start(struct progress *p UNUSED, const char *label UNUSED, int64_t total UNUSED)
{
	return 1;
}

static void on_advance(struct progress *p, unsigned id UNUSED, int64_t bytes)
{
	scene_of(p)->advanced += bytes;
}

static void on_finish(struct progress *p, unsigned id UNUSED, const char *result)
{
	snprintf(scene_of(p)->result, sizeof(scene_of(p)->result), "%s", result);
}

static void on_note(struct progress *p, const char *text)
{
	scene_of(p)->n_notes++;
	snprintf(scene_of(p)->note, sizeof(scene_of(p)->note), "%s", text);
}

static int give_password(struct credential_provider *p UNUSED, const char *host UNUSED, bool renew UNUSED,
                         struct credential *ret, struct err *err UNUSED)
{
	*ret = (struct credential){.username = mem_strdup("u"), .secret = mem_strdup("p")};
	return 0;
}

static void scene_start(struct scene *s, bool insecure, const struct fake_step *steps, size_t n)
{
	static struct credential_provider provider = {.get = give_password};
	const struct ref ref = {.kind = REF_REGISTRY, .host = "r.example", .repository = "app"};

	*s = (struct scene){.progress = {on_start, on_advance, on_finish, on_note},
	                    .desc = {.media_type = MEDIA_LAYER, .size = 5}};
	fake_init(&s->fake, steps, n);
	CHECK_OK(digest_parse(HELLO, &s->desc.digest, &s->err), &s->err);
	s->fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	CHECK(write(s->fd, "hello", 5) == 5);
	CHECK_OK(registry_open(&ref,
	                       &(struct registry_opts){.transport = &s->fake.transport,
	                                               .clock = &s->fake.clock,
	                                               .credentials = &provider,
	                                               .progress = &s->progress,
	                                               .insecure = insecure,
	                                               .retries = 5},
	                       &s->registry, &s->err),
	         &s->err);
}

static void scene_done(struct scene *s)
{
	registry_close(s->registry);
	close(s->fd);
	fake_done(&s->fake);
}

#define SCENE(...)                                             \
	AUTO(scene) struct scene s;                            \
	static const struct fake_step steps[] = {__VA_ARGS__}; \
	scene_start(&s, false, steps, ARRAY_LEN(steps))

#define STEP(text, code)              {.request = (text), .status = (code)}
#define STEPH(text, code, lines)      {.request = (text), .status = (code), .headers = (lines)}
#define STEPB(text, code, lines, reply) {.request = (text), .status = (code), .headers = (lines), .body = (reply)}

static int put(struct scene *s, const char *from)
{
	return registry_put_blob(s->registry, &s->desc, s->fd, from, &s->outcome, &s->err);
}

/* ---- blobs out ---- */

static void skips_what_is_there(void)
{
	SCENE(STEPH(HEAD, 200, "Content-Length: 5"));

	CHECK_OK(put(&s, NULL), &s.err);
	CHECK_INT(s.outcome, BLOB_EXISTED);
	CHECK_STR(s.result, "exists");
	CHECK_INT(s.advanced, 0);
}

static void uploads(void)
{
	SCENE(STEP(HEAD, 404), STEPH(POST, 202, "Location: /v2/app/blobs/uploads/1?state=x"),
	      STEP("PUT " UP("1?state=x&digest=" HELLO) OCTET, 201));

	CHECK_OK(put(&s, NULL), &s.err);
	CHECK_INT(s.outcome, BLOB_UPLOADED);
	CHECK_INT(s.advanced, 5);
}

static void size_differs(void)
{
	SCENE(STEPH(HEAD, 200, "Content-Length: 4"), STEPH(POST, 202, "Location: " UP("1")),
	      STEP("PUT " UP("1?digest=" HELLO) OCTET, 201));

	CHECK_OK(put(&s, NULL), &s.err);
	CHECK_INT(s.outcome, BLOB_UPLOADED);
}

#define MOUNT POST "?mount=" HELLO "&from=lib%2Fbase"

static void mounts(void)
{
	SCENE(STEP(HEAD, 404), STEP(MOUNT, 201));

	CHECK_OK(put(&s, "lib/base"), &s.err);
	CHECK_INT(s.outcome, BLOB_MOUNTED);
}

static void mount_opens_a_session(void)
{
	SCENE(STEP(HEAD, 404), STEPH(MOUNT, 202, "Location: " UP("7")),
	      STEP("PUT " UP("7?digest=" HELLO) OCTET, 201));

	CHECK_OK(put(&s, "lib/base"), &s.err);
	CHECK_INT(s.outcome, BLOB_UPLOADED);
}

static void mount_is_refused(void)
{
	SCENE(STEP(HEAD, 404), STEP(MOUNT, 405), STEPH(POST, 202, "Location: " UP("7")),
	      STEP("PUT " UP("7?digest=" HELLO) OCTET, 201));

	CHECK_OK(put(&s, "lib/base"), &s.err);
	CHECK_INT(s.outcome, BLOB_UPLOADED);
}

static void no_bytes_at_hand(void)
{
	SCENE(STEP(HEAD, 404), STEPH(MOUNT, 202, "Location: " UP("7")), STEP("DELETE " UP("7"), 204),
	      STEP(HEAD, 404), STEP(MOUNT, 404), STEP(HEAD, 404));
	enum blob_outcome outcome;

	CHECK(registry_put_blob(s.registry, &s.desc, -1, "lib/base", &outcome, &s.err) != 0);
	CHECK_INT(s.err.code, ERR_NOT_FOUND);
	CHECK(registry_put_blob(s.registry, &s.desc, -1, "lib/base", &outcome, &s.err) != 0);
	CHECK_INT(s.err.code, ERR_NOT_FOUND);
	CHECK(registry_put_blob(s.registry, &s.desc, -1, NULL, &outcome, &s.err) != 0);
	CHECK_INT(s.err.code, ERR_NOT_FOUND);
}

static void new_session_after_a_cut(void)
{
	SCENE(STEP(HEAD, 404), STEPH(POST, 202, "Location: " UP("1")), STEP("PUT " UP("1?digest=" HELLO) OCTET, 0),
	      STEP(HEAD, 404), STEPH(POST, 202, "Location: " UP("2")),
	      STEPH("PUT " UP("2?digest=" HELLO) OCTET, 503, "Retry-After: 7"), STEP(HEAD, 404),
	      STEPH(POST, 202, "Location: " UP("3")), STEP("PUT " UP("3?digest=" HELLO) OCTET, 201));

	CHECK_OK(put(&s, NULL), &s.err);
	CHECK_INT(s.advanced, 5);
	CHECK_INT(s.n_notes, 2);
	CHECK(s.fake.slept >= 7000 && s.fake.slept <= 7000 + 500);
}

static void lost_confirmation(void)
{
	SCENE(STEP(HEAD, 404), STEPH(POST, 202, "Location: " UP("1")), STEP("PUT " UP("1?digest=" HELLO) OCTET, 0),
	      STEPH(HEAD, 200, "Content-Length: 5"));

	CHECK_OK(put(&s, NULL), &s.err);
	CHECK_INT(s.outcome, BLOB_UPLOADED);
}

/* ---- blobs from elsewhere ---- */

/* A store of one blob that notes how often it is opened, and may break. */
struct origin {
	struct store store;
	const char *text;
	unsigned n_opened;
	enum err_code fails; /* at the end of the text */
};

struct origin_source {
	struct source source;
	struct origin *origin;
	bool over;
};

static int read_origin(struct source *source, void *buf, size_t cap UNUSED, size_t *ret_n, struct err *err)
{
	struct origin_source *s = (struct origin_source *)source;

	*ret_n = s->over ? 0 : strlen(s->origin->text);
	memcpy(buf, s->origin->text, *ret_n);
	if (s->over && s->origin->fails != ERR_NONE)
		return err_set(err, s->origin->fails, "the source breaks");
	s->over = true;
	return 0;
}

static void close_origin(struct source *source)
{
	free(source);
}

static int open_origin(struct store *store, const struct descriptor *desc UNUSED, struct source **ret_source, struct err *err UNUSED)
{
	struct origin_source *s = mem_zalloc(sizeof(*s));

	*s = (struct origin_source){{read_origin, close_origin}, (struct origin *)store, false};
	((struct origin *)store)->n_opened++;
	*ret_source = &s->source;
	return 0;
}

static int copy(struct scene *s, struct origin *origin)
{
	origin->store.open = open_origin;
	return registry_copy_blob(s->registry, &s->desc, &origin->store, NULL, &s->outcome, &s->err);
}

static void does_not_open_what_is_there(void)
{
	SCENE(STEPH(HEAD, 200, "Content-Length: 5"));
	struct origin origin = {.text = "hello"};

	CHECK_OK(copy(&s, &origin), &s.err);
	CHECK_INT(s.outcome, BLOB_EXISTED);
	CHECK_INT(origin.n_opened, 0);
}

static void opens_again_for_another_session(void)
{
	SCENE(STEP(HEAD, 404), STEPH(POST, 202, "Location: " UP("1")), STEP("PUT " UP("1?digest=" HELLO) OCTET, 0),
	      STEP(HEAD, 404), STEPH(POST, 202, "Location: " UP("2")), STEPH("PUT " UP("2?digest=" HELLO) OCTET, 307, "Location: " UP("3")),
	      STEP("PUT " UP("3") OCTET, 201));
	struct origin origin = {.text = "hello"};

	CHECK_OK(copy(&s, &origin), &s.err);
	CHECK_INT(s.outcome, BLOB_UPLOADED);
	CHECK_INT(origin.n_opened, 3);
	CHECK_INT(s.advanced, 5);
}

static void source_that_breaks(void)
{
	SCENE(STEP(HEAD, 404), STEPH(POST, 202, "Location: " UP("1")), STEP("not even sent", 201));
	struct origin origin = {.text = "hello", .fails = ERR_NETWORK};

	CHECK(copy(&s, &origin) != 0);
	CHECK(strstr(s.err.msg, "the source breaks") != NULL);
	CHECK_INT(origin.n_opened, 1);
	CHECK_INT(s.fake.n_sleeps, 0);
}

#define INVALID "{\"errors\":[{\"code\":\"BLOB_UPLOAD_INVALID\"}]}"

static void confused_session(void)
{
	SCENE(STEP(HEAD, 404), STEPH(POST, 202, "Location: " UP("1")),
	      STEPB("PUT " UP("1?digest=" HELLO) OCTET, 400, NULL, INVALID), STEP(HEAD, 404),
	      STEPH(POST, 202, "Location: " UP("2")), STEP("PUT " UP("2?digest=" HELLO) OCTET, 416));

	CHECK(put(&s, NULL) != 0);
	CHECK_INT(s.err.code, ERR_SERVER);
	CHECK_INT(s.advanced, 0);
}

static void damaged_blob(void)
{
	SCENE(STEP(HEAD, 404), STEPH(POST, 202, "Location: " UP("1")),
	      STEPB("PUT " UP("1?digest=" HELLO) OCTET, 400, NULL, "{\"errors\":[{\"code\":\"DIGEST_INVALID\"}]}"));

	CHECK(put(&s, NULL) != 0);
	CHECK(strstr(s.err.msg, "DIGEST_INVALID") != NULL);
	CHECK(strstr(s.err.hint, "damaged") != NULL);
	CHECK_INT(s.fake.n_sleeps, 0);
}

#define BASIC "\nAuthorization: Basic dTpw"
#define ASK   "WWW-Authenticate: Basic realm=\"x\""

static void no_password_for_others(void)
{
	SCENE(STEPH(HEAD, 401, ASK), STEP(HEAD BASIC, 404),
	      STEPH(POST BASIC, 202, "Location: https://o.example/up?sig=1"),
	      STEPH("PUT https://o.example/up?sig=1&digest=" HELLO OCTET, 307, "Location: https://p.example/z"),
	      STEP("PUT https://p.example/z" OCTET, 201));

	CHECK_OK(put(&s, NULL), &s.err);
	CHECK_INT(s.advanced, 5);
}

static void lookalike_host(void)
{
	SCENE(STEPH(HEAD, 401, ASK), STEP(HEAD BASIC, 404),
	      STEPH(POST BASIC, 202, "Location: https://r.example:8443/up"),
	      STEP("PUT https://r.example:8443/up?digest=" HELLO OCTET, 201));

	CHECK_OK(put(&s, NULL), &s.err);
}

static void proxy_that_ends_tls(void)
{
	SCENE(STEP(HEAD, 404), STEPH(POST, 202, "Location: http://r.example/v2/app/blobs/uploads/1"),
	      STEP("PUT https://r.example/v2/app/blobs/uploads/1?digest=" HELLO OCTET, 201));

	CHECK_OK(put(&s, NULL), &s.err);
}

static void no_downgrade(void)
{
	SCENE(STEP(HEAD, 404), STEPH(POST, 202, "Location: http://o.example/up?sig=hush"));

	CHECK(put(&s, NULL) != 0);
	CHECK_INT(s.err.code, ERR_DENIED);
	CHECK(strstr(s.err.msg, "hush") == NULL);
}

static void no_location(void)
{
	SCENE(STEP(HEAD, 404), STEP(POST, 202));

	CHECK(put(&s, NULL) != 0);
	CHECK_INT(s.err.code, ERR_SERVER);
}

static void refused_in_the_middle(void)
{
	SCENE(STEPH(HEAD, 401, ASK), STEP(HEAD BASIC, 404), STEPH(POST BASIC, 202, "Location: " UP("1")),
	      STEPH("PUT " UP("1?digest=" HELLO) "\nContent-Type: application/octet-stream" BASIC "\n\nhello", 401, ASK),
	      /* Not in the old session, which may have seen the first byte. */
	      STEP(HEAD BASIC, 404), STEPH(POST BASIC, 202, "Location: " UP("2")),
	      STEP("PUT " UP("2?digest=" HELLO) "\nContent-Type: application/octet-stream" BASIC "\n\nhello", 201));

	CHECK_OK(put(&s, NULL), &s.err);
	CHECK_INT(s.advanced, 5);
}

static void wrong_password(void)
{
	SCENE(STEPH(HEAD, 401, ASK), STEPH(HEAD BASIC, 401, ASK),
	      STEPB("GET " V2 "/blobs/" HELLO BASIC, 401, NULL,
	            "{\"errors\":[{\"code\":\"UNAUTHORIZED\",\"message\":\"who are you\"}]}"));

	CHECK(put(&s, NULL) != 0);
	CHECK_INT(s.err.code, ERR_DENIED);
	CHECK_INT(s.err.http_status, 401);
	CHECK(strstr(s.err.msg, "who are you") != NULL);
	CHECK(strstr(s.err.msg, "dTpw") == NULL);
}

static void explains_a_head(void)
{
	SCENE(STEP(HEAD, 403), STEPB("GET " V2 "/blobs/" HELLO, 403, NULL,
	                             "{\"errors\":[{\"code\":\"DENIED\",\"message\":\"quota\"}]}"));
	bool exists;

	CHECK(registry_has_blob(s.registry, &s.desc, &exists, &s.err) != 0);
	CHECK_INT(s.err.code, ERR_DENIED);
	CHECK(strstr(s.err.msg, "quota") != NULL);
}

/* ---- retries ---- */

static void gives_up(void)
{
	SCENE(STEP(HEAD, 503), STEP(HEAD, 429), STEP(HEAD, 0), STEP(HEAD, 500), STEP(HEAD, 502), STEP(HEAD, 504));
	bool exists;

	CHECK(registry_has_blob(s.registry, &s.desc, &exists, &s.err) != 0);
	CHECK_INT(s.err.code, ERR_NETWORK);
	CHECK_INT(s.fake.n_sleeps, 5);
	CHECK(strstr(s.err.msg, "gave up") != NULL);
}

static void waits_as_told(void)
{
	SCENE(STEPH(HEAD, 429, "Retry-After: 3"), STEPH(HEAD, 429, "Retry-After: Sun, 06 Nov 1994 08:50:00 GMT"),
	      STEPH(HEAD, 200, "Content-Length: 5"));
	bool exists = false;

	CHECK_OK(registry_has_blob(s.registry, &s.desc, &exists, &s.err), &s.err);
	CHECK(exists);
	CHECK_INT(s.fake.slept, 23000);
}

static void redirect_loop(void)
{
	SCENE(STEPH(HEAD, 307, "Location: ?1"), STEPH("HEAD https://r.example/v2/app/blobs/" HELLO "?1", 307, "Location: ?1"),
	      STEPH("HEAD https://r.example/v2/app/blobs/" HELLO "?1", 307, "Location: ?1"),
	      STEPH("HEAD https://r.example/v2/app/blobs/" HELLO "?1", 307, "Location: ?1"),
	      STEPH("HEAD https://r.example/v2/app/blobs/" HELLO "?1", 307, "Location: ?1"),
	      STEPH("HEAD https://r.example/v2/app/blobs/" HELLO "?1", 307, "Location: ?1"));
	bool exists;

	CHECK(registry_has_blob(s.registry, &s.desc, &exists, &s.err) != 0);
	CHECK_INT(s.err.code, ERR_SERVER);
}

static void warnings_once(void)
{
	SCENE(STEPH(HEAD, 404, "Warning: 299 - \"old\"\nWarning: 299 - \"older\""),
	      STEPH(HEAD, 404, "Warning: 299 - \"old\""));
	bool exists;

	CHECK_OK(registry_has_blob(s.registry, &s.desc, &exists, &s.err), &s.err);
	CHECK_INT(s.n_notes, 2);
	CHECK_OK(registry_has_blob(s.registry, &s.desc, &exists, &s.err), &s.err);
	CHECK_INT(s.n_notes, 2);
	CHECK(strstr(s.note, "older") != NULL);
}

/* ---- manifests ---- */

#define MANIFEST(ref) "HEAD " V2 "/manifests/" ref ACCEPT
#define GETM(ref)     "GET " V2 "/manifests/" ref ACCEPT
#define TYPED         "Content-Type: " MEDIA_MANIFEST
#define PUTM(ref)     "PUT " V2 "/manifests/" ref "\nContent-Type: " MEDIA_MANIFEST "\n\nm"
#define IS_EM         "Docker-Content-Digest: " EM "\nContent-Length: 1\nContent-Type: " MEDIA_MANIFEST

static int put_manifest(struct scene *s, bool *ret_existed)
{
	struct descriptor d = {.media_type = MEDIA_MANIFEST, .size = 1};

	CHECK_OK(digest_parse(EM, &d.digest, &s->err), &s->err);
	return registry_put_manifest(s->registry, "v1", &d, "m", ret_existed, &s->err);
}

static void puts_a_manifest(void)
{
	SCENE(STEP(MANIFEST("v1"), 404), STEPH(PUTM("v1"), 201, "Docker-Content-Digest: " EM),
	      STEPH(MANIFEST("v1"), 200, IS_EM));
	bool existed = true;

	CHECK_OK(put_manifest(&s, &existed), &s.err);
	CHECK(!existed);
	CHECK_OK(put_manifest(&s, &existed), &s.err);
	CHECK(existed);
}

static void stored_differently(void)
{
	SCENE(STEP(MANIFEST("v1"), 404), STEPH(PUTM("v1"), 201, "Docker-Content-Digest: " HELLO));
	bool existed;

	CHECK(put_manifest(&s, &existed) != 0);
	CHECK(strstr(s.err.msg, "another digest") != NULL);
}

static void child_not_seen_yet(void)
{
	SCENE(STEP(MANIFEST("v1"), 404),
	      STEPB(PUTM("v1"), 404, NULL, "{\"errors\":[{\"code\":\"MANIFEST_BLOB_UNKNOWN\"}]}"),
	      STEP(PUTM("v1"), 201));
	bool existed;

	CHECK_OK(put_manifest(&s, &existed), &s.err);
	CHECK_INT(s.fake.n_sleeps, 1);
}

static void immutable_tag(void)
{
	SCENE(STEPH(MANIFEST("v1"), 200, "Docker-Content-Digest: " HELLO "\nContent-Length: 9\nContent-Type: x/y"),
	      STEPB(PUTM("v1"), 400, NULL, "{\"errors\":[{\"code\":\"TAG_INVALID\",\"message\":\"tag is immutable\"}]}"),
	      STEPH(MANIFEST("v1"), 200, "Docker-Content-Digest: " HELLO "\nContent-Length: 9\nContent-Type: x/y"));
	bool existed;

	CHECK(put_manifest(&s, &existed) != 0);
	CHECK(strstr(s.err.hint, "new tag") != NULL);
}

static void immutable_tag_pushed_by_another(void)
{
	SCENE(STEP(MANIFEST("v1"), 404),
	      STEPB(PUTM("v1"), 400, NULL, "{\"errors\":[{\"code\":\"TAG_INVALID\",\"message\":\"tag is immutable\"}]}"),
	      STEPH(MANIFEST("v1"), 200, IS_EM));
	bool existed = false;

	CHECK_OK(put_manifest(&s, &existed), &s.err);
	CHECK(existed);
}

static void resolves_a_tag(void)
{
	SCENE(STEPH(MANIFEST("latest"), 200, IS_EM), STEPB(GETM(EM), 200, "Content-Type: " MEDIA_MANIFEST, "m"),
	      STEP(MANIFEST("v9"), 404),
	      /* No digest on HEAD, no type on GET: the document itself tells. */
	      STEPH(MANIFEST("v1"), 200, "Content-Length: 56"),
	      STEPB(GETM("v1"), 200, NULL, INDEX_TEXT));
	AUTO(arena) struct arena a = {0};
	struct store *store = registry_store(s.registry);
	struct descriptor d;
	char text[DIGEST_TEXT_MAX];

	CHECK_OK(store_resolve(store, NULL, &a, &d, &s.err), &s.err);
	CHECK_STR(d.media_type, MEDIA_MANIFEST);
	CHECK_STR(digest_text(&d.digest, text), EM);
	CHECK_INT(d.size, 1);
	CHECK(store_resolve(store, "v9", &a, &d, &s.err) != 0);
	CHECK_INT(s.err.code, ERR_NOT_FOUND);
	CHECK_OK(store_resolve(store, "v1", &a, &d, &s.err), &s.err);
	CHECK_STR(d.media_type, MEDIA_INDEX);
	CHECK_STR(digest_text(&d.digest, text), INDEX);
	store_close(store);
}

/* What HEAD says is one thing, what GET sends is what is used: each row a registry that was met or feared. */
static void head_is_not_to_be_relied_on(void)
{
	static const struct {
		const char *name;
		struct fake_step steps[3];
		size_t n;
		bool said;
	} table[] = {
		{"405", {STEP(MANIFEST("v1"), 405), STEPB(GETM("v1"), 200, TYPED, "m")}, 2, false},
		{"501", {STEP(MANIFEST("v1"), 501), STEPB(GETM("v1"), 200, TYPED, "m")}, 2, false},
		{"no length",
                 {STEPH(MANIFEST("v1"), 200, "Docker-Content-Digest: " EM "\n" TYPED), STEPB(GETM("v1"), 200, TYPED, "m")},
                 2,
                 false},
		{"length 0",
                 {STEPH(MANIFEST("v1"), 200, "Content-Length: 0\nDocker-Content-Digest: " EM "\n" TYPED),
                  STEPB(GETM("v1"), 200, TYPED, "m")},
                 2,
                 false},
		{"no digest",
                 {STEPH(MANIFEST("v1"), 200, "Content-Length: 1\n" TYPED), STEPB(GETM("v1"), 200, TYPED, "m")},
                 2,
                 false},
		{"a digest that is none",
                 {STEPH(MANIFEST("v1"), 200, "Content-Length: 1\nDocker-Content-Digest: md5:x\n" TYPED),
                  STEPB(GETM("v1"), 200, TYPED, "m")},
                 2,
                 false},
		{"a false length",
                 {STEPH(MANIFEST("v1"), 200, "Content-Length: 7\nDocker-Content-Digest: " EM "\n" TYPED),
                  STEPB(GETM(EM), 200, TYPED, "m")},
                 2,
                 true},
		{"a digest that is not there",
                 {STEPH(MANIFEST("v1"), 200, "Content-Length: 1\nDocker-Content-Digest: " HELLO "\n" TYPED),
                  STEP(GETM(HELLO), 404), STEPB(GETM("v1"), 200, TYPED, "m")},
                 3,
                 true},
		{"a digest of something else",
                 {STEPH(MANIFEST("v1"), 200, "Content-Length: 1\nDocker-Content-Digest: " HELLO "\n" TYPED),
                  STEPB(GETM(HELLO), 200, TYPED, "m"), STEPB(GETM("v1"), 200, TYPED, "m")},
                 3,
                 true},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		AUTO(scene) struct scene s;
		AUTO(arena) struct arena a = {0};
		AUTO(strbuf) struct strbuf got = STRBUF_INIT(64);
		struct descriptor d = {.media_type = ""};
		char text[DIGEST_TEXT_MAX];

		scene_start(&s, false, table[i].steps, table[i].n);
		struct store *store = registry_store(s.registry);

		CHECK_OK(store_resolve(store, "v1", &a, &d, &s.err), &s.err);
		CHECK_STR(digest_text(&d.digest, text), EM);
		CHECK_INT(d.size, 1);
		CHECK_INT(s.n_notes, table[i].said);
		CHECK(!table[i].said || strstr(s.note, "HEAD and GET") != NULL);
		/* The document is at hand: no further request. */
		CHECK_OK(store_read(store, &d, 64, &got, &s.err), &s.err);
		CHECK_STR(strbuf_str(&got), "m");
		store_close(store);
		if (!test_state.ok) {
			printf("# %s\n", table[i].name);
			return;
		}
	}
}

/* A digest in the reference is not open to discussion. */
static void digest_reference_is_strict(void)
{
	SCENE(STEPH(MANIFEST(HELLO), 200, "Content-Length: 1\n" TYPED), STEPB(GETM(HELLO), 200, TYPED, "m"));
	AUTO(arena) struct arena a = {0};
	struct store *store = registry_store(s.registry);
	struct descriptor d;

	CHECK(store_resolve(store, HELLO, &a, &d, &s.err) != 0);
	CHECK_INT(s.err.code, ERR_DIGEST);
	store_close(store);
}

static void another_manifest(void)
{
	SCENE(STEPH(MANIFEST(HELLO), 200, IS_EM));
	AUTO(arena) struct arena a = {0};
	struct descriptor d;

	CHECK(registry_head_manifest(s.registry, HELLO, &a, &d, &s.err) != 0);
	CHECK_INT(s.err.code, ERR_DIGEST);
}

/* ---- pull ---- */

#define GET   "GET " V2 "/blobs/" HELLO
#define RANGE(n) "\nRange: bytes=" n "-"

static int pull(struct scene *s, struct strbuf *got)
{
	struct store *store = registry_store(s->registry);
	int status = store_read(store, &s->desc, 100, got, &s->err);

	store_close(store);
	return status;
}

static void pulls(void)
{
	SCENE(STEPH(GET, 401, ASK), STEPH(GET BASIC, 307, "Location: https://o.example/z?sig=hush"),
	      STEPB("GET https://o.example/z?sig=hush", 200, "Content-Length: 5", "hello"));
	AUTO(strbuf) struct strbuf got = STRBUF_INIT(100);

	CHECK_OK(pull(&s, &got), &s.err);
	CHECK_STR(strbuf_str(&got), "hello");
}

static void goes_on_after_a_cut(void)
{
	SCENE({.request = GET, .status = 200, .headers = "Content-Length: 5", .body = "hello", .cut = 2},
	      STEPB(GET RANGE("2"), 206, "Content-Range: bytes 2-4/5", "l"),
	      STEPB(GET RANGE("3"), 200, "Content-Length: 5", "hello"));
	AUTO(strbuf) struct strbuf got = STRBUF_INIT(100);

	CHECK_OK(pull(&s, &got), &s.err);
	CHECK_STR(strbuf_str(&got), "hello");
	CHECK_INT(s.fake.n_sleeps, 2);
}

static void bad_pulls(void)
{
	static const struct {
		struct fake_step first, second;
		size_t n;
		enum err_code code;
	} rows[] = {
		{STEPB(GET, 200, "Content-Length: 5", "hullo"), {.status = 0}, 1, ERR_DIGEST},
		{STEPB(GET, 200, NULL, "hello world"), {.status = 0}, 1, ERR_DIGEST},
		{STEPB(GET, 200, "Content-Length: 900", "hello"), {.status = 0}, 1, ERR_DIGEST},
		{STEPB(GET, 404, NULL, "{\"errors\":[{\"code\":\"BLOB_UNKNOWN\"}]}"), {.status = 0}, 1, ERR_NOT_FOUND},
		{STEP(GET, 206), {.status = 0}, 1, ERR_SERVER},
		{{.request = GET, .status = 200, .body = "hello", .cut = 2},
		 STEPB(GET RANGE("2"), 206, "Content-Range: bytes 0-4/5", "hello"), 2, ERR_SERVER},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(scene) struct scene s;
		AUTO(strbuf) struct strbuf got = STRBUF_INIT(100);
		const struct fake_step steps[] = {rows[i].first, rows[i].second};

		scene_start(&s, false, steps, rows[i].n);
		CHECK(pull(&s, &got) != 0);
		CHECK_INT(s.err.code, rows[i].code);
	}
}

static void insecure_is_http(void)
{
	AUTO(scene) struct scene s;
	static const struct fake_step steps[] = {
		STEPH("HEAD http://r.example/v2/app/blobs/" HELLO, 200, "Content-Length: 5")};
	bool exists = false;

	scene_start(&s, true, steps, 1);
	CHECK_OK(registry_has_blob(s.registry, &s.desc, &exists, &s.err), &s.err);
	CHECK(exists);
}

int main(void)
{
	TEST("registry: a blob that is there is not sent", skips_what_is_there);
	TEST("registry: a blob is sent in one PUT to a relative Location", uploads);
	TEST("registry: a blob of another size is not there", size_differs);
	TEST("registry: a blob is mounted", mounts);
	TEST("registry: the session that a mount opened is used", mount_opens_a_session);
	TEST("registry: a refused mount is an upload", mount_is_refused);
	TEST("registry: without bytes a useless session is cancelled", no_bytes_at_hand);
	TEST("registry: a cut upload starts over in a new session", new_session_after_a_cut);
	TEST("registry: a lost confirmation is found by HEAD", lost_confirmation);
	TEST("copying a blob: what is there is not even opened", does_not_open_what_is_there);
	TEST("copying a blob: a cut and a redirect read it from the front again", opens_again_for_another_session);
	TEST("copying a blob: a source that breaks is not tried in another session", source_that_breaks);
	TEST("registry: a confused session is replaced once", confused_session);
	TEST("registry: a wrong digest stops at once", damaged_blob);
	TEST("registry: uploads and redirects to other hosts carry no credentials", no_password_for_others);
	TEST("registry: another port is another host", lookalike_host);
	TEST("registry: http in a Location of the same host means https", proxy_that_ends_tls);
	TEST("registry: no redirect leads from TLS to another host's http", no_downgrade);
	TEST("registry: an upload without Location is an error", no_location);
	TEST("registry: 401 in mid-push is answered once more, in a new session", refused_in_the_middle);
	TEST("registry: a wrong password is tried once and not shown", wrong_password);
	TEST("registry: a refused HEAD is explained by GET", explains_a_head);
	TEST("registry: tries end after six", gives_up);
	TEST("registry: Retry-After is obeyed in both forms", waits_as_told);
	TEST("registry: redirects are counted", redirect_loop);
	TEST("registry: each warning is shown once", warnings_once);
	TEST("registry: a manifest is put once", puts_a_manifest);
	TEST("registry: a manifest stored under another digest is refused", stored_differently);
	TEST("registry: MANIFEST_BLOB_UNKNOWN is waited out", child_not_seen_yet);
	TEST("registry: an immutable tag is explained", immutable_tag);
	TEST("registry: an immutable tag that somebody pushed meanwhile is fine when it is the same image",
	     immutable_tag_pushed_by_another);
	TEST("registry: tags resolve by headers or by the document", resolves_a_tag);
	TEST("registry: another manifest than asked for is refused", another_manifest);
	TEST("registry: a HEAD that is refused or false gives way to GET, and is named", head_is_not_to_be_relied_on);
	TEST("registry: a reference by digest takes no other manifest", digest_reference_is_strict);
	TEST("registry: a blob is pulled through a redirect without credentials", pulls);
	TEST("registry: a cut pull goes on with Range, or skips what it has", goes_on_after_a_cut);
	TEST("registry: corrupt, long, absent and misplaced bytes are refused", bad_pulls);
	TEST("registry: insecure means http", insecure_is_http);
	return test_done();
}
