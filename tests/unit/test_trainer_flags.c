/* Command line, main.yaml, places of ranks. */
#include "base/fs.h"
#include "tests/harness.h"
#include "trainer/comm/comm.h"
#include "trainer/config/flags.h"
#include "trainer/config/flat_yaml.h"

static int parse(int argc, const char **argv, struct train_flags *f, struct strbuf *remarks,
                 struct err *err)
{
	bool help;

	return train_flags_parse(argc, (char **)(uintptr_t)argv, NULL, f, remarks, &help, err);
}

/* A number that is found later; nothing else is. */
static void a_batch_that_is_found(void)
{
	const char *asked[] = {"--batch_size", "auto"}, *other[] = {"--seed", "auto"};
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0), remarks = STRBUF_INIT(0);
	AUTO(train_flags) struct train_flags f = {0};
	AUTO(train_flags) struct train_flags g = {0};
	struct err err = {0};

	CHECK_OK(parse(ARRAY_LEN(asked), asked, &f, &remarks, &err), &err);
	CHECK(f.batch_size == 0);
	train_flags_print(&f, &text);
	CHECK(strstr(strbuf_str(&text), "batch_size                   auto  ") != NULL);
	train_flags_settle_batch(&f, 12, "as it fits");
	strbuf_reset(&text);
	train_flags_print(&f, &text);
	CHECK(strstr(strbuf_str(&text), "batch_size                   12  ") != NULL);
	CHECK(strstr(strbuf_str(&text), "  flag, auto: as it fits\n") != NULL);
	CHECK(parse(ARRAY_LEN(other), other, &g, &remarks, &err) != 0);
	CHECK(strstr(err.msg, "expected a whole number") != NULL &&
	      strstr(err.msg, "or auto") == NULL);
}

static void seed_keys(void)
{
	const char *argv[] = {
		"--dataset", "kinetics",    "--lr=1e-5", "--batch_size",    "1",
		"--do_eval", "--max-steps", "100",       "--image_dim=224", "--drop_last"};
	AUTO(strbuf) struct strbuf remarks = STRBUF_INIT(0), text = STRBUF_INIT(0);
	struct log_flag flags[FLAGS_SEED_KEYS];
	struct train_options o;
	struct train_flags f;
	struct err err = {0};

	CHECK_OK(parse(ARRAY_LEN(argv), argv, &f, &remarks, &err), &err);
	CHECK(f.lr == 1e-5 && f.max_steps == 100 && f.do_eval && f.batch_size == 1);
	CHECK(strstr(strbuf_str(&remarks), "--image_dim is accepted but not used") != NULL);
	CHECK(strstr(strbuf_str(&remarks), "--drop_last is accepted but not used") != NULL);
	train_flags_namespace(&f, flags);
	log_namespace(&text, flags, FLAGS_SEED_KEYS);
	CHECK(strstr(strbuf_str(&text),
	             "Namespace(dataset='kinetics', dataset_dir='/dataset', "
	             "config_file_path='config/main.yaml', logdir='log_training', batch_size=1, "
	             "num_epochs=2, num_workers=0, log_steps=20, max_steps=100, "
	             "expected_average_throughput=0, image_dim=224, test_batch_size=8, lr=1e-05, "
	             "momentum=0.9, target_accuracy=0.0, drop_last=True, metrics_debug=False, "
	             "enable_pt_autocast=False, do_eval=True)") != NULL);
	CHECK_OK(train_flags_options(&f, &o, &err), &err);
	CHECK(o.optimizer.lr == 1e-5 && o.batch_size == 1 && o.optimizer.kind == OPTIMIZER_ADAMW);
}

static void bad_words(void)
{
	static const char *const bad[][2] = {{"--batch_size", "0"}, {"--batch_size", "x"},
	                                     {"--lr", "nan"},       {"--lr", "1e-5x"},
	                                     {"--bach_size", "1"},  {"--do_eval=1", "--resume"},
	                                     {"word", "--resume"},  {"--resume", "--lr"}};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		const char *argv[] = {bad[i][0], bad[i][1]};
		AUTO(strbuf) struct strbuf remarks = STRBUF_INIT(0);
		struct train_flags f;
		struct err err = {0};

		CHECK(parse(2, argv, &f, &remarks, &err) != 0);
		CHECK_INT(err.code, ERR_USAGE);
	}
}

struct chosen {
	const char *name;
	uint64_t count;
	bool on;
};

static const struct flag_row chosen_rows[] = {
	FLAG_ROW_TEXT(struct chosen, "the_name", name, "a text"),
	FLAG_ROW_COUNT(struct chosen, "count", count, 10, "a number"),
	FLAG_ROW_SWITCH(struct chosen, "on", on, "a switch"),
};

static void small_commands(void)
{
	static const struct {
		const char *words[3];
		int n;
		enum flag_end end;
		const char *message;
	} cases[] = {
		{{"--the_name", "x", "--on"}, 3, FLAGS_READ, ""},
		{{"--count=10"}, 1, FLAGS_READ, ""},
		{{"--help", "--bad"}, 2, FLAGS_HELP, ""},
		{{"--on", "-h"}, 2, FLAGS_HELP, ""},
		{{"--the-name", "x"}, 2, FLAGS_BAD_WORD, "c: unknown argument '--the-name'"},
		{{"word"}, 1, FLAGS_BAD_WORD, "c: unknown argument 'word'"},
		{{"--on=1"}, 1, FLAGS_BAD_WORD, "--on takes no value"},
		{{"--count"}, 1, FLAGS_BAD_WORD, "--count needs a value"},
		{{"--count", "11"},
	         2,
	         FLAGS_BAD_VALUE,
	         "--count is '11', expected a whole number up to 10"},
		{{"--count=-0"},
	         1,
	         FLAGS_BAD_VALUE,
	         "--count is '-0', expected a whole number up to 10"},
		{{"--count="},
	         1,
	         FLAGS_BAD_VALUE,
	         "--count is '', expected a whole number up to 10"},
	};
	static const struct flag_table table = {chosen_rows, ARRAY_LEN(chosen_rows), "c"};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char **argv = (char **)(uintptr_t)cases[i].words;
		struct chosen c = {0};
		struct err err = {0};
		int at = 0;

		CHECK_INT(flag_table_read(&table, cases[i].n, argv, &at, &c, NULL, &err),
		          cases[i].end);
		CHECK_STR(err.msg, cases[i].message);
		CHECK(c.on == (i == 0 || i == 3));
	}
}

static void help_and_bad_words(void)
{
	const char *argv[] = {"--help", "--lr", "1"}, *bad[] = {"-h", "--lrr"};
	AUTO(strbuf) struct strbuf remarks = STRBUF_INIT(0);
	struct train_flags f;
	struct err err = {0};
	bool help = false;

	CHECK_OK(train_flags_parse(3, (char **)(uintptr_t)argv, NULL, &f, &remarks, &help, &err),
	         &err);
	CHECK(help && f.lr == 1);
	CHECK(parse(2, bad, &f, &remarks, &err) != 0);
	CHECK_STR(err.hint, "Did you mean --lr?");
}

static int collect(void *ctx, const char *key, const char *text, struct err *err)
{
	(void)err;
	strbuf_addf(ctx, "%s=%s;", key, text);
	return 0;
}

static int read_yaml(const char *text, struct strbuf *sb, struct err *err)
{
	struct flat_yaml_sink sink = {collect, sb, NULL, NULL};

	return flat_yaml_read("main.yaml", text, strlen(text), &sink, err);
}

static void yaml_subset(void)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(0);
	struct err err = {0};

	CHECK_OK(read_yaml("---\n# a comment\nname: deep/mind  # why\narch:\n- One\n- Two\nd: 0.1\n"
	                   "id2label:\n  0: abseiling\n  1: 'it''s'\nempty: null\nshape: [1, 16, "
	                   "224]\n"
	                   "none:\nquoted: \"a # b\"\nindented:\n  - 3\n  - 4\nobj: {}\r\nlast: x",
	                   &sb, &err),
	         &err);
	CHECK_STR(strbuf_str(&sb),
	          "name=deep/mind;arch=One,Two;d=0.1;id2label=2;empty=null;"
	          "shape=1,16,224;none=null;quoted=a # b;indented=3,4;obj=0;last=x;");
}

static void yaml_refusals(void)
{
	static const char *const bad[] = {"a: &x 1\n",
	                                  "a: *x\n",
	                                  "a: !t 1\n",
	                                  "a: |\n  b\n",
	                                  "\ta: 1\n",
	                                  "a\n",
	                                  "a: 'x\n",
	                                  "a: [1, 2\n",
	                                  "a: 1\n b: 2\n",
	                                  "a: b: c\n",
	                                  "- 1\n",
	                                  "a: {b: 1}\n",
	                                  "a:\n- 1\nb: 2\n---\nc: 3\n",
	                                  "a: 'x' y\n",
	                                  ": 1\n",
	                                  "a:\n- 1\n  b: 2\n",
	                                  "a: \"\\x41\"\n",
	                                  "a: \xff\n"};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		AUTO(strbuf) struct strbuf sb = STRBUF_INIT(0);
		struct err err = {0};

		if (read_yaml(bad[i], &sb, &err) == 0)
			printf("# accepted: %s\n", bad[i]);
		CHECK(err.code != ERR_NONE);
	}
}

struct environment {
	const char *names[4], *values[4];
};

static const char *look(void *ctx, const char *name)
{
	const struct environment *e = ctx;

	for (size_t i = 0; i < 4 && e->names[i] != NULL; i++)
		if (strcmp(e->names[i], name) == 0)
			return e->values[i];
	return NULL;
}

static void launchers(void)
{
	static const struct {
		struct environment e;
		unsigned rank, n;
		bool good;
	} cases[] = {
		{{{NULL}, {NULL}}, 0, 1, true},
		{{{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"2", "4"}}, 2, 4, true},
		{{{"PMI_RANK", "PMI_SIZE", "JOB_COMPLETION_INDEX"}, {"1", "2", "0"}}, 1, 2, true},
		{{{"SLURM_PROCID", "SLURM_NTASKS"}, {"3", "8"}}, 3, 8, true},
		{{{"RANK", "WORLD_SIZE"}, {"0", "64"}}, 0, 64, true},
		{{{"VC_TASK_INDEX", "VC_WORKER_NUM"}, {"1", "2"}}, 1, 2, true},
		{{{"VC_TASK_INDEX", "NNODES"}, {"1", "2"}}, 1, 2, true},
		{{{"VK_TASK_INDEX", "VC_WORKER_NUM"}, {"0", "2"}}, 0, 2, true},
		{{{"NODE_RANK", "NNODES", "WORLD_SIZE"}, {"1", "2", "64"}}, 1, 2, true},
		{{{"JOB_COMPLETION_INDEX", "JOB_COMPLETIONS"}, {"2", "3"}}, 2, 3, true},
		{{{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "NODE_RANK", "NNODES"},
	          {"5", "8", "0", "1"}},
	         5,
	         8,
	         true},
		{{{"NODE_RANK", "NNODES"}, {"2", "2"}}, 0, 0, false},
		{{{"NODE_RANK", "NNODES", "MASTER_PORT"}, {"0", "2", "70000"}}, 0, 0, false},
		{{{"NODE_RANK", "NNODES", "MASTER_PORT"}, {"0", "2", "-1"}}, 0, 0, false},
		{{{"RANK", "WORLD_SIZE"}, {"64", "64"}}, 0, 0, false},
		{{{"RANK", "WORLD_SIZE"}, {"-1", "64"}}, 0, 0, false},
		{{{"RANK", "WORLD_SIZE"}, {"", "64"}}, 0, 0, false},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct environment e = cases[i].e;
		struct comm_place p = {0};
		struct err err = {0};

		CHECK_INT(comm_place(look, &e, &p, &err) == 0, cases[i].good);
		CHECK_INT(p.rank, cases[i].rank);
		CHECK_INT(p.n_ranks, cases[i].n);
	}
}

static void meeting_point(void)
{
	static const struct {
		struct environment e;
		const char *master;
		unsigned port;
	} cases[] = {
		{{{"NODE_RANK", "NNODES"}, {"1", "2"}}, "", 29500},
		{{{"NODE_RANK", "NNODES", "MASTER_ADDR"}, {"1", "2", "a.b"}}, "a.b", 29500},
		{{{"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}, {"1", "2", "::1", "7"}},
	         "::1",
	         7},
		{{{"VC_TASK_INDEX", "VC_WORKER_NUM", "VC_WORKER_HOSTS"}, {"1", "2", "w0.j,w1.j"}},
	         "w0.j",
	         29500},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct environment e = cases[i].e;
		struct comm_place p = {0};
		struct err err = {0};

		CHECK_OK(comm_place(look, &e, &p, &err), &err);
		CHECK_STR(p.master, cases[i].master);
		CHECK_INT(p.port, cases[i].port);
	}
}

static void single_process(void)
{
	struct comm_place place = {.n_ranks = 1};
	struct comm_options o = {0};
	double value = 3;
	struct comm *c;
	struct err err = {0};

	CHECK_OK(comm_open(&place, &o, &c, &err), &err);
	CHECK_OK(comm_sum(c, &value, 1, &err), &err);
	CHECK(value == 3 && comm_size(c) == 1);
	CHECK_OK(comm_close(c, &err), &err);
	place.n_ranks = 2;
	o.library = "/nonexistent/libmpi.so";
	CHECK(comm_open(&place, &o, &c, &err) != 0);
	CHECK_INT(err.code, ERR_NOT_FOUND);
	CHECK(err.hint[0] != '\0');
}

int main(void)
{
	TEST("flags: the PyTorch program's keys, its Namespace, what is not used", seed_keys);
	TEST("flags: a batch size that is found, and who found it", a_batch_that_is_found);
	TEST("flags: bad words are refused", bad_words);
	TEST("flags: a small command's names are exact, its numbers bounded, --help ends the "
	     "reading",
	     small_commands);
	TEST("flags: a word after train's --help is read too", help_and_bad_words);
	TEST("yaml: scalars, lists and mappings of a PerceiverConfig dump", yaml_subset);
	TEST("yaml: everything else is refused", yaml_refusals);
	TEST("ranks: each launcher's variables", launchers);
	TEST("ranks: where those meet that no mpirun started", meeting_point);
	TEST("ranks: one process needs no MPI; several say which package has it", single_process);
	return test_done();
}
