#include "k8s/nettest/nettest.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/text.h"

/* ---- lines ---- */

struct line {
	const char *at;
	size_t len;
};

static bool next_line(const char **p, size_t *left, struct line *ret)
{
	if (*left == 0)
		return false;
	const char *end = memchr(*p, '\n', *left);
	size_t len = end != NULL ? (size_t)(end - *p) : *left;

	ret->at = *p;
	ret->len = len > NETTEST_LINE_MAX ? NETTEST_LINE_MAX : len;
	*p += len + (end != NULL);
	*left -= len + (end != NULL);
	return true;
}

static void skip(struct line *line, size_t n)
{
	line->at += n;
	line->len -= n;
}

static void skip_blanks(struct line *line)
{
	while (line->len > 0 && (*line->at == ' ' || *line->at == '\t' || *line->at == '\r'))
		skip(line, 1);
}

/* "[pod/x-worker-0/nccl] " of kubectl logs --prefix, "[1,0]<stdout>:" of mpirun --tag-output. */
static bool skip_bracket(struct line *line)
{
	const char *end =
		line->len > 0 && *line->at == '[' ? memchr(line->at, ']', line->len) : NULL;

	if (end == NULL)
		return false;
	skip(line, (size_t)(end - line->at) + 1);
	const char *colon =
		line->len > 0 && *line->at == '<' ? memchr(line->at, ':', line->len) : NULL;

	if (colon != NULL)
		skip(line, (size_t)(colon - line->at) + 1);
	return true;
}

/* "2026-11-21T10:00:00.123456789Z " of kubectl logs --timestamps. */
static bool skip_timestamp(struct line *line)
{
	static const char form[] = "dddd-dd-ddTdd:dd:dd";
	size_t n = sizeof(form) - 1;

	if (line->len < n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (form[i] == 'd' ? !isdigit((unsigned char)line->at[i]) : line->at[i] != form[i])
			return false;
	while (n < line->len && line->at[n] != ' ')
		n++;
	skip(line, n);
	return true;
}

static void skip_prefixes(struct line *line)
{
	do
		skip_blanks(line);
	while (skip_bracket(line) || skip_timestamp(line));
}

static const char *find_in_line(const struct line *line, const char *what)
{
	return transport_find(line->at, line->len, what);
}

static bool one_of(char c, const char *set)
{
	return c != '\0' && strchr(set, c) != NULL;
}

/* ---- numbers ---- */

enum { TOKENS_MAX = 14, NUMBER_MAX = 32 };

/* Splits at blanks; returns the number of tokens, TOKENS_MAX + 1 when there are more. */
static size_t split(struct line line, struct line *tokens)
{
	size_t n = 0;

	for (skip_blanks(&line); line.len > 0; skip_blanks(&line)) {
		size_t len = 0;

		if (n == TOKENS_MAX)
			return TOKENS_MAX + 1;
		while (len < line.len && !one_of(line.at[len], " \t\r"))
			len++;
		tokens[n++] = (struct line){line.at, len};
		skip(&line, len);
	}
	return n;
}

/* A plain decimal, with exponent: not what strtod takes besides (hex, inf, nan, blanks). */
static bool token_number(const struct line *token, double *ret)
{
	char text[NUMBER_MAX], *end = NULL;

	if (token->len == 0 || token->len >= sizeof(text))
		return false;
	for (size_t i = 0; i < token->len; i++)
		if (!isdigit((unsigned char)token->at[i]) && !one_of(token->at[i], ".+-eE"))
			return false;
	memcpy(text, token->at, token->len);
	text[token->len] = '\0';
	double value = strtod(text, &end);

	if (*end != '\0' || !isfinite(value) || value < 0 || value > 1e12)
		return false;
	*ret = value;
	return true;
}

static bool whole(const struct line *token, int64_t *ret)
{
	return token->len < NUMBER_MAX && text_int64(token->at, token->len, ret) && *ret >= 0;
}

/* "float", "bfloat16", "sum": a word as the table's columns type and redop hold. */
static bool word(const struct line *token)
{
	if (!isalpha((unsigned char)token->at[0]))
		return false;
	for (size_t i = 0; i < token->len; i++)
		if (!isalnum((unsigned char)token->at[i]) && token->at[i] != '_')
			return false;
	return true;
}

/* The column #wrong: a count (older versions: an error as "0e+00"), or N/A. */
static bool wrong_count(const struct line *token, int64_t *ret)
{
	double value;

	if (token->len == 3 && memcmp(token->at, "N/A", 3) == 0) {
		*ret = -1;
		return true;
	}
	if (!token_number(token, &value) || value > 1e15)
		return false;
	*ret = value > 0 && value < 1 ? 1 : (int64_t)value;
	return true;
}

/* ---- the table ---- */

/* size count type redop [root] (time algbw busbw #wrong) twice. */
static bool parse_row(const struct line *line, struct nettest_row *ret)
{
	struct line t[TOKENS_MAX];
	struct nettest_row row = {0};
	int64_t count, in_wrong;
	size_t n = split(*line, t);

	if (n != 12 && n != 13)
		return false;
	const struct line *v = t + n - 8;

	if (!whole(&t[0], &row.bytes) || !whole(&t[1], &count) || !word(&t[2]) || !word(&t[3]))
		return false;
	if (!token_number(&v[0], &row.out_us) || !token_number(&v[1], &row.out_algbw) ||
	    !token_number(&v[2], &row.out_busbw) || !wrong_count(&v[3], &row.wrong) ||
	    !token_number(&v[4], &row.in_us) || !token_number(&v[5], &row.in_algbw) ||
	    !token_number(&v[6], &row.in_busbw) || !wrong_count(&v[7], &in_wrong))
		return false;
	if (in_wrong > 0 && row.wrong <= 0)
		row.wrong = in_wrong;
	else if (in_wrong > 0)
		row.wrong += in_wrong;
	*ret = row;
	return true;
}

static void add_row(struct nettest *n, const struct nettest_row *row)
{
	if (n->n_rows == NETTEST_ROWS_MAX)
		n->rows_dropped = true;
	else
		n->rows[n->n_rows++] = *row;
}

/* "# Avg bus bandwidth    : 7.86" and "# Out of bounds values : 0 OK". */
static void parse_closing(struct nettest *n, const struct line *line)
{
	const char *colon = memchr(line->at, ':', line->len);
	struct line t[TOKENS_MAX];

	if (colon == NULL)
		return;
	struct line rest = {colon + 1, line->len - (size_t)(colon + 1 - line->at)};
	size_t tokens = split(rest, t);

	if (find_in_line(line, "avg bus bandwidth") != NULL && tokens == 1 &&
	    token_number(&t[0], &n->average))
		n->has_average = true;
	if (find_in_line(line, "out of bounds values") != NULL)
		n->out_of_bounds = tokens != 2 || t[1].len != 2 || memcmp(t[1].at, "OK", 2) != 0;
}

/* ---- the transport ---- */

/* "NET/OFI Initializing aws-ofi-nccl 1.14.0" */
static void parse_plugin(struct nettest *n, const struct line *line)
{
	static const char key[] = "initializing aws-ofi-nccl ";
	const char *at = find_in_line(line, key);
	size_t len = 0;

	if (at == NULL || n->plugin[0] != '\0')
		return;
	at += sizeof(key) - 1;
	const char *end = line->at + line->len;

	while (at + len < end && len < NETTEST_PLUGIN_MAX - 1 &&
	       (isalnum((unsigned char)at[len]) || one_of(at[len], ".-+_")))
		len++;
	memcpy(n->plugin, at, len);
	n->plugin[len] = '\0';
}

static void parse_transport(struct nettest *n, const struct line *line)
{
	n->transport = transport_after(n->transport, line->at, line->len);
	if (find_in_line(line, "/gdrdma") != NULL)
		n->rdma = true;
	parse_plugin(n, line);
}

int nettest_parse(const char *log, size_t len, struct nettest *ret, struct err *err)
{
	struct nettest n = {0};
	struct nettest_row row;
	struct line line;

	while (next_line(&log, &len, &line)) {
		skip_prefixes(&line);
		if (line.len > 0 && *line.at == '#')
			parse_closing(&n, &line);
		else if (parse_row(&line, &row))
			add_row(&n, &row);
		else
			parse_transport(&n, &line);
	}
	if (n.n_rows == 0) {
		err_set(err, ERR_FORMAT, "no row of an nccl-tests table in the log");
		return err_hint(err, "Read the launcher's log, as in kubectl logs "
		                     "job/NAME-nettest-launcher; the workers' logs hold no table.");
	}
	*ret = n;
	return 0;
}
