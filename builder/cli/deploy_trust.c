#include "builder/cli/deploy_trust.h"

#include <string.h>

#include "k8s/deploy/kinds.h"
#include "k8s/job/job.h"
#include "k8s/object/pod_images.h"
#include "k8s/object/render.h"

/* ---- which images ---- */

/* An image of the job or of what goes before it, each once. */
struct image_use {
	const char *text; /* as rendered, in the arena */
	bool again;       /* it is read again later, and a tag might name something else then */
	struct gate_verdict verdict;
};

struct image_walk {
	struct arena *arena;
	bool again; /* of the uses that are found now */
	VEC(struct image_use) uses;
};

static struct image_use *find_use(const struct image_walk *w, const char *text)
{
	for (size_t i = 0; i < w->uses.n; i++)
		if (strcmp(w->uses.at[i].text, text) == 0)
			return &w->uses.at[i];
	return NULL;
}

static void collect(cJSON *image, void *listener)
{
	struct image_walk *w = listener;
	struct image_use *use = find_use(w, image->valuestring);

	if (use != NULL)
		use->again = use->again || w->again;
	else
		vec_push(&w->uses,
		         ((struct image_use){.text = arena_strdup(w->arena, image->valuestring),
		                             .again = w->again}));
}

static void pin(cJSON *image, void *listener)
{
	const struct image_use *use = find_use(listener, image->valuestring);

	if (strchr(image->valuestring, '@') == NULL && use != NULL && use->verdict.pinned != NULL)
		cJSON_SetValuestring(image, use->verdict.pinned);
}

/* The job's pods and the preparation's, not those of plugins and drivers. */
static bool runs_job(const struct k8s_output_file *file, const struct k8s_document *doc)
{
	const struct kind_row *kind = doc->foreign ? NULL : kind_of(doc->doc);

	return file->renderer->deployed && kind != NULL && kind->leave == LEAVE_JOB;
}

static void walk_output(const struct deploy_trust *t, struct k8s_output *out,
                        void (*visit)(cJSON *image, void *listener), struct image_walk *w)
{
	for (size_t i = 0; i < out->n; i++) {
		w->again = t->in_cluster && out->files[i].renderer == &jobs_renderer;
		for (size_t k = 0; k < out->files[i].n; k++)
			if (runs_job(&out->files[i], &out->files[i].at[k]))
				each_pod_image(out->files[i].at[k].doc, visit, w);
	}
}

/* ---- what is said ---- */

static void tell_good(const struct deploy_trust *t, const struct gate_verdict *v)
{
	FILE *out = t->gate.cli->out;

	if (t->quiet || v->n_refusals > 0)
		return;
	fprintf(out, "%-11s %s: ", "trust", v->pinned);
	for (size_t i = 0; i < v->has.n; i++)
		fprintf(out, "%s%s", i > 0 ? ", " : "", v->has.at[i]);
	fprintf(out, "\n");
	fflush(out);
}

static void refuse_tag(struct deploy_trust *t, const char *image)
{
	trust_gate_refuse(
		&t->gate, image,
		"it is named by a tag, which may name something else when it is read again",
		"Name it by its digest, which `slipway inspect` prints.");
}

static int look_at_all(struct deploy_trust *t, struct image_walk *w, struct err *err)
{
	for (size_t i = 0; i < w->uses.n; i++) {
		struct image_use *use = &w->uses.at[i];

		if (trust_gate_look(&t->gate, use->text, t->rows, &use->verdict, err) != 0)
			return -1;
		if (use->verdict.n_refusals == 0 && use->again && strchr(use->text, '@') == NULL)
			refuse_tag(t, use->text);
		else
			tell_good(t, &use->verdict);
	}
	return 0;
}

int deploy_trust_pin(struct deploy_trust *t, struct k8s_output *out, struct err *err)
{
	struct image_walk w = {.arena = &t->gate.cli->arena};
	int rc;

	walk_output(t, out, collect, &w);
	rc = look_at_all(t, &w, err);
	if (rc == 0)
		walk_output(t, out, pin, &w);
	vec_done(&w.uses);
	return rc;
}

int deploy_trust_recorded(struct deploy_trust *t, const cJSON *release, struct err *err)
{
	AUTO(json) cJSON *copy = cJSON_Duplicate(release, true);
	struct image_walk w = {.arena = &t->gate.cli->arena, .again = true};
	int rc;

	each_pod_image(copy, collect, &w);
	rc = look_at_all(t, &w, err);
	vec_done(&w.uses);
	return rc;
}
