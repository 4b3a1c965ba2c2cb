#include "trainer/cmd/trained.h"

#include "base/cpus.h"
#include "base/fs.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/classes/class_read.h"

static int read_config(struct trained *t, struct err *err)
{
	char path[PATH_MAX];

	if (fs_join(path, t->folder, "config.json", err) != 0)
		return -1;
	t->config = model_config_full();
	if (model_config_load(&t->config, path, NULL, err) != 0) {
		if (err->code == ERR_NOT_FOUND)
			err_hint(err,
			         "Name a checkpoint (OUT/step-00000200), a run's --output_dir, "
			         "or a folder with config.json and model.safetensors.");
		return -1;
	}
	return class_list_load(path, &t->classes, err);
}

int trained_find(const char *path, struct trained *ret, struct err *err)
{
	*ret = (struct trained){0};
	if (store_find(path, ret->folder, err) != 0 ||
	    store_verify_ours(ret->folder, &ret->verified, err) != 0)
		return -1;
	return read_config(ret, err);
}

int trained_open(struct trained *t, const char *device, struct ops_options o, bool averaged,
                 struct err *err)
{
	char name[DEVICE_NAME_MAX];
	unsigned cpus = cpus_usable();

	if (o.n_threads > cpus)
		o.n_threads = cpus;
	if (device_open(&(struct device_choice){device, 0}, &o, &t->ops, name, err) != 0)
		return -1;
	t->learner = learner_new(&t->config, &t->ops, (struct recompute){0});
	return averaged ? checkpoint_load_average(t->folder, t->learner, err)
	                : checkpoint_load_weights(t->folder, t->learner, err);
}

void trained_done(struct trained *t)
{
	if (t->learner != NULL) {
		learner_free(t->learner);
		ops_done(&t->ops);
	}
	t->learner = NULL;
	class_list_done(&t->classes);
}
