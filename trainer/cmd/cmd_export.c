#include <stdio.h>

#include "trainer/cmd/cmd.h"
#include "trainer/cmd/trained.h"
#include "trainer/export/export.h"

struct export_flags {
	const char *checkpoint, *out;
	bool overwrite, ema;
};

static const struct flag_row rows[] = {
	FLAG_ROW_TEXT(struct export_flags, "checkpoint", checkpoint,
                      "a checkpoint, or a run's folder: its newest"),
	FLAG_ROW_TEXT(struct export_flags, "out", out, "folder to write"),
	FLAG_ROW_SWITCH(struct export_flags, "overwrite", overwrite,
                        "replace an earlier export there"),
	FLAG_ROW_SWITCH(struct export_flags, "ema", ema,
                        "the averaged weights that --ema_decay left"),
};

static int export(const struct export_flags *f, struct err *err)
{
	AUTO(trained) struct trained t = {0};
	const struct forwarder_choice choice = {.device = "cpu", .ops.n_threads = 1};
	struct learner *l;

	if (f->checkpoint == NULL || f->out == NULL)
		return err_set(err, ERR_USAGE, "export needs --checkpoint and --out");
	if (trained_find(f->checkpoint, &t, err) != 0 || export_check(&t.config, err) != 0 ||
	    trained_open(&t, choice, f->ema, err) != 0)
		return -1;
	l = t.forward.learner;
	if (export_write(f->out, f->overwrite, l, &t.classes, err) != 0)
		return -1;
	printf("%s: %zu tensors, %zu parameters, %zu labels, %zu of them with names\n", f->out,
	       learner_table(l)->n, learner_table(l)->n_params, t.config.num_labels, t.classes.n);
	return 0;
}

int cmd_export(int argc, char **argv)
{
	static const struct flag_table options = {rows, ARRAY_LEN(rows), "export"};
	struct export_flags f = {0};
	struct err err = {0};
	int status = cmd_parse(
		"Writes a checkpoint as a folder that Hugging Face's transformers reads:\n"
		"PerceiverForMultimodalAutoencoding.from_pretrained(OUT).",
		&options, argc, argv, &f);

	if (status >= 0)
		return status;
	return export(&f, &err) == 0 ? RUN_EXIT_DONE : cmd_fail(&err);
}
