/*
 * `prepare` starts slipway-prepare, which links the decoders that this program does not.
 */
#include <stdio.h>

#include "base/mem.h"
#include "trainer/cmd/cmd.h"
#include "trainer/config/model_file.h"

enum { WORDS_MAX = 32, NUMBER_MAX = 16 };

/* Copies: execv takes words that may be changed. They live until this process is another program.
 */
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

int cmd_prepare(int argc, char **argv)
{
	const char *source = NULL, *out = NULL, *config_file = "config/main.yaml", *jobs = NULL;
	const char *timeout = NULL, *max_clips = NULL, *memory = NULL;
	const struct cmd_option options[] = {
		{"source", &source, NULL,
	         "folder of class folders with videos, or CSV (path,label)"},
		{"out", &out, NULL, "folder to write shards and dataset.json to"},
		{"config_file_path", &config_file, NULL,
	         "the model whose clips are made (as for train)"},
		{"jobs", &jobs, NULL, "videos decoded at a time"},
		{"timeout", &timeout, NULL, "seconds of CPU time for one video"},
		{"max_clips", &max_clips, NULL, "clips of one video at most"},
		{"memory_mb", &memory, NULL, "memory for one video"},
	};
	AUTO(strbuf) struct strbuf remarks = STRBUF_INIT(1 << 20);
	struct words w = {.at = {mem_strdup("slipway-prepare")}, .n = 1};
	struct model_config config;
	struct clip_shape shape;
	struct err err = {0};
	int rc = cmd_parse("prepare", "Decodes videos into clips that train reads.", options,
	                   ARRAY_LEN(options), argc, argv);

	if (rc != 0)
		return rc > 0 ? TRAINER_OK : TRAINER_USAGE;
	if (source == NULL || out == NULL) {
		err_set(&err, ERR_USAGE, "prepare needs --source and --out");
		return cmd_fail(&err);
	}
	if (model_file_load(config_file, &config, &remarks, &err) != 0)
		return cmd_fail(&err);
	shape = model_clip_shape(&config);
	add_text(&w, "--source", source);
	add_text(&w, "--out", out);
	add_number(&w, "--frames", shape.frames);
	add_number(&w, "--height", shape.height);
	add_number(&w, "--width", shape.width);
	add_number(&w, "--samples", shape.samples);
	add_text(&w, "--jobs", jobs);
	add_text(&w, "--timeout", timeout);
	add_text(&w, "--max_clips", max_clips);
	add_text(&w, "--memory_mb", memory);
	cmd_become_prepare(w.at, &err);
	return cmd_fail(&err);
}
