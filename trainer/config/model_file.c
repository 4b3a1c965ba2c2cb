#include "trainer/config/model_file.h"

#include <string.h>

#include "base/fs.h"
#include "trainer/config/flat_yaml.h"

static const char seeds_default[] = "config/main.yaml";

static const struct {
	const char *name;
	struct model_config (*make)(void);
} built_in[] = {
	{"full", model_config_full}, {"mid", model_config_mid}, {"tiny", model_config_tiny}};

bool model_file_is_built_in(const char *which)
{
	for (size_t i = 0; i < ARRAY_LEN(built_in); i++)
		if (strcmp(which, built_in[i].name) == 0)
			return true;
	return false;
}

int model_file_load(const char *which, struct model_config *ret, struct strbuf *remarks,
                    struct err *err)
{
	struct model_config c = model_config_full();

	for (size_t i = 0; i < ARRAY_LEN(built_in); i++)
		if (strcmp(which, built_in[i].name) == 0) {
			*ret = built_in[i].make();
			return 0;
		}
	if (strcmp(which, seeds_default) == 0 && !fs_exists(which)) {
		strbuf_addf(remarks, "no %s here: the published model's configuration is used\n",
		            which);
		*ret = c;
		return 0;
	}
	if (model_config_file(which, &c, remarks, err) != 0) {
		err_wrap(err, "model configuration '%s'", which);
		return err_hint(err, "Give --config_file_path full, mid, tiny, or a main.yaml or "
		                     "config.json of PerceiverConfig keys.");
	}
	*ret = c;
	return 0;
}

struct clip_shape model_clip_shape(const struct model_config *c)
{
	return (struct clip_shape){(uint32_t)c->num_frames, (uint32_t)c->image_height,
	                           (uint32_t)c->image_width,
	                           (uint32_t)(c->num_frames * c->audio_samples_per_frame)};
}
