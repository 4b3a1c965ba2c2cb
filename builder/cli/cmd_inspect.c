/*
 * slipway inspect: what a reference holds, from its documents alone (no layer is read).
 */
#include <string.h>

#include "base/interrupt.h"
#include "base/mem.h"
#include "base/text.h"
#include "builder/cli/command.h"
#include "builder/cli/inspect_tree.h"
#include "builder/cli/remote_option.h"
#include "builder/image/image.h"
#include "builder/oci/config.h"
#include "builder/oci/manifest.h"
#include "builder/oci/mediatype.h"

struct inspect_options {
	bool raw, tree;
	struct remote_options remote;
};

static const struct option options[] = {
	FLAG_OPTION(struct inspect_options, raw, "raw", 0, "Print the root manifest's exact bytes"),
	FLAG_OPTION(struct inspect_options, tree, "tree", 0,
                    "Show what is attached to the image and to each platform's, too: SBOMs, "
                    "provenance, signatures and the keys that they call theirs"),
	REMOTE_OPTIONS(struct inspect_options, remote),
};

/*
 * An index of some kilobytes may name one configuration a thousand times. Each is read once and
 * lent to the others; what is printed again has a bound, for indented it may be a hundred times
 * as long.
 */
enum { REPEATED_BYTES_MAX = 1 << 20 };

struct known_config {
	struct digest digest;
	cJSON *config; /* in the document */
};

struct inspect {
	struct cli *cli;
	const struct inspect_options *options;
	struct image image;
	cJSON *doc;
	VEC(struct known_config) configs;
	int64_t repeated; /* bytes of configurations printed before */
};

static void add_annotations(cJSON *obj, const struct strmap *annotations)
{
	if (annotations->n == 0)
		return;
	cJSON *map = json_add_object(obj, "annotations");

	for (size_t i = 0; i < annotations->n; i++)
		json_add_string(map, annotations->at[i].key, annotations->at[i].value);
}

static void add_layers(cJSON *obj, const struct manifest *m)
{
	cJSON *layers = json_add_array(obj, "layers");
	char digest[DIGEST_TEXT_MAX];
	int64_t total = 0;

	for (size_t i = 0; i < m->n_layers; i++) {
		cJSON *layer = cJSON_CreateObject();

		json_add_string(layer, "digest", digest_text(&m->layers[i].digest, digest));
		json_add_string(layer, "media_type", m->layers[i].media_type);
		json_add_int(layer, "size", m->layers[i].size);
		json_add_string(layer, "name",
		                strmap_get(&m->layers[i].annotations, ANNOTATION_LAYER_NAME));
		json_push(layers, layer);
		if (__builtin_add_overflow(total, m->layers[i].size, &total))
			total = INT64_MAX;
	}
	json_add_int(obj, "compressed_size", total);
}

static cJSON *find_config(const struct inspect *in, const struct digest *digest)
{
	for (size_t i = 0; i < in->configs.n; i++)
		if (digest_equal(&in->configs.at[i].digest, digest))
			return in->configs.at[i].config;
	return NULL;
}

static int add_config(struct inspect *in, const struct manifest *m, cJSON *obj, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(CONFIG_BYTES_MAX);
	cJSON *config = find_config(in, &m->config.digest);

	if (config != NULL) {
		in->repeated += m->config.size;
		if (in->repeated > REPEATED_BYTES_MAX)
			return err_set(err, ERR_LIMIT,
			               "the index names the same configurations too often: "
			               "repeated they have more than %d bytes",
			               REPEATED_BYTES_MAX);
		cJSON_AddItemReferenceToObject(obj, "config", config);
		return 0;
	}
	if (store_read(in->image.store, &m->config, CONFIG_BYTES_MAX, &text, err) != 0)
		return err_wrap(err, "image configuration");
	if (json_parse("image configuration", text.ptr, text.len, &config, err) != 0)
		return -1;
	cJSON_AddItemToObject(obj, "config", config);
	vec_push(&in->configs, ((struct known_config){m->config.digest, config}));
	return 0;
}

static int add_manifest(struct inspect *in, const struct descriptor *desc, cJSON *obj,
                        struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	char digest[DIGEST_TEXT_MAX], platform[PLATFORM_TEXT_MAX];
	struct manifest m;

	if (interrupt_check(err) != 0)
		return -1;
	if (store_read(in->image.store, desc, MANIFEST_BYTES_MAX, &text, err) != 0 ||
	    manifest_parse(text.ptr, text.len, desc->media_type, &in->cli->arena, &m, err) != 0)
		return err_wrap(err, "manifest %s", digest_text(&desc->digest, digest));
	if (desc->platform.os[0] != '\0')
		json_add_string(obj, "platform", platform_text(&desc->platform, platform));
	json_add_string(obj, "digest", digest_text(&desc->digest, digest));
	json_add_string(obj, "media_type", desc->media_type);
	add_layers(obj, &m);
	add_annotations(obj, &m.annotations);
	if (add_config(in, &m, obj, err) != 0)
		return -1;
	/* A root that is a manifest has it in the document itself. */
	return in->options->tree && strcmp(json_string(in->doc, "digest"), digest) != 0
	               ? inspect_attached(in->image.store, obj, &in->cli->arena, err)
	               : 0;
}

static int add_index(struct inspect *in, const struct strbuf *text, const struct descriptor *root,
                     struct err *err)
{
	struct index index;

	if (index_parse(text->ptr, text->len, root->media_type, &in->cli->arena, &index, err) != 0)
		return -1;
	add_annotations(in->doc, &index.annotations);
	cJSON *images = json_add_array(in->doc, "images");

	for (size_t i = 0; i < index.n_manifests; i++) {
		cJSON *obj = cJSON_CreateObject();

		json_push(images, obj);
		if (media_is_manifest(index.manifests[i].media_type) &&
		    add_manifest(in, &index.manifests[i], obj, err) != 0)
			return -1;
	}
	return 0;
}

static void print_image(const struct cli *cli, const cJSON *image)
{
	const cJSON *layer = NULL;
	char size[TEXT_BYTES_MAX];
	int64_t bytes = 0;
	struct err ignored = {0};
	const char *platform = json_string(image, "platform");

	if (json_size(image, "compressed_size", &bytes, &ignored) != 0)
		bytes = 0;
	fprintf(cli->out, "%s  %s  %s compressed\n", platform != NULL ? platform : "-",
	        json_string(image, "digest"), text_bytes(bytes, size));
	cJSON_ArrayForEach (layer, json_get(image, "layers")) {
		const char *name = json_string(layer, "name");

		if (json_size(layer, "size", &bytes, &ignored) != 0)
			bytes = 0;
		fprintf(cli->out, "  %s  %9s  %s\n", json_string(layer, "digest"),
		        text_bytes(bytes, size), name != NULL ? name : "");
	}
	inspect_print_attached(cli, image);
}

static void print_text(const struct inspect *in)
{
	const cJSON *image = NULL;

	fprintf(in->cli->out, "%s\n%s\n", json_string(in->doc, "digest"),
	        json_string(in->doc, "media_type"));
	inspect_print_attached(in->cli, in->doc);
	cJSON_ArrayForEach (image, json_get(in->doc, "images")) {
		print_image(in->cli, image);
	}
}

static int inspect_root(struct inspect *in, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	struct descriptor root;
	char digest[DIGEST_TEXT_MAX];

	if (image_root(&in->image, &in->cli->arena, &root, err) != 0 ||
	    store_read(in->image.store, &root, MANIFEST_BYTES_MAX, &text, err) != 0)
		return -1;
	if (in->options->raw) {
		fwrite(text.ptr, 1, text.len, in->cli->bytes);
		return 0;
	}
	json_add_string(in->doc, "digest", digest_text(&root.digest, digest));
	json_add_string(in->doc, "media_type", root.media_type);
	json_add_int(in->doc, "size", root.size);
	if (in->options->tree &&
	    inspect_attached(in->image.store, in->doc, &in->cli->arena, err) != 0)
		return -1;
	if (media_is_index(root.media_type)) {
		if (add_index(in, &text, &root, err) != 0)
			return -1;
	} else {
		cJSON *image = cJSON_CreateObject();

		json_push(json_add_array(in->doc, "images"), image);
		if (add_manifest(in, &root, image, err) != 0)
			return -1;
	}
	if (cli_json(in->cli))
		cli_print_json(in->cli, in->doc);
	else
		print_text(in);
	return 0;
}

static int cmd_inspect_run(struct cli *cli, struct err *err)
{
	const struct inspect_options *o = cli->options;
	AUTO(remote) struct remote remote = {0};
	AUTO(json) cJSON *doc = cJSON_CreateObject();
	struct inspect in = {.cli = cli, .options = o, .doc = doc};
	int result = remote_from_options(cli, &o->remote, 0, cli->args.at[0], &remote, err);

	if (result == 0)
		result = image_open_argument(&remote, cli->args.at[0], &cli->arena, &in.image, err);
	if (result == 0)
		result = inspect_root(&in, err);
	image_done(&in.image);
	vec_done(&in.configs);
	return result == 0 ? 0 : err_wrap(err, "inspect '%s'", cli->args.at[0]);
}

const struct command cmd_inspect = {
	.name = "inspect",
	.summary = "Show the contents of an image in a registry, layout or archive",
	.synopsis = "REF",
	.details =
		"REF is a layout's folder DIR[:TAG], an archive's file (of OCI or of docker save), "
		"or\n"
		"HOST/NAME[:TAG][@DIGEST] in a registry. What exists as a path is one; "
		"oci:DIR,\n"
		"oci-archive:FILE and docker-archive:FILE say it outright. Every document read is "
		"verified\n"
		"against its digest.\n",
	.examples =
		"slipway inspect oci:build/image\tThe image that was just built\n"
		"slipway inspect --raw docker.io/library/debian:12\tThe registry's exact bytes\n",
	.options = OPTION_TABLE(struct inspect_options, options),
	.min_args = 1,
	.max_args = 1,
	.run = cmd_inspect_run,
};
