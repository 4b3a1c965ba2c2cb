/* Image references: what is accepted, what each part becomes, what is refused and why. */
#include "tests/harness.h"

#include "base/text.h"
#include "builder/oci/ref.h"

#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define DIGEST "@sha256:" HEX64

static void parses(void)
{
	static const struct {
		const char *text, *canonical;
	} cases[] = {
		{"debian", "docker.io/library/debian"},
		{"debian:12", "docker.io/library/debian:12"},
		{"org/app", "docker.io/org/app"},
		{"docker.io/debian", "docker.io/library/debian"},
		{"index.docker.io/debian", "docker.io/library/debian"},
		{"registry-1.docker.io/org/app:x", "docker.io/org/app:x"},
		{"localhost/app", "localhost/app"},
		{"localhost:5000/app:v1", "localhost:5000/app:v1"},
		{"127.0.0.1:5000/a/b/c", "127.0.0.1:5000/a/b/c"},
		{"[::1]:5000/app", "[::1]:5000/app"},
		{"[fe80::1]/app:v1", "[fe80::1]/app:v1"},
		{"ghcr.io/o/a" DIGEST, "ghcr.io/o/a" DIGEST},
		{"ghcr.io/o/a:t" DIGEST, "ghcr.io/o/a:t" DIGEST},
		{"host:80/a:T_1.x-y", "host:80/a:T_1.x-y"},
		{"a.b/x__y/z--w/q.r", "a.b/x__y/z--w/q.r"},
		{"oci:build/image", "oci:build/image"},
		{"oci:build/image:v1", "oci:build/image:v1"},
		{"oci:/a:b/image", "oci:/a:b/image"},
		{"oci:/a:b/image:v1", "oci:/a:b/image:v1"},
		{"oci:dir" DIGEST, "oci:dir" DIGEST},
		{"oci:mail@host/dir:v1", "oci:mail@host/dir:v1"},
		{"oci-archive:x.tar:v1", "oci-archive:x.tar:v1"},
		{"docker-archive:x.tar", "docker-archive:x.tar"},
		{"docker-archive:x.tar:h:5000/n:t", "docker-archive:x.tar:h:5000/n:t"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(arena) struct arena a = {0};
		struct ref ref, again;
		struct err err = {0};

		CHECK_OK(ref_parse(cases[i].text, &a, &ref, &err), &err);
		if (err.code != ERR_NONE)
			continue;
		CHECK_STR(ref_text(&ref, &a), cases[i].canonical);
		CHECK_OK(ref_parse(cases[i].canonical, &a, &again, &err), &err);
		CHECK_STR(ref_text(&again, &a), cases[i].canonical);
	}
}

static void splits(void)
{
	AUTO(arena) struct arena a = {0};
	struct ref ref = {0};
	struct err err = {0};

	CHECK_OK(ref_parse("[::1]:5000/a/b:v1" DIGEST, &a, &ref, &err), &err);
	CHECK_INT(ref.kind, REF_REGISTRY);
	CHECK_STR(ref.host, "[::1]:5000");
	CHECK_STR(ref.repository, "a/b");
	CHECK_STR(ref.tag, "v1");
	CHECK(ref.has_digest && ref.digest.bytes[0] == 0x01 && ref.path == NULL);
	CHECK_OK(ref_parse("oci:/x/y:v2", &a, &ref, &err), &err);
	CHECK_INT(ref.kind, REF_LAYOUT);
	CHECK_STR(ref.path, "/x/y");
	CHECK_STR(ref.tag, "v2");
	CHECK(!ref.has_digest && ref.host == NULL);
	CHECK_OK(ref_parse("docker-archive:/x.tar:app:v3", &a, &ref, &err), &err);
	CHECK_STR(ref.path, "/x.tar");
	CHECK_STR(ref.tag, "app:v3");
	CHECK_STR(ref_api_host("docker.io"), "registry-1.docker.io");
	CHECK_STR(ref_api_host("ghcr.io"), "ghcr.io");
}

static void refuses(void)
{
	static const struct {
		const char *text, *says; /* part of the message or the hint */
	} cases[] = {
		{"", "1 to"},
		{"Debian", "lower case"},
		{"ghcr.io/Org/app", "lower case"},
		{"ghcr.io/org/app:", "tag is empty"},
		{"ghcr.io/org/app:.x", "not a tag"},
		{"ghcr.io/org/app:a b", "not a tag"},
		{"ghcr.io/", "empty"},
		{"ghcr.io//a", "not a repository"},
		{"a/b/", "not a repository"},
		{"a___b", "not a repository"},
		{"a..b/c", "host"},
		{"-a", "not a repository"},
		{"a@sha256:abc", "64"},
		{"a@sha512:" HEX64, "sha256"},
		{"a" DIGEST "0", "64"},
		{"host:0/a", "host"},
		{"host:65536/a", "host"},
		{"host:/a", "host"},
		{"host:80x/a", "host"},
		{"[::1/a", "host"},
		{"[]:80/a", "host"},
		{"[zz]/a", "host"},
		{"-x.io/a", "host"},
		{"a\nb", "control"},
		{"https://ghcr.io/a", ""},
		{"oci:", "path"},
		{"oci:dir:", "tag is empty"},
		{"oci:dir@sha256:abc", "64"},
		{"docker-archive:", "path"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(arena) struct arena a = {0};
		struct ref ref;
		struct err err = {0};

		if (ref_parse(cases[i].text, &a, &ref, &err) == 0) {
			test_fail(__FILE__, __LINE__, cases[i].text);
			continue;
		}
		CHECK_INT(err.code, ERR_FORMAT);
		if (strstr(err.msg, cases[i].says) == NULL && strstr(err.hint, cases[i].says) == NULL)
			test_check_str(__FILE__, __LINE__, err.msg, cases[i].says);
	}
}

static void caps(void)
{
	char text[6000];

	memset(text, 'a', sizeof(text));
	for (size_t len = 250; len < 260; len++) {
		text[len] = '\0';
		CHECK_INT(ref_repository_valid(text), len <= 255);
		text[len] = 'a';
	}
	text[128] = '\0';
	CHECK(ref_tag_valid(text));
	text[128] = 'a';
	text[129] = '\0';
	CHECK(!ref_tag_valid(text));
	text[129] = 'a';
	text[5000] = '\0';

	AUTO(arena) struct arena a = {0};
	struct ref ref;
	struct err err = {0};

	CHECK(ref_parse(text, &a, &ref, &err) != 0);
}

int main(void)
{
	TEST("ref: every form has one canonical text", parses);
	TEST("ref: host, repository, tag, digest and path are told apart", splits);
	TEST("ref: malformed references are refused with the cause", refuses);
	TEST("ref: lengths are capped as the specification says", caps);
	return test_done();
}
