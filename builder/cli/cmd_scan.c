/*
 * slipway scan: the vulnerabilities of an image as a gate for CI, found by ECR's scanner or in
 * databases that are files.
 */
#include "base/timestamp.h"
#include "builder/cli/key_option.h"
#include "builder/cli/remote_option.h"
#include "builder/cli/scan_ecr.h"
#include "builder/image/image_scan.h"

static const char *const severity_choices[] = {"critical",      "high",      "medium", "low",
                                               "informational", "undefined", NULL};

struct scan_options {
	const char *severity, *suite;
	int64_t timeout, max_unpacked;
	bool start, read, allow_unjudged;
	struct strlist db, vex, key;
	struct remote_options remote;
};

static const struct option options[] = {
	TEXT_OPTION(struct scan_options, severity, "severity", 0, "LEVEL",
                    "Fail when there is a finding of this severity or worse", .fallback = "high",
                    .complete = COMPLETE_CHOICES, .choices = severity_choices),
	LIST_OPTION(struct scan_options, db, "db", 0, "FILE",
                    "Look in this database instead of asking ECR; may be repeated"),
	LIST_OPTION(struct scan_options, vex, "vex", 0, "FILE",
                    "With --db: OpenVEX document whose statements waive findings"),
	TEXT_OPTION(struct scan_options, suite, "suite", 0, "NAME",
                    "With --db: release of Debian packages that name none, as sid"),
	LIST_OPTION(struct scan_options, key, "key", 'k', "KEY",
                    "With --db: judge by a bill of materials that this key has signed: a public "
                    "key's file, env://VARIABLE or awskms:///alias/NAME; of several each has to "
                    "have"),
	FLAG_OPTION(struct scan_options, allow_unjudged, "allow-unjudged", 0,
                    "With --db: go on where no database covers a package"),
	FLAG_OPTION(struct scan_options, read, "read", 0,
                    "With --db: read the layers, even if a bill of materials is attached"),
	MAX_UNPACKED_OPTION(struct scan_options, max_unpacked),
	NUMBER_OPTION(struct scan_options, timeout, "timeout", 0, "SECONDS",
                      "How long to wait for ECR's scan (default 600)"),
	FLAG_OPTION(struct scan_options, start, "start", 0,
                    "Start a scan of ECR's instead of waiting for the one on push"),
	REMOTE_OPTIONS(struct scan_options, remote),
};

/* ---- by databases ---- */

static void add_databases(struct scan_report *report, const struct scan_result *result)
{
	cJSON *list = json_add_array(report->doc, "databases");

	for (size_t i = 0; i < result->n_databases; i++) {
		const struct scan_database *d = &result->databases[i];
		char time[TIMESTAMP_MAX];
		cJSON *item = cJSON_CreateObject();

		json_push(list, item);
		json_add_string(item, "path", d->path);
		json_add_string(item, "kind", d->kind);
		json_add_string(item, "modified", timestamp_extended(d->modified_ms, time));
		json_add_int(item, "records", (int64_t)d->n_records);
		if (!cli_json(report->cli))
			fprintf(report->cli->out, "%s: %s, %zu records, as of %s\n", d->path,
			        d->kind, d->n_records, time);
	}
}

/* Also said to a person, with these words around each. */
static void add_texts(struct scan_report *report, const char *key, const struct strlist *texts,
                      const char *before, const char *behind)
{
	cJSON *list = json_add_array(report->doc, key);

	for (size_t i = 0; i < texts->n; i++) {
		json_push_string(list, texts->at[i]);
		progress_note(report->cli->progress, "%s%s%s", before, texts->at[i], behind);
	}
}

static const char *read_from(const struct scan_options *o, bool attached)
{
	return o->key.n > 0 ? "signed document"
	       : attached   ? "attached document"
	                    : "layers were read";
}

static int scan_by_files(struct cli *cli, const struct remote *remote, const struct key_list *keys,
                         struct scan_report *report, struct err *err)
{
	const struct scan_options *o = cli->options;
	const struct image_scan_opts opts = {.scan = {.databases = o->db,
	                                              .waivers = o->vex,
	                                              .suite = o->suite,
	                                              .allow_unjudged = o->allow_unjudged},
	                                     .by = {keys->at, keys->n, NULL},
	                                     .read = o->read,
	                                     .max_unpacked = o->max_unpacked,
	                                     .progress = cli->progress};
	AUTO(image) struct image image = {0};
	struct descriptor root;
	struct image_scan scan;

	if (image_open_argument(remote, cli->args.at[0], &cli->arena, &image, err) != 0 ||
	    image_root(&image, &cli->arena, &root, err) != 0 ||
	    image_scan_run(&image, &root, &opts, &cli->arena, &scan, err) != 0)
		return err_wrap(err, "image '%s'", cli->args.at[0]);
	add_databases(report, &scan.result);
	for (size_t i = 0; i < scan.n; i++)
		scan_report_add(report, &scan.manifests[i], read_from(o, scan.attached[i]),
		                &scan.scanned[i].findings);
	add_texts(report, "unjudged", &scan.result.unjudged, "not judged: ", "");
	add_texts(report, "unused_waivers", &scan.result.unused, "",
	          ": it waives nothing that was found");
	if (report->n_unrated > 0)
		progress_note(cli->progress,
		              "%lld finding%s UNDEFINED: no database rates %s, and no --severity "
		              "but 'undefined' counts %s",
		              (long long)report->n_unrated,
		              report->n_unrated == 1 ? " is" : "s are",
		              report->n_unrated == 1 ? "it" : "them",
		              report->n_unrated == 1 ? "it" : "them");
	return 0;
}

/* ---- the command ---- */

static int check_options(const struct scan_options *o, struct err *err)
{
	const struct {
		const char *name;
		bool given;
	} alone[] = {{"vex", o->vex.n > 0},
	             {"suite", o->suite != NULL},
	             {"allow-unjudged", o->allow_unjudged},
	             {"read", o->read},
	             {"key", o->key.n > 0},
	             {"max-unpacked", o->max_unpacked > 0}},
	  never[] = {{"start", o->start}, {"timeout", o->timeout > 0}};

	for (size_t i = 0; o->db.n == 0 && i < ARRAY_LEN(alone); i++)
		if (alone[i].given)
			return err_set(err, ERR_USAGE, "--%s needs --db", alone[i].name);
	for (size_t i = 0; o->db.n > 0 && i < ARRAY_LEN(never); i++)
		if (never[i].given)
			return err_set(err, ERR_USAGE, "--%s is for ECR's scan, not for --db",
			               never[i].name);
	if (o->key.n > 0 && o->read)
		return err_set(err, ERR_USAGE,
		               "--key is about a document that is attached, --read about the "
		               "layers");
	return 0;
}

static int cmd_scan_run(struct cli *cli, struct err *err)
{
	const struct scan_options *o = cli->options;
	const struct scan_ecr_opts by_ecr = {.start = o->start, .timeout_s = o->timeout};
	AUTO(key_variables) struct key_variables variables = {0};
	AUTO(key_list) struct key_list keys = {0};
	AUTO(remote) struct remote remote = {0};
	AUTO(scan_report) struct scan_report report = {0};

	key_variables_take(&variables);
	if (check_options(o, err) != 0 || scan_report_begin(&report, cli, o->severity, err) != 0 ||
	    remote_from_options(cli, &o->remote, 0, cli->args.at[0], &remote, err) != 0 ||
	    key_list_open(&variables, &remote, &o->key, &keys, err) != 0)
		return -1;
	if (o->db.n > 0 ? scan_by_files(cli, &remote, &keys, &report, err) != 0
	                : scan_by_ecr(cli, &remote, &by_ecr, &report, err) != 0)
		return -1;
	return scan_report_end(&report, err);
}

const struct command cmd_scan = {
	.name = "scan",
	.summary = "Show the vulnerabilities of an image, and fail on severe ones",
	.synopsis = "REF",
	.details =
		"Without --db, REF is an image in Amazon ECR, and what ECR's scanner found is "
		"waited for.\n"
		"With --db, REF is as for inspect, and its bill of materials (the attached one, or "
		"one made\n"
		"from its layers) is held against files: Debian's security tracker (JSON), or "
		"OSV's "
		"records\n"
		"(all.zip of an ecosystem, a folder, or JSON), compressed or not. Nothing is sent "
		"anywhere.\n"
		"A package that no database covers is an error, for nobody looked.\n"
		"Of an index, every platform's image counts. Exit status 3 when there is a finding "
		"of the\n"
		"given severity or worse.\n",
	.examples =
		"slipway scan 123456789012.dkr.ecr.us-west-2.amazonaws.com/app:v1\tFail on HIGH "
		"or worse\n"
		"slipway scan --severity critical --output json REF\tFail on CRITICAL only\n"
		"slipway scan --db debian.json --db PyPI.zip build/image\tWithout any service\n"
		"slipway scan --db debian.json --vex waivers.json build/image\tWaive some, with "
		"reasons\n",
	.options = OPTION_TABLE(struct scan_options, options),
	.min_args = 1,
	.max_args = 1,
	.run = cmd_scan_run,
};
