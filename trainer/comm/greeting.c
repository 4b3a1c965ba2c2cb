#include "trainer/comm/greeting.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "trainer/comm/hmac.h"

#define CHALLENGE "slipway-ranks 1 "
#define WELCOME   "welcome "

enum { NONCE_BYTES = (GREETING_NONCE_MAX - 1) / 2 };

int greeting_nonce(char ret[GREETING_NONCE_MAX], struct err *err)
{
	unsigned char bytes[NONCE_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return err_set(err, ERR_IO, "ask the kernel for random numbers");
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

/* Of one side ("join", "welcome") over all that was said on this connection. */
static char *proof(const struct greeting *g, const char *key, const char *side,
                   char out[SHA256_HEX_MAX])
{
	char text[GREETING_LINE_MAX];

	snprintf(text, sizeof(text), "%s %u %u %s %s", side, g->rank, g->n_ranks, g->leader,
	         g->rank_nonce);
	return hmac_sha256_hex(key, text, out);
}

/* Takes as long wherever the first difference is. */
static bool same_proof(const char a[SHA256_HEX_MAX], const char b[SHA256_HEX_MAX])
{
	unsigned char differs = 0;

	for (size_t i = 0; i < SHA256_HEX_MAX; i++)
		differs |= (unsigned char)(a[i] ^ b[i]);
	return differs == 0;
}

void greeting_challenge(const struct greeting *g, char *line)
{
	snprintf(line, GREETING_LINE_MAX, CHALLENGE "%s\n", g->leader);
}

bool greeting_read_challenge(const char *line, struct greeting *g)
{
	char again[GREETING_LINE_MAX];

	if (sscanf(line, CHALLENGE "%32[0-9a-f]", g->leader) != 1)
		return false;
	greeting_challenge(g, again);
	return strcmp(line, again) == 0;
}

static void answer_with(const struct greeting *g, const char *proven, char *line)
{
	snprintf(line, GREETING_LINE_MAX, "rank %u of %u nonce %s proof %s\n", g->rank, g->n_ranks,
	         g->rank_nonce, proven);
}

void greeting_answer(const struct greeting *g, const char *key, char *line)
{
	char mine[SHA256_HEX_MAX];

	answer_with(g, proof(g, key, "join", mine), line);
}

enum greeting_end greeting_read_answer(const char *line, const char *key, struct greeting *g)
{
	char given[SHA256_HEX_MAX] = "", want[SHA256_HEX_MAX], again[GREETING_LINE_MAX];

	/* Written again it must be the same text: scanf lets signs, spaces and zeros pass. */
	if (sscanf(line, "rank %u of %u nonce %32[0-9a-f] proof %64[0-9a-f]", &g->rank, &g->n_ranks,
	           g->rank_nonce, given) != 4)
		return GREETING_GARBLED;
	answer_with(g, given, again);
	if (strcmp(line, again) != 0 || strlen(given) != SHA256_HEX_MAX - 1)
		return GREETING_GARBLED;
	return same_proof(given, proof(g, key, "join", want)) ? GREETING_PROVEN : GREETING_UNPROVEN;
}

void greeting_welcome(const struct greeting *g, const char *key, char *line)
{
	char mine[SHA256_HEX_MAX];

	snprintf(line, GREETING_LINE_MAX, WELCOME "%s\n", proof(g, key, "welcome", mine));
}

enum greeting_end greeting_read_welcome(const char *line, const char *key, const struct greeting *g)
{
	char given[SHA256_HEX_MAX] = "", want[SHA256_HEX_MAX];

	if (sscanf(line, WELCOME "%64[0-9a-f]", given) != 1)
		return GREETING_GARBLED;
	return same_proof(given, proof(g, key, "welcome", want)) ? GREETING_PROVEN
	                                                         : GREETING_UNPROVEN;
}
