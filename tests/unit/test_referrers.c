/*
 * What is attached to an image: lists of registries and of clients, honest and not.
 */
#include "builder/oci/referrers.h"

#include "builder/image/attach.h"
#include "builder/oci/mediatype.h"
#include "builder/registry/registry.h"
#include "tests/harness.h"
#include "tests/unit/fake_transport.h"

#define ZEROS  "0000000000000000000000000000000000000000000000000000000000000000"
#define ONES   "1111111111111111111111111111111111111111111111111111111111111111"
#define TWOS   "2222222222222222222222222222222222222222222222222222222222222222"
#define THREES "3333333333333333333333333333333333333333333333333333333333333333"

#define V2       "https://r.example/v2/app"
#define ACCEPT   "\nAccept: " MEDIA_ACCEPT_MANIFESTS
#define LIST     "GET " V2 "/referrers/sha256:" ZEROS
#define PAGE     "\nAccept: " MEDIA_INDEX
#define KEPT     "GET " V2 "/manifests/sha256-" ZEROS ACCEPT
#define ENTRY(hex, type) "{\"mediaType\":\"" MEDIA_MANIFEST "\",\"artifactType\":\"" type "\",\"digest\":\"sha256:" hex "\",\"size\":2}"
#define INDEX(...) "{\"schemaVersion\":2,\"mediaType\":\"" MEDIA_INDEX "\",\"manifests\":[" __VA_ARGS__ "]}"

struct scene {
	struct fake fake;
	struct registry *registry;
	struct store *store;
	struct digest subject;
	struct arena arena;
	struct referrers found;
	struct err err;
};

static void scene_start(struct scene *s, const struct fake_step *steps, size_t n)
{
	const struct ref ref = {.kind = REF_REGISTRY, .host = "r.example", .repository = "app"};

	*s = (struct scene){0};
	fake_init(&s->fake, steps, n);
	CHECK_OK(digest_parse("sha256:" ZEROS, &s->subject, &s->err), &s->err);
	CHECK_OK(registry_open(&ref, &(struct registry_opts){.transport = &s->fake.transport, .clock = &s->fake.clock, .retries = 5},
	                       &s->registry, &s->err),
	         &s->err);
	s->store = registry_store(s->registry);
}

static void scene_done(struct scene *s)
{
	store_close(s->store);
	registry_close(s->registry);
	arena_done(&s->arena);
	fake_done(&s->fake);
}

#define SCENE(...)                                             \
	AUTO(scene) struct scene s;                            \
	static const struct fake_step steps[] = {__VA_ARGS__}; \
	scene_start(&s, steps, ARRAY_LEN(steps))

static int list(struct scene *s, const char *type)
{
	return store_referrers(s->store, &s->subject, type, &s->arena, &s->found, &s->err);
}

static void says(const struct err *err, const char *words)
{
	if (strstr(err->msg, words) == NULL)
		CHECK_STR(err->msg, words);
}

/* ---- reading ---- */

static void asks_and_filters(void)
{
	SCENE({.request = LIST "?artifactType=application%2Fspdx%2Bjson" PAGE, .status = 200,
	       .body = INDEX(ENTRY(ONES, "application/spdx+json") "," ENTRY(TWOS, "application/x"))});

	CHECK_OK(list(&s, "application/spdx+json"), &s.err);
	CHECK_INT(s.found.n, 1);
}

static void follows_pages(void)
{
	SCENE({.request = LIST PAGE, .status = 200, .headers = "Link: </v2/app/referrers/x?n=2>; rel=\"next\"", .body = INDEX(ENTRY(ONES, "a/b"))},
	      {.request = "GET " V2 "/referrers/x?n=2" PAGE, .status = 200, .body = INDEX(ENTRY(ONES, "a/b") "," ENTRY(TWOS, "a/c"))});

	CHECK_OK(list(&s, NULL), &s.err);
	CHECK_INT(s.found.n, 2);
	CHECK_STR(s.found.at[1].artifact_type, "a/c");
}

static void takes_the_kept_list(void)
{
	SCENE({.request = LIST PAGE, .status = 404}, {.request = KEPT, .status = 200, .body = INDEX(ENTRY(ONES, "a/b"))});

	CHECK_OK(list(&s, NULL), &s.err);
	CHECK_INT(s.found.n, 1);
}

static void has_none(void)
{
	SCENE({.request = LIST PAGE, .status = 404}, {.request = KEPT, .status = 404});

	CHECK_OK(list(&s, NULL), &s.err);
	CHECK_INT(s.found.n, 0);
}

/* An entry of cosign 3.1.1: the type of its empty configuration. Its manifest is opened; this one is gone. */
static void opens_what_says_no_type(void)
{
	SCENE({.request = LIST PAGE, .status = 404}, {.request = KEPT, .status = 200, .body = INDEX(ENTRY(ONES, "application/vnd.oci.empty.v1+json") "," ENTRY(TWOS, "a/b"))},
	      {.request = "GET " V2 "/manifests/sha256:" ONES ACCEPT, .status = 404});

	CHECK_OK(list(&s, NULL), &s.err);
	CHECK_INT(s.found.n, 1);
	CHECK_STR(s.found.at[0].artifact_type, "a/b");
}

static void refuses_lists_that_are_none(void)
{
	SCENE({.request = LIST PAGE, .status = 200, .body = INDEX(ENTRY(ZEROS, "a/b"))}, {.request = LIST PAGE, .status = 200, .body = "{}"}, {.request = LIST PAGE, .status = 404},
	      {.request = KEPT, .status = 200, .body = "{\"schemaVersion\":2,\"mediaType\":\"" MEDIA_MANIFEST "\"}"}, {.request = LIST PAGE, .status = 403});

	CHECK(list(&s, NULL) != 0);
	says(&s.err, "names the image itself");
	CHECK(list(&s, NULL) != 0);
	says(&s.err, "schemaVersion");
	CHECK(list(&s, NULL) != 0);
	says(&s.err, "it names no list of referrers");
	CHECK(list(&s, NULL) != 0);
	CHECK_INT(s.err.code, ERR_DENIED);
}

static void ends_pages_without_end(void)
{
	enum { STEPS = 300 };
	struct fake_step steps[STEPS];
	AUTO(scene) struct scene s;

	for (size_t i = 0; i < STEPS; i++)
		steps[i] = (struct fake_step){.request = LIST PAGE, .status = 200, .headers = "Link: <" "/v2/app/referrers/sha256:" ZEROS ">; rel=\"next\"",
		                              .body = INDEX("")};
	scene_start(&s, steps, STEPS);
	CHECK(list(&s, NULL) != 0);
	CHECK_INT(s.err.code, ERR_LIMIT);
	s.fake.next = STEPS;
}

/* ---- writing ---- */

#define PUT_ONE "PUT " V2 "/manifests/sha256:4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865\nContent-Type: " MEDIA_MANIFEST "\n\n1"
#define OWN ENTRY_OF_ONE
#define ENTRY_OF_ONE "{\"mediaType\":\"" MEDIA_MANIFEST "\",\"artifactType\":\"a/b\",\"digest\":\"sha256:4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865\",\"size\":1}"
#define PUT_LIST(body_) "PUT " V2 "/manifests/sha256-" ZEROS "\nContent-Type: " MEDIA_INDEX "\n\n" body_

static int put_one(struct scene *s)
{
	const struct descriptor one = {.media_type = MEDIA_MANIFEST, .digest = digest_of("4355", 0), .size = 1, .artifact_type = "a/b"};
	struct descriptor d = one;

	CHECK_OK(digest_parse("sha256:4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865", &d.digest, &s->err), &s->err);
	return registry_put_referrer(s->registry, &s->subject, &d, "1", &s->err);
}

static void leaves_the_list_to_the_registry(void)
{
	SCENE({.request = PUT_ONE, .status = 201, .headers = "OCI-Subject: sha256:" ZEROS});

	CHECK_OK(put_one(&s), &s.err);
}

static void keeps_the_list(void)
{
	SCENE({.request = PUT_ONE, .status = 201}, {.request = KEPT, .status = 404}, {.request = PUT_LIST(INDEX(OWN)), .status = 201}, {.request = KEPT, .status = 200, .body = INDEX(OWN)},
	      {.request = KEPT, .status = 200, .body = INDEX(OWN)});

	CHECK_OK(put_one(&s), &s.err);
}

/* Another writer's list takes the place of ours: the change is made again, upon theirs. */
static void repeats_a_lost_change(void)
{
	SCENE({.request = PUT_ONE, .status = 201}, {.request = KEPT, .status = 404}, {.request = PUT_LIST(INDEX(OWN)), .status = 201}, {.request = KEPT, .status = 200, .body = INDEX(OWN)},
	      {.request = KEPT, .status = 200, .body = INDEX(ENTRY(TWOS, "a/c"))}, {.request = PUT_LIST(INDEX(ENTRY(TWOS, "a/c") "," OWN)), .status = 201},
	      {.request = KEPT, .status = 200, .body = INDEX(ENTRY(TWOS, "a/c") "," OWN)}, {.request = KEPT, .status = 200, .body = INDEX(ENTRY(TWOS, "a/c") "," OWN)});

	CHECK_OK(put_one(&s), &s.err);
}

static void heeds_a_precondition(void)
{
	SCENE({.request = PUT_ONE, .status = 201}, {.request = KEPT, .status = 200, .headers = "ETag: \"1\"", .body = INDEX("")},
	      {.request = "PUT " V2 "/manifests/sha256-" ZEROS "\nContent-Type: " MEDIA_INDEX "\nIf-Match: \"1\"\n\n" INDEX(OWN), .status = 412},
	      {.request = KEPT, .status = 200, .body = INDEX(OWN)}, {.request = KEPT, .status = 200, .body = INDEX(OWN)});

	CHECK_OK(put_one(&s), &s.err);
}

static void is_there_already(void)
{
	SCENE({.request = PUT_ONE, .status = 201}, {.request = KEPT, .status = 200, .body = INDEX(OWN)});

	CHECK_OK(put_one(&s), &s.err);
}

#define TWO_DIGEST "sha256:d4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35"
#define PUT_TWO "PUT " V2 "/manifests/" TWO_DIGEST "\nContent-Type: " MEDIA_MANIFEST "\n\n2"
#define OTHER "{\"mediaType\":\"" MEDIA_MANIFEST "\",\"artifactType\":\"a/d\",\"digest\":\"" TWO_DIGEST "\",\"size\":1}"

/* One change for both; what another one has put there meanwhile stays. */
static void puts_several_at_once(void)
{
	SCENE({.request = PUT_ONE, .status = 201}, {.request = PUT_TWO, .status = 201}, {.request = KEPT, .status = 200, .body = INDEX(OTHER "," ENTRY(TWOS, "a/c"))},
	      {.request = PUT_LIST(INDEX(OTHER "," ENTRY(TWOS, "a/c") "," OWN)), .status = 201},
	      {.request = KEPT, .status = 200, .body = INDEX(OTHER "," ENTRY(TWOS, "a/c") "," OWN)},
	      {.request = KEPT, .status = 200, .body = INDEX(OTHER "," ENTRY(TWOS, "a/c") "," OWN)});
	struct descriptor descs[] = {{.media_type = MEDIA_MANIFEST, .size = 1, .artifact_type = "a/b"}, {.media_type = MEDIA_MANIFEST, .size = 1, .artifact_type = "a/d"}};
	const struct referrer both[] = {{&descs[0], "1"}, {&descs[1], "2"}};

	CHECK_OK(digest_parse("sha256:4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865", &descs[0].digest, &s.err), &s.err);
	CHECK_OK(digest_parse(TWO_DIGEST, &descs[1].digest, &s.err), &s.err);
	CHECK_OK(registry_put_referrers(s.registry, &s.subject, both, 2, &s.err), &s.err);
}

/* Of two registries behind one name the one keeps the list: only what the other took is put into the tag's. */
static void puts_what_is_not_listed_yet(void)
{
	SCENE({.request = PUT_ONE, .status = 201, .headers = "OCI-Subject: sha256:" ZEROS}, {.request = PUT_TWO, .status = 201}, {.request = KEPT, .status = 404},
	      {.request = PUT_LIST(INDEX(OTHER)), .status = 201}, {.request = KEPT, .status = 200, .body = INDEX(OTHER)}, {.request = KEPT, .status = 200, .body = INDEX(OTHER)});
	struct descriptor descs[] = {{.media_type = MEDIA_MANIFEST, .size = 1, .artifact_type = "a/b"}, {.media_type = MEDIA_MANIFEST, .size = 1, .artifact_type = "a/d"}};
	const struct referrer both[] = {{&descs[0], "1"}, {&descs[1], "2"}};

	CHECK_OK(digest_parse("sha256:4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865", &descs[0].digest, &s.err), &s.err);
	CHECK_OK(digest_parse(TWO_DIGEST, &descs[1].digest, &s.err), &s.err);
	CHECK_OK(registry_put_referrers(s.registry, &s.subject, both, 2, &s.err), &s.err);
}

static void says_what_a_fixed_tag_means(void)
{
	SCENE({.request = PUT_ONE, .status = 201}, {.request = KEPT, .status = 404}, {.request = PUT_LIST(INDEX(OWN)), .status = 400});

	CHECK(put_one(&s) != 0);
	says(&s.err, "tag 'sha256-" ZEROS "'");
	CHECK(strstr(s.err.hint, "movable") != NULL);
}

int main(void)
{
	TEST("referrers: the registry is asked for a type, and what it does not filter is filtered", asks_and_filters);
	TEST("referrers: pages are followed, and each entry counts once", follows_pages);
	TEST("referrers: where the registry has no list, the one that clients keep is read", takes_the_kept_list);
	TEST("referrers: without either there are none", has_none);
	TEST("referrers: an entry that does not say its type is opened, and one that is gone passed over", opens_what_says_no_type);
	TEST("referrers: what is not such a list is refused", refuses_lists_that_are_none);
	TEST("referrers: pages without end come to an end", ends_pages_without_end);
	TEST("referrers: a registry that answers with the subject keeps the list", leaves_the_list_to_the_registry);
	TEST("referrers: otherwise the list is changed, and seen twice afterwards", keeps_the_list);
	TEST("referrers: a change that another writer undid is made again", repeats_a_lost_change);
	TEST("referrers: a refused precondition is no failure", heeds_a_precondition);
	TEST("referrers: a list that has the entry is left alone", is_there_already);
	TEST("referrers: several are put into the list by one change", puts_several_at_once);
	TEST("referrers: what the registry lists itself is in no other list", puts_what_is_not_listed_yet);
	TEST("referrers: a tag that cannot be moved is explained", says_what_a_fixed_tag_means);
	return test_done();
}
