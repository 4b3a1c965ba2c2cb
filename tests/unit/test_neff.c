/*
 * Modules compiled for Trainium as artifacts: what is written is read back, and what a hostile registry says is refused.
 */
#include "builder/neff/neff.h"

#include "builder/oci/artifact.h"
#include "builder/oci/mediatype.h"
#include "tests/harness.h"

#define HEX(c) c c c c c c c c
#define SHA(c) "sha256:" HEX(c) HEX(c) HEX(c) HEX(c) HEX(c) HEX(c) HEX(c) HEX(c)

#define HLO    "application/vnd.slipway.neff.hlo.v1"
#define RESULT "application/vnd.slipway.neff.model.v1"

#define LAYER(type, size)                                                                          \
	"{\"mediaType\":\"" type "\",\"digest\":\"" SHA("b") "\",\"size\":" size "}"
#define NAMES(compiler, module)                                                                    \
	"{\"" NEFF_COMPILER "\":\"" compiler "\",\"" NEFF_MODULE "\":\"" module "\"}"
#define GOOD_NAMES NAMES("neuronxcc-2.16.372.0", "MODULE_0123ab+9f")
#define DOC(type, subject, layers, names)                                                          \
	"{\"schemaVersion\":2,\"mediaType\":\"" MEDIA_MANIFEST "\",\"artifactType\":\"" type       \
	"\",\"config\":{\"mediaType\":\"" MEDIA_EMPTY                                              \
	"\",\"digest\":\"" SHA("a") "\",\"size\":2},\"layers\":[" layers                           \
				    "],\"subject\":{\"mediaType\":\"" MEDIA_INDEX                  \
				    "\",\"digest\":\"" subject                                     \
				    "\",\"size\":9},\"annotations\":" names "}"
#define ABOUT(layers, names) DOC(NEFF_ARTIFACT_TYPE, SHA("0"), layers, names)

static int parse(const char *text, struct arena *a, struct neff_module *ret, struct err *err)
{
	struct manifest m;
	struct digest subject;

	CHECK_OK(digest_parse(SHA("0"), &subject, err), err);
	CHECK_OK(manifest_parse(text, strlen(text), MEDIA_MANIFEST, a, &m, err), err);
	return neff_parse(&m, &subject, ret, err);
}

static void reads_what_it_wrote(void)
{
	AUTO(arena) struct arena a = {0};
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 16), again = STRBUF_INIT(1 << 16);
	struct descriptor subject = {.media_type = MEDIA_INDEX, .size = 9};
	struct neff_module back,
		m = {.compiler = "neuronxcc-2.16.372.0", .key = "MODULE_0123ab+9f"};
	struct err err = {0};

	CHECK_OK(digest_parse(SHA("0"), &subject.digest, &err), &err);
	m.files[NEFF_FILE_RESULT] =
		(struct descriptor){.media_type = "x", .digest = digest_of("n", 1), .size = 1};
	m.files[NEFF_FILE_SOURCE] =
		(struct descriptor){.media_type = "x", .digest = digest_of("hl", 2), .size = 2};
	neff_print(&m, &subject, &a, &text);
	CHECK_OK(parse(strbuf_str(&text), &a, &back, &err), &err);
	CHECK_STR(back.compiler, m.compiler);
	CHECK_STR(back.key, m.key);
	CHECK_INT(neff_size(&back), 3);
	CHECK(back.files[NEFF_FILE_FLAGS].media_type == NULL);
	CHECK(digest_equal(&back.files[NEFF_FILE_SOURCE].digest,
	                   &m.files[NEFF_FILE_SOURCE].digest));
	neff_print(&m, &subject, &a, &again);
	CHECK_STR(strbuf_str(&again), strbuf_str(&text));
}

static void refuses(void)
{
	static const struct {
		const char *text;
		enum err_code code;
		const char *says;
	} cases[] = {
		{DOC(NEFF_ARTIFACT_TYPE, SHA("1"), LAYER(RESULT, "1"), GOOD_NAMES), ERR_FORMAT,
	         "another image"},
		{DOC("a/b", SHA("0"), LAYER(RESULT, "1"), GOOD_NAMES), ERR_FORMAT,
	         "of the type 'a/b'"},
		{ABOUT(LAYER(RESULT, "1"), "{}"), ERR_FORMAT, "not a compiler's"},
		{ABOUT(LAYER(RESULT, "1"), NAMES("../../etc", "MODULE_1+2")), ERR_FORMAT,
	         "not a compiler's"},
		{ABOUT(LAYER(RESULT, "1"), NAMES("neuronxcc-1/../..", "MODULE_1+2")), ERR_FORMAT,
	         "not a compiler's"},
		{ABOUT(LAYER(RESULT, "1"), NAMES("neuronxcc-1", "MODULE_1+2/../x")), ERR_FORMAT,
	         "not a module's"},
		{ABOUT(LAYER(RESULT, "1"), NAMES("neuronxcc-1", "MODULE_1+2.work")), ERR_FORMAT,
	         "not a module's"},
		{ABOUT("", GOOD_NAMES), ERR_FORMAT, "no layer for model.neff"},
		{ABOUT(LAYER(HLO, "1"), GOOD_NAMES), ERR_FORMAT, "no layer for model.neff"},
		{ABOUT(LAYER(RESULT, "1") "," LAYER(RESULT, "1"), GOOD_NAMES), ERR_FORMAT,
	         "two layers for model.neff"},
		{ABOUT(LAYER(MEDIA_LAYER_GZIP, "1"), GOOD_NAMES), ERR_FORMAT,
	         "which no module has"},
		{ABOUT(LAYER(RESULT, "99999999999"), GOOD_NAMES), ERR_LIMIT, "99999999999 bytes"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(arena) struct arena a = {0};
		struct neff_module m;
		struct err err = {0};

		CHECK(parse(cases[i].text, &a, &m, &err) != 0);
		CHECK_INT(err.code, cases[i].code);
		if (strstr(err.msg, cases[i].says) == NULL)
			CHECK_STR(err.msg, cases[i].says);
	}
}

static void knows_names(void)
{
	static const char *const compilers[] = {"neuronxcc-2.16.372.0+4a9b2326"},
				 *const keys[] = {"MODULE_17+d41d8cd9"};
	static const char *const not_compilers[] = {"", "neuronxcc-", "neuronxcc-a/b", "neuron",
	                                            "neuronxcc-a b"};
	static const char *const not_keys[] = {
		"",          "MODULE_",      "MODULE_1",       "MODULE_+1",
		"MODULE_1+", "MODULE_1+2+3", "MODULE_1+2.lock"};
	char many[NEFF_NAME_MAX + 2];

	CHECK(neff_is_compiler(compilers[0]) && neff_is_key(keys[0]));
	for (size_t i = 0; i < ARRAY_LEN(not_compilers); i++)
		CHECK(!neff_is_compiler(not_compilers[i]));
	for (size_t i = 0; i < ARRAY_LEN(not_keys); i++)
		CHECK(!neff_is_key(not_keys[i]));
	memset(many, '1', sizeof(many));
	memcpy(many, "MODULE_1+", 9);
	many[sizeof(many) - 1] = '\0';
	CHECK(!neff_is_key(many));
	many[NEFF_NAME_MAX] = '\0';
	CHECK(neff_is_key(many));
}

int main(void)
{
	TEST("neff: a module as an artifact is read back, and the same module gives the same bytes",
	     reads_what_it_wrote);
	TEST("neff: an artifact that is not a module's is refused, whatever its names and sizes "
	     "say",
	     refuses);
	TEST("neff: names that would leave their folder, or are not an entry's, are not names",
	     knows_names);
	return test_done();
}
