/*
 * What `slipway build` says of a built image, and the files with results.
 */
#include <string.h>

#include "base/text.h"
#include "builder/cli/build_run.h"
#include "builder/cli/result_file.h"
#include "builder/image/part.h"
#include "builder/image/publish.h"
#include "builder/oci/part.h"

enum { LARGE_IMAGE_BYTES = 64 << 20, LARGE_LAYER_PERCENT = 50 };

/* A document of its own, or one of several. */
static void give_document(struct build_run *run, cJSON *doc)
{
	if (run->documents != NULL)
		json_push(run->documents, doc);
	else
		cli_print_json(run->cli, doc);
	if (run->documents == NULL)
		cJSON_Delete(doc);
}

int build_report_plan(struct build_run *run)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);

	if (cli_json(run->cli)) {
		give_document(run, plan_json(run->plan));
		return 0;
	}
	plan_text(run->plan, &text);
	fputs(strbuf_str(&text), run->cli->out);
	return 0;
}

/* What names the image for inspect, verify and push. */
static const char *reference(const struct build_run *run, const char *tag)
{
	struct arena *a = &run->cli->arena;

	if (!run->scratch_dir)
		return arena_printf(a, "oci:%s:%s", run->dest, tag);
	return arena_printf(a, "%s:%s", run->options->format, run->dest);
}

static struct strlist references(const struct build_run *run)
{
	const struct strlist tags = image_tags(run->spec, &run->cli->arena);
	struct strlist list = {arena_calloc(&run->cli->arena, tags.n, sizeof(*list.at)), 0};

	/* An archive has the first tag. */
	for (size_t i = 0; i < (run->scratch_dir ? 1 : tags.n); i++)
		list.at[list.n++] = reference(run, tags.at[i]);
	return list;
}

static void add_references(const struct build_run *run, cJSON *array)
{
	const struct strlist list = references(run);

	for (size_t i = 0; i < list.n; i++)
		json_push_string(array, list.at[i]);
}

/* Every line can be used as it stands. */
static void print_next(const struct build_run *run)
{
	const struct spec_image *image = &run->spec->image;
	const struct strlist list = references(run), tags = image_tags(run->spec, &run->cli->arena);
	AUTO(strbuf) struct strbuf words = STRBUF_INIT(0);
	FILE *out = run->cli->out;

	if (run->lock_made)
		fprintf(out,
		        "%s is new: it holds the digests of base images, for --locked; commit "
		        "it\n",
		        run->lock.path);
	for (size_t i = 0; i < list.n; i++)
		fprintf(out, "%s\n", list.at[i]);
	if (image->repository == NULL || run->options->push || run->options->push_by_digest)
		return;
	text_shell_word(list.at[0], &words);
	fprintf(out, "to push it: slipway push %s %s:%s\n", strbuf_str(&words), image->repository,
	        tags.at[0]);
}

/* The names of the documents that each image has; nothing when there are none. */
static void add_attached(const struct build_run *run, cJSON *doc)
{
	const struct strlist *list = &run->result.attached;
	cJSON *array = list->n > 0 ? json_add_array(doc, "attached") : NULL;

	for (size_t i = 0; i < list->n; i++)
		json_push_string(array, list->at[i]);
}

static void print_attached(const struct build_run *run)
{
	const struct strlist *list = &run->result.attached;

	for (size_t i = 0; i < list->n; i++)
		fprintf(run->cli->out, "%s%s", i == 0 ? "attached to each image: " : ", ",
		        list->at[i]);
	if (list->n > 0)
		fputs("\n", run->cli->out);
}

static cJSON *metadata(const struct build_run *run)
{
	cJSON *doc = cJSON_CreateObject();
	char text[DIGEST_TEXT_MAX];

	json_add_string(doc, "name", run->spec->name);
	json_add_string(doc, "image", run->spec->image.name);
	json_add_string(doc, "digest", digest_text(&run->result.index.digest, text));
	json_add_string(doc, "media_type", run->result.index.media_type);
	json_add_int(doc, "size", run->result.index.size);
	json_add_string(doc, "layout", run->dest);
	json_add_bool(doc, "checked", run->checked);
	if (run->report.n_allowed > 0)
		json_add_int(doc, "allowed", (int64_t)run->report.n_allowed);
	add_references(run, json_add_array(doc, "references"));
	add_attached(run, doc);
	built_images_json(&run->result, json_add_array(doc, "images"));
	if (run->options->push || run->options->push_by_digest)
		push_result_json(&run->pushed, json_add_object(doc, "push"));
	return doc;
}

/* One layer is unpacked by one processor, whatever a node has: of a large image it is the wait. */
static void print_largest(const struct built_image *image, FILE *out)
{
	int64_t percent = image->size > 0 ? built_largest_layer(image) * 100 / image->size : 0;

	if (image->size < LARGE_IMAGE_BYTES)
		return;
	fprintf(out, "  largest layer %lld %% of the bytes%s\n", (long long)percent,
	        percent > LARGE_LAYER_PERCENT
	                ? ": nodes would pull faster with it in parts (split:)"
	                : "");
}

static void print_images(const struct build_run *run)
{
	char size[TEXT_BYTES_MAX], text[DIGEST_TEXT_MAX], platform[PLATFORM_TEXT_MAX];
	FILE *out = run->cli->out;

	for (size_t i = 0; i < run->result.n_images; i++) {
		const struct built_image *image = &run->result.images[i];

		fprintf(out, "%s  %s  %s compressed\n", platform_text(&image->platform, platform),
		        digest_text(&image->manifest.digest, text), text_bytes(image->size, size));
		for (size_t k = 0; k < image->n_layers; k++) {
			const struct built_layer *layer = &image->layers[k];

			fprintf(out, "  %-16s %s  %9s%s%s\n", layer->name,
			        digest_text(&layer->result.digest, text),
			        text_bytes(layer->result.size, size),
			        layer->shared ? "  shared" : "",
			        layer->result.cached ? "  cached" : "");
		}
		print_largest(image, out);
		if (image->soci.size > 0)
			fprintf(out, "  %-16s %s\n", "(SOCI index)",
			        digest_text(&image->soci.digest, text));
	}
	print_attached(run);
	if (run->checked)
		fprintf(out, "image check passed%s\n", run->check_cached ? " (remembered)" : "");
	if (run->report.n_allowed > 0)
		fprintf(out, "%zu finding%s allowed\n", run->report.n_allowed,
		        run->report.n_allowed == 1 ? "" : "s");
}

/* What the machine that joins the parts is to know. */
static int write_part(const struct build_run *run, const char *path, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(PART_BYTES_MAX);

	image_part_print(&run->result, run->spec, &run->cli->arena, &text);
	return result_file_write(path, text.ptr, text.len, err);
}

static int write_results(const struct build_run *run, const struct strbuf *document,
                         const char *digest, struct err *err)
{
	const struct build_options *o = run->options;
	const char *line = arena_printf(&run->cli->arena, "%s\n", digest);

	if (o->result_file != NULL && write_part(run, o->result_file, err) != 0)
		return -1;
	if (o->metadata_file != NULL &&
	    result_file_write(o->metadata_file, document->ptr, document->len, err) != 0)
		return -1;
	return o->digest_file != NULL ? result_file_write(o->digest_file, line, strlen(line), err)
	                              : 0;
}

int build_report(struct build_run *run, struct err *err)
{
	cJSON *doc = metadata(run);
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	char digest[DIGEST_TEXT_MAX];

	digest_text(&run->result.index.digest, digest);
	json_print_pretty(doc, &text);
	if (write_results(run, &text, digest, err) != 0) {
		cJSON_Delete(doc);
		return -1;
	}
	if (cli_json(run->cli)) {
		give_document(run, doc);
		return 0;
	}
	cJSON_Delete(doc);
	print_images(run);
	print_next(run);
	fprintf(run->cli->out, "%s\n", digest);
	return 0;
}
