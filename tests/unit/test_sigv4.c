/*
 * Signature Version 4 against botocore's vectors (AWS's own suite, too, where it is here), and four
 * requests as the AWS CLI signs them.
 */
#include "builder/aws/sigv4.h"

#include <dirent.h>

#include "base/crypto/digest.h"
#include "base/timestamp.h"
#include "tests/unit/aws_fake.h"

enum { HEADERS_MAX = 32 };

/* An HTTP request as text: the request line, headers with continuation lines, a body. */
struct parsed {
	char *text;
	char *method, *path, *query, *body;
	struct http_header headers[HEADERS_MAX];
	size_t n;
};

static void parse(struct parsed *p)
{
	char *line = p->text, *end, *space;

	p->body = strstr(p->text, "\n\n");
	if (p->body != NULL) {
		*p->body = '\0';
		p->body += 2;
	}
	end = strchr(line, '\n');
	if (end != NULL)
		*end = '\0';
	space = strchr(line, ' ');
	*space = '\0';
	p->method = line;
	p->path = space + 1;
	*strrchr(p->path, ' ') = '\0';
	p->query = strchr(p->path, '?');
	if (p->query != NULL)
		*p->query++ = '\0';
	for (line = end != NULL ? end + 1 : NULL; line != NULL; line = end) {
		end = strchr(line, '\n');
		/* A line that starts with white space goes on with the value before it. */
		while (end != NULL && (end[1] == ' ' || end[1] == '\t'))
			end = strchr(end + 1, '\n');
		if (end != NULL)
			*end++ = '\0';
		char *colon = strchr(line, ':');

		if (colon == NULL)
			continue;
		*colon = '\0';
		p->headers[p->n++] = (struct http_header){line, colon + 1};
	}
}

/* One folder of the suite. */
static void run_vector(const char *dir)
{
	AUTO(arena) struct arena a = {0};
	AUTO(json) cJSON *context = read_json(dir, "context.json");
	AUTO_FREE char *want_canonical = read_text(dir, "header-canonical-request.txt");
	AUTO_FREE char *want_text = read_text(dir, "header-string-to-sign.txt");
	AUTO_FREE char *want = read_text(dir, "header-signature.txt");
	struct parsed p = {.text = read_text(dir, "request.txt")};
	const cJSON *credentials = json_get(context, "credentials");
	const char *token = json_string(credentials, "token");
	struct sigv4_signature signature;
	char moment[TIMESTAMP_MAX], hash[DIGEST_HEX_MAX];
	int64_t now = 0;

	parse(&p);
	CHECK(timestamp_iso8601(json_string(context, "timestamp"), &now));
	p.headers[p.n++] = (struct http_header){"X-Amz-Date", timestamp_basic(now, moment)};
	if (token != NULL && !cJSON_IsTrue(json_get(context, "omit_session_token")))
		p.headers[p.n++] = (struct http_header){"X-Amz-Security-Token", token};
	struct digest body =
		digest_of(p.body != NULL ? p.body : "", p.body != NULL ? strlen(p.body) : 0);

	if (cJSON_IsTrue(json_get(context, "sign_body")))
		p.headers[p.n++] =
			(struct http_header){"x-amz-content-sha256", digest_hex(&body, hash)};
	const struct sigv4_request request = {
		.method = p.method,
		.path = p.path,
		.query = p.query,
		.headers = p.headers,
		.n_headers = p.n,
		.body = p.body,
		.body_len = p.body != NULL ? strlen(p.body) : 0,
		.raw_path = cJSON_IsFalse(json_get(context, "normalize"))};
	const struct sigv4_key key = {json_string(credentials, "access_key_id"),
	                              json_string(credentials, "secret_access_key")};
	const struct sigv4_scope scope = {json_string(context, "region"),
	                                  json_string(context, "service"), now};

	sigv4_sign(&request, &key, &scope, &a, &signature);
	CHECK_STR(signature.canonical_request, want_canonical);
	CHECK_STR(signature.string_to_sign, want_text);
	CHECK_STR(strstr(signature.authorization, "Signature=") + strlen("Signature="), want);
	free(p.text);
}

/* Every folder of a set, of which there are so many. */
static void run_set(const char *dir, unsigned want)
{
	char sub[PATH_MAX];
	unsigned n = 0;
	DIR *d = opendir(dir);
	struct dirent *entry;

	CHECK(d != NULL);
	while (d != NULL && (entry = readdir(d)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(sub, sizeof(sub), "%.2000s/%.255s", dir, entry->d_name);
		if (!test_state.ok)
			break;
		run_vector(sub);
		if (!test_state.ok)
			printf("# in %s\n", entry->d_name);
		n++;
	}
	if (d != NULL)
		closedir(d);
	CHECK_INT(n, want);
}

static void suite(void)
{
	static const struct {
		const char *name;
		unsigned n;
	} sets[VECTOR_SETS] = {
		[OWN_VECTORS] = {"signing", 35}, [AWS_VECTORS] = {"aws-c-auth-v4", 38}};
	char path[PATH_MAX];

	for (enum vectors set = 0; set < VECTOR_SETS; set++)
		if (vectors_dir(set, sets[set].name, path) != NULL)
			run_set(path, sets[set].n);
}

static void sign_ecr(const char *operation, const char *body, const char *token, const char *want)
{
	AUTO(arena) struct arena a = {0};
	const struct http_header headers[] = {
		{"Content-Type", "application/x-amz-json-1.1"},
		{"X-Amz-Target",
	         arena_printf(&a, "AmazonEC2ContainerRegistry_V20150921.%s", operation)},
		{"User-Agent", "slipway"},
		{"Host", "api.ecr.us-east-1.amazonaws.com"},
		{"X-Amz-Date", "20261121T000000Z"},
		{"X-Amz-Security-Token", token}};
	const struct sigv4_request request = {.method = "POST",
	                                      .path = "/",
	                                      .headers = headers,
	                                      .n_headers = token != NULL ? 6 : 5,
	                                      .body = body,
	                                      .body_len = strlen(body)};
	const struct sigv4_key key = {"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"};
	const struct sigv4_scope scope = {"us-east-1", "ecr", 1795219200000};
	struct sigv4_signature signature;

	sigv4_sign(&request, &key, &scope, &a, &signature);
	CHECK_STR(strstr(signature.authorization, "Signature=") + strlen("Signature="), want);
	CHECK(strstr(signature.authorization, "user-agent") == NULL);
	CHECK(strstr(signature.authorization, key.secret_access_key) == NULL);
}

/* botocore 1.43.11 and @smithy/signature-v4 5.7.5 both give these. */
static void known_answers(void)
{
	static const char token[] = "IQoJb3JpZ2luX2VjEXAMPLE/token+with=chars";

	sign_ecr("GetAuthorizationToken", "{}", NULL,
	         "b543ed62534ec8103bff0d32ac2bd5f20af5371162fd91864ffcae894d7e1011");
	sign_ecr("CreateRepository", "{\"repositoryName\":\"team/app\"}", NULL,
	         "c228807b4cfc6eb41682e0bf10b905ac22aa54de277784af1b1c8edabbe4f104");
	sign_ecr("GetAuthorizationToken", "{}", token,
	         "69cfc9fe58fc7b7cf3660656593772aa19d3c27870c6d0e1b0778a6dd58e7f2d");
	sign_ecr("CreateRepository", "{\"repositoryName\":\"team/app\"}", token,
	         "ad6bec0d2bdb6d67cf61957ad37fe04f588e9ea6a8efd2be7d10c7384956ad0f");
}

int main(void)
{
	TEST("sigv4: requests are signed step by step as botocore signs them", suite);
	TEST("sigv4: requests to ECR are signed as the AWS CLI signs them", known_answers);
	return test_done();
}
