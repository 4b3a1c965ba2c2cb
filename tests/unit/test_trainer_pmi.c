/*
 * What rank 0 answers to MPICH's start-up requests.
 */
#include <string.h>

#include "tests/harness.h"
#include "trainer/comm/pmi_store.h"

/* The answer to a line, or "refused". */
static void check(struct pmi_store *s, const char *line, const char *want)
{
	AUTO(strbuf) struct strbuf reply = STRBUF_INIT(4096);

	if (!pmi_answer(s, line, &reply))
		CHECK_STR("refused", want);
	else
		CHECK_STR(strbuf_str(&reply), want);
}

static void start_up(void)
{
	struct pmi_store *s = pmi_store_new(4);

	check(s, "cmd=init pmi_version=1 pmi_subversion=1",
	      "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
	check(s, "cmd=get_maxes", "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n");
	check(s, "cmd=get_appnum", "cmd=appnum appnum=0\n");
	check(s, "cmd=get_my_kvsname", "cmd=my_kvsname kvsname=slipway\n");
	check(s, "cmd=get_universe_size", "cmd=universe_size size=4\n");
	check(s, "cmd=barrier_in", "");
	check(s, "cmd=finalize", "cmd=finalize_ack\n");
	pmi_store_free(s);
}

static void pairs(void)
{
	struct pmi_store *s = pmi_store_new(1);
	char line[256];

	check(s, "cmd=put kvsname=slipway key=a value=b c=d ", "cmd=put_result rc=0 msg=success\n");
	check(s, "cmd=get kvsname=slipway key=a",
	      "cmd=get_result rc=0 msg=success value=b c=d \n");
	check(s, "cmd=get kvsname=slipway key=ab",
	      "cmd=get_result rc=-1 msg=key_not_found value=unknown\n");
	check(s, "cmd=put kvsname=slipway key=a value=x",
	      "cmd=put_result rc=-1 msg=duplicate_key\n");
	for (int i = 1; i < 64; i++) {
		snprintf(line, sizeof(line), "cmd=put kvsname=slipway key=k%d value=", i);
		check(s, line, "cmd=put_result rc=0 msg=success\n");
	}
	check(s, "cmd=put kvsname=slipway key=more value=x", "refused");
	pmi_store_free(s);
}

static void hostile(void)
{
	static const char *const bad[] = {
		"",        "cmd=",          "cmd=spawn",       "xcmd=init",   "GET / HTTP/1.0",
		"cmd=get", "cmd=put key=a", "cmd=put value=a", "cmd=abort 1", "cmd=initial",
	};
	struct pmi_store *s = pmi_store_new(1);
	char line[2048];

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		check(s, bad[i], "refused");
	memset(line, 'x', sizeof(line));
	memcpy(line, "cmd=put key=a value=", 20);
	line[20 + 1024] = '\0';
	check(s, line, "cmd=put_result rc=0 msg=success\n");
	line[20 + 1024] = 'x';
	line[20 + 1025] = '\0';
	line[12] = 'b';
	check(s, line, "refused");
	pmi_store_free(s);
}

int main(void)
{
	TEST("pmi: the requests of MPICH's start are answered", start_up);
	TEST("pmi: what a rank puts, every rank gets, once", pairs);
	TEST("pmi: what MPICH never asks is refused", hostile);
	return test_done();
}
