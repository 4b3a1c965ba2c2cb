#include "builder/cli/init_request.h"

#include <string.h>

#include "base/text.h"
#include "builder/aws/endpoint.h"
#include "builder/init/compose.h"
#include "builder/init/look.h"
#include "builder/oci/platform.h"
#include "builder/oci/ref.h"
#include "builder/spec/spec.h"
#include "k8s/fleet/grammar.h"
#include "karpenter/catalogue/catalogue.h"

static int unknown_target(const char *name, struct err *err)
{
	const char *near = text_nearest(name, fleet_target_names, FLEET_TARGETS);

	err_set(err, ERR_USAGE, "option --fleet: '%s' is not a target", name);
	return near != NULL ? err_hint(err, "did you mean --fleet=%s?", near)
	                    : err_hint(err, "the targets are trn1, trn2, p4d, p5, g5, g6 and g5g; "
	                                    "`slipway instances` shows their machines");
}

static int add_target(const char *name, struct arena *a, struct strlist *list, struct err *err)
{
	bool known = false;

	for (size_t i = 0; i < FLEET_TARGETS; i++)
		known = known || strcmp(fleet_target_names[i], name) == 0;
	if (!known)
		return unknown_target(name, err);
	if (strlist_has(list, name)) {
		err_set(err, ERR_USAGE, "option --fleet: '%s' is named twice", name);
		return err_hint(err, "name each target once, the first choice first");
	}
	list->at[list->n++] = arena_strdup(a, name);
	return 0;
}

int init_split_fleet(const struct strlist *given, struct arena *a, struct strlist *ret_targets,
                     struct err *err)
{
	struct strlist list = {arena_calloc(a, FLEET_TARGETS, sizeof(*list.at)), 0};

	for (size_t i = 0; i < given->n; i++) {
		const char *at = given->at[i];

		for (;; at++) {
			size_t len = strcspn(at, ",");

			if (add_target(arena_strndup(a, at, len), a, &list, err) != 0)
				return -1;
			at += len;
			if (*at == '\0')
				break;
		}
	}
	*ret_targets = list;
	return 0;
}

int init_parse_image(const char *text, struct arena *a, const char **ret_repository,
                     const char **ret_tag, struct err *err)
{
	struct ref ref;

	if (ref_parse(text, a, &ref, err) != 0) {
		err->code = ERR_USAGE;
		return err_wrap(err, "option --image");
	}
	if (ref.kind != REF_REGISTRY || ref.has_digest) {
		err_set(err, ERR_USAGE, "option --image: '%s' is not where an image is pushed",
		        text);
		return err_hint(err, "write HOST/NAME or HOST/NAME:TAG, as in ghcr.io/team/app");
	}
	*ret_repository = arena_printf(a, "%s/%s", ref.host, ref.repository);
	*ret_tag = ref.tag != NULL ? ref.tag : "v1";
	return 0;
}

static int set_image(struct cli *cli, const struct init_options *o, struct init_request *r,
                     struct err *err)
{
	struct ecr_host ecr = {0};

	r->tag = "v1";
	r->region = o->region != NULL ? o->region : "us-west-2";
	if (o->region != NULL && !aws_region_valid(o->region)) {
		err_set(err, ERR_USAGE, "option --region: '%s' is not an AWS region", o->region);
		return err_hint(err, "write it as AWS does, as in us-west-2");
	}
	if (o->image == NULL)
		return 0;
	if (init_parse_image(o->image, &cli->arena, &r->repository, &r->tag, err) != 0)
		return -1;
	const char *host = arena_strndup(&cli->arena, r->repository, strcspn(r->repository, "/"));

	if (!ecr_host_parse(host, &cli->arena, &ecr) || ecr.is_public)
		return 0;
	r->account = ecr.account;
	if (o->region == NULL)
		r->region = ecr.region;
	return 0;
}

static int set_base(struct cli *cli, const struct init_options *o, struct init_request *r,
                    struct err *err)
{
	struct ref ref;

	if (o->base == NULL)
		return 0;
	if (strcmp(r->project->part, "python") != 0) {
		err_set(err, ERR_USAGE, "option --base: a program of kind %s is packed without one",
		        r->project->kind);
		return err_hint(err, "leave it out; `image.base` in slipway.yaml adds one later");
	}
	if (ref_parse(o->base, &cli->arena, &ref, err) != 0) {
		err->code = ERR_USAGE;
		return err_wrap(err, "option --base");
	}
	r->base = o->base;
	return 0;
}

static int set_platforms(struct cli *cli, const struct init_options *o, struct init_request *r,
                         struct err *err)
{
	static const char *const known[] = {"amd64", "arm64"};
	bool wanted[ARRAY_LEN(known)] = {0};

	for (size_t i = 0; i < o->platform.n; i++) {
		struct platform p;
		bool is_known = false;

		if (platform_parse(o->platform.at[i], &p, err) != 0) {
			err->code = ERR_USAGE;
			return err_wrap(err, "option --platform");
		}
		for (size_t k = 0; k < ARRAY_LEN(known); k++)
			if (strcmp(p.architecture, known[k]) == 0)
				is_known = wanted[k] = true;
		if (!is_known || strcmp(p.os, "linux") != 0) {
			err_set(err, ERR_USAGE, "option --platform: init knows no builder for '%s'",
			        o->platform.at[i]);
			return err_hint(err, "choose linux/amd64, linux/arm64 or both");
		}
	}
	r->arches.at = arena_calloc(&cli->arena, ARRAY_LEN(known), sizeof(*r->arches.at));
	for (size_t k = 0; k < ARRAY_LEN(known); k++)
		if (wanted[k])
			r->arches.at[r->arches.n++] = known[k];
	return init_arches(r, &cli->arena, err);
}

/* As Kubernetes names things: "My_App" is "my-app". */
static const char *label_of(const char *text, struct arena *a)
{
	char *name = arena_lower(a, text, strlen(text));
	const char *hint;

	for (char *c = name; *c != '\0'; c++)
		if (strchr("abcdefghijklmnopqrstuvwxyz0123456789-", *c) == NULL)
			*c = '-';
	return check_dns_label(name, &hint) == NULL ? name : "app";
}

static int set_names(struct cli *cli, const struct init_options *o, const struct init_seen *seen,
                     struct init_request *r, struct err *err)
{
	bool script = strcmp(r->project->part, "python") == 0;
	const char *wrong, *hint = NULL;

	r->program = o->program != NULL ? o->program : seen->program;
	if (!init_program_valid(r->program) || (!script && strchr(r->program, '/') != NULL)) {
		err_set(err, ERR_USAGE, "option --program: '%s' is not the name of a program",
		        r->program);
		return err_hint(err,
		                script ? "name the script below the folder, as in main.py"
		                       : "name the file that the build makes, without a folder");
	}
	if (o->name == NULL) {
		r->name = label_of(script ? seen->folder : r->program, &cli->arena);
		return 0;
	}
	wrong = check_dns_label(o->name, &hint);
	if (wrong != NULL) {
		err_set(err, ERR_USAGE, "option --name: '%s' %s", o->name, wrong);
		return hint != NULL ? err_hint(err, "%s", hint) : -1;
	}
	r->name = o->name;
	return 0;
}

/* What one option needs of another. */
static int check_together(const struct init_request *r, struct err *err)
{
	if (r->repository == NULL && r->targets.n > 0) {
		err_set(err, ERR_USAGE,
		        "option --fleet needs --image: nodes pull it from somewhere");
		return err_hint(err, "say where it is pushed, as in --image ghcr.io/team/%s",
		                r->name);
	}
	if (r->repository == NULL && r->ci != NULL && strcmp(r->ci->name, "gitlab") != 0) {
		err_set(err, ERR_USAGE, "option --ci=%s needs --image: a pipeline pushes to it",
		        r->ci->name);
		return err_hint(err, "say where, as in --image ghcr.io/team/%s", r->name);
	}
	if (r->ci != NULL && strcmp(r->ci->name, "codebuild") == 0 && r->account == NULL) {
		err_set(err, ERR_USAGE,
		        "option --ci=codebuild pushes to Amazon ECR, and '%s' is not there",
		        r->repository);
		return err_hint(err,
		                "name a repository like 123456789012.dkr.ecr.%s.amazonaws.com/%s",
		                r->region, r->name);
	}
	return 0;
}

static const char *schema_text(struct arena *a)
{
	AUTO(json) cJSON *doc = schema_json();
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);

	json_print_pretty(doc, &text);
	return arena_strdup(a, strbuf_str(&text));
}

int init_request_make(struct cli *cli, const struct init_options *o, struct init_request *ret_r,
                      struct err *err)
{
	struct platform host = platform_host();
	struct init_request r = {.version = SLIPWAY_VERSION};
	struct init_seen seen;

	if (init_look(o->dir, o->kind, &cli->arena, &seen, err) != 0)
		return -1;
	r.project = seen.project;
	r.source = seen.source;
	r.sources = seen.sources;
	r.ci = o->ci != NULL ? init_ci_find(o->ci) : NULL;
	r.host_arch = arena_strdup(&cli->arena, host.architecture);
	r.schema = schema_text(&cli->arena);
	if (init_split_fleet(&o->fleet, &cli->arena, &r.targets, err) != 0 ||
	    set_names(cli, o, &seen, &r, err) != 0 || set_image(cli, o, &r, err) != 0 ||
	    set_base(cli, o, &r, err) != 0 || check_together(&r, err) != 0 ||
	    set_platforms(cli, o, &r, err) != 0)
		return -1;
	*ret_r = r;
	return 0;
}
