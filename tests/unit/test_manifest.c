/* Descriptors, manifests and indexes: what is read, what is refused, the exact bytes that are printed. */
#include "tests/harness.h"

#include "builder/oci/manifest.h"
#include "builder/oci/mediatype.h"

#define HEX64  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define DESC_OF(type) "{\"mediaType\":\"" type "\",\"digest\":\"sha256:" HEX64 "\",\"size\":7}"
#define CONFIG DESC_OF(MEDIA_CONFIG)
#define LAYER  DESC_OF(MEDIA_LAYER_ZSTD)
#define HEAD   "{\"schemaVersion\":2,\"mediaType\":\"" MEDIA_MANIFEST "\","
#define IXHEAD "{\"schemaVersion\":2,\"mediaType\":\"" MEDIA_INDEX "\","

static int parse(const char *text, const char *type, struct arena *a, struct manifest *m, struct err *err)
{
	return manifest_parse(text, strlen(text), type, a, m, err);
}

static void prints_what_it_parsed(void)
{
	static const char text[] = HEAD "\"config\":" CONFIG ",\"layers\":[" LAYER "," LAYER "],\"subject\":" LAYER
					",\"annotations\":{\"b\":\"2\",\"a\":\"\"}}";
	AUTO(arena) struct arena a = {0};
	AUTO(strbuf) struct strbuf out = STRBUF_INIT(1 << 20);
	struct manifest m = {0};
	struct err err = {0};

	CHECK_OK(parse(text, MEDIA_MANIFEST, &a, &m, &err), &err);
	CHECK_INT(m.n_layers, 2);
	CHECK(m.subject != NULL && m.layers != NULL && m.layers[1].size == 7);
	CHECK_STR(strmap_get(&m.annotations, "b"), "2");
	manifest_print(&m, &out);
	CHECK_STR(strbuf_str(&out), text);
}

static void index_round_trip(void)
{
	static const char text[] = IXHEAD
		"\"manifests\":[{\"mediaType\":\"" MEDIA_MANIFEST "\",\"digest\":\"sha256:" HEX64
		"\",\"size\":9,\"platform\":{\"architecture\":\"arm\",\"os\":\"linux\",\"variant\":\"v7\"}}]}";
	AUTO(arena) struct arena a = {0};
	AUTO(strbuf) struct strbuf out = STRBUF_INIT(1 << 20);
	struct index ix = {0};
	struct err err = {0};

	CHECK_OK(index_parse(text, strlen(text), NULL, &a, &ix, &err), &err);
	index_print(&ix, &out);
	CHECK_STR(strbuf_str(&out), text);
	ix.n_manifests = 0;
	strbuf_reset(&out);
	index_print(&ix, &out);
	CHECK_STR(strbuf_str(&out), IXHEAD "\"manifests\":[]}");
}

static void reads_docker_and_old_documents(void)
{
	static const char docker[] = "{\"schemaVersion\":2,\"mediaType\":\"" MEDIA_DOCKER_MANIFEST
				     "\",\"config\":" DESC_OF(MEDIA_DOCKER_CONFIG) ",\"layers\":["
				     DESC_OF(MEDIA_DOCKER_LAYER_GZIP) "]}";
	static const char bare[] = "{\"schemaVersion\":2,\"config\":" CONFIG ",\"layers\":null}";
	AUTO(arena) struct arena a = {0};
	struct manifest m = {0};
	struct err err = {0};

	CHECK_OK(parse(docker, MEDIA_DOCKER_MANIFEST, &a, &m, &err), &err);
	CHECK_STR(m.media_type, MEDIA_DOCKER_MANIFEST);
	CHECK_OK(parse(bare, NULL, &a, &m, &err), &err);
	CHECK_STR(m.media_type, MEDIA_MANIFEST);
	CHECK_INT(m.n_layers, 0);
}

static void refuses(void)
{
	static const struct {
		const char *text, *type;
		enum err_code code;
		const char *says;
	} cases[] = {
		{"", NULL, ERR_FORMAT, "empty"},
		{"[]", NULL, ERR_FORMAT, "object"},
		{"{}", NULL, ERR_FORMAT, "schemaVersion"},
		{"{\"schemaVersion\":1}", NULL, ERR_FORMAT, "schemaVersion"},
		{"{\"schemaVersion\":\"2\"}", NULL, ERR_FORMAT, "schemaVersion"},
		{HEAD "\"config\":" CONFIG ",\"layers\":[]}", MEDIA_DOCKER_MANIFEST, ERR_FORMAT, "announced"},
		{IXHEAD "\"manifests\":[]}", NULL, ERR_FORMAT, "not an image manifest"},
		{HEAD "\"layers\":[]}", NULL, ERR_FORMAT, "config"},
		{HEAD "\"config\":" CONFIG "}", NULL, ERR_FORMAT, "layers"},
		{HEAD "\"config\":" CONFIG ",\"layers\":{}}", NULL, ERR_FORMAT, "layers"},
		{HEAD "\"config\":" CONFIG ",\"layers\":[" LAYER ",{}]}", NULL, ERR_FORMAT, "layers[1]"},
		{HEAD "\"config\":" CONFIG ",\"layers\":[],\"subject\":3}", NULL, ERR_FORMAT, "subject"},
		{HEAD "\"config\":" CONFIG ",\"layers\":[],\"annotations\":{\"a\":1}}", NULL, ERR_FORMAT, "'a'"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(arena) struct arena a = {0};
		struct manifest m;
		struct err err = {0};

		CHECK(parse(cases[i].text, cases[i].type, &a, &m, &err) != 0);
		CHECK_INT(err.code, cases[i].code);
		if (strstr(err.msg, cases[i].says) == NULL)
			test_check_str(__FILE__, __LINE__, err.msg, cases[i].says);
	}
}

static void refuses_bad_descriptors(void)
{
	static const char *const cases[] = {
		"[]",
		"{\"digest\":\"sha256:" HEX64 "\",\"size\":1}",
		"{\"mediaType\":\"x\",\"digest\":\"sha256:" HEX64 "\",\"size\":1}",
		"{\"mediaType\":\"a/b c\",\"digest\":\"sha256:" HEX64 "\",\"size\":1}",
		"{\"mediaType\":\"a/b\",\"size\":1}",
		"{\"mediaType\":\"a/b\",\"digest\":\"sha256:00\",\"size\":1}",
		"{\"mediaType\":\"a/b\",\"digest\":\"sha256:" HEX64 "\"}",
		"{\"mediaType\":\"a/b\",\"digest\":\"sha256:" HEX64 "\",\"size\":-1}",
		"{\"mediaType\":\"a/b\",\"digest\":\"sha256:" HEX64 "\",\"size\":1.5}",
		"{\"mediaType\":\"a/b\",\"digest\":\"sha256:" HEX64 "\",\"size\":1e300}",
		"{\"mediaType\":\"a/b\",\"digest\":\"sha256:" HEX64 "\",\"size\":1,\"platform\":[]}",
		"{\"mediaType\":\"a/b\",\"digest\":\"sha256:" HEX64 "\",\"size\":1,\"platform\":{\"os\":\"linux\"}}",
		"{\"mediaType\":\"a/b\",\"digest\":\"sha256:" HEX64 "\",\"size\":1,\"annotations\":[]}",
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(arena) struct arena a = {0};
		AUTO(json) cJSON *doc = NULL;
		struct descriptor d;
		struct err err = {0};

		CHECK_OK(json_parse("test", cases[i], strlen(cases[i]), &doc, &err), &err);
		if (descriptor_parse(doc, &a, &d, &err) == 0)
			test_fail(__FILE__, __LINE__, cases[i]);
		CHECK_INT(err.code, ERR_FORMAT);
	}
}

static void caps(void)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(16 << 20);
	AUTO(arena) struct arena a = {0};
	struct manifest m;
	struct err err = {0};

	strbuf_adds(&text, HEAD "\"config\":" CONFIG ",\"layers\":[");
	for (int i = 0; i <= MANIFEST_LAYERS_MAX; i++)
		strbuf_addf(&text, "%s" LAYER, i > 0 ? "," : "");
	strbuf_adds(&text, "]}");
	CHECK(parse(text.ptr, NULL, &a, &m, &err) != 0);
	CHECK_INT(err.code, ERR_LIMIT);

	strbuf_reset(&text);
	strbuf_adds(&text, HEAD "\"config\":" CONFIG ",\"layers\":[]");
	while (text.len <= MANIFEST_BYTES_MAX)
		strbuf_addf(&text, "%*s", 1 << 16, "");
	strbuf_adds(&text, "}");
	err = (struct err){0};
	CHECK(parse(text.ptr, NULL, &a, &m, &err) != 0);
	CHECK_INT(err.code, ERR_LIMIT);

	strbuf_reset(&text);
	strbuf_adds(&text, HEAD "\"config\":" CONFIG ",\"layers\":[],\"annotations\":{");
	for (int i = 0; i < 1025; i++)
		strbuf_addf(&text, "%s\"k%d\":\"\"", i > 0 ? "," : "", i);
	strbuf_adds(&text, "}}");
	err = (struct err){0};
	CHECK(parse(text.ptr, NULL, &a, &m, &err) != 0);
	CHECK_INT(err.code, ERR_LIMIT);
}

static void chooses(void)
{
	static const struct platform have[] = {
		{"unknown", "unknown", ""}, {"linux", "arm", "v6"},  {"linux", "arm", "v7"},
		{"linux", "arm64", ""},     {"linux", "arm64", ""}, {"", "", ""},
	};
	struct descriptor entries[ARRAY_LEN(have)] = {0};
	struct index ix = {.manifests = entries, .n_manifests = ARRAY_LEN(have)};

	for (size_t i = 0; i < ARRAY_LEN(have); i++)
		entries[i].platform = have[i];
	CHECK(index_choose(&ix, &(struct platform){"linux", "arm", "v7"}) == &entries[2]);
	CHECK(index_choose(&ix, &(struct platform){"linux", "arm", "v6"}) == &entries[1]);
	CHECK(index_choose(&ix, &(struct platform){"linux", "arm64", ""}) == &entries[3]);
	CHECK(index_choose(&ix, &(struct platform){"linux", "amd64", ""}) == NULL);
	ix.n_manifests = 0;
	CHECK(index_choose(&ix, &(struct platform){"linux", "arm64", ""}) == NULL);
}

static void media_types(void)
{
	enum compression c = COMPRESSION_NONE;

	CHECK_STR(media_to_oci(MEDIA_DOCKER_LAYER_ZSTD), MEDIA_LAYER_ZSTD);
	CHECK_STR(media_to_oci(MEDIA_LAYER), MEDIA_LAYER);
	CHECK_STR(media_to_oci("a/b"), "a/b");
	CHECK(media_is_index(MEDIA_DOCKER_LIST) && !media_is_index(MEDIA_MANIFEST));
	CHECK(media_is_manifest(MEDIA_DOCKER_MANIFEST) && !media_is_manifest(MEDIA_INDEX));
	CHECK(media_layer_compression(MEDIA_DOCKER_LAYER_GZIP, &c) && c == COMPRESSION_GZIP);
	CHECK(!media_is_layer(MEDIA_CONFIG));
	for (int i = COMPRESSION_NONE; i <= COMPRESSION_ZSTD; i++)
		CHECK(media_layer_compression(media_layer((enum compression)i), &c) && (int)c == i);
	CHECK_STR(compression_name(COMPRESSION_ZSTD), "zstd");
}

int main(void)
{
	TEST("manifest: printing what was parsed gives the same bytes", prints_what_it_parsed);
	TEST("manifest: an index keeps its platforms, and an empty list is never null", index_round_trip);
	TEST("manifest: Docker's twins and documents without a mediaType are read", reads_docker_and_old_documents);
	TEST("manifest: malformed documents are refused by the member's name", refuses);
	TEST("manifest: malformed descriptors are refused", refuses_bad_descriptors);
	TEST("manifest: layers, bytes and annotations are capped", caps);
	TEST("manifest: the best platform is chosen, an attestation never", chooses);
	TEST("manifest: media types and their twins", media_types);
	return test_done();
}
