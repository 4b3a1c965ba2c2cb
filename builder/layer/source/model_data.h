/*
 * What the spec says about the data that programs look up at run time: accounts, certificates,
 * time zones, locales (`image.layers[].accounts` and its neighbours). Plain data in the spec's
 * arena; the field tables beside it (model_data.c) are the single source of decoder, schema and
 * docs/SPEC.md. A member whose `at` has no file was not written.
 */
#ifndef SLIPWAY_BUILDER_LAYER_SOURCE_MODEL_DATA_H
#define SLIPWAY_BUILDER_LAYER_SOURCE_MODEL_DATA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/doc/fields.h"
#include "base/srcpos.h"
#include "base/strlist.h"

/* One line of /etc/passwd (passwd(5)), without a password. */
struct layer_user {
	struct srcpos at;
	const char *name;
	int64_t uid;
	int64_t gid;       /* -1 = as uid */
	const char *home;  /* NULL = /home/NAME, or /root for root */
	int64_t home_mode; /* of the folder */
	const char *shell;
	const char *comment;   /* full name; NULL = none */
	struct strlist groups; /* names of further groups */
};

/* One line of /etc/group (group(5)). */
struct layer_group {
	struct srcpos at;
	const char *name;
	int64_t gid;
};

struct layer_accounts {
	struct srcpos at;
	struct layer_user *users;
	size_t n_users;
	struct layer_group *groups;
	size_t n_groups;
};

/* A file of certificates, in PEM or DER. */
struct layer_certificate {
	struct srcpos at;
	const char *path;
};

/* Whose authorities the bundle starts from (`on:`). */
enum certificates_on {
	CERTIFICATES_ON_SCRATCH, /* those of `from` */
	CERTIFICATES_ON_BASE     /* those of the base image's bundle */
};

struct layer_certificates {
	struct srcpos at;
	bool enabled;
	enum certificates_on on;
	const char *from; /* bundle, .deb, or folder with a root file system; NULL = this machine */
	struct layer_certificate *extra;
	size_t n_extra;
};

struct layer_zones {
	struct srcpos at;
	bool enabled;
	const char *from;     /* .deb, or folder with a root file system; NULL = this machine */
	struct strlist zones; /* globs below usr/share/zoneinfo; empty = all */
};

struct layer_locale {
	struct srcpos at;
	const char *name; /* as in LANG: "de_DE.UTF-8" */
	const char *from; /* .deb, or folder with a root file system; NULL = this machine */
};

extern const struct field_table layer_accounts_fields;
extern const struct field_table layer_certificates_fields;
extern const struct field_table layer_zones_fields;
extern const struct field_table layer_locale_fields;

/* For a time zone's name: "Europe/Berlin". */
const char *layer_zone_check(const char *text, const char **ret_hint);

#endif
