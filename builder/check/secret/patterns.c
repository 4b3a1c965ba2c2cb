/*
 * The forms are those that the services document, or that their own scanners' partners list; a
 * prefix alone proves nothing, so that lengths and alphabets are checked and dummies let pass.
 */
#include "builder/check/secret/patterns.h"

#include <string.h>

#include "base/attr.h"
#include "builder/check/secret/values.h"

enum { DUMMY_LOOK = 64 };

static bool judge_token(const struct secret_window *w, const unsigned char *p,
                        const struct secret_pattern *row)
{
	const unsigned char *body = p + row->anchor_len;
	size_t n;

	if (!window_word_begins(w, p))
		return false;
	n = window_run(w, body, row->classes, row->max != 0 ? row->max : row->min);
	if (n < row->min || (row->max != 0 && n > row->max))
		return false;
	return !secret_is_dummy((const char *)body, n < DUMMY_LOOK ? n : DUMMY_LOOK);
}

/* OpenAI's keys hold this text, "OpenAI" in base64, once, whatever stands around it. */
static bool judge_openai(const struct secret_window *w, const unsigned char *p,
                         const struct secret_pattern *row)
{
	const unsigned char *q = p;

	while (q > w->start && p - q < 160 && secret_in_class(q[-1], CLASS_BASE64URL))
		if (*--q == (unsigned char)row->anchor[0] && q < p &&
		    window_starts(w, q, row->anchor))
			return false;
	return window_starts(w, q, "sk-") && p - q >= 20 &&
	       window_run(w, p + row->anchor_len, CLASS_BASE64URL, 20) >= 20;
}

/* SG., 22 characters, a dot, 43 more. */
static bool judge_sendgrid(const struct secret_window *w, const unsigned char *p,
                           const struct secret_pattern *row)
{
	const unsigned char *q = p + row->anchor_len;

	return window_word_begins(w, p) && window_run(w, q, CLASS_BASE64URL, 22) == 22 &&
	       q + 22 < w->end && q[22] == '.' && window_run(w, q + 23, CLASS_BASE64URL, 43) == 43;
}

/* AccountKey= (storage: 64 bytes) and SharedAccessKey= (Event Hubs: 32 bytes) before base64. */
static bool judge_azure(const struct secret_window *w, const unsigned char *p,
                        const struct secret_pattern *row)
{
	/* The key of the storage emulator, the same for everybody. */
	static const char emulator[] = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50u";
	const unsigned char *q = p + row->anchor_len;
	size_t n = window_run(w, q, CLASS_ALNUM | CLASS_PLUS_SLASH, row->max);

	return n == row->max && window_starts(w, q + n, "=") && !window_starts(w, q, emulator) &&
	       !secret_is_dummy((const char *)q, n);
}

/* 14 characters, ".atlasv1.", 60 and more. */
static bool judge_terraform(const struct secret_window *w, const unsigned char *p,
                            const struct secret_pattern *row)
{
	return window_run(w, p, CLASS_ALNUM, 14) == 14 &&
	       window_run(w, p + 14 + row->anchor_len, CLASS_BASE64URL, 60) >= 60;
}

/* WireGuard: PrivateKey = 32 bytes in base64, the only value of that length and end. */
static bool judge_wireguard(const struct secret_window *w, const unsigned char *p,
                            const struct secret_pattern *row)
{
	const unsigned char *q = window_skip_assignment(w, p + row->anchor_len);

	return window_word_begins(w, p) && q > p + row->anchor_len &&
	       window_run(w, q, CLASS_ALNUM | CLASS_PLUS_SLASH, 43) == 43 &&
	       window_starts(w, q + 43, "=") && !window_starts(w, q + 44, "=") &&
	       !secret_is_dummy((const char *)q, 43);
}

/* Three parts in base64 (RFC 7519), the header first; the one of every tutorial is no secret. */
static bool judge_jwt(const struct secret_window *w, const unsigned char *p,
                      const struct secret_pattern *row)
{
	const unsigned char *claims, *q = p;

	(void)row;
	if (!window_word_begins(w, p))
		return false;
	q += window_run(w, q, CLASS_BASE64URL, 400);
	if (!window_starts(w, q, ".eyJ"))
		return false;
	claims = q + 1;
	q = claims + window_run(w, claims, CLASS_BASE64URL, 900);
	/* "sub":"1234567890", and the same inside longer claims. */
	if (memmem(claims, (size_t)(q - claims), "xMjM0NTY3ODkw", 13) != NULL || q - claims < 16)
		return false;
	return q < w->end && *q == '.' && window_run(w, q + 1, CLASS_BASE64URL, 30) >= 30;
}

/* The object identifier of a bag with a locked key (RFC 7292, 4.2.2); counts in PKCS#12 alone. */
static bool judge_shrouded_bag(const struct secret_window *w, const unsigned char *p,
                               const struct secret_pattern *row)
{
	static const unsigned char oid[] = {0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d,
	                                    0x01, 0x0c, 0x0a, 0x01, 0x02};

	(void)row;
	return (size_t)(w->end - p) >= sizeof(oid) && memcmp(p, oid, sizeof(oid)) == 0;
}

#define TOKEN(prefix, kind_, classes_, min_, max_)                                                 \
	{                                                                                          \
		.anchor = (prefix), .anchor_len = sizeof(prefix) - 1, .kind = SECRET_##kind_,      \
		.judge = judge_token, .classes = (classes_), .min = (min_), .max = (max_)          \
	}
#define FORM(anchor_, back_, kind_, ...)                                                           \
	{                                                                                          \
		.anchor = (anchor_), .anchor_len = sizeof(anchor_) - 1, .back = (back_),           \
		.kind = SECRET_##kind_, .judge = __VA_ARGS__                                       \
	}

const struct secret_pattern secret_patterns[] = {
	FORM("-BEGIN ", 4, PRIVATE_KEY, secret_judge_pem),
	FORM("-BEGIN ", 4, ENCRYPTED_KEY, secret_judge_pem),
	FORM("LS0tLS1CRUdJTi", 0, PRIVATE_KEY, secret_judge_pem_base64),
	FORM("LS0tLS1CRUdJTi", 0, ENCRYPTED_KEY, secret_judge_pem_base64),
	FORM("B\0E\0G\0I\0N", 0, PRIVATE_KEY, secret_judge_pem_utf16),
	FORM("PuTTY-User-Key-File-", 0, PRIVATE_KEY, secret_judge_ppk),
	FORM("PuTTY-User-Key-File-", 0, ENCRYPTED_KEY, secret_judge_ppk),
	FORM("\x0c\x0a\x01\x02", 7, PKCS12, judge_shrouded_bag),
	TOKEN("AGE-SECRET-KEY-1", AGE, CLASS_UPPER | CLASS_DIGIT, 58, 58),
	FORM("PrivateKey", 0, WIREGUARD, judge_wireguard),

	FORM("AKIA", 0, AWS, secret_judge_aws_pair),
	FORM("ASIA", 0, AWS, secret_judge_aws_pair),
	FORM("t_access_key", 5, AWS, secret_judge_aws_assignment),
	FORM("T_ACCESS_KEY", 5, AWS, secret_judge_aws_assignment),
	FORM("tAccessKey", 5, AWS, secret_judge_aws_assignment),
	TOKEN("AIza", GOOGLE_API, CLASS_BASE64URL, 35, 35),
	TOKEN("GOCSPX-", GOOGLE, CLASS_BASE64URL, 28, 28),
	TOKEN("ya29.", GOOGLE, CLASS_BASE64URL | CLASS_DOT, 60, 0),
	TOKEN("1//0", GOOGLE, CLASS_BASE64URL, 60, 0),
	FORM("AccountKey=", 0, AZURE, judge_azure, .max = 86),
	FORM("SharedAccessKey=", 0, AZURE, judge_azure, .max = 43),
	TOKEN("dop_v1_", DIGITALOCEAN, CLASS_HEX, 64, 64),
	TOKEN("doo_v1_", DIGITALOCEAN, CLASS_HEX, 64, 64),
	TOKEN("dor_v1_", DIGITALOCEAN, CLASS_HEX, 64, 64),
	TOKEN("dapi", DATABRICKS, CLASS_HEX, 32, 32),

	TOKEN("hvs.", VAULT, CLASS_BASE64URL, 24, 0),
	TOKEN("hvb.", VAULT, CLASS_BASE64URL, 24, 0),
	TOKEN("hvr.", VAULT, CLASS_BASE64URL, 24, 0),
	FORM(".atlasv1.", 14, TERRAFORM, judge_terraform),
	TOKEN("pul-", PULUMI, CLASS_HEX, 40, 40),

	TOKEN("ghp_", GITHUB, CLASS_ALNUM, 36, 251),
	TOKEN("gho_", GITHUB, CLASS_ALNUM, 36, 251),
	TOKEN("ghu_", GITHUB, CLASS_ALNUM, 36, 251),
	TOKEN("ghs_", GITHUB, CLASS_ALNUM, 36, 251),
	TOKEN("ghr_", GITHUB, CLASS_ALNUM, 36, 251),
	TOKEN("github_pat_", GITHUB, CLASS_WORD, 82, 82),
	TOKEN("glpat-", GITLAB, CLASS_BASE64URL | CLASS_DOT, 20, 300),
	TOKEN("gldt-", GITLAB, CLASS_BASE64URL | CLASS_DOT, 20, 300),
	TOKEN("glrt-", GITLAB, CLASS_BASE64URL | CLASS_DOT, 20, 300),
	TOKEN("glcbt-", GITLAB, CLASS_BASE64URL | CLASS_DOT, 20, 300),
	TOKEN("glptt-", GITLAB, CLASS_BASE64URL | CLASS_DOT, 20, 300),
	TOKEN("glft-", GITLAB, CLASS_BASE64URL | CLASS_DOT, 20, 300),
	TOKEN("glsoat-", GITLAB, CLASS_BASE64URL | CLASS_DOT, 20, 300),
	TOKEN("glagent-", GITLAB, CLASS_BASE64URL | CLASS_DOT, 20, 300),
	TOKEN("GR1348941", GITLAB, CLASS_BASE64URL, 20, 20),
	TOKEN("ATATT3xFfGF0", ATLASSIAN, CLASS_BASE64URL | CLASS_EQUALS, 100, 0),
	TOKEN("ATCTT3xFfGN0", ATLASSIAN, CLASS_BASE64URL | CLASS_EQUALS, 100, 0),

	TOKEN("xoxb-", SLACK, CLASS_ALNUM | CLASS_DASH, 40, 250),
	TOKEN("xoxp-", SLACK, CLASS_ALNUM | CLASS_DASH, 40, 250),
	TOKEN("xoxa-", SLACK, CLASS_ALNUM | CLASS_DASH, 40, 250),
	TOKEN("xoxr-", SLACK, CLASS_ALNUM | CLASS_DASH, 40, 250),
	TOKEN("xoxs-", SLACK, CLASS_ALNUM | CLASS_DASH, 40, 250),
	TOKEN("xapp-", SLACK, CLASS_ALNUM | CLASS_DASH, 60, 250),
	TOKEN("hooks.slack.com/services/T", SLACK_HOOK, CLASS_ALNUM | CLASS_PLUS_SLASH, 40, 60),
	TOKEN("sk_live_", STRIPE, CLASS_ALNUM, 20, 250),
	TOKEN("rk_live_", STRIPE, CLASS_ALNUM, 20, 250),
	TOKEN("whsec_", STRIPE, CLASS_BASE64, 32, 100),
	TOKEN("shpat_", SHOPIFY, CLASS_HEX, 32, 32),
	TOKEN("shpca_", SHOPIFY, CLASS_HEX, 32, 32),
	TOKEN("shppa_", SHOPIFY, CLASS_HEX, 32, 32),
	TOKEN("shpss_", SHOPIFY, CLASS_HEX, 32, 32),
	FORM("SG.", 0, SENDGRID, judge_sendgrid),

	TOKEN("hf_", HUGGING_FACE, CLASS_ALNUM, 34, 34),
	TOKEN("api_org_", HUGGING_FACE, CLASS_ALNUM, 34, 34),
	FORM("T3BlbkFJ", 0, OPENAI, judge_openai),
	TOKEN("sk-ant-", ANTHROPIC, CLASS_BASE64URL, 60, 0),
	TOKEN("gsk_", INFERENCE, CLASS_ALNUM, 52, 52),
	TOKEN("xai-", INFERENCE, CLASS_ALNUM, 80, 80),
	TOKEN("pplx-", INFERENCE, CLASS_ALNUM, 48, 56),
	TOKEN("r8_", INFERENCE, CLASS_ALNUM, 37, 37),
	TOKEN("nvapi-", NVIDIA, CLASS_BASE64URL, 60, 80),

	TOKEN("npm_", NPM, CLASS_ALNUM, 36, 36),
	TOKEN("pypi-AgEIcHlwaS5vcmc", PYPI, CLASS_BASE64URL, 50, 0),
	TOKEN("pypi-AgENdGVzdC5weXBpLm9yZ", PYPI, CLASS_BASE64URL, 50, 0),
	TOKEN("rubygems_", RUBYGEMS, CLASS_HEX, 48, 48),
	TOKEN("dckr_pat_", DOCKER_HUB, CLASS_BASE64URL, 27, 27),
	TOKEN("dckr_oat_", DOCKER_HUB, CLASS_BASE64URL, 27, 40),
	TOKEN("AKCp", ARTIFACTORY, CLASS_ALNUM, 69, 69),
	TOKEN("cmVmdGtu", ARTIFACTORY, CLASS_ALNUM, 56, 56),

	TOKEN("glsa_", GRAFANA, CLASS_WORD, 41, 41),
	TOKEN("glc_eyJ", GRAFANA, CLASS_BASE64, 40, 0),
	TOKEN("NRAK-", NEW_RELIC, CLASS_UPPER | CLASS_DIGIT, 27, 27),
	TOKEN("sntrys_", SENTRY, CLASS_BASE64 | CLASS_UNDERSCORE, 80, 0),
	TOKEN("sntryu_", SENTRY, CLASS_HEX, 64, 64),
	TOKEN("PMAK-", WORKPLACE, CLASS_HEX | CLASS_DASH, 59, 59),
	TOKEN("lin_api_", WORKPLACE, CLASS_ALNUM, 40, 40),
	TOKEN("figd_", WORKPLACE, CLASS_BASE64URL, 40, 50),
	TOKEN("pscale_tkn_", WORKPLACE, CLASS_BASE64URL, 32, 64),
	TOKEN("sbp_", WORKPLACE, CLASS_HEX, 40, 40),
	TOKEN("dp.pt.", WORKPLACE, CLASS_ALNUM, 40, 44),
	TOKEN("tskey-", TAILSCALE, CLASS_ALNUM | CLASS_DASH, 30, 80),

	FORM("eyJhbGci", 0, JWT, judge_jwt),
	FORM("eyJ0eXAi", 0, JWT, judge_jwt),
	FORM("eyJraWQi", 0, JWT, judge_jwt),
};
const size_t secret_pattern_count = ARRAY_LEN(secret_patterns);
