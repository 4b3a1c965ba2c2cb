#include "trainer/session/classes.h"

#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/mem.h"
#include "trainer/classes/class_read.h"
#include "trainer/config/model_classes.h"
#include "trainer/session/begin.h"
#include "trainer/session/setup.h"

enum { SHARED_BYTES_MAX = 64 << 20 };

/* Takes *list. */
static void settle(struct session *s, struct class_list *list, const char *from)
{
	class_list_done(&s->classes);
	s->classes = *list;
	*list = (struct class_list){0};
	snprintf(s->classes_from, sizeof(s->classes_from), "%s", from);
}

static int of_model(struct session *s, struct err *err)
{
	AUTO(class_list) struct class_list list = {0};
	char path[PATH_MAX];

	if (!session_checkpoint_config(s->flags, path))
		snprintf(path, sizeof(path), "%s", s->flags->config_file_path);
	if (model_file_classes(path, &list, err) != 0)
		return -1;
	if (list.n > 0)
		settle(s, &list, path);
	return 0;
}

/* Rank 0's part; an empty list where there are no names. */
static int read_init(const struct session *s, char path[PATH_MAX], struct class_list *ret,
                     struct err *err)
{
	struct stat st;

	if (stat(s->flags->init_from, &st) != 0 || !S_ISDIR(st.st_mode))
		return 0;
	if (fs_join(path, s->flags->init_from, "config.json", err) != 0)
		return -1;
	return fs_exists(path) ? class_list_load(path, ret, err) : 0;
}

/* Every rank gets rank 0's list, as lines. */
static int share(struct session *s, struct class_list *list, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(SHARED_BYTES_MAX);
	AUTO_FREE char *bytes = NULL;
	uint64_t n;

	for (size_t i = 0; i < list->n; i++)
		strbuf_addf(&text, "%s\n", list->at[i]);
	n = text.len;
	if (comm_broadcast(s->comm, &n, sizeof(n), err) != 0)
		return -1;
	if (n > SHARED_BYTES_MAX)
		return err_set(err, ERR_LIMIT, "%llu bytes of class names", (unsigned long long)n);
	bytes = mem_zalloc((size_t)n + 1);
	memcpy(bytes, strbuf_str(&text), text.len);
	if (n > 0 && comm_broadcast(s->comm, bytes, (size_t)n, err) != 0)
		return -1;
	class_list_done(list);
	return class_list_of_lines("--init_from", bytes, (size_t)n, list, err);
}

/* The first class of the dataset that the list lacks; NULL: none. */
static const char *missing_class(const struct class_list *list, const struct class_list *wanted)
{
	for (size_t i = 0; i < wanted->n; i++)
		if (class_list_find(list, wanted->at[i]) == CLASS_NONE)
			return wanted->at[i];
	return NULL;
}

static int of_init(struct session *s, const struct dataset *d, struct err *err)
{
	AUTO(class_list) struct class_list list = {0};
	AUTO(strbuf) struct strbuf line = STRBUF_INIT(PATH_MAX + 512);
	char path[PATH_MAX] = "";
	const char *missing;

	if (s->flags->init_from == NULL)
		return 0;
	if (s->rank == 0 && read_init(s, path, &list, err) != 0)
		return -1;
	if (s->n_ranks > 1 && share(s, &list, err) != 0)
		return -1;
	missing = missing_class(&list, dataset_classes(d));
	if (list.n > 0 && missing == NULL) {
		settle(s, &list, s->flags->init_from);
		return 0;
	}
	if (list.n > 0)
		strbuf_addf(&line,
		            "--init_from: class '%.80s' is not among the %zu of '%s': the label "
		            "head learns the dataset's own classes\n",
		            missing, list.n, path);
	session_remark(s, strbuf_str(&line));
	return 0;
}

static int of_dataset(struct session *s, const struct dataset *d, const char *folder,
                      struct err *err)
{
	AUTO(class_list) struct class_list list = {0};
	char train[PATH_MAX], path[PATH_MAX];

	if (session_data_folder(s, SESSION_TRAIN, train, err) != 0 ||
	    fs_join(path, train, "dataset.json", err) != 0)
		return -1;
	if (strcmp(train, folder) == 0 || !fs_exists(path))
		class_list_copy(dataset_classes(d), &list);
	else if (class_list_load(path, &list, err) != 0)
		return -1;
	settle(s, &list, path);
	return 0;
}

static int find_classes(struct session *s, const struct dataset *d, const char *folder,
                        struct err *err)
{
	if (of_model(s, err) != 0)
		return -1;
	if (s->classes_from[0] == '\0' && of_init(s, d, err) != 0)
		return -1;
	return s->classes_from[0] == '\0' ? of_dataset(s, d, folder, err) : 0;
}

int session_match_classes(struct session *s, struct dataset *d, const char *folder, struct err *err)
{
	struct label_head head = {s->config.num_labels, &s->classes, s->classes_from};

	if (s->classes_from[0] == '\0' && find_classes(s, d, folder, err) != 0)
		return -1;
	if (label_head_check(&head, err) != 0)
		return -1;
	return dataset_match(d, &head, err);
}
