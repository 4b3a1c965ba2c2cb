/*
 * 01-account: what Karpenter needs in the account: a role for the nodes that it makes, a role for
 * its controller, and a queue that notifies it of interruptions. CloudFormation, for after the
 * cluster: access entry and pod identity name it. The controller's rights are those that
 * Karpenter's documentation lists (1.x), tied to this cluster by tags where EC2 knows them.
 */
#include <string.h>

#include "base/attr.h"
#include "k8s/cluster/cluster.h"

static void add_sub(cJSON *object, const char *key, const char *text)
{
	/* Without a variable there is nothing to substitute, and cfn-lint says so. */
	if (strstr(text, "${") == NULL)
		json_add_string(object, key, text);
	else
		json_add_string(json_add_object(object, key), "Fn::Sub", text);
}

static void add_attribute(cJSON *object, const char *key, const char *resource,
                          const char *attribute)
{
	cJSON *pair = json_add_array(json_add_object(object, key), "Fn::GetAtt");

	json_push_string(pair, resource);
	json_push_string(pair, attribute);
}

static cJSON *add_resource(cJSON *resources, const char *name, const char *type)
{
	cJSON *resource = json_add_object(resources, name);

	json_add_string(resource, "Type", type);
	return json_add_object(resource, "Properties");
}

static cJSON *add_policy_document(cJSON *object, const char *key)
{
	cJSON *document = json_add_object(object, key);

	json_add_string(document, "Version", "2012-10-17");
	return json_add_array(document, "Statement");
}

/* ---- who may take a role ---- */

static void add_trust(cJSON *properties, const char *service, bool session)
{
	cJSON *statement =
		k8s_push_object(add_policy_document(properties, "AssumeRolePolicyDocument"));

	json_add_string(statement, "Effect", "Allow");
	json_add_string(json_add_object(statement, "Principal"), "Service", service);
	cJSON *actions = json_add_array(statement, "Action");

	json_push_string(actions, "sts:AssumeRole");
	if (session)
		json_push_string(actions, "sts:TagSession");
}

static void add_node_role(const struct fleet *fleet, cJSON *resources)
{
	static const char *const policies[] = {"AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy",
	                                       "AmazonEC2ContainerRegistryPullOnly",
	                                       "AmazonSSMManagedInstanceCore"};
	cJSON *properties = add_resource(resources, "NodeRole", "AWS::IAM::Role");

	json_add_string(properties, "RoleName", fleet->node_role);
	add_trust(properties, "ec2.amazonaws.com", false);
	cJSON *arns = json_add_array(properties, "ManagedPolicyArns");
	AUTO(strbuf) struct strbuf arn = STRBUF_INIT(256);

	for (size_t i = 0; i < ARRAY_LEN(policies); i++) {
		strbuf_reset(&arn);
		strbuf_addf(&arn, "arn:${AWS::Partition}:iam::aws:policy/%s", policies[i]);
		json_add_string(k8s_push_object(arns), "Fn::Sub", strbuf_str(&arn));
	}
	cJSON *entry = add_resource(resources, "NodeAccess", "AWS::EKS::AccessEntry");

	json_add_string(entry, "ClusterName", fleet->cluster_name);
	add_attribute(entry, "PrincipalArn", "NodeRole", "Arn");
	json_add_string(entry, "Type", "EC2_LINUX");
}

/* The legacy API names an instance profile; newer ones make it of the role. */
static void add_node_profile(const struct fleet *fleet, cJSON *resources)
{
	if (fleet->karpenter != KARPENTER_V1ALPHA5)
		return;
	cJSON *profile = add_resource(resources, "NodeProfile", "AWS::IAM::InstanceProfile");

	k8s_addf(profile, "InstanceProfileName", "KarpenterNodeInstanceProfile-%s",
	         fleet->cluster_name);
	json_add_string(k8s_push_object(json_add_array(profile, "Roles")), "Ref", "NodeRole");
}

/* ---- what the controller may do ---- */

enum condition { ALWAYS, MADE_WITH_TAG, TAGGED_AT_CREATION, HAS_TAG };

/* Actions on EC2's resources of these kinds ("arn:...:ec2:...:KIND"). */
struct statement {
	const char *sid;
	enum condition condition;
	const char *actions[4], *kinds[7]; /* each ends with NULL */
};

static const struct statement statements[] = {
	{"LaunchWith",
         ALWAYS,
         {"ec2:RunInstances", "ec2:CreateFleet"},
         {"image/*", "snapshot/*", "security-group/*", "subnet/*", "capacity-reservation/*",
          "placement-group/*"}},
	{"LaunchFromTemplate",
         HAS_TAG,
         {"ec2:RunInstances", "ec2:CreateFleet"},
         {"launch-template/*"}},
	{"Launch",
         MADE_WITH_TAG,
         {"ec2:RunInstances", "ec2:CreateFleet", "ec2:CreateLaunchTemplate"},
         {"fleet/*", "instance/*", "volume/*", "network-interface/*", "launch-template/*",
          "spot-instances-request/*"}},
	{"TagNew",
         TAGGED_AT_CREATION,
         {"ec2:CreateTags"},
         {"fleet/*", "instance/*", "volume/*", "network-interface/*", "launch-template/*",
          "spot-instances-request/*"}},
	{"TagOwn", HAS_TAG, {"ec2:CreateTags"}, {"instance/*"}},
	{"End",
         HAS_TAG,
         {"ec2:TerminateInstances", "ec2:DeleteLaunchTemplate"},
         {"instance/*", "launch-template/*"}},
};

/* Rights that EC2, IAM and SQS cannot tie to a tag. */
struct plain_statement {
	const char *sid, *resource; /* Fn::Sub */
	const char *actions[14];    /* ends with NULL */
};

static const struct plain_statement plain_statements[] = {
	{"Look",
         "*",
         {"ec2:DescribeAvailabilityZones", "ec2:DescribeCapacityReservations", "ec2:DescribeImages",
          "ec2:DescribeInstances", "ec2:DescribeInstanceStatus",
          "ec2:DescribeInstanceTypeOfferings", "ec2:DescribeInstanceTypes",
          "ec2:DescribeLaunchTemplates", "ec2:DescribePlacementGroups",
          "ec2:DescribeSecurityGroups", "ec2:DescribeSpotPriceHistory", "ec2:DescribeSubnets",
          "pricing:GetProducts"}},
	{"Images",
         "arn:${AWS::Partition}:ssm:${AWS::Region}::parameter/aws/service/*",
         {"ssm:GetParameter"}},
	{"Interruptions",
         "${Queue.Arn}",
         {"sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:GetQueueUrl", "sqs:ReceiveMessage"}},
	{"ListProfiles", "*", {"iam:ListInstanceProfiles"}},
	{"Profiles",
         "arn:${AWS::Partition}:iam::${AWS::AccountId}:instance-profile/*",
         {"iam:AddRoleToInstanceProfile", "iam:CreateInstanceProfile", "iam:DeleteInstanceProfile",
          "iam:GetInstanceProfile", "iam:RemoveRoleFromInstanceProfile", "iam:TagInstanceProfile"}},
};

static void add_list(cJSON *object, const char *key, const char *const *at, size_t max)
{
	size_t n = 0;

	while (n < max && at[n] != NULL)
		n++;
	k8s_add_strings(object, key, at, n);
}

static cJSON *add_statement(cJSON *array, const char *sid)
{
	cJSON *statement = k8s_push_object(array);

	json_add_string(statement, "Sid", sid);
	json_add_string(statement, "Effect", "Allow");
	return statement;
}

static void add_condition(const struct fleet *fleet, enum condition condition, cJSON *statement)
{
	static const char *const making[] = {"RunInstances", "CreateFleet", "CreateLaunchTemplate"};

	if (condition == ALWAYS)
		return;
	cJSON *equals = json_add_object(json_add_object(statement, "Condition"), "StringEquals");
	AUTO(strbuf) struct strbuf key = STRBUF_INIT(512);

	strbuf_addf(&key, "aws:%s/kubernetes.io/cluster/%s",
	            condition == HAS_TAG ? "ResourceTag" : "RequestTag", fleet->cluster_name);
	json_add_string(equals, strbuf_str(&key), "owned");
	if (condition == TAGGED_AT_CREATION)
		k8s_add_strings(equals, "ec2:CreateAction", making, ARRAY_LEN(making));
}

static void add_scoped(const struct fleet *fleet, cJSON *array)
{
	AUTO(strbuf) struct strbuf arn = STRBUF_INIT(256);

	for (size_t i = 0; i < ARRAY_LEN(statements); i++) {
		const struct statement *s = &statements[i];
		cJSON *statement = add_statement(array, s->sid);
		cJSON *resources;

		add_list(statement, "Action", s->actions, ARRAY_LEN(s->actions));
		resources = json_add_array(statement, "Resource");
		for (size_t k = 0; k < ARRAY_LEN(s->kinds) && s->kinds[k] != NULL; k++) {
			strbuf_reset(&arn);
			strbuf_addf(&arn, "arn:${AWS::Partition}:ec2:${AWS::Region}:*:%s",
			            s->kinds[k]);
			json_add_string(k8s_push_object(resources), "Fn::Sub", strbuf_str(&arn));
		}
		add_condition(fleet, s->condition, statement);
	}
}

static void add_plain(cJSON *array)
{
	for (size_t i = 0; i < ARRAY_LEN(plain_statements); i++) {
		const struct plain_statement *s = &plain_statements[i];
		cJSON *statement = add_statement(array, s->sid);

		add_list(statement, "Action", s->actions, ARRAY_LEN(s->actions));
		add_sub(statement, "Resource", s->resource);
	}
}

static void add_own(const struct fleet *fleet, cJSON *array)
{
	cJSON *pass = add_statement(array, "PassNodeRole");
	AUTO(strbuf) struct strbuf arn = STRBUF_INIT(512);

	json_add_string(pass, "Action", "iam:PassRole");
	add_attribute(pass, "Resource", "NodeRole", "Arn");
	json_add_string(json_add_object(json_add_object(pass, "Condition"), "StringEquals"),
	                "iam:PassedToService", "ec2.amazonaws.com");
	cJSON *describe = add_statement(array, "Cluster");

	json_add_string(describe, "Action", "eks:DescribeCluster");
	strbuf_addf(&arn, "arn:${AWS::Partition}:eks:${AWS::Region}:${AWS::AccountId}:cluster/%s",
	            fleet->cluster_name);
	add_sub(describe, "Resource", strbuf_str(&arn));
}

static void add_controller_role(const struct fleet *fleet, cJSON *resources)
{
	cJSON *properties = add_resource(resources, "ControllerRole", "AWS::IAM::Role");

	add_trust(properties, "pods.eks.amazonaws.com", true);
	cJSON *policy = k8s_push_object(json_add_array(properties, "Policies"));

	json_add_string(policy, "PolicyName", "karpenter");
	cJSON *array = add_policy_document(policy, "PolicyDocument");

	add_scoped(fleet, array);
	add_plain(array);
	add_own(fleet, array);
	cluster_add_key_rights(fleet, array);
	cJSON *association =
		add_resource(resources, "ControllerAccess", "AWS::EKS::PodIdentityAssociation");

	json_add_string(association, "ClusterName", fleet->cluster_name);
	json_add_string(association, "Namespace", KARPENTER_NAMESPACE);
	json_add_string(association, "ServiceAccount", KARPENTER_ACCOUNT);
	add_attribute(association, "RoleArn", "ControllerRole", "Arn");
}

/* ---- the nodes' network ---- */

bool cluster_wants_efa_group(const struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->n_targets; i++)
		if (fleet->targets[i].efa > 0)
			return true;
	return false;
}

/* EFA passes only what a group allows from and to itself: a rule for all addresses does not reach
 * traffic that bypasses the kernel. Karpenter finds the group by its tag. */
static void add_efa_group(const struct fleet *fleet, cJSON *resources)
{
	static const struct {
		const char *name, *type, *peer;
	} rules[] = {
		{"EfaIn", "AWS::EC2::SecurityGroupIngress", "SourceSecurityGroupId"},
		{"EfaOut", "AWS::EC2::SecurityGroupEgress", "DestinationSecurityGroupId"},
	};
	cJSON *group = add_resource(resources, "EfaGroup", "AWS::EC2::SecurityGroup");

	k8s_addf(group, "GroupDescription", "EFA between the nodes of %s", fleet->cluster_name);
	json_add_string(json_add_object(group, "VpcId"), "Ref", "Vpc");
	cJSON *tag = k8s_push_object(json_add_array(group, "Tags"));

	json_add_string(tag, "Key", "karpenter.sh/discovery");
	json_add_string(tag, "Value", fleet->discovery);
	for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
		cJSON *rule = add_resource(resources, rules[i].name, rules[i].type);

		json_add_string(rule, "IpProtocol", "-1");
		add_attribute(rule, "GroupId", "EfaGroup", "GroupId");
		add_attribute(rule, rules[i].peer, "EfaGroup", "GroupId");
	}
}

/* ---- interruptions ---- */

static const struct {
	const char *rule, *source, *detail_type;
} events[] = {
	{"SpotInterruption", "aws.ec2", "EC2 Spot Instance Interruption Warning"},
	{"Rebalance", "aws.ec2", "EC2 Instance Rebalance Recommendation"},
	{"StateChange", "aws.ec2", "EC2 Instance State-change Notification"},
	{"CapacityReservation", "aws.ec2",
         "EC2 Capacity Reservation Instance Interruption Warning"},
	{"Health", "aws.health", "AWS Health Event"},
};

static void add_queue(const struct fleet *fleet, cJSON *resources)
{
	cJSON *queue = add_resource(resources, "Queue", "AWS::SQS::Queue");

	json_add_string(queue, "QueueName", fleet->cluster_name);
	json_add_int(queue, "MessageRetentionPeriod", 300);
	json_add_bool(queue, "SqsManagedSseEnabled", true);
	cJSON *access = add_resource(resources, "QueueAccess", "AWS::SQS::QueuePolicy");

	json_add_string(k8s_push_object(json_add_array(access, "Queues")), "Ref", "Queue");
	cJSON *statement = add_statement(add_policy_document(access, "PolicyDocument"), "Events");
	cJSON *principal = json_add_object(statement, "Principal");

	json_add_string(principal, "Service", "events.amazonaws.com");
	json_add_string(statement, "Action", "sqs:SendMessage");
	add_attribute(statement, "Resource", "Queue", "Arn");
}

static void add_rules(cJSON *resources)
{
	for (size_t i = 0; i < ARRAY_LEN(events); i++) {
		cJSON *rule = add_resource(resources, events[i].rule, "AWS::Events::Rule");
		cJSON *pattern = json_add_object(rule, "EventPattern");

		json_push_string(json_add_array(pattern, "source"), events[i].source);
		json_push_string(json_add_array(pattern, "detail-type"), events[i].detail_type);
		cJSON *target = k8s_push_object(json_add_array(rule, "Targets"));

		json_add_string(target, "Id", "KarpenterInterruptions");
		add_attribute(target, "Arn", "Queue", "Arn");
	}
}

static void render_account(const struct fleet *fleet, struct k8s_output *out)
{
	bool efa = cluster_wants_efa_group(fleet);

	k8s_file(out, "karpenter.yaml",
	         efa ? "Karpenter's node role, controller role and interruption queue, and the\n"
	               "security group that lets EFA pass, for CloudFormation."
	             : "Karpenter's node role, controller role and interruption queue, for\n"
	               "CloudFormation.");
	cJSON *template = k8s_add_foreign(out);

	json_add_string(template, "AWSTemplateFormatVersion", "2010-09-09");
	k8s_addf(template, "Description", "What Karpenter needs for the cluster %s",
	         fleet->cluster_name);
	if (efa)
		json_add_string(json_add_object(json_add_object(template, "Parameters"), "Vpc"),
		                "Type", "AWS::EC2::VPC::Id");
	cJSON *resources = json_add_object(template, "Resources");

	add_node_role(fleet, resources);
	add_node_profile(fleet, resources);
	add_controller_role(fleet, resources);
	add_queue(fleet, resources);
	add_rules(resources);
	if (efa)
		add_efa_group(fleet, resources);
}

const struct k8s_renderer account_renderer = {
	.number = "01",
	.name = "account",
	.summary = "Karpenter's roles and queue, for CloudFormation",
	.wanted = fleet_has_cluster,
	.render = render_account,
};
