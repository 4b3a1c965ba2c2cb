/*
 * Media types (image-spec, media-types.md) and how a layer's bytes are compressed.
 * Docker's types are read and rewritten to OCI's; ours are always OCI's.
 */
#ifndef SLIPWAY_BUILDER_OCI_MEDIATYPE_H
#define SLIPWAY_BUILDER_OCI_MEDIATYPE_H

#include <stdbool.h>

#define MEDIA_INDEX      "application/vnd.oci.image.index.v1+json"
#define MEDIA_MANIFEST   "application/vnd.oci.image.manifest.v1+json"
#define MEDIA_CONFIG     "application/vnd.oci.image.config.v1+json"
#define MEDIA_LAYER      "application/vnd.oci.image.layer.v1.tar"
#define MEDIA_LAYER_GZIP "application/vnd.oci.image.layer.v1.tar+gzip"
#define MEDIA_LAYER_ZSTD "application/vnd.oci.image.layer.v1.tar+zstd"

#define MEDIA_DOCKER_LIST       "application/vnd.docker.distribution.manifest.list.v2+json"
#define MEDIA_DOCKER_MANIFEST   "application/vnd.docker.distribution.manifest.v2+json"
#define MEDIA_DOCKER_CONFIG     "application/vnd.docker.container.image.v1+json"
#define MEDIA_DOCKER_LAYER      "application/vnd.docker.image.rootfs.diff.tar"
#define MEDIA_DOCKER_LAYER_GZIP "application/vnd.docker.image.rootfs.diff.tar.gzip"
#define MEDIA_DOCKER_LAYER_ZSTD "application/vnd.docker.image.rootfs.diff.tar.zstd"

/* What one GET of a manifest accepts, all four kinds in one header value. */
#define MEDIA_ACCEPT_MANIFESTS                                                                     \
	MEDIA_INDEX ", " MEDIA_MANIFEST ", " MEDIA_DOCKER_LIST ", " MEDIA_DOCKER_MANIFEST

enum compression { COMPRESSION_NONE, COMPRESSION_GZIP, COMPRESSION_ZSTD };

bool media_is_index(const char *media_type);    /* OCI index or Docker list */
bool media_is_manifest(const char *media_type); /* OCI or Docker image manifest */
bool media_is_config(const char *media_type);   /* OCI or Docker image configuration */
bool media_is_layer(const char *media_type);    /* any of the six layer types above */

/*
 * The OCI twin of a Docker type (same bytes, other name); OCI and unknown types come back as given.
 */
const char *media_to_oci(const char *media_type);

/* How a layer is compressed; false when it is not a known layer type. */
bool media_layer_compression(const char *media_type, enum compression *ret_compression);

/* The OCI layer type of a compression, and its name: "none", "gzip", "zstd". */
const char *media_layer(enum compression compression);
const char *compression_name(enum compression compression);

#endif
