#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text.h"
#include "trainer/neuron/learner.h"
#include "trainer/session/compute.h"
#include "trainer/session/plan.h"
#include "trainer/session/setup.h"

#define ROOT "NEURON_RT_ROOT_COMM_ID"

/* ---- the command that compiles a run's modules ---- */

/* The options that the modules follow from, beside the number of ranks. */
static const char *const words[] = {
	"config_file_path", "checkpoint",   "batch_size",   "test_batch_size",
	"image_points",     "audio_points", "precision",    "attention_dropout",
	"optimizer",        "momentum",     "weight_decay", "ema_decay",
};

static void add_word(const struct train_flags *f, const char *name, struct strbuf *sb)
{
	const struct flag_row *row = flag_table_find(train_flags_table(), name);
	char number[FLAG_TEXT_MAX];

	/* the batch may have been settled here */
	if (train_flags_origin(f, name).layer == LAYER_DEFAULT && strcmp(name, "batch_size") != 0)
		return;
	strbuf_addf(sb, " --%s ", name);
	text_shell_word(flag_row_text(row, f, number), sb);
}

/* Who asks for modules. */
struct module_run {
	struct session *session;
	struct train_flags *flags;
};

static void compile_command(void *ctx, const char *target, struct strbuf *sb)
{
	const struct session *s = ((const struct module_run *)ctx)->session;

	strbuf_adds(sb, "slipway-trainer compile --cache_dir ");
	text_shell_word(s->flags->cache_dir, sb);
	strbuf_addf(sb, " --target %s", target);
	if (s->n_ranks > 1)
		strbuf_addf(sb, " --ranks %u", s->n_ranks);
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		add_word(s->flags, words[i], sb);
}

/* ---- where the ranks' runtimes meet ---- */

/* An address of this host that the others reach, and a port that is free now; "" without one. */
static void own_root(char ret[NI_MAXHOST + 8])
{
	const char *master = getenv("MASTER_ADDR");
	struct sockaddr_in at = {.sin_family = AF_INET};
	char host[NI_MAXHOST] = "", number[NI_MAXHOST];
	const struct addrinfo like = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
	struct addrinfo *all = NULL;
	socklen_t n = sizeof(at);
	AUTO_CLOSE int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ret[0] = '\0';
	if (gethostname(host, sizeof(host) - 1) != 0 ||
	    getaddrinfo(master != NULL ? master : host, NULL, &like, &all) != 0)
		return;
	if (getnameinfo(all->ai_addr, all->ai_addrlen, number, sizeof(number), NULL, 0,
	                NI_NUMERICHOST) == 0 &&
	    fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0 &&
	    getsockname(fd, (struct sockaddr *)&at, &n) == 0)
		snprintf(ret, NI_MAXHOST + 8, "%s:%u", number, (unsigned)ntohs(at.sin_port));
	freeaddrinfo(all);
}

/* The runtime wants rank 0's address in every rank's environment; where nobody has given it, rank 0
 * tells its own. */
static int meet(struct session *s, struct err *err)
{
	char root[NI_MAXHOST + 8] = "";

	if (s->n_ranks == 1 || getenv(ROOT) != NULL)
		return 0;
	if (s->rank == 0)
		own_root(root);
	if (comm_broadcast(s->comm, root, sizeof(root), err) != 0)
		return -1;
	if (root[0] == '\0') {
		err_set(err, ERR_USAGE, "the NeuronCores' runtimes have no address to meet at");
		return err_hint(err, "Set " ROOT "=ADDRESS:PORT of rank 0 in every rank.");
	}
	setenv(ROOT, root, 1);
	return 0;
}

/* ---- the learner ---- */

/* An evaluation has its own batch, and none to settle. */
static int settle(void *ctx, const char *target, struct neuron_run *run, struct err *err)
{
	const struct module_run *m = ctx;

	return session_settle_modules(m->session, m->flags, target, run, err);
}

static struct neuron_start start_of(struct module_run *m, enum session_use use, unsigned index)
{
	const struct session *s = m->session;
	bool trains = use == SESSION_TRAINS;

	return (struct neuron_start){.core = index,
	                             .rank = s->rank,
	                             .ranks = s->n_ranks,
	                             .cache = s->flags->cache_dir,
	                             .wanted = {[NEURON_STEP] = trains,
	                                        [NEURON_UPDATE] = trains,
	                                        [NEURON_MEASURE] = !trains || s->flags->do_eval ||
	                                                           s->flags->eval_every > 0},
	                             .command = compile_command,
	                             .settle = trains ? settle : NULL,
	                             .ctx = m};
}

int session_module_learner(struct session *s, enum session_use use, struct train_flags *flags,
                           unsigned index, struct err *err)
{
	AUTO(strbuf) struct strbuf remarks = STRBUF_INIT(1 << 20);
	struct module_run m = {s, flags};
	struct neuron_start start = start_of(&m, use, index);
	struct neuron_run run;

	if (s->flags->cache_dir == NULL) {
		err_set(err, ERR_USAGE,
		        "a NeuronCore runs modules that were compiled ahead, and no "
		        "folder of them is given");
		return err_hint(err, "Give --cache_dir, which slipway-trainer compile fills, or "
		                     "--device cpu.");
	}
	if (session_neuron_run(s->flags, s->n_ranks, &run, &remarks, err) != 0 ||
	    meet(s, err) != 0 || neuron_learner_new(&run, &start, &s->learner, err) != 0)
		return -1;
	learner_init(s->learner, s->options.seed);
	return 0;
}
