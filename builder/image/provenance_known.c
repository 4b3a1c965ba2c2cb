#include "builder/image/provenance_known.h"

#include <fcntl.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"

enum { READ_BYTES = 256 << 10 };

static const char *last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static const char *hex_of(const struct digest *d, struct arena *a)
{
	char hex[DIGEST_HEX_MAX];

	return arena_strdup(a, digest_hex(d, hex));
}

static int digest_file(const char *path, struct digest *ret_digest, struct err *err)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	AUTO(hasher) struct hasher h = {0};
	AUTO_FREE char *buf = mem_calloc(1, READ_BYTES);
	int64_t offset = 0;
	ssize_t n = fd < 0 ? -1 : 1;

	hasher_init(&h);
	while (n > 0) {
		n = fs_pread(fd, buf, READ_BYTES, offset);
		if (n > 0)
			hasher_update(&h, buf, (size_t)n);
		offset += n;
	}
	if (n < 0)
		return err_set(err, ERR_IO, "read '%s'", path);
	*ret_digest = hasher_final(&h);
	return 0;
}

/* The commit that lies in the spec's folder; without git there, what the CI system says. */
static void add_source(const struct build_opts *opts, struct arena *a, struct provenance *p)
{
	const char *commit = NULL, *uri = p->builder.source;
	bool modified = false;

	spec_commit(opts->plan->spec, a, &commit, &modified);
	if (commit == NULL)
		commit = p->builder.commit;
	if (commit == NULL)
		return;
	if (uri != NULL)
		uri = arena_printf(a, "git+%s%s%s", uri, p->builder.ref != NULL ? "@" : "",
		                   p->builder.ref != NULL ? p->builder.ref : "");
	vec_push(&p->inputs, ((struct provenance_input){.name = "source",
	                                                .uri = uri,
	                                                .algorithm = "gitCommit",
	                                                .digest = commit,
	                                                .modified = modified}));
}

static int add_debs(const struct build_opts *opts, size_t column, struct arena *a,
                    struct provenance *p, struct err *err)
{
	const struct plan_image *image = &opts->plan->images[column];

	for (size_t i = 0; i < image->n_layers; i++)
		for (size_t k = 0; k < image->layers[i].n_debs; k++) {
			const char *path = image->layers[i].debs[k].path;
			struct digest digest;

			if (digest_file(path, &digest, err) != 0)
				return -1;
			vec_push(&p->inputs,
			         ((struct provenance_input){.name = last_name(path),
			                                    .algorithm = "sha256",
			                                    .digest = hex_of(&digest, a),
			                                    .media_type = MEDIA_DEB}));
		}
	return 0;
}

static int add_lock(const struct build_opts *opts, struct arena *a, struct provenance *p,
                    struct err *err)
{
	struct digest digest;

	/* Without --locked it is written by the build, not read. */
	if (!opts->locked || !fs_exists(opts->lock->path))
		return 0;
	if (digest_file(opts->lock->path, &digest, err) != 0)
		return -1;
	vec_push(&p->inputs, ((struct provenance_input){.name = last_name(opts->lock->path),
	                                                .algorithm = "sha256",
	                                                .digest = hex_of(&digest, a)}));
	return 0;
}

static struct strlist names_of(const struct strmap *map, struct arena *a)
{
	struct strlist names = {arena_calloc(a, map->n + 1, sizeof(*names.at)), 0};

	for (size_t i = 0; i < map->n; i++)
		names.at[names.n++] = map->at[i].key;
	return names;
}

static void fill_parameters(const struct build_opts *opts, size_t column, struct arena *a,
                            struct provenance *p)
{
	const struct spec *spec = opts->plan->spec;

	p->name = spec->image.repository != NULL ? spec->image.repository
	          : spec->image.name != NULL     ? spec->image.name
	                                         : spec->name;
	p->platform = opts->plan->images[column].platform;
	p->spec_path = spec->file[0] == '/' ? last_name(spec->file) : spec->file;
	p->image = spec->image.name;
	p->overrides = opts->overrides;
	p->environment = names_of(&spec->environment, a);
	p->git = spec->git;
	p->locked = opts->locked;
	p->format = layer_format_text(spec->image.compression, (int)spec->image.level, a);
	p->epoch = opts->epoch;
	p->version = SLIPWAY_VERSION;
	p->builder = ci_identify(opts->again ? ci_nobody : ci_environment, NULL, a);
}

int image_provenance_known(const struct build_opts *opts, size_t column, struct arena *a,
                           struct provenance *p, struct err *err)
{
	fill_parameters(opts, column, a, p);
	add_source(opts, a, p);
	return digest_file(opts->plan->spec->file, &p->spec, err) != 0 ||
	                       add_lock(opts, a, p, err) != 0
	               ? -1
	               : add_debs(opts, column, a, p, err);
}
