#include "pipeline/steps.h"

#include <string.h>

#include "base/strbuf.h"

enum { COMMANDS_MAX = 16, STEPS_MAX = 8 };

static void add(struct strlist *list, const char *text)
{
	list->at[list->n++] = text;
}

static struct strlist room_for(struct arena *a, size_t n)
{
	return (struct strlist){arena_calloc(a, n, sizeof(const char *)), 0};
}

static void add_all(struct strlist *list, const struct strlist *more)
{
	for (size_t i = 0; i < more->n; i++)
		add(list, more->at[i]);
}

/* " --ca=FILE ...": what the spec wants of commands that reach the registry. */
static const char *options_of(const struct pipeline *p, struct arena *a)
{
	const char *text = "";

	for (size_t i = 0; i < p->section->options.n; i++)
		text = arena_printf(a, "%s %s", text, p->section->options.at[i]);
	return text;
}

/* "build-arm64" as "BuildArm64". */
static const char *resource_name(const char *name, struct arena *a)
{
	char *out = arena_strdup(a, name), *to = out;
	bool upper = true;

	for (const char *from = name; *from != '\0'; from++) {
		if (*from == '-') {
			upper = true;
			continue;
		}
		*to++ = upper && *from >= 'a' && *from <= 'z' ? (char)(*from - 'a' + 'A') : *from;
		upper = false;
	}
	*to = '\0';
	return out;
}

/* Joining, checking and deploying run on the first architecture's machine. */
static struct pipeline_step *begin(struct pipeline *p, enum pipeline_kind kind, const char *name,
                                   struct arena *a)
{
	struct pipeline_step *step = &p->steps[p->n_steps++];
	const struct pipeline_section *s = p->section;

	step->kind = kind;
	step->name = name;
	step->resource = resource_name(name, a);
	step->architecture = p->steps[0].architecture;
	step->commands = room_for(a, COMMANDS_MAX + s->test.n + s->build.n);
	step->files = room_for(a, STEPS_MAX);
	step->inputs = room_for(a, STEPS_MAX);
	return step;
}

static void add_build(struct pipeline *p, const char *architecture, struct arena *a)
{
	struct pipeline_step *step =
		begin(p, STEP_BUILD, arena_printf(a, "build-%s", architecture), a);
	const char *part = arena_printf(a, "part-%s.json", architecture);

	step->architecture = architecture;
	add(&step->commands, arena_printf(a, "export SLIPWAY_ARCH=%s", architecture));
	add_all(&step->commands, &p->section->test);
	add_all(&step->commands, &p->section->build);
	step->n_own = step->commands.n;
	add(&step->commands,
	    arena_printf(a,
	                 "slipway build%s%s -f %s%s --platform linux/%s --tag %s "
	                 "--push-by-digest --no-sign --result-file %s%s",
	                 p->build != NULL ? " " : "", p->build != NULL ? p->build : "", p->file,
	                 p->sets, architecture, p->staging.image, part, options_of(p, a)));
	step->artifact = step->resource;
	add(&step->files, part);
}

static void add_index(struct pipeline *p, struct arena *a)
{
	struct pipeline_step *step = begin(p, STEP_INDEX, "index", a);
	const char *parts = "";

	for (size_t i = 0; i < p->n_builds; i++) {
		const struct pipeline_step *build = &p->steps[i];

		add(&step->inputs, build->artifact);
		add(&step->commands, arena_printf(a, "cp \"$CODEBUILD_SRC_DIR_%s/%s\" .",
		                                  build->artifact, build->files.at[0]));
		add(&step->files, build->files.at[0]);
		parts = arena_printf(a, "%s %s", parts, build->files.at[0]);
	}
	add(&step->commands, arena_printf(a, "slipway index create %s%s --digest-file digest%s",
	                                  p->staging.image, parts, options_of(p, a)));
	step->artifact = step->resource;
	add(&step->files, "digest");
}

static const char *folder_of(const struct pipeline_step *step, struct arena *a)
{
	return arena_printf(a, "$CODEBUILD_SRC_DIR_%s", step->artifact);
}

/* Reads what was built, where it was built, and writes nothing there. */
static void add_check(struct pipeline *p, struct arena *a)
{
	const struct pipeline_step *index = &p->steps[p->n_steps - 1];
	struct pipeline_step *step = begin(p, STEP_CHECK, "check", a);
	const char *image = p->staging.image, *options = options_of(p, a);

	add(&step->inputs, index->artifact);
	add(&step->commands, arena_printf(a, "DIGEST=$(cat \"%s/digest\")", folder_of(index, a)));
	add(&step->commands, arena_printf(a, "slipway verify \"%s@$DIGEST\"%s", image, options));
	if (p->scan)
		add(&step->commands,
		    arena_printf(a, "slipway scan --severity %s \"%s@$DIGEST\"%s",
		                 arena_lower(a, p->section->severity, strlen(p->section->severity)),
		                 image, options));
	add(&step->commands, "printf '%s\\n' \"$DIGEST\" >digest");
	step->artifact = step->resource;
	add(&step->files, "digest");
}

static void add_tag(struct pipeline *p, struct pipeline_step *step, const char *tag,
                    struct arena *a)
{
	const char *image = p->repository.image;

	add(&step->commands, arena_printf(a, "slipway copy \"%s@$DIGEST\" \"%s:%s\"%s", image,
	                                  image, tag, options_of(p, a)));
}

/* Tags come last: they only ever name what passed and is signed. The commit's is the first. */
static void add_tags(struct pipeline *p, struct pipeline_step *step, struct arena *a)
{
	add(&step->commands, "TAG=$(printf %.12s \"$CODEBUILD_RESOLVED_SOURCE_VERSION\")");
	add_tag(p, step, "$TAG", a);
	for (size_t i = 0; i < p->section->tags.n; i++)
		add_tag(p, step, p->section->tags.at[i], a);
}

static void add_release(struct pipeline *p, struct arena *a)
{
	const struct pipeline_step *check = &p->steps[p->n_steps - 1];
	struct pipeline_step *step = begin(p, STEP_RELEASE, "release", a);
	const char *to = p->repository.image, *options = options_of(p, a);

	add(&step->inputs, check->artifact);
	add(&step->commands, arena_printf(a, "DIGEST=$(cat \"%s/digest\")", folder_of(check, a)));
	add(&step->commands,
	    arena_printf(a, "slipway copy \"%s@$DIGEST\" %s%s", p->staging.image, to, options));
	if (p->signing.options != NULL)
		add(&step->commands, arena_printf(a, "slipway sign%s \"%s@$DIGEST\"%s",
		                                  p->signing.options, to, options));
	add_tags(p, step, a);
	add(&step->commands, "printf '%s\\n' \"$DIGEST\" >digest");
	step->artifact = step->resource;
	add(&step->files, "digest");
}

static void add_deploy(struct pipeline *p, struct arena *a)
{
	const struct pipeline_step *release = &p->steps[p->n_steps - 1];
	struct pipeline_step *step = begin(p, STEP_DEPLOY, "deploy", a);

	add(&step->inputs, release->artifact);
	add(&step->commands, arena_printf(a, "DIGEST=$(cat \"%s/digest\")", folder_of(release, a)));
	add(&step->commands, arena_printf(a, "aws eks update-kubeconfig --name %s --region %s",
	                                  p->cluster, p->region));
	add(&step->commands,
	    arena_printf(a, "slipway deploy -f %s%s --image-digest \"$DIGEST\"", p->file, p->sets));
}

void pipeline_steps(struct pipeline *p, const struct pipeline_facts *facts, struct arena *a)
{
	p->steps = arena_calloc(a, STEPS_MAX, sizeof(*p->steps));
	for (size_t i = 0; i < facts->architectures.n; i++)
		add_build(p, facts->architectures.at[i], a);
	p->n_builds = p->n_steps;
	add_index(p, a);
	add_check(p, a);
	add_release(p, a);
	if (p->cluster != NULL)
		add_deploy(p, a);
}
