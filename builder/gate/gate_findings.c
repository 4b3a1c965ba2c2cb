/*
 * What is known against an image's packages: by Amazon ECR's scan of each platform's manifest, or
 * by databases that are files. What was not scanned is refused.
 */
#include <string.h>

#include "builder/aws/ecr.h"
#include "builder/finding/finding.h"
#include "builder/gate/gate_internal.h"
#include "builder/image/image_scan.h"
#include "builder/trust/settings.h"

static int too_severe(const struct gate_view *v, const struct descriptor *manifest,
                      const struct findings *found, enum severity threshold, struct err *err)
{
	int64_t n = findings_refused(found, threshold);

	if (n == 0)
		return 0;
	/* The worst is the first. */
	err_set(err, ERR_CHECK,
	        "%s: %lld finding%s of severity %s or worse, as %.60s in %.80s %.60s",
	        gate_name(v, manifest), (long long)n, n == 1 ? "" : "s", severity_name(threshold),
	        found->n > 0 ? found->at[0].name : "?", found->n > 0 ? found->at[0].package : "?",
	        found->n > 0 ? found->at[0].version : "");
	return err_hint(err, "`slipway scan%s %s` lists them; build with the packages updated.",
	                v->rule->vulnerabilities.db.n > 0 ? " --db FILE" : "", v->pinned);
}

/* ---- Amazon ECR ---- */

static int find_host(const struct gate_view *v, struct ecr_host *ret_host, struct err *err)
{
	const struct remote_aws *aws = v->gate->remote->aws;

	if (ecr_registry_host(aws->ecr, v->image->ref.host, v->gate->arena, ret_host) &&
	    !ret_host->is_public)
		return 0;
	err_set(err, ERR_UNSUPPORTED, "'%s' is no registry that scans images", v->image->ref.host);
	return err_hint(err, "Name a database by `vulnerabilities: {db: [FILE]}`: only private "
	                     "registries of Amazon ECR keep findings.");
}

static int scan_ended(const struct gate_view *v, const struct ecr_scan *scan, bool begun,
                      struct err *err)
{
	if (scan->status == ECR_SCAN_DONE)
		return 0;
	if (scan->status == ECR_SCAN_PENDING) {
		err_set(err, ERR_CHECK, "its scan %s", begun ? "is not finished" : "was not begun");
		return err_hint(err, "`slipway scan %s%s` waits for it; then run this again.",
		                begun ? "" : "--start ", v->pinned);
	}
	err_set(err, ERR_CHECK, "its scan ended with %.60s%s%.200s", scan->status_text,
	        scan->description[0] != '\0' ? ": " : "", scan->description);
	return err_hint(err, "ECR cannot judge this image: name a database by `vulnerabilities: "
	                     "{db: [FILE]}`.");
}

static int check_scan(const struct gate_view *v, const struct ecr_host *host,
                      const struct descriptor *manifest, enum severity threshold, struct err *err)
{
	char digest[DIGEST_TEXT_MAX];
	struct ecr_scan scan;
	bool begun = false;

	digest_text(&manifest->digest, digest);
	if (ecr_scan_findings(v->gate->remote->aws->session, host, v->image->ref.repository, digest,
	                      v->gate->arena, &scan, &begun, err) != 0 ||
	    scan_ended(v, &scan, begun, err) != 0)
		return err_wrap(err, "%s", gate_name(v, manifest));
	return too_severe(v, manifest, &scan.findings, threshold, err);
}

static int check_scans(const struct gate_view *v, enum severity threshold, struct err *err)
{
	struct ecr_host host;

	if (find_host(v, &host, err) != 0)
		return -1;
	for (size_t i = 0; i < v->n_platforms; i++)
		if (check_scan(v, &host, &v->platforms[i], threshold, err) != 0)
			return -1;
	return 0;
}

/* ---- databases that are files ---- */

static struct strlist absolute(const struct gate_view *v, const struct strlist *paths)
{
	struct strlist list = {arena_calloc(v->gate->arena, paths->n, sizeof(*list.at)), paths->n};

	for (size_t i = 0; i < paths->n; i++)
		list.at[i] = trust_spec_ref(paths->at[i], v->gate->spec_dir, v->gate->arena);
	return list;
}

static int check_databases(struct gate_view *v, enum severity threshold, struct err *err)
{
	const struct trust_findings *asked = &v->rule->vulnerabilities;
	struct image_scan_opts opts = {
		.scan = {.databases = absolute(v, &asked->db), .waivers = absolute(v, &asked->vex)},
		.progress = v->gate->remote->progress};
	struct image_scan scan;

	if (gate_vouchers(v, &opts.by, err) != 0 ||
	    image_scan_run(v->image, &v->root, &opts, v->gate->arena, &scan, err) != 0)
		return -1;
	if (scan.n != v->n_platforms)
		return err_set(err, ERR_UNSUPPORTED, "of its %zu images only %zu can be scanned",
		               v->n_platforms, scan.n);
	for (size_t i = 0; i < scan.n; i++)
		if (too_severe(v, &scan.manifests[i], &scan.scanned[i].findings, threshold, err) !=
		    0)
			return -1;
	return 0;
}

int gate_check_vulnerabilities(struct gate_view *v, struct err *err)
{
	enum severity threshold;

	if (!severity_parse(v->rule->vulnerabilities.severity, &threshold))
		BUG("severity '%s'", v->rule->vulnerabilities.severity);
	return v->rule->vulnerabilities.db.n > 0 ? check_databases(v, threshold, err)
	                                         : check_scans(v, threshold, err);
}
