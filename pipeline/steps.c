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

/* The option's words for a severity are ECR's in small letters. */
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
	add(&step->commands,
	    arena_printf(a,
	                 "slipway build%s%s -f %s%s --platform linux/%s --push-by-digest "
	                 "--result-file %s%s",
	                 p->build != NULL ? " " : "", p->build != NULL ? p->build : "", p->file,
	                 p->sets, architecture, part, options_of(p, a)));
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
	                                  p->image, parts, options_of(p, a)));
	step->artifact = step->resource;
	add(&step->files, "digest");
}

/* Tags come last: they only ever name what passed. */
static void add_check(struct pipeline *p, struct arena *a)
{
	const struct pipeline_step *index = &p->steps[p->n_steps - 1];
	struct pipeline_step *step = begin(p, STEP_CHECK, "check", a);
	const char *dir = arena_printf(a, "$CODEBUILD_SRC_DIR_%s", index->artifact);
	const char *parts = "", *tags = "", *options = options_of(p, a);

	for (size_t i = 0; i < p->n_builds; i++)
		parts = arena_printf(a, "%s \"%s/%s\"", parts, dir, p->steps[i].files.at[0]);
	for (size_t i = 0; i < p->section->tags.n; i++)
		tags = arena_printf(a, "%s --tag %s", tags, p->section->tags.at[i]);
	add(&step->inputs, index->artifact);
	add(&step->commands, arena_printf(a, "DIGEST=$(cat \"%s/digest\")", dir));
	add(&step->commands, arena_printf(a, "slipway verify \"%s@$DIGEST\"%s", p->image, options));
	if (p->scan)
		add(&step->commands,
		    arena_printf(a, "slipway scan --severity %s \"%s@$DIGEST\"%s",
		                 arena_lower(a, p->section->severity, strlen(p->section->severity)),
		                 p->image, options));
	add(&step->commands, arena_printf(a,
	                                  "slipway index create %s%s --tag \"$(printf %%.12s "
	                                  "\"$CODEBUILD_RESOLVED_SOURCE_VERSION\")\"%s%s",
	                                  p->image, parts, tags, options));
	add(&step->commands, "printf '%s\\n' \"$DIGEST\" >digest");
	step->artifact = step->resource;
	add(&step->files, "digest");
}

static void add_deploy(struct pipeline *p, struct arena *a)
{
	const struct pipeline_step *check = &p->steps[p->n_steps - 1];
	struct pipeline_step *step = begin(p, STEP_DEPLOY, "deploy", a);

	add(&step->inputs, check->artifact);
	add(&step->commands,
	    arena_printf(a, "DIGEST=$(cat \"$CODEBUILD_SRC_DIR_%s/digest\")", check->artifact));
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
	if (p->cluster != NULL)
		add_deploy(p, a);
}
