#include "builder/oci/descriptor.h"

#include <string.h>

#include "builder/oci/mediatype.h"

/* Each set is a search through those before it: a cap keeps hostile documents cheap. */
enum { ANNOTATIONS_MAX = 1024 };

/* RFC 6838 names are ASCII; anything else in a media type is an attack or an accident. */
static bool media_type_valid(const char *text)
{
	size_t len = strlen(text);

	if (len < 3 || len > 255 || strchr(text, '/') == NULL)
		return false;
	for (size_t i = 0; i < len; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return false;
	return true;
}

/* A platform member that is absent is empty; one that is too long does not fit and is refused. */
static int platform_part(const cJSON *obj, const char *key, char out[PLATFORM_PART_MAX],
                         struct err *err)
{
	const char *text = json_string(obj, key);

	if (text == NULL)
		return 0;
	if (strlen(text) >= PLATFORM_PART_MAX)
		return err_set(err, ERR_FORMAT, "platform.%s is too long", key);
	snprintf(out, PLATFORM_PART_MAX, "%s", text);
	return 0;
}

static int parse_platform(const cJSON *obj, struct platform *p, struct err *err)
{
	if (obj == NULL)
		return 0;
	if (!cJSON_IsObject(obj))
		return err_set(err, ERR_FORMAT, "platform is not an object");
	if (platform_part(obj, "os", p->os, err) != 0 ||
	    platform_part(obj, "architecture", p->architecture, err) != 0 ||
	    platform_part(obj, "variant", p->variant, err) != 0)
		return -1;
	/* Some writers give both members empty where there is no platform. */
	if ((p->os[0] == '\0') != (p->architecture[0] == '\0'))
		return err_set(err, ERR_FORMAT, "platform has no os or architecture");
	platform_normalise(p);
	return 0;
}

static int parse_annotations(const cJSON *obj, struct arena *a, struct strmap *map, struct err *err)
{
	const cJSON *item = NULL;

	if (obj == NULL || cJSON_IsNull(obj))
		return 0;
	if (!cJSON_IsObject(obj))
		return err_set(err, ERR_FORMAT, "annotations is not an object");
	cJSON_ArrayForEach (item, obj) {
		if (!cJSON_IsString(item))
			return err_set(err, ERR_FORMAT, "annotation '%.80s' is not a string",
			               item->string);
		if (map->n == ANNOTATIONS_MAX)
			return err_set(err, ERR_LIMIT, "more than %d annotations", ANNOTATIONS_MAX);
		strmap_set(map, a, item->string, item->valuestring);
	}
	return 0;
}

bool descriptor_is_attestation(const struct descriptor *d)
{
	return strcmp(d->platform.os, "unknown") == 0;
}

bool descriptor_is_image(const struct descriptor *d)
{
	/* For an artifact without a type of its own the index gives its configuration's. */
	return media_is_manifest(d->media_type) && !descriptor_is_attestation(d) &&
	       (d->artifact_type == NULL || media_is_config(d->artifact_type));
}

int descriptor_parse(const cJSON *obj, struct arena *a, struct descriptor *ret_desc,
                     struct err *err)
{
	struct descriptor d = {0};
	const char *media_type = json_string(obj, "mediaType"),
		   *digest = json_string(obj, "digest");

	if (!cJSON_IsObject(obj))
		return err_set(err, ERR_FORMAT, "descriptor is not an object");
	if (media_type == NULL || !media_type_valid(media_type))
		return err_set(err, ERR_FORMAT, "descriptor has no valid mediaType");
	if (digest == NULL)
		return err_set(err, ERR_FORMAT, "descriptor has no digest");
	if (digest_parse(digest, &d.digest, err) != 0 ||
	    json_size(obj, "size", &d.size, err) != 0 ||
	    parse_platform(json_get(obj, "platform"), &d.platform, err) != 0 ||
	    parse_annotations(json_get(obj, "annotations"), a, &d.annotations, err) != 0)
		return err_wrap(err, "descriptor");
	d.media_type = arena_strdup(a, media_type);
	d.artifact_type = arena_strdup(a, json_string(obj, "artifactType"));
	*ret_desc = d;
	return 0;
}

static void add_platform(cJSON *obj, const struct platform *p)
{
	if (p->os[0] == '\0')
		return;
	cJSON *platform = json_add_object(obj, "platform");

	json_add_string(platform, "architecture", p->architecture);
	json_add_string(platform, "os", p->os);
	if (p->variant[0] != '\0')
		json_add_string(platform, "variant", p->variant);
}

void annotations_json(const struct strmap *annotations, cJSON *obj)
{
	if (annotations->n == 0)
		return;
	cJSON *map = json_add_object(obj, "annotations");

	for (size_t i = 0; i < annotations->n; i++)
		json_add_string(map, annotations->at[i].key, annotations->at[i].value);
}

int annotations_parse(const cJSON *obj, struct arena *a, struct strmap *ret_map, struct err *err)
{
	return parse_annotations(json_get(obj, "annotations"), a, ret_map, err);
}

cJSON *descriptor_json(const struct descriptor *d)
{
	cJSON *obj = cJSON_CreateObject();
	char digest[DIGEST_TEXT_MAX];

	json_add_string(obj, "mediaType", d->media_type);
	json_add_string(obj, "artifactType", d->artifact_type);
	json_add_string(obj, "digest", digest_text(&d->digest, digest));
	json_add_int(obj, "size", d->size);
	add_platform(obj, &d->platform);
	annotations_json(&d->annotations, obj);
	return obj;
}
