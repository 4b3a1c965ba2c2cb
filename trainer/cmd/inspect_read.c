#include <string.h>

#include "base/fs.h"
#include "base/text.h"
#include "trainer/checkpoint/safetensors.h"
#include "trainer/classes/class_read.h"
#include "trainer/cmd/inspect.h"

static const struct {
	const char *name, *prefix;
} parts[INSPECT_PARTS] = {
	{"input", "perceiver.input_preprocessor."},
	{"latents", "perceiver.embeddings."},
	{"encoder cross attention", "perceiver.encoder.cross_attention."},
	{"self attention", "perceiver.encoder.self_attends."},
	{"decoder", "perceiver.decoder."},
	{"output heads", "perceiver.output_postprocessor."},
	{"other", ""},
};

const char *inspect_part_name(size_t part)
{
	return parts[part].name;
}

static void count_tensor(struct inspection *i, const struct st_tensor *t)
{
	size_t k = 0;

	while (!text_has_prefix(t->name, parts[k].prefix))
		k++;
	i->parts[k].tensors++;
	i->parts[k].parameters += t->n;
	i->all.tensors++;
	i->all.parameters += t->n;
}

static int count_parameters(struct inspection *i, struct err *err)
{
	AUTO(st_file) struct st_file file = {0};
	char path[PATH_MAX];

	if (fs_join(path, i->path, "model.safetensors", err) != 0 || st_open(path, &file, err) != 0)
		return -1;
	for (size_t k = 0; k < file.n; k++)
		count_tensor(i, &file.at[k]);
	return 0;
}

static int read_config(struct inspection *i, struct err *err)
{
	char path[PATH_MAX];

	if (fs_join(path, i->path, "config.json", err) != 0)
		return -1;
	i->config = model_config_full();
	if (model_config_load(&i->config, path, NULL, err) != 0)
		return -1;
	return class_list_load(path, &i->classes, err);
}

/* Both are ours: a folder of Hugging Face's has neither. */
static int read_records(struct inspection *i, struct err *err)
{
	struct err none = {0};

	if (store_verify_ours(i->path, &i->verified, err) != 0 ||
	    (i->verified && manifest_read(i->path, &i->manifest, err) != 0))
		return -1;
	if (run_record_read(i->path, &i->record, &none) != 0 && none.code != ERR_NOT_FOUND) {
		*err = none;
		return -1;
	}
	return 0;
}

int inspect_read(const char *checkpoint, struct inspection *ret, struct err *err)
{
	struct inspection i = {0};

	snprintf(i.path, sizeof(i.path), "%s", checkpoint);
	if (read_records(&i, err) != 0 || read_config(&i, err) != 0 ||
	    count_parameters(&i, err) != 0) {
		inspection_done(&i);
		return -1;
	}
	*ret = i;
	return 0;
}

void inspection_done(struct inspection *i)
{
	manifest_done(&i->manifest);
	run_record_done(&i->record);
	class_list_done(&i->classes);
}

/* ---- a run's folder ---- */

/* One that its run removes meanwhile gets no name. */
static int read_entry(const char *folder, uint64_t step, struct inspect_entry *ret, struct err *err)
{
	AUTO(manifest) struct checkpoint_manifest m = {0};
	struct err damage = {0};
	char path[PATH_MAX];

	*ret = (struct inspect_entry){.step = step};
	snprintf(ret->name, sizeof(ret->name), "step-%08llu", (unsigned long long)step);
	if (fs_join(path, folder, ret->name, err) != 0)
		return -1;
	if (store_verify(path, &damage) != 0 || manifest_read(path, &m, &damage) != 0) {
		snprintf(ret->damage, sizeof(ret->damage), "%s", damage.msg);
		if (!fs_exists(path))
			*ret = (struct inspect_entry){0};
		return 0;
	}
	snprintf(ret->run, sizeof(ret->run), "%s", m.run);
	for (size_t i = 0; i < m.files.n; i++)
		ret->bytes += m.files.at[i].size;
	return 0;
}

int inspect_read_run(const char *folder, struct inspected_run *ret, struct err *err)
{
	struct inspected_run r = {0};
	AUTO_FREE uint64_t *steps = NULL;
	size_t n = 0;
	int rc = store_steps(folder, &steps, &n, err);

	if (rc == 0 && n == 0)
		rc = err_set(err, ERR_NOT_FOUND, "'%s' is not a checkpoint and holds none", folder);
	snprintf(r.path, sizeof(r.path), "%s", folder);
	store_named(folder, "latest", r.latest);
	store_named(folder, "best", r.best);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		struct inspect_entry e;

		rc = read_entry(folder, steps[i], &e, err);
		if (rc == 0 && e.name[0] != '\0') {
			vec_push(&r.entries, e);
			r.damaged += e.damage[0] != '\0';
		}
	}
	if (rc == 0)
		*ret = r;
	else
		inspected_run_done(&r);
	return rc;
}

void inspected_run_done(struct inspected_run *r)
{
	vec_done(&r->entries);
}
