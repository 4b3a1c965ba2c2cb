/* What ECR's scanner found. Sections: waiting, which images. */
#include "builder/cli/scan_ecr.h"

#include <string.h>

#include "base/interrupt.h"
#include "builder/oci/mediatype.h"

enum {
	POLL_MS = 5000,
	BEGIN_MS = 60000,
	TIMEOUT_S = 600,
	TIMEOUT_S_MAX = 7 * 86400,
	IMAGES_MAX = 64
};

struct ecr_run {
	struct cli *cli;
	struct remote *remote;
	struct scan_report *report;
	bool start;
	struct ecr_host host;
	const char *repository;
	int64_t deadline_ms;
};

/* ---- waiting ---- */

static int wait_a_little(const struct ecr_run *s, const char *what, struct err *err)
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

static int wait_for_scan(const struct ecr_run *s, const char *digest, struct ecr_scan *ret,
                         struct err *err)
{
	struct aws_session *session = s->remote->aws->session;
	struct clock *clock = clock_system();
	int64_t begin_by = clock->now_ms(clock) + BEGIN_MS;

	if (s->start && ecr_start_scan(session, &s->host, s->repository, digest, err) != 0)
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

static int scan_image(struct ecr_run *s, const struct descriptor *image, struct err *err)
{
	char digest[DIGEST_TEXT_MAX];
	struct ecr_scan scan;

	digest_text(&image->digest, digest);
	if (wait_for_scan(s, digest, &scan, err) != 0)
		return err_wrap(err, "%.19s", digest);
	if (scan.status != ECR_SCAN_DONE) {
		err_set(err, scan.status == ECR_SCAN_UNSUPPORTED ? ERR_UNSUPPORTED : ERR_SERVER,
		        "%.19s: the scan ended with %s%s%s", digest, scan.status_text,
		        scan.description[0] != '\0' ? ": " : "", scan.description);
		return -1;
	}
	scan_report_add(s->report, image, scan.status_text, &scan.findings);
	return 0;
}

/* ---- which images ---- */

/* ECR scans manifests; an index is as good as its images. */
static int scan_root(struct ecr_run *s, const struct image *image, const struct descriptor *root,
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
		s->report->failed = s->report->failed.code == ERR_NONE ? why : s->report->failed;
	}
	return 0;
}

static int scan_ref(struct ecr_run *s, struct err *err)
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
		                "--ecr-region, for any other image --db FILE");
	}
	s->repository = image.ref.repository;
	if (image_root(&image, &s->cli->arena, &root, err) != 0)
		return -1;
	return scan_root(s, &image, &root, err);
}

int scan_by_ecr(struct cli *cli, struct remote *remote, const struct scan_ecr_opts *opts,
                struct scan_report *report, struct err *err)
{
	struct clock *clock = clock_system();
	int64_t timeout = opts->timeout_s > 0 ? opts->timeout_s : TIMEOUT_S;
	struct ecr_run s = {.cli = cli, .remote = remote, .report = report, .start = opts->start};

	if (timeout > TIMEOUT_S_MAX)
		timeout = TIMEOUT_S_MAX;
	s.deadline_ms = clock->now_ms(clock) + timeout * 1000;
	return scan_ref(&s, err);
}
