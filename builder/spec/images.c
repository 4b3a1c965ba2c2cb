/*
 * Several images in one spec: which one is meant.
 */
#include <string.h>

#include "base/text.h"
#include "builder/spec/spec_internal.h"

static const struct spec_image *find_image(const struct spec *spec, const char *name)
{
	for (size_t i = 0; i < spec->n_images; i++)
		if (strcmp(spec->images[i].name, name) == 0)
			return &spec->images[i];
	return NULL;
}

static void list_names(const struct spec *spec, struct strbuf *names)
{
	for (size_t i = 0; i < spec->n_images; i++)
		strbuf_addf(names, "%s%s",
		            i == 0                    ? ""
		            : i + 1 == spec->n_images ? " or "
		                                      : ", ",
		            spec->images[i].name);
}

int spec_need_image(const struct spec *spec, struct err *err)
{
	if (spec->has_image || spec->n_images > 0)
		return 0;
	err_set(err, ERR_USAGE, "'%.300s' describes no image: its job runs the ready image %.300s",
	        spec->file, spec->sections.job.image);
	return err_hint(err, "add the section `image:` to build one, and leave job.image out");
}

int spec_select(struct spec *spec, const char *name, struct err *err)
{
	AUTO(strbuf) struct strbuf names = STRBUF_INIT(ERR_HINT_MAX / 2);
	const struct spec_image *image = find_image(spec, name);

	if (image != NULL) {
		spec->image = *image;
		return 0;
	}
	err_set(err, ERR_USAGE, "'%.200s' is not an image of %s", name, spec->file);
	if (spec->n_images == 0)
		return err_hint(err,
		                "it has one image, without a name: leave '%.100s' out; each "
		                "tag has a --tag of its own, and `-f FILE` names another spec",
		                name);
	list_names(spec, &names);
	return err_hint(err, "write %s", strbuf_str(&names));
}

const char *spec_image_dir(const struct spec_image *image, const char *dir, struct arena *a)
{
	return image->name != NULL ? arena_printf(a, "%s/%s", dir, image->name) : dir;
}

/* A word that no registry's host is in: meant for one of the names. */
static bool is_word(const char *text)
{
	return text[strcspn(text, "/:@")] == '\0';
}

static void wrong_job(const struct spec *spec, struct diags *d, struct srcpos at, const char *why)
{
	AUTO(strbuf) struct strbuf names = STRBUF_INIT(ERR_HINT_MAX / 2);
	struct diag *problem = diags_add(d, DIAG_ERROR, at, "%s", why);

	list_names(spec, &names);
	diag_hint(d, problem, "write image: %s", strbuf_str(&names));
}

void spec_choose_image(struct spec *spec, const struct yaml_node *root, struct arena *a,
                       struct diags *d)
{
	struct job_section *job = &spec->sections.job;
	const struct spec_image *named = NULL;

	spec->image_known = spec->n_images < 2;
	if (spec->n_images == 0 || yaml_get(root, "image") != NULL)
		return;
	spec->image = spec->images[0];
	if (job->set && job->image != NULL)
		named = find_image(spec, job->image);
	if (named != NULL) {
		spec->image = *named;
		spec->image_known = true;
		/* Its repository and tag are the fleet's to join. */
		job->image = NULL;
	} else if (job->set && job->image != NULL && is_word(job->image)) {
		wrong_job(spec, d, job->image_at,
		          arena_printf(a, "job.image: '%s' is not among images", job->image));
	} else if (job->set && job->image == NULL && spec->n_images > 1) {
		wrong_job(spec, d, job->at, "job: which of the images does it run?");
	}
}
