#include "base/net/reach.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/attr.h"

enum { HOST_MAX = 256 };

static enum reach reach_v4(uint32_t ip)
{
	static const struct {
		uint32_t net, mask;
		enum reach reach;
	} nets[] = {
		{0x7f000000, 0xff000000, REACH_LOOPBACK},   /* 127.0.0.0/8 */
		{0xa9fe0000, 0xffff0000, REACH_LINK_LOCAL}, /* 169.254.0.0/16 */
		{0x646464c8, 0xffffffff,
	         REACH_LINK_LOCAL}, /* 100.100.100.200, Alibaba's metadata */
		{0xc00000c0, 0xffffffff, REACH_LINK_LOCAL}, /* 192.0.0.192, Oracle's metadata */
		{0x00000000, 0xff000000, REACH_PRIVATE},    /* 0.0.0.0/8 */
		{0x0a000000, 0xff000000, REACH_PRIVATE},    /* 10.0.0.0/8 */
		{0xac100000, 0xfff00000, REACH_PRIVATE},    /* 172.16.0.0/12 */
		{0xc0a80000, 0xffff0000, REACH_PRIVATE},    /* 192.168.0.0/16 */
		{0x64400000, 0xffc00000, REACH_PRIVATE},    /* 100.64.0.0/10, shared */
		{0xc0000000, 0xffffff00, REACH_PRIVATE},    /* 192.0.0.0/24 */
		{0xc6120000, 0xfffe0000, REACH_PRIVATE},    /* 198.18.0.0/15, benchmarks */
		{0xe0000000, 0xe0000000, REACH_PRIVATE},    /* 224.0.0.0/3, multicast, reserved */
	};

	for (size_t i = 0; i < ARRAY_LEN(nets); i++)
		if ((ip & nets[i].mask) == nets[i].net)
			return nets[i].reach;
	return REACH_PUBLIC;
}

static bool has_bits(const uint8_t *ip, const uint8_t *prefix, unsigned bits)
{
	unsigned whole = bits / 8, rest = bits % 8;

	if (memcmp(ip, prefix, whole) != 0)
		return false;
	return rest == 0 || ((ip[whole] ^ prefix[whole]) >> (8 - rest)) == 0;
}

/* IPv6 prefixes whose addresses hold an IPv4 one, `at` bytes in; Teredo inverts it. */
static const struct {
	uint8_t prefix[16];
	unsigned bits, at;
	uint32_t inverted;
} holders[] = {
	{{[10] = 0xff, [11] = 0xff}, 96, 12, 0},        /* ::ffff:0:0/96, mapped */
	{{[8] = 0xff, [9] = 0xff}, 96, 12, 0},          /* ::ffff:0:0:0/96, translated */
	{{0x00, 0x64, 0xff, 0x9b}, 96, 12, 0},          /* 64:ff9b::/96, NAT64 */
	{{0x20, 0x02}, 16, 2, 0},                       /* 2002::/16, 6to4 */
	{{0x20, 0x01, 0x00, 0x00}, 32, 12, UINT32_MAX}, /* 2001::/32, Teredo */
};

static const struct {
	uint8_t prefix[16];
	unsigned bits;
	enum reach reach;
} nets6[] = {
	{{[15] = 1}, 128, REACH_LOOPBACK},
	{{0xfe, 0x80}, 10, REACH_LINK_LOCAL},
	{{0xfd, 0x00, 0x0e, 0xc2}, 32, REACH_LINK_LOCAL}, /* fd00:ec2::/32: 254 is EC2's metadata */
	{{0xfd, 0x20, 0x00, 0xce}, 32, REACH_LINK_LOCAL}, /* fd20:ce::/32: 254 is Google's */
	{{0xfe, 0xc0}, 10, REACH_PRIVATE},                /* site-local, of old */
	{{0xfc}, 7, REACH_PRIVATE},
	{{0xff}, 8, REACH_PRIVATE},                                /* multicast */
	{{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 48, REACH_PRIVATE}, /* local NAT64 */
	{{0}, 128, REACH_PRIVATE},                                 /* unspecified */
};

static enum reach reach_v6(const uint8_t *ip)
{
	for (size_t i = 0; i < ARRAY_LEN(nets6); i++)
		if (has_bits(ip, nets6[i].prefix, nets6[i].bits))
			return nets6[i].reach;
	for (size_t i = 0; i < ARRAY_LEN(holders); i++) {
		const uint8_t *v4 = ip + holders[i].at;

		if (has_bits(ip, holders[i].prefix, holders[i].bits))
			return reach_v4(((uint32_t)v4[0] << 24 | (uint32_t)v4[1] << 16 |
			                 (uint32_t)v4[2] << 8 | v4[3]) ^
			                holders[i].inverted);
	}
	/* ::a.b.c.d, "compatible": of old, and still taken by resolvers */
	static const uint8_t none[12];

	if (memcmp(ip, none, sizeof(none)) == 0)
		return reach_v4((uint32_t)ip[12] << 24 | (uint32_t)ip[13] << 16 |
		                (uint32_t)ip[14] << 8 | ip[15]);
	return REACH_PUBLIC;
}

static bool is_local_name(const char *host)
{
	static const char *const names[] = {"localhost", "localhost.localdomain", "ip6-localhost",
	                                    "ip6-loopback"};
	static const char below[] = ".localhost";
	size_t len = strlen(host);

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcasecmp(host, names[i]) == 0)
			return true;
	return len > strlen(below) && strcasecmp(host + len - strlen(below), below) == 0;
}

enum reach reach_of_host(const char *host)
{
	char text[HOST_MAX];
	struct in_addr v4;
	struct in6_addr v6;
	size_t open = host[0] == '[', len = strcspn(host + open, "]%");

	if (len == 0 || len >= sizeof(text))
		return REACH_PUBLIC;
	snprintf(text, sizeof(text), "%.*s", (int)len, host + open);
	if (text[len - 1] == '.')
		text[len - 1] = '\0';
	if (inet_pton(AF_INET6, text, &v6) == 1)
		return reach_v6(v6.s6_addr);
	if (open == 0 && inet_aton(text, &v4) != 0)
		return reach_v4(ntohl(v4.s_addr));
	return is_local_name(text) ? REACH_LOOPBACK : REACH_PUBLIC;
}

bool reach_is_loopback(const char *host)
{
	static const uint32_t net = 0x7f000000, mask = 0xff000000;
	struct in_addr v4;

	if (strcmp(host, "[::1]") == 0 || strcmp(host, "::1") == 0 ||
	    strcasecmp(host, "localhost") == 0)
		return true;
	return inet_aton(host, &v4) != 0 && (ntohl(v4.s_addr) & mask) == net;
}
