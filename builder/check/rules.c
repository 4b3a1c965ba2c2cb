#include "builder/check/rules.h"

#include <stdarg.h>
#include <string.h>

#include "builder/layer/elf/elf_search.h"

const struct rule rules[RULES] = {
	[RULE_DIGEST] = {"digest", DIAG_ERROR, "every blob is there with its digest and size",
                         NULL},
	[RULE_MEDIA_TYPE] = {"media-type", DIAG_ERROR, "manifests name known kinds of blobs",
                             rule_check_manifest},
	[RULE_LAYER_COUNT] = {"layer-count", DIAG_ERROR, "no more layers than runtimes can mount",
                              NULL},
	[RULE_DIFF_ID] = {"diff-id", DIAG_ERROR,
                          "the configuration's diff IDs are those of the layers",
                          rule_check_diff_ids},
	[RULE_HISTORY] = {"history", DIAG_ERROR, "the history has one entry a layer",
                          rule_check_history},
	[RULE_PLATFORM] = {"platform", DIAG_ERROR, "index and configuration name the same platform",
                           rule_check_platform},
	[RULE_SIZE_BUDGET] = {"size-budget", DIAG_ERROR, "compressed layers fit the budget",
                              rule_check_size},
	[RULE_DUPLICATE_PATH] = {"duplicate-path", DIAG_ERROR, "no path twice in one layer", NULL},
	[RULE_WHITEOUT] = {"whiteout", DIAG_ERROR, "whiteouts are well formed", NULL},
	[RULE_HARD_LINK] = {"hard-link", DIAG_ERROR, "hard links name a file that is there", NULL},
	[RULE_SHADOWED_SYMLINK] = {"shadowed-symlink", DIAG_ERROR,
                                   "no folder replaces a link to a folder of a lower layer", NULL},
	[RULE_SECRET] = {"secret", DIAG_ERROR, "no keys, tokens or passwords in any layer",
                         rule_check_secrets},
	[RULE_SETUID] = {"setuid", DIAG_WARNING, "no setuid, setgid or capability files",
                         rule_check_setuid},
	[RULE_WORLD_WRITABLE] = {"world-writable", DIAG_WARNING,
                                 "no files or non-sticky folders that everybody may write",
                                 rule_check_writable},
	[RULE_ENTRYPOINT] = {"entrypoint", DIAG_ERROR,
                             "the program to start is there and executable", rule_check_entrypoint},
	[RULE_ELF_MACHINE] = {"elf-machine", DIAG_ERROR,
                              "programs and libraries are of the platform", rule_check_machine},
	[RULE_ELF_INTERPRETER] = {"elf-interpreter", DIAG_ERROR,
                                  "every program's interpreter is there", rule_check_interpreter},
	[RULE_ELF_NEEDED] = {"elf-needed", DIAG_ERROR,
                             "every needed library is found by the loader", rule_check_linkage},
	[RULE_GLIBC_VERSION] = {"glibc-version", DIAG_ERROR,
                                "libraries define the symbol versions that are needed", NULL},
};

struct rule_place rule_place_of(struct check_image *image, const struct view_node *n)
{
	return (struct rule_place){n->layer, view_path(&image->view, n)};
}

/* "linux/arm64: layer 2 'runtime': /usr/bin/x: " */
static void place_text(const struct check_image *image, struct rule_place place, struct strbuf *sb)
{
	strbuf_adds(sb, image->platform_name);
	if (place.layer < image->manifest.n_layers) {
		const char *name = strmap_get(&image->manifest.layers[place.layer].annotations,
		                              ANNOTATION_LAYER_NAME);

		strbuf_addf(sb, ": layer %zu", place.layer + 1);
		if (name != NULL)
			strbuf_addf(sb, " '%s'", name);
	}
	if (place.path != NULL)
		strbuf_addf(sb, ": %s%s", place.path[0] == '/' ? "" : "/", place.path);
	strbuf_adds(sb, ": ");
}

struct diag *rule_report_as(struct check_image *image, enum rule_id id, enum diag_severity severity,
                            struct rule_place place, const char *text)
{
	struct check_run *run = image->run;
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(16 << 10);
	struct diag *diag;

	if (run->off[id])
		return NULL;
	if (++image->n_reports[id] > RULE_REPORTS_MAX) {
		if (severity == DIAG_ERROR)
			run->n_hidden_errors++;
		return NULL;
	}
	place_text(image, place, &sb);
	strbuf_adds(&sb, text);
	diag = diags_add(run->diags, severity, (struct srcpos){0}, "%s", strbuf_str(&sb));
	diag_rule(run->diags, diag, rules[id].name);
	return diag;
}

struct diag *rule_report(struct check_image *image, enum rule_id id, struct rule_place place,
                         const char *fmt, ...)
{
	char text[4096];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return rule_report_as(image, id, rules[id].severity, place, text);
}

void rule_hint(struct check_image *image, struct diag *diag, const char *hint)
{
	if (diag != NULL)
		diag_hint(image->run->diags, diag, "%s", hint);
}

void rule_report_left_out(struct check_image *image)
{
	for (size_t id = 0; id < RULES; id++) {
		struct diag *diag;

		if (image->n_reports[id] <= RULE_REPORTS_MAX)
			continue;
		diag = diags_add(image->run->diags, DIAG_NOTE, (struct srcpos){0},
		                 "%s: %zu more of %s", image->platform_name,
		                 image->n_reports[id] - RULE_REPORTS_MAX, rules[id].name);
		diag_rule(image->run->diags, diag, rules[id].name);
	}
}

bool rule_provided(const struct check_image *image, const char *soname)
{
	return elf_search_provided(&image->run->opts->provided, soname);
}

const char *rule_env(const struct check_image *image, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < image->env.n; i++)
		if (strncmp(image->env.at[i], name, n) == 0 && image->env.at[i][n] == '=')
			return image->env.at[i] + n + 1;
	return NULL;
}
