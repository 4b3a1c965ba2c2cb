"""Where credentials come from: STS, the SSO portal and its token service, container endpoints, IMDS."""
import json
import re
import time
import urllib.parse
import uuid
from xml.sax.saxutils import escape

import fakeaws_sigv4 as sigv4
from fakeaws_world import Answer, Close, iso, matches, random_text, session_token

STS_NAMESPACE = "https://sts.amazonaws.com/doc/2011-06-15/"
STS_CODES = {"missing": "MissingAuthenticationToken", "incomplete": "IncompleteSignature",
             "unknown": "InvalidClientTokenId", "expired": "ExpiredToken", "signature": "SignatureDoesNotMatch"}


def json_answer(status, value, headers=None):
    return Answer(status, json.dumps(value).encode(), {"Content-Type": "application/json", **(headers or {})})


# ---- STS ----

def xml_of(value):
    if isinstance(value, dict):
        return "".join(f"<{k}>{xml_of(v)}</{k}>" for k, v in value.items())
    return escape(iso(value) if isinstance(value, float) else str(value))


class Sts:
    def __init__(self, world, handler, body):
        self.world, self.handler, self.body = world, handler, body
        self.request_id = str(uuid.uuid4())
        self.json = bool(world.get("sts_json")) and "application/json" in handler.headers.get("Accept", "")

    def reply(self, action, result):
        metadata = {"RequestId": self.request_id}
        headers = {"x-amzn-RequestId": self.request_id}
        if self.json:
            return json_answer(200, {action + "Response": {action + "Result": result, "ResponseMetadata": metadata}},
                               headers)
        text = f'<{action}Response xmlns="{STS_NAMESPACE}">' + xml_of(
            {action + "Result": result, "ResponseMetadata": metadata}) + f"</{action}Response>\n"
        return Answer(200, text.encode(), {"Content-Type": "text/xml", **headers})

    def error(self, status, code, text):
        error = {"Type": "Sender" if status < 500 else "Receiver", "Code": code, "Message": text}
        headers = {"x-amzn-RequestId": self.request_id}
        if self.json:
            return json_answer(status, {"Error": error, "RequestId": self.request_id}, headers)
        body = f'<ErrorResponse xmlns="{STS_NAMESPACE}">' + xml_of(
            {"Error": error, "RequestId": self.request_id}) + "</ErrorResponse>\n"
        return Answer(status, body.encode(), {"Content-Type": "text/xml", **headers})

    def signer(self):
        host = self.handler.bare_host
        found = re.match(r"^sts(?:-fips)?\.([a-z0-9-]+)\.", host)
        region = found.group(1) if found else self.world.region
        if host == "sts.amazonaws.com":
            region = "us-east-1"
        try:
            return sigv4.verify(self.world, self.handler, self.body, "sts", region)
        except sigv4.Refusal as refusal:
            code = STS_CODES.get(refusal.kind) or self.world.get("sts_skew_code", default="SignatureDoesNotMatch")
            raise self.error(400 if refusal.kind == "incomplete" else 403, code, refusal.text) from None

    def serve(self):
        form = urllib.parse.parse_qs(self.body.decode("utf-8", "replace"), keep_blank_values=True)
        self.form = {name: values[0] for name, values in form.items()}
        action = self.form.get("Action", "")
        self.handler.note(op=action)
        operation = {"AssumeRole": self.assume_role, "GetCallerIdentity": self.caller_identity,
                     "AssumeRoleWithWebIdentity": self.web_identity}.get(action)
        fault = self.handler.before("sts", action, self.error)
        if operation is None:
            raise self.error(400, "InvalidAction", f"Could not find operation {action} for version 2011-06-15")
        if self.form.get("Version") != "2011-06-15":
            raise self.error(400, "InvalidAction", "Version must be 2011-06-15")
        with self.world.lock:
            answer = operation()
        self.handler.after(fault, self.error)
        return answer

    def caller_identity(self):
        who = self.signer()
        user = f"AROA{who.key[4:]}:{who.arn.rsplit('/', 1)[1]}" if who.role else f"AIDA{who.key[4:]}"
        return self.reply("GetCallerIdentity", {"Arn": who.arn, "UserId": user, "Account": who.account})

    def validated(self):
        """(role ARN, its configuration or None, session name, seconds)."""
        arn, name = self.form.get("RoleArn", ""), self.form.get("RoleSessionName", "")
        if not re.fullmatch(r"arn:[\w-]+:iam::\d{12}:role/[\w+=,.@/-]+", arn):
            raise self.error(400, "ValidationError", f"{arn} is invalid")
        if not re.fullmatch(r"[\w+=,.@-]{2,64}", name):
            raise self.error(400, "ValidationError", f"1 validation error detected: Value '{name}' at "
                             "'roleSessionName' failed to satisfy constraint: Member must satisfy regular expression "
                             "pattern: [\\w+=,.@-]*")
        seconds = self.form.get("DurationSeconds", "3600")
        if not seconds.isdigit() or not 900 <= int(seconds) <= 43200:
            raise self.error(400, "ValidationError", f"1 validation error detected: Value '{seconds}' at "
                             "'durationSeconds' failed to satisfy constraint: Member must have value between 900 "
                             "and 43200")
        return arn, self.world.get("roles", default={}).get(arn), name, int(seconds)

    def credentials_of(self, session):
        return {"AccessKeyId": session.key, "SecretAccessKey": session.secret, "SessionToken": session.token,
                "Expiration": float(session.expires)}

    def assume_role(self):
        who = self.signer()
        arn, role, name, seconds = self.validated()
        denied = f"User: {who.arn} is not authorized to perform: sts:AssumeRole on resource: {arn}"
        refusal = self.world.refusal(who, "sts:AssumeRole", arn)
        if refusal or role is None:
            raise self.error(403, "AccessDenied", refusal or denied)
        names = [who.arn, who.account, f"arn:aws:iam::{who.account}:root"] + ([who.role] if who.role else [])
        if not any(matches(role.get("trust", ["*"]), n) for n in names):
            raise self.error(403, "AccessDenied", denied)
        if role.get("external_id") is not None and self.form.get("ExternalId") != role["external_id"]:
            raise self.error(403, "AccessDenied", denied)
        if role.get("mfa") and not self.form.get("TokenCode"):
            raise self.error(403, "AccessDenied", denied)
        if who.role and seconds > 3600:
            raise self.error(400, "ValidationError", "The requested DurationSeconds exceeds the 1 hour session limit "
                                                     "for roles assumed by role chaining")
        session = self.world.open_session(arn, name, seconds)
        return self.reply("AssumeRole", {
            "AssumedRoleUser": {"AssumedRoleId": f"AROA{random_text(17)}:{name}", "Arn": session.arn},
            "Credentials": self.credentials_of(session), "PackedPolicySize": 0})

    def web_identity(self):
        if self.handler.headers.get("Authorization"):
            raise self.error(400, "ValidationError", "AssumeRoleWithWebIdentity is an unsigned call here")
        arn, role, name, seconds = self.validated()
        text = self.form.get("WebIdentityToken", "")
        if self.world.idp_errors < self.world.get("idp_communication_errors", default=0):
            self.world.idp_errors += 1
            raise self.error(400, "IDPCommunicationError", "The request to the identity provider could not be "
                                                           "completed because of a network error")
        token = self.world.get("web_tokens", default={}).get(text)
        if token is None:
            raise self.error(400, "InvalidIdentityToken", "The web identity token that was passed could not be "
                                                          "validated by AWS. Get a new identity token.")
        if token.get("expired"):
            raise self.error(400, "ExpiredTokenException", "Token expired: current date/time "
                             f"{int(self.world.now())} must be before the expiration date/time")
        if role is None or not matches(token.get("roles", ["*"]), arn):
            raise self.error(403, "AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity")
        session = self.world.open_session(arn, name, seconds)
        self.handler.note(user=session.key)
        return self.reply("AssumeRoleWithWebIdentity", {
            "SubjectFromWebIdentityToken": token.get("subject", "system:serviceaccount:default:builder"),
            "Audience": "sts.amazonaws.com",
            "AssumedRoleUser": {"AssumedRoleId": f"AROA{random_text(17)}:{name}", "Arn": session.arn},
            "Credentials": self.credentials_of(session),
            "Provider": token.get("provider", "arn:aws:iam::123456789012:oidc-provider/oidc.example")})


# ---- IAM Identity Center ----

def typed_error(status, code, text):
    return json_answer(status, {"message": text}, {"x-amzn-ErrorType": code, "x-amzn-RequestId": str(uuid.uuid4())})


def sso_portal(world, handler):
    """GetRoleCredentials of the portal: unsigned, a bearer token in a header of its own."""
    handler.note(op="GetRoleCredentials", auth="sso" if handler.headers.get("x-amz-sso_bearer_token") else "none")
    if handler.headers.get("Authorization"):
        raise typed_error(400, "InvalidRequestException", "This call carries no Authorization header")
    token = world.get("sso", "tokens", default={}).get(handler.headers.get("x-amz-sso_bearer_token", ""))
    if token is None or token.get("expired"):
        raise typed_error(401, "UnauthorizedException", "Session token not found or invalid")
    account, role = handler.query.get("account_id", ""), handler.query.get("role_name", "")
    if not re.fullmatch(r"\d{12}", account) or not role:
        raise typed_error(400, "InvalidRequestException", "account_id and role_name are required")
    arn = f"arn:aws:iam::{account}:role/aws-reserved/sso.amazonaws.com/AWSReservedSSO_{role}_0123456789abcdef"
    if not matches(world.get("sso", "roles", default=["*"]), f"{account}/{role}"):
        raise typed_error(403, "ForbiddenException", "No access")
    with world.lock:
        session = world.open_session(world.get("sso", "role_arns", default={}).get(f"{account}/{role}", arn),
                                     token.get("user", "engineer"))
    handler.note(user=session.key)
    return json_answer(200, {"roleCredentials": {
        "accessKeyId": session.key, "secretAccessKey": session.secret, "sessionToken": session.token,
        "expiration": int(session.expires * 1000)}})


def sso_oidc(world, handler, body):
    """CreateToken with a refresh token."""
    handler.note(op="CreateToken")

    def refuse(code, error, text):
        return json_answer(400, {"error": error, "error_description": text}, {"x-amzn-ErrorType": code})
    try:
        given = json.loads(body)
        grant = world.get("sso", "refresh", default={}).get(given["refreshToken"])
    except (ValueError, KeyError, TypeError):
        raise refuse("InvalidRequestException", "invalid_request", "Invalid request") from None
    if given.get("grantType") != "refresh_token":
        raise refuse("UnsupportedGrantTypeException", "unsupported_grant_type", "Unsupported grant type")
    if grant is None:
        raise refuse("InvalidGrantException", "invalid_grant", "Invalid refresh token provided")
    for name, key in (("clientId", "client_id"), ("clientSecret", "client_secret")):
        if key in grant and given.get(name) != grant[key]:
            raise refuse("InvalidClientException", "invalid_client", "Invalid client")
    token = grant.get("access_token") or "aoa" + session_token()
    with world.lock:
        world.config.setdefault("sso", {}).setdefault("tokens", {})[token] = {}
    return json_answer(200, {"accessToken": token, "expiresIn": grant.get("expires_in", 28800),
                             "refreshToken": grant.get("next_refresh_token", given["refreshToken"]),
                             "tokenType": "Bearer"})


# ---- container endpoints ----

def keys_document(session, **more):
    return {"AccessKeyId": session.key, "SecretAccessKey": session.secret, "Token": session.token,
            "Expiration": iso(session.expires), **more}


def container(world, handler, path):
    """ECS and CodeBuild: /v2/credentials/ID. EKS Pod Identity: /v1/credentials, always with its token."""
    handler.note(op="GetCredentials", auth="token" if handler.headers.get("Authorization") else "none")
    settings = world.get("container", default={})
    pod = path.startswith("/v1/")
    wanted = settings.get("authorization" if pod else "v2_authorization")
    if (pod or wanted is not None) and (wanted is None or handler.headers.get("Authorization") != wanted):
        raise json_answer(401, {"code": "AccessDenied", "message": "invalid authorization token"})
    if pod:
        role = settings.get("role", f"arn:aws:iam::{world.account}:role/pod")
    else:
        role = settings.get("ids", {}).get(path.rsplit("/", 1)[1])
        if role is None:
            raise json_answer(400, {"code": "InvalidIdInRequest", "message": "CredentialsV2Request: ID not found",
                                    "HTTPErrorCode": 400})
    with world.lock:
        session = world.open_session(role, "eks-pod" if pod else "task")
    handler.note(user=session.key)
    more = {"AccountId": session.account} if pod else {"RoleArn": role}
    return json_answer(200, keys_document(session, **more))


# ---- the instance metadata service ----

def text_answer(status, text):
    return Answer(status, text.encode(), {"Content-Type": "text/plain"})


def imds_token(world, handler, settings):
    status = settings.get("token_status")
    if status == "timeout":
        time.sleep(settings.get("timeout_s", 5))
        raise Close
    if status:
        raise text_answer(int(status), f"<html><title>{status}</title></html>")
    if handler.headers.get("X-Forwarded-For"):
        raise text_answer(403, "Forbidden")
    ttl = handler.headers.get("x-aws-ec2-metadata-token-ttl-seconds", "")
    if not re.fullmatch(r"\d{1,5}", ttl) or not 1 <= int(ttl) <= 21600:
        raise text_answer(400, "Bad Request")
    token = "AQAEA" + random_text(51)
    with world.lock:
        world.imds_tokens[token] = world.now() + int(ttl)
    answer = text_answer(200, token)
    answer.headers["X-aws-ec2-metadata-token-ttl-seconds"] = ttl
    return answer


def imds(world, handler, path):
    settings = world.get("imds", default={})
    token = handler.headers.get("x-aws-ec2-metadata-token")
    handler.note(op=handler.command + " " + path, auth="token" if token else "none")
    if settings.get("redirect"):
        raise Answer(302, b"", {"Location": settings["redirect"]})
    if path == "/latest/api/token":
        if handler.command != "PUT":
            raise text_answer(405, "Method Not Allowed")
        return imds_token(world, handler, settings)
    if handler.command != "GET":
        raise text_answer(405, "Method Not Allowed")
    if token is None and settings.get("v2_only", True):
        raise text_answer(401, "Unauthorized")
    if token is not None and world.imds_tokens.get(token, 0) <= world.now():
        raise text_answer(401, "Unauthorized")
    role = settings.get("role")
    name = (role or "").rsplit("/", 1)[-1]
    base = "/latest/meta-data/iam/security-credentials/"
    zone = settings.get("zone", world.region + "a")
    plain = {"/latest/meta-data/placement/availability-zone": zone, "/latest/meta-data/placement/region": zone[:-1]}
    if path in plain:
        return text_answer(200, plain[path])
    if path in (base, base[:-1]) and role:
        return text_answer(200, name)
    if not role or path != base + name:
        raise text_answer(404, "Not Found")
    if settings.get("error_document"):
        document = settings["error_document"]
        if document is True:
            document = {"Code": "AssumeRoleUnauthorizedAccess", "LastUpdated": iso(world.now()),
                        "Message": "EC2 cannot assume the role. Please see documentation."}
        return Answer(200, json.dumps(document).encode(), {"Content-Type": "text/plain"})
    with world.lock:
        session = world.open_session(role, settings.get("instance", "i-0123456789abcdef0"))
    handler.note(user=session.key)
    document = keys_document(session, Code="Success", LastUpdated=iso(world.now()), Type="AWS-HMAC")
    return Answer(200, json.dumps(document).encode(), {"Content-Type": "text/plain"})
