#include "trainer/cmd/trained.h"

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

int trained_open(struct trained *t, struct forwarder_choice c, bool averaged, struct err *err)
{
	c.config = &t->config;
	c.checkpoint = t->folder;
	if (forwarder_open(&c, &t->forward, err) != 0)
		return -1;
	return averaged ? checkpoint_load_average(t->folder, t->forward.learner, err)
	                : checkpoint_load_weights(t->folder, t->forward.learner, err);
}

void trained_done(struct trained *t)
{
	forwarder_done(&t->forward);
	class_list_done(&t->classes);
}
