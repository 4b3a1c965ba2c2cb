/* The ConfigMap that holds a fleet's last runs. */
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/text.h"
#include "k8s/deploy/runs.h"

#define KEY_PREFIX "run-"

/* ---- reading ---- */

/* Keys come in the server's order, in which 10 is before 9. */
static void insert_row(cJSON *runs, cJSON *row)
{
	cJSON *at = runs->child;

	while (at != NULL && runs_number(at) < runs_number(row))
		at = at->next;
	json_insert(runs, at, row);
}

/* One key: a run that has its number and its jobs. */
static int read_row(const cJSON *member, cJSON *runs, struct err *err)
{
	const char *text = cJSON_IsString(member) ? member->valuestring : "";
	cJSON *row;

	if (json_parse(member->string, text, strlen(text), &row, err) != 0)
		return -1;
	if (runs_number(row) >= 1 && cJSON_IsObject(runs_release(row))) {
		insert_row(runs, row);
		return 0;
	}
	cJSON_Delete(row);
	return err_set(err, ERR_FORMAT, "%s holds no run", member->string);
}

static int parse_object(const cJSON *object, const char *fleet, cJSON *runs, struct err *err)
{
	const char *owner = object_label(object, OWNER_LABEL);
	const cJSON *data = json_get(object, "data");

	if (owner == NULL || strcmp(owner, fleet) != 0)
		return err_set(err, ERR_CONFLICT, "it belongs to '%s'",
		               owner != NULL ? owner : "nobody");
	for (const cJSON *m = cJSON_IsObject(data) ? data->child : NULL; m != NULL; m = m->next)
		if (text_has_prefix(m->string, KEY_PREFIX) && read_row(m, runs, err) != 0)
			return -1;
	return 0;
}

int runs_read(struct kubectl *k, const char *namespace, const char *fleet, cJSON **ret,
              struct err *err)
{
	AUTO(strbuf) struct strbuf name = STRBUF_INIT(256);
	AUTO(json) cJSON *object = NULL;
	AUTO(json) cJSON *runs = cJSON_CreateArray();

	strbuf_addf(&name, "%s" RUNS_SUFFIX, fleet);
	const char *const args[] = {"get", "configmaps", strbuf_str(&name),
	                            "-n",  namespace,    "--ignore-not-found",
	                            "-o",  "json",       NULL};

	if (kubectl_json(k, args, NULL, &object, err) != 0)
		return err_wrap(err, "read the recorded runs");
	if (object != NULL && parse_object(object, fleet, runs, err) != 0) {
		err_wrap(err, "ConfigMap '%s'", strbuf_str(&name));
		return err_hint(err,
		                "To start over without the former runs: `kubectl delete configmap "
		                "-n %s %s`.",
		                namespace, strbuf_str(&name));
	}
	*ret = runs;
	runs = NULL;
	return 0;
}

/* ---- writing ---- */

static int add_keys(const cJSON *runs, cJSON *data, struct err *err)
{
	for (const cJSON *row = object_first(runs); row != NULL; row = row->next) {
		AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
		char key[40];

		json_print(row, &text);
		snprintf(key, sizeof(key), KEY_PREFIX "%lld.json", (long long)runs_number(row));
		if (text.len > RUNS_BYTES_MAX) {
			err_set(err, ERR_LIMIT,
			        "the job takes %zu bytes for all targets; %d are "
			        "the most that can be kept",
			        text.len, RUNS_BYTES_MAX);
			return err_hint(err, "Shorten job.env and job.args: put long values into "
			                     "a file of the image.");
		}
		json_add_string(data, key, strbuf_str(&text));
	}
	return 0;
}

int runs_write(struct kubectl *k, const char *namespace, const char *fleet, const cJSON *runs,
               struct err *err)
{
	static const char *const args[] = {
		"apply", "--server-side", "--field-manager=slipway", "-f", "-", "-o", "json", NULL};
	AUTO(strbuf) struct strbuf input = STRBUF_INIT(0);
	AUTO(json) cJSON *items = cJSON_CreateArray(), *answer = NULL;
	cJSON *object = cJSON_CreateObject();

	json_push(items, object);
	json_add_string(object, "apiVersion", "v1");
	json_add_string(object, "kind", "ConfigMap");
	deploy_metadata(object, namespace, fleet, RUNS_SUFFIX);
	if (add_keys(runs, json_add_object(object, "data"), err) != 0)
		return -1;
	kubectl_print_list(items, &input);
	if (kubectl_json(k, args, strbuf_str(&input), &answer, err) != 0)
		return err_wrap(err, "record the run");
	return 0;
}
