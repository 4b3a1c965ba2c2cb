#include "base/net/url.h"

#include "base/net/reach.h"
#include "tests/harness.h"

static void parses(void)
{
	static const struct {
		const char *text, *scheme, *host, *target;
		int port;
	} rows[] = {
		{"https://r.example", "https", "r.example", "/", 443},
		{"HTTP://R.Example:5000/v2/?a=b#frag", "http", "r.example", "/v2/?a=b", 5000},
		{"https://[::1]:5000/x", "https", "[::1]", "/x", 5000},
		{"https://r.example?x=y", "https", "r.example", "/?x=y", 443},
		{"https://r.example/a/../b/./c?d=/../e", "https", "r.example", "/b/c?d=/../e", 443},
		{"http://%6c%6Fcalhost/", "http", "localhost", "/", 80},
		{"http://2130706433/", "http", "127.0.0.1", "/", 80},
		{"http://[0:0:0::1]/", "http", "[::1]", "/", 80},
		{"http://[FE80::1%25eth0]/", "http", "[fe80::1%25eth0]", "/", 80},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(arena) struct arena a = {0};
		struct url u;
		struct err err = {0};

		CHECK_OK(url_parse(rows[i].text, &a, &u, &err), &err);
		CHECK_STR(u.scheme, rows[i].scheme);
		CHECK_STR(u.host, rows[i].host);
		CHECK_STR(u.target, rows[i].target);
		CHECK_INT(u.port, rows[i].port);
	}
}

static void refuses(void)
{
	static const char *const rows[] = {
		"", "r.example", "ftp://r.example/", "https://", "https:///x", "https://user:hush@r.example/",
		"https://r.example:0/", "https://r.example:70000/", "https://r.example:x/", "https://[::1/",
		"https://r.example/a b", "https://r.example/\r\nHost: x", "file:///etc/passwd", "https://:80/",
		"gopher://x/?token=hush", "https:/x/", "https:x", "https//x", "httpx://r.example/", "https://r.exa%0ample/",
		"https://r.example%2fx/", "https://r.exa%00mple/", "https://[zz]/", "https://a,b/", "https://r.example\\@x/",
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(arena) struct arena a = {0};
		struct url u;
		struct err err = {0};

		CHECK(url_parse(rows[i], &a, &u, &err) != 0);
		CHECK_INT(err.code, ERR_FORMAT);
		CHECK(strstr(err.msg, "hush") == NULL);
	}
}

static void resolves(void)
{
	static const struct {
		const char *location, *want;
	} rows[] = {
		{"/v2/y", "https://r.example/v2/y"},
		{"https://o.example/z?s=1", "https://o.example/z?s=1"},
		{"//o.example/z", "https://o.example/z"},
		{"?state=1", "https://r.example/v2/a/uploads/?state=1"},
		{"uuid?state=1", "https://r.example/v2/a/uploads/uuid?state=1"},
		{"../../b/./c", "https://r.example/v2/b/c"},
		{"/redirect?to=http://o.example/", "https://r.example/redirect?to=http://o.example/"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(arena) struct arena a = {0};
		const char *url = NULL;
		struct err err = {0};

		CHECK_OK(url_resolve("https://r.example/v2/a/uploads/?mount=x", rows[i].location, &a, &url, &err),
		         &err);
		CHECK_STR(url, rows[i].want);
	}
}

static void refuses_locations(void)
{
	static const char *const rows[] = {
		"ftp://o.example/", "file:///etc/passwd", "https://user:hush@o.example/", "//user:hush@o.example/", "/a b",
		"/a\r\nHost: x", "//o.example:0/", "//o.example\\@r.example/", "javascript:x",
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(arena) struct arena a = {0};
		const char *url = NULL;
		struct err err = {0};

		CHECK(url_resolve("https://r.example/v2/", rows[i], &a, &url, &err) != 0);
		CHECK_INT(err.code, ERR_FORMAT);
		CHECK(strstr(err.msg, "hush") == NULL);
	}
}

static void origins(void)
{
	static const struct {
		const char *a, *b;
		bool same;
	} rows[] = {
		{"https://r.example/x", "https://R.example:443/y", true},
		{"https://r.example/", "http://r.example/", false},
		{"https://r.example/", "https://r.example:444/", false},
		{"https://r.example/", "https://r.example.evil/", false},
		{"https://[fe80::1%25eth0]/", "https://[fe80::1%25eth1]/", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(arena) struct arena a = {0};
		struct url x, y;
		struct err err = {0};

		CHECK_OK(url_parse(rows[i].a, &a, &x, &err), &err);
		CHECK_OK(url_parse(rows[i].b, &a, &y, &err), &err);
		CHECK_INT(url_same_origin(&x, &y), rows[i].same);
	}
}

static void private_addresses(void)
{
	static const char *const yes[] = {"127.0.0.1", "10.1.2.3", "172.16.0.1", "172.31.9.9", "192.168.1.1",
	                                  "169.254.169.254", "0.0.0.0", "[::1]", "[fe80::1]", "[fd00::1]",
	                                  "[::ffff:127.0.0.1]",
	                                  "[fe80::1%25eth0]"};
	static const char *const no[] = {"8.8.8.8", "172.32.0.1", "r.example", "10.example", "[2001:db8::1]",
	                                 "", "[", "[]", "[zz]"};

	for (size_t i = 0; i < ARRAY_LEN(yes); i++)
		CHECK(url_host_is_private(yes[i]));
	for (size_t i = 0; i < ARRAY_LEN(no); i++)
		CHECK(!url_host_is_private(no[i]));
}

/* Every spelling of an address is that address. */
static void spellings_of_addresses(void)
{
	static const struct {
		const char *host;
		enum reach reach;
	} rows[] = {
		{"localhost", REACH_LOOPBACK}, {"LOCALHOST.", REACH_LOOPBACK}, {"a.localhost", REACH_LOOPBACK},
		{"localhost.example", REACH_PUBLIC}, {"notlocalhost", REACH_PUBLIC}, {".localhost", REACH_PUBLIC},
		{"127.0.0.1.", REACH_LOOPBACK}, {"127.1", REACH_LOOPBACK}, {"0x7f000001", REACH_LOOPBACK},
		{"2130706433", REACH_LOOPBACK}, {"017700000001", REACH_LOOPBACK}, {"127.255.255.254", REACH_LOOPBACK},
		{"128.0.0.1", REACH_PUBLIC}, {"[::1]", REACH_LOOPBACK}, {"::1", REACH_LOOPBACK},
		{"[0:0:0:0:0:0:0:1]", REACH_LOOPBACK}, {"[::ffff:7f00:1]", REACH_LOOPBACK},
		{"[::127.0.0.1]", REACH_LOOPBACK}, {"[::2]", REACH_PRIVATE}, {"[::]", REACH_PRIVATE},
		{"169.254.169.254", REACH_LINK_LOCAL}, {"0xa9fea9fe", REACH_LINK_LOCAL}, {"2852039166", REACH_LINK_LOCAL},
		{"0251.0376.0251.0376", REACH_LINK_LOCAL}, {"169.254.43518", REACH_LINK_LOCAL},
		{"[::ffff:169.254.169.254]", REACH_LINK_LOCAL}, {"[::ffff:0:169.254.169.254]", REACH_LINK_LOCAL},
		{"[64:ff9b::a9fe:a9fe]", REACH_LINK_LOCAL}, {"[2002:a9fe:a9fe::1]", REACH_LINK_LOCAL},
		{"[2001:0:1:2:3:4:5601:5601]", REACH_LINK_LOCAL}, {"[fe80::1%25eth0]", REACH_LINK_LOCAL},
		{"[febf::1]", REACH_LINK_LOCAL}, {"[fec0::1]", REACH_PRIVATE}, {"[fd00:ec2::254]", REACH_LINK_LOCAL},
		{"[fd00:ec3::254]", REACH_PRIVATE}, {"100.100.100.200", REACH_LINK_LOCAL}, {"100.64.0.1", REACH_PRIVATE},
		{"[64:ff9b:1::1]", REACH_PRIVATE}, {"[64:ff9b::808:808]", REACH_PUBLIC}, {"[2002:808:808::1]", REACH_PUBLIC},
		{"[2001:0:1:2:3:4:f7f7:f7f7]", REACH_PUBLIC}, {"[::ffff:8.8.8.8]", REACH_PUBLIC}, {"[2600::1]", REACH_PUBLIC},
		{"224.0.0.1", REACH_PRIVATE}, {"255.255.255.255", REACH_PRIVATE}, {"[ff02::1]", REACH_PRIVATE},
		{"0", REACH_PRIVATE}, {"8.8.8.8", REACH_PUBLIC}, {"r.example.", REACH_PUBLIC}, {".", REACH_PUBLIC},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CHECK_INT(reach_of_host(rows[i].host), rows[i].reach);
		if (!test_state.ok) {
			printf("# %s\n", rows[i].host);
			return;
		}
	}
}

/* Where plain http may stand in for TLS: what certainly does not leave the machine. */
static void loopback_is_strict(void)
{
	static const char *const yes[] = {"localhost", "127.0.0.1", "127.9.9.9", "[::1]", "::1"};
	static const char *const no[] = {"a.localhost", "128.0.0.1", "[2002:7f00:1::]", "[64:ff9b::7f00:1]", "0.0.0.0",
	                                 "127.example", "localhost.example", ""};

	for (size_t i = 0; i < ARRAY_LEN(yes); i++)
		CHECK(reach_is_loopback(yes[i]));
	for (size_t i = 0; i < ARRAY_LEN(no); i++)
		CHECK(!reach_is_loopback(no[i]));
}

/* What names a private address in a way of its own is private once it is parsed. */
static void disguised_addresses(void)
{
	static const char *const rows[] = {"http://127.1/", "http://2130706433/", "http://0x7f.0.0.1/",
	                                   "http://0177.0.0.1/", "http://%31%32%37.0.0.1/", "http://[fe80::1%25eth0]/"};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(arena) struct arena a = {0};
		struct url u;
		struct err err = {0};

		CHECK_OK(url_parse(rows[i], &a, &u, &err), &err);
		CHECK(url_host_is_private(u.host));
	}
}

static void encodes(void)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(0);

	url_encode(&sb, "repository:a/b:pull,push ~-._\xc3\xa9&=");
	CHECK_STR(strbuf_str(&sb), "repository%3Aa%2Fb%3Apull%2Cpush%20~-._%C3%A9%26%3D");
}

int main(void)
{
	TEST("url: scheme, host, port and target", parses);
	TEST("url: what is no http URL is refused without showing secrets", refuses);
	TEST("url: locations are resolved against the request", resolves);
	TEST("url: a location that is no http URL is refused without showing secrets", refuses_locations);
	TEST("url: an origin is scheme, host and port", origins);
	TEST("url: literal private addresses are told", private_addresses);
	TEST("url: an address is known in all its spellings", spellings_of_addresses);
	TEST("url: only what certainly stays on the machine is loopback", loopback_is_strict);
	TEST("url: private addresses in disguise are recognised", disguised_addresses);
	TEST("url: everything but unreserved characters is encoded", encodes);
	return test_done();
}
