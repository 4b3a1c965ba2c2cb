/*
 * What `slipway init` knows: kinds of programs and how each is built, CI services, and what it was
 * asked for. Tables and plain values; nothing here reads or writes.
 */
#ifndef SLIPWAY_BUILDER_INIT_MODEL_H
#define SLIPWAY_BUILDER_INIT_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strlist.h"

/*
 * A kind of program, by how its folder is built. A folder is of the first row whose marker it has,
 * with such sources; the last row of each kind has no marker and serves every other folder.
 */
struct init_project {
	const char *kind;    /* "c++": what --kind says */
	const char *marker;  /* file that tells it: "go.mod" */
	const char *says;    /* a word that is in that file; NULL = any will do */
	const char *sources; /* endings of its source files: ".cc .cpp .cxx" */
	const char *part;    /* the spec's part about the image: "native" */
	/* The commands that make build/ARCH/..., NULL = nothing is to be made. @arch@ is amd64 or
	 * arm64, @machine@ what uname calls it, @program@ the program, @sources@ where the
	 * sources are: "src/" or nothing. */
	const char *build;
	const char *install; /* Debian's packages that the commands want */
	bool crosses;        /* they make the files of any architecture on any other */
	bool packages;       /* pip's, as a layer */
	bool torch;          /* started by torchrun, on a base image with PyTorch */
};
extern const struct init_project init_projects[];
extern const size_t n_init_projects;

/* The kinds, each once, NULL-terminated; and the services of CI. */
extern const char *const init_kinds[];
extern const char *const init_ci_names[];

struct init_ci {
	const char *name;          /* "gitlab" */
	const char *file;          /* what it reads; NULL = rendered from the section pipeline */
	const char *part;          /* that file's, NULL with the section */
	const char *arch;          /* as its commands have it: "$ARCH" */
	const char *machine;       /* the same as uname calls it */
	const char *next, *remark; /* a command and what it does, after the file is there */
};

/* The row of a name, or NULL. */
const struct init_ci *init_ci_find(const char *name);

/* What the folder shows. Strings live in the arena of who looked. */
struct init_seen {
	const struct init_project *project; /* NULL = nothing that we know */
	const char *program; /* what the build makes, or the script that is started */
	const char *folder;  /* the folder's own name, or "app" */
	const char *source;  /* OWNER/NAME of git's remote, NULL = none */
	const char *sources; /* "src/" where they are there and not in the folder itself, else "" */
};

/* What is to be written. */
struct init_request {
	const struct init_project *project;
	const char *name;       /* a name of Kubernetes' too: lower case, digits, '-' */
	const char *repository; /* HOST/NAME; NULL = none yet */
	const char *tag;
	const char *base;                       /* NULL = the kind's own */
	const char *program, *source, *sources; /* as in init_seen */
	const char *region, *account;           /* of AWS */
	struct strlist arches;                  /* amd64, arm64, in this order */
	struct strlist targets;                 /* of the fleet, the first choice first */
	const struct init_ci *ci;               /* NULL = none */
	const char *host_arch;                  /* of the machine this runs on */
	const char *version;                    /* of slipway */
	const char *schema;                     /* of slipway.yaml, for editors */
};

/* How a file gets to be there. */
enum init_way {
	INIT_CREATE, /* nobody may have it yet */
	INIT_SAME,   /* the same, but exactly these bytes may be there: a run before was stopped */
	INIT_KEEP,   /* what is there already is left alone */
	INIT_LINE    /* `text` is a line of a file that may have others */
};

struct init_file {
	const char *path; /* below the folder */
	const char *text;
	enum init_way way;
	bool there; /* set by init_check and init_write: nothing is to be done */
};

struct init_step {
	const char *command, *meaning;
};

enum { INIT_FILES_MAX = 4, INIT_STEPS_MAX = 12 };
struct init_plan {
	struct init_file files[INIT_FILES_MAX]; /* slipway.yaml is the last */
	size_t n_files;
	struct init_step steps[INIT_STEPS_MAX];
	size_t n_steps;
};

#endif
