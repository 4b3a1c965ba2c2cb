#include <string.h>

#include "base/jsonw.h"
#include "base/text.h"
#include "trainer/cmd/inspect.h"

/* ---- text ---- */

static void add_files(const struct checkpoint_manifest *m, struct strbuf *sb)
{
	char size[TEXT_BYTES_MAX];

	strbuf_addf(sb, "\nFiles, each with its size and SHA-256 as in the manifest:\n");
	for (size_t i = 0; i < m->files.n; i++)
		strbuf_addf(sb, "  %-24s %10s  %.16s\n", m->files.at[i].name,
		            text_bytes((int64_t)m->files.at[i].size, size), m->files.at[i].sha256);
}

static void add_parts(const struct inspection *in, struct strbuf *sb)
{
	strbuf_addf(sb, "\n%zu parameters in %zu tensors:\n", in->all.parameters, in->all.tensors);
	for (size_t k = 0; k < INSPECT_PARTS; k++)
		if (in->parts[k].tensors > 0)
			strbuf_addf(sb, "  %-24s %12zu  in %zu\n", inspect_part_name(k),
			            in->parts[k].parameters, in->parts[k].tensors);
}

static void add_model(const struct model_config *c, struct strbuf *sb)
{
	struct model_dims d = model_dims(c);

	strbuf_addf(sb,
	            "\nModel: %zu frames of %zu x %zu and %zu samples; %zu latents of %zu, "
	            "%zu self attentions of %zu heads\n",
	            c->num_frames, c->image_width, c->image_height, d.audio_samples, c->num_latents,
	            c->d_latents, d.n_layers, c->num_self_attention_heads);
}

static void add_classes(const struct inspection *in, struct strbuf *sb)
{
	strbuf_addf(sb, "\n%zu labels, %zu with the name of a class", in->config.num_labels,
	            in->classes.n);
	strbuf_adds(sb, in->classes.n > 0 ? ":\n" : "\n");
	for (size_t i = 0; i < in->classes.n; i++)
		strbuf_addf(sb, "  %5zu  %s\n", i, in->classes.at[i]);
}

/* The model's own are in config.json. */
static bool is_of_model(const struct run_setting *s)
{
	return text_has_prefix(s->name, "model.");
}

static void add_settings(const struct run_record *r, struct strbuf *sb)
{
	if (r->settings.n > 0)
		strbuf_adds(sb, "\nSettings of the run:\n");
	for (size_t i = 0; i < r->settings.n; i++)
		if (!is_of_model(&r->settings.at[i]))
			strbuf_addf(sb, "  %-16s %s\n", r->settings.at[i].name,
			            r->settings.at[i].value);
}

void inspect_text(const struct inspection *in, struct strbuf *sb)
{
	if (in->verified)
		strbuf_addf(sb, "%s: step %llu of run %s, whole\n", in->path,
		            (unsigned long long)in->manifest.step,
		            in->manifest.run[0] != '\0' ? in->manifest.run : "(unnamed)");
	else
		strbuf_addf(sb, "%s: weights without a manifest to compare them with\n", in->path);
	add_model(&in->config, sb);
	add_parts(in, sb);
	add_classes(in, sb);
	if (in->verified)
		add_files(&in->manifest, sb);
	add_settings(&in->record, sb);
}

static void add_entry(const struct inspected_run *r, const struct inspect_entry *e,
                      struct strbuf *sb)
{
	char size[TEXT_BYTES_MAX];

	if (e->damage[0] != '\0') {
		strbuf_addf(sb, "  %s  damaged: %s\n", e->name, e->damage);
		return;
	}
	strbuf_addf(sb, "  %s  %10s  run %.8s%s%s\n", e->name, text_bytes((int64_t)e->bytes, size),
	            e->run, strcmp(e->name, r->latest) == 0 ? "  latest" : "",
	            strcmp(e->name, r->best) == 0 ? "  best" : "");
}

void inspect_run_text(const struct inspected_run *r, struct strbuf *sb)
{
	strbuf_addf(sb, "%s: %zu checkpoints, %zu damaged\n", r->path, r->entries.n, r->damaged);
	for (size_t i = 0; i < r->entries.n; i++)
		add_entry(r, &r->entries.at[i], sb);
}

/* ---- JSON ---- */

static void put_text(struct jsonw *w, const char *key, const char *value)
{
	jsonw_key(w, key);
	jsonw_string(w, value);
}

static void put_int(struct jsonw *w, const char *key, uint64_t value)
{
	jsonw_key(w, key);
	jsonw_int(w, (int64_t)value);
}

static void put_files(struct jsonw *w, const struct checkpoint_manifest *m)
{
	jsonw_key(w, "files");
	jsonw_begin_array(w);
	for (size_t i = 0; i < m->files.n; i++) {
		jsonw_begin_object(w);
		put_text(w, "name", m->files.at[i].name);
		put_int(w, "size", m->files.at[i].size);
		put_text(w, "sha256", m->files.at[i].sha256);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

static void put_parts(struct jsonw *w, const struct inspection *in)
{
	put_int(w, "parameters", in->all.parameters);
	put_int(w, "tensors", in->all.tensors);
	jsonw_key(w, "parts");
	jsonw_begin_array(w);
	for (size_t k = 0; k < INSPECT_PARTS; k++) {
		if (in->parts[k].tensors == 0)
			continue;
		jsonw_begin_object(w);
		put_text(w, "name", inspect_part_name(k));
		put_int(w, "tensors", in->parts[k].tensors);
		put_int(w, "parameters", in->parts[k].parameters);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

static void put_classes(struct jsonw *w, const struct inspection *in)
{
	put_int(w, "num_labels", in->config.num_labels);
	jsonw_key(w, "classes");
	jsonw_begin_array(w);
	for (size_t i = 0; i < in->classes.n; i++)
		jsonw_string(w, in->classes.at[i]);
	jsonw_end_array(w);
}

static void put_settings(struct jsonw *w, const struct run_record *r)
{
	jsonw_key(w, "settings");
	jsonw_begin_object(w);
	for (size_t i = 0; i < r->settings.n; i++)
		put_text(w, r->settings.at[i].name, r->settings.at[i].value);
	jsonw_end_object(w);
}

void inspect_json(const struct inspection *in, struct strbuf *sb)
{
	struct jsonw w;

	jsonw_init(&w, sb, true);
	jsonw_begin_object(&w);
	put_text(&w, "path", in->path);
	jsonw_key(&w, "verified");
	jsonw_bool(&w, in->verified);
	if (in->verified) {
		put_text(&w, "run", in->manifest.run);
		put_int(&w, "step", in->manifest.step);
	}
	put_parts(&w, in);
	put_classes(&w, in);
	put_files(&w, &in->manifest);
	put_settings(&w, &in->record);
	jsonw_end_object(&w);
}

/* A name that is not there is null. */
static const char *or_null(const char *name)
{
	return name[0] != '\0' ? name : NULL;
}

void inspect_run_json(const struct inspected_run *r, struct strbuf *sb)
{
	struct jsonw w;

	jsonw_init(&w, sb, true);
	jsonw_begin_object(&w);
	put_text(&w, "path", r->path);
	put_text(&w, "latest", or_null(r->latest));
	put_text(&w, "best", or_null(r->best));
	jsonw_key(&w, "checkpoints");
	jsonw_begin_array(&w);
	for (size_t i = 0; i < r->entries.n; i++) {
		const struct inspect_entry *e = &r->entries.at[i];

		jsonw_begin_object(&w);
		put_text(&w, "name", e->name);
		put_int(&w, "step", e->step);
		put_text(&w, "run", or_null(e->run));
		put_int(&w, "bytes", e->bytes);
		put_text(&w, "damage", or_null(e->damage));
		jsonw_end_object(&w);
	}
	jsonw_end_array(&w);
	jsonw_end_object(&w);
}
