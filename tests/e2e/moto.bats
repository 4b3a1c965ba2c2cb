#!/usr/bin/env bats
# The same pushes against moto, an ECR that nobody here wrote, with its signature and permission checks on;
# the registry half is Debian's docker-registry with moto's password.

load lib

HOST=123456789012.dkr.ecr.us-east-1.amazonaws.com

setup() {
	command -v moto_server >/dev/null || skip "moto_server is not installed"
	common_setup
	need htpasswd
	unset "${!AWS_@}"
	export AWS_EC2_METADATA_DISABLED=true AWS_DEFAULT_REGION=us-east-1 AWS_PAGER=
	moto_port=$((20000 + RANDOM % 20000))
	moto_server -H 127.0.0.1 -p "$moto_port" >moto.log 2>&1 3>&- &
	PIDS+=($!)
	export AWS_ENDPOINT_URL=http://127.0.0.1:$moto_port
	local i
	for ((i = 0; i < 150; i++)); do
		curl -sf -o /dev/null "$AWS_ENDPOINT_URL/moto-api/" && break
		sleep 0.2
	done
	self_signed "$HOST"
	htpasswd -Bbn AWS 123456789012-auth-token >htpasswd
	start_registry "  tls: {certificate: $PWD/cert.pem, key: $PWD/key.pem}" \
		"auth: {htpasswd: {realm: r, path: $PWD/htpasswd}}"
	TO=(--ca cert.pem --connect-to "$HOST:443:$REG" --progress none)
	make_tree tree
	make_spec slipway.yaml
	"$SLIPWAY" build --progress none -o image >build.out
}
# A call that the aws command makes of itself: any version takes --endpoint-url.
call_aws() { aws --endpoint-url "$AWS_ENDPOINT_URL" "$@"; }
teardown() { [[ -z ${PIDS:-} ]] || common_teardown; }

# iam ACTION PARAMETER...: as root, before signatures are checked; prints the XML.
iam() {
	local args=() pair
	for pair in "${@:2}"; do args+=(--data-urlencode "$pair"); done
	curl -sSf -d "Action=$1" -d Version=2010-05-08 "${args[@]}" -H 'Authorization: AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=0' \
		"$AWS_ENDPOINT_URL/"
}

@test "moto: a repository is made and an image pushed, with signatures and permissions checked" {
	iam CreateUser UserName=ci >/dev/null
	# moto looks at actions only: every request is one to "*".
	policy=$("$SLIPWAY" iam create "$HOST/team/app" | sed 's#"arn:[^"]*"#"*"#')
	iam PutUserPolicy UserName=ci PolicyName=p "PolicyDocument=$policy" >/dev/null
	iam CreateAccessKey UserName=ci >key.xml
	AWS_ACCESS_KEY_ID=$(grep -o '<AccessKeyId>[^<]*' key.xml | cut -d'>' -f2)
	AWS_SECRET_ACCESS_KEY=$(grep -o '<SecretAccessKey>[^<]*' key.xml | cut -d'>' -f2)
	export AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY
	[ -n "$AWS_SECRET_ACCESS_KEY" ]
	curl -sSf -H 'Content-Type: text/plain' -d 0 "$AWS_ENDPOINT_URL/moto-api/reset-auth" >/dev/null
	"$SLIPWAY" push image "$HOST/team/app:v1" --create-repository "${TO[@]}" >push.out
	[ "$(tail -n 1 push.out)" = "$(tail -n 1 build.out)" ]
	"$SLIPWAY" push image "$HOST/team/app:v1" --create-repository "${TO[@]}" | grep -q '^0 blobs uploaded'
	"$SLIPWAY" doctor --registry "$HOST/team/app" --output json "${TO[@]}" >doctor.out
	[ "$(json 'd["account"]' <doctor.out)" = 123456789012 ]
	# What the policy does not allow, and what no key opens.
	run ! "$SLIPWAY" scan "$HOST/team/app:v1" "${TO[@]}"
	[[ $output == *AccessDenied* ]]
	AWS_SECRET_ACCESS_KEY=wrong run ! "$SLIPWAY" push image "$HOST/team/app:v2" "${TO[@]}"
	[[ $output == *SignatureDoesNotMatch* ]]
}

@test "moto: a role, and a web identity, are assumed" {
	mkdir -p "$HOME/.aws"
	printf 'eyJhbGciOiJSUzI1NiJ9.e30.c2ln' >token
	cat >"$HOME/.aws/config" <<-EOF
		[profile role]
		role_arn = arn:aws:iam::123456789012:role/x
		source_profile = keys
		[profile keys]
		aws_access_key_id = AKIA
		aws_secret_access_key = any
		[profile web]
		role_arn = arn:aws:iam::123456789012:role/x
		web_identity_token_file = $PWD/token
	EOF
	for profile in role web; do
		"$SLIPWAY" push image "$HOST/team/$profile:v1" --create-repository --profile "$profile" "${TO[@]}" >push.out
		[ "$(tail -n 1 push.out)" = "$(tail -n 1 build.out)" ]
	done
}

@test "moto: a key in KMS signs and verifies, with the policy that iam prints and signatures checked" {
	export AWS_ACCESS_KEY_ID=any AWS_SECRET_ACCESS_KEY=any
	key=$(call_aws kms create-key --key-spec ECC_NIST_P256 --key-usage SIGN_VERIFY --query KeyMetadata.KeyId --output text)
	call_aws kms create-alias --alias-name alias/release --target-key-id "$key"
	call_aws kms get-public-key --key-id "$key" --query PublicKey --output text | base64 -d | openssl pkey -pubin -inform DER -out k.pub
	other=$(call_aws kms create-key --key-spec RSA_2048 --key-usage ENCRYPT_DECRYPT --query KeyMetadata.KeyId --output text)
	arn=arn:aws:kms:us-east-1:123456789012:key/$key
	iam CreateUser UserName=signer >/dev/null
	# moto looks at actions only, and knows no conditions.
	policy=$("$SLIPWAY" iam sign "$HOST/team/app" --key awskms:///alias/release | json 'json.dumps({"Version": d["Version"], "Statement": [{k: "*" if k == "Resource" else v for k, v in s.items() if k != "Condition"} for s in d["Statement"]]})')
	iam PutUserPolicy UserName=signer PolicyName=p "PolicyDocument=$policy" >/dev/null
	iam CreateAccessKey UserName=signer >key.xml
	AWS_ACCESS_KEY_ID=$(grep -o '<AccessKeyId>[^<]*' key.xml | cut -d'>' -f2)
	AWS_SECRET_ACCESS_KEY=$(grep -o '<SecretAccessKey>[^<]*' key.xml | cut -d'>' -f2)
	curl -sSf -H 'Content-Type: text/plain' -d 0 "$AWS_ENDPOINT_URL/moto-api/reset-auth" >/dev/null
	sign() { "$SLIPWAY" sign --progress none image --key "$@"; }
	sign awskms:///alias/release | grep -q '^3 signatures made'
	sign "awskms:///$arn" | grep -q '^0 signatures made'
	sign "awskms:///$key" --format tag | grep -q '^3 signatures made'
	"$SLIPWAY" verify --key awskms:///alias/release image >/dev/null
	"$SLIPWAY" verify --key k.pub --recursive image | grep -q '^  bundle '
	# Another kind of key, another alias, a secret that is wrong, and a right that is missing.
	run ! sign "awskms:///$other"
	[[ $output == *"the key is for ENCRYPT_DECRYPT, not for signing"* ]]
	run ! sign awskms:///alias/none
	[[ $output == *NotFound* && $output == *AWS_REGION* ]]
	AWS_SECRET_ACCESS_KEY=wrong run ! sign awskms:///alias/release
	[[ $output == *Signature* && $output != *wrong* ]]
	"$SLIPWAY" iam sign "$HOST/team/app" --key awskms:///alias/release | json '[s for s in d["Statement"] if s["Sid"] == "SigningKey"][0]' >statement
	grep -qF "'Action': ['kms:GetPublicKey', 'kms:Sign']" statement
	grep -qF "'Resource': 'arn:aws:kms:us-east-1:123456789012:key/*'" statement
	grep -qF "'kms:RequestAlias': 'alias/release'" statement
	"$SLIPWAY" iam sign "$HOST/team/app" --key "awskms:///$arn" | grep -qF "\"Resource\": \"$arn\""
	run ! grep -q kms <("$SLIPWAY" iam sign "$HOST/team/app" --key k.pem)
}
