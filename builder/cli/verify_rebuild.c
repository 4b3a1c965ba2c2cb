/*
 * See verify_rebuild.h. In order: what is stated, the source, the spec, the build, what differs.
 */
#include "builder/cli/verify_rebuild.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "builder/check/diff.h"
#include "builder/check/images.h"
#include "builder/cli/build_run.h"
#include "builder/cli/rebuild_report.h"
#include "builder/cli/rebuild_source.h"
#include "builder/cli/shell.h"
#include "builder/image/build.h"
#include "builder/image/provenance_known.h"
#include "builder/oci/mediatype.h"

enum { REMARKS_OWN = 3 /* and one per platform */ };

struct rebuild {
	struct cli *cli;
	const struct rebuild_request *request;
	const struct remote *remote;
	const struct image *image;
	bool whole; /* all that the root names is built, so that the root can be compared */
	struct stated *stated;
	struct provenance_findings *findings; /* per platform */
	size_t n, n_read;
	char scratch[PATH_MAX]; /* absolute; "" = not made */
	struct rebuild_source source;
	struct spec *spec;
	struct plan *plan;
	struct lock lock;
	struct layout *layout;
	struct build_result result;
	struct rebuild_report report;
	cJSON *diff;
};

bool rebuild_options_given(const struct rebuild_options *o)
{
	return o->source != NULL || o->file != NULL || o->run_build || o->set.n > 0 ||
	       o->label.n > 0 || o->annotation.n > 0 || o->env.n > 0;
}

/* ---- what is stated ---- */

static void remark(struct rebuild *r, const char *text)
{
	struct strlist *list = &r->report.remarks;

	list->at[list->n++] = text;
}

/* What one build has in common for all its platforms. */
static int check_same_build(const struct rebuild *r, struct err *err)
{
	const struct provenance *first = &r->stated[0].provenance;

	for (size_t i = 1; i < r->n; i++) {
		const struct provenance *p = &r->stated[i].provenance;

		if (digest_equal(&p->spec, &first->spec) &&
		    strcmp(p->spec_path, first->spec_path) == 0 && p->locked == first->locked &&
		    p->epoch == first->epoch && (p->image == NULL) == (first->image == NULL) &&
		    (p->image == NULL || strcmp(p->image, first->image) == 0))
			continue;
		err_set(err, ERR_CHECK,
		        "the statements of its platforms differ in spec, image, --locked or "
		        "SOURCE_DATE_EPOCH: they are not of one build");
		return err_hint(err, "check each one, as in --platform linux/amd64");
	}
	return 0;
}

static int find_images(struct rebuild *r, struct image_list *list, struct err *err)
{
	const char *platform = r->request->platform;
	struct arena *a = &r->cli->arena;
	struct platform want;

	if (platform != NULL && platform_parse(platform, &want, err) != 0) {
		err->code = ERR_USAGE;
		return err_wrap(err, "--platform %s", platform);
	}
	if (image_root(r->image, a, &r->report.root, err) != 0 ||
	    images_list(r->image->store, &r->report.root, platform != NULL ? &want : NULL, a, list,
	                err) != 0)
		return -1;
	r->whole = platform == NULL || digest_equal(&list->at[0].digest, &r->report.root.digest);
	return 0;
}

static void remark_others(struct rebuild *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		n += r->stated[i].n_others;
	if (n > 0)
		remark(r, arena_printf(&r->cli->arena,
		                       "%zu more statement%s attached: the newest of each platform "
		                       "was taken",
		                       n, n == 1 ? " is" : "s are"));
}

static int read_statements(struct rebuild *r, struct err *err)
{
	const struct stated_wish wish = {r->request->keys, r->request->n_keys};
	struct arena *a = &r->cli->arena;
	struct image_list list = {0};
	char digest[DIGEST_TEXT_MAX];

	if (find_images(r, &list, err) != 0)
		return -1;
	r->n = list.n;
	r->stated = arena_calloc(a, list.n, sizeof(*r->stated));
	r->findings = arena_calloc(a, list.n, sizeof(*r->findings));
	r->report.remarks.at = arena_calloc(a, REMARKS_OWN + list.n, sizeof(*r->report.remarks.at));
	for (; r->n_read < list.n; r->n_read++)
		if (stated_read(r->image->store, &list.at[r->n_read], &wish, a, &r->cli->diags,
		                &r->stated[r->n_read], err) != 0)
			return err_wrap(err, "statement about %s",
			                digest_text(&list.at[r->n_read].digest, digest));
	remark_others(r);
	return check_same_build(r, err);
}

/* ---- the source ---- */

static int make_scratch(struct rebuild *r, struct err *err)
{
	const char *tmp = getenv("TMPDIR");
	char dir[PATH_MAX];
	int n;

	if (realpath(tmp != NULL && tmp[0] != '\0' ? tmp : "/tmp", dir) == NULL)
		return err_set(err, ERR_IO, "find the folder for temporary files");
	n = snprintf(r->scratch, sizeof(r->scratch), "%s/slipway-rebuild-XXXXXX", dir);
	if (n < 0 || (size_t)n >= sizeof(r->scratch) || mkdtemp(r->scratch) == NULL) {
		r->scratch[0] = '\0';
		return err_set(err, ERR_IO, "create a scratch folder in '%s'", dir);
	}
	return 0;
}

static int open_source(struct rebuild *r, struct err *err)
{
	const struct rebuild_options *o = r->request->options;

	if (rebuild_source_find(o->source, &r->source, err) != 0 || make_scratch(r, err) != 0)
		return -1;
	if (o->run_build && rebuild_source_copy(&r->source, r->scratch, &r->cli->arena, err) != 0)
		return -1;
	return rebuild_source_enter(&r->source, err);
}

/* ---- the spec ---- */

/* A path within the source, whoever names it. */
static bool is_within(const char *path)
{
	if (path[0] == '/' || path[0] == '\0')
		return false;
	for (const char *s = path; s != NULL; s = strchr(s, '/')) {
		s += *s == '/';
		if (strncmp(s, "..", 2) == 0 && (s[2] == '/' || s[2] == '\0'))
			return false;
	}
	return true;
}

static int find_spec(const struct rebuild *r, const char **ret_file, struct err *err)
{
	const char *given = r->request->options->file;
	const char *file = given != NULL ? given : r->stated[0].provenance.spec_path;

	if (!is_within(file)) {
		err_set(err, ERR_USAGE, "the spec '%.200s' is not a path within --source", file);
		return err_hint(err, given != NULL ? "name it as it lies there"
		                                   : "the statement names it so: say with -f FILE "
		                                     "where it lies there");
	}
	if (!fs_exists(file)) {
		err_set(err, ERR_NOT_FOUND, "'%s' has no '%.200s'", r->request->options->source,
		        file);
		return err_hint(err, given != NULL ? "name the spec as it lies there"
		                                   : "the statement names it so: say with -f FILE "
		                                     "where it lies there");
	}
	*ret_file = file;
	return 0;
}

static int load_spec(struct rebuild *r, struct err *err)
{
	const struct rebuild_options *o = r->request->options;
	const char *name = r->stated[0].provenance.image;
	const struct strlist images = {&name, name != NULL};
	const struct spec_over over = {
		.images = images, .labels = o->label, .annotations = o->annotation, .env = o->env};
	struct spec_options options = {.set = o->set};

	if (find_spec(r, &options.file, err) != 0 ||
	    spec_from_options_over(r->cli, &options, &over, &r->spec, err) != 0 ||
	    spec_need_image(r->spec, err) != 0)
		return -1;
	if ((name != NULL || r->spec->n_images > 0) &&
	    spec_select(r->spec, name != NULL ? name : "", err) != 0)
		return err_wrap(err, "the statement's image");
	/* The documents of this build are compared and thrown away. */
	r->spec->image.provenance = true;
	r->spec->image.sbom.attach = false;
	return 0;
}

static int make_plan(struct rebuild *r, struct err *err)
{
	struct arena *a = &r->cli->arena;
	struct platform *platforms = arena_calloc(a, r->n, sizeof(*platforms));
	const struct layer_spec *shared = spec_layer_across_platforms(r->spec);

	for (size_t i = 0; i < r->n; i++)
		platforms[i] = r->stated[i].provenance.platform;
	if (!r->whole && shared != NULL) {
		err_set(err, ERR_USAGE,
		        "layer '%s' has files that all platforms share: one alone "
		        "cannot be built again",
		        shared->name);
		return err_hint(err, "leave --platform out");
	}
	if (!r->whole)
		remark(r, "only one platform was built: the index, which names the others, too, "
		          "was not compared");
	if (r->n < r->spec->image.n_platforms && r->whole)
		remark(r, "the spec has platforms that the image has not");
	return plan_make(r->spec, platforms, r->n, a, &r->plan, &r->cli->diags, err);
}

/* ---- the build ---- */

/* What compilers take the time from: as it was, which a statement cannot tell from unset if it is
 * 0. */
static int set_epoch(int64_t epoch, struct arena *a, struct err *err)
{
	if (epoch != 0)
		return shell_set_variable("SOURCE_DATE_EPOCH",
		                          arena_printf(a, "%lld", (long long)epoch), err);
	return unsetenv("SOURCE_DATE_EPOCH") == 0
	               ? 0
	               : err_set(err, ERR_IO, "unset the variable SOURCE_DATE_EPOCH");
}

static int run_commands(struct rebuild *r, struct err *err)
{
	const struct strlist *build = &r->spec->pipeline_section.build;
	struct arena *a = &r->cli->arena;

	if (!r->request->options->run_build)
		return 0;
	if (build->n == 0) {
		err_set(err, ERR_USAGE, "--run-build: '%s' has no pipeline.build", r->spec->file);
		return err_hint(err, "run the commands in --source yourself, and leave --run-build "
		                     "out");
	}
	if (set_epoch(r->stated[0].provenance.epoch, a, err) != 0)
		return -1;
	for (size_t i = 0; i < r->n; i++) {
		const char *architecture = r->plan->images[i].platform.architecture;

		if (shell_set_variable("SLIPWAY_ARCH", architecture, err) != 0 ||
		    shell_run(".", build, a, err) != 0)
			return err_wrap(err, "pipeline.build for %s", architecture);
	}
	return 0;
}

/* The bases as they were: a tag may name another image by now. */
static void fill_pins(const struct rebuild *r, struct build_opts *opts)
{
	struct arena *a = &r->cli->arena;
	struct base_pin *pins = arena_calloc(a, r->n, sizeof(*pins));
	struct err ignored = {0};

	opts->pins = pins;
	for (size_t i = 0; i < r->n; i++) {
		const struct provenance *p = &r->stated[i].provenance;

		for (size_t k = 0; k < p->inputs.n; k++) {
			const struct provenance_input *in = &p->inputs.at[k];
			struct base_pin pin = {.name = in->name, .platform = p->platform};

			if (!provenance_is_base(in) ||
			    digest_parse(arena_printf(a, "sha256:%s", in->digest), &pin.manifest,
			                 &ignored) != 0)
				continue;
			pins[opts->n_pins++] = pin;
			break;
		}
	}
}

/* No cache: what it holds is what some build once made of some files. */
static struct build_opts build_opts_of(struct rebuild *r)
{
	const struct rebuild_options *o = r->request->options;
	const struct build_options given = {
		.spec.set = o->set, .label = o->label, .annotation = o->annotation, .env = o->env};
	struct build_opts opts = {
		.plan = r->plan,
		.layout = r->layout,
		.remote = r->remote,
		.lock = &r->lock,
		.locked = r->stated[0].provenance.locked,
		.again = true,
		.overrides = build_overrides(&given, &r->cli->arena),
		.epoch = r->stated[0].provenance.epoch,
		.threads = (unsigned)r->request->jobs,
		.progress = r->cli->progress,
	};

	fill_pins(r, &opts);
	return opts;
}

/* Where the build itself fails, what differs may be the cause. */
static int blame_inputs(struct rebuild *r, const struct build_opts *opts, struct err *err)
{
	for (size_t i = 0; i < r->n; i++) {
		AUTO(provenance) struct provenance known = {0};
		struct err missing = {0};

		/* A file that cannot be read is none of what is here. */
		if (image_provenance_known(opts, i, &r->cli->arena, &known, &missing) != 0)
			remark(r, arena_strdup(&r->cli->arena, missing.msg));
		provenance_compare(&r->stated[i].provenance, &known, false, &r->cli->arena,
		                   &r->findings[i]);
	}
	rebuild_blame(r->cli, &r->report);
	return err_wrap(err, "build it again");
}

static int build(struct rebuild *r, struct err *err)
{
	char dir[PATH_MAX];

	/* The lock is obeyed, if the build obeyed it, and never written. */
	if (fs_join(dir, r->scratch, "image", err) != 0 ||
	    layout_open(dir, LAYOUT_WRITE, &r->layout, err) != 0 ||
	    lock_load(lock_path(r->spec->file, &r->cli->arena), &r->cli->arena, &r->lock, err) != 0)
		return -1;
	const struct build_opts opts = build_opts_of(r);

	return image_build(&opts, &r->cli->arena, &r->result, &r->cli->diags, err) == 0
	               ? 0
	               : blame_inputs(r, &opts, err);
}

/* ---- what differs ---- */

/* The statement of the new image beside that of the old one. */
static int compare_statements(struct rebuild *r, struct store *made, struct err *err)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct stated_wish any = {0};
		struct stated here = {0};

		if (stated_read(made, &r->result.images[i].manifest, &any, &r->cli->arena,
		                &r->cli->diags, &here, err) != 0)
			return -1;
		provenance_compare(&r->stated[i].provenance, &here.provenance, true, &r->cli->arena,
		                   &r->findings[i]);
		provenance_done(&here.provenance);
		r->report.n_inputs += r->stated[i].provenance.inputs.n;
		r->report.n_layers +=
			r->result.images[i].n_layers + r->result.images[i].n_base_layers;
	}
	return 0;
}

static int compare_images(struct rebuild *r, struct store *made, struct err *err)
{
	const bool index = r->whole && media_is_index(r->report.root.media_type);
	const struct descriptor *old = index ? &r->report.root : &r->stated[0].manifest;
	const struct descriptor *new = index ? &r->result.index : &r->result.images[0].manifest;
	const char *name =
		arena_printf(&r->cli->arena, "%s, built again", r->request->options->source);
	struct budget budget = {.max_unpacked = r->request->max_unpacked};
	const struct diff_side a = {r->image->store, old, r->request->name}, b = {made, new, name};

	r->report.with_index = index;
	r->report.rebuilt = new->digest;
	r->report.equal = digest_equal(&old->digest, &new->digest);
	if (r->report.equal)
		return 0;
	if (diff_images(&a, &b, &(struct diff_opts){&budget, true}, &r->diff, err) != 0)
		return -1;
	r->report.diff = r->diff;
	return 0;
}

static int verdict(const struct rebuild *r, struct err *err)
{
	size_t n = rebuild_differences(&r->report);
	const char *differ = n == 1 ? " differs" : "s differ";

	if (r->report.equal && n == 0)
		return 0;
	if (n == 0) {
		err_set(err, ERR_CHECK,
		        "the source does not give this image, though its inputs are as stated");
		return err_hint(err,
		                "either somebody changed the image, or a file that it holds is "
		                "made anew by each build");
	}
	if (r->report.equal)
		err_set(err, ERR_CHECK,
		        "the source gives this image, but is not what the statement says: %zu "
		        "input%s",
		        n, differ);
	else
		err_set(err, ERR_CHECK, "the source does not give this image: %zu input%s", n,
		        differ);
	return err_hint(err, "check out what the statement names, and build it in the same way");
}

static int compare(struct rebuild *r, struct err *err)
{
	struct store *made = layout_store(r->layout);
	int result = compare_statements(r, made, err) != 0 ? -1 : compare_images(r, made, err);

	store_close(made);
	if (result != 0)
		return -1;
	rebuild_print(r->cli, &r->report);
	return verdict(r, err);
}

static int run(struct rebuild *r, struct err *err)
{
	if (read_statements(r, err) != 0)
		return -1;
	r->report.request = r->request;
	r->report.stated = r->stated;
	r->report.findings = r->findings;
	r->report.n = r->n;
	if (open_source(r, err) != 0 || load_spec(r, err) != 0 || make_plan(r, err) != 0 ||
	    run_commands(r, err) != 0 || build(r, err) != 0)
		return -1;
	rebuild_source_done(&r->source);
	return compare(r, err);
}

int verify_rebuild(struct cli *cli, const struct rebuild_request *request,
                   const struct remote *remote, const struct image *image, struct err *err)
{
	struct rebuild r = {.cli = cli,
	                    .request = request,
	                    .remote = remote,
	                    .image = image,
	                    .source = REBUILD_SOURCE_INIT};
	struct err ignored = {0};
	int result = run(&r, err);

	rebuild_source_done(&r.source);
	layout_close(r.layout);
	for (size_t i = 0; i < r.n_read; i++)
		provenance_done(&r.stated[i].provenance);
	for (size_t i = 0; i < r.n; i++)
		provenance_findings_done(&r.findings[i]);
	cJSON_Delete(r.diff);
	if (r.scratch[0] != '\0' && fs_remove_tree(r.scratch, &ignored) != 0)
		progress_note(cli->progress, "%s", ignored.msg);
	return result;
}
