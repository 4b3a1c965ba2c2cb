#include "builder/cli/scan_report.h"

void scan_report_done(struct scan_report *r)
{
	json_done(&r->doc);
}

int scan_report_begin(struct scan_report *r, struct cli *cli, const char *severity, struct err *err)
{
	*r = (struct scan_report){.cli = cli};
	if (!severity_parse(severity, &r->threshold))
		return err_set(err, ERR_USAGE, "--severity: '%s'", severity);
	r->doc = cJSON_CreateObject();
	json_add_string(r->doc, "threshold", severity_name(r->threshold));
	r->images = json_add_array(r->doc, "images");
	return 0;
}

/* A text that is not said is left out where the scanner may have none. */
static void add_said(cJSON *item, const char *key, const char *text)
{
	if (text != NULL && text[0] != '\0')
		json_add_string(item, key, text);
}

static void add_json(struct scan_report *r, const char *digest, const char *platform,
                     const char *status, const struct findings *all)
{
	cJSON *image = cJSON_CreateObject();

	json_push(r->images, image);
	json_add_string(image, "digest", digest);
	json_add_string(image, "platform", platform);
	json_add_string(image, "status", status);
	cJSON *counts = json_add_object(image, "counts");

	for (unsigned i = SEVERITIES; i-- > 0;)
		if (all->counts[i] > 0)
			json_add_int(counts, severity_name((enum severity)i), all->counts[i]);
	cJSON *findings = json_add_array(image, "findings");

	for (size_t i = 0; i < all->n; i++) {
		const struct finding *f = &all->at[i];
		cJSON *item = cJSON_CreateObject();

		json_push(findings, item);
		json_add_string(item, "name", f->name);
		json_add_string(item, "severity", severity_name(f->severity));
		json_add_string(item, "package", f->package);
		json_add_string(item, "version", f->version);
		json_add_string(item, "uri", f->uri);
		add_said(item, "fixed_in", f->fixed_in);
		add_said(item, "waived", f->waived);
	}
}

static void print_finding(struct scan_report *r, const struct finding *f)
{
	fprintf(r->cli->out, "  %-13s %-20s %s %s%s%s%s%s\n",
	        f->waived != NULL ? "waived" : severity_name(f->severity), f->name, f->package,
	        f->version, f->fixed_in[0] != '\0' ? ", fixed in " : "", f->fixed_in,
	        f->waived != NULL ? ": " : "", f->waived != NULL ? f->waived : "");
}

static void print_text(struct scan_report *r, const char *digest, const char *platform,
                       const struct findings *all)
{
	const char *between = "";

	fprintf(r->cli->out, "%.19s %s: ", digest, platform);
	for (unsigned i = SEVERITIES; i-- > 0;)
		if (all->counts[i] > 0) {
			fprintf(r->cli->out, "%s%lld %s", between, (long long)all->counts[i],
			        severity_name((enum severity)i));
			between = ", ";
		}
	fprintf(r->cli->out, "%s\n", between[0] == '\0' ? "no findings" : "");
	for (size_t i = 0; i < all->n; i++)
		print_finding(r, &all->at[i]);
}

void scan_report_add(struct scan_report *r, const struct descriptor *image, const char *status,
                     const struct findings *findings)
{
	char digest[DIGEST_TEXT_MAX], platform[PLATFORM_TEXT_MAX] = "image";

	digest_text(&image->digest, digest);
	if (image->platform.os[0] != '\0')
		platform_text(&image->platform, platform);
	r->n_refused += findings_refused(findings, r->threshold);
	r->n_unrated += findings->counts[SEVERITY_UNDEFINED];
	add_json(r, digest, platform, status, findings);
	if (!cli_json(r->cli))
		print_text(r, digest, platform, findings);
}

int scan_report_end(struct scan_report *r, struct err *err)
{
	json_add_int(r->doc, "refused", r->n_refused);
	if (r->failed.code != ERR_NONE)
		json_add_string(r->doc, "error", r->failed.msg);
	if (cli_json(r->cli))
		cli_print_json(r->cli, r->doc);
	if (r->failed.code != ERR_NONE) {
		*err = r->failed;
		return -1;
	}
	if (r->n_refused == 0)
		return 0;
	err_set(err, ERR_CHECK, "%lld finding%s of severity %s or worse", (long long)r->n_refused,
	        r->n_refused == 1 ? "" : "s", severity_name(r->threshold));
	return err_hint(err, "update the packages, or raise --severity");
}
