/*
 * Where services live: botocore's answers (AWS's own vectors, too, where they are here), and the
 * hosts of ECR registries.
 */
#include "builder/aws/endpoint.h"

#include "builder/aws/settings.h"
#include "tests/unit/aws_fake.h"

static void run_case(enum aws_service service, const cJSON *one)
{
	AUTO(arena) struct arena a = {0};
	const cJSON *params = json_get(one, "params"), *expect = json_get(one, "expect");
	const struct aws_endpoint_params p = {
		.region = json_string(params, "Region"),
		.fips = cJSON_IsTrue(json_get(params, "UseFIPS")),
		.dual_stack = cJSON_IsTrue(json_get(params, "UseDualStack")),
		.sts_global = cJSON_IsTrue(json_get(params, "UseGlobalEndpoint")),
		.custom = json_string(params, "Endpoint")};
	const char *url = json_string(json_get(expect, "endpoint"), "url");
	struct aws_endpoint e = {0};
	struct err err = {0};
	int status = aws_endpoint_find(service, &p, &a, &e, &err);

	CHECK((status == 0) == (url != NULL));
	if (status == 0 && url != NULL)
		CHECK_STR(e.url, url);
	const cJSON *scheme = cJSON_GetArrayItem(
		json_get(json_get(json_get(expect, "endpoint"), "properties"), "authSchemes"), 0);

	if (status == 0 && scheme != NULL)
		CHECK_STR(e.signing_region, json_string(scheme, "signingRegion"));
	if (!test_state.ok)
		printf("# %s\n", json_string(one, "documentation"));
}

static void vectors(void)
{
	static const struct {
		enum aws_service service;
		const char *file;
		int n; /* at least, in AWS's set */
	} files[] = {{AWS_ECR, "ecr-endpoint-tests-1.json", 26},
	             {AWS_ECR_PUBLIC, "ecr-public-endpoint-tests-1.json", 22},
	             {AWS_STS, "sts-endpoint-tests-1.json", 69},
	             {AWS_SSO, "sso-endpoint-tests-1.json", 30},
	             {AWS_SSO_OIDC, "sso-oidc-endpoint-tests-1.json", 30}};
	char path[PATH_MAX];

	for (size_t i = 0; i < VECTOR_SETS * ARRAY_LEN(files) && test_state.ok; i++) {
		enum vectors set = i / ARRAY_LEN(files);
		size_t f = i % ARRAY_LEN(files);
		const char *dir = vectors_dir(set, "endpoints", path);

		if (dir == NULL)
			continue;
		AUTO(json) cJSON *doc = read_json(dir, files[f].file);
		const cJSON *cases = json_get(doc, "testCases"), *one = NULL;

		CHECK(cJSON_GetArraySize(cases) >= (set == AWS_VECTORS ? files[f].n : 50));
		cJSON_ArrayForEach (one, cases)
			if (test_state.ok)
				run_case(files[f].service, one);
	}
}

/* AWS's suite is about S3; the rules are the same for every service. */
static void run_configured(const cJSON *suite, const cJSON *one)
{
	AUTO(arena) struct arena a = {0};
	AUTO(aws_settings) struct aws_settings settings = {0};
	AUTO(json) cJSON *files = cJSON_CreateObject();
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	struct aws_fake f = {.files = files};
	const cJSON *item = NULL, *value = NULL, *key = NULL;
	struct err err = {0};

	cJSON_ArrayForEach (item, json_get(suite, "profiles")) {
		strbuf_addf(&text, "[profile %s]\n", item->string);
		cJSON_ArrayForEach (value, item) {
			strbuf_addf(&text, "%s = %s\n", value->string, value->valuestring);
		}
	}
	cJSON_ArrayForEach (item, json_get(suite, "services")) {
		strbuf_addf(&text, "[services %s]\n", item->string);
		cJSON_ArrayForEach (value, item) {
			strbuf_addf(&text, "%s =\n", value->string);
			cJSON_ArrayForEach (key, value) {
				strbuf_addf(&text, "  %s = %s\n", key->string, key->valuestring);
			}
		}
	}
	json_add_string(files, "~/.aws/config", strbuf_str(&text));
	f.env = json_get(json_get(suite, "environments"), json_string(one, "environment"));
	aws_fake_init(&f);
	const struct aws_settings_opts opts = {.profile = json_string(one, "profile")};

	CHECK_OK(aws_settings_load(&f.outside, &opts, &settings, &err), &err);
	const char *url =
		aws_settings_endpoint_url(&f.outside, &settings, json_string(one, "service"), &a);
	const char *want = json_string(json_get(one, "output"), "endpointUrl");

	/* Where nothing is configured the suite names S3's own endpoint. */
	bool own = want == NULL || strcmp(want, "https://s3.fake-region-10.amazonaws.com") == 0;

	CHECK_STR(url != NULL ? url : "none", own ? "none" : want);
	if (!test_state.ok)
		printf("# %s\n", json_string(one, "name"));
}

static void configured_urls(void)
{
	static const int want[VECTOR_SETS] = {[OWN_VECTORS] = 108, [AWS_VECTORS] = 19};
	char path[PATH_MAX];

	for (enum vectors set = 0; set < VECTOR_SETS; set++) {
		const char *dir = vectors_dir(set, "endpoints", path);
		int n = 0;

		if (dir == NULL)
			continue;
		AUTO(json)
		cJSON *doc = read_json(dir, "configured-endpoint-url-profile-tests.json");
		const cJSON *suite = cJSON_GetArrayItem(json_get(doc, "testSuites"), 0),
			    *one = NULL;

		cJSON_ArrayForEach (one, json_get(suite, "endpointUrlTests")) {
			/* An endpoint or a wish in the client's own code has no counterpart in a
			 * command line tool. */
			if (strcmp(json_string(one, "client_config"), "default") != 0 ||
			    !test_state.ok)
				continue;
			run_configured(suite, one);
			n++;
		}
		CHECK_INT(n, want[set]);
	}
}

static void hosts(void)
{
	static const struct {
		const char *host, *account, *region;
		bool fips, public, ok;
	} table[] = {
		{"123456789012.dkr.ecr.us-west-2.amazonaws.com", "123456789012", "us-west-2", false,
	         false, true},
		{"123456789012.dkr.ecr.us-west-2.amazonaws.com:443", "123456789012", "us-west-2",
	         false, false, true},
		{"123456789012.dkr.ecr-fips.us-gov-west-1.amazonaws.com", "123456789012",
	         "us-gov-west-1", true, false, true},
		{"123456789012.dkr-ecr.us-east-1.on.aws", "123456789012", "us-east-1", false, false,
	         true},
		{"123456789012.dkr-ecr-fips.us-east-1.on.aws", "123456789012", "us-east-1", true,
	         false, true},
		{"123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn", "123456789012", "cn-north-1",
	         false, false, true},
		{"123456789012.dkr-ecr.cn-north-1.on.amazonwebservices.com.cn", "123456789012",
	         "cn-north-1", false, false, true},
		{"123456789012.dkr.ecr.eusc-de-east-1.amazonaws.eu", "123456789012",
	         "eusc-de-east-1", false, false, true},
		{"123456789012.dkr.ecr.us-iso-east-1.c2s.ic.gov", "123456789012", "us-iso-east-1",
	         false, false, true},
		{"123456789012.dkr.ecr.us-isob-east-1.sc2s.sgov.gov", "123456789012",
	         "us-isob-east-1", false, false, true},
		{"123456789012.dkr.ecr.eu-isoe-west-1.cloud.adc-e.uk", "123456789012",
	         "eu-isoe-west-1", false, false, true},
		{"123456789012.dkr.ecr.us-isof-south-1.csp.hci.ic.gov", "123456789012",
	         "us-isof-south-1", false, false, true},
		{"public.ecr.aws", NULL, "us-east-1", false, true, true},
		{"ecr-public.aws.com", NULL, "us-east-1", false, true, true},
		{"12345678901.dkr.ecr.us-west-2.amazonaws.com", NULL, NULL, false, false, false},
		{"1234567890123.dkr.ecr.us-west-2.amazonaws.com", NULL, NULL, false, false, false},
		{"123456789012.dkr.ecr.us-west-2.amazonaws.com.evil.com", NULL, NULL, false, false,
	         false},
		{"evil.com.123456789012.dkr.ecr.us-west-2.amazonaws.com", NULL, NULL, false, false,
	         false},
		{"123456789012.dkr.ecr..amazonaws.com", NULL, NULL, false, false, false},
		{"123456789012.dkr.s3.us-west-2.amazonaws.com", NULL, NULL, false, false, false},
		{"public.ecr.aws.evil.com", NULL, NULL, false, false, false},
		{"docker.io", NULL, NULL, false, false, false},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		AUTO(arena) struct arena a = {0};
		struct ecr_host h = {0};

		CHECK(ecr_host_parse(table[i].host, &a, &h) == table[i].ok);
		if (!table[i].ok)
			continue;
		CHECK(h.is_public == table[i].public && h.fips == table[i].fips);
		CHECK_STR(h.region, table[i].region);
		if (table[i].account != NULL)
			CHECK_STR(h.account, table[i].account);
	}
}

static void hostile_regions(void)
{
	static const char *const regions[] = {"evil.com/", "a.b", "us-east-1#", "",
	                                      "-x",        "x-",  "us east"};

	for (size_t i = 0; i < ARRAY_LEN(regions); i++) {
		AUTO(arena) struct arena a = {0};
		const struct aws_endpoint_params p = {.region = regions[i]};
		struct aws_endpoint e;
		struct err err = {0};

		CHECK(aws_endpoint_find(AWS_ECR, &p, &a, &e, &err) != 0);
	}
}

static void both_fips_names(void)
{
	AUTO(arena) struct arena a = {0};
	const struct aws_endpoint_params p = {.region = "us-east-1", .fips = true};
	struct aws_endpoint e;
	struct err err = {0};

	CHECK_OK(aws_endpoint_find(AWS_ECR, &p, &a, &e, &err), &err);
	CHECK_STR(e.other_url, "https://ecr-fips.us-east-1.amazonaws.com");
}

int main(void)
{
	TEST("endpoint: ecr, ecr-public, sts, sso and sso-oidc are where botocore finds them",
	     vectors);
	TEST("endpoint: configured URLs have botocore's precedence", configured_urls);
	TEST("endpoint: ECR's hosts are known in every partition, and no others", hosts);
	TEST("endpoint: what is no region gets into no URL", hostile_regions);
	TEST("endpoint: of the two names that AWS's lists have for ECR's FIPS host both are known",
	     both_fips_names);
	return test_done();
}
