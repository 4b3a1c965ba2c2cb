/* A registry that wants tokens, mounts that fail, and what all requests may be retried together. */
#include "builder/registry/registry.h"

#include <fcntl.h>

#include "builder/oci/mediatype.h"
#include "builder/registry/challenge.h"
#include "builder/registry/retry.h"
#include "tests/harness.h"
#include "tests/unit/fake_transport.h"

/* "hello" */
#define HELLO "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
#define V2    "https://r.example/v2/app"
#define HEAD  "HEAD " V2 "/blobs/" HELLO
#define POST  "POST " V2 "/blobs/uploads/"
#define MOUNT POST "?mount=" HELLO "&from=lib%2Fbase"
#define ASK   "WWW-Authenticate: Bearer realm=\"https://auth.example/token\",service=\"r\""
#define OCTET "\nContent-Type: application/octet-stream"

#define TOKEN       "GET https://auth.example/token?client_id=slipway&service=r"
#define BASIC       "\nAuthorization: Basic dTpw"
#define PUSH        "&scope=repository%3Aapp%3Apull%2Cpush"
#define FROM        "&scope=repository%3Alib%2Fbase%3Apull"
#define WITH(token) "\nAuthorization: Bearer " token

struct scene {
	struct fake fake;
	struct registry *registry;
	struct descriptor desc;
	int fd;
	unsigned asked; /* for credentials */
	struct credential_provider provider;
	enum blob_outcome outcome;
	struct err err;
};

static int give_password(struct credential_provider *p, const char *host, bool renew UNUSED,
                         struct credential *ret, struct err *err UNUSED)
{
	((struct scene *)((char *)p - offsetof(struct scene, provider)))->asked++;
	CHECK_STR(host, "r.example");
	*ret = (struct credential){.username = mem_strdup("u"), .secret = mem_strdup("p")};
	return 0;
}

static void scene_start(struct scene *s, unsigned retries, const struct fake_step *steps, size_t n)
{
	const struct ref ref = {.kind = REF_REGISTRY, .host = "r.example", .repository = "app"};

	*s = (struct scene){.desc = {.media_type = MEDIA_LAYER, .size = 5},
	                    .provider.get = give_password};
	fake_init(&s->fake, steps, n);
	CHECK_OK(digest_parse(HELLO, &s->desc.digest, &s->err), &s->err);
	s->fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	CHECK(write(s->fd, "hello", 5) == 5);
	CHECK_OK(registry_open(&ref,
	                       &(struct registry_opts){.transport = &s->fake.transport,
	                                               .clock = &s->fake.clock,
	                                               .credentials = &s->provider,
	                                               .retries = retries},
	                       &s->registry, &s->err),
	         &s->err);
}

static void scene_done(struct scene *s)
{
	registry_close(s->registry);
	close(s->fd);
	fake_done(&s->fake);
}

#define SCENE(retries, ...)                                                                        \
	AUTO(scene) struct scene s;                                                                \
	static const struct fake_step steps[] = {__VA_ARGS__};                                     \
	scene_start(&s, retries, steps, ARRAY_LEN(steps))

static int put(struct scene *s, const char *from)
{
	return registry_put_blob(s->registry, &s->desc, s->fd, from, &s->outcome, &s->err);
}

static void token_then_again(void)
{
	SCENE(0, {.request = HEAD, .status = 401, .headers = ASK},
	      {.request = TOKEN PUSH BASIC, .status = 200, .body = "{\"token\":\"t1\"}"},
	      {.request = HEAD WITH("t1"), .status = 404},
	      {.request = POST WITH("t1"), .status = 202, .headers = "Location: /up/1"},
	      {.request =
	               "PUT https://r.example/up/1?digest=" HELLO OCTET WITH("t1") "\n\nhello",
	       .status = 201});

	CHECK_OK(put(&s, NULL), &s.err);
	CHECK_INT(s.outcome, BLOB_UPLOADED);
	CHECK_INT(s.asked, 1);
}

/* The scope that matters most, to push to the target, goes first. */
static void mount_asks_for_both(void)
{
	SCENE(0, {.request = HEAD, .status = 401, .headers = ASK},
	      {.request = TOKEN PUSH BASIC, .status = 200, .body = "{\"token\":\"t1\"}"},
	      {.request = HEAD WITH("t1"), .status = 404},
	      {.request = TOKEN PUSH FROM BASIC, .status = 200, .body = "{\"token\":\"t2\"}"},
	      {.request = MOUNT WITH("t2"), .status = 201});

	CHECK_OK(put(&s, "lib/base"), &s.err);
	CHECK_INT(s.outcome, BLOB_MOUNTED);
}

static void token_stays_at_home(void)
{
	SCENE(0, {.request = HEAD, .status = 401, .headers = ASK},
	      {.request = TOKEN PUSH BASIC, .status = 200, .body = "{\"token\":\"t1\"}"},
	      {.request = HEAD WITH("t1"), .status = 404},
	      {.request = POST WITH("t1"),
	       .status = 202,
	       .headers = "Location: https://o.example/u"},
	      {.request = "PUT https://o.example/u?digest=" HELLO OCTET "\n\nhello",
	       .status = 201});

	CHECK_OK(put(&s, NULL), &s.err);
}

static void bad_realms(void)
{
	static const char *const asks[] = {
		"WWW-Authenticate: Bearer realm=\"http://auth.example/token\"",
		"WWW-Authenticate: Bearer realm=\"https://10.0.0.1/token\"",
		"WWW-Authenticate: Bearer realm=\"https://[fd00::1]/token\"",
		"WWW-Authenticate: Bearer realm=\"https://[::ffff:127.0.0.1]/token\"",
	};

	for (size_t i = 0; i < ARRAY_LEN(asks); i++) {
		AUTO(scene) struct scene s;
		const struct fake_step step = {.request = HEAD, .status = 401, .headers = asks[i]};

		scene_start(&s, 0, &step, 1);
		CHECK(put(&s, NULL) != 0);
		CHECK_INT(s.err.code, ERR_DENIED);
		CHECK_INT(s.asked, 0);
		CHECK_INT(s.fake.n_sleeps, 0);
	}
}

static void mount_that_breaks(void)
{
	SCENE(1, {.request = HEAD, .status = 404}, {.request = MOUNT, .status = 500},
	      {.request = MOUNT, .status = 500},
	      {.request = POST, .status = 202, .headers = "Location: /up/1"},
	      {.request = "PUT https://r.example/up/1?digest=" HELLO OCTET "\n\nhello",
	       .status = 201});

	CHECK_OK(put(&s, "lib/base"), &s.err);
	CHECK_INT(s.outcome, BLOB_UPLOADED);
	CHECK_INT(s.fake.n_sleeps, 1);
}

/* 100 retries for the whole object, however many a single request may take. */
static void budget_is_shared(void)
{
	enum { REQUESTS = 102 };
	struct fake_step steps[REQUESTS];
	AUTO(scene) struct scene s;
	bool exists;

	for (size_t i = 0; i < REQUESTS; i++)
		steps[i] = (struct fake_step){.request = HEAD, .status = 503};
	scene_start(&s, 1000, steps, REQUESTS);
	CHECK(registry_has_blob(s.registry, &s.desc, &exists, &s.err) != 0);
	CHECK_INT(s.err.code, ERR_NETWORK);
	CHECK_INT(s.fake.n_sleeps, 100);
	CHECK(s.fake.slept <= 100ll * RETRY_CAP_MS);
	CHECK(registry_has_blob(s.registry, &s.desc, &exists, &s.err) != 0);
	CHECK_INT(s.fake.n_sleeps, 100);
}

/* Each value used to take room for the whole rest. A header of 60 KiB must not cost more than a few
 * times its size. */
static void long_challenges_are_cheap(void)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 20);
	AUTO(arena) struct arena a = {0};
	struct challenge c;
	struct err err = {0};
	FILE *statm;
	long before = 0, after = 0;

	strbuf_adds(&text, "Bearer ");
	for (int i = 0; i < 12000; i++)
		strbuf_adds(&text, "a=\"\",");
	strbuf_adds(&text, "realm=\"x\"");
	statm = fopen("/proc/self/statm", "re");
	CHECK(statm != NULL && fscanf(statm, "%ld", &before) == 1);
	fclose(statm);
	CHECK_OK(challenge_parse(strbuf_str(&text), &a, &c, &err), &err);
	CHECK_STR(c.realm, "x");
	statm = fopen("/proc/self/statm", "re");
	CHECK(statm != NULL && fscanf(statm, "%ld", &after) == 1);
	fclose(statm);
	CHECK((after - before) * sysconf(_SC_PAGESIZE) < 16 << 20);
}

int main(void)
{
	TEST("registry: a token is fetched with the push scope, then asked again",
	     token_then_again);
	TEST("registry: a mount asks for the target's scope first, then the source's",
	     mount_asks_for_both);
	TEST("registry: an upload to another host carries no token", token_stays_at_home);
	TEST("registry: a private or plain token server is refused, no password asked", bad_realms);
	TEST("registry: a mount that breaks becomes an upload", mount_that_breaks);
	TEST("registry: all requests share one budget of retries", budget_is_shared);
	TEST("challenge: a long header takes little memory", long_challenges_are_cheap);
	return test_done();
}
