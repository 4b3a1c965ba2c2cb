/*
 * Command-line options as tables: one row per option serves parsing, --help, completion and the man
 * pages, so they cannot drift apart.
 * Accepts --name VALUE, --name=VALUE, -x VALUE, -xVALUE, bundled flags (-qv) and "--" as in GNU
 * programs.
 */
#ifndef SLIPWAY_BUILDER_CLI_OPTION_H
#define SLIPWAY_BUILDER_CLI_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/strlist.h"

enum option_kind {
	OPTION_FLAG,   /* bool */
	OPTION_TEXT,   /* const char * */
	OPTION_NUMBER, /* int64_t, from 0 */
	OPTION_LIST    /* struct strlist, may be repeated */
};

/* What a shell completes after the option. */
enum option_complete { COMPLETE_NONE, COMPLETE_FILE, COMPLETE_DIR, COMPLETE_CHOICES };

/* Every value that any command takes; a command's table says which of them it reads. */
struct options {
	bool create_repository, start_scan;
	bool help, insecure, locked, no_cache, no_check, push, dry_run, push_by_digest, raw,
		password_stdin, check, man, gc_off, skip_base;
	bool efa, allow_tcp;                                                /* fleet */
	bool force_conflicts, keep_data, yes, diff;                         /* cluster */
	bool keep_trying, no_failover, wait, no_wait, in_cluster, job_only; /* deploy */
	bool local, with_install, with_deploy;                              /* pipeline */
	bool watch, follow, previous;                                       /* status, logs */
	const char *prices, *rank, *since;
	int64_t look_every, tail;
	const char *context, *kubeconfig, *image_digest, *dry_run_mode, *interval;
	const char *file, *output, *progress, *dest, *format, *digest_file, *metadata_file,
		*result_file, *ca, *username, *platform_one, *registry, *profile, *ecr_region,
		*severity;
	int64_t jobs, retries, timeout;
	struct strlist connect_to, sets, platforms, off, tags, provided;
	const char *target, *arch, *device, *job, *instance; /* fleet */
	int64_t floor;
	struct strlist only;
};

struct option {
	const char *name; /* without "--" */
	char letter;      /* 0 = none */
	enum option_kind kind;
	size_t offset;        /* in struct options */
	const char *metavar;  /* NULL for flags */
	const char *help;     /* one line, no full stop */
	const char *fallback; /* value shown and used when absent, NULL = none */
	enum option_complete complete;
	const char *const
		*choices; /* NULL-terminated, for COMPLETE_CHOICES: anything else is refused */
};

/* Row builders: a member of the wrong type does not compile. */
#define OPTION_MEMBER(member, type)                                                                \
	(offsetof(struct options, member) + 0 * sizeof(&((struct options *)0)->member == (type *)0))
#define FLAG_OPTION(name_, letter_, member, help_)                                                 \
	{                                                                                          \
		.name = (name_), .letter = (letter_), .kind = OPTION_FLAG,                         \
		.offset = OPTION_MEMBER(member, bool), .help = (help_)                             \
	}
#define TEXT_OPTION(name_, letter_, member, metavar_, ...)                                         \
	{                                                                                          \
		.name = (name_), .letter = (letter_), .kind = OPTION_TEXT,                         \
		.offset = OPTION_MEMBER(member, const char *), .metavar = (metavar_),              \
		.help = __VA_ARGS__                                                                \
	}
#define NUMBER_OPTION(name_, letter_, member, metavar_, help_)                                     \
	{                                                                                          \
		.name = (name_), .letter = (letter_), .kind = OPTION_NUMBER,                       \
		.offset = OPTION_MEMBER(member, int64_t), .metavar = (metavar_), .help = (help_)   \
	}
#define LIST_OPTION(name_, letter_, member, metavar_, help_)                                       \
	{                                                                                          \
		.name = (name_), .letter = (letter_), .kind = OPTION_LIST,                         \
		.offset = OPTION_MEMBER(member, struct strlist), .metavar = (metavar_),            \
		.help = (help_)                                                                    \
	}

struct option_table {
	const struct option *at;
	size_t n;
};

/*
 * Parses argv[0..argc-1] (after the command's name) by the rows of the n_tables tables. Values are
 * borrowed from argv; lists and *ret_args live in the arena. ERR_USAGE names the option, with the
 * nearest known one as hint.
 */
int options_parse(const struct option_table *tables, size_t n_tables, int argc, char **argv,
                  struct arena *a, struct options *ret_options, struct strlist *ret_args,
                  struct err *err) MUST_USE;

/* The row of a long name, or NULL. */
const struct option *option_find(const struct option_table *tables, size_t n_tables,
                                 const char *name, size_t len);

#endif
