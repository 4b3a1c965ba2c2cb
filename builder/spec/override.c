/*
 * Options of `slipway build` that write over the spec: --tag, --label, --annotation, --env. They go
 * into the tree as if they stood in the file, so the field tables judge them; positions name the
 * option.
 */
#include <string.h>

#include "base/text.h"
#include "builder/oci/ref.h"
#include "builder/spec/spec_internal.h"

struct over {
	const struct spec_over *wanted;
	struct arena *arena;
	struct diags *diags;
};

static bool meant(const struct over *o, const char *name)
{
	for (size_t i = 0; i < o->wanted->images.n; i++)
		if (strcmp(o->wanted->images.at[i], name) == 0)
			return true;
	return o->wanted->images.n == 0;
}

/* The images' mappings; what is not a mapping is the decoder's to report. */
static size_t find_images(const struct over *o, const struct yaml_node *root,
                          struct yaml_node ***ret_images)
{
	const struct yaml_node *images = yaml_get(root, "images");
	struct yaml_node *image = yaml_get(root, "image"), **at;
	size_t n = 0, room = images != NULL ? images->n_pairs + 1 : 1;

	at = arena_calloc(o->arena, room, sizeof(struct yaml_node *));
	if (image != NULL && image->kind == YAML_MAPPING)
		at[n++] = image;
	for (size_t i = 0; images != NULL && i < images->n_pairs; i++)
		if (images->pairs[i].value->kind == YAML_MAPPING &&
		    meant(o, images->pairs[i].key->text) && n < room)
			at[n++] = images->pairs[i].value;
	*ret_images = at;
	return n;
}

/* ---- NAME=VALUE ---- */

/* The mapping below a key, made when nothing is there; NULL when something else is. */
static struct yaml_node *mapping_of(const struct over *o, struct yaml_node *image, const char *key,
                                    struct srcpos at)
{
	struct yaml_node *map = yaml_get(image, key);

	if (map != NULL && !yaml_is_null(map))
		return map->kind == YAML_MAPPING ? map : NULL;
	map = arena_alloc(o->arena, sizeof(*map));
	*map = (struct yaml_node){.kind = YAML_MAPPING, .at = at};
	yaml_put(image, yaml_text(key, at, o->arena), map, o->arena);
	return map;
}

static int add_pair(const struct over *o, const char *option, const char *key, const char *text,
                    struct yaml_node *const *images, size_t n, struct err *err)
{
	const char *equals = strchr(text, '=');

	if (equals == NULL) {
		err_set(err, ERR_USAGE, "--%s %.200s has no value", option, text);
		return err_hint(err, "write --%s NAME=VALUE", option);
	}
	const char *name = arena_strndup(o->arena, text, (size_t)(equals - text));

	if (!text_is_utf8(text, strlen(text)))
		return err_set(err, ERR_USAGE, "--%s %.200s is not UTF-8", option, name);
	struct srcpos at = {.file = arena_printf(o->arena, "--%s %s", option, name),
	                    .line = 1,
	                    .column = 1,
	                    .span = (unsigned)strlen(name)};

	for (size_t i = 0; i < n; i++) {
		struct yaml_node *map = mapping_of(o, images[i], key, at);

		if (map != NULL)
			yaml_put(map, yaml_text(name, at, o->arena),
			         yaml_text(equals + 1, at, o->arena), o->arena);
	}
	return 0;
}

/* ---- tags ---- */

/* One --tag, taken apart. */
struct wanted_tag {
	const char *repository; /* NULL = the spec's */
	const char *tag;
};

static int wrong_tag(const char *text, struct err *err)
{
	err->code = ERR_USAGE;
	return err_wrap(err, "--tag %.200s", text);
}

/* "v1" is a tag; with a colon or a slash it is a name with an optional tag. */
static int read_tag(const struct over *o, const char *text, struct wanted_tag *ret, struct err *err)
{
	struct ref ref;

	if (text[strcspn(text, ":/@")] == '\0') {
		*ret = (struct wanted_tag){.tag = text};
		if (ref_tag_valid(text))
			return 0;
		err_set(err, ERR_USAGE, "it is not a tag");
		err_hint(err, "a tag has letters, digits, '_', '.' and '-', at most 128, and does "
		              "not start with '.' or '-'");
		return wrong_tag(text, err);
	}
	if (ref_parse(text, o->arena, &ref, err) != 0)
		return wrong_tag(text, err);
	if (ref.kind != REF_REGISTRY || ref.has_digest) {
		err_set(err, ERR_USAGE, "it is not TAG or HOST/NAME:TAG");
		err_hint(err, "the digest follows from the content; -o names the folder");
		return wrong_tag(text, err);
	}
	size_t len = strlen(text) - (ref.tag != NULL ? strlen(ref.tag) + 1 : 0);

	*ret = (struct wanted_tag){.repository = arena_strndup(o->arena, text, len),
	                           .tag = ref.tag != NULL ? ref.tag : "latest"};
	return 0;
}

static int same_repository(const char **repository, const struct wanted_tag *tag, const char *text,
                           size_t n_images, struct err *err)
{
	if (tag->repository == NULL)
		return 0;
	if (n_images > 1) {
		err_set(err, ERR_USAGE, "%zu images cannot have one repository", n_images);
		err_hint(err, "name the image: slipway build NAME --tag %.200s", text);
		return wrong_tag(text, err);
	}
	if (*repository != NULL && strcmp(*repository, tag->repository) != 0) {
		err_set(err, ERR_USAGE, "a second repository beside '%.200s'", *repository);
		err_hint(err,
		         "`slipway push` sends what was built to another one: slipway push "
		         "DIR %.200s",
		         text);
		return wrong_tag(text, err);
	}
	*repository = tag->repository;
	return 0;
}

static struct srcpos tag_at(const struct over *o, const char *text)
{
	return (struct srcpos){.file = arena_printf(o->arena, "--tag %s", text),
	                       .line = 1,
	                       .column = 1,
	                       .span = (unsigned)strlen(text)};
}

static void put_tags(const struct over *o, const struct yaml_node *list, const char *repository,
                     struct yaml_node *image)
{
	struct yaml_node *copy = arena_memdup(o->arena, list, sizeof(*list));

	yaml_put(image, yaml_text("tags", list->at, o->arena), copy, o->arena);
	if (repository != NULL)
		yaml_put(image, yaml_text("repository", list->at, o->arena),
		         yaml_text(repository, list->at, o->arena), o->arena);
}

static int write_tags(const struct over *o, struct yaml_node *const *images, size_t n,
                      struct err *err)
{
	const struct strlist *texts = &o->wanted->tags;
	const char *repository = NULL;

	if (texts->n == 0)
		return 0;
	struct yaml_node list = {.kind = YAML_SEQUENCE, .at = tag_at(o, texts->at[0])};

	list.items = arena_calloc(o->arena, texts->n, sizeof(struct yaml_node *));
	for (size_t i = 0; i < texts->n; i++) {
		struct wanted_tag tag = {0};

		if (read_tag(o, texts->at[i], &tag, err) != 0 ||
		    same_repository(&repository, &tag, texts->at[i], n, err) != 0)
			return -1;
		list.items[list.n_items++] = yaml_text(tag.tag, tag_at(o, texts->at[i]), o->arena);
	}
	for (size_t i = 0; i < n; i++)
		put_tags(o, &list, repository, images[i]);
	return 0;
}

int spec_write_over(struct yaml_node *root, const struct spec_over *over, struct arena *a,
                    struct diags *d, struct err *err)
{
	const struct {
		const char *option, *key;
		const struct strlist *texts;
	} maps[] = {{"label", "labels", &over->labels},
	            {"annotation", "annotations", &over->annotations},
	            {"env", "env", &over->env}};
	const struct over o = {over, a, d};
	struct yaml_node **images;
	size_t n = find_images(&o, root, &images);

	for (size_t i = 0; i < ARRAY_LEN(maps); i++)
		for (size_t k = 0; k < maps[i].texts->n; k++)
			if (add_pair(&o, maps[i].option, maps[i].key, maps[i].texts->at[k], images,
			             n, err) != 0)
				return -1;
	return write_tags(&o, images, n, err);
}
