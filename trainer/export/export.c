#include "trainer/export/export.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/jsonw.h"
#include "trainer/checkpoint/safetensors.h"

enum { TEXT_BYTES_MAX = 16 << 20, FRAMES_A_SECOND = 25 };

static const char *const file_names[] = {"config.json", "model.safetensors",
                                         "preprocessor_config.json"};

int export_check(const struct model_config *c, struct err *err)
{
	const struct {
		const char *key;
		size_t is, built_in;
	} rows[] = {
		{"audio_num_bands", c->audio_num_bands, 192},
		{"image_num_bands", c->image_num_bands, 32},
		{"spatial_downsample", c->spatial_downsample, 4},
		{"encoder_min_padding_size", c->encoder_min_padding_size, 4},
		{"decoder_min_padding_size", c->decoder_min_padding_size, 2},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (rows[i].is == rows[i].built_in)
			continue;
		err_set(err, ERR_UNSUPPORTED,
		        "the model has %s %zu, but transformers has %zu built into "
		        "PerceiverForMultimodalAutoencoding",
		        rows[i].key, rows[i].is, rows[i].built_in);
		return err_hint(err,
		                "Train a model with %s %zu to export it; full and mid have what "
		                "transformers needs, tiny has not.",
		                rows[i].key, rows[i].built_in);
	}
	return 0;
}

static void add_int(struct jsonw *w, const char *key, size_t value)
{
	jsonw_key(w, key);
	jsonw_int(w, (int64_t)value);
}

static void add_bool(struct jsonw *w, const char *key, bool value)
{
	jsonw_key(w, key);
	jsonw_bool(w, value);
}

static void begin_object(struct jsonw *w, const char *key)
{
	jsonw_key(w, key);
	jsonw_begin_object(w);
}

void export_preprocessor(const struct model_config *c, struct strbuf *sb)
{
	struct jsonw w;

	jsonw_init(&w, sb, true);
	jsonw_begin_object(&w);
	jsonw_key(&w, "image_processor_type");
	jsonw_string(&w, "PerceiverImageProcessor");
	add_bool(&w, "do_center_crop", false);
	add_bool(&w, "do_resize", true);
	begin_object(&w, "size");
	add_int(&w, "height", c->image_height);
	add_int(&w, "width", c->image_width);
	jsonw_end_object(&w);
	add_int(&w, "resample", 2); /* PIL's BILINEAR, which is how prepare scales */
	add_bool(&w, "do_rescale", true);
	jsonw_key(&w, "rescale_factor");
	jsonw_double(&w, 1.0 / 255);
	add_bool(&w, "do_normalize", false);
	add_int(&w, "num_frames", c->num_frames);
	add_int(&w, "frames_per_second", FRAMES_A_SECOND);
	begin_object(&w, "audio");
	add_int(&w, "channels", 1);
	add_int(&w, "sampling_rate", c->audio_samples_per_frame * FRAMES_A_SECOND);
	add_int(&w, "samples", c->num_frames * c->audio_samples_per_frame);
	jsonw_end_object(&w);
	jsonw_end_object(&w);
}

static int write_text(const char *folder, const char *name, const struct strbuf *text,
                      struct err *err)
{
	char path[PATH_MAX];

	if (fs_join(path, folder, name, err) != 0)
		return -1;
	return fs_write_file(path, strbuf_str(text), text->len, 0644, err);
}

static int write_weights(const char *path, struct learner *l, struct err *err)
{
	AUTO_FREE struct st_item *items = NULL;
	struct tensors host;
	int rc;

	tensors_like(learner_table(l), NULL, NULL, &host);
	items = st_items(&host, NULL);
	rc = learner_get(l, LEARNER_WEIGHTS, &host, err);
	if (rc == 0)
		rc = st_write(path, items, host.n, err);
	tensors_done(&host);
	return rc;
}

static int write_files(const char *folder, struct learner *l, const struct class_list *classes,
                       struct err *err)
{
	AUTO(strbuf) struct strbuf config = STRBUF_INIT(TEXT_BYTES_MAX);
	AUTO(strbuf) struct strbuf preprocessor = STRBUF_INIT(TEXT_BYTES_MAX);
	char path[PATH_MAX];

	model_config_print(learner_config(l), classes, &config);
	export_preprocessor(learner_config(l), &preprocessor);
	if (fs_join(path, folder, file_names[1], err) != 0 || write_weights(path, l, err) != 0 ||
	    write_text(folder, file_names[0], &config, err) != 0)
		return -1;
	return write_text(folder, file_names[2], &preprocessor, err);
}

/* ---- in place of what is there ---- */

static bool is_ours(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(file_names); i++)
		if (strcmp(name, file_names[i]) == 0)
			return true;
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static int check_entry(const char *out, const char *name, bool overwrite, struct err *err)
{
	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || (overwrite && is_ours(name)))
		return 0;
	if (overwrite) {
		err_set(err, ERR_USAGE, "'%s' holds '%.80s', which export does not write", out,
		        name);
		return err_hint(err, "Give a folder of its own, or move that away.");
	}
	err_set(err, ERR_USAGE, "'%s' is not empty", out);
	return err_hint(err, "Give another --out, or --overwrite to replace an earlier export.");
}

static int check_out(const char *out, bool overwrite, struct err *err)
{
	DIR *dir = opendir(out);
	const struct dirent *e;
	int rc = 0;

	if (dir == NULL && errno == ENOENT)
		return 0;
	if (dir == NULL)
		return err_set(err, ERR_IO, "open '%s'", out);
	while (rc == 0 && (e = readdir(dir)) != NULL)
		rc = check_entry(out, e->d_name, overwrite, err);
	closedir(dir);
	return rc;
}

static int put_in_place(const char *temp, const char *out, struct err *err)
{
	if (rename(temp, out) == 0)
		return 0;
	if (errno != ENOTEMPTY && errno != EEXIST)
		return err_set(err, ERR_IO, "rename '%s' to '%s'", temp, out);
	if (renameat2(AT_FDCWD, temp, AT_FDCWD, out, RENAME_EXCHANGE) != 0)
		return err_set(err, ERR_IO, "exchange '%s' and '%s'", temp, out);
	return fs_remove_tree(temp, err);
}

/* "PARENT/.tmp-export-1234", made. */
static int make_temporary(const char *out, char ret[PATH_MAX], struct err *err)
{
	char parent[PATH_MAX], name[64];

	fs_parent(out, parent);
	snprintf(name, sizeof(name), ".tmp-export-%ld", (long)getpid());
	if (fs_mkdirs(parent, err) != 0 || fs_join(ret, parent, name, err) != 0 ||
	    fs_remove_tree(ret, err) != 0)
		return -1;
	if (mkdir(ret, 0777) != 0)
		return err_set(err, ERR_IO, "make folder '%s'", ret);
	return 0;
}

int export_write(const char *out, bool overwrite, struct learner *l,
                 const struct class_list *classes, struct err *err)
{
	char temp[PATH_MAX], folder[PATH_MAX];
	struct err ignored = {0};
	size_t n;

	snprintf(folder, sizeof(folder), "%s", out);
	n = strlen(folder);
	while (n > 1 && folder[n - 1] == '/')
		folder[--n] = '\0';
	if (check_out(folder, overwrite, err) != 0 || make_temporary(folder, temp, err) != 0)
		return -1;
	if (write_files(temp, l, classes, err) == 0 && put_in_place(temp, folder, err) == 0)
		return 0;
	if (fs_remove_tree(temp, &ignored) != 0)
		ignored.code = ERR_NONE;
	return err_wrap(err, "export to '%s'", folder);
}
