#!/usr/bin/env bats
# The fake AWS that the ECR tests run against, proved with clients nobody here wrote: aws, curl, skopeo.

load lib

KEY=AKIATESTUSER00000001
SECRET=planted/Secret+Key000000000000000000001
LIMITED=AKIATESTLIMITED00001
JWT=eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJidWlsZGVyIn0.c2lnbmF0dXJl
HOST=123456789012.dkr.ecr.us-east-1.amazonaws.com
ROLE=arn:aws:iam::123456789012:role
TARGET=AmazonEC2ContainerRegistry_V20150921
OCI=application/vnd.oci.image.manifest.v1+json

setup() {
	common_setup
	cat >config.json <<-EOF
		{"users": {
		   "$KEY": {"secret": "$SECRET", "arn": "arn:aws:iam::123456789012:user/ci"},
		   "$LIMITED": {"secret": "$SECRET", "arn": "arn:aws:iam::123456789012:user/limited",
		     "policy": {"Statement": [
		       {"Effect": "Allow", "Action": "ecr:GetAuthorizationToken", "Resource": "*"},
		       {"Effect": "Allow", "Action": ["ecr:Describe*", "ecr:BatchCheckLayerAvailability"],
		        "Resource": "arn:aws:ecr:us-east-1:123456789012:repository/team/*"}]}}},
		 "roles": {"$ROLE/pusher": {"trust": ["arn:aws:iam::123456789012:user/ci"], "external_id": "x1"},
		           "$ROLE/web": {}, "$ROLE/node": {}, "$ROLE/locked": {"trust": ["210987654321"]}},
		 "web_tokens": {"$JWT": {}},
		 "imds": {"role": "$ROLE/node"},
		 "container": {"authorization": "pod-token", "role": "$ROLE/web", "ids": {"abc": "$ROLE/web"}},
		 "sso": {"tokens": {"sso-token": {}}, "refresh": {"again": {"access_token": "sso-next"}}},
		 "repositories": ["team/app", "team/other",
		   {"name": "team/kms", "encryptionConfiguration": {"encryptionType": "KMS"}},
		   {"name": "team/fixed", "imageTagMutability": "IMMUTABLE_WITH_EXCLUSION",
		    "imageTagMutabilityExclusionFilters": [{"filterType": "WILDCARD", "filter": "dev*"}]}]}
	EOF
	unset AWS_PROFILE AWS_DEFAULT_PROFILE AWS_SESSION_TOKEN AWS_CA_BUNDLE AWS_ENDPOINT_URL
	export AWS_ACCESS_KEY_ID=$KEY AWS_SECRET_ACCESS_KEY=$SECRET AWS_DEFAULT_REGION=us-east-1 AWS_PAGER=
}
teardown() { common_teardown; }

# A call that the aws command makes of itself: any version takes --endpoint-url.
call_aws() { aws --endpoint-url "$URL" --output json "$@"; }

# api OPERATION BODY [CURL ARGS...]: an ECR call signed by curl.
api() {
	local operation=$1 body=$2
	shift 2
	curl -sS --aws-sigv4 "aws:amz:${SCOPE:-us-east-1:ecr}" --user "${WHO:-$KEY}:${PASS:-$SECRET}" \
		-H "X-Amz-Target: $TARGET.$operation" -H 'Content-Type: application/x-amz-json-1.1' -d "$body" "$@" "$URL/"
}

# sts PARAMETER...: an STS call signed by curl.
sts() {
	local args=() pair
	for pair in "$@"; do args+=(--data-urlencode "$pair"); done
	curl -sS --aws-sigv4 aws:amz:us-east-1:sts --user "$KEY:${PASS:-$SECRET}" -d Version=2011-06-15 "${args[@]}" "$URL/"
}

login() { TOKEN=$(api GetAuthorizationToken '{}' | json 'd["authorizationData"][0]["authorizationToken"]'); }

# reg PATH [CURL ARGS...]: a registry request with the token; prints the body, then the status on a line.
reg() {
	local path=$1
	shift
	[[ $path == http* ]] || path=$URL$path
	path=${path/"http://$HOST"/"$URL"}
	curl -sS -w '\n%{http_code}' -H "Host: $HOST" -H "Authorization: Basic $TOKEN" "$@" "$path"
}

status_of() { tail -n 1; }

# begin_upload [REPOSITORY]: prints the session's Location.
begin_upload() {
	reg "/v2/${1:-team/app}/blobs/uploads/" -X POST -D - -o /dev/null | tr -d '\r' | sed -n 's/^Location: //p'
}

sum() { sha256sum "$1" | sed 's/ .*//; s/^/sha256:/'; }

# upload FILE [REPOSITORY]: in one piece.
upload() {
	local at
	at=$(begin_upload "${2:-team/app}")
	reg "$at&digest=$(sum "$1")" -X PUT --data-binary "@$1" -H 'Content-Type: application/octet-stream' | status_of
}

# make_manifest FILE: of the blobs in config and layer.
make_manifest() {
	printf '{"schemaVersion":2,"mediaType":"%s","config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":"%s","size":%d},"layers":[{"mediaType":"application/vnd.oci.image.layer.v1.tar","digest":"%s","size":%d}]}' \
		"$OCI" "$(sum config)" "$(stat -c %s config)" "$(sum layer)" "$(stat -c %s layer)" >"$1"
}

put_manifest() { reg "/v2/$1" -X PUT --data-binary "@$2" -H "Content-Type: $OCI"; }

make_image() {
	printf '{"architecture":"amd64","os":"linux"}' >config
	head -c 3000 /dev/urandom >layer
	make_manifest manifest
}

# make_layout DIR: an image of one layer, tagged v1, as an OCI layout.
make_layout() {
	make_image
	mkdir -p "$1/blobs/sha256"
	local file
	for file in config layer manifest; do cp "$file" "$1/blobs/sha256/$(sum "$file" | cut -d: -f2)"; done
	printf '{"imageLayoutVersion":"1.0.0"}' >"$1/oci-layout"
	printf '{"schemaVersion":2,"manifests":[{"mediaType":"%s","digest":"%s","size":%d,"annotations":{"org.opencontainers.image.ref.name":"v1"}}]}' \
		"$OCI" "$(sum manifest)" "$(stat -c %s manifest)" >"$1/index.json"
}

@test "fakeaws: the aws command creates, describes and is told of its errors" {
	need aws
	start_fakeaws
	[ "$(call_aws ecr get-authorization-token | json 'd["authorizationData"][0]["proxyEndpoint"]')" = "https://$HOST" ]
	call_aws ecr create-repository --repository-name team/new --image-tag-mutability IMMUTABLE \
		--tags Key=a,Value=b --image-scanning-configuration scanOnPush=true >created.json
	[ "$(json 'd["repository"]["repositoryUri"]' <created.json)" = "$HOST/team/new" ]
	[ "$(state 'd["repositories"]["123456789012/us-east-1/team/new"]["imageTagMutability"]')" = IMMUTABLE ]
	run call_aws ecr create-repository --repository-name team/new
	[ "$status" -ne 0 ]
	[[ $output == *"(RepositoryAlreadyExistsException)"*"'team/new' already exists"* ]]
	run call_aws ecr describe-repositories --repository-names team/none
	[ "$status" -ne 0 ]
	[[ $output == *"(RepositoryNotFoundException)"*"'team/none' does not exist"* ]]
	AWS_SECRET_ACCESS_KEY=wrong run call_aws ecr describe-repositories
	[ "$status" -ne 0 ]
	[[ $output == *"(InvalidSignatureException)"* ]]
	run grep -F -e "$SECRET" "$LOG"
	[ "$status" -eq 1 ]
}

@test "fakeaws: the aws command gets role sessions from STS, a web identity and the metadata service" {
	need aws
	start_fakeaws
	[ "$(call_aws sts get-caller-identity | json 'd["Arn"]')" = arn:aws:iam::123456789012:user/ci ]
	call_aws sts assume-role --role-arn "$ROLE/pusher" --role-session-name s1 --external-id x1 >role.json
	AWS_ACCESS_KEY_ID=$(json 'd["Credentials"]["AccessKeyId"]' <role.json) \
	AWS_SECRET_ACCESS_KEY=$(json 'd["Credentials"]["SecretAccessKey"]' <role.json) \
	AWS_SESSION_TOKEN=$(json 'd["Credentials"]["SessionToken"]' <role.json) \
		call_aws sts get-caller-identity >who.json
	[ "$(json 'd["Arn"]' <who.json)" = arn:aws:sts::123456789012:assumed-role/pusher/s1 ]
	call_aws sts assume-role-with-web-identity --role-arn "$ROLE/web" --role-session-name s2 \
		--web-identity-token "$JWT" >web.json
	[ "$(json 'd["AssumedRoleUser"]["Arn"]' <web.json)" = arn:aws:sts::123456789012:assumed-role/web/s2 ]
	run call_aws sts assume-role-with-web-identity --role-arn "$ROLE/web" --role-session-name s2 \
		--web-identity-token "${JWT}x"
	[ "$status" -ne 0 ]
	[[ $output == *"(InvalidIdentityToken)"* ]]
	unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY
	AWS_EC2_METADATA_SERVICE_ENDPOINT=$URL/ call_aws sts get-caller-identity >node.json
	[[ $(json 'd["Arn"]' <node.json) == arn:aws:sts::123456789012:assumed-role/node/i-* ]]
	AWS_CONTAINER_CREDENTIALS_FULL_URI=$URL/v1/credentials AWS_CONTAINER_AUTHORIZATION_TOKEN=pod-token \
		call_aws sts get-caller-identity >pod.json
	[ "$(json 'd["Arn"]' <pod.json)" = arn:aws:sts::123456789012:assumed-role/web/eks-pod ]
}

@test "fakeaws: skopeo pushes with the password of get-login-password and pulls the same bytes" {
	need aws
	need skopeo
	start_fakeaws
	config '{"any_host": true}'
	make_layout layout
	password=$(call_aws ecr get-login-password)
	skopeo --insecure-policy copy -q --preserve-digests --dest-tls-verify=false --dest-creds "AWS:$password" \
		oci:layout:v1 "docker://127.0.0.1:$PORT/team/app:v1"
	skopeo --insecure-policy copy -q --src-tls-verify=false --src-creds "AWS:$password" \
		"docker://127.0.0.1:$PORT/team/app:v1" dir:back
	cmp back/manifest.json manifest
	grep -q '"status": 307' "$LOG"
	run skopeo --insecure-policy copy -q --dest-tls-verify=false --dest-creds "AWS:wrong" \
		oci:layout:v1 "docker://127.0.0.1:$PORT/team/app:v1"
	[ "$status" -ne 0 ]
}

@test "fakeaws: a signature must fit secret, clock, region and service" {
	start_fakeaws
	[[ $(api DescribeRegistry '{}') == *123456789012* ]]
	[[ $(PASS=wrong api DescribeRegistry '{}' -w '%{http_code}') == *InvalidSignatureException*400 ]]
	[[ $(WHO=AKIANOBODY api DescribeRegistry '{}') == *UnrecognizedClientException* ]]
	[[ $(SCOPE=eu-west-1:ecr api DescribeRegistry '{}') == *InvalidSignatureException*"'us-east-1'"* ]]
	[[ $(SCOPE=us-east-1:sts api DescribeRegistry '{}') == *"scoped to correct service: 'ecr'"* ]]
	[[ $(api DescribeRegistry '{}' -H 'X-Amz-Security-Token: stale') == *UnrecognizedClientException* ]]
	[[ $(api DescribeRegistry '{}' -H 'Host: api.ecr.eu-west-1.amazonaws.com') == *InvalidSignatureException* ]]
	[[ $(curl -sS -H "X-Amz-Target: $TARGET.DescribeRegistry" -d '{}' -H 'Content-Type: application/x-amz-json-1.1' "$URL/") == *MissingAuthenticationTokenException* ]]
	for offset in 1200 -1200; do
		config "{\"server_time_offset_s\": $offset}"
		[[ $(api DescribeRegistry '{}') == *InvalidSignatureException*Signature*" min."* ]]
		[[ $(sts Action=GetCallerIdentity) == *"<Code>SignatureDoesNotMatch</Code>"*" min."* ]]
	done
	config '{"server_time_offset_s": 600, "users": {"'$KEY'": {"expired": true}}}'
	[[ $(api DescribeRegistry '{}') == *ExpiredTokenException* ]]
	[[ $(sts Action=GetCallerIdentity) == *"<Code>ExpiredToken</Code>"* ]]
}

# known OPERATION BODY SIGNATURE [TOKEN [FILE]]: a request that other signers signed for the start of 2026-11-21.
known() {
	local names="content-type;host;x-amz-date;${4:+x-amz-security-token;}x-amz-target" more=()
	[[ -z ${4:-} ]] || more=(-H "X-Amz-Security-Token: $4")
	curl -sS -o "${5:-/dev/null}" -w '%{http_code}' -H 'Host: api.ecr.us-east-1.amazonaws.com' -d "$2" "${more[@]}" \
		-H 'Content-Type: application/x-amz-json-1.1' -H 'X-Amz-Date: 20261121T000000Z' -H "X-Amz-Target: $TARGET.$1" \
		-H "Authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261121/us-east-1/ecr/aws4_request, SignedHeaders=$names, Signature=$3" "$URL/"
}

@test "fakeaws: the four signatures that botocore and the JavaScript signer agree on are accepted" {
	sed -i 's|"team/app", "team/other",||' config.json
	start_fakeaws
	token=IQoJb3JpZ2luX2VjEXAMPLE/token+with=chars
	secret='"secret": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"'
	config "{\"server_time_offset_s\": $(($(date -ud 2026-11-21 +%s) - $(date +%s))), \"users\": {\"AKIDEXAMPLE\": {$secret}}}"
	plain=b543ed62534ec8103bff0d32ac2bd5f20af5371162fd91864ffcae894d7e1011
	[ "$(known GetAuthorizationToken '{}' $plain)" = 200 ]
	[ "$(known GetAuthorizationToken '{ }' $plain)" = 400 ]
	[ "$(known GetAuthorizationToken '{}' "${plain/b5/b6}")" = 400 ]
	name='{"repositoryName":"team/app"}'
	[ "$(known CreateRepository "$name" c228807b4cfc6eb41682e0bf10b905ac22aa54de277784af1b1c8edabbe4f104)" = 200 ]
	config "{\"users\": {\"AKIDEXAMPLE\": {\"token\": \"$token\", \"deny\": [\"ecr:CreateRepository\"]}}}"
	[ "$(known GetAuthorizationToken '{}' $plain)" = 400 ]
	[ "$(known GetAuthorizationToken '{}' 69cfc9fe58fc7b7cf3660656593772aa19d3c27870c6d0e1b0778a6dd58e7f2d "$token")" = 200 ]
	known CreateRepository "$name" ad6bec0d2bdb6d67cf61957ad37fe04f588e9ea6a8efd2be7d10c7384956ad0f "$token" denied
	grep -q AccessDeniedException denied # the signature was good
}

@test "fakeaws: a signed request cannot be extended by unsigned x-amz headers" {
	start_fakeaws
	api DescribeRegistry '{}' -v 2>trace >/dev/null
	sed -n 's/^> \(\(Authorization\|X-Amz-Date\|X-Amz-Target\|Content-Type\): .*\)/\1/p' trace | tr -d '\r' >sent
	[[ $(curl -sS -H @sent -d '{}' "$URL/") == *registryId* ]]
	[[ $(curl -sS -H @sent -H 'X-Other: 1' -d '{}' "$URL/") == *registryId* ]]
	[[ $(curl -sS -H @sent -H 'X-Amz-Other: 1' -d '{}' "$URL/") == *InvalidSignatureException*"'X-Amz-Other' must be"* ]]
	[[ $(curl -sS -H @sent -d '{ }' "$URL/") == *InvalidSignatureException* ]]
}

@test "fakeaws: STS refuses in XML, with the reasons of the real one" {
	start_fakeaws
	[[ $(sts Action=GetCallerIdentity) == *"<Arn>arn:aws:iam::123456789012:user/ci</Arn>"* ]]
	[[ $(PASS=wrong sts Action=GetCallerIdentity) == *"<Code>SignatureDoesNotMatch</Code>"* ]]
	config '{"sts_json": true}'
	curl -sS -H 'Accept: application/json' --aws-sigv4 aws:amz:us-east-1:sts --user "$KEY:$SECRET" \
		-d 'Version=2011-06-15&Action=GetCallerIdentity' "$URL/" >who.json
	[ "$(json 'd["GetCallerIdentityResponse"]["GetCallerIdentityResult"]["Account"]' <who.json)" = 123456789012 ]
	assume=(Action=AssumeRole "RoleArn=$ROLE/pusher")
	[[ $(sts "${assume[@]}" RoleSessionName=s ExternalId=x1) == *"<Code>ValidationError</Code>"* ]]
	[[ $(sts "${assume[@]}" RoleSessionName=s1) == *"<Code>AccessDenied</Code>"*sts:AssumeRole* ]]
	[[ $(sts "${assume[@]}" RoleSessionName=s1 ExternalId=x1) == *"<SessionToken>"* ]]
	[[ $(sts Action=AssumeRole "RoleArn=$ROLE/locked" RoleSessionName=s1) == *"<Code>AccessDenied</Code>"* ]]
	config '{"idp_communication_errors": 1}'
	web=(-d Action=AssumeRoleWithWebIdentity -d Version=2011-06-15 --data-urlencode "RoleArn=$ROLE/web" -d RoleSessionName=s2)
	[[ $(curl -sS "${web[@]}" -d "WebIdentityToken=$JWT" "$URL/") == *IDPCommunicationError* ]]
	[[ $(curl -sS "${web[@]}" -d "WebIdentityToken=$JWT" "$URL/") == *assumed-role/web/s2* ]]
	[[ $(curl -sS "${web[@]}" -d "WebIdentityToken=$JWT%0A" "$URL/") == *InvalidIdentityToken* ]]
}

@test "fakeaws: the control plane checks the model, the policy and the limits" {
	start_fakeaws
	[[ $(api CreateRepository '{"repositoryName":"Upper"}') == *InvalidParameterException*repositoryName* ]]
	[[ $(api CreateRepository '{"repositoryName":"a/b","imageTagMutability":"never"}') == *InvalidParameterException* ]]
	[[ $(api CreateRepository '{"repositoryName":7}') == *SerializationException* ]]
	[[ $(api CreateRepository '{"repositoryName":"a/b","no":1}') == *SerializationException* ]]
	[[ $(api CreateRepository '{"repositoryName":"a/b","tags":[{"Key":"k","Value":"1"},{"Key":"k","Value":"2"}]}') == *InvalidTagParameterException* ]]
	config '{"repository_limit": 4}'
	[[ $(api CreateRepository '{"repositoryName":"a/b"}') == *LimitExceededException* ]]
	[[ $(WHO=$LIMITED api DescribeRepositories '{"repositoryNames":["team/app"]}') == *repositoryArn* ]]
	denied="User: arn:aws:iam::123456789012:user/limited is not authorized to perform: ecr:CreateRepository on resource: arn:aws:ecr:us-east-1:123456789012:repository/team/x because no identity-based policy allows the ecr:CreateRepository action"
	[ "$(WHO=$LIMITED api CreateRepository '{"repositoryName":"team/x"}' | json 'd["message"]')" = "$denied" ]
	policy='{\"rules\":[{\"rulePriority\":1,\"selection\":{\"tagStatus\":\"untagged\",\"countType\":\"imageCountMoreThan\",\"countNumber\":9},\"action\":{\"type\":\"expire\"}}]}'
	[[ $(api PutLifecyclePolicy "{\"repositoryName\":\"team/app\",\"lifecyclePolicyText\":\"$policy\"}") == *rulePriority* ]]
	[[ $(api PutLifecyclePolicy "{\"repositoryName\":\"team/app\",\"lifecyclePolicyText\":\"{}\"}") == *InvalidParameterException* ]]
	api PutImageTagMutability '{"repositoryName":"team/app","imageTagMutability":"IMMUTABLE"}' >/dev/null
	[ "$(state 'd["repositories"]["123456789012/us-east-1/team/app"]["imageTagMutability"]')" = IMMUTABLE ]
	[[ $(api GetAccountSetting '{"name":"BLOB_MOUNTING"}') == *DISABLED* ]]
}

@test "fakeaws: credential endpoints ask for what the real ones ask for" {
	start_fakeaws
	creds=$URL/latest/meta-data/iam/security-credentials/
	[ "$(curl -s -o /dev/null -w '%{http_code}' "$creds")" = 401 ]
	[ "$(curl -s -o /dev/null -w '%{http_code}' -X PUT "$URL/latest/api/token")" = 400 ]
	ttl='x-aws-ec2-metadata-token-ttl-seconds: 21600'
	[ "$(curl -s -o /dev/null -w '%{http_code}' -X PUT -H "$ttl" -H 'X-Forwarded-For: 1.2.3.4' "$URL/latest/api/token")" = 403 ]
	token="x-aws-ec2-metadata-token: $(curl -s -X PUT -H "$ttl" "$URL/latest/api/token")"
	[ "$(curl -s -H "$token" "$creds")" = node ]
	[ "$(curl -s -H "$token" "${creds}node" | json 'd["Code"]')" = Success ]
	config '{"imds": {"v2_only": false, "token_status": 403, "error_document": true}}'
	[ "$(curl -s -o /dev/null -w '%{http_code}' -X PUT -H "$ttl" "$URL/latest/api/token")" = 403 ]
	[ "$(curl -s "${creds}node" | json '"AccessKeyId" in d')" = False ]
	config '{"imds": {"redirect": "http://localhost:1/"}}'
	[ "$(curl -s -o /dev/null -w '%{http_code} %{redirect_url}' "$creds")" = "302 http://localhost:1/" ]
	[ "$(curl -s -o /dev/null -w '%{http_code}' "$URL/v1/credentials")" = 401 ]
	[ "$(curl -s -H 'Authorization: pod-token' "$URL/v1/credentials" | json 'd["AccountId"]')" = 123456789012 ]
	[ "$(curl -s "$URL/v2/credentials/abc" | json 'd["RoleArn"]')" = "$ROLE/web" ]
	portal="$URL/federation/credentials?role_name=dev&account_id=123456789012"
	[ "$(curl -s -o /dev/null -w '%{http_code}' -H 'x-amz-sso_bearer_token: sso-next' "$portal")" = 401 ]
	renew='{"clientId":"c","clientSecret":"s","grantType":"refresh_token","refreshToken":"again"}'
	[ "$(curl -s -H 'Content-Type: application/json' -d "$renew" "$URL/token" | json 'd["accessToken"]')" = sso-next ]
	[ "$(curl -s -H 'x-amz-sso_bearer_token: sso-next' "$portal" | json 'd["roleCredentials"]["expiration"] > 1e12')" = True ]
}

@test "fakeaws: the registry takes only an unexpired token of its own region, as Basic" {
	start_fakeaws
	curl -sS -D head -o /dev/null -H "Host: $HOST" "$URL/v2/"
	grep -q '^HTTP/1.1 401' head
	grep -qi "^www-authenticate: Basic realm=\"https://$HOST/\",service=\"ecr.amazonaws.com\"" head
	login
	[ "$(reg /v2/ | status_of)" = 200 ]
	[ "$(TOKEN=QVdTOm5vcGU= reg /v2/ | status_of)" = 400 ]
	[ "$(curl -s -o /dev/null -w '%{http_code}' -H "Host: ${HOST/us-east-1/eu-west-1}" -H "Authorization: Basic $TOKEN" "$URL/v2/")" = 400 ]
	[ "$(curl -s -o /dev/null -w '%{http_code}' -H "Host: 210987654321.dkr.ecr.us-east-1.amazonaws.com" -H "Authorization: Basic $TOKEN" "$URL/v2/x/manifests/v1")" = 403 ]
	[ "$(curl -s -o /dev/null -w '%{http_code}' "$URL/v2/")" = 404 ]
	config '{"expire_registry_tokens": true}'
	[[ $(reg /v2/) == *DENIED*"Your authorization token has expired. Reauthenticate and try again."*403 ]]
}

@test "fakeaws: uploads work in one piece, and in chunks as badly as on ECR" {
	start_fakeaws
	login
	make_image
	[ "$(upload layer)" = 201 ]
	[ "$(reg "/v2/team/app/blobs/$(sum layer)" -I | status_of)" = 200 ]
	at=$(begin_upload)
	[[ $at == *\?* ]]
	head -c 1000 layer >one
	tail -c +1001 layer >two
	reg "$at" -X PATCH --data-binary @one -H 'Content-Range: 0-999' -D head >answer
	[ "$(status_of <answer)" = 201 ]
	grep -qi '^range: 0-999' head
	[ "$(reg "$at" -X PATCH --data-binary @two -H 'Content-Range: 1000-2999' -D head | status_of)" = 201 ]
	grep -qi '^range: 0-999' head
	[[ $(reg "$at&digest=$(sum layer)" -X PUT) == *DIGEST_INVALID*400 ]]
	[[ $(reg "$at" -X PATCH --data-binary @one -H 'Content-Range: 0-999') == *BLOB_UPLOAD_INVALID*"First byte of the layer part is 0 instead of 1000"*416 ]]
	[[ $(reg "$at&digest=$(sum layer)" -X PUT --data-binary @layer) == *BLOB_UPLOAD_INVALID*416 ]]
	[[ $(reg "${at%%\?*}?digest=$(sum layer)" -X PUT --data-binary @layer) == *BLOB_UPLOAD_UNKNOWN*404 ]]
	at=$(begin_upload)
	[[ $(reg "$at&digest=$(sum config)" -X PUT --data-binary @layer) == *DIGEST_INVALID*400 ]]
	at=$(begin_upload)
	[ "$(reg "$at" -X PATCH -H 'Transfer-Encoding: chunked' --data-binary @config | status_of)" = 201 ]
	[ "$(reg "$at&digest=$(sum config)" -X PUT | status_of)" = 201 ]
}

@test "fakeaws: an upload to nowhere, or without the right, ends in an error or in silence" {
	start_fakeaws
	login
	[[ $(reg /v2/team/none/blobs/uploads/ -X POST) == *NAME_UNKNOWN*"The repository with name 'team/none' does not exist in the registry with id '123456789012'"*404 ]]
	config '{"upload_missing_repository": "eof", "upload_denied": "eof"}'
	run reg /v2/team/none/blobs/uploads/ -X POST
	[ "$status" -eq 52 ]
	config '{"create_on_push": ["auto"]}'
	[ "$(reg /v2/auto/made/blobs/uploads/ -X POST | status_of)" = 202 ]
	WHO=$LIMITED login
	run reg /v2/team/app/blobs/uploads/ -X POST
	[ "$status" -eq 52 ]
	config '{"upload_denied": null}'
	[[ $(reg /v2/team/app/blobs/uploads/ -X POST) == *DENIED*ecr:InitiateLayerUpload*403 ]]
	[[ $(reg /v2/team/app/manifests/v1) == *DENIED*ecr:BatchGetImage*403 ]]
}

@test "fakeaws: manifests are held to ECR's rules, tags to the repository's" {
	start_fakeaws
	login
	make_image
	[[ $(put_manifest team/app/manifests/v1 manifest) == *BLOB_UNKNOWN*"$(sum layer)"*404 ]]
	for repository in team/app team/fixed; do
		[ "$(upload layer $repository)" = 201 ]
		[ "$(upload config $repository)" = 201 ]
		[ "$(put_manifest $repository/manifests/v1 manifest | status_of)" = 201 ]
	done
	immutable="The image tag 'v1' already exists in the 'team/fixed' repository and cannot be overwritten because the tag is immutable"
	[[ $(put_manifest team/fixed/manifests/v1 manifest) == *TAG_INVALID*"$immutable"*400 ]]
	[ "$(put_manifest team/fixed/manifests/dev1 manifest | status_of)" = 201 ]
	[ "$(put_manifest team/fixed/manifests/dev1 manifest | status_of)" = 201 ]
	[ "$(put_manifest "team/app/manifests/$(sum manifest)" manifest | status_of)" = 201 ]
	syntax="Invalid parameter at 'ImageManifest' failed to satisfy constraint: 'Invalid JSON syntax'"
	sed 's/"mediaType":"[^"]*",//' manifest >untyped
	[[ $(put_manifest team/app/manifests/v2 untyped) == *UNSUPPORTED*"$syntax"*405 ]]
	sed 's/layer.v1.tar"/layer.v1.tar;x=1"/' manifest >parameters
	[[ $(put_manifest team/app/manifests/v2 parameters) == *UNSUPPORTED*405 ]]
	[ "$(reg /v2/team/app/manifests/v2 -X PUT --data-binary @manifest -H "Content-Type: $OCI;x=1" | status_of)" = 405 ]
	{ cat manifest && head -c 4194304 /dev/zero | tr '\0' ' '; } >large
	[[ $(put_manifest team/app/manifests/v2 large) == *UNSUPPORTED*4194304*405 ]]
	index=application/vnd.oci.image.index.v1+json
	printf '{"schemaVersion":2,"mediaType":"%s","manifests":[{"mediaType":"%s","digest":"%s","size":1}]}' \
		$index $OCI "$(sum layer)" >index
	[[ $(reg /v2/team/app/manifests/v2 -X PUT --data-binary @index -H "Content-Type: $index") == *"Images with digests"*400 ]]
	config '{"putimage_per_second": 1}'
	local n puts=()
	sleep 1
	[ "$(put_manifest team/app/manifests/v3 manifest | status_of)" = 201 ]
	# At once, for on a busy machine two calls may take more than that second.
	for n in 4 5 6 7; do
		put_manifest "team/app/manifests/v$n" manifest >"put$n" 3>&- &
		puts+=($!)
	done
	wait "${puts[@]}"
	[[ $(cat put[4-7]) == *TOOMANYREQUESTS*"Rate exceeded"*429* ]]
}

@test "fakeaws: blobs come from S3 without our Authorization, mounts only where ECR mounts" {
	start_fakeaws
	login
	make_image
	[ "$(upload layer)" = 201 ]
	blob=/v2/team/app/blobs/$(sum layer)
	to=$(reg "$blob" -o /dev/null -w '%{redirect_url}')
	[[ $to == http://localhost:$PORT/s3/*X-Amz-Signature=* ]]
	curl -sSf -o back "$to"
	cmp back layer
	[[ $(reg "$to") == *"Only one auth mechanism allowed"*400 ]]
	mount="/v2/team/other/blobs/uploads/?mount=$(sum layer)&from=team/app"
	[ "$(reg "$mount" -X POST | status_of)" = 202 ]
	config '{"account_settings": {"BLOB_MOUNTING": "ENABLED"}}'
	[ "$(reg "$mount" -X POST | status_of)" = 202 ]
	[ "$(upload config)" = 201 ]
	[ "$(put_manifest team/app/manifests/v1 manifest | status_of)" = 201 ]
	[ "$(reg "$mount" -X POST | status_of)" = 201 ]
	[ "$(reg "${mount/other/kms}" -X POST | status_of)" = 202 ]
	config '{"users": {"'$KEY'": {"deny": ["ecr:GetDownloadUrlForLayer"]}}}'
	[ "$(reg "${mount/other/fixed}" -X POST | status_of)" = 202 ]
}

@test "fakeaws: the token can die in the middle of a blob" {
	start_fakeaws
	login
	make_image
	for mode in end cut; do
		config "{\"expire_token_after_bytes\": 2000, \"expire_mode\": \"$mode\"}"
		[ "$(upload layer)" = 403 ]
		[ "$(reg /v2/ | status_of)" = 403 ]
		login
		[ "$(upload layer)" = 201 ]
	done
}

@test "fakeaws: scans go through their states and count their findings" {
	start_fakeaws
	login
	make_image
	for file in layer config; do [ "$(upload $file)" = 201 ]; done
	[ "$(put_manifest team/app/manifests/v1 manifest | status_of)" = 201 ]
	config '{"scan": {"statuses": ["PENDING", "IN_PROGRESS", "COMPLETE"], "findings": {"HIGH": 2, "LOW": 1}}}'
	ask='{"repositoryName":"team/app","imageId":{"imageTag":"v1"}}'
	[[ $(api DescribeImageScanFindings "$ask") == *ScanNotFoundException* ]]
	[[ $(api DescribeImageScanFindings "${ask/v1/v2}") == *ImageNotFoundException* ]]
	[ "$(api StartImageScan "$ask" | json 'd["imageScanStatus"]["status"]')" = IN_PROGRESS ]
	for expected in PENDING IN_PROGRESS COMPLETE COMPLETE; do
		api DescribeImageScanFindings "$ask" >findings
		[ "$(json 'd["imageScanStatus"]["status"]' <findings)" = $expected ]
	done
	[ "$(json 'd["imageScanFindings"]["findingSeverityCounts"]["HIGH"]' <findings)" = 2 ]
	[ "$(json 'len(d["imageScanFindings"]["findings"])' <findings)" = 3 ]
	[ "$(api DescribeImages '{"repositoryName":"team/app"}' | json 'd["imageDetails"][0]["imageDigest"]')" = "$(sum manifest)" ]
}

@test "fakeaws: ECR Public has its own API, hosts and Bearer tokens" {
	start_fakeaws
	TARGET=SpencerFrontendService
	basic=$(SCOPE=us-east-1:ecr-public api GetAuthorizationToken '{}' | json 'd["authorizationData"]["authorizationToken"]')
	[[ $(SCOPE=us-east-1:ecr-public api CreateRepository '{"repositoryName":"tool"}') == *public.ecr.aws/a1b2c3d4/tool* ]]
	public() { curl -sS -w '\n%{http_code}' -H 'Host: public.ecr.aws' "$@"; }
	[[ $(public -D - "$URL/v2/") == *'Bearer realm="http://public.ecr.aws/token/",service="public.ecr.aws",scope="aws"'*401 ]]
	anonymous=$(curl -sS "$URL/token/?service=public.ecr.aws&scope=aws" | json 'd["token"]')
	bearer=$(curl -sS -H "Authorization: Basic $basic" "$URL/token/?service=public.ecr.aws&scope=aws" | json 'd["token"]')
	uploads=$URL/v2/a1b2c3d4/tool/blobs/uploads/
	[ "$(public -X POST -H "Authorization: Bearer $anonymous" "$uploads" | status_of)" = 403 ]
	[ "$(public -X POST -H "Authorization: Bearer $bearer" "$uploads" | status_of)" = 202 ]
	config '{"expire_registry_tokens": true}'
	[ "$(public -X POST -H "Authorization: Bearer $bearer" "$uploads" | status_of)" = 400 ]
}

@test "fakeaws: faults come when they are due" {
	start_fakeaws
	config '{"faults": [{"op": "DescribeRegistry", "nth": 2, "code": "ThrottlingException", "message": "Rate exceeded"},
		{"op": "GetAccountSetting", "first": 1, "close": true},
		{"op": "DescribeImages", "kind": "html", "status": 502},
		{"op": "CreateRepository", "after": true, "close": true},
		{"service": "registry", "op": "session", "cut_request": 1000}]}'
	[[ $(api DescribeRegistry '{}') == *registryId* ]]
	[[ $(api DescribeRegistry '{}') == *ThrottlingException* ]]
	[[ $(api DescribeRegistry '{}') == *registryId* ]]
	run api GetAccountSetting '{"name":"BLOB_MOUNTING"}'
	[ "$status" -eq 52 ]
	[[ $(api GetAccountSetting '{"name":"BLOB_MOUNTING"}') == *DISABLED* ]]
	[[ $(api DescribeImages '{"repositoryName":"team/app"}') == *"502 Bad Gateway"* ]]
	run api CreateRepository '{"repositoryName":"team/made"}'
	[ "$status" -eq 52 ]
	[[ $(api DescribeRepositories '{"repositoryNames":["team/made"]}') == *team/made* ]]
	login
	head -c 9000000 /dev/zero >layer
	run upload layer
	[[ $output != *201 ]]
	[ "$(grep -c '"status": 0' "$LOG")" -eq 3 ]
}

@test "fakeaws: the real names answer over TLS, and the fixed metadata addresses in a namespace" {
	self_signed api.ecr.us-east-1.amazonaws.com "$HOST"
	start_fakeaws --cert cert.pem --key key.pem
	curl -sSf --cacert cert.pem --connect-to "::127.0.0.1:$HTTPS_PORT" --aws-sigv4 aws:amz:us-east-1:ecr \
		--user "$KEY:$SECRET" -H "X-Amz-Target: $TARGET.GetAuthorizationToken" \
		-H 'Content-Type: application/x-amz-json-1.1' -d '{}' https://api.ecr.us-east-1.amazonaws.com/ >token.json
	token=$(json 'd["authorizationData"][0]["authorizationToken"]' <token.json)
	curl -sSf --cacert cert.pem --connect-to "::127.0.0.1:$HTTPS_PORT" -H "Authorization: Basic $token" "https://$HOST/v2/"
	[ "$(curl -sk -o /dev/null -w '%{http_code}' "https://127.0.0.1:$HTTPS_PORT/latest/meta-data/")" = 404 ]
	need ip
	unshare -rn true 2>/dev/null || skip "no network namespace can be made here"
	run unshare -rn bash -c '
		ip link set lo up && ip addr add 169.254.169.254/32 dev lo && ip addr add 169.254.170.23/32 dev lo || exit 1
		"$0" --ready ns.ready --config config.json --bind-metadata 169.254.169.254:80 --bind-metadata 169.254.170.23:80 3>&- &
		until [[ -s ns.ready ]]; do sleep 0.05; done
		curl -s -H "Authorization: pod-token" http://169.254.170.23/v1/credentials
		curl -s -o /dev/null -w "%{http_code}" http://169.254.169.254/latest/meta-data/iam/security-credentials/
		kill $!' "$ROOT/tests/servers/fakeaws"
	[[ $output == *SecretAccessKey*401 ]]
}
