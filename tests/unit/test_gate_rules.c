/* Which rules of trust are for an image; images in rendered pods; the statement about an index. */
#include "base/doc/json.h"
#include "builder/provenance/index_statement.h"
#include "builder/trust/rules.h"
#include "k8s/object/pod_images.h"
#include "tests/harness.h"

static void patterns_are_names_and_folders(void)
{
	static const struct {
		const char *pattern, *image;
		bool covers;
	} rows[] = {
		{"*", "debian:12", true},
		{"debian", "debian:12", true},
		{"debian",
	         "docker.io/library/debian@sha256:0123456789abcdef0123456789abcdef0123456789abcdef"
	         "0123456789abcdef",
	         true},
		{"debian", "registry.example.com/library/debian", false},
		{"registry.example.com/team/app", "registry.example.com/team/app:v1", true},
		{"registry.example.com/team/app", "registry.example.com/team/app2:v1", false},
		{"registry.example.com/team/app", "registry.example.com/team/app/x:v1", false},
		{"registry.example.com/team/*", "registry.example.com/team/app/x:v1", true},
		{"registry.example.com/team/*", "registry.example.com/team2/app:v1", false},
		{"registry.example.com/team/*", "registry.example.com/team:v1", false},
		{"registry.example.com/*", "registry.example.com/a:v1", true},
		{"registry.example.com/*", "registry.example.com.evil.org/a:v1", false},
		{"docker.io/library/*", "busybox", true},
		{"registry.example.com:5000/*", "registry.example.com/a:v1", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(arena) struct arena a = {0};
		const char *pattern = rows[i].pattern, *hint = NULL;
		const struct trust_rule rule = {.images = {&pattern, 1}};
		struct ref ref;
		struct err err = {0};

		CHECK(trust_pattern_check(pattern, &hint) == NULL);
		CHECK_OK(ref_parse(rows[i].image, &a, &ref, &err), &err);
		CHECK(trust_rule_covers(&rule, &ref) == rows[i].covers);
	}
}

static void other_patterns_are_refused(void)
{
	static const char *const rows[] = {"",
	                                   "**",
	                                   "team/*",
	                                   "*/app",
	                                   "host.example/a*",
	                                   "host.example/*/a",
	                                   "debian:12",
	                                   "oci:image",
	                                   "/*",
	                                   "Host.example/A",
	                                   "a/*/*"};
	const char *hint = NULL;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		CHECK(trust_pattern_check(rows[i], &hint) != NULL);
}

static void builders_match_whole_or_by_their_beginning(void)
{
	CHECK(trust_builder_matches("https://ci/1", "https://ci/1"));
	CHECK(!trust_builder_matches("https://ci/1", "https://ci/12"));
	CHECK(trust_builder_matches("https://ci/*", "https://ci/12"));
	CHECK(!trust_builder_matches("https://ci/*", "https://ci.evil/12"));
	CHECK(!trust_builder_matches("https://ci/1", ""));
}

static void note(cJSON *image, void *listener)
{
	strbuf_addf(listener, "%s ", image->valuestring);
	if (image->valuestring[0] == 'a')
		cJSON_SetValuestring(image, "a-name-that-is-longer-than-it-was");
}

static void finds_every_image_of_a_pod(void)
{
	static const char text[] =
		"{\"kind\":\"MPIJob\",\"image\":\"no\",\"spec\":{\"replicas\":[{\"template\":{"
		"\"spec\":{"
		"\"initContainers\":[{\"image\":\"a\"}],\"containers\":[{\"image\":\"b\"},{"
		"\"name\":\"x\"}],"
		"\"ephemeralContainers\":[{\"image\":\"c\"}],"
		"\"volumes\":[{\"image\":{\"reference\":\"d\"}},{\"emptyDir\":{}}]}}},"
		"{\"template\":{\"spec\":{\"containers\":[{\"image\":\"e\"}]}}}]}}";
	AUTO(strbuf) struct strbuf found = STRBUF_INIT(256);
	AUTO(json) cJSON *doc = NULL;
	struct err err = {0};

	CHECK_OK(json_parse("test", text, sizeof(text) - 1, &doc, &err), &err);
	each_pod_image(doc, note, &found);
	CHECK_STR(strbuf_str(&found), "a b c d e ");
	strbuf_reset(&found);
	each_pod_image(doc, note, &found);
	CHECK_STR(strbuf_str(&found), "a-name-that-is-longer-than-it-was b c d e ");
}

#define STATEMENT(platform, builder)                                                               \
	"{\"_type\":\"https://in-toto.io/Statement/v1\",\"subject\":[{\"name\":\"r/"               \
	"app\",\"digest\":{"                                                                       \
	"\"sha256\":\"x\"}}],\"predicateType\":\"https://slsa.dev/provenance/v1\",\"predicate\":{" \
	"\"buildDefinition\":{\"buildType\":\"t\",\"externalParameters\":{\"locked\":false,"       \
	"\"platform\":"                                                                            \
	"\"" platform                                                                              \
	"\"},\"internalParameters\":{\"epoch\":0},\"resolvedDependencies\":[{\"name\":"            \
	"\"source\"}]},\"runDetails\":{\"builder\":{\"id\":\"" builder "\"}}}}"

static cJSON *parse(const char *text)
{
	struct err err = {0};
	cJSON *doc = NULL;

	CHECK_OK(json_parse("test", text, strlen(text), &doc, &err), &err);
	return doc;
}

static void an_index_is_built_by_who_built_its_parts(void)
{
	AUTO(json) cJSON *one = parse(STATEMENT("linux/amd64", "ci"));
	AUTO(json) cJSON *two = parse(STATEMENT("linux/arm64", "ci"));
	AUTO(json) cJSON *other = parse(STATEMENT("linux/arm64", "laptop"));
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(8192);
	const struct digest index = digest_of("i", 1);
	struct provenance_part parts[] = {{"linux/amd64", "m", digest_of("a", 1), one},
	                                  {"linux/arm64", "m", digest_of("b", 1), two}};

	CHECK(provenance_print_index(parts, 2, &index, &text));
	AUTO(json) cJSON *doc = parse(strbuf_str(&text));
	const cJSON *definition = json_get(json_get(doc, "predicate"), "buildDefinition");
	char hex[DIGEST_HEX_MAX];

	CHECK_STR(json_string(json_get(json_get(doc, "subject")->child, "digest"), "sha256"),
	          digest_hex(&index, hex));
	CHECK_STR(json_string(json_get(doc, "subject")->child, "name"), "r/app");
	CHECK(json_get(json_get(definition, "externalParameters"), "platform") == NULL);
	CHECK_INT(cJSON_GetArraySize(json_get(definition, "resolvedDependencies")), 2);
	CHECK_STR(json_string(json_get(definition, "resolvedDependencies")->child, "name"),
	          "linux/amd64");
	strbuf_reset(&text);
	parts[1].statement = other;
	CHECK(!provenance_print_index(parts, 2, &index, &text));
	CHECK_INT(text.len, 0);
}

int main(void)
{
	TEST("trust: a pattern is a repository, or all below a folder",
	     patterns_are_names_and_folders);
	TEST("trust: what is no such pattern is refused", other_patterns_are_refused);
	TEST("trust: a builder is named whole, or by how it begins",
	     builders_match_whole_or_by_their_beginning);
	TEST("pods: every image is found, and may be named otherwise", finds_every_image_of_a_pod);
	TEST("provenance: an index is built by who built its parts, if that is one builder",
	     an_index_is_built_by_who_built_its_parts);
	return test_done();
}
