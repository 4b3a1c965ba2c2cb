#include "builder/oci/mediatype.h"

#include <stddef.h>
#include <string.h>

#include "base/attr.h"

/* Every layer type and its compression; the OCI type of a compression stands first. */
static const struct {
	const char *media_type;
	enum compression compression;
} layers[] = {
	{MEDIA_LAYER, COMPRESSION_NONE},
	{MEDIA_LAYER_GZIP, COMPRESSION_GZIP},
	{MEDIA_LAYER_ZSTD, COMPRESSION_ZSTD},
	{MEDIA_DOCKER_LAYER, COMPRESSION_NONE},
	{MEDIA_DOCKER_LAYER_GZIP, COMPRESSION_GZIP},
	{MEDIA_DOCKER_LAYER_ZSTD, COMPRESSION_ZSTD},
};

static const struct {
	const char *docker, *oci;
} twins[] = {
	{MEDIA_DOCKER_LIST, MEDIA_INDEX},
	{MEDIA_DOCKER_MANIFEST, MEDIA_MANIFEST},
	{MEDIA_DOCKER_CONFIG, MEDIA_CONFIG},
	{MEDIA_DOCKER_LAYER, MEDIA_LAYER},
	{MEDIA_DOCKER_LAYER_GZIP, MEDIA_LAYER_GZIP},
	{MEDIA_DOCKER_LAYER_ZSTD, MEDIA_LAYER_ZSTD},
};

bool media_is_index(const char *media_type)
{
	return strcmp(media_type, MEDIA_INDEX) == 0 || strcmp(media_type, MEDIA_DOCKER_LIST) == 0;
}

bool media_is_manifest(const char *media_type)
{
	return strcmp(media_type, MEDIA_MANIFEST) == 0 ||
	       strcmp(media_type, MEDIA_DOCKER_MANIFEST) == 0;
}

bool media_is_config(const char *media_type)
{
	return strcmp(media_type, MEDIA_CONFIG) == 0 ||
	       strcmp(media_type, MEDIA_DOCKER_CONFIG) == 0;
}

bool media_layer_compression(const char *media_type, enum compression *ret_compression)
{
	for (size_t i = 0; i < ARRAY_LEN(layers); i++)
		if (strcmp(layers[i].media_type, media_type) == 0) {
			*ret_compression = layers[i].compression;
			return true;
		}
	return false;
}

bool media_is_layer(const char *media_type)
{
	enum compression ignored;

	return media_layer_compression(media_type, &ignored);
}

const char *media_to_oci(const char *media_type)
{
	for (size_t i = 0; i < ARRAY_LEN(twins); i++)
		if (strcmp(twins[i].docker, media_type) == 0)
			return twins[i].oci;
	return media_type;
}

const char *media_layer(enum compression compression)
{
	return layers[compression].media_type;
}

const char *compression_name(enum compression compression)
{
	static const char *const names[] = {[COMPRESSION_NONE] = "none",
	                                    [COMPRESSION_GZIP] = "gzip",
	                                    [COMPRESSION_ZSTD] = "zstd"};

	return names[compression];
}
