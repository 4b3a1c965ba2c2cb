/*
 * Secrets and their near misses. The secrets are made up; they are written in pieces, so that no
 * scanner takes this file for a leak.
 */
#include "tests/harness.h"

#include <zlib.h>

#include "base/attr.h"
#include "base/mem.h"
#include "builder/check/secret/patterns.h"
#include "builder/check/secret/search.h"
#include "builder/check/secret/values.h"

#define PEM_BODY "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n"
#define A36      "q7Yx1Lw9Zr3Tn5Vb8Mc2Kd6Fg0Hj4PsAeRuI"
#define AWS40    "wJalrXUtnFEMIaK7MDENGabPxRfiCYzzzzzKEYaa"
#define HEX32    "3f9a1c7e5b2d8046af13e9c07d5b2864"
#define A43      "cGFyYWxsZWw5OHdlMzRyN3Rmc2RmZ2g0NXM2ZGY3Z0c"
#define BEGIN    "-----BEGIN "

static const struct sample {
	const char *path, *text;
	enum secret_kind kind; /* SECRET_KINDS = nothing */
} samples[] = {
	/* AWS */
	{"a",
         "AKIA"
         "ABCDEFGHIJKLMNOP:" AWS40,
         SECRET_AWS},
	{"a",
         "ASIA"
         "ABCDEFGHIJKLMNOP " AWS40,
         SECRET_AWS},
	{"a", "aws_secret_access_key = " AWS40 "\n", SECRET_AWS},
	{"a", "{\"SecretAccessKey\": \"" AWS40 "\"}", SECRET_AWS},
	{"a", "AWS_SECRET_ACCESS_KEY=" AWS40, SECRET_AWS},
	{"a",
         "AKIA"
         "ABCDEFGHIJKLMNOP alone",
         SECRET_KINDS},
	{"a",
         "AKIA"
         "IOSFODNN7EXAMPLE wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
         SECRET_KINDS},
	{"a",
         "AKIA"
         "ABCDEFGHIJKLMNOP da39a3ee5e6b4b0d3255bfef95601890afd80709",
         SECRET_KINDS},
	{"a", "aws_secret_access_key = <your key>", SECRET_KINDS},
	/* PEM */
	{"a", BEGIN "PRIVATE KEY-----\n" PEM_BODY, SECRET_PRIVATE_KEY},
	{"a",
         BEGIN "RSA PRIVATE KEY-----\r\nProc-Type: 4,ENCRYPTED\r\nDEK-Info: "
               "AES-128-CBC,00\r\n\r\n" PEM_BODY,
         SECRET_ENCRYPTED_KEY},
	{"a", BEGIN "ENCRYPTED PRIVATE KEY-----\n" PEM_BODY, SECRET_ENCRYPTED_KEY},
	{"a",
         "{\"k\":\"" BEGIN
         "PRIVATE KEY-----\\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\\n",
         SECRET_PRIVATE_KEY},
	{"a", BEGIN "PRIVATE KEY----- MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7 ",
         SECRET_PRIVATE_KEY},
	{"a", BEGIN "OPENSSH PRIVATE KEY-----\n" PEM_BODY, SECRET_PRIVATE_KEY},
	{"a",
         BEGIN "OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAAB\n",
         SECRET_PRIVATE_KEY},
	{"a",
         BEGIN "OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAACmFlczI1Ni1jdHIAAAAGYmNyeXB0\n",
         SECRET_ENCRYPTED_KEY},
	{"a", BEGIN "PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n" PEM_BODY, SECRET_PRIVATE_KEY},
	{"a", BEGIN "PRIVATE KEY-----", SECRET_KINDS},
	{"a", BEGIN "PRIVATE KEY-----\n", SECRET_KINDS},
	{"a", BEGIN "PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----\n", SECRET_KINDS},
	{"a", BEGIN "CERTIFICATE-----\n" PEM_BODY, SECRET_KINDS},
	{"a", BEGIN "PUBLIC KEY-----\n" PEM_BODY, SECRET_KINDS},
	{"a",
         "client-key-data: "
         "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1JSUV2UUlCQURBTkJna3Foa2lHOXcwQkFRRUZBQVNDQktjd2dnU"
         "2pBZ0VBQW9JQkFRQzdWSlRVdDlVczhjS2oK\n",
         SECRET_PRIVATE_KEY},
	{"a",
         "certificate-authority-data: "
         "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUV2UUlCQURBTkJna3Foa2lHOXcwQkFRRUZBQVNDQktjd2dnU"
         "2pBZ0VBQW9JQkFRQzdW\n",
         SECRET_KINDS},
	{"a", "PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\nComment: x\n", SECRET_PRIVATE_KEY},
	{"a", "PuTTY-User-Key-File-3: ssh-ed25519\r\nEncryption: aes256-cbc\r\n",
         SECRET_ENCRYPTED_KEY},
	{"a", "PuTTY-User-Key-File-2: ssh-rsa is what the file begins with", SECRET_KINDS},
	{"wg0.conf", "[Interface]\nPrivateKey = qFmrR0t3yPz7uW1xYvBn5cDkLhGsJ2eA8iO4ZpT6QXk=\n",
         SECRET_WIREGUARD},
	{"wg0.conf", "[Peer]\nPublicKey = qFmrR0t3yPz7uW1xYvBn5cDkLhGsJ2eA8iO4ZpT6QXk=\n",
         SECRET_KINDS},
	{"a",
         "AGE-SECRET-KEY-1"
         "QYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGPWM3N7XYRLKC9E8UF5AVJ2THD4S",
         SECRET_AGE},
	/* tokens */
	{"a",
         "gh"
         "p_" A36,
         SECRET_GITHUB},
	{"a",
         "gh"
         "p_short",
         SECRET_KINDS},
	{"a",
         "xgh"
         "p_" A36,
         SECRET_KINDS},
	{"a",
         "gh"
         "p_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
         SECRET_KINDS},
	{"a",
         "gh"
         "p_abcdefghijklmnopqrstuvwxyz0123456789",
         SECRET_KINDS},
	{"a",
         "gl"
         "pat-Zr3Tn5Vb8Mc2Kd6Fg0Hj",
         SECRET_GITLAB},
	{"a",
         "gl"
         "pat-<token>",
         SECRET_KINDS},
	{"a",
         "xo"
         "xb-2153708493-4815162342-Zr3Tn5Vb8Mc2Kd6Fg0Hj4PsA",
         SECRET_SLACK},
	{"a",
         "xo"
         "xb-your-token",
         SECRET_KINDS},
	{"a",
         "https://hooks.slack"
         ".com/services/T0A1B2C3D/B0E1F2G3H/Zr3Tn5Vb8Mc2Kd6Fg0Hj4PsA",
         SECRET_SLACK_HOOK},
	{"a",
         "https://hooks.slack"
         ".com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
         SECRET_KINDS},
	{"a",
         "sk_"
         "live_q7Yx1Lw9Zr3Tn5Vb8Mc2Kd6F",
         SECRET_STRIPE},
	{"a",
         "sk_"
         "test_q7Yx1Lw9Zr3Tn5Vb8Mc2Kd6F",
         SECRET_KINDS},
	{"a",
         "AI"
         "zaSyq7Yx1Lw9Zr3Tn5Vb8Mc2Kd6Fg0Hj4PsA_",
         SECRET_GOOGLE_API},
	{"a",
         "GOC"
         "SPX-q7Yx1Lw9Zr3Tn5Vb8Mc2Kd6Fg0Hj",
         SECRET_GOOGLE},
	{"a", "AccountKey=" A43 A43 "==", SECRET_AZURE},
	{"a",
         "AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/"
         "KBHBeksoGMGw==",
         SECRET_KINDS},
	{"a",
         "hv"
         "s.CAESIq7Yx1Lw9Zr3Tn5Vb8Mc2",
         SECRET_VAULT},
	{"a",
         "hv"
         "s.short",
         SECRET_KINDS},
	{"a",
         "hf"
         "_qYxLwZrTnVbMcKdFgHjPsAeRuIoWtBqYxL",
         SECRET_HUGGING_FACE},
	{"a",
         " hf"
         "_qYxLwZrTnVbMcKdFgHjPsAeRuIoWtBqYxL",
         SECRET_HUGGING_FACE},
	{"a",
         "hf"
         "_hub_download_and_more_of_that_kind_x",
         SECRET_KINDS},
	{"a",
         "s"
         "k-proj-q7Yx1Lw9Zr3Tn5Vb8Mc2T3BlbkFJKd6Fg0Hj4PsAeRuIoWtB",
         SECRET_OPENAI},
	{"a", "T3BlbkFJKd6Fg0Hj4PsAeRuIoWtB", SECRET_KINDS},
	{"a",
         "s"
         "k-ant-api03-q7Yx1Lw9Zr3Tn5Vb8Mc2Kd6Fg0Hj4PsAeRuIoWtBq7Yx1Lw9Zr3Tn5Vb8Mc2Kd6F",
         SECRET_ANTHROPIC},
	{"a",
         "np"
         "m_" A36,
         SECRET_NPM},
	{"a",
         "np"
         "m_config_registry_and_many_more_words_x",
         SECRET_KINDS},
	{"a",
         "py"
         "pi-AgEIcHlwaS5vcmcQxz5q7Yx1Lw9Zr3Tn5Vb8Mc2Kd6Fg0Hj4PsAeRuIoWtBq7Yx1Lw9",
         SECRET_PYPI},
	{"a",
         "dck"
         "r_pat_q7Yx1Lw9Zr3Tn5Vb8Mc2Kd6Fg0H",
         SECRET_DOCKER_HUB},
	{"a",
         "da"
         "pi" HEX32,
         SECRET_DATABRICKS},
	{"a",
         "da"
         "pi" HEX32 "00",
         SECRET_KINDS},
	{"a",
         "S"
         "G.q7Yx1Lw9Zr3Tn5Vb8Mc2Kd." A43,
         SECRET_SENDGRID},
	{"a",
         "q7Yx1Lw9Zr3Tn5"
         ".atl"
         "asv1." A43 A43,
         SECRET_TERRAFORM},
	{"a",
         "nva"
         "pi-" A43 A36,
         SECRET_NVIDIA},
	{"a",
         "eyJhbGci"
         "OiJSUzI1NiJ9.eyJpc3MiOiJrdWJlcm5ldGVzIn0xx.q7Yx1Lw9Zr3Tn5Vb8Mc2Kd6Fg0Hj4PsA",
         SECRET_JWT},
	{"a",
         "eyJhbGci"
         "OiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.q7Yx1Lw9Zr3Tn5Vb8Mc2Kd6Fg0Hj4PsA",
         SECRET_KINDS},
	/* files by name */
	{"root/.netrc", "machine h login u password p\n", SECRET_NETRC},
	{"root/.netrc", "machine h login u\n", SECRET_KINDS},
	{"root/netrc.txt", "machine h login u password p\n", SECRET_KINDS},
	{"etc/apt/auth.conf.d/x.conf", "machine h login u password hunter2\n", SECRET_NETRC},
	{"root/.pgpass", "h:5432:db:user:word\n", SECRET_PGPASS},
	{"root/.pgpass", "# h:5432:db:user:word\n", SECRET_KINDS},
	{"root/.docker/config.json", "{\"auths\":{\"r\":{\"auth\":\"dTpw\"}}}", SECRET_DOCKER},
	{"root/.docker/config.json", "{\"auths\":{\"r\":{}},\"credsStore\":\"x\"}", SECRET_KINDS},
	{"root/.docker/config.json", "{\"auths\":{\"r\":{\"identitytoken\":\"t\"}}}",
         SECRET_DOCKER},
	{"app/.npmrc", "//registry.example.com/:_authToken=7f1c9e42-5b3d\n", SECRET_NPMRC},
	{"app/.npmrc", "//registry.example.com/:_authToken=${NPM_TOKEN}\n", SECRET_KINDS},
	{"app/.npmrc", "registry=https://registry.example.com/\n", SECRET_KINDS},
	{"root/.pypirc", "[pypi]\nusername = u\npassword = hunter2\n", SECRET_PYPIRC},
	{"root/.pypirc", "[pypi]\nusername = u\n", SECRET_KINDS},
	{"root/.git-credentials", "https://u:hunter2@example.com\n", SECRET_URL_PASSWORD},
	{"root/.git-credentials", "https://example.com\n", SECRET_KINDS},
	{"root/.kube/config", "users:\n- user:\n    token: q7Yx1Lw9\n", SECRET_KUBECONFIG},
	{"root/.kube/config", "users:\n- user:\n    tokenFile: /x/token\n", SECRET_KINDS},
	{"root/.m2/settings.xml", "<server><password>hunter2</password></server>", SECRET_PACKAGES},
	{"root/.m2/settings.xml", "<server><password>${env.P}</password></server>", SECRET_KINDS},
	{"root/.cargo/credentials.toml", "[registry]\ntoken = \"hunter2\"\n", SECRET_PACKAGES},
	{"root/.my.cnf", "[client]\npassword=hunter2\n", SECRET_DATABASE},
	{"root/.vault-token", "s.q7Yx1Lw9Zr3Tn5Vb8Mc2Kd6F", SECRET_VAULT},
	{"etc/shadow", "root:$y$j9T$q7Yx1Lw9$Zr3Tn5Vb8Mc2Kd6F:19000:0:99999:7:::\n",
         SECRET_PASSWORD_HASH},
	{"etc/shadow", "root:*:19000:0:99999:7:::\nx:!*:19000::::::\n", SECRET_KINDS},
	{"app/.env", "# x\nDB_PASSWORD=hunter2\n", SECRET_ENV_FILE},
	{"app/.env", "DB_PASSWORD=\nDB_HOST=db\n", SECRET_KINDS},
	{"app/.env.example", "DB_PASSWORD=hunter2\n", SECRET_KINDS},
};

static enum secret_kind scan(struct secret_scanner *s, const char *path, const void *bytes,
                             size_t len, size_t step)
{
	secret_begin(s, path);
	for (size_t i = 0; i < len; i += step)
		secret_feed(s, (const char *)bytes + i, len - i < step ? len - i : step);
	secret_end(s);
	for (int k = 0; k < SECRET_KINDS; k++)
		if (s->found[k])
			return (enum secret_kind)k;
	return SECRET_KINDS;
}

static void tells_secrets_from_look_alikes(void)
{
	struct secret_scanner s;

	secret_init(&s);
	for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
		const char *text = samples[i].text;
		const size_t len = strlen(text), steps[] = {len, 1, 7};

		for (size_t k = 0; k < ARRAY_LEN(steps); k++) {
			enum secret_kind kind = scan(&s, samples[i].path, text, len, steps[k]);

			if (kind != samples[i].kind) {
				test_fail(__FILE__, __LINE__, text);
				printf("# %s\n",
				       kind < SECRET_KINDS ? secret_text(kind) : "nothing");
			}
		}
	}
	secret_done(&s);
}

/* What was learnt of candidates that are none says nothing false of the next. */
static void sees_behind_many_that_are_none(void)
{
	static const char *const none[] = {"AKIA"
	                                   "2345678901234567 ",
	                                   "A: " BEGIN "PRIVATE KEY-----\n",
	                                   "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCg",
	                                   "eyJhbGci-",
	                                   "T3BlbkFJ",
	                                   " ghp_abcdefghijklmnopqrstuvwxyzABCDEFGHyour",
	                                   "PrivateKey = "};
	enum { TIMES = 300, BLANKS = 600 };
	struct secret_scanner s;

	secret_init(&s);
	for (size_t k = 0; k < ARRAY_LEN(none); k++)
		for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
			AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 20);

			for (size_t n = 0; n < TIMES; n++)
				strbuf_adds(&text, none[k]);
			strbuf_addf(&text, "!%*s%s", BLANKS, "\n", samples[i].text);
			if (strcmp(samples[i].path, "a") == 0 &&
			    scan(&s, "a", text.ptr, text.len, text.len) != samples[i].kind)
				test_fail(__FILE__, __LINE__, samples[i].text);
		}
	secret_done(&s);
}

/* Wherever it begins, of all anchors: groups of three bytes are looked up at every other place. */
static void sees_at_even_and_odd_places(void)
{
	struct secret_scanner s;
	char text[2048];

	secret_init(&s);
	for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
		if (strcmp(samples[i].path, "a") != 0)
			continue;
		for (size_t pad = 0; pad < 3; pad++) {
			size_t len = (size_t)snprintf(text, sizeof(text), "%.*s%s", (int)pad,
			                              "\n\n\n", samples[i].text);

			CHECK_INT(scan(&s, "a", text, len, len), samples[i].kind);
		}
	}
	secret_done(&s);
}

static void sees_across_chunks(void)
{
	enum { LEN = SECRET_CHUNK + 4096 };
	const char *text = "gh"
			   "p_" A36;
	AUTO_FREE char *buf = malloc(LEN);
	struct secret_scanner s;

	secret_init(&s);
	for (size_t at = SECRET_CHUNK - 1200; at < SECRET_CHUNK + 1200; at += 13) {
		memset(buf, ' ', LEN);
		memcpy(buf + at, text, strlen(text));
		CHECK_INT(scan(&s, "f", buf, LEN, LEN), SECRET_GITHUB);
		CHECK_INT(s.offset[SECRET_GITHUB], at);
	}
	secret_done(&s);
}

/* UTF-16 in either byte order, as editors on Windows save it. */
static void reads_utf16(void)
{
	const char *text = BEGIN "PRIVATE KEY-----\r\n" PEM_BODY;
	char wide[512] = {0};
	struct secret_scanner s;

	secret_init(&s);
	for (size_t order = 0; order < 2; order++) {
		memset(wide, 0, sizeof(wide));
		for (size_t i = 0; i < strlen(text); i++)
			wide[2 * i + order] = text[i];
		CHECK_INT(scan(&s, "k", wide, 2 * strlen(text), 512), SECRET_PRIVATE_KEY);
		wide[2 * 11 + order] = 'X'; /* XRIVATE */
		CHECK_INT(scan(&s, "k", wide, 2 * strlen(text), 512), SECRET_KINDS);
	}
	secret_done(&s);
}

/* ---- whole files ---- */

static const struct {
	const char *path;
	unsigned char head[40];
	size_t len;
	enum secret_kind kind;
} binaries[] = {
	/* PKCS#8, RSA; cut where the key begins, so the size is that of the head. */
	{"k.der",
         {0x30, 0x1e, 0x02, 0x01, 0x00, 0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86,
          0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00, 0x04, 0x0a,
          0,    0,    0,    0,    0,    0,    0,    0,    0,    0},
         32,
         SECRET_PRIVATE_KEY},
	/* One byte more than the sequence says. */
	{"k.der",
         {0x30, 0x1e, 0x02, 0x01, 0x00, 0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86,
          0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00, 0x04, 0x0a,
          0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0},
         33,
         SECRET_KINDS},
	/* SEC1 */
	{"k", {0x30, 0x25, 0x02, 0x01, 0x01, 0x04, 0x20, 1, 2, 3}, 39, SECRET_PRIVATE_KEY},
	/* A public key: SEQUENCE of SEQUENCE with an OID of no password-based scheme. */
	{"k",
         {0x30, 0x10, 0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01,
          0x05, 0, 3},
         18,
         SECRET_KINDS},
	/* PBES2 */
	{"k",
         {0x30, 0x10, 0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x05, 0x0d,
          0x30, 0, 4},
         18,
         SECRET_ENCRYPTED_KEY},
	{"k.jks",
         {0xfe, 0xed, 0xfe, 0xed, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1},
         20,
         SECRET_JAVA_KEYS},
	{"cacerts", {0xfe, 0xed, 0xfe, 0xed, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2}, 20, SECRET_KINDS},
	{"x.keytab", {0x05, 0x02, 0, 0, 0, 0x40}, 40, SECRET_KEYTAB},
	{"x.bin", {0x05, 0x02, 0, 0, 0, 0x40}, 40, SECRET_KINDS},
};

static void tells_binary_keys_from_look_alikes(void)
{
	struct secret_scanner s;

	secret_init(&s);
	for (size_t i = 0; i < ARRAY_LEN(binaries); i++)
		for (size_t step = 1; step <= binaries[i].len; step += 5)
			CHECK_INT(
				scan(&s, binaries[i].path, binaries[i].head, binaries[i].len, step),
				binaries[i].kind);
	secret_done(&s);
}

/* ---- archives ---- */

struct packed {
	unsigned char bytes[64 << 10];
	size_t len;
};

static void pack(struct packed *out, const void *bytes, size_t len, int window_bits)
{
	z_stream z = {.next_in = (unsigned char *)(uintptr_t)bytes,
	              .avail_in = (unsigned)len,
	              .next_out = out->bytes + out->len,
	              .avail_out = (unsigned)(sizeof(out->bytes) - out->len)};

	CHECK_INT(deflateInit2(&z, 9, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
	CHECK_INT(deflate(&z, Z_FINISH), Z_STREAM_END);
	out->len += z.total_out;
	(void)deflateEnd(&z);
}

static void put(struct packed *out, const void *bytes, size_t len)
{
	memcpy(out->bytes + out->len, bytes, len);
	out->len += len;
}

static void put_number(struct packed *out, size_t value, size_t n)
{
	for (; n > 0; n--, value >>= 8)
		out->bytes[out->len++] = (unsigned char)value;
}

/* A local header; the sizes may be left to a descriptor behind the content (flags 8). */
static void zip_member(struct packed *out, const char *name, const char *text, unsigned flags,
                       unsigned method)
{
	struct packed *content = mem_zalloc(sizeof(*content));

	if (method == Z_DEFLATED)
		pack(content, text, strlen(text), -15);
	else
		put(content, text, strlen(text));
	put(out, "PK\3\4\x14\0", 6);
	put_number(out, flags, 2);
	put_number(out, method, 2);
	put_number(out, 0, 8);
	put_number(out, (flags & 8) != 0 ? 0 : content->len, 4);
	put_number(out, (flags & 8) != 0 ? 0 : strlen(text), 4);
	put_number(out, strlen(name), 2);
	put_number(out, 0, 2);
	put(out, name, strlen(name));
	put(out, content->bytes, content->len);
	if ((flags & 8) != 0)
		put(out,
		    "PK\7\x8"
		    "abcdefghijkl",
		    16);
	free(content);
}

static void search(struct secret_search *s, const void *bytes, size_t len, size_t step)
{
	secret_search_begin(s, "a");
	for (size_t i = 0; i < len; i += step)
		secret_search_feed(s, (const char *)bytes + i, len - i < step ? len - i : step);
	secret_search_end(s);
}

static void looks_into_gzip(void)
{
	struct secret_search s;
	struct packed *p = mem_zalloc(sizeof(*p));

	secret_search_init(&s, 1 << 20);
	pack(p, "nothing here", 12, 31);
	pack(p,
	     "x gh"
	     "p_" A36,
	     42, 31);
	for (size_t step = 18; step <= p->len; step += 7) {
		search(&s, p->bytes, p->len, step);
		CHECK_INT(s.findings.n, 1);
		CHECK(s.findings.n == 1 && s.findings.at[0].kind == SECRET_GITHUB &&
		      s.findings.at[0].in_archive && s.findings.at[0].offset == 14);
	}
	CHECK_INT(s.n_unreadable + s.n_too_large, 0);
	/* Cut in the midst: said, and what was read counts. */
	search(&s, p->bytes, p->len - 9, 4096);
	CHECK_INT(s.n_unreadable, 1);
	secret_search_done(&s);
	free(p);
}

static void looks_into_zip(void)
{
	struct secret_search s;
	struct packed *p = mem_zalloc(sizeof(*p));

	secret_search_init(&s, 1 << 20);
	put(p, "#!/usr/bin/env python3\n", 23);
	zip_member(p, "a/empty", "", 0, 0);
	zip_member(p, "a/stored",
	           "gl"
	           "pat-Zr3Tn5Vb8Mc2Kd6Fg0Hj",
	           0, 0);
	zip_member(p, "a/.npmrc", "//r/:_authToken=hunter2\n", 8, Z_DEFLATED);
	zip_member(p, "a/last",
	           "hv"
	           "s.CAESIq7Yx1Lw9Zr3Tn5Vb8Mc2",
	           0, Z_DEFLATED);
	put(p, "PK\1\2", 4);
	put(p, "the central directory follows, which is of no interest here at all, at all", 74);
	for (size_t step = 64; step <= p->len; step += 11) {
		search(&s, p->bytes, p->len, step);
		CHECK_INT(s.findings.n, 3);
		if (s.findings.n != 3)
			continue;
		CHECK_STR(s.findings.at[0].inner, "a/stored");
		CHECK_STR(s.findings.at[1].inner, "a/.npmrc");
		CHECK_INT(s.findings.at[1].kind, SECRET_NPMRC);
		CHECK_STR(s.findings.at[2].inner, "a/last");
	}
	CHECK_INT(s.n_unreadable + s.n_too_large, 0);
	p->len = 0;
	zip_member(p, "locked", "x", 1, Z_DEFLATED);
	zip_member(p, "b",
	           "np"
	           "m_" A36,
	           0, Z_DEFLATED);
	search(&s, p->bytes, p->len, p->len);
	CHECK_INT(s.n_unreadable, 1);
	CHECK_INT(s.findings.n, 1);
	secret_search_done(&s);
	free(p);
}

/* Bounded by what was downloaded: 8 MiB and 32 bytes for each. */
static void stops_at_its_budget(void)
{
	enum { LEN = 40 << 20 };
	struct secret_search s;
	struct packed *p = mem_zalloc(sizeof(*p));
	AUTO_FREE char *zeros = calloc(1, LEN);

	pack(p, zeros, LEN, 31);
	secret_search_init(&s, 2 << 20);
	search(&s, p->bytes, p->len, p->len);
	CHECK_INT(s.n_too_large, 0);
	search(&s, p->bytes, p->len, p->len);
	CHECK_INT(s.n_too_large, 1);
	CHECK(s.budget >= 0);
	secret_search_done(&s);
	free(p);
}

/* Any bytes behind a good beginning: no crash, and an end. */
static void survives_damage(void)
{
	struct secret_search s;
	struct packed *p = mem_zalloc(sizeof(*p));
	unsigned seed = 1;

	secret_search_init(&s, 1 << 20);
	zip_member(p, "a", "some text that is long enough to be deflated, deflated, deflated", 8,
	           Z_DEFLATED);
	zip_member(p, "b", "some more", 0, 0);
	for (size_t i = 0; i < 20000; i++) {
		size_t at;
		unsigned char was;

		seed = seed * 1103515245u + 12345u;
		at = 4 + (seed >> 8) % (p->len - 4);
		was = p->bytes[at];
		p->bytes[at] = (unsigned char)(seed >> 16);
		search(&s, p->bytes, p->len, 50 + (seed >> 4) % 100);
		p->bytes[at] = was;
	}
	CHECK(s.budget >= 0);
	secret_search_done(&s);
	free(p);
}

/* ---- names and values ---- */

static const struct {
	const char *name, *value;
	bool leaks;
} assignments[] = {
	{"DB_PASSWORD", "hunter2", true},
	{"db.password", "hunter2", true},
	{"dbPassword", "hunter2", true},
	{"DB_PASS", "hunter2", true},
	{"API_TOKEN", "q7Yx1Lw9", true},
	{"API_TOKEN_PROD", "q7Yx1Lw9", true},
	{"CLIENT_SECRET", "q7Yx1Lw9", true},
	{"API_KEY", "q7Yx1Lw9", true},
	{"apiKey", "q7Yx1Lw9", true},
	{"SESSION_KEY", "q7Yx1Lw9Zr3Tn5Vb8Mc2", true},
	{"DB_PASSWORD", "", false},
	{"DB_PASSWORD", "${DB_PASSWORD}", false},
	{"DB_PASSWORD", "<password>", false},
	{"DB_PASSWORD", "changeme", false},
	{"DB_PASSWORD", "/run/secrets/db", false},
	{"DB_PASSWORD", "arn:aws:secretsmanager:eu-west-1:1:secret:x", false},
	{"DB_PASSWORD_FILE", "hunter2", false},
	{"TOKEN_URL", "https://example.com/token", false},
	{"AUTH_TOKEN", "https://example.com/token", false},
	{"ALLOW_EMPTY_PASSWORD", "yes", false},
	{"TOKENIZERS_PARALLELISM", "false", false},
	{"MAX_TOKENS", "4096", false},
	{"PWD", "/srv", false},
	{"PATH", "/usr/bin:/bin", false},
	{"AWS_ACCESS_KEY_ID",
         "AKIA"
         "ABCDEFGHIJKLMNOP",
         false},
	{"GPG_KEY", "7169605F62C751356D054A26A821E680E5FA6305", false},
	{"PUBLIC_KEY", "q7Yx1Lw9Zr3Tn5Vb8Mc2", false},
	{"CACHE_KEY", "v2-node-modules", false},
	{"KEY", "q7Yx1Lw9Zr3Tn5Vb8Mc2", false},
};

static void knows_names_that_promise_a_secret(void)
{
	for (size_t i = 0; i < ARRAY_LEN(assignments); i++) {
		const char *name = assignments[i].name, *value = assignments[i].value;

		if (secret_assignment_leaks(name, strlen(name), value, strlen(value)) !=
		    assignments[i].leaks) {
			test_fail(__FILE__, __LINE__, name);
			printf("# = %s\n", value);
		}
	}
}

static void knows_urls_with_passwords(void)
{
	static const struct {
		const char *text;
		bool has;
	} urls[] = {
		{"postgres://app:hunter2@db/x", true},
		{"see http://a/b and https://u:q7Yx1Lw9@c/", true},
		{"postgres://app@db/x", false},
		{"postgres://app:${PASSWORD}@db/x", false},
		{"http://host:8080/a@b", false},
		{"http://user:password@host/", false},
		{"http://user:hunter@2@host/", true},
		{"http://user:example@@@@@@@@@@@@host/", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(urls); i++)
		CHECK_INT(secret_has_url_password(urls[i].text, strlen(urls[i].text)), urls[i].has);
}

static void every_kind_has_a_text_and_a_row(void)
{
	CHECK(secret_pattern_count < 128);
	for (size_t i = 0; i < secret_pattern_count; i++)
		CHECK(secret_patterns[i].anchor_len >= 3 && secret_patterns[i].judge != NULL);
	for (int kind = 0; kind < SECRET_KINDS; kind++)
		CHECK(secret_text((enum secret_kind)kind)[0] != '\0');
}

int main(void)
{
	TEST("secret: secrets are told from look-alikes", tells_secrets_from_look_alikes);
	TEST("secret: they are seen at even and odd places", sees_at_even_and_odd_places);
	TEST("secret: they are seen behind many look-alikes", sees_behind_many_that_are_none);
	TEST("secret: chunk borders do not matter", sees_across_chunks);
	TEST("secret: a key in UTF-16 is read in both byte orders", reads_utf16);
	TEST("secret: keys in binary files are told from look-alikes",
	     tells_binary_keys_from_look_alikes);
	TEST("secret: gzip is looked into, all of its members", looks_into_gzip);
	TEST("secret: zip is looked into, one level deep", looks_into_zip);
	TEST("secret: unpacking stops at its budget", stops_at_its_budget);
	TEST("secret: damaged archives end", survives_damage);
	TEST("secret: names that promise a secret are known", knows_names_that_promise_a_secret);
	TEST("secret: URLs with passwords are known", knows_urls_with_passwords);
	TEST("secret: every kind has a text, every pattern an anchor",
	     every_kind_has_a_text_and_a_row);
	return test_done();
}
