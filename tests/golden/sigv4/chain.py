"""Variables and files in, keys or a refusal out, with everything that was asked on the way."""
import io
import json
import os

import botocore.awsrequest
import botocore.exceptions
import botocore.httpsession
import botocore.session
import botocore.utils

import out
from configured import World

BASE = {"AWS_REGION": "us-east-1", "AWS_DEFAULT_REGION": "us-east-1"}
LATER = "2099-01-01T00:00:00Z"
STATIC = "aws_access_key_id = FILE\naws_secret_access_key = secret\n"
NODE = json.dumps({"Code": "Success", "AccessKeyId": "NODE", "SecretAccessKey": "s", "Token": "t", "Expiration": LATER})
POD = json.dumps({"AccessKeyId": "POD", "SecretAccessKey": "s", "Token": "t", "Expiration": LATER})
ROLE = ("<{0}Response xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><{0}Result><Credentials><AccessKeyId>ROLE{1}"
        "</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>" + LATER +
        "</Expiration></Credentials></{0}Result></{0}Response>")
SSO = json.dumps({"roleCredentials": {"accessKeyId": "SSO", "secretAccessKey": "s", "sessionToken": "t",
                                      "expiration": 4070908800000}})
METADATA, CONTAINER, EKS = "http://169.254.169.254", "http://169.254.170.2", "http://169.254.170.23"
NODE_ANSWERS = {f"{METADATA}/latest/api/token": "token",
                f"{METADATA}/latest/meta-data/iam/security-credentials/": "node",
                f"{METADATA}/latest/meta-data/iam/security-credentials/node": NODE}


def role(arn, **more):
    return f"role_arn = arn:aws:iam::123456789012:role/{arn}\n" + "".join(f"{k} = {v}\n" for k, v in more.items())


# Name: environment, files, answers by URL (STS answers by itself); an answer may be a status.
CASES = {
    "environment": ({"AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "s"}, {}, {}),
    "environment_with_token": ({"AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "s", "AWS_SESSION_TOKEN": "t"},
                               {}, {}),
    "environment_before_files": ({"AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "s"},
                                 {"~/.aws/credentials": f"[default]\n{STATIC}"}, {}),
    "environment_before_named_profile": ({"AWS_PROFILE": "default", "AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "s"},
                                   {"~/.aws/credentials": f"[default]\n{STATIC}"}, {}),
    "half_a_key": ({"AWS_ACCESS_KEY_ID": "ENV"}, {}, {}),
    "credentials_file": ({}, {"~/.aws/credentials": f"[default]\n{STATIC}"}, {}),
    "configuration_file": ({}, {"~/.aws/config": f"[default]\n{STATIC}"}, {}),
    "named_profile": ({"AWS_PROFILE": "a"}, {"~/.aws/credentials": f"[default]\nx = y\n[a]\n{STATIC}"}, {}),
    "unknown_profile": ({"AWS_PROFILE": "none"}, {"~/.aws/credentials": f"[a]\n{STATIC}"}, {}),
    "role": ({"AWS_PROFILE": "a"}, {"~/.aws/config": f"[profile a]\n{role('one', source_profile='b')}"
                                                      f"[profile b]\n{STATIC}"}, {}),
    "role_of_a_role": ({"AWS_PROFILE": "a"}, {
        "~/.aws/config": f"[profile a]\n{role('one', source_profile='b')}[profile b]\n{role('two', source_profile='c')}"
                         f"[profile c]\n{STATIC}"}, {}),
    "role_of_itself": ({"AWS_PROFILE": "a"}, {"~/.aws/config": f"[profile a]\n{role('one', source_profile='a')}{STATIC}"},
                       {}),
    "roles_in_a_circle": ({"AWS_PROFILE": "a"}, {
        "~/.aws/config": f"[profile a]\n{role('one', source_profile='b')}[profile b]\n{role('two', source_profile='a')}"},
                          {}),
    "role_without_source": ({"AWS_PROFILE": "a"}, {"~/.aws/config": f"[profile a]\n{role('one')}"}, {}),
    "role_of_unknown_source": ({"AWS_PROFILE": "a"}, {"~/.aws/config": f"[profile a]\n{role('one', source_profile='z')}"},
                               {}),
    "role_from_environment": ({"AWS_PROFILE": "a", "AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "s"},
                              {"~/.aws/config": f"[profile a]\n{role('one', credential_source='Environment')}"}, {}),
    "role_from_node": ({"AWS_PROFILE": "a"},
                       {"~/.aws/config": f"[profile a]\n{role('one', credential_source='Ec2InstanceMetadata')}"},
                       NODE_ANSWERS),
    "role_from_container": ({"AWS_PROFILE": "a", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/x"},
                            {"~/.aws/config": f"[profile a]\n{role('one', credential_source='EcsContainer')}"},
                            {f"{CONTAINER}/x": POD}),
    "role_from_nowhere": ({"AWS_PROFILE": "a"},
                          {"~/.aws/config": f"[profile a]\n{role('one', credential_source='Elsewhere')}"}, {}),
    "web_identity": ({"AWS_WEB_IDENTITY_TOKEN_FILE": "/token", "AWS_ROLE_ARN": "arn:aws:iam::123456789012:role/w",
                      "AWS_ROLE_SESSION_NAME": "run-7"}, {"/token": "jwt.of.pod"}, {}),
    "web_identity_in_profile": ({"AWS_PROFILE": "a"}, {
        "~/.aws/config": f"[profile a]\n{role('w', web_identity_token_file='/token')}", "/token": "jwt.of.pod"}, {}),
    "container": ({"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/v2/credentials/1"}, {},
                  {f"{CONTAINER}/v2/credentials/1": POD}),
    "pod_identity": ({"AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{EKS}/v1/credentials",
                      "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "/token"}, {"/token": "jwt.of.pod"},
                     {f"{EKS}/v1/credentials": POD}),
    "container_loopback": ({"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1:8080/c"}, {},
                           {"http://127.0.0.1:8080/c": POD}),
    "container_elsewhere": ({"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://192.0.2.1/c"}, {}, {}),
    "container_before_node": ({"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/x"}, {}, {f"{CONTAINER}/x": POD,
                                                                                    **NODE_ANSWERS}),
    "node": ({}, {}, NODE_ANSWERS),
    "node_elsewhere": ({"AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://192.0.2.7:1338"}, {},
                       {url.replace(METADATA, "http://192.0.2.7:1338"): text for url, text in NODE_ANSWERS.items()}),
    "node_over_ipv6": ({"AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE": "IPv6"}, {},
                       {url.replace(METADATA, "http://[fd00:ec2::254]"): text for url, text in NODE_ANSWERS.items()}),
    "node_disabled": ({"AWS_EC2_METADATA_DISABLED": "true"}, {}, NODE_ANSWERS),
    "sso": ({}, {"~/.aws/config": "[default]\nsso_session = s\nsso_account_id = 123456789012\nsso_role_name = r\n"
                                  "[sso-session s]\nsso_region = eu-west-1\nsso_start_url = https://example.com/start\n",
                 "~/.aws/sso/cache/a0f1490a20d0211c997b44bc357e1972deab8ae3.json":
                     json.dumps({"accessToken": "t", "expiresAt": LATER})}, {"portal": SSO}),
    "sso_of_old": ({}, {"~/.aws/config": "[default]\nsso_account_id = 123456789012\nsso_role_name = r\n"
                                         "sso_region = eu-west-1\nsso_start_url = https://example.com/start\n",
                        "~/.aws/sso/cache/b343494cf15ba6b81449840ea93161cf3b27e5e3.json":
                            json.dumps({"accessToken": "t", "expiresAt": LATER})}, {"portal": SSO}),
    "nothing": ({"AWS_EC2_METADATA_DISABLED": "true"}, {}, {}),
}


class Raw(io.BytesIO):
    def stream(self, *_, **__):
        yield self.getvalue()


class Wire:
    """Answers what botocore sends, and keeps it."""

    def __init__(self, answers):
        self.answers, self.events, self.roles = answers, [], 0

    def answer(self, request):
        body = request.body or b""
        body = body.decode() if isinstance(body, bytes) else str(body)
        for action in ("AssumeRoleWithWebIdentity", "AssumeRole"):
            if f"Action={action}&" in body + "&":
                self.roles += 1
                return 200, ROLE.format(action, self.roles)
        if request.url.startswith("https://portal.sso."):
            return 200, self.answers["portal"]
        found = self.answers.get(request.url, 404)
        return (found, "") if isinstance(found, int) else (200, found)

    def send(self, _session, request):
        status, text = self.answer(request)
        n = len(self.events) // 3
        for action in ({"Request": {"request": {"method": request.method, "uri": request.url}}},
                       {"Response": {"response": {"Ok": {"status": status}}}},
                       {"Data": {"data": {"Utf8": text}, "direction": "Response"}}):
            self.events.append({"connection_id": n, "action": action})
        return botocore.awsrequest.AWSResponse(request.url, status, {}, Raw(text.encode()))


def cache_under_home(cache, _folder=None, dumps_func=None):
    """botocore finds the folder of SSO's tokens once, when it is imported: before a case has its home."""
    CACHE(cache, os.path.expanduser("~/.aws/sso/cache"), dumps_func)


CACHE = botocore.utils.JSONFileCache.__init__


def ask(wire):
    botocore.utils.JSONFileCache.__init__ = cache_under_home
    botocore.httpsession.URLLib3Session.send = lambda session, request: wire.send(session, request)
    try:
        found = botocore.session.Session().get_credentials()
        keys = found.get_frozen_credentials() if found else None
    except (botocore.exceptions.BotoCoreError, ValueError) as error:
        return {"ErrorContains": type(error).__name__}
    if keys is None:
        return {"ErrorContains": "none"}
    ok = {"access_key_id": keys.access_key, "secret_access_key": keys.secret_key}
    return {"Ok": {**ok, **({"session_token": keys.token} if keys.token else {})}}


def make_case(folder, name, env, files, answers):
    wire = Wire(answers)
    env = {**BASE, **env}
    with World({}, files) as home:
        # Only botocore's own files are looked for elsewhere: under this case's root.
        rooted = {key: f"{home}{value}" if key.endswith("_FILE") else value for key, value in env.items()}
        moved = {path: text.replace("= /token", f"= {home}/token") for path, text in files.items()}
        for path, text in moved.items():
            out.text(os.path.join(home, path.lstrip("/").replace("~", "home", 1)), text)
        os.environ.update(rooted)
        result = ask(wire)
    out.document(f"{folder}/env.json", {"HOME": "/home", **env})
    for path, text in files.items():
        out.text(f"{folder}/fs/{path.lstrip('/').replace('~', 'home', 1)}", text)
    out.document(f"{folder}/http-traffic.json", {"events": wire.events})
    out.document(f"{folder}/test-case.json", {"name": name, "result": result})
    return result


# A test each, by how the case's name begins.
FOLDERS = {"role": "roles", "container": "container", "pod": "container", "node": "node", "sso": "profile-provider",
           "named": "profile-provider", "unknown": "profile-provider", "configuration": "profile-provider",
           "": "default-credential-provider-chain"}


def make(here):
    found = 0
    for name, (env, files, answers) in CASES.items():
        folder = next(FOLDERS[start] for start in FOLDERS if name.startswith(start))
        found += "Ok" in make_case(f"{here}/credchain/{folder}/{name}", name, env, files, answers)
    return f"credchain: {len(CASES)} cases, keys in {found}"
