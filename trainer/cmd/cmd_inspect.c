#include <stdio.h>
#include <string.h>

#include "base/fs.h"
#include "trainer/cmd/cmd.h"
#include "trainer/cmd/inspect.h"

enum { INSPECT_BYTES_MAX = 256 << 20 };

struct inspect_flags {
	const char *output;
};

static const struct flag_row rows[] = {
	FLAG_ROW_TEXT(struct inspect_flags, "output", output, "text or json (default text)"),
};

static int inspect_one(const char *path, bool json, struct strbuf *text, struct err *err)
{
	AUTO(inspection) struct inspection in = {0};

	if (inspect_read(path, &in, err) != 0)
		return -1;
	if (json)
		inspect_json(&in, text);
	else
		inspect_text(&in, text);
	return 0;
}

/* *ret_status: of a folder that can be read, in which a checkpoint cannot. */
static int inspect_run(const char *path, bool json, struct strbuf *text, int *ret_status,
                       struct err *err)
{
	AUTO(inspected_run) struct inspected_run run = {0};

	if (inspect_read_run(path, &run, err) != 0)
		return -1;
	if (json)
		inspect_run_json(&run, text);
	else
		inspect_run_text(&run, text);
	*ret_status = run.damaged > 0 ? RUN_EXIT_BAD_INPUT : RUN_EXIT_DONE;
	return 0;
}

static int inspect(const char *named, bool json, int *ret_status, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(INSPECT_BYTES_MAX);
	char path[PATH_MAX], weights[PATH_MAX], manifest[PATH_MAX];
	int rc;

	if (store_find_named(named, path, err) != 0 ||
	    fs_join(weights, path, "model.safetensors", err) != 0 ||
	    fs_join(manifest, path, "manifest.json", err) != 0)
		return -1;
	if (!fs_exists(path))
		return err_set(err, ERR_NOT_FOUND, "'%s' does not exist", path);
	if (fs_exists(weights) || fs_exists(manifest))
		rc = inspect_one(path, json, &text, err);
	else
		rc = inspect_run(path, json, &text, ret_status, err);
	if (rc == 0)
		fputs(strbuf_str(&text), stdout);
	return rc;
}

int cmd_inspect(int argc, char **argv)
{
	static const struct flag_table options = {rows, ARRAY_LEN(rows), "inspect"};
	struct inspect_flags f = {.output = "text"};
	const char *path = argc > 0 && argv[0][0] != '-' ? argv[0] : NULL;
	struct err err = {0};
	int skip = path != NULL, status, end = RUN_EXIT_DONE;

	status = cmd_parse(
		"inspect CHECKPOINT shows a checkpoint's step, run, settings, classes and "
		"parameters, and\nverifies its files; inspect FOLDER lists a run's "
		"checkpoints.",
		&options, argc - skip, argv + skip, &f);
	if (status >= 0)
		return status;
	if (path == NULL || (strcmp(f.output, "json") != 0 && strcmp(f.output, "text") != 0)) {
		if (path == NULL)
			err_set(&err, ERR_USAGE, "inspect needs a checkpoint or a run's folder");
		else
			err_set(&err, ERR_USAGE, "--output is '%.60s', expected text or json",
			        f.output);
		return cmd_fail(&err);
	}
	if (inspect(path, strcmp(f.output, "json") == 0, &end, &err) != 0)
		return cmd_fail(&err);
	return end;
}
