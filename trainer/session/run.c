#include "trainer/session/run.h"

#include <string.h>

#include "base/fs.h"
#include "trainer/checkpoint/store.h"

int run_check_folder(const char *folder, enum run_start start, struct err *err)
{
	bool used;

	if (start != RUN_FRESH)
		return 0;
	if (store_is_used(folder, &used, err) != 0)
		return -1;
	if (!used)
		return 0;
	err_set(err, ERR_USAGE, "'%s' holds the checkpoints of another run", folder);
	return err_hint(err,
	                "Continue that run with --resume, replace it with --overwrite, or give "
	                "another --output_dir.");
}

/* The run that works here: as run.json says, else as the newest checkpoint does. */
static int find_identity(const char *folder, struct run_record *ret, struct err *err)
{
	AUTO(strbuf) struct strbuf ignored_remarks = STRBUF_INIT(0);
	struct err why = {0};
	char path[PATH_MAX];
	uint64_t step;

	if (run_record_read(folder, ret, &why) == 0)
		return 0;
	if (why.code != ERR_NOT_FOUND && why.code != ERR_FORMAT) {
		*err = why;
		return -1;
	}
	if (store_newest(folder, NULL, path, &step, &ignored_remarks, err) != 0)
		return -1;
	return manifest_run(path, ret->id, err);
}

/* Only another run's checkpoints are there: they are not to be mixed with this one's. */
static int check_strangers(const char *folder, const struct run_record *known, struct err *err)
{
	AUTO(strbuf) struct strbuf ignored_remarks = STRBUF_INIT(0);
	struct err none = {0};
	char path[PATH_MAX];
	uint64_t step;

	if (known->overwrites ||
	    store_newest(folder, NULL, path, &step, &ignored_remarks, &none) != 0)
		return 0;
	err_set(err, ERR_USAGE, "'%s' was written by another run than '%s/run.json' names", path,
	        folder);
	return err_hint(err, "Move it away, or begin anew there with --overwrite.");
}

/* ERR_NOT_FOUND: there is nothing to resume. */
static int find_checkpoint(const char *folder, struct run_record *now,
                           char ret_checkpoint[PATH_MAX], struct strbuf *remarks, struct err *err)
{
	AUTO(run_record) struct run_record known = {0};
	AUTO(run_record) struct run_record then = {0};
	struct err why = {0};
	char path[PATH_MAX];
	uint64_t step;

	if (find_identity(folder, &known, err) != 0)
		return -1;
	if (store_newest(folder, known.id, path, &step, remarks, &why) != 0) {
		now->overwrites = known.overwrites;
		if (why.code == ERR_NOT_FOUND && check_strangers(folder, &known, err) != 0)
			return -1;
		*err = why;
		return -1;
	}
	why = (struct err){0};
	if (run_record_read(path, &then, &why) != 0 && why.code != ERR_NOT_FOUND) {
		*err = why;
		return -1;
	}
	if (run_record_compare(&then, now, folder, remarks, err) != 0)
		return -1;
	memcpy(now->id, known.id, sizeof(now->id));
	memcpy(ret_checkpoint, path, sizeof(path));
	return 0;
}

int run_choose(const char *folder, enum run_start start, struct run_record *now,
               char ret_checkpoint[PATH_MAX], struct strbuf *remarks, struct err *err)
{
	struct err why = {0};
	char checkpoint[PATH_MAX] = "";

	now->overwrites = start == RUN_OVERWRITE;
	if (start == RUN_RESUME && find_checkpoint(folder, now, checkpoint, remarks, &why) != 0) {
		if (why.code != ERR_NOT_FOUND) {
			*err = why;
			return -1;
		}
		strbuf_addf(remarks, "nothing to resume from: %s\n", why.msg);
	}
	if (checkpoint[0] == '\0' && run_record_begin(now, err) != 0)
		return -1;
	memcpy(ret_checkpoint, checkpoint, sizeof(checkpoint));
	return 0;
}

int run_take(const char *folder, const struct run_record *now, const char *checkpoint,
             struct err *err)
{
	/* From here on the folder is this run's: a kill in the removal leaves the rest of the old
	 * run to the next start. */
	if (run_record_write(folder, now, err) != 0)
		return -1;
	return now->overwrites && checkpoint[0] == '\0' ? store_clear(folder, now->id, err) : 0;
}
