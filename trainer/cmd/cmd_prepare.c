/*
 * `prepare` starts slipway-prepare, which links the decoders that this program does not.
 */
#include <stdio.h>

#include "base/mem.h"
#include "trainer/cmd/cmd.h"
#include "trainer/config/model_file.h"

enum { WORDS_MAX = 32, NUMBER_MAX = 16 };

/* Copies: execv takes words that may be changed. They live until this process
 * is another program. */
struct words {
	char *at[WORDS_MAX];
	size_t n;
};

static void add_text(struct words *w, const char *name, const char *value)
{
	if (value == NULL)
		return;
	w->at[w->n++] = mem_strdup(name);
	w->at[w->n++] = mem_strdup(value);
}

static void add_number(struct words *w, const char *name, uint32_t value)
{
	char text[NUMBER_MAX];

	snprintf(text, sizeof(text), "%u", value);
	add_text(w, name, text);
}

struct prepare_flags {
	const char *source, *out, *config_file, *classes, *split;
	const char *jobs, *timeout, *max_clips, *memory;
};

/* Numbers stay texts: slipway-prepare, which gets them, knows their bounds. */
#define TEXT(name, member, help) FLAG_ROW_TEXT(struct prepare_flags, name, member, help)

static const struct flag_row rows[] = {
	TEXT("source", source, "folder of class folders with videos, or CSV (path,label)"),
	TEXT("out", out, "folder to write shards and dataset.json to"),
	TEXT("config_file_path", config_file, "the model whose clips are made (as for train)"),
	TEXT("split", split,
             "share of the videos, in each class, that go to OUT/val, the others to OUT/train"),
	TEXT("classes", classes,
             "dataset, checkpoint or text file (a name a line) whose class list is taken "
             "(default for OUT named val or test: that of train beside it)"),
	TEXT("jobs", jobs, "videos decoded at a time"),
	TEXT("timeout", timeout, "seconds of CPU time for one video"),
	TEXT("max_clips", max_clips, "clips of one video at most"),
	TEXT("memory_mb", memory, "memory for one video"),
};

#undef TEXT

int cmd_prepare(int argc, char **argv)
{
	static const struct flag_table options = {rows, ARRAY_LEN(rows), "prepare"};
	struct prepare_flags f = {.config_file = "config/main.yaml"};
	AUTO(strbuf) struct strbuf remarks = STRBUF_INIT(1 << 20);
	struct words w = {.at = {mem_strdup("slipway-prepare")}, .n = 1};
	struct model_config config;
	struct clip_shape shape;
	struct err err = {0};
	int status =
		cmd_parse("Decodes videos into clips that train reads.", &options, argc, argv, &f);

	if (status >= 0)
		return status;
	if (f.source == NULL || f.out == NULL) {
		err_set(&err, ERR_USAGE, "prepare needs --source and --out");
		return cmd_fail(&err);
	}
	if (model_file_load(f.config_file, &config, &remarks, &err) != 0)
		return cmd_fail(&err);
	shape = model_clip_shape(&config);
	add_text(&w, "--source", f.source);
	add_text(&w, "--out", f.out);
	add_number(&w, "--frames", shape.frames);
	add_number(&w, "--height", shape.height);
	add_number(&w, "--width", shape.width);
	add_number(&w, "--samples", shape.samples);
	add_text(&w, "--split", f.split);
	add_text(&w, "--classes", f.classes);
	add_text(&w, "--jobs", f.jobs);
	add_text(&w, "--timeout", f.timeout);
	add_text(&w, "--max_clips", f.max_clips);
	add_text(&w, "--memory_mb", f.memory);
	cmd_become_prepare(w.at, &err);
	return cmd_fail(&err);
}
