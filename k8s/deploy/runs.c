/* What a run is, and whether two are the same. */
#include "k8s/deploy/runs.h"

#include <string.h>

#include "base/attr.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "k8s/job/job.h"
#include "k8s/job/scheduler.h"

/* ---- the jobs of one run ---- */

cJSON *choices_of(const struct k8s_output *out, const struct k8s_renderer *row)
{
	cJSON *release = cJSON_CreateObject();

	for (size_t i = 0; i < out->n; i++) {
		const struct k8s_output_file *file = &out->files[i];
		cJSON *items;

		if (file->renderer != row || file->choice == NULL)
			continue;
		items = json_add_array(release, file->choice);
		for (size_t j = 0; j < file->n; j++)
			json_push(items, cJSON_Duplicate(file->at[j].doc, true));
	}
	return release;
}

cJSON *release_of(const struct k8s_output *out)
{
	return choices_of(out, &jobs_renderer);
}

void stage_done(struct stage *stage)
{
	cJSON_Delete(stage->items);
	*stage = (struct stage){0};
}

struct stage choices_stage(const cJSON *choices, const struct k8s_renderer *row, const char *target)
{
	const cJSON *list = json_get(choices, target);
	struct stage stage = {.name = row->name};

	if (!cJSON_IsArray(list))
		return stage;
	stage.items = cJSON_CreateArray();
	for (cJSON *o = list->child; o != NULL; o = o->next)
		cJSON_AddItemReferenceToArray(stage.items, o);
	return stage;
}

struct stage release_stage(const cJSON *release, const char *target)
{
	return choices_stage(release, &jobs_renderer, target);
}

static const struct scheduler *scheduler_of(const cJSON *object)
{
	for (size_t i = 0; i < SCHEDULERS; i++)
		if (kind_of(object) == &schedulers[i].object)
			return &schedulers[i];
	return NULL;
}

/* What makes the pods of a target what they are. */
static cJSON *essence(const cJSON *release, const char *target)
{
	cJSON *copies = cJSON_CreateArray();

	for (const cJSON *o = object_first(json_get(release, target)); o != NULL; o = o->next) {
		const struct scheduler *scheduler = scheduler_of(o);
		cJSON *copy, *spec;

		if (object_is(o, "Service"))
			continue;
		copy = cJSON_Duplicate(o, true);
		json_push(copies, copy);
		cJSON_DeleteItemFromObjectCaseSensitive(copy, "metadata");
		spec = cJSON_GetObjectItemCaseSensitive(copy, "spec");
		for (size_t i = 0; scheduler != NULL && i < ARRAY_LEN(scheduler->in_place); i++)
			if (scheduler->in_place[i] != NULL)
				cJSON_DeleteItemFromObjectCaseSensitive(spec,
				                                        scheduler->in_place[i]);
	}
	return copies;
}

bool release_same(const cJSON *a, const cJSON *b, const char *target)
{
	AUTO(json) cJSON *x = essence(a, target);
	AUTO(json) cJSON *y = essence(b, target);

	return cJSON_Compare(x, y, true);
}

struct stage run_stage(const struct stage *stage, int64_t run)
{
	struct stage copy = {stage->name, cJSON_Duplicate(stage->items, true)};
	AUTO(strbuf) struct strbuf number = STRBUF_INIT(32);

	strbuf_addf(&number, "%lld", (long long)run);
	for (cJSON *o = copy.items->child; o != NULL; o = o->next) {
		cJSON *labels = cJSON_GetObjectItemCaseSensitive(
			cJSON_GetObjectItemCaseSensitive(o, "metadata"), "labels");

		if (scheduler_of(o) == NULL)
			continue;
		cJSON_DeleteItemFromObjectCaseSensitive(labels, RUN_LABEL);
		json_add_string(labels, RUN_LABEL, strbuf_str(&number));
	}
	return copy;
}

int64_t run_number(const cJSON *job)
{
	const char *text = object_label(job, RUN_LABEL);
	int64_t run;

	return text != NULL && strlen(text) < 16 && text_int64(text, strlen(text), &run) && run > 0
	               ? run
	               : 0;
}

/* ---- rows ---- */

int64_t runs_number(const cJSON *row)
{
	return object_number(row, "run");
}

const cJSON *runs_release(const cJSON *row)
{
	return json_get(row, "jobs");
}

const cJSON *runs_find(const cJSON *runs, int64_t run)
{
	const cJSON *row = object_first(runs);

	while (row != NULL && runs_number(row) != run)
		row = row->next;
	return row;
}

const cJSON *runs_last(const cJSON *runs)
{
	return runs_before(runs, INT64_MAX);
}

const cJSON *runs_before(const cJSON *runs, int64_t run)
{
	const cJSON *last = NULL;

	for (const cJSON *row = object_first(runs); row != NULL; row = row->next)
		if (runs_number(row) < run)
			last = row;
	return last;
}

int64_t runs_number_for(const cJSON *runs, const cJSON *release, const char *target)
{
	const cJSON *last = runs_last(runs);
	bool same = last != NULL && release_same(runs_release(last), release, target);

	return runs_number(last) + (same ? 0 : 1);
}

static size_t bytes_of(const cJSON *runs)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);

	json_print(runs, &text);
	return text.len;
}

void runs_add(cJSON *runs, const struct run_row *row)
{
	cJSON *added = cJSON_CreateObject();
	char time[TIMESTAMP_MAX];

	json_add_int(added, "run", row->run);
	json_add_string(added, "since", timestamp_extended(row->since_ms, time));
	json_add_string(added, "image", row->image);
	json_add_string(added, "reason", row->reason);
	cJSON_AddItemToObject(added, "jobs", cJSON_Duplicate(row->release, true));
	json_push(runs, added);
	while (cJSON_GetArraySize(runs) > RUNS_KEPT ||
	       (cJSON_GetArraySize(runs) > 1 && bytes_of(runs) > RUNS_BYTES_MAX))
		cJSON_DeleteItemFromArray(runs, 0);
}
