/*
 * Rights on the KMS keys of the nodes' volumes. EC2 encrypts in the name of whoever launches, which
 * is Karpenter: without them an instance ends as soon as it was started. Source: EBS user guide,
 * "Permissions to use KMS keys", read 2026-11-22.
 */
#include <string.h>

#include "base/attr.h"
#include "k8s/cluster/cluster.h"

static cJSON *add_statement(cJSON *statements, const char *sid)
{
	cJSON *statement = k8s_push_object(statements);

	json_add_string(statement, "Sid", sid);
	json_add_string(statement, "Effect", "Allow");
	return statement;
}

static bool is_new(const struct fleet *fleet, size_t n)
{
	const char *key = fleet->targets[n].section->volume.kms_key;

	for (size_t i = 0; i < n; i++) {
		const char *other = fleet->targets[i].section->volume.kms_key;

		if (other != NULL && strcmp(other, key) == 0)
			return false;
	}
	return true;
}

/* An alias is no resource of an action on a key: it stands for every key that bears it. */
static void add_resource(const char *key, cJSON *statement, cJSON *condition)
{
	const char *alias = strstr(key, ":alias/");

	if (alias == NULL) {
		json_add_string(statement, "Resource", key);
		return;
	}
	k8s_addf(statement, "Resource", "%.*s:key/*", (int)(alias - key), key);
	json_push_string(json_add_array(json_add_object(condition, "ForAnyValue:StringEquals"),
	                                "kms:ResourceAliases"),
	                 alias + 1);
}

static void add_rights(const struct fleet *fleet, const char *key, size_t n, cJSON *statements)
{
	static const char *const use[] = {"kms:Decrypt", "kms:DescribeKey", "kms:Encrypt",
	                                  "kms:GenerateDataKeyWithoutPlaintext", "kms:ReEncrypt*"};
	static const char *const grant[] = {"kms:CreateGrant"};
	const struct {
		const char *sid;
		const char *const *actions;
		size_t n;
		bool grants;
	} rows[] = {{"UseKey", use, ARRAY_LEN(use), false},
	            {"GrantKey", grant, ARRAY_LEN(grant), true}};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(strbuf) struct strbuf sid = STRBUF_INIT(64);

		strbuf_addf(&sid, "%s%zu", rows[i].sid, n);
		cJSON *statement = add_statement(statements, strbuf_str(&sid));
		cJSON *condition = cJSON_CreateObject();

		k8s_add_strings(statement, "Action", rows[i].actions, rows[i].n);
		k8s_addf(json_add_object(condition, "StringEquals"), "kms:ViaService",
		         "ec2.%s.amazonaws.com", fleet->cluster->region);
		if (rows[i].grants)
			json_add_string(json_add_object(condition, "Bool"),
			                "kms:GrantIsForAWSResource", "true");
		add_resource(key, statement, condition);
		cJSON_AddItemToObject(statement, "Condition", condition);
	}
}

void cluster_add_key_rights(const struct fleet *fleet, cJSON *statements)
{
	size_t n = 0;

	for (size_t i = 0; i < fleet->n_targets; i++) {
		const char *key = fleet->targets[i].section->volume.kms_key;

		if (key != NULL && is_new(fleet, i))
			add_rights(fleet, key, ++n, statements);
	}
}
