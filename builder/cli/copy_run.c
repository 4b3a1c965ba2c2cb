/* See copy_run.h. Sections: the target, what is copied, kinds of targets, all of it. */
#include "builder/cli/copy_run.h"

#include <string.h>

#include "base/fs.h"
#include "base/text.h"
#include "builder/check/images.h"
#include "builder/image/pack.h"
#include "builder/image/push.h"
#include "builder/oci/archive.h"
#include "builder/oci/attached.h"

/* ---- the target ---- */

static bool begins_as_path(const char *text)
{
	return text_has_prefix(text, "/") || text_has_prefix(text, "./") ||
	       text_has_prefix(text, "../");
}

int copy_target(const char *text, struct arena *a, struct ref *ret_ref, struct err *err)
{
	const char *transport = "oci:";

	if (text_has_suffix(text, ".tar"))
		transport = "oci-archive:";
	else if (!begins_as_path(text))
		return image_argument(text, a, ret_ref, err);
	if (strchr(text, ':') != NULL && !begins_as_path(text))
		return image_argument(text, a, ret_ref, err);
	return ref_parse(arena_printf(a, "%s%s", transport, text), a, ret_ref, err);
}

/* ---- what is copied ---- */

/* The image of one platform, or all that the reference names. */
static int choose_root(const struct copy_run_state *run, const struct descriptor *named,
                       struct descriptor *ret_root, struct err *err)
{
	struct platform platform;
	struct image_list images;

	*ret_root = *named;
	if (run->options->platform == NULL)
		return 0;
	if (platform_parse(run->options->platform, &platform, err) != 0) {
		err->code = ERR_USAGE;
		return err_wrap(err, "--platform %s", run->options->platform);
	}
	if (images_list(run->from.store, named, &platform, &run->cli->arena, &images, err) != 0)
		return -1;
	*ret_root = images.at[0];
	return 0;
}

/* The target's tag, else the one by which the source is known. An image that was named by its
 * digest gets none. */
static const char *tag_of(const struct copy_run_state *run)
{
	const char *known = strmap_get(&run->root.annotations, ANNOTATION_REF_NAME);

	if (run->to.tag != NULL || run->to.has_digest)
		return run->to.tag;
	if (run->from.ref.tag != NULL || run->from.ref.has_digest)
		return run->from.ref.tag;
	return known != NULL && ref_tag_valid(known) ? known : "latest";
}

static struct strlist one_tag(struct arena *a, const char *tag)
{
	struct strlist list = {arena_calloc(a, 1, sizeof(*list.at)), tag != NULL};

	list.at[0] = tag;
	return list;
}

/* A target that names a digest is a promise about the source. */
static int check_digest(const struct copy_run_state *run, struct err *err)
{
	char want[DIGEST_TEXT_MAX], have[DIGEST_TEXT_MAX];

	if (!run->to.has_digest || digest_equal(&run->to.digest, &run->root.digest))
		return 0;
	return err_set(err, ERR_CONFLICT, "the target is to have digest %s, and the source is %s",
	               digest_text(&run->to.digest, want), digest_text(&run->root.digest, have));
}

/* ---- kinds of targets ---- */

static struct copy_opts copy_opts(const struct copy_run_state *run, struct copy_place *place,
                                  struct strlist tags)
{
	return (struct copy_opts){.from = run->from.store,
	                          .to = place,
	                          .root = &run->root,
	                          .tags = tags,
	                          .jobs = (unsigned)run->options->jobs};
}

/* Blobs of the same registry are mounted, where it can. */
static const char *mount_source(const struct copy_run_state *run)
{
	const struct push_limits *limits = ecr_registry_limits(run->remote.aws->ecr, run->to.host);

	if (run->from.registry == NULL || strcmp(run->from.ref.host, run->to.host) != 0 ||
	    strcmp(run->from.ref.repository, run->to.repository) == 0 ||
	    (limits != NULL && limits->no_mount))
		return NULL;
	return run->from.ref.repository;
}

static int to_registry(struct copy_run_state *run, struct strlist tags, struct err *err)
{
	const struct image_target target = {
		.to = run->to, .tags = tags, .create = run->options->create_repository};
	struct registry *registry = NULL;
	struct copy_registry place;
	struct copy_opts opts = copy_opts(run, &place.place, tags);

	if (remote_registry(&run->remote, &run->to, &registry, err) != 0)
		return -1;
	copy_registry_init(&place, registry);
	opts.mount_from = mount_source(run);
	int rc = image_push_preflight(&run->remote, &target, &run->root, registry, err);

	if (rc == 0)
		rc = copy_image(&opts, &run->result, err);
	registry_close(registry);
	return rc == 0 ? 0 : err_wrap(err, "copy to '%s/%s'", run->to.host, run->to.repository);
}

static int to_layout_at(struct copy_run_state *run, const char *path, struct strlist tags,
                        struct err *err)
{
	AUTO_LAYOUT struct layout *layout = NULL;
	struct copy_layout place;
	struct copy_opts opts = copy_opts(run, &place.place, tags);

	if (layout_open(path, LAYOUT_WRITE, &layout, err) != 0)
		return -1;
	copy_layout_init(&place, layout, run->cli->progress);
	if (copy_image(&opts, &run->result, err) != 0)
		return err_wrap(err, "copy to '%s'", path);
	/* Without a tag it is the layout's image. */
	return tags.n > 0 ? 0 : layout_set_tag(layout, NULL, &run->root, err);
}

static int to_layout(struct copy_run_state *run, struct strlist tags, struct err *err)
{
	return to_layout_at(run, run->to.path, tags, err);
}

static int pack_layout(const struct copy_run_state *run, const char *dir, const char *tag,
                       struct err *err)
{
	AUTO_LAYOUT struct layout *layout = NULL;

	return layout_open(dir, LAYOUT_READ, &layout, err) != 0
	               ? -1
	               : image_pack(layout, &run->root, tag, run->to.path, err);
}

/* Collected in a folder beside it, so that the archive is there whole or not at all. */
static int to_oci_archive(struct copy_run_state *run, struct strlist tags, struct err *err)
{
	struct arena *a = &run->cli->arena;
	char *dir = arena_printf(a, "%s.layout-XXXXXX", run->to.path);
	struct err ignored = {0};

	if (mkdtemp(dir) == NULL)
		return err_set(err, ERR_IO, "create a folder beside '%s'", run->to.path);
	int rc = to_layout_at(run, dir, tags, err);

	if (rc == 0)
		rc = pack_layout(run, dir, tags.n > 0 ? tags.at[0] : NULL, err);
	if (fs_remove_tree(dir, &ignored) != 0)
		progress_note(run->cli->progress, "%s", ignored.msg);
	return rc;
}

static int to_docker_archive(struct copy_run_state *run, struct strlist tags, struct err *err)
{
	const struct archive_opts opts = {
		.from = run->from.store, .root = &run->root, .tag = tags.n > 0 ? tags.at[0] : NULL};

	if (archive_write_docker(run->to.path, &opts, err) == 0)
		return 0;
	if (err->code == ERR_USAGE)
		err_hint(err, "choose one platform, as in --platform linux/amd64");
	return -1;
}

static int copy_root(struct copy_run_state *run, struct strlist tags, struct err *err)
{
	static int (*const targets[])(struct copy_run_state *, struct strlist, struct err *) = {
		[REF_REGISTRY] = to_registry,
		[REF_LAYOUT] = to_layout,
		[REF_OCI_ARCHIVE] = to_oci_archive,
		[REF_DOCKER_ARCHIVE] = to_docker_archive,
	};

	if (check_digest(run, err) != 0)
		return -1;
	return targets[run->to.kind](run, tags, err);
}

/* ---- all of it ---- */

static int tags_of_layout(const struct layout *layout, struct arena *a, struct strlist *ret_tags,
                          struct err *err)
{
	struct index index;

	if (layout_index(layout, a, &index, err) != 0)
		return -1;
	*ret_tags = (struct strlist){arena_calloc(a, index.n_manifests, sizeof(*ret_tags->at)), 0};
	for (size_t i = 0; i < index.n_manifests; i++) {
		const char *name = strmap_get(&index.manifests[i].annotations, ANNOTATION_REF_NAME);

		if (name != NULL && ref_tag_valid(name))
			ret_tags->at[ret_tags->n++] = name;
	}
	return 0;
}

static int list_tags(struct copy_run_state *run, struct strlist *ret_tags, struct err *err)
{
	struct arena *a = &run->cli->arena;

	if (run->from.registry != NULL)
		return registry_tags(run->from.registry, a, ret_tags, err);
	if (run->from.layout != NULL)
		return tags_of_layout(run->from.layout, a, ret_tags, err);
	return err_set(err, ERR_USAGE, "--all-tags: an archive is copied as a whole");
}

static int check_all_tags(const struct copy_run_state *run, struct err *err)
{
	if (run->from.ref.tag != NULL || run->from.ref.has_digest || run->to.tag != NULL ||
	    run->to.has_digest)
		return err_set(err, ERR_USAGE, "--all-tags: neither side may name a tag or digest");
	if (run->to.kind != REF_REGISTRY && run->to.kind != REF_LAYOUT)
		return err_set(err, ERR_USAGE, "--all-tags: an archive holds one image");
	return 0;
}

static int copy_all_tags(struct copy_run_state *run, struct err *err)
{
	struct arena *a = &run->cli->arena;
	struct strlist tags = {0};

	if (check_all_tags(run, err) != 0 || list_tags(run, &tags, err) != 0)
		return -1;
	run->tags = (struct strlist){arena_calloc(a, tags.n, sizeof(*tags.at)), 0};
	for (size_t i = 0; i < tags.n; i++) {
		struct descriptor named;

		if (tag_is_attached(tags.at[i]))
			continue;
		if (store_resolve(run->from.store, tags.at[i], a, &named, err) != 0 ||
		    choose_root(run, &named, &run->root, err) != 0 ||
		    copy_root(run, one_tag(a, tags.at[i]), err) != 0)
			return err_wrap(err, "tag '%s'", tags.at[i]);
		run->tags.at[run->tags.n++] = tags.at[i];
	}
	if (run->tags.n == 0)
		return err_set(err, ERR_NOT_FOUND, "the source has no tags");
	return 0;
}

int copy_run(struct copy_run_state *run, struct err *err)
{
	struct descriptor named;

	if (run->options->all_tags)
		return copy_all_tags(run, err);
	if (image_root(&run->from, &run->cli->arena, &named, err) != 0 ||
	    choose_root(run, &named, &run->root, err) != 0)
		return -1;
	run->tags = one_tag(&run->cli->arena, tag_of(run));
	return copy_root(run, run->tags, err);
}
