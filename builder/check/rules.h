/*
 * What the rules share: the image under check, one table of rules, and the one way to report. One
 * rule, or one family, a file: rule_*.c. Nobody outside builder/check includes this. Ownership:
 * everything lives in the arena of check_image. Thread rule: rules run on one thread.
 */
#ifndef SLIPWAY_BUILDER_CHECK_RULES_H
#define SLIPWAY_BUILDER_CHECK_RULES_H

#include "builder/check/check.h"
#include "builder/check/images.h"
#include "builder/check/scan.h"
#include "builder/check/user.h"
#include "builder/check/view.h"
#include "builder/oci/config.h"
#include "builder/oci/manifest.h"

/*
 * Every rule once: its id, its name in the spec and in reports, how bad a problem is, what must
 * hold, and the function that looks; NULL where it is reported as it shows: while the image is read
 * (check.c), its layers are applied (rule_paths.c), or by the function of another rule. They run in
 * this order, which is also that of docs/CHECK.md.
 */
#define CHECK_RULES(RULE)                                                                          \
	RULE(DIGEST, "digest", DIAG_ERROR, "every blob is there with its digest and size", NULL)   \
	RULE(MEDIA_TYPE, "media-type", DIAG_ERROR, "manifests name known kinds of blobs",          \
	     rule_check_manifest)                                                                  \
	RULE(LAYER_COUNT, "layer-count", DIAG_ERROR, "no more layers than runtimes can mount",     \
	     NULL)                                                                                 \
	RULE(DIFF_ID, "diff-id", DIAG_ERROR,                                                       \
	     "the configuration's diff IDs are those of the layers", rule_check_diff_ids)          \
	RULE(HISTORY, "history", DIAG_ERROR, "the history has one entry per layer",                \
	     rule_check_history)                                                                   \
	RULE(PLATFORM, "platform", DIAG_ERROR, "index and configuration name the same platform",   \
	     rule_check_platform)                                                                  \
	RULE(SIZE_BUDGET, "size-budget", DIAG_ERROR, "compressed layers fit the budget",           \
	     rule_check_size)                                                                      \
	RULE(DUPLICATE_PATH, "duplicate-path", DIAG_ERROR, "no path occurs twice in one layer",    \
	     NULL)                                                                                 \
	RULE(WHITEOUT, "whiteout", DIAG_ERROR, "whiteouts are well formed", NULL)                  \
	RULE(HARD_LINK, "hard-link", DIAG_ERROR, "hard links name a file that is there", NULL)     \
	RULE(SHADOWED_SYMLINK, "shadowed-symlink", DIAG_ERROR,                                     \
	     "no folder replaces a link to a folder of a lower layer", NULL)                       \
	RULE(SECRET, "secret", DIAG_ERROR,                                                         \
	     "no keys, tokens or passwords in layers, configuration or annotations",               \
	     rule_check_secrets)                                                                   \
	RULE(SETUID, "setuid", DIAG_WARNING, "no setuid, setgid or capability files",              \
	     rule_check_setuid)                                                                    \
	RULE(WORLD_WRITABLE, "world-writable", DIAG_WARNING,                                       \
	     "no files or non-sticky folders that everybody may write", rule_check_writable)       \
	RULE(VCS_FOLDER, "vcs-folder", DIAG_WARNING, "no history of a version control system",     \
	     rule_check_vcs_folders)                                                               \
	RULE(CORE_DUMP, "core-dump", DIAG_WARNING, "no core dumps", rule_check_core_dumps)         \
	RULE(DANGLING_LINK, "dangling-link", DIAG_WARNING, "symbolic links lead somewhere",        \
	     rule_check_links)                                                                     \
	RULE(USER, "user", DIAG_ERROR, "the user and the group to run as are in the image",        \
	     rule_check_user)                                                                      \
	RULE(WORKDIR, "workdir", DIAG_ERROR, "the working folder is a folder", rule_check_workdir) \
	RULE(SEARCH_PATH, "search-path", DIAG_WARNING,                                             \
	     "PATH names absolute folders, and some that are there", rule_check_search_path)       \
	RULE(NO_ENTRYPOINT, "no-entrypoint", DIAG_WARNING, "the image names a program to start",   \
	     NULL)                                                                                 \
	RULE(ENTRYPOINT, "entrypoint", DIAG_ERROR,                                                 \
	     "the program to start is there, and the kernel can start it", rule_check_entrypoint)  \
	RULE(USER_RIGHTS, "user-rights", DIAG_ERROR,                                               \
	     "the image's user may reach, execute and read all that starting takes", NULL)         \
	RULE(SCRIPT_INTERPRETER, "script-interpreter", DIAG_WARNING,                               \
	     "scripts in the folders of PATH have their interpreter", rule_check_scripts)          \
	RULE(ELF_MACHINE, "elf-machine", DIAG_ERROR,                                               \
	     "programs and libraries are built for the platform", rule_check_machine)              \
	RULE(ELF_INTERPRETER, "elf-interpreter", DIAG_ERROR,                                       \
	     "every program's interpreter is there", rule_check_interpreter)                       \
	RULE(ELF_NEEDED, "elf-needed", DIAG_ERROR, "every needed library is found by the loader",  \
	     rule_check_linkage)                                                                   \
	RULE(GLIBC_VERSION, "glibc-version", DIAG_ERROR,                                           \
	     "libraries define the symbol versions that are needed", NULL)                         \
	RULE(ELF_SYMBOL, "elf-symbol", DIAG_ERROR,                                                 \
	     "every symbol that the loader binds is defined by what it loads", NULL)               \
	RULE(LINKAGE_SIZE, "linkage-size", DIAG_ERROR,                                             \
	     "the check can follow what all programs load", NULL)                                  \
	RULE(LD_PRELOAD, "ld-preload", DIAG_WARNING, "what is to be preloaded is there", NULL)     \
	RULE(ELF_TEXTREL, "elf-textrel", DIAG_WARNING, "no code that the loader must write to",    \
	     rule_check_textrel)                                                                   \
	RULE(ELF_EXEC_STACK, "elf-exec-stack", DIAG_WARNING,                                       \
	     "no program asks for an executable stack", rule_check_exec_stack)                     \
	RULE(ELF_RPATH, "elf-rpath", DIAG_WARNING,                                                 \
	     "no library path leads into a build folder or the working folder", rule_check_rpath)  \
	RULE(ELF_ISA, "elf-isa", DIAG_WARNING,                                                     \
	     "no program needs more than the processors of the fleet have", rule_check_isa)        \
	RULE(ELF_DLOPEN, "elf-dlopen", DIAG_WARNING,                                               \
	     "what files say that they load on demand is there", NULL)                             \
	RULE(CA_CERTIFICATES, "ca-certificates", DIAG_WARNING,                                     \
	     "programs that verify TLS find certificate authorities", rule_check_data)             \
	RULE(NAME_SERVICE, "name-service", DIAG_WARNING,                                           \
	     "programs that look up users and hosts find what is looked up", NULL)                 \
	RULE(TIMEZONE, "timezone", DIAG_WARNING, "the time zone that is set is there",             \
	     rule_check_timezone)                                                                  \
	RULE(LOCALE, "locale", DIAG_WARNING, "the locale that is set is there", rule_check_locale) \
	RULE(GCONV, "gconv", DIAG_WARNING, "character sets that are used can be converted", NULL)  \
	RULE(TERMINFO, "terminfo", DIAG_WARNING,                                                   \
	     "programs that draw on a terminal find descriptions of terminals", NULL)              \
	RULE(INTERPRETER_LIBRARY, "interpreter-library", DIAG_ERROR,                               \
	     "interpreters find their standard library", NULL)                                     \
	RULE(PROGRAM_DATA, "program-data", DIAG_WARNING,                                           \
	     "known programs find the files that they load", NULL)

#define RULE_ID(id, ...) RULE_##id,
enum rule_id {
	CHECK_RULES(RULE_ID) /* RULE_DIGEST, and so on */
	RULES
};
#undef RULE_ID

/* Marks on view nodes. */
enum {
	MARK_REACHED = 1 << 0, /* loaded by some program */
	MARK_GLIBC_REPORTED = 1 << 1,
	MARK_SYMBOL_WARNED = 1 << 2,
	MARK_SYMBOL_REPORTED = 1 << 3,
	MARK_STARTED = 1 << 4,         /* looked at as part of what the image starts */
	MARK_RIGHTS_REPORTED = 1 << 5, /* a right to it is missing, and was reported */
	MARK_SEARCHED = 1 << 6,        /* a folder of PATH whose scripts were looked at */
	MARK_DLOPEN_REPORTED = 1 << 7
};

enum { RULE_REPORTS_MAX = 20 /* of one rule and platform; the rest is counted */ };

struct check_run {
	struct store *store;
	const struct check_opts *opts;
	struct arena *arena;
	struct diags *diags;
	bool off[RULES];
	bool *allow_used; /* by allowance: it covered a finding */
	size_t n_allowed;
	size_t n_hidden_errors; /* found, but beyond RULE_REPORTS_MAX */
	size_t n_blobs;
	struct images_skipped skipped;
	struct budget budget; /* of all layers and all platforms */
	/* Every distinct layer, scanned once. */
	struct layer_scan **scans;
	size_t n_scans;
	/* The indexes above the images, as they were parsed. */
	const struct index *indexes;
	size_t n_indexes;
	bool indexes_reported;
};

/* One platform's image. */
struct check_image {
	struct check_run *run;
	struct descriptor desc;
	struct platform platform;
	char platform_name[PLATFORM_TEXT_MAX];
	const struct platform_arch *arch; /* NULL for an unknown architecture */
	struct manifest manifest;
	struct image_config config;
	bool has_config;               /* config could be read */
	struct strlist env;            /* "NAME=value" of the configuration */
	const char *workdir;           /* NULL if none */
	struct strlist volumes;        /* folders that are mounted over */
	const struct image_user *user; /* NULL when it cannot be told */
	const char *config_text; /* the configuration's bytes; NULL if they could not be read */
	size_t config_len;
	struct layer_scan **layers; /* by manifest order; NULL where the media type is no layer's */
	struct view view;
	size_t n_reports[RULES];
	struct data_facts *data; /* NULL until a program was loaded (rule_data.h) */
};

struct rule {
	const char *name;
	enum diag_severity severity;
	const char *summary;
	void (*check)(struct check_image *image); /* NULL: reported as it shows */
};

extern const struct rule rules[]; /* by rule_id */

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

/* Sets where the spec says what rule_report is about; NULL and no position are fine. */
void rule_at(struct diag *diag, struct srcpos at);

/* The place of a node; without its path once the budget is exceeded: its copy is kept. */
struct rule_place rule_place_of(struct check_image *image, const struct view_node *n);

/* Says for each rule how many problems were left out. */
void rule_report_left_out(struct check_image *image);

/*
 * Whether a base image brought the layer: the caller says so (check_opts), or the image names a
 * base and the layer lacks the name that slipway gives its own.
 */
bool rule_layer_of_base(const struct check_image *image, size_t layer);

/* True when the soname is provided by the node. */
bool rule_provided(const struct check_image *image, const char *soname);

/* The value of a variable of the image's environment, NULL if unset. */
const char *rule_env(const struct check_image *image, const char *name);

/*
 * The folders where a command without '/' is looked for, "" for the working folder; what runtimes
 * set when the image has no PATH. At most PATH_FOLDERS_MAX (rule_search_path.c).
 */
enum { PATH_FOLDERS_MAX = 1000 };
struct strlist rule_search_path(const struct check_image *image);

/* Checks of one rule or family each. */
void rule_check_manifest(struct check_image *image); /* rule_layers.c */
void rule_check_diff_ids(struct check_image *image);
void rule_check_history(struct check_image *image);
void rule_check_platform(struct check_image *image);
void rule_check_size(struct check_image *image);
void rule_check_secrets(struct check_image *image);          /* rule_secret.c */
void rule_check_document_secrets(struct check_image *image); /* rule_secret_config.c */
void rule_check_setuid(struct check_image *image);           /* rule_modes.c */
void rule_check_writable(struct check_image *image);
void rule_check_vcs_folders(struct check_image *image); /* rule_hygiene.c */
void rule_check_core_dumps(struct check_image *image);
void rule_check_links(struct check_image *image);
void rule_check_user(struct check_image *image); /* rule_user.c */
void rule_check_workdir(struct check_image *image);
void rule_check_search_path(struct check_image *image); /* rule_search_path.c */
void rule_check_scripts(struct check_image *image);     /* rule_script.c */
void rule_check_entrypoint(struct check_image *image);  /* rule_entrypoint.c */
void rule_check_machine(struct check_image *image);     /* rule_elf.c */
void rule_check_interpreter(struct check_image *image);
/* rule_needed.c: elf-needed and glibc-version, with elf-symbol and ld-preload */
void rule_check_linkage(struct check_image *image);
void rule_check_textrel(struct check_image *image); /* rule_elf_hygiene.c */
void rule_check_exec_stack(struct check_image *image);
void rule_check_rpath(struct check_image *image);
void rule_check_isa(struct check_image *image);
/* rule_data.c: ca-certificates, with name-service, gconv, terminfo, interpreter-library and
 * program-data */
void rule_check_data(struct check_image *image);
void rule_check_timezone(struct check_image *image); /* rule_data_env.c */
void rule_check_locale(struct check_image *image);

/* Called by the view while layers are applied (rule_paths.c). */
void rule_view_event(void *ctx, enum view_event event, size_t layer, const struct scan_member *m,
                     const char *detail);

#endif
