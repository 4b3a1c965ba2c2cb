#include "trainer/session/setup.h"

#include <string.h>

#include "base/cpus.h"
#include "base/fs.h"
#include "trainer/config/model_file.h"
#include "trainer/session/begin.h"

bool session_checkpoint_config(const struct train_flags *f, char ret[PATH_MAX])
{
	struct err unusable = {0};

	return f->checkpoint != NULL &&
	       fs_join(ret, f->checkpoint, "config.json", &unusable) == 0 && fs_exists(ret);
}

static int load_file(const struct train_flags *f, struct model_config *ret, struct strbuf *remarks,
                     struct err *err)
{
	enum flag_layer layer = train_flags_origin(f, "config_file_path").layer;
	char path[PATH_MAX];

	if (layer == LAYER_DEFAULT && session_checkpoint_config(f, path)) {
		if (model_file_load(path, ret, remarks, err) != 0)
			return -1;
		/* Its keys are ours; nobody typed them. */
		strbuf_reset(remarks);
		return 0;
	}
	if (model_file_load(f->config_file_path, ret, remarks, err) == 0)
		return 0;
	if (err->code == ERR_FORMAT || err->code == ERR_SPEC)
		err->code = ERR_USAGE;
	return -1;
}

int session_load_config(const struct train_flags *f, struct model_config *ret,
                        struct strbuf *remarks, struct err *err)
{
	if (load_file(f, ret, remarks, err) != 0)
		return -1;
	if (f->attention_dropout >= 0)
		ret->attention_probs_dropout_prob = f->attention_dropout;
	return model_config_check(ret, err);
}

unsigned session_threads(struct session *s)
{
	AUTO(strbuf) struct strbuf line = STRBUF_INIT(256);
	unsigned asked = (unsigned)s->flags->threads, cpus = cpus_usable();

	if (asked <= cpus)
		return asked;
	strbuf_addf(&line, "--threads %u: there are %u CPUs for this process, so it uses %u\n",
	            asked, cpus, cpus);
	session_remark(s, strbuf_str(&line));
	return cpus;
}

unsigned session_ahead(size_t batch)
{
	enum { BATCHES = 2, CLIPS = 8 };

	return batch * BATCHES >= CLIPS ? BATCHES : (unsigned)((CLIPS + batch - 1) / batch);
}

void session_fit_points(const struct model_config *c, struct train_options *o)
{
	struct model_dims d = model_dims(c);

	if (o->image_points > d.n_pixels)
		o->image_points = d.n_pixels;
	if (o->audio_points > d.n_audio)
		o->audio_points = d.n_audio;
}

bool session_sends_bytes(const struct train_flags *f)
{
	bool crops = f->augment_crop > 0 && f->augment_crop < 1;

	return strcmp(f->dataset, "synthetic") != 0 && !crops && f->augment_flip <= 0 &&
	       f->augment_gain <= 0;
}
