/* See sources.h. */
#include "builder/layer/source/sources.h"

#include "builder/layer/source/source_accounts.h"
#include "builder/layer/source/source_data.h"

/* What programs look up at run time. */
static int add_data(struct tree *t, const struct layer_spec *layer, const struct platform *platform,
                    struct base_files *base, struct diags *d, struct err *err)
{
	size_t first = t->n;

	if (layer->accounts.at.file != NULL &&
	    accounts_on_base(t, &layer->accounts, base, d, err) != 0)
		return -1;
	if (source_certificates_add(t, &layer->certificates, platform, base, d, err) != 0 ||
	    source_zones_add(t, layer, platform, d, err) != 0 ||
	    source_locales_add(t, layer, platform, d, err) != 0)
		return -1;
	return data_land(t, first, base, err);
}

int source_layer(struct tree *t, const struct layer_spec *layer, const struct platform *platform,
                 struct base_files *base, struct diags *d, struct err *err)
{
	for (size_t i = 0; i < layer->n_files; i++)
		if (source_files_add(t, &layer->files[i], d, err) != 0)
			return -1;
	for (size_t i = 0; i < layer->n_tars; i++)
		if (source_tar_add(t, &layer->tars[i], d, err) != 0)
			return -1;
	for (size_t i = 0; i < layer->n_debs; i++)
		if (source_deb_add(t, &layer->debs[i], platform, d, err) != 0)
			return -1;
	if (layer->n_closure > 0 && source_closure_add(t, layer, platform, base, d, err) != 0)
		return -1;
	if (add_data(t, layer, platform, base, d, err) != 0)
		return -1;
	return tree_finish(t, d, err);
}
