/*
 * slipway push: an image in a layout or an archive goes to a registry.
 */
#include <string.h>

#include "base/text.h"
#include "builder/cli/command.h"
#include "builder/cli/push_signing.h"
#include "builder/cli/remote_option.h"
#include "builder/cli/result_file.h"
#include "builder/cli/spec_option.h"
#include "builder/image/copy.h"
#include "builder/image/import.h"
#include "builder/image/push.h"

struct push_options {
	struct spec_options spec;
	struct strlist tag;
	bool by_digest;
	int64_t jobs;
	const char *digest_file;
	bool create_repository;
	struct remote_options remote;
};

static const struct option options[] = {
	SPEC_OPTIONS(struct push_options, spec, "The spec that names repository and tags",
                     "Override one value of the spec"),
	LIST_OPTION(struct push_options, tag, "tag", 't', "TAG",
                    "Push under this tag instead of the reference's or the spec's"),
	FLAG_OPTION(struct push_options, by_digest, "by-digest", 0,
                    "Set no tag: only the digest names the image"),
	NUMBER_OPTION(struct push_options, jobs, "jobs", 'j', "N", "Blobs at a time (default 4)"),
	TEXT_OPTION(struct push_options, digest_file, "digest-file", 0, "FILE",
                    "Write the digest to this file", .complete = COMPLETE_FILE),
	CREATE_REPOSITORY_OPTION(struct push_options, create_repository),
	REMOTE_OPTIONS(struct push_options, remote),
};

/* One image to push: where it is, and where it goes. */
struct push_job {
	const char *source; /* as image_argument reads it */
	const char *ref;    /* NULL = the spec's repository and tags */
	const char *name;   /* among the spec's images; NULL = its only one, or no spec */
};

/* What the command's words mean. */
struct push_words {
	struct cli *cli;
	const struct push_options *options;
	struct spec *spec; /* NULL until it was needed */
	struct key_variables variables;
	cJSON *documents; /* gets the results for programs; NULL = they are printed */
};

static int need_spec(struct push_words *w, struct err *err)
{
	return w->spec != NULL ? 0 : spec_from_options(w->cli, &w->options->spec, &w->spec, err);
}

/* An image of the spec by its name; a spec that is not there has none. */
static int find_name(struct push_words *w, const char *word, bool *ret_found, struct err *err)
{
	*ret_found = false;
	if (word[strcspn(word, "/:@")] != '\0' || !fs_exists(w->options->spec.file))
		return 0;
	if (need_spec(w, err) != 0)
		return -1;
	for (size_t i = 0; i < w->spec->n_images; i++)
		*ret_found |= strcmp(w->spec->images[i].name, word) == 0;
	return 0;
}

static bool is_image_here(struct cli *cli, const char *word)
{
	struct ref ref;
	struct err ignored = {0};

	return image_argument(word, &cli->arena, &ref, &ignored) == 0 && ref.kind != REF_REGISTRY;
}

/* The folder where `slipway build` left an image of the spec. */
static struct push_job job_of_name(struct push_words *w, const char *name, const char *ref)
{
	const struct spec_image image = {.name = name};

	return (struct push_job){spec_image_dir(&image, "build/image", &w->cli->arena), ref, name};
}

/*
 * The first word as a source, if it is one: a layout or archive, else the name of an image, though
 * a folder with its files may be called so too. What is there and is neither is opened all the
 * same: that says why.
 */
static int read_source(struct push_words *w, const char *word, struct push_job *job,
                       bool *ret_found, struct err *err)
{
	bool named = false;

	job->source = word;
	*ret_found = true;
	if (is_image_here(w->cli, word))
		return 0;
	if (find_name(w, word, &named, err) != 0)
		return -1;
	if (named)
		*job = job_of_name(w, word, job->ref);
	*ret_found = named || fs_exists(word);
	return 0;
}

static int no_source(const struct push_words *w, const char *word, struct err *err)
{
	err_set(err, ERR_NOT_FOUND,
	        "'%.200s' is not a path here: there is no such layout or archive, and no image of "
	        "%s has that name",
	        word, w->options->spec.file);
	return err_hint(err, "`slipway build` makes build/image; write slipway push PATH "
	                     "HOST/NAME:TAG");
}

/* Without words: every image of the spec. */
static int all_jobs(struct push_words *w, struct push_job **ret_jobs, size_t *ret_n,
                    struct err *err)
{
	if (need_spec(w, err) != 0 || spec_need_image(w->spec, err) != 0)
		return -1;
	size_t n = w->spec->n_images > 0 ? w->spec->n_images : 1;

	*ret_jobs = arena_calloc(&w->cli->arena, n, sizeof(**ret_jobs));
	for (size_t i = 0; i < n; i++)
		(*ret_jobs)[i] = job_of_name(
			w, w->spec->n_images > 0 ? w->spec->images[i].name : NULL, NULL);
	*ret_n = n;
	return 0;
}

/* SOURCE; SOURCE REF; REF alone pushes build/image there. */
static int one_job(struct push_words *w, struct push_job *job, struct err *err)
{
	const struct strlist *args = &w->cli->args;
	bool found;

	job->ref = args->n == 2 ? args->at[1] : NULL;
	if (read_source(w, args->at[0], job, &found, err) != 0)
		return -1;
	if (!found && (args->n == 2 || args->at[0][strcspn(args->at[0], "/:")] == '\0'))
		return no_source(w, args->at[0], err);
	if (!found)
		*job = (struct push_job){.source = "build/image", .ref = args->at[0]};
	return 0;
}

static int target_from_ref(struct cli *cli, const char *text, struct image_target *t,
                           struct err *err)
{
	/* docker takes the name of a host for one of its own images. */
	if (strpbrk(text, "/:") == NULL && strchr(text, '.') != NULL) {
		err_set(err, ERR_USAGE, "'%.200s' is a registry, and names no repository", text);
		return err_hint(err, "write HOST/NAME:TAG, as in %.200s/team/app:v1", text);
	}
	if (ref_parse(text, &cli->arena, &t->to, err) != 0)
		return -1;
	if (t->to.kind != REF_REGISTRY) {
		err_set(err, ERR_USAGE, "'%s' is not a registry reference", text);
		return err_hint(err, "the image comes first, then where it goes: slipway push PATH "
		                     "HOST/NAME:TAG");
	}
	if (t->to.tag != NULL) {
		t->tags.at = arena_calloc(&cli->arena, 1, sizeof(*t->tags.at));
		t->tags.at[0] = t->to.tag;
		t->tags.n = 1;
	}
	return 0;
}

static int target_from_spec(struct push_words *w, const struct push_job *job,
                            struct image_target *t, struct err *err)
{
	if (need_spec(w, err) != 0 || spec_need_image(w->spec, err) != 0 ||
	    (job->name != NULL && spec_select(w->spec, job->name, err) != 0))
		return -1;
	if (job->name == NULL && w->spec->n_images > 1) {
		err_set(err, ERR_USAGE, "%s has several images: which one is '%.200s'?",
		        w->spec->file, job->source);
		return err_hint(err,
		                "write slipway push NAME, or slipway push %.200s HOST/NAME:TAG",
		                job->source);
	}
	return image_target_of_spec(w->spec, &w->cli->arena, t, err);
}

static int find_target(struct push_words *w, const struct push_job *job, struct image_target *t,
                       struct err *err)
{
	const struct push_options *o = w->options;

	if ((job->ref != NULL ? target_from_ref(w->cli, job->ref, t, err)
	                      : target_from_spec(w, job, t, err)) != 0)
		return -1;
	if (o->tag.n > 0 && o->by_digest)
		return err_set(err, ERR_USAGE,
		               "--tag sets a tag and --by-digest sets none: choose one");
	if (o->tag.n > 0)
		t->tags = o->tag;
	for (size_t i = 0; i < t->tags.n; i++)
		if (!ref_tag_valid(t->tags.at[i])) {
			err_set(err, ERR_USAGE, "'%s' is not a tag", t->tags.at[i]);
			return err_hint(err, "--tag takes the tag alone; the repository is a word "
			                     "of its own: slipway push PATH HOST/NAME");
		}
	return 0;
}

/*
 * What to push: the reference's own tag or digest; without one, the image that the target's first
 * tag names in the layout; without that, the layout's only image.
 */
static int find_root(struct cli *cli, const struct image *source, const struct image_target *t,
                     struct descriptor *ret_root, struct err *err)
{
	struct err first = {0};

	if (source->ref.tag == NULL && !source->ref.has_digest && t->tags.n > 0 &&
	    store_resolve(source->store, t->tags.at[0], &cli->arena, ret_root, &first) == 0)
		return 0;
	return image_root(source, &cli->arena, ret_root, err);
}

static int print_result(const struct push_words *w, const struct descriptor *root,
                        const struct image_target *t, const struct push_result *pushed,
                        struct err *err)
{
	struct cli *cli = w->cli;
	const struct push_options *o = w->options;
	char digest[DIGEST_TEXT_MAX], size[TEXT_BYTES_MAX];

	digest_text(&root->digest, digest);
	const char *line = arena_printf(&cli->arena, "%s\n", digest);

	if (o->digest_file != NULL &&
	    result_file_write(o->digest_file, line, strlen(line), err) != 0)
		return -1;
	if (cli_json(cli)) {
		AUTO(json) cJSON *doc = cJSON_CreateObject();

		json_add_string(doc, "digest", digest);
		json_add_string(doc, "repository",
		                arena_printf(&cli->arena, "%s/%s", t->to.host, t->to.repository));
		cJSON *tags = json_add_array(doc, "tags");

		for (size_t i = 0; i < t->tags.n; i++)
			json_push_string(tags, t->tags.at[i]);
		push_result_json(pushed, doc);
		if (w->documents == NULL) {
			cli_print_json(cli, doc);
			return 0;
		}
		json_push(w->documents, doc);
		doc = NULL;
		return 0;
	}
	fprintf(cli->out, "%zu blobs uploaded (%s), %zu mounted, %zu already there\n",
	        pushed->n_uploaded, text_bytes(pushed->bytes_uploaded, size), pushed->n_mounted,
	        pushed->n_existed);
	if (pushed->n_attached > 0)
		fprintf(cli->out, "%zu attached document%s sent along\n", pushed->n_attached,
		        pushed->n_attached == 1 ? "" : "s");
	for (size_t i = 0; i < t->tags.n; i++)
		fprintf(cli->out, "%s/%s:%s\n", t->to.host, t->to.repository, t->tags.at[i]);
	fprintf(cli->out, "%s\n", digest);
	return 0;
}

/* A folder below $TMPDIR, for what an archive holds. */
struct scratch {
	char dir[PATH_MAX];
	struct layout *layout;
};

static void scratch_done(struct scratch *s)
{
	struct err ignored = {0};

	layout_close(s->layout);
	if (s->dir[0] != '\0' && fs_remove_tree(s->dir, &ignored) != 0)
		s->dir[0] = '\0';
}

static int unpack_attached(const struct image *source, const struct descriptor *root,
                           struct layout *layout, struct err *err)
{
	struct copy_layout place;
	struct copy_result ignored = {0};
	const struct copy_opts opts = {
		.from = source->store, .to = &place.place, .root = root, .attached_only = true};

	copy_layout_init(&place, layout, NULL);
	return copy_image(&opts, &ignored, err);
}

static int unpack(struct cli *cli, const struct image *source, const struct descriptor *root,
                  struct scratch *s, struct err *err)
{
	const char *tmp = getenv("TMPDIR");
	int n = snprintf(s->dir, sizeof(s->dir), "%s/slipway-push-XXXXXX",
	                 tmp != NULL && tmp[0] == '/' ? tmp : "/tmp");

	if (n < 0 || (size_t)n >= sizeof(s->dir) || mkdtemp(s->dir) == NULL) {
		s->dir[0] = '\0';
		return err_set(err, ERR_IO, "create a temporary folder");
	}
	if (layout_open(s->dir, LAYOUT_WRITE, &s->layout, err) != 0 ||
	    image_import(source->store, root, s->layout, &cli->arena, err) != 0)
		return -1;
	return unpack_attached(source, root, s->layout, err);
}

static int send(const struct push_words *w, const struct remote *remote, struct layout *layout,
                const struct descriptor *root, struct image_target *to, struct err *err)
{
	struct push_result pushed = {0};

	/* The tags have already selected what to push. */
	to->create = w->options->create_repository;
	if (w->options->by_digest)
		to->tags = (struct strlist){0};
	if (image_push(remote, layout, root, to, &pushed, err) != 0)
		return -1;
	return print_result(w, root, to, &pushed, err);
}

static int not_built(const char *source, struct err *err)
{
	err_wrap(err, "image '%s'", source);
	if (err->code == ERR_FORMAT)
		return err_hint(err, "name a layout's folder, or an archive that `slipway build "
		                     "--format`, `docker save` or `podman save` wrote");
	return err_hint(err, "`slipway build` builds it");
}

static int push_from(const struct push_words *w, const struct remote *remote,
                     const char *source_text, struct image_target *t, struct err *err)
{
	AUTO(image) struct image source = {0};
	AUTO(scratch) struct scratch scratch = {0};
	struct cli *cli = w->cli;
	struct descriptor root;
	struct ref ref;

	if (image_argument(source_text, &cli->arena, &ref, err) != 0)
		return not_built(source_text, err);
	if (ref.kind == REF_REGISTRY) {
		err_set(err, ERR_NOT_FOUND, "there is no such layout or archive");
		return not_built(source_text, err);
	}
	if (image_open_argument(remote, source_text, &cli->arena, &source, err) != 0 ||
	    find_root(cli, &source, t, &root, err) != 0)
		return not_built(source_text, err);
	if (source.layout == NULL && unpack(cli, &source, &root, &scratch, err) != 0)
		return err_wrap(err, "image '%s'", source_text);
	return send(w, remote, source.layout != NULL ? source.layout : scratch.layout, &root, t,
	            err);
}

static int push_one(struct push_words *w, const struct push_job *job, struct err *err)
{
	struct cli *cli = w->cli;
	AUTO(remote) struct remote remote = {0};
	AUTO(push_signing) struct push_signing signing = {0};
	struct image_target target = {0};

	if (find_target(w, job, &target, err) != 0 ||
	    remote_from_options(cli, &w->options->remote, w->options->jobs,
	                        ref_text(&target.to, &cli->arena), &remote, err) != 0)
		return -1;
	/* Where the command says where it goes, the spec does not say who signs it. */
	if (job->ref == NULL &&
	    push_signing_open(cli, &w->variables, &remote, w->spec, &signing, &target, err) != 0)
		return -1;
	return push_from(w, &remote, job->source, &target, err);
}

static int push_all(struct push_words *w, struct err *err)
{
	struct cli *cli = w->cli;
	AUTO(json) cJSON *doc = NULL;
	struct push_job one = {0}, *jobs = &one;
	size_t n = 1;

	if ((cli->args.n == 0 ? all_jobs(w, &jobs, &n, err) : one_job(w, &one, err)) != 0)
		return -1;
	if (n > 1 && w->options->digest_file != NULL) {
		err_set(err, ERR_USAGE, "--digest-file is for one image, and %zu are to be pushed",
		        n);
		return err_hint(err, "name one: slipway push %s", jobs[0].name);
	}
	if (n > 1 && cli_json(cli)) {
		doc = cJSON_CreateObject();
		w->documents = json_add_array(doc, "pushes");
	}
	for (size_t i = 0; i < n; i++)
		if (push_one(w, &jobs[i], err) != 0)
			return n == 1 ? -1 : err_wrap(err, "image '%s'", jobs[i].name);
	if (doc != NULL)
		cli_print_json(cli, doc);
	return 0;
}

static int cmd_push_run(struct cli *cli, struct err *err)
{
	struct push_words words = {.cli = cli, .options = cli->options};

	key_variables_take(&words.variables);
	int result = push_all(&words, err);

	key_variables_done(&words.variables);
	return result;
}

const struct command cmd_push = {
	.name = "push",
	.summary = "Push a built image to a registry",
	.synopsis = "[PATH|NAME] [HOST/NAME[:TAG]]",
	.details =
		"Without arguments the image in build/image goes to the spec's repository under "
		"its tags;\n"
		"of several images in the spec NAME is pushed from build/image/NAME, or all. PATH "
		"is a\n"
		"layout's folder (DIR or DIR:TAG) or an archive of OCI's or of docker save's form. "
		"What\n"
		"exists as a path is one.\n"
		"Blobs that the registry has are not sent; layers of the base image are mounted "
		"from its\n"
		"repository where the registry can. Children go before the index, tags come "
		"last, so an\n"
		"interrupted push is never visible, and the next run sends only what is "
		"missing.\n"
		"What is attached to the image in a layout goes with it. With `image.sign` in the "
		"spec, and no\n"
		"REF, it is signed before a tag names it. Amazon ECR is used with AWS "
		"credentials, found as the\n"
		"AWS CLI finds them; no login is needed.\n",
	.examples = "slipway push\tPush build/image as slipway.yaml says\n"
		    "slipway push build/image registry.example.com/team/app:v1\tPush elsewhere\n"
		    "slipway push image.tar registry.example.com/team/app:v1\tPush what `docker "
		    "save` wrote\n",
	.options = OPTION_TABLE(struct push_options, options),
	.max_args = 2,
	.run = cmd_push_run,
};
