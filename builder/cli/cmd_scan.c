/*
 * slipway scan: what ECR's scanner found in an image, as a gate for CI.
 */
#include <string.h>

#include "base/interrupt.h"
#include "builder/cli/command.h"
#include "builder/cli/remote_option.h"
#include "builder/image/image.h"
#include "builder/oci/mediatype.h"

enum {
	POLL_MS = 5000,
	BEGIN_MS = 60000,
	TIMEOUT_S = 600,
	TIMEOUT_S_MAX = 7 * 86400,
	IMAGES_MAX = 64
};

static const char *const severity_choices[] = {"critical",      "high",      "medium", "low",
                                               "informational", "undefined", NULL};

struct scan_options {
	const char *severity;
	int64_t timeout;
	bool start;
	struct remote_options remote;
};

static const struct option options[] = {
	TEXT_OPTION(struct scan_options, severity, "severity", 0, "LEVEL",
                    "Fail when there is a finding of this severity or worse", .fallback = "high",
                    .complete = COMPLETE_CHOICES, .choices = severity_choices),
	NUMBER_OPTION(struct scan_options, timeout, "timeout", 0, "SECONDS",
                      "How long to wait for the scan (default 600)"),
	FLAG_OPTION(struct scan_options, start, "start", 0,
                    "Start a scan instead of waiting for the one on push"),
	REMOTE_OPTIONS(struct scan_options, remote),
};

struct scan_run {
	struct cli *cli;
	const struct scan_options *options;
	struct remote *remote;
	struct ecr_host host;
	const char *repository;
	enum severity threshold;
	int64_t deadline_ms;
	int64_t n_refused;
	struct err failed; /* the first image that could not be judged */
	cJSON *doc, *images;
};

/* ---- waiting ---- */

static int wait_a_little(const struct scan_run *s, const char *what, struct err *err)
{
	struct clock *clock = clock_system();

	if (interrupt_check(err) != 0)
		return -1;
	if (clock->now_ms(clock) + POLL_MS > s->deadline_ms) {
		err_set(err, ERR_NETWORK, "%s", what);
		return err_hint(err, "try again later, or wait longer with --timeout");
	}
	clock->sleep_ms(clock, POLL_MS);
	return interrupt_check(err);
}

static int never_begun(struct err *err)
{
	err_set(err, ERR_NOT_FOUND, "the image has not been scanned");
	return err_hint(err, "enable scan on push (image.ecr.scan_on_push), or start a scan: "
	                     "slipway scan --start");
}

static int wait_for_scan(const struct scan_run *s, const char *digest, struct ecr_scan *ret,
                         struct err *err)
{
	struct aws_session *session = s->remote->aws->session;
	struct clock *clock = clock_system();
	int64_t begin_by = clock->now_ms(clock) + BEGIN_MS;

	if (s->options->start && ecr_start_scan(session, &s->host, s->repository, digest, err) != 0)
		return -1;
	unsigned task = progress_start(s->cli->progress, "scan", -1);

	for (;;) {
		bool begun = false;
		int status = ecr_scan_findings(session, &s->host, s->repository, digest,
		                               &s->cli->arena, ret, &begun, err);

		if (status == 0 && ret->status != ECR_SCAN_PENDING) {
			progress_finish(s->cli->progress, task, ret->status_text);
			return 0;
		}
		if (status == 0 && !begun && clock->now_ms(clock) > begin_by)
			status = never_begun(err);
		if (status == 0)
			status = wait_a_little(
				s, begun ? "the scan is not finished" : "the scan has not begun",
				err);
		if (status != 0) {
			progress_finish(s->cli->progress, task, "failed");
			return -1;
		}
	}
}

/* ---- the report ---- */

static void add_json(struct scan_run *s, const char *digest, const char *platform,
                     const struct ecr_scan *scan)
{
	cJSON *image = cJSON_CreateObject();

	json_push(s->images, image);
	json_add_string(image, "digest", digest);
	json_add_string(image, "platform", platform);
	json_add_string(image, "status", scan->status_text);
	cJSON *counts = json_add_object(image, "counts");

	for (unsigned i = SEVERITIES; i-- > 0;)
		if (scan->findings.counts[i] > 0)
			json_add_int(counts, severity_name((enum severity)i),
			             scan->findings.counts[i]);
	cJSON *findings = json_add_array(image, "findings");

	for (size_t i = 0; i < scan->findings.n; i++) {
		const struct finding *f = &scan->findings.at[i];
		cJSON *item = cJSON_CreateObject();

		json_push(findings, item);
		json_add_string(item, "name", f->name);
		json_add_string(item, "severity", severity_name(f->severity));
		json_add_string(item, "package", f->package);
		json_add_string(item, "version", f->version);
		json_add_string(item, "uri", f->uri);
	}
}

static void print_text(struct scan_run *s, const char *digest, const char *platform,
                       const struct ecr_scan *scan)
{
	const char *between = "";

	fprintf(s->cli->out, "%.19s %s: ", digest, platform);
	for (unsigned i = SEVERITIES; i-- > 0;)
		if (scan->findings.counts[i] > 0) {
			fprintf(s->cli->out, "%s%lld %s", between,
			        (long long)scan->findings.counts[i],
			        severity_name((enum severity)i));
			between = ", ";
		}
	fprintf(s->cli->out, "%s\n", between[0] == '\0' ? "no findings" : "");
	for (size_t i = 0; i < scan->findings.n; i++) {
		const struct finding *f = &scan->findings.at[i];

		fprintf(s->cli->out, "  %-13s %-20s %s %s\n", severity_name(f->severity), f->name,
		        f->package, f->version);
	}
}

static int scan_image(struct scan_run *s, const struct descriptor *image, struct err *err)
{
	char digest[DIGEST_TEXT_MAX], platform[PLATFORM_TEXT_MAX] = "image";
	struct ecr_scan scan;

	digest_text(&image->digest, digest);
	if (image->platform.os[0] != '\0')
		platform_text(&image->platform, platform);
	if (wait_for_scan(s, digest, &scan, err) != 0)
		return err_wrap(err, "%.19s", digest);
	if (scan.status != ECR_SCAN_DONE) {
		err_set(err, scan.status == ECR_SCAN_UNSUPPORTED ? ERR_UNSUPPORTED : ERR_SERVER,
		        "%.19s: the scan ended with %s%s%s", digest, scan.status_text,
		        scan.description[0] != '\0' ? ": " : "", scan.description);
		return -1;
	}
	for (unsigned i = s->threshold; i < SEVERITIES; i++)
		s->n_refused += scan.findings.counts[i];
	add_json(s, digest, platform, &scan);
	if (!cli_json(s->cli))
		print_text(s, digest, platform, &scan);
	return 0;
}

/* ---- which images ---- */

/* ECR scans manifests; an index is as good as its images. */
static int scan_root(struct scan_run *s, const struct image *image, const struct descriptor *root,
                     struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	struct index index;

	if (!media_is_index(root->media_type))
		return scan_image(s, root, err);
	if (store_read(image->store, root, MANIFEST_BYTES_MAX, &text, err) != 0 ||
	    index_parse(text.ptr, text.len, root->media_type, &s->cli->arena, &index, err) != 0)
		return -1;
	if (index.n_manifests > IMAGES_MAX)
		return err_set(err, ERR_LIMIT, "the index has more than %d images",
		               (int)IMAGES_MAX);
	for (size_t i = 0; i < index.n_manifests; i++) {
		struct err why = {0};

		/*
		 * Attestations stand among the images under no platform: there is nothing to scan.
		 */
		if (strcmp(index.manifests[i].platform.os, "unknown") == 0 ||
		    scan_image(s, &index.manifests[i], &why) == 0)
			continue;
		if (why.code == ERR_INTERRUPTED || why.code == ERR_DENIED) {
			*err = why;
			return -1;
		}
		s->failed = s->failed.code == ERR_NONE ? why : s->failed;
	}
	return 0;
}

static int judge_scan(struct scan_run *s, struct err *err)
{
	if (s->failed.code != ERR_NONE) {
		*err = s->failed;
		return -1;
	}
	if (s->n_refused == 0)
		return 0;
	err_set(err, ERR_CHECK, "%lld finding%s of severity %s or worse", (long long)s->n_refused,
	        s->n_refused == 1 ? "" : "s", severity_name(s->threshold));
	return err_hint(err, "update the packages, or raise --severity");
}

static int scan_ref(struct scan_run *s, struct err *err)
{
	AUTO(image) struct image image = {0};
	struct descriptor root;
	const char *text = s->cli->args.at[0];

	if (image_open(s->remote, text, &s->cli->arena, &image, err) != 0)
		return -1;
	if (image.ref.kind != REF_REGISTRY ||
	    !ecr_registry_host(s->remote->aws->ecr, image.ref.host, &s->cli->arena, &s->host) ||
	    s->host.is_public) {
		err_set(err, ERR_USAGE, "'%s' is not an image in a private registry of Amazon ECR",
		        text);
		return err_hint(err,
		                "only ECR keeps scan findings; for ECR under another name pass "
		                "--ecr-region");
	}
	s->repository = image.ref.repository;
	if (image_root(&image, &s->cli->arena, &root, err) != 0)
		return -1;
	return scan_root(s, &image, &root, err);
}

static int cmd_scan_run(struct cli *cli, struct err *err)
{
	const struct scan_options *o = cli->options;
	AUTO(remote) struct remote remote = {0};
	AUTO(json) cJSON *doc = cJSON_CreateObject();
	struct clock *clock = clock_system();
	int64_t timeout = o->timeout > 0 ? o->timeout : TIMEOUT_S;

	if (timeout > TIMEOUT_S_MAX)
		timeout = TIMEOUT_S_MAX;
	struct scan_run s = {.cli = cli,
	                     .options = o,
	                     .remote = &remote,
	                     .doc = doc,
	                     .deadline_ms = clock->now_ms(clock) + timeout * 1000};

	if (!severity_parse(o->severity, &s.threshold))
		return err_set(err, ERR_USAGE, "--severity: '%s'", o->severity);
	json_add_string(doc, "threshold", severity_name(s.threshold));
	s.images = json_add_array(doc, "images");
	if (remote_from_options(cli, &o->remote, 0, cli->args.at[0], &remote, err) != 0 ||
	    scan_ref(&s, err) != 0)
		return -1;
	json_add_int(doc, "refused", s.n_refused);
	if (s.failed.code != ERR_NONE)
		json_add_string(doc, "error", s.failed.msg);
	if (cli_json(cli))
		cli_print_json(cli, doc);
	return judge_scan(&s, err);
}

const struct command cmd_scan = {
	.name = "scan",
	.summary = "Show what Amazon ECR's scanner found in an image, and fail on severe findings",
	.synopsis = "HOST/NAME[:TAG|@DIGEST]",
	.details = "Waits for the scan. Of an index, every platform's image counts. Exit status 3 "
		   "when there\n"
		   "is a finding of the given severity or worse.\n",
	.examples =
		"slipway scan 123456789012.dkr.ecr.us-west-2.amazonaws.com/app:v1\tFail on HIGH "
		"or worse\n"
		"slipway scan --severity critical --output json REF\tFail on CRITICAL only\n",
	.options = OPTION_TABLE(struct scan_options, options),
	.min_args = 1,
	.max_args = 1,
	.run = cmd_scan_run,
};
