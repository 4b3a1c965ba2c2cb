#include "builder/init/compose.h"

#include <string.h>

#include "base/strbuf.h"
#include "builder/init/parts.h"
#include "karpenter/catalogue/catalogue.h"

static const char python_base[] = "public.ecr.aws/docker/library/python:3.13-slim";
/* Builders in AWS, where a toolchain is a package away. */
static const char builder_image[] = "public.ecr.aws/docker/library/debian:13";

enum { VALUES_MAX = 40 };

/* The values of one request. */
struct values {
	struct init_value at[VALUES_MAX];
	struct init_values all;
	const struct init_request *r;
	struct arena *arena;
};

static void set(struct values *v, const char *key, const char *text)
{
	if (v->all.n == VALUES_MAX)
		BUG("more than %d values", VALUES_MAX);
	v->at[v->all.n++] = (struct init_value){key, text};
	v->all.at = v->at;
}

static char *filled(const struct values *v, const char *text)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 20);

	init_fill(text, &v->all, &sb);
	return arena_strdup(v->arena, strbuf_str(&sb));
}

/* "linux/amd64, linux/arm64" by before "linux/", after "" and between ", ". */
static char *joined(const struct strlist *list, const char *before, const char *after,
                    const char *between, struct arena *a)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 16);

	for (size_t i = 0; i < list->n; i++)
		strbuf_addf(&sb, "%s%s%s%s", i > 0 ? between : "", before, list->at[i], after);
	return arena_strdup(a, strbuf_str(&sb));
}

/* The commands of the build, for an architecture as these words have it; NULL = there are none. */
static const char *build_for(const struct init_request *r, const char *arch, const char *machine,
                             struct arena *a)
{
	struct values v = {.r = r, .arena = a};

	if (r->project->build == NULL)
		return NULL;
	set(&v, "arch", arch);
	set(&v, "machine", machine);
	set(&v, "program", r->program);
	set(&v, "sources", r->sources != NULL ? r->sources : "");
	return filled(&v, r->project->build);
}

static const char *base_of(const struct values *v)
{
	const struct strlist *targets = &v->r->targets;
	const struct instance *in;

	if (v->r->base != NULL)
		return v->r->base;
	if (!v->r->project->torch)
		return python_base;
	in = instance_find(init_smallest(targets->n > 0 ? targets->at[0] : "p4d"));
	return filled(v, in->accelerator->torch_image);
}

/* The fleet's targets, a line each; weights fall from the first to the last. */
static const char *targets_of(const struct init_request *r, struct arena *a)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 16);

	for (size_t i = 0; i < r->targets.n; i++)
		strbuf_addf(&sb,
		            "%s  %s: {weight: %zu, instances: [%s], capacity: [spot, on-demand]}",
		            i > 0 ? "\n" : "", r->targets.at[i], 100 - 10 * i,
		            init_smallest(r->targets.at[i]));
	return arena_strdup(a, strbuf_str(&sb));
}

static void set_image(struct values *v)
{
	const struct init_request *r = v->r;
	bool torch = r->project->torch;

	set(v, "name", r->name);
	set(v, "program", r->program);
	set(v, "repository", r->repository);
	set(v, "tag", r->tag);
	set(v, "platforms", joined(&r->arches, "linux/", "", ", ", v->arena));
	set(v, "base", base_of(v));
	/* Machines that build one platform each cannot know what all have in common. */
	set(v, "share", r->ci != NULL ? "false" : NULL);
	set(v, "packages", r->project->packages ? "packages" : NULL);
	set(v, "share_packages", r->ci != NULL && r->project->packages ? "false" : NULL);
	set(v, "pythonpath", r->project->packages ? "/app:/app/packages" : "/app");
	set(v, "command",
	    torch ? "torchrun" : arena_printf(v->arena, "python3, /app/%s", r->program));
	set(v, "cmd",
	    torch ? arena_printf(v->arena, "--standalone, --nproc-per-node=auto, /app/%s",
	                         r->program)
	          : NULL);
}

static void set_fleet(struct values *v)
{
	set(v, "region", v->r->region);
	set(v, "zone", arena_printf(v->arena, "%sa", v->r->region));
	set(v, "targets", targets_of(v->r, v->arena));
}

static const char *if_has(const struct strlist *list, const char *word, const char *text)
{
	return strlist_has(list, word) ? text : NULL;
}

static void set_ci(struct values *v)
{
	const struct init_request *r = v->r;
	const struct init_ci *ci = r->ci;
	const struct strlist *arches = &r->arches;
	bool github = strcmp(ci->name, "github") == 0;

	set(v, "pipeline_region", r->account != NULL || r->targets.n > 0 ? NULL : r->region);
	set(v, "version", r->version);
	set(v, "account", r->account != NULL ? r->account : "123456789012");
	set(v, "source",
	    r->source != NULL ? r->source : arena_printf(v->arena, "example/%s", r->name));
	set(v, "install",
	    r->project->install == NULL
	            ? NULL
	            : arena_printf(
			      v->arena,
			      "apt-get update && apt-get install -y --no-install-recommends %s",
			      r->project->install));
	set(v, "build", build_for(r, ci->arch, ci->machine, v->arena));
	set(v, "github", github ? "true" : NULL);
	set(v, "github_role",
	    github && r->account != NULL
	            ? arena_printf(v->arena, "arn:aws:iam::%s:role/github-%s", r->account, r->name)
	            : NULL);
	set(v, "amd64_image", if_has(arches, "amd64", builder_image));
	set(v, "arm64_image", if_has(arches, "arm64", builder_image));
	set(v, "amd64", if_has(arches, "amd64", "amd64"));
	set(v, "arm64", if_has(arches, "arm64", "arm64"));
	set(v, "first", arches->at[0]);
	set(v, "arches", joined(arches, "", "", ", ", v->arena));
	set(v, "quoted", joined(arches, "'", "'", ", ", v->arena));
	set(v, "parts", joined(arches, "part-", ".json", " ", v->arena));
	set(v, "runners", joined(arches, "saas-linux-small-", "", ", ", v->arena));
}

static const char *spec_text(const struct values *v)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 20);
	const struct init_request *r = v->r;

	init_fill(init_part("head"), &v->all, &sb);
	init_fill(init_part(r->project->part), &v->all, &sb);
	if (r->targets.n > 0)
		init_fill(init_part("fleet"), &v->all, &sb);
	if (r->targets.n > 0 && r->project->torch)
		init_fill(init_part("torch_job"), &v->all, &sb);
	if (r->ci != NULL && r->ci->file == NULL)
		init_fill(init_part("pipeline"), &v->all, &sb);
	return arena_strdup(v->arena, strbuf_str(&sb));
}

static void add_file(struct init_plan *p, struct init_file file)
{
	if (p->n_files == INIT_FILES_MAX)
		BUG("more than %d files", INIT_FILES_MAX);
	p->files[p->n_files++] = file;
}

static void add_step(struct init_plan *p, const char *command, const char *meaning)
{
	if (p->n_steps == INIT_STEPS_MAX)
		BUG("more than %d steps", INIT_STEPS_MAX);
	p->steps[p->n_steps++] = (struct init_step){command, meaning};
}

/* The commands that make what the image packs, and those that make it. */
static void add_build_steps(const struct init_request *r, struct arena *a, struct init_plan *p)
{
	static const struct {
		const char *arch, *machine;
	} names[] = {{"amd64", "x86_64"}, {"arm64", "aarch64"}};
	bool all =
		r->project->crosses || (r->arches.n == 1 && strlist_has(&r->arches, r->host_arch));

	for (size_t i = 0; i < ARRAY_LEN(names) && r->project->build != NULL; i++)
		if (strlist_has(&r->arches, names[i].arch) &&
		    (r->project->crosses || strcmp(names[i].arch, r->host_arch) == 0))
			add_step(
				p, build_for(r, names[i].arch, names[i].machine, a),
				arena_printf(a, "what the image of linux/%s packs", names[i].arch));
	if (!all && !strlist_has(&r->arches, r->host_arch))
		add_step(p, "slipway build --dry-run",
		         "what is packed; it is compiled on a machine of that architecture");
	else
		add_step(p,
		         all ? "slipway build"
		             : arena_printf(a, "slipway build --platform linux/%s", r->host_arch),
		         all ? "the image, in build/image"
		             : "the image of this machine's platform, in build/image");
}

static void add_steps(const struct init_request *r, struct arena *a, struct init_plan *p)
{
	add_build_steps(r, a, p);
	if (r->repository != NULL && (r->arches.n == 1 || r->project->crosses))
		add_step(p, "slipway push", arena_printf(a, "to %s", r->repository));
	else if (r->repository != NULL)
		add_step(p, "slipway push",
		         arena_printf(a, "to %s, once every platform is built", r->repository));
	if (r->targets.n > 0) {
		add_step(p, "slipway explain", "what each target of the fleet gets, and why");
		add_step(p, "slipway render -o deploy",
		         "the cluster, and what is in it: deploy/00-cluster/cluster.yaml begins "
		         "with the commands that make it; then `slipway deploy`");
	}
	if (r->ci != NULL && r->ci->next != NULL)
		add_step(p, r->ci->next, r->ci->remark);
}

void init_compose(const struct init_request *r, struct arena *a, struct init_plan *ret_plan)
{
	struct values v = {.r = r, .arena = a};
	struct init_plan p = {0};

	set_fleet(&v);
	set_image(&v);
	if (r->ci != NULL)
		set_ci(&v);
	add_file(&p, (struct init_file){.path = ".gitignore", .text = "/build/", .way = INIT_LINE});
	add_file(&p, (struct init_file){.path = "build/slipway.schema.json",
	                                .text = r->schema,
	                                .way = INIT_KEEP});
	if (r->ci != NULL && r->ci->file != NULL)
		add_file(&p, (struct init_file){.path = r->ci->file,
		                                .text = filled(&v, init_part(r->ci->part)),
		                                .way = INIT_SAME});
	add_file(&p, (struct init_file){.path = "slipway.yaml", .text = spec_text(&v)});
	add_steps(r, a, &p);
	*ret_plan = p;
}
