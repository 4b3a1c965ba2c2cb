"""What the fake AWS knows: configuration, clock, principals and their policies, repositories, counters."""
import base64
import fnmatch
import json
import re
import secrets
import string
import threading
import time

ACCOUNT = "123456789012"
REGION = "us-east-1"
SUFFIXES = (r"(?:amazonaws\.com|amazonaws\.com\.cn|amazonaws\.eu|on\.aws|on\.amazonwebservices\.com\.cn"
            r"|sc2s\.sgov\.gov|c2s\.ic\.gov|cloud\.adc-e\.uk|csp\.hci\.ic\.gov)")
REGISTRY_HOST = re.compile(r"^(\d{12})\.dkr[.-]ecr(?:-fips)?\.([a-z0-9_-]+)\." + SUFFIXES + "$")
PUBLIC_HOSTS = ("public.ecr.aws", "ecr-public.aws.com")
PARTITIONS = (("cn-", "aws-cn"), ("us-gov-", "aws-us-gov"), ("us-isob-", "aws-iso-b"), ("us-isof-", "aws-iso-f"),
              ("us-iso-", "aws-iso"), ("eu-isoe-", "aws-iso-e"), ("eusc-", "aws-eusc"))
DOMAINS = {"aws-cn": "amazonaws.com.cn", "aws-eusc": "amazonaws.eu", "aws-iso": "c2s.ic.gov",
           "aws-iso-b": "sc2s.sgov.gov", "aws-iso-e": "cloud.adc-e.uk", "aws-iso-f": "csp.hci.ic.gov"}


class Answer(Exception):
    """An answer to send; also raised to leave early with an error."""

    def __init__(self, status, body=b"", headers=None):
        super().__init__(status)
        self.status, self.body, self.headers = status, body, dict(headers or {})


class Close(Exception):
    """The connection is to be closed without (further) answer."""


def errors(status, code, text, headers=None):
    """An error as a registry words it."""
    body = json.dumps({"errors": [{"code": code, "message": text}]}).encode() + b"\n"
    return Answer(status, body, {"Content-Type": "application/json; charset=utf-8", **(headers or {})})


def partition(region):
    return next((name for prefix, name in PARTITIONS if region.startswith(prefix)), "aws")


def domain(region):
    return DOMAINS.get(partition(region), "amazonaws.com")


def bare_host(host):
    """A Host header in lower case without its port."""
    return re.sub(r":\d+$", "", host or "").lower()


def iso(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def random_text(length, alphabet=string.ascii_uppercase + "234567"):
    return "".join(secrets.choice(alphabet) for _ in range(length))


def session_token():
    """As long and as awkward as the real ones: base64 with its +, / and =."""
    return "IQoJb3JpZ2luX2Vj" + base64.b64encode(secrets.token_bytes(520)).decode()


class Principal:
    """Who signed: a user of the configuration or a session handed out by AssumeRole and its kind."""

    def __init__(self, key, arn, secret, token=None, expires=None, policy=None, role=None):
        self.key, self.arn, self.secret, self.token = key, arn, secret, token
        self.expires, self.policy, self.role = expires, policy or {}, role
        self.account = arn.split(":")[4]


def listed(value):
    return value if isinstance(value, list) else [value]


def matches(patterns, text):
    return any(fnmatch.fnmatchcase(text.lower(), str(p).lower()) for p in listed(patterns))


def granted(policy, action, resource):
    """The words for why not, or None. `policy` holds allow, deny, explicit_deny and an IAM document."""
    statements = []
    document = policy.get("policy")
    if document:
        statements = listed(document.get("Statement", []))
    elif "allow" not in policy:
        statements = [{"Effect": "Allow", "Action": "*", "Resource": "*"}]
    statements = statements + [{"Effect": "Allow", "Action": a, "Resource": "*"} for a in policy.get("allow", [])]

    def says(effect):
        return any(s.get("Effect") == effect and matches(s.get("Action", []), action)
                   and matches(s.get("Resource", []), resource) for s in statements)

    if says("Deny") or matches(policy.get("explicit_deny", []), action):
        return "with an explicit deny in an identity-based policy"
    if not says("Allow") or matches(policy.get("deny", []), action):
        return f"because no identity-based policy allows the {action} action"
    return None


def merge(into, patch):
    for key, value in patch.items():
        if value is None:
            into.pop(key, None)
        elif isinstance(value, dict) and isinstance(into.get(key), dict):
            merge(into[key], value)
        else:
            into[key] = value


class World:
    def __init__(self, config):
        self.lock = threading.RLock()
        self.config, self.sessions, self.tokens, self.bearers = {}, {}, {}, {}
        self.repositories = {}   # (account, region or "public", name) -> Repository
        self.counters, self.fault_hits, self.imds_tokens, self.s3 = {}, {}, {}, {}
        self.uploads, self.upload_bytes, self.put_times, self.idp_errors = {}, 0, [], 0
        self.on_repository = None  # set by the ECR API: makes a repository of its configuration
        self.reconfigure(config)

    def reconfigure(self, patch):
        with self.lock:
            patch = dict(patch)
            if patch.pop("expire_registry_tokens", False):
                for token in list(self.tokens.values()) + list(self.bearers.values()):
                    token["expires"] = 0
            if patch.pop("expire_sessions", False):
                for principal in self.sessions.values():
                    principal.expires = 0
            if "faults" in patch:
                self.fault_hits = {}
            if "expire_token_after_bytes" in patch:
                self.upload_bytes = 0
            merge(self.config, patch)
            if self.on_repository:
                self.add_repositories()

    def add_repositories(self):
        for item in self.config.get("repositories", []):
            self.on_repository(item if isinstance(item, dict) else {"name": item})

    def get(self, *path, default=None):
        value = self.config
        for key in path:
            if not isinstance(value, dict) or key not in value:
                return default
            value = value[key]
        return value

    @property
    def account(self):
        return self.get("account", default=ACCOUNT)

    @property
    def region(self):
        return self.get("region", default=REGION)

    def now(self):
        return time.time() + self.get("server_time_offset_s", default=0)

    def count(self, name):
        self.counters[name] = self.counters.get(name, 0) + 1

    # ---- principals ----

    def principal(self, key):
        if key in self.sessions:
            found = self.sessions[key]
            if found.role:
                found.policy = self.get("roles", default={}).get(found.role, {})
            return found
        user = self.get("users", default={}).get(key)
        if user is None:
            return None
        arn = user.get("arn", f"arn:aws:iam::{self.account}:user/{key}")
        role = None
        if ":assumed-role/" in arn:
            role = arn.replace(":sts:", ":iam:").replace(":assumed-role/", ":role/").rsplit("/", 1)[0]
        return Principal(key, arn, user["secret"], user.get("token"), 0 if user.get("expired") else None, user, role)

    def open_session(self, role_arn, name, seconds=None):
        """Fresh keys for a role; they count as a principal until they expire."""
        seconds = self.get("session_seconds", default=seconds or 3600)
        arn = role_arn.replace(":iam:", ":sts:").replace(":role/", ":assumed-role/") + "/" + name
        key = "ASIA" + random_text(16)
        secret = random_text(40, string.ascii_letters + string.digits + "+/")
        principal = Principal(key, arn, secret, session_token(), self.now() + seconds, {}, role_arn)
        self.sessions[key] = principal
        return principal

    def refusal(self, principal, action, resource):
        """The text of an AccessDenied, or None."""
        why = granted(principal.policy, action, resource)
        if why is None:
            return None
        return f"User: {principal.arn} is not authorized to perform: {action} on resource: {resource} {why}"

    def summary(self):
        with self.lock:
            repositories = {}
            for (account, region, name), repo in self.repositories.items():
                repositories[f"{account}/{region}/{name}"] = repo.summary()
            return {"counters": dict(self.counters), "repositories": repositories,
                    "registry_tokens": len(self.tokens), "upload_bytes": self.upload_bytes,
                    "open_uploads": len(self.uploads), "sessions": sorted(self.sessions),
                    "fault_hits": {str(k): v for k, v in self.fault_hits.items()}}
