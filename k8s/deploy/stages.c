/* The stages of a fleet, and whether the cluster knows their kinds. */
#include <string.h>

#include "base/attr.h"
#include "base/mem.h"
#include "k8s/deploy/apply.h"
#include "k8s/job/job.h"

void stage_list_done(struct stage_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		cJSON_Delete(list->at[i].items);
	vec_done(list);
}

static struct stage *stage_named(struct stage_list *list, const char *name)
{
	if (list->n > 0 && strcmp(list->at[list->n - 1].name, name) == 0)
		return &list->at[list->n - 1];
	vec_push(list, ((struct stage){name, cJSON_CreateArray()}));
	return &list->at[list->n - 1];
}

bool stage_has_job(const struct stage *stage)
{
	return strcmp(stage->name, jobs_renderer.name) == 0;
}

void stages_plan(const struct k8s_output *out, const char *target, struct stage_list *ret)
{
	*ret = (struct stage_list){0};
	for (size_t i = 0; i < out->n; i++) {
		const struct k8s_output_file *file = &out->files[i];

		if (!file->renderer->deployed ||
		    (file->choice != NULL && strcmp(file->choice, target) != 0))
			continue;
		for (size_t j = 0; j < file->n; j++)
			if (!file->at[j].foreign)
				cJSON_AddItemReferenceToArray(
					stage_named(ret, file->renderer->name)->items,
					file->at[j].doc);
	}
}

/* One name per line; an aggregated API that is down makes kubectl fail after it named the others.
 */
static cJSON *names_of(const char *text)
{
	cJSON *names = cJSON_CreateArray();

	while (*text != '\0') {
		char name[256];
		size_t len = strcspn(text, "\n");

		if (len > 0 && len < sizeof(name)) {
			memcpy(name, text, len);
			name[len] = '\0';
			json_push_string(names, name);
		}
		text += len + (text[len] == '\n');
	}
	return names;
}

static int ask_resources(struct kubectl *k, cJSON **ret, struct err *err)
{
	static const char *const args[] = {"api-resources", "--verbs=list", "-o", "name", NULL};
	struct kubectl_reply reply = {.out = STRBUF_INIT(KUBECTL_OUTPUT_MAX)};
	cJSON *names;

	if (k->call(k, args, NULL, &reply, err) != 0)
		return -1;
	names = names_of(strbuf_str(&reply.out));
	if (names != NULL && cJSON_GetArraySize(names) > 0) {
		kubectl_reply_done(&reply);
		*ret = names;
		return 0;
	}
	cJSON_Delete(names);
	kubectl_advice(strbuf_str(&reply.err_text), err);
	kubectl_reply_done(&reply);
	return err_wrap(err, "list the resource types of the cluster");
}

/* Adds "KIND (GROUP)" and its operator once. */
static void tell_missing(const cJSON *object, const struct kind_row *row, struct strbuf *kinds,
                         struct strbuf *hints)
{
	const struct operator_row *op = operator_of(row->group);

	if (strstr(strbuf_str(kinds), row->resource) == NULL)
		strbuf_addf(kinds, "%s%s (%s)", kinds->len > 0 ? ", " : "",
		            json_string(object, "kind"), row->resource);
	if (op != NULL && strstr(strbuf_str(hints), op->name) == NULL)
		strbuf_addf(hints, "%s%s is missing: %s", hints->len > 0 ? " " : "", op->name,
		            op->install);
}

int stages_check_kinds(struct kubectl *k, const struct stage_list *stages, cJSON **ret_resources,
                       struct err *err)
{
	AUTO(strbuf) struct strbuf kinds = STRBUF_INIT(800);
	AUTO(strbuf) struct strbuf hints = STRBUF_INIT(ERR_HINT_MAX);
	AUTO(json) cJSON *resources = NULL;

	if (ask_resources(k, &resources, err) != 0)
		return -1;
	for (size_t i = 0; i < stages->n; i++) {
		const cJSON *item;

		for (item = stages->at[i].items->child; item != NULL; item = item->next) {
			const struct kind_row *row = kind_of(item);

			if (row == NULL)
				BUG("k8s/deploy/kinds.c does not know %s",
				    json_string(item, "kind"));
			if (!resource_is_known(resources, row->resource))
				tell_missing(item, row, &kinds, &hints);
		}
	}
	if (kinds.len > 0) {
		err_set(err, ERR_NOT_FOUND, "the cluster does not serve %s; nothing was applied",
		        strbuf_str(&kinds));
		return err_hint(err, "%s", strbuf_str(&hints));
	}
	*ret_resources = resources;
	resources = NULL;
	return 0;
}
