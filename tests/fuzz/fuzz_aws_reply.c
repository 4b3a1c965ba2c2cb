/*
 * Any bytes as what an AWS service, or whatever stands before it, may answer.
 */
#include <stdint.h>
#include <string.h>

#include "base/timestamp.h"
#include "builder/aws/endpoint.h"
#include "builder/aws/failure.h"
#include "builder/aws/xml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_failure(const uint8_t *data, size_t size)
{
	AUTO(arena) struct arena a = {0};
	AUTO(http_response) struct http_response resp = {.status = size > 0 ? 400 + data[0] % 200 : 500};
	struct aws_failure f = {0};
	const char *action, *principal, *resource;
	struct err err = {0};

	strbuf_add(&resp.body, data, size);
	aws_failure_parse(&resp, &a, &f);
	if (f.code == NULL || f.message == NULL || f.request_id == NULL)
		BUG("a failure without words");
	if (aws_failure_err(&f, &err) != -1 || err.code == ERR_NONE || err.msg[0] == '\0')
		BUG("a failure that is none");
	(void)aws_failure_is_denied(&f, &a, &action, &principal, &resource);
}

static void check_text(const char *text)
{
	AUTO(arena) struct arena a = {0};
	struct ecr_host host;
	char out[TIMESTAMP_MAX];
	int64_t ms, again;

	if (timestamp_iso8601(text, &ms) && ms >= 0 &&
	    (!timestamp_iso8601(timestamp_extended(ms, out), &again) || again != ms))
		BUG("'%s' is not the moment it was", text);
	if (ecr_host_parse(text, &a, &host) && !aws_region_valid(host.region))
		BUG("'%s' has the region '%s'", text, host.region);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena) struct arena a = {0};
	struct strmap map = {0};
	struct err err = {0};
	const char *text = arena_strndup(&a, (const char *)data, size);

	check_failure(data, size);
	check_text(text);
	(void)!xml_flatten((const char *)data, size, &a, &map, &err);
	return 0;
}
