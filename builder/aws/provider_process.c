/*
 * credential_process: a program of the user's that prints keys as JSON. It is run without a shell,
 * after the splitting that the AWS CLI does.
 */
#include <openssl/crypto.h>
#include <string.h>

#include "base/doc/json.h"
#include "base/mem.h"
#include "builder/aws/chain.h"
#include "builder/aws/words.h"

enum { OUTPUT_MAX = 64 << 10, TIMEOUT_MS = 60000 };

/* What it printed is never shown: it may be half of a secret. */
static int read_output(struct chain *c, const struct proc_result *r, struct aws_credentials *ret,
                       struct err *err)
{
	static const struct credentials_form form = {.id = "AccessKeyId",
	                                             .secret = "SecretAccessKey",
	                                             .token = "SessionToken",
	                                             .expires = "Expiration",
	                                             .account = "AccountId"};
	AUTO(json) cJSON *doc = NULL;
	struct err why = {0};
	int64_t version = 0;

	if (r->exit_status != 0)
		return err_set(err, ERR_DENIED, "it ended with status %d: %.*s", r->exit_status,
		               (int)strcspn(strbuf_str(&r->err_text), "\r\n"),
		               strbuf_str(&r->err_text));
	if (r->out.len == 0 || json_parse("output", r->out.ptr, r->out.len, &doc, &why) != 0)
		return err_set(err, ERR_FORMAT, "it did not print JSON");
	if (json_size(doc, "Version", &version, &why) != 0 || version != 1)
		return err_set(err, ERR_FORMAT, "its output is not Version 1");
	if (credentials_read(doc, &form, "its output", aws_client_now_ms(c->client), ret, err) != 0)
		return -1;
	const char *account = aws_section_get(c->section, "aws_account_id");

	if (ret->account_id == NULL && account != NULL)
		ret->account_id = mem_strdup(account);
	return 0;
}

static int run_program(struct chain *c, const char *command, struct aws_credentials *ret,
                       struct err *err)
{
	struct proc_result r = {.out = STRBUF_INIT(OUTPUT_MAX), .err_text = STRBUF_INIT(400)};
	struct word_list words = {.n = 0};
	int status = words_split(command, c->arena, &words, err);

	if (status == 0 && words.n == 0)
		status = err_set(err, ERR_FORMAT, "it is empty");
	if (status == 0)
		status = c->outside->run(c->outside, words.at, TIMEOUT_MS, &r, err);
	if (status == 0)
		status = read_output(c, &r, ret, err);
	if (r.out.ptr != NULL)
		OPENSSL_cleanse(r.out.ptr, r.out.cap);
	proc_result_done(&r);
	return status;
}

int provide_process(struct chain *c, struct aws_credentials *ret, const char **ret_why_not,
                    struct err *err)
{
	const char *command = aws_section_get(c->section, "credential_process");

	if (command == NULL) {
		*ret_why_not = arena_printf(c->arena, "profile '%s' has no credential_process",
		                            c->profile);
		return 0;
	}
	if (run_program(c, command, ret, err) == 0)
		return 0;
	/* A program that is not there is the user's to mend, not a place without credentials. */
	err_wrap(err, "credential_process of profile '%s'", c->profile);
	return err_hint(err, "run it by hand; it must print Version 1 credentials as JSON");
}
