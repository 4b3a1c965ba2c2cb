/*
 * What the rules share: the image under check, one table of rules, and the one way to report. One
 * rule, or one family, a file: rule_*.c. Nobody outside builder/check includes this. Ownership:
 * everything lives in the arena of check_image. Thread rule: rules run on one thread.
 */
#ifndef SLIPWAY_BUILDER_CHECK_RULES_H
#define SLIPWAY_BUILDER_CHECK_RULES_H

#include "builder/check/check.h"
#include "builder/check/scan.h"
#include "builder/check/view.h"
#include "builder/oci/config.h"
#include "builder/oci/manifest.h"

/* The order of the table in rules.c. */
enum rule_id {
	RULE_DIGEST,
	RULE_MEDIA_TYPE,
	RULE_LAYER_COUNT,
	RULE_DIFF_ID,
	RULE_HISTORY,
	RULE_PLATFORM,
	RULE_SIZE_BUDGET,
	RULE_DUPLICATE_PATH,
	RULE_WHITEOUT,
	RULE_HARD_LINK,
	RULE_SHADOWED_SYMLINK,
	RULE_SECRET,
	RULE_SETUID,
	RULE_WORLD_WRITABLE,
	RULE_ENTRYPOINT,
	RULE_ELF_MACHINE,
	RULE_ELF_INTERPRETER,
	RULE_ELF_NEEDED,
	RULE_GLIBC_VERSION,
	RULES
};

/* Marks on view nodes. */
enum {
	MARK_REACHED = 1 << 0,         /* loaded by some program */
	MARK_NEEDED_REPORTED = 1 << 1, /* its missing libraries were told */
	MARK_GLIBC_REPORTED = 1 << 2
};

enum { RULE_REPORTS_MAX = 20 /* of one rule and platform; the rest is counted */ };

struct check_run {
	struct store *store;
	const struct check_opts *opts;
	struct arena *arena;
	struct diags *diags;
	bool off[RULES];
	size_t n_hidden_errors; /* found, but beyond RULE_REPORTS_MAX */
	size_t n_blobs;
	/* Every distinct layer, scanned once. */
	struct layer_scan **scans;
	size_t n_scans;
};

/* One platform's image. */
struct check_image {
	struct check_run *run;
	struct descriptor desc;
	struct platform platform;
	char platform_name[PLATFORM_TEXT_MAX];
	const struct platform_arch *arch; /* NULL for an architecture we know nothing of */
	struct manifest manifest;
	struct image_config config;
	bool has_config;            /* config could be read */
	struct strlist env;         /* "NAME=value" of the configuration */
	const char *workdir;        /* NULL if none */
	struct layer_scan **layers; /* by manifest order; NULL where the media type is no layer's */
	struct view view;
	size_t n_reports[RULES];
};

struct rule {
	const char *name;
	enum diag_severity severity;
	const char *summary;
	void (*check)(struct check_image *image); /* NULL: reported where it shows */
};

extern const struct rule rules[RULES];

/* Where a problem is. A NULL path or layer SIZE_MAX is left out of the message. */
struct rule_place {
	size_t layer;
	const char *path; /* with or without leading '/' */
};
#define NO_PLACE ((struct rule_place){SIZE_MAX, NULL})

/*
 * Reports "PLATFORM: layer N 'NAME': /path: MESSAGE" unless the rule is off; returns NULL when
 * nothing was added. The severity is the rule's; rule_report_as says another.
 */
struct diag *rule_report(struct check_image *image, enum rule_id id, struct rule_place place,
                         const char *fmt, ...) PRINTF_LIKE(4, 5);
struct diag *rule_report_as(struct check_image *image, enum rule_id id, enum diag_severity severity,
                            struct rule_place place, const char *text);

/* Sets the hint of what rule_report returned; NULL is fine. */
void rule_hint(struct check_image *image, struct diag *diag, const char *hint);

/* The place of a node. */
struct rule_place rule_place_of(struct check_image *image, const struct view_node *n);

/* Says for each rule how many problems were left out. */
void rule_report_left_out(struct check_image *image);

/* True when the soname is provided by the node. */
bool rule_provided(const struct check_image *image, const char *soname);

/* The value of a variable of the image's environment, NULL if unset. */
const char *rule_env(const struct check_image *image, const char *name);

/* Checks of one rule or family each. */
void rule_check_manifest(struct check_image *image); /* rule_layers.c */
void rule_check_diff_ids(struct check_image *image);
void rule_check_history(struct check_image *image);
void rule_check_platform(struct check_image *image);
void rule_check_size(struct check_image *image);
void rule_check_secrets(struct check_image *image); /* rule_secret.c */
void rule_check_setuid(struct check_image *image);  /* rule_modes.c */
void rule_check_writable(struct check_image *image);
void rule_check_entrypoint(struct check_image *image); /* rule_entrypoint.c */
void rule_check_machine(struct check_image *image);    /* rule_elf.c */
void rule_check_interpreter(struct check_image *image);
void rule_check_linkage(
	struct check_image *image); /* rule_needed.c: elf-needed and glibc-version */

/* Told by the view while layers are applied (rule_paths.c). */
void rule_view_event(void *ctx, enum view_event event, size_t layer, const struct scan_member *m,
                     const char *detail);

/* One program or library with all that its loader maps (linkage.c). */
struct linked {
	struct view_node *node;
	const char *name;   /* as needed; the path for the first one */
	const char *origin; /* its folder in the image, as found */
	const struct linked *loader;
};

struct linkage {
	struct check_image *image;
	struct strlist builtin, conf, library_path; /* folders of the loader */
	const char *interpreter;
	VEC(struct linked *) objects; /* [0] is the program */
};

/* Told for every name that is found nowhere. */
typedef void linkage_missing(struct linkage *l, const struct linked *from, const char *needed);

/* Loads `root` and everything it needs; provided names are left out. */
void linkage_load(struct linkage *l, struct view_node *root, linkage_missing *missing);
void linkage_init(struct linkage *l, struct check_image *image);
void linkage_done(struct linkage *l);

/* The object that a needed name was found as, NULL if none. */
const struct linked *linkage_find(const struct linkage *l, const char *needed);

#endif
