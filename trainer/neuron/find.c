#include "trainer/neuron/find.h"

void neuron_module_key(const struct neuron_run *run, enum neuron_module which,
                       const struct neuron_target *target, char ret[NEURON_KEY_MAX])
{
	AUTO(strbuf) struct strbuf module = {0};
	const char *flags[NEURON_FLAGS_MAX];
	struct neuron_net net;

	neuron_flags(target, flags);
	neuron_module_build(run, which, &net);
	neuron_write(&net, neuron_module_name(which), &module, NULL);
	neuron_net_done(&net);
	neuron_cache_key(&module, flags, ret);
}

/* ERR_NOT_FOUND where the cache has none. */
static int find_one(const struct neuron_run *run, enum neuron_module which, const char *cache,
                    const struct neuron_target *target, char ret[PATH_MAX], struct err *err)
{
	char key[NEURON_KEY_MAX];

	neuron_module_key(run, which, target, key);
	return neuron_cache_find(cache, key, ret, err);
}

static int refuse(const struct strbuf *missing, const struct neuron_start *s, const char *target,
                  struct err *err)
{
	AUTO(strbuf) struct strbuf command = STRBUF_INIT(ERR_HINT_MAX);

	s->command(s->ctx, target, &command);
	err_set(err, ERR_USAGE, "no compiled module for this configuration: '%.300s' lacks %s",
	        s->cache, strbuf_str((struct strbuf *)(uintptr_t)missing));
	return err_hint(err,
	                "Compile where neuronx-cc is: %s; or fetch what was compiled: slipway neff "
	                "pull IMAGE %.100s.",
	                strbuf_str(&command), s->cache);
}

int neuron_find(const struct neuron_run *run, const struct neuron_start *start, const char *target,
                struct neuron_found *ret, struct err *err)
{
	AUTO(strbuf) struct strbuf missing = STRBUF_INIT(256);
	const struct neuron_target *row;

	if (neuron_target_find(target, &row, err) != 0)
		return -1;
	for (enum neuron_module m = 0; m < NEURON_MODULES; m++) {
		ret->neffs[m] = NULL;
		if (!start->wanted[m])
			continue;
		ret->neffs[m] = ret->paths[m];
		if (find_one(run, m, start->cache, row, ret->paths[m], err) == 0)
			continue;
		if (err->code != ERR_NOT_FOUND)
			return -1;
		*err = (struct err){0};
		strbuf_addf(&missing, "%s%s", missing.len > 0 ? ", " : "", neuron_module_name(m));
	}
	return missing.len == 0 ? 0 : refuse(&missing, start, target, err);
}
