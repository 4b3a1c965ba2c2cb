#include <string.h>

#include "pipeline/render.h"

cJSON *template_resource(cJSON *resources, const char *name, const char *type)
{
	cJSON *resource = json_add_object(resources, name);

	json_add_string(resource, "Type", type);
	return json_add_object(resource, "Properties");
}

static cJSON *new_object(cJSON *to, const char *key)
{
	return key != NULL ? json_add_object(to, key) : k8s_push_object(to);
}

void template_ref(cJSON *to, const char *key, const char *name)
{
	json_add_string(new_object(to, key), "Ref", name);
}

void template_sub(cJSON *to, const char *key, const char *text)
{
	json_add_string(new_object(to, key), "Fn::Sub", text);
}

void template_arn(cJSON *to, const char *key, const char *name)
{
	cJSON *list = json_add_array(new_object(to, key), "Fn::GetAtt");

	json_push_string(list, name);
	json_push_string(list, "Arn");
}

void template_trust(cJSON *role, const char *service, const char *source)
{
	AUTO(strbuf) struct strbuf arn = STRBUF_INIT(512);
	cJSON *document = json_add_object(role, "AssumeRolePolicyDocument");

	json_add_string(document, "Version", "2012-10-17");
	cJSON *statement = k8s_push_object(json_add_array(document, "Statement"));

	json_add_string(statement, "Effect", "Allow");
	json_add_string(json_add_object(statement, "Principal"), "Service", service);
	json_add_string(statement, "Action", "sts:AssumeRole");
	/* Nobody else's project or pipeline may bring the service to take it. */
	cJSON *equals = json_add_object(json_add_object(statement, "Condition"), "StringEquals");

	template_ref(equals, "aws:SourceAccount", "AWS::AccountId");
	strbuf_addf(&arn, "arn:${AWS::Partition}:%.*s:${AWS::Region}:${AWS::AccountId}:%s",
	            (int)strcspn(service, "."), service, source);
	template_sub(equals, "aws:SourceArn", strbuf_str(&arn));
}

cJSON *template_statement(cJSON *statements, const char *sid, cJSON **ret_resources)
{
	cJSON *statement = k8s_push_object(statements);

	json_add_string(statement, "Sid", sid);
	json_add_string(statement, "Effect", "Allow");
	cJSON *actions = json_add_array(statement, "Action");

	*ret_resources = json_add_array(statement, "Resource");
	return actions;
}

void template_objects(cJSON *statements, const char *sid, bool write, const char *bucket,
                      const struct strlist *prefixes)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1024);
	cJSON *resources;
	cJSON *actions = template_statement(statements, sid, &resources);

	if (!write)
		json_push_string(actions, "s3:GetObject");
	json_push_string(actions, write ? "s3:PutObject" : "s3:GetObjectVersion");
	for (size_t i = 0; i < prefixes->n; i++) {
		strbuf_reset(&text);
		strbuf_addf(&text, "${%s.Arn}/%s", bucket, prefixes->at[i]);
		template_sub(resources, NULL, strbuf_str(&text));
	}
}

void template_bucket(cJSON *statements, const char *bucket)
{
	static const char *const of_bucket[] = {"s3:GetBucketAcl", "s3:GetBucketLocation",
	                                        "s3:GetBucketVersioning"};
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(256);
	cJSON *resources;

	strbuf_addf(&text, "%sBucket", bucket);
	cJSON *actions = template_statement(statements, strbuf_str(&text), &resources);

	for (size_t i = 0; i < ARRAY_LEN(of_bucket); i++)
		json_push_string(actions, of_bucket[i]);
	template_arn(resources, NULL, bucket);
}

cJSON *template_policy(cJSON *role, const char *name)
{
	cJSON *policy = k8s_push_object(json_add_array(role, "Policies"));

	json_add_string(policy, "PolicyName", name);
	cJSON *document = json_add_object(policy, "PolicyDocument");

	json_add_string(document, "Version", "2012-10-17");
	return json_add_array(document, "Statement");
}
