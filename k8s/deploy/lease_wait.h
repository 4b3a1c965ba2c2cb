/*
 * Taking the Lease of a deploy that may have been killed. On this machine a process is known to be
 * dead or alive (k8s/deploy/lease.h); one of another machine is judged by its renewals: who renews
 * is at work, who does not is waited for until the Lease expires.
 */
#ifndef SLIPWAY_K8S_DEPLOY_LEASE_WAIT_H
#define SLIPWAY_K8S_DEPLOY_LEASE_WAIT_H

#include "k8s/deploy/lease.h"

/* ERR_BUSY: the holder is at work, or the Lease has not expired at until_ms of the clock. Otherwise
 * as lease_take. */
int lease_take_silent(struct lease *l, int64_t until_ms, struct err *err) MUST_USE;

/* Is it the identity of a process of this machine, dead or alive? */
bool lease_is_of_this_machine(const char *identity);

#endif
