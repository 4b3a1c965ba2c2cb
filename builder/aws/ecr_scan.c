/*
 * Scan findings of an image, in the shapes of both basic and enhanced scanning.
 */
#include <string.h>

#include "base/mem.h"
#include "builder/aws/ecr_internal.h"

enum { PAGES_MAX = 100, PAGE_SIZE = 1000 };

static enum ecr_scan_status status_of(const char *text)
{
	static const struct {
		const char *text;
		enum ecr_scan_status status;
	} table[] = {{"COMPLETE", ECR_SCAN_DONE},
	             {"ACTIVE", ECR_SCAN_DONE},
	             {"FAILED", ECR_SCAN_FAILED},
	             {"UNSUPPORTED_IMAGE", ECR_SCAN_UNSUPPORTED},
	             {"SCAN_ELIGIBILITY_EXPIRED", ECR_SCAN_FAILED},
	             {"FINDINGS_UNAVAILABLE", ECR_SCAN_FAILED},
	             {"LIMIT_EXCEEDED", ECR_SCAN_FAILED},
	             {"IMAGE_ARCHIVED", ECR_SCAN_UNSUPPORTED}};

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (strcmp(table[i].text, text) == 0)
			return table[i].status;
	return ECR_SCAN_PENDING; /* IN_PROGRESS, PENDING, and what may come */
}

static const char *text_of(const cJSON *obj, const char *key, struct arena *a)
{
	const char *text = json_string(obj, key);

	return arena_strdup(a, text != NULL ? text : "");
}

/* Basic findings keep package and version in a list of attributes. */
static const char *attribute(const cJSON *finding, const char *key, struct arena *a)
{
	const cJSON *item = NULL;

	cJSON_ArrayForEach (item, json_get(finding, "attributes")) {
		const char *have = json_string(item, "key");

		if (have != NULL && strcmp(have, key) == 0)
			return text_of(item, "value", a);
	}
	return "";
}

static struct finding basic_finding(const cJSON *f, struct arena *a)
{
	return (struct finding){.name = text_of(f, "name", a),
	                        .package = attribute(f, "package_name", a),
	                        .version = attribute(f, "package_version", a),
	                        .uri = text_of(f, "uri", a),
	                        .fixed_in = ""};
}

static struct finding enhanced_finding(const cJSON *f, struct arena *a)
{
	const cJSON *details = json_get(f, "packageVulnerabilityDetails");
	const cJSON *package = cJSON_GetArrayItem(json_get(details, "vulnerablePackages"), 0);
	struct finding finding = {.name = text_of(details, "vulnerabilityId", a),
	                          .package = text_of(package, "name", a),
	                          .version = text_of(package, "version", a),
	                          .uri = text_of(details, "sourceUrl", a),
	                          .fixed_in = text_of(package, "fixedInVersion", a)};

	if (finding.name[0] == '\0')
		finding.name = text_of(f, "title", a);
	return finding;
}

struct ecr_findings {
	VEC(struct finding) list;
	int64_t counts[SEVERITIES];
	bool counted; /* by ECR itself */
};

static void add_findings(struct ecr_findings *all, const cJSON *array, bool enhanced,
                         struct arena *a)
{
	const cJSON *item = NULL;

	cJSON_ArrayForEach (item, array) {
		struct finding f = enhanced ? enhanced_finding(item, a) : basic_finding(item, a);
		const char *severity = json_string(item, "severity");

		if (all->list.n == ECR_FINDINGS_MAX)
			return;
		if (severity != NULL)
			(void)severity_parse(severity, &f.severity);
		vec_push(&all->list, f);
	}
}

static void add_counts(struct ecr_findings *all, const cJSON *counts)
{
	const cJSON *item = NULL;

	if (!cJSON_IsObject(counts) || all->counted)
		return;
	all->counted = true;
	cJSON_ArrayForEach (item, counts) {
		enum severity s = SEVERITY_UNDEFINED;

		if (severity_parse(item->string, &s) && cJSON_IsNumber(item) &&
		    item->valuedouble >= 0 && item->valuedouble < 1e9)
			all->counts[s] += (int64_t)item->valuedouble;
	}
}

static void sort_findings(struct ecr_findings *all, struct arena *a, struct ecr_scan *scan)
{
	scan->findings = findings_sorted(all->list.at, all->list.n, a);
	if (all->counted)
		memcpy(scan->findings.counts, all->counts, sizeof(all->counts));
	vec_done(&all->list);
}

static cJSON *image_request(const struct ecr_host *host, const char *repository, const char *digest)
{
	cJSON *request = ecr_request(host, repository);

	json_add_string(json_add_object(request, "imageId"), "imageDigest", digest);
	return request;
}

/* One page; *token is where the next starts, NULL at the end. */
static int read_page(const cJSON *doc, struct ecr_findings *all, struct ecr_scan *scan,
                     const char **token, struct arena *a)
{
	const cJSON *status = json_get(doc, "imageScanStatus");
	const cJSON *findings = json_get(doc, "imageScanFindings");
	const char *next = json_string(doc, "nextToken");

	scan->status_text = text_of(status, "status", a);
	scan->description = text_of(status, "description", a);
	scan->status = status_of(scan->status_text);
	add_counts(all, json_get(findings, "findingSeverityCounts"));
	add_findings(all, json_get(findings, "findings"), false, a);
	add_findings(all, json_get(findings, "enhancedFindings"), true, a);
	*token = next != NULL && next[0] != '\0' ? arena_strdup(a, next) : NULL;
	return 0;
}

static int read_pages(struct aws_session *s, const struct ecr_host *host, cJSON *first,
                      struct arena *a, struct ecr_findings *all, struct ecr_scan *scan,
                      struct aws_failure *failure, struct err *err)
{
	AUTO(json) cJSON *base = first;
	const char *token = NULL;

	for (int page = 0; page < PAGES_MAX; page++) {
		AUTO(json) cJSON *doc = NULL;
		cJSON *request = cJSON_Duplicate(base, 1);

		json_add_int(request, "maxResults", PAGE_SIZE);
		json_add_string(request, "nextToken", token);
		if (ecr_call(s, host, "DescribeImageScanFindings", request, a, &doc, failure,
		             err) != 0 ||
		    read_page(doc, all, scan, &token, a) != 0)
			return -1;
		if (token == NULL || scan->status != ECR_SCAN_DONE)
			return 0;
	}
	return 0;
}

int ecr_scan_findings(struct aws_session *s, const struct ecr_host *host, const char *repository,
                      const char *digest, struct arena *a, struct ecr_scan *ret_scan,
                      bool *ret_begun, struct err *err)
{
	struct ecr_findings all = {0};
	struct ecr_scan scan = {.status_text = "", .description = ""};
	struct aws_failure failure = {.code = ""};
	struct err why = {0};
	int status = read_pages(s, host, image_request(host, repository, digest), a, &all, &scan,
	                        &failure, &why);

	sort_findings(&all, a, &scan);
	*ret_begun = true;
	if (status != 0 && aws_failure_is(&failure, "ScanNotFound")) {
		*ret_begun = false;
		status = 0;
	}
	if (status != 0) {
		*err = why;
		return -1;
	}
	*ret_scan = scan;
	return 0;
}

int ecr_start_scan(struct aws_session *s, const struct ecr_host *host, const char *repository,
                   const char *digest, struct err *err)
{
	AUTO(arena) struct arena a = {0};
	AUTO(json) cJSON *doc = NULL;
	struct aws_failure failure;
	struct err why = {0};

	if (ecr_call(s, host, "StartImageScan", image_request(host, repository, digest), &a, &doc,
	             &failure, &why) == 0)
		return 0;
	/* ECR scans an image once a day. */
	if (aws_failure_is(&failure, "LimitExceeded"))
		return 0;
	*err = why;
	return -1;
}
