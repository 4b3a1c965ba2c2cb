# Keys, tokens and passwords that get into images, each beside a near miss. They are made up, and written in pieces, so
# that no scanner takes this file for a leak.
# shellcheck shell=bash

# holds PATH DEFECT TWIN: an image with one file of that content, by $kind.
holds() {
	if [[ $kind == defect ]]; then printf '%b' "$2" >content; else printf '%b' "$3" >content; fi
	spec 'layers:' "  - files: [{from: content, to: $1}]"
}

# configured DEFECT TWIN: an image with that line in its section, by $kind.
configured() {
	echo x >content
	spec "$([[ $kind == defect ]] && echo "$1" || echo "$2")" 'layers:' '  - files: [{from: content, to: /x}]'
}

RANDOM_16=q7Yx1Lw9Zr3Tn5Vb
RANDOM_36=${RANDOM_16}8Mc2Kd6Fg0Hj4PsAeRuI
RANDOM_40=${RANDOM_36}oWtB
RANDOM_64=$RANDOM_40${RANDOM_16}8Mc2Kd6F

# a key as openssl writes it
a_key() { openssl genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:P-256 "$@" 2>/dev/null || openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 "$@" 2>/dev/null; }
public_half() { a_key | openssl pkey -pubout; }

# key_file PATH COMMAND...: the command turns a private key on standard input into the defect, a public one into the twin.
key_file() {
	local path=$1
	shift
	if [[ $kind == defect ]]; then a_key | "$@" >content; else public_half | "$@" >content; fi
	spec 'layers:' "  - files: [{from: content, to: $path}]"
}

# ---- the configuration ----

defect secret-in-env secret error
plant_secret_in_env() {
	local kind=$1
	configured "env: {API: 'gh""p_$RANDOM_36'}" "env: {API: 'gh""p_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'}"
}

defect password-in-env secret warning
plant_password_in_env() {
	local kind=$1
	configured "env: {DB_PASSWORD: hunter2}" "env: {DB_PASSWORD_FILE: /run/secrets/db}"
}

defect key-in-env secret warning
plant_key_in_env() {
	local kind=$1
	configured "env: {SESSION_KEY: $RANDOM_36}" "env: {GPG_KEY: 7169605F62C751356D054A26A821E680E5FA6305}"
}

defect url-with-password-in-env secret warning
plant_url_with_password_in_env() {
	local kind=$1
	configured "env: {DATABASE_URL: 'postgres://app:hunter2@db/app'}" "env: {DATABASE_URL: 'postgres://app@db/app'}"
}

defect aws-key-in-env secret error
plant_aws_key_in_env() {
	local kind=$1
	configured "env: {AWS_SECRET_ACCESS_KEY: $RANDOM_40}" "env: {AWS_SECRET_ACCESS_KEY: ''}"
}

defect secret-in-label secret error
plant_secret_in_label() {
	local kind=$1
	configured "labels: {org.example.ci: 'gl""pat-$RANDOM_36'}" "labels: {org.example.ci: 'gl""pat-<token>'}"
}

defect secret-in-annotation secret error
plant_secret_in_annotation() {
	local kind=$1
	configured "annotations: {org.example.hook: 'https://hooks.slack"".com/services/T0A1B2C3D/B0E1F2G3H/${RANDOM_16}8Mc2Kd6F'}" \
		"annotations: {org.example.hook: 'https://hooks.slack"".com/services/'}"
}

defect secret-in-command secret warning
plant_secret_in_command() {
	local kind=$1
	static_program app
	local line
	if [[ $kind == defect ]]; then line="cmd: [--password, hunter2]"; else line="cmd: [--password-file, /x/password]"; fi
	spec 'entrypoint: [/app]' "$line" 'layers:' '  - files: [{from: app, to: /app}]'
}

# ---- private keys ----

defect pem-key secret error
plant_pem_key() { local kind=$1 && key_file /srv/tls.key cat; }

defect pem-key-in-base64 secret error
plant_pem_key_in_base64() { local kind=$1 && key_file /srv/key.b64 base64 -w0; }

one_line() { awk '{ printf "%s\\n", $0 }'; }
defect pem-key-on-one-line secret error
plant_pem_key_on_one_line() { local kind=$1 && key_file /srv/key.json one_line; }

defect pem-key-in-utf16 secret error
plant_pem_key_in_utf16() { local kind=$1 && key_file /srv/key.txt iconv -t UTF-16; }

defect locked-pem-key secret warning
plant_locked_pem_key() {
	if [[ $1 == defect ]]; then a_key -aes256 -pass pass:x >content; else public_half >content; fi
	spec 'layers:' '  - files: [{from: content, to: /srv/tls.key}]'
}

defect der-key secret error
plant_der_key() {
	if [[ $1 == defect ]]; then
		a_key | openssl pkcs8 -topk8 -nocrypt -outform DER -out content
	else
		public_half | openssl pkey -pubin -pubout -outform DER -out content
	fi
	spec 'layers:' '  - files: [{from: content, to: /srv/key.der}]'
}

defect pkcs12-store secret warning
plant_pkcs12_store() {
	openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=x -keyout key -out cert 2>/dev/null
	if [[ $1 == defect ]]; then
		openssl pkcs12 -export -inkey key -in cert -passout pass:x -out content
	else
		openssl pkcs12 -export -nokeys -in cert -passout pass:x -out content
	fi
	spec 'layers:' '  - files: [{from: content, to: /srv/store.p12}]'
}

defect putty-key secret error
plant_putty_key() {
	local kind=$1
	holds /srv/key.ppk "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: x\n" \
		"PuTTY-User-Key-File-3 is what such a file begins with\n"
}

defect host-key secret error
plant_host_key() {
	ssh-keygen -q -t ed25519 -N '' -C x -f key
	[[ $1 == defect ]] || mv key.pub key
	spec 'layers:' '  - files: [{from: key, to: /etc/ssh/ssh_host_ed25519_key}]'
}

# ---- files of programs ----

defect aws-credentials secret error
plant_aws_credentials() {
	local kind=$1
	holds /root/.aws/credentials "[default]\naws_access_key_id = AK""IA4QXZ7JW2NPD3KLM5\naws_secret_access_key = $RANDOM_40\n" \
		"[default]\ncredential_process = /usr/bin/helper\n"
}

defect kubeconfig-token secret error
plant_kubeconfig_token() {
	local kind=$1
	holds /root/.kube/config "users:\n- name: x\n  user:\n    token: $RANDOM_36\n" \
		"users:\n- name: x\n  user:\n    tokenFile: /x/token\n"
}

defect npmrc-token secret error
plant_npmrc_token() {
	local kind=$1
	holds /app/.npmrc "//registry.example.com/:_authToken=$RANDOM_16\n" \
		"//registry.example.com/:_authToken=\${NPM_TOKEN}\n"
}

defect pypirc-password secret error
plant_pypirc_password() {
	local kind=$1
	holds /root/.pypirc "[pypi]\nusername = me\npassword = hunter2\n" "[pypi]\nusername = me\n"
}

defect git-credentials secret error
plant_git_credentials() {
	local kind=$1
	holds /root/.git-credentials "https://me:hunter2@example.com\n" "https://me@example.com\n"
}

defect netrc-password secret error
plant_netrc_password() {
	local kind=$1
	holds /root/.netrc "machine example.com login me password hunter2\n" "machine example.com login me\n"
}

defect docker-credentials secret error
plant_docker_credentials() {
	local kind=$1
	holds /root/.docker/config.json '{"auths":{"example.com":{"auth":"bWU6aHVudGVyMg=="}}}' '{"credsStore":"ecr-login"}'
}

defect env-file secret warning
plant_env_file() {
	local kind=$1
	holds /app/.env "DB_HOST=db\nDB_PASSWORD=hunter2\n" "DB_HOST=db\nDB_PASSWORD=\${DB_PASSWORD}\n"
}

defect maven-password secret error
plant_maven_password() {
	local kind=$1
	holds /root/.m2/settings.xml "<server><password>hunter2</password></server>" \
		"<server><password>\${env.PASSWORD}</password></server>"
}

# ---- tokens, wherever they stand ----

defect vault-token secret error
plant_vault_token() {
	local kind=$1
	holds /app/conf "token: hv""s.CAESI$RANDOM_36\n" "token: hv""s.<token>\n"
}

defect slack-token secret error
plant_slack_token() {
	local kind=$1
	holds /app/conf "xo""xb-2153708493-4815162342-${RANDOM_16}8Mc2Kd6F\n" "xo""xb-your-token-here\n"
}

defect stripe-key secret error
plant_stripe_key() {
	local kind=$1
	holds /app/conf "sk_""live_${RANDOM_16}8Mc2Kd6F\n" "sk_""test_${RANDOM_16}8Mc2Kd6F\n"
}

defect google-client-secret secret error
plant_google_client_secret() {
	local kind=$1
	holds /app/client.json "{\"client_secret\":\"GOC""SPX-${RANDOM_16}8Mc2Kd6Fg0Hj\"}" "{\"client_secret\":\"\"}"
}

defect hugging-face-token secret error
plant_hugging_face_token() {
	local kind=$1
	holds /app/token "hf""_qYxLwZrTnVbMcKdFgHjPsAeRuIoWtBqYxL" "hf""_hub_download"
}

defect openai-key secret error
plant_openai_key() {
	local kind=$1
	holds /app/conf "s""k-proj-${RANDOM_36}T3Blbk""FJ$RANDOM_36\n" "s""k-proj-...\n"
}

defect azure-storage-key secret error
plant_azure_storage_key() {
	local kind=$1
	holds /app/conf "AccountName=x;AccountKey=$RANDOM_64${RANDOM_16}8Mc2Kd==;\n" "AccountName=x;AccountKey=\${KEY};\n"
}

defect web-token secret warning
plant_web_token() {
	local kind=$1
	holds /var/token "eyJhbGci""OiJSUzI1NiJ9.eyJpc3MiOiJrdWJlcm5ldGVzIn0.$RANDOM_64" "eyJhbGci""OiJSUzI1NiJ9"
}

# ---- in archives ----

defect secret-in-gzip secret error
plant_secret_in_gzip() {
	local kind=$1
	holds /srv/log.gz "token gl""pat-$RANDOM_36\n" "token gl""pat-<token>\n"
	gzip -n <content >packed && mv packed content
}

defect secret-in-wheel secret error
plant_secret_in_wheel() {
	local kind=$1
	holds /srv/app-1-py3-none-any.whl "password = hunter2\n" "username = me\n"
	python3 -c 'import zipfile
with zipfile.ZipFile("packed", "w", zipfile.ZIP_DEFLATED) as z: z.write("content", "app/.pypirc")'
	mv packed content
}

defect secret-in-jar secret error
plant_secret_in_jar() {
	local kind=$1
	holds /srv/app.jar "stripe=sk_""live_${RANDOM_16}8Mc2Kd6F\n" "stripe=\${STRIPE}\n"
	python3 -c 'import zipfile
with zipfile.ZipFile("packed", "w") as z: z.write("content", "BOOT-INF/classes/application.properties")'
	mv packed content
}

# What no check can see: encrypted contents, and archives inside archives.
defect secret-in-nested-archive secret missed
plant_secret_in_nested_archive() {
	local kind=$1
	holds /srv/log.gz "token gl""pat-$RANDOM_36\n" "token\n"
	gzip -n <content | gzip -n >packed && mv packed content
}

defect secret-encrypted secret missed
plant_secret_encrypted() {
	local kind=$1
	holds /srv/kept.bin "token gl""pat-$RANDOM_36\n" "token\n"
	openssl enc -aes-256-cbc -pbkdf2 -pass pass:x -in content -out packed && mv packed content
}
