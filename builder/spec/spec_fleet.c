/*
 * Joins the image and the fleet: what the fleet's room has to know of the image.
 */
#include <string.h>

#include "builder/spec/spec_internal.h"
#include "k8s/resolve/resolve.h"

struct strlist spec_architectures(const struct spec *spec, struct arena *a)
{
	const struct spec_image *image = &spec->image;
	const char **architectures =
		arena_calloc(a, image->n_platforms + 1, sizeof(*architectures));

	for (size_t i = 0; i < image->n_platforms; i++)
		architectures[i] = image->platforms[i].architecture;
	return (struct strlist){architectures, image->n_platforms};
}

void spec_resolve_fleet(struct spec *spec, const char *file, struct arena *a, struct diags *d)
{
	const struct spec_image *image = &spec->image;
	struct fleet_names names = {.name = spec->name, .name_at = spec->name_at, .file = file};
	struct fleet_image facts = {.repository = image->repository,
	                            .tag = image->tags.n > 0 ? image->tags.at[0] : NULL,
	                            .program = image->entrypoint.n > 0 ? image->entrypoint.at[0]
	                                       : image->cmd.n > 0      ? image->cmd.at[0]
	                                                               : NULL,
	                            .at = image->platforms_at.file != NULL ? image->platforms_at
	                                                                   : image->at};

	/* Which image it is was asked for; what some image lacks is not another problem. */
	if (!spec->image_known && spec->sections.job.set && d->n_errors > 0)
		facts.repository = facts.tag = spec->name;
	facts.architectures = spec_architectures(spec, a);
	fleet_resolve(&spec->sections, &names, &facts, a, d, &spec->fleet);
}
