#include "k8s/fleet/grammar.h"

#include <string.h>

#include "base/text.h"

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGIT "0123456789"
#define ALNUM LOWER UPPER DIGIT

static bool all_of(const char *text, const char *set)
{
	return text[strspn(text, set)] == '\0';
}

static bool lower_or_digit(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool letter_or_digit(char c)
{
	return lower_or_digit(c) || (c >= 'A' && c <= 'Z');
}

static bool dns(const char *text, const char *set, size_t max)
{
	size_t len = strlen(text);

	return len > 0 && len <= max && all_of(text, set) && lower_or_digit(text[0]) &&
	       lower_or_digit(text[len - 1]);
}

const char *check_dns_label(const char *text, const char **ret_hint)
{
	*ret_hint = "use lower-case letters, digits and '-', at most 63, starting and ending with "
		    "a letter or digit";
	return dns(text, LOWER DIGIT "-", 63) ? NULL : "is not a valid name";
}

const char *check_dns_subdomain(const char *text, const char **ret_hint)
{
	*ret_hint = "use lower-case letters, digits, '-' and '.', at most 253, starting and ending "
		    "with a letter or digit";
	return dns(text, LOWER DIGIT "-.", 253) && strstr(text, "..") == NULL
	               ? NULL
	               : "is not a valid name";
}

const char *check_cluster_name(const char *text, const char **ret_hint)
{
	size_t len = strlen(text);

	*ret_hint = "use letters, digits and '-', at most 100, starting with a letter or digit";
	return len > 0 && len <= 100 && all_of(text, ALNUM "-") && letter_or_digit(text[0])
	               ? NULL
	               : "is not the name of an EKS cluster";
}

/* name part of a label: at most 63, letters or digits at both ends. */
static bool label_part(const char *text)
{
	size_t len = strlen(text);

	return len > 0 && len <= 63 && all_of(text, ALNUM "-_.") && letter_or_digit(text[0]) &&
	       letter_or_digit(text[len - 1]);
}

const char *check_label_key(const char *text, const char **ret_hint)
{
	const char *slash = strchr(text, '/'), *ignored;
	char prefix[254];

	*ret_hint = "write NAME or DOMAIN/NAME; a name has at most 63 letters, digits, '-', '_' "
		    "and '.', a domain at most 253";
	if (slash != NULL) {
		size_t len = (size_t)(slash - text);

		if (len >= sizeof(prefix))
			return "is too long for a label's domain";
		memcpy(prefix, text, len);
		prefix[len] = '\0';
		if (check_dns_subdomain(prefix, &ignored) != NULL)
			return "is not the key of a label";
	}
	const char *name = slash != NULL ? slash + 1 : text;

	if (strlen(name) > 63)
		return "is too long for the key of a label";
	return label_part(name) ? NULL : "is not the key of a label";
}

const char *check_label_value(const char *text, const char **ret_hint)
{
	*ret_hint = "use at most 63 letters, digits, '-', '_' and '.', starting and ending with a "
		    "letter or digit";
	if (strlen(text) > 63)
		return "is too long for the value of a label";
	return text[0] == '\0' || label_part(text) ? NULL : "is not the value of a label";
}

const char *check_node_label_key(const char *text, const char **ret_hint)
{
	static const char *const taken[] = {"karpenter.sh/", "karpenter.k8s.aws/",
	                                    "kubernetes.io/hostname", "app.kubernetes.io/",
	                                    "slipway/"};
	const char *wrong = check_label_key(text, ret_hint);

	for (size_t i = 0; wrong == NULL && i < ARRAY_LEN(taken); i++)
		if (text_has_prefix(text, taken[i])) {
			*ret_hint = "karpenter.sh, karpenter.k8s.aws, kubernetes.io/hostname, "
				    "app.kubernetes.io and slipway are taken";
			return "may not be set on nodes";
		}
	return wrong;
}

const char *check_object_label_key(const char *text, const char **ret_hint)
{
	if (text_has_prefix(text, "app.kubernetes.io/") || text_has_prefix(text, "slipway/")) {
		*ret_hint = "slipway sets app.kubernetes.io and slipway labels itself";
		return "is taken";
	}
	return check_label_key(text, ret_hint);
}

/* What the API server's YAML reader takes, which JSON passes through as well (YAML 1.2.2, 5.1);
 * below a blank JSON escapes. */
static bool is_read(const char *c, size_t len)
{
	uint32_t code = text_code_point(c, len);

	return code < 0x7f || code == 0x85 || (code >= 0xa0 && code != 0xfffe && code != 0xffff);
}

static bool is_of_a_tag(const char *c, size_t len)
{
	return is_read(c, len) && !text_is_control(c, len);
}

static bool each(const char *text, bool (*fits)(const char *c, size_t len))
{
	for (size_t left = strlen(text), len; left > 0; text += len, left -= len) {
		len = text_utf8_length(text, left);
		if (len == 0 || !fits(text, len))
			return false;
	}
	return true;
}

const char *check_text(const char *text, const char **ret_hint)
{
	*ret_hint = "leave out DEL and the control characters from U+0080 on";
	return each(text, is_read) ? NULL : "holds a character that Kubernetes does not read";
}

const char *check_annotation_value(const char *text, const char **ret_hint)
{
	if (strlen(text) <= 65536)
		return check_text(text, ret_hint);
	*ret_hint = "all annotations of an object together have at most 256 KiB";
	return "is too long for an annotation";
}

const char *check_env_name(const char *text, const char **ret_hint)
{
	*ret_hint = "letters, digits and '_', not starting with a digit";
	return text[0] != '\0' && !(text[0] >= '0' && text[0] <= '9') && all_of(text, ALNUM "_")
	               ? NULL
	               : "is not the name of an environment variable";
}

/* "us-west-2", "us-gov-east-1": parts of letters, then a number. */
static size_t region_len(const char *text)
{
	size_t at = 0, parts = 0;

	for (;;) {
		size_t len = strspn(text + at, LOWER);

		if (len == 0)
			break;
		at += len;
		if (text[at] != '-')
			return 0;
		at++;
		parts++;
	}
	size_t digits = strspn(text + at, DIGIT);

	return parts >= 2 && parts <= 3 && digits == 1 ? at + digits : 0;
}

const char *check_region(const char *text, const char **ret_hint)
{
	size_t len = region_len(text);

	*ret_hint = "write it as in us-west-2";
	return len > 0 && text[len] == '\0' ? NULL : "is not an AWS region";
}

const char *check_zone(const char *text, const char **ret_hint)
{
	size_t len = region_len(text);

	*ret_hint = "write a region and a letter, as in us-west-2d";
	return len > 0 && text[len] >= 'a' && text[len] <= 'z' && text[len + 1] == '\0'
	               ? NULL
	               : "is not an availability zone";
}

const char *check_account(const char *text, const char **ret_hint)
{
	*ret_hint = "an AWS account has 12 digits; quote it: \"012345678901\"";
	return strlen(text) == 12 && all_of(text, DIGIT) ? NULL : "is not an AWS account";
}

const char *check_role_name(const char *text, const char **ret_hint)
{
	size_t len = strlen(text);

	*ret_hint = "write the name of an IAM role, at most 64 letters, digits and '+=,.@_-', not "
		    "its ARN";
	return len > 0 && len <= 64 && all_of(text, ALNUM "+=,.@_-") ? NULL
	                                                             : "is not the name of a role";
}

/* arn:PARTITION:SERVICE:REGION:ACCOUNT:REST */
static bool arn_of(const char *text, const char *service, const char *rest_prefix)
{
	const char *part[6];
	const char *p = text;

	for (size_t i = 0; i < 5; i++) {
		part[i] = p;
		p = strchr(p, ':');
		if (p == NULL)
			return false;
		p++;
	}
	part[5] = p;
	size_t len = strlen(service);

	return strncmp(part[0], "arn:", 4) == 0 && strncmp(part[1], "aws", 3) == 0 &&
	       strncmp(part[2], service, len) == 0 && part[2][len] == ':' &&
	       strspn(part[4], DIGIT) == 12 && part[4][12] == ':' &&
	       text_has_prefix(part[5], rest_prefix) && strlen(part[5]) > strlen(rest_prefix) &&
	       all_of(text, ALNUM ":/+=,.@_-");
}

const char *check_role_arn(const char *text, const char **ret_hint)
{
	*ret_hint = "write arn:aws:iam::ACCOUNT:role/NAME";
	return arn_of(text, "iam", "role/") ? NULL : "is not the ARN of a role";
}

const char *check_topic_arn(const char *text, const char **ret_hint)
{
	*ret_hint = "write arn:aws:sns:REGION:ACCOUNT:NAME";
	return arn_of(text, "sns", "") ? NULL : "is not the ARN of an SNS topic";
}

const char *check_kms_key(const char *text, const char **ret_hint)
{
	*ret_hint = "write arn:aws:kms:REGION:ACCOUNT:key/ID";
	return arn_of(text, "kms", "key/") || arn_of(text, "kms", "alias/")
	               ? NULL
	               : "is not the ARN of a KMS key";
}

/* PREFIX and 8 to 17 hexadecimal digits: the form of EC2's identifiers. */
static bool aws_id(const char *text, const char *prefix)
{
	if (!text_has_prefix(text, prefix))
		return false;
	const char *id = text + strlen(prefix);
	size_t len = strlen(id);

	return len >= 8 && len <= 17 && all_of(id, DIGIT "abcdef");
}

const char *check_subnet(const char *text, const char **ret_hint)
{
	*ret_hint = "write it as in subnet-0123456789abcdef0";
	return aws_id(text, "subnet-") ? NULL : "is not a subnet";
}

const char *check_security_group(const char *text, const char **ret_hint)
{
	*ret_hint = "write it as in sg-0123456789abcdef0";
	return aws_id(text, "sg-") ? NULL : "is not a security group";
}

const char *check_reservation(const char *text, const char **ret_hint)
{
	*ret_hint = "write it as in cr-0123456789abcdef0";
	return aws_id(text, "cr-") ? NULL : "is not a capacity reservation";
}

const char *check_file_system(const char *text, const char **ret_hint)
{
	*ret_hint = "write it as in fs-0123456789abcdef0";
	return aws_id(text, "fs-") ? NULL : "is not a file system";
}

const char *check_ami(const char *text, const char **ret_hint)
{
	*ret_hint = "write it as in ami-0123456789abcdef0";
	return aws_id(text, "ami-") ? NULL : "is not an AMI";
}

const char *check_ssm(const char *text, const char **ret_hint)
{
	size_t len = strlen(text);

	*ret_hint = "write the name of an SSM parameter, as in /aws/service/eks/.../image_id";
	return len > 1 && len <= 1011 && text[0] == '/' && all_of(text, ALNUM "/._-")
	               ? NULL
	               : "is not the name of a parameter";
}

const char *check_ami_alias(const char *text, const char **ret_hint)
{
	static const char *const families[] = {"al2023@", "al2@", "bottlerocket@"};

	*ret_hint = "write al2023@VERSION, bottlerocket@VERSION or al2@VERSION, as in "
		    "al2023@v20261105 or al2023@latest";
	for (size_t i = 0; i < ARRAY_LEN(families); i++) {
		size_t len = strlen(families[i]);

		if (strncmp(text, families[i], len) == 0 &&
		    (strcmp(text + len, "latest") == 0 ||
		     (text[len] == 'v' && text[len + 1] != '\0' &&
		      all_of(text + len + 1, DIGIT "."))))
			return NULL;
	}
	return "is not an AMI alias";
}

const char *check_tag_key(const char *text, const char **ret_hint)
{
	static const char *const taken[] = {"aws:",
	                                    "karpenter.sh/nodepool",
	                                    "karpenter.sh/nodeclaim",
	                                    "karpenter.sh/discovery",
	                                    "karpenter.k8s.aws/",
	                                    "kubernetes.io/cluster/",
	                                    "slipway/",
	                                    "eks:"};

	*ret_hint = "AWS tags have at most 128 characters; those starting with aws:, eks:, "
		    "kubernetes.io/cluster/ and slipway/, and karpenter's own, are taken";
	if (text[0] == '\0' || strlen(text) > 128 || !each(text, is_of_a_tag))
		return "is not the key of a tag";
	for (size_t i = 0; i < ARRAY_LEN(taken); i++)
		if (text_has_prefix(text, taken[i]))
			return "is taken";
	return NULL;
}

const char *check_tag_value(const char *text, const char **ret_hint)
{
	*ret_hint = "AWS allows at most 256 letters, digits, spaces and punctuation marks";
	if (strlen(text) > 256)
		return "is too long for a tag";
	return each(text, is_of_a_tag) ? NULL : "holds a character that no tag may hold";
}

const char *check_s3(const char *text, const char **ret_hint)
{
	const char *bucket = text + strlen("s3://");

	*ret_hint = "write s3://BUCKET or s3://BUCKET/PREFIX";
	if (!text_has_prefix(text, "s3://"))
		return "is not a place in S3";
	size_t len = strcspn(bucket, "/");

	if (len < 3 || len > 63 || strspn(bucket, LOWER DIGIT "-.") < len ||
	    !lower_or_digit(bucket[0]) || !lower_or_digit(bucket[len - 1]) || strlen(bucket) > 900)
		return "is not a place in S3";
	return NULL;
}

const char *check_path(const char *text, const char **ret_hint)
{
	*ret_hint = "write an absolute path other than '/', without '..' and ':'";
	return text[0] == '/' && text[1] != '\0' && strstr(text, "/..") == NULL &&
	                       strchr(text, ':') == NULL
	               ? NULL
	               : "is not a path to mount at";
}

const char *check_duration(const char *text, const char **ret_hint)
{
	const char *p = text;

	*ret_hint = "write hours, minutes and seconds, as in 5m or 1h30m";
	while (*p != '\0') {
		size_t digits = strspn(p, DIGIT);

		if (digits == 0 || digits > 7 || strchr("hms", p[digits]) == NULL ||
		    p[digits] == '\0')
			return "is not a duration";
		p += digits + 1;
	}
	return p != text ? NULL : "is not a duration";
}

const char *check_duration_never(const char *text, const char **ret_hint)
{
	if (strcmp(text, "Never") == 0)
		return NULL;
	const char *wrong = check_duration(text, ret_hint);

	*ret_hint = "write hours, minutes and seconds, as in 720h, or Never";
	return wrong;
}

const char *check_digest(const char *text, const char **ret_hint)
{
	*ret_hint = "write sha256: and 64 hexadecimal digits";
	return strlen(text) == 71 && text_has_prefix(text, "sha256:") &&
	                       all_of(text + 7, DIGIT "abcdef")
	               ? NULL
	               : "is not a digest";
}

bool parse_version(const char *text, int *ret_major, int *ret_minor)
{
	int64_t major, minor, patch;
	size_t dot = strspn(text, DIGIT);

	if (text[dot] != '.' || dot > 3 || !text_int64(text, dot, &major))
		return false;
	const char *rest = text + dot + 1;
	size_t len = strspn(rest, DIGIT);

	if (len > 3 || !text_int64(rest, len, &minor))
		return false;
	if (rest[len] == '.' && !text_int64(rest + len + 1, strlen(rest + len + 1), &patch))
		return false;
	if (rest[len] != '.' && rest[len] != '\0')
		return false;
	*ret_major = (int)major;
	*ret_minor = (int)minor;
	return true;
}

const char *check_kubernetes_version(const char *text, const char **ret_hint)
{
	int major, minor;

	*ret_hint = "write a version of EKS in quotes, as in \"1.35\"; EKS runs 1.31 to 1.36";
	return parse_version(text, &major, &minor) && strlen(text) == 4 && major == 1 &&
	                       minor >= 27 && minor <= 36
	               ? NULL
	               : "is not a Kubernetes version that slipway knows";
}

const char *check_karpenter(const char *text, const char **ret_hint)
{
	int major, minor;

	*ret_hint = "write an API (v1, v1beta1, v1alpha5) or a version of Karpenter, as in "
		    "\"1.14\"; known are 0.28 to 1.x";
	if (strcmp(text, "v1") == 0 || strcmp(text, "v1beta1") == 0 ||
	    strcmp(text, "v1alpha5") == 0)
		return NULL;
	return parse_version(text, &major, &minor) && (major == 1 || (major == 0 && minor >= 28))
	               ? NULL
	               : "is not a Karpenter API or version";
}

bool parse_gib(const char *text, int64_t *ret_gib)
{
	size_t len = strspn(text, DIGIT);
	int64_t value;

	if (len == 0 || len > 9 || !text_int64(text, len, &value))
		return false;
	if (strcmp(text + len, "Ti") == 0)
		value *= 1024;
	else if (strcmp(text + len, "Gi") != 0)
		return false;
	*ret_gib = value;
	return true;
}
