/*
 * What kind of place a URL's host is, as far as its text tells: by literal addresses in every
 * spelling that a resolver takes, and by the names that never leave the machine. Pure: nothing is
 * resolved. Sources: IANA's IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890), RFC 6761
 * section 6.3 (localhost), RFC 4291, 6052 (NAT64), 3056 (6to4), 4380 (Teredo); for the metadata
 * services AWS's EC2 user guide.
 */
#ifndef SLIPWAY_BASE_NET_REACH_H
#define SLIPWAY_BASE_NET_REACH_H

#include <stdbool.h>

enum reach {
	REACH_PUBLIC,    /* a public address, or a name that only a resolver can judge */
	REACH_PRIVATE,   /* a private network's, or one that is no host's at all */
	REACH_LOOPBACK,  /* this machine: localhost, 127.0.0.0/8, ::1 */
	REACH_LINK_LOCAL /* 169.254.0.0/16, fe80::/10, and the metadata services of clouds */
};

/*
 * `host` as struct url has it, or as a person writes it: IPv4 in decimal, octal, hexadecimal or
 * with fewer parts (inet_aton(3)), IPv6 in brackets or without, with a zone; one dot may follow.
 * An IPv6 address that stands for an IPv4 one (mapped, compatible, translated, NAT64, 6to4, Teredo)
 * is of that one's kind.
 */
enum reach reach_of_host(const char *host);

/*
 * Certainly this machine: 127.0.0.0/8, ::1 and "localhost". Stricter than REACH_LOOPBACK: names
 * below localhost and addresses that hold another may lead elsewhere.
 */
bool reach_is_loopback(const char *host);

#endif
