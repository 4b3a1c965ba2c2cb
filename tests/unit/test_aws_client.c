/* One AWS call: retries with AWS's figures, the clock, and the service's failures in words. */
#include "builder/aws/client.h"

#include "base/timestamp.h"
#include "builder/aws/backoff.h"
#include "builder/aws/ecr.h"
#include "builder/aws/iam.h"
#include "builder/aws/xml.h"
#include "tests/unit/aws_fake.h"

/* Sun, 06 Nov 1994 08:49:37 GMT */
static const int64_t NOW = 784111777000;
static const char NOW_TEXT[] = "Sun, 06 Nov 1994 08:49:37 GMT";
static const char LATER_TEXT[] = "Sun, 06 Nov 1994 09:09:37 GMT"; /* 20 minutes */

struct scene {
	struct aws_fake fake;
	struct aws_settings settings;
	struct aws_client client;
	struct arena arena;
	struct http_response resp;
	struct aws_failure failure;
	struct aws_credentials credentials;
	cJSON *env;
	struct err err;
};

static void begin(struct scene *s, const struct aws_reply *replies, size_t n, const char *env)
{
	*s = (struct scene){.env = cJSON_Parse(env)};
	s->fake = (struct aws_fake){.env = s->env, .replies = replies, .n = n, .now_ms = NOW};
	aws_fake_init(&s->fake);
	CHECK_OK(aws_settings_load(&s->fake.outside, &(struct aws_settings_opts){0}, &s->settings, &s->err), &s->err);
	aws_client_init(&s->client, &s->fake.outside, &s->settings);
	s->credentials = (struct aws_credentials){.access_key_id = mem_strdup("AKID"),
	                                          .secret_access_key = mem_strdup("planted-secret"),
	                                          .session_token = mem_strdup("planted-token")};
}

static int send(struct scene *s)
{
	const struct aws_call call = {.service = AWS_ECR,
	                              .operation = "GetAuthorizationToken",
	                              .region = "us-east-1",
	                              .body = "{}",
	                              .credentials = &s->credentials};

	return aws_client_send(&s->client, &call, &s->arena, &s->resp, &s->failure, &s->err);
}

static void end(struct scene *s)
{
	CHECK(strstr(s->err.msg, "planted") == NULL);
	CHECK(strstr(s->err.hint, "planted") == NULL);
	http_response_done(&s->resp);
	aws_credentials_done(&s->credentials);
	aws_client_done(&s->client);
	aws_settings_done(&s->settings);
	arena_done(&s->arena);
	cJSON_Delete(s->env);
}

#define SCENE(env, ...)                                                                                      \
	static const struct aws_reply replies[] = {__VA_ARGS__};                                             \
	struct scene s;                                                                                      \
	begin(&s, replies, ARRAY_LEN(replies), env)

#define THROTTLED "{\"__type\":\"ThrottlingException\",\"message\":\"Rate exceeded\"}"
#define SKEWED    "{\"__type\":\"InvalidSignatureException\",\"message\":\"Signature expired\"}"
#define DENIED                                                                                               \
	"{\"__type\":\"com.amazonaws.ecr#AccessDeniedException:http://x\",\"Message\":\"User: arn:aws:iam::1:user/a is " \
	"not authorized to perform: ecr:PutImage on resource: arn:x because no policy\"}"

static void tried_again(void)
{
	SCENE("{}", {.status = 503}, {.status = 400, .body = THROTTLED}, {.status = 200, .body = "{}"});

	CHECK_OK(send(&s), &s.err);
	CHECK_INT(s.fake.next, 3);
	CHECK(s.fake.slept_ms > 0);
	end(&s);
}

static void three_tries(void)
{
	SCENE("{}", {.status = 0}, {.status = 500}, {.status = 400, .body = THROTTLED}, {.status = 200});

	CHECK(send(&s) != 0);
	CHECK_INT(s.fake.next, 3);
	CHECK_INT(s.err.code, ERR_NETWORK);
	CHECK(strstr(s.err.msg, "gave up after 3 tries") != NULL);
	end(&s);
}

static void as_often_as_asked(void)
{
	SCENE("{\"AWS_MAX_ATTEMPTS\":\"1\"}", {.status = 500}, {.status = 200});

	CHECK(send(&s) != 0);
	CHECK_INT(s.fake.next, 1);
	end(&s);
}

static void quota_is_no_throttling(void)
{
	SCENE("{}", {.status = 400, .body = "{\"__type\":\"LimitExceededException\",\"message\":\"too many\"}"}, {.status = 200});

	CHECK(send(&s) != 0);
	CHECK_INT(s.fake.next, 1);
	CHECK(strstr(s.err.hint, "quota") != NULL);
	end(&s);
}

static void clock_corrected(void)
{
	SCENE("{}", {.status = 400, .body = SKEWED, .date = LATER_TEXT}, {.status = 200, .date = LATER_TEXT});

	CHECK_OK(send(&s), &s.err);
	CHECK_INT(s.fake.slept_ms, 0);
	CHECK_INT(aws_client_offset_s(&s.client), 1200);
	CHECK_INT(aws_client_now_ms(&s.client), NOW + 1200000);
	CHECK(strstr(s.fake.last_auth, "19941106/us-east-1/ecr") != NULL);
	end(&s);
}

static void clock_not_corrected(void)
{
	SCENE("{\"AWS_DISABLE_CLOCK_SKEW_CORRECTION\":\"true\"}", {.status = 400, .body = SKEWED, .date = LATER_TEXT},
	      {.status = 200});

	CHECK(send(&s) != 0);
	CHECK_INT(s.fake.next, 1);
	CHECK(strstr(s.err.hint, "20 minutes behind") != NULL);
	end(&s);
}

static void bad_signature_with_a_good_clock(void)
{
	SCENE("{}", {.status = 400, .body = SKEWED, .date = NOW_TEXT}, {.status = 200});

	CHECK(send(&s) != 0);
	CHECK_INT(s.fake.next, 1);
	CHECK(strstr(s.err.hint, "secret access key") != NULL);
	end(&s);
}

static void denied_names_all(void)
{
	SCENE("{}", {.status = 400, .body = DENIED});

	CHECK(send(&s) != 0);
	CHECK_INT(s.err.code, ERR_DENIED);
	CHECK(strstr(s.err.hint, "ecr:PutImage") != NULL);
	CHECK(strstr(s.err.hint, "arn:aws:iam::1:user/a") != NULL);
	end(&s);
}

static void echo_is_masked(void)
{
	SCENE("{}", {.status = 403, .body = "<html><body>you sent planted-token and planted-secret</body></html>"});

	CHECK(send(&s) != 0);
	CHECK(strstr(s.err.msg, "you sent *****") != NULL);
	end(&s);
}

static void failures_in_every_form(void)
{
	static const struct {
		int status;
		const char *body, *code, *message;
	} table[] = {
		{400, "{\"__type\":\"a.b#X:http://y\",\"message\":\"m\"}", "X", "m"},
		{400, "{\"__type\":\"X\",\"Message\":\"m\"}", "X", "m"},
		{403, "<ErrorResponse><Error><Code>X</Code><Message>m</Message></Error></ErrorResponse>", "X", "m"},
		{403, "<Response><Errors><Error><Code>X</Code><Message>m</Message></Error></Errors></Response>", "X", "m"},
		{400, "{\"error\":\"invalid_grant\",\"error_description\":\"m\"}", "invalid_grant", "m"},
		{502, "<html><head><title>502 Bad\n Gateway</title></head></html>", "", "502 Bad Gateway"},
		{500, "", "", ""},
		{500, "{\"unfinished", "", "{\"unfinished"},
		{400, "<!DOCTYPE x [<!ENTITY a \"b\">]><Error><Code>&a;</Code></Error>", "", "&a;"},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		AUTO(arena) struct arena a = {0};
		AUTO(http_response) struct http_response resp = {.status = table[i].status};
		struct aws_failure f;

		strbuf_adds(&resp.body, table[i].body);
		aws_failure_parse(&resp, &a, &f);
		CHECK_STR(f.code, table[i].code);
		if (strncmp(table[i].body, "<!", 2) != 0)
			CHECK_STR(f.message, table[i].message);
	}
}

static void backoff_figures(void)
{
	CHECK_INT(backoff_delay_ms(AWS_RETRY_TRANSIENT, 1, NULL, 1.0), 50);
	CHECK_INT(backoff_delay_ms(AWS_RETRY_TRANSIENT, 3, NULL, 1.0), 200);
	CHECK_INT(backoff_delay_ms(AWS_RETRY_THROTTLED, 1, NULL, 1.0), 1000);
	CHECK_INT(backoff_delay_ms(AWS_RETRY_THROTTLED, 9, NULL, 1.0), BACKOFF_CAP_MS);
	CHECK_INT(backoff_delay_ms(AWS_RETRY_THROTTLED, 1, NULL, 0.5), 500);
	CHECK_INT(backoff_delay_ms(AWS_RETRY_TRANSIENT, 1, "1500", 1.0), 1500);
	CHECK_INT(backoff_delay_ms(AWS_RETRY_TRANSIENT, 1, "10", 1.0), 50);
	CHECK_INT(backoff_delay_ms(AWS_RETRY_TRANSIENT, 1, "999999", 1.0), 5050);
	CHECK_INT(backoff_delay_ms(AWS_RETRY_TRANSIENT, 1, "soon", 1.0), 50);
	CHECK_INT(backoff_cost(AWS_RETRY_TRANSIENT), 14);
	CHECK_INT(backoff_cost(AWS_RETRY_THROTTLED), 5);
}

static void xml_paths(void)
{
	static const char text[] = "<a:R xmlns:a=\"u\"><B><C> x </C><C>y</C></B><D/></a:R>";
	AUTO(arena) struct arena a = {0};
	struct strmap map = {0};
	struct err err = {0};

	CHECK_OK(xml_flatten(text, strlen(text), &a, &map, &err), &err);
	CHECK_STR(strmap_get(&map, "B/C"), "x");
	CHECK_STR(strmap_get(&map, "D"), "");
	CHECK(strmap_get(&map, "R") == NULL);
}

static void xml_caps(void)
{
	AUTO(arena) struct arena a = {0};
	AUTO(strbuf) struct strbuf deep = STRBUF_INIT(0), wide = STRBUF_INIT(0);
	struct strmap map;
	struct err err = {0};

	for (int i = 0; i < XML_DEPTH_MAX + 1; i++)
		strbuf_adds(&deep, "<a>");
	CHECK(xml_flatten(deep.ptr, deep.len, &a, &map, &err) != 0);
	CHECK_INT(err.code, ERR_LIMIT);
	strbuf_adds(&wide, "<a>");
	for (int i = 0; i < XML_ELEMENTS_MAX; i++)
		strbuf_adds(&wide, "<b/>");
	CHECK(xml_flatten(wide.ptr, wide.len, &a, &map, &err) != 0);
	CHECK_INT(err.code, ERR_LIMIT);
}

static void moments(void)
{
	static const struct {
		const char *text;
		int64_t ms; /* -1 = refused */
	} table[] = {
		{"1994-11-06T08:49:37Z", 784111777000},      {"1994-11-06T08:49:37.123Z", 784111777000},
		{"1994-11-06T08:49:37UTC", 784111777000},    {"1994-11-06T09:49:37+01:00", 784111777000},
		{"1994-11-06T08:19:37-00:30", 784111777000}, {"1994-11-06", -1},
		{"1994-11-06T08:49:37", -1},                 {"1994-11-06T08:49:37Zx", -1},
		{"", -1},                                    {"tomorrow", -1},
	};
	char out[TIMESTAMP_MAX];

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		int64_t ms = -1;

		CHECK(timestamp_iso8601(table[i].text, &ms) == (table[i].ms >= 0));
		CHECK_INT(ms, table[i].ms);
	}
	CHECK_STR(timestamp_basic(NOW, out), "19941106T084937Z");
	CHECK_STR(timestamp_extended(NOW, out), "1994-11-06T08:49:37Z");
}

static void create_request(void)
{
	static const char *const exclusions[] = {"dev-*"};
	struct strpair tags[] = {{"team", "ml"}};
	const struct ecr_host host = {.account = "123456789012", .region = "us-east-1"};
	const struct ecr_settings settings = {.mutability = "IMMUTABLE_WITH_EXCLUSION",
	                                      .exclusions = {(const char **)exclusions, 1},
	                                      .scan_on_push = true,
	                                      .encryption = "KMS",
	                                      .kms_key = "alias/k",
	                                      .tags = {tags, 1, 1},
	                                      .expire_untagged_days = 14,
	                                      .keep_images = 50};
	AUTO(json) cJSON *request = ecr_create_request(&host, "team/app", &settings);
	AUTO(json) cJSON *policy = ecr_lifecycle_policy(&settings);
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);

	json_print(request, &text);
	CHECK_STR(text.ptr, "{\"registryId\":\"123456789012\",\"repositoryName\":\"team/app\",\"tags\":[{\"Key\":\"team\",\"Value\":\"ml\"}],"
	                    "\"imageTagMutability\":\"IMMUTABLE_WITH_EXCLUSION\",\"imageTagMutabilityExclusionFilters\":"
	                    "[{\"filterType\":\"WILDCARD\",\"filter\":\"dev-*\"}],\"imageScanningConfiguration\":"
	                    "{\"scanOnPush\":true},\"encryptionConfiguration\":{\"encryptionType\":\"KMS\",\"kmsKey\":"
	                    "\"alias/k\"}}");
	strbuf_reset(&text);
	json_print(policy, &text);
	CHECK(strstr(text.ptr, "\"countType\":\"sinceImagePushed\",\"countUnit\":\"days\",\"countNumber\":14") != NULL);
	CHECK(strstr(text.ptr, "\"rulePriority\":2") != NULL);
	CHECK(ecr_lifecycle_policy(&(struct ecr_settings){0}) == NULL);
}

static void mutability(void)
{
	static const char *const dev[] = {"dev-*"};
	static const struct {
		const char *mode, *tag;
		bool immutable;
	} table[] = {{"MUTABLE", "v1", false},
	             {"IMMUTABLE", "v1", true},
	             {"IMMUTABLE_WITH_EXCLUSION", "v1", true},
	             {"IMMUTABLE_WITH_EXCLUSION", "dev-1", false},
	             {"MUTABLE_WITH_EXCLUSION", "v1", false},
	             {"MUTABLE_WITH_EXCLUSION", "dev-1", true}};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		const struct ecr_repository r = {.mutability = table[i].mode, .exclusions = {(const char **)dev, 1}};

		CHECK(ecr_tag_is_immutable(&r, table[i].tag) == table[i].immutable);
	}
}

static void policies(void)
{
	static const struct {
		enum iam_purpose purpose;
		const char *has[4], *has_not;
	} table[] = {
		{IAM_PUSH, {"ecr:GetAuthorizationToken", "ecr:PutImage", "arn:aws-cn:ecr:cn-north-1:123456789012:repository/a/b"},
	         "CreateRepository"},
		{IAM_PULL, {"ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"}, "ecr:PutImage"},
		{IAM_CREATE, {"ecr:CreateRepository", "ecr:PutLifecyclePolicy", "ecr:PutImage"}, "ecr:TagResource"},
		{IAM_SCAN, {"ecr:DescribeImageScanFindings"}, "ecr:PutImage"},
		{IAM_SIGN, {"ecr:PutImage", "kms:Sign", "arn:aws-cn:kms:cn-north-1:123456789012:key/1234"}, "kms:RequestAlias"},
		{IAM_VERIFY, {"ecr:BatchGetImage", "ecr:DescribeImageScanFindings", "kms:GetPublicKey", "VerifyingKey1"}, "kms:Sign"},
	};
	const struct kms_ref key = {.key = "1234"};
	const struct ecr_settings settings = {.keep_images = 3};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		const struct iam_request r = {.purpose = table[i].purpose,
		                              .host = {.account = "123456789012", .region = "cn-north-1"},
		                              .repository = "a/b",
		                              .settings = &settings,
		                              .keys = &key,
		                              .n_keys = 1,
		                              .reads_findings = true};
		AUTO(json) cJSON *policy = iam_policy(&r);
		AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);

		json_print(policy, &text);
		for (size_t k = 0; k < ARRAY_LEN(table[i].has) && table[i].has[k] != NULL; k++)
			CHECK(strstr(text.ptr, table[i].has[k]) != NULL);
		CHECK(strstr(text.ptr, table[i].has_not) == NULL);
	}
}

int main(void)
{
	TEST("aws: connections that break, 5xx and throttling are tried again", tried_again);
	TEST("aws: after three tries it is over", three_tries);
	TEST("aws: AWS_MAX_ATTEMPTS counts the first try", as_often_as_asked);
	TEST("aws: ECR's LimitExceededException is a quota and not tried again", quota_is_no_throttling);
	TEST("aws: a clock that is 20 minutes off is corrected at once", clock_corrected);
	TEST("aws: with correction off the minutes are said", clock_not_corrected);
	TEST("aws: with a good clock a bad signature is the secret's fault", bad_signature_with_a_good_clock);
	TEST("aws: a refusal names action and principal", denied_names_all);
	TEST("aws: a secret that comes back in a reply is masked", echo_is_masked);
	TEST("aws: failures are read from JSON, XML and HTML", failures_in_every_form);
	TEST("aws: delays and costs of retries are AWS's", backoff_figures);
	TEST("aws: XML becomes paths and texts", xml_paths);
	TEST("aws: XML that is too deep or too wide is refused", xml_caps);
	TEST("timestamp: ISO 8601 in AWS's forms, and back", moments);
	TEST("ecr: a repository is asked for as the spec says", create_request);
	TEST("ecr: which tags cannot be moved", mutability);
	TEST("iam: each purpose has its actions and no others", policies);
	return test_done();
}
