/*
 * PMI-1's requests and what is answered: lines of "cmd=NAME key=value ...". Knows no sockets. A
 * request that MPICH never makes, or one beyond the limits, is refused.
 */
#ifndef SLIPWAY_TRAINER_COMM_PMI_STORE_H
#define SLIPWAY_TRAINER_COMM_PMI_STORE_H

#include <stdbool.h>

#include "base/strbuf.h"

struct pmi_store; /* opaque: what the ranks of one job have put */

struct pmi_store *pmi_store_new(unsigned n_ranks);
void pmi_store_free(struct pmi_store *s);

/* Appends the answer to one line (without its end) to reply; nothing for "barrier_in", which is
 * answered when all ranks are in. false: not a request, and its rank is not to be trusted. */
bool pmi_answer(struct pmi_store *s, const char *line, struct strbuf *reply);

#endif
