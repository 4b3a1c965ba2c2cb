"""Where services live, what configuration files say, and where they lie."""
import itertools
import os
import tempfile

import botocore.exceptions
import botocore.session
from botocore.endpoint_provider import EndpointProvider

import out

SERVICES = ("ecr", "ecr-public", "sts", "sso", "sso-oidc")
REGIONS = ("us-east-1", "us-west-2", "eu-central-1", "ap-southeast-1", "sa-east-1", "us-gov-west-1", "us-gov-east-1",
           "cn-north-1", "cn-northwest-1", "us-iso-east-1", "us-isob-east-1")


def endpoint_params(service):
    for region, fips, dual in itertools.product(REGIONS, (False, True), (False, True)):
        yield {"Region": region, "UseFIPS": fips, "UseDualStack": dual}
    for fips, dual in itertools.product((False, True), (False, True)):
        yield {"Region": "us-east-1", "UseFIPS": fips, "UseDualStack": dual, "Endpoint": "https://example.com:8443"}
    yield {"Endpoint": "http://localhost:4566", "UseFIPS": False, "UseDualStack": False}
    yield {"UseFIPS": False, "UseDualStack": False}
    if service == "sts":
        for region in REGIONS:
            yield {"Region": region, "UseFIPS": False, "UseDualStack": False, "UseGlobalEndpoint": True}


def endpoint_case(provider, params):
    case = {"documentation": ", ".join(f"{k} {v}" for k, v in params.items()), "params": params}
    try:
        found = provider.resolve_endpoint(**params)
    except botocore.exceptions.EndpointProviderError as error:
        return {**case, "expect": {"error": str(error)}}
    endpoint = {"url": found.url}
    if found.properties.get("authSchemes"):
        endpoint["properties"] = {"authSchemes": found.properties["authSchemes"]}
    return {**case, "expect": {"endpoint": endpoint}}


def endpoints(here):
    loader = botocore.session.Session().get_component("data_loader")
    partitions, n = loader.load_data("partitions"), 0
    for service in SERVICES:
        provider = EndpointProvider(loader.load_service_model(service, "endpoint-rule-set-1"), partitions)
        cases = [endpoint_case(provider, params) for params in endpoint_params(service)]
        out.document(f"{here}/endpoints/{service}-endpoint-tests-1.json", {"testCases": cases})
        n += len(cases)
    return n


# ---- files ----


class World:
    """For a while: these variables, and no others of AWS; these files under an empty home."""

    def __init__(self, env, files):
        self.env, self.files = env, files

    def __enter__(self):
        self.old, self.home = dict(os.environ), tempfile.TemporaryDirectory()
        for path, text in self.files.items():
            out.text(os.path.join(self.home.name, path.lstrip("/").replace("~", "home", 1)), text)
        home = os.path.join(self.home.name, "home")
        os.makedirs(home, exist_ok=True)
        os.environ.update({"HOME": home, "AWS_CONFIG_FILE": f"{home}/.aws/config",
                           "AWS_SHARED_CREDENTIALS_FILE": f"{home}/.aws/credentials", **self.env})
        return self.home.name

    def __exit__(self, *_):
        os.environ.clear()
        os.environ.update(self.old)
        self.home.cleanup()


KEYS = {"aws_access_key_id": "123", "aws_secret_access_key": "456", "region": "us-east-1"}
SUITE = {
    "profiles": {
        "default": KEYS,
        "global": {**KEYS, "endpoint_url": "http://localhost:1234"},
        "specific": {**KEYS, "services": "mixed"},
        "both": {**KEYS, "endpoint_url": "https://all.example.com", "services": "mixed"},
        "ignored": {**KEYS, "endpoint_url": "https://all.example.com", "services": "mixed",
                    "ignore_configured_endpoint_urls": "true"},
        "not-ignored": {**KEYS, "endpoint_url": "https://all.example.com", "ignore_configured_endpoint_urls": "false"},
    },
    "services": {"mixed": {"ecr": {"endpoint_url": "https://ecr.example.com"},
                           "ecr_public": {"endpoint_url": "https://public.example.com"}}},
    "environments": {
        "none": {},
        "global": {"AWS_ENDPOINT_URL": "https://env.example.com"},
        "specific": {"AWS_ENDPOINT_URL_ECR": "https://env-ecr.example.com"},
        "both": {"AWS_ENDPOINT_URL": "https://env.example.com", "AWS_ENDPOINT_URL_ECR": "https://env-ecr.example.com"},
        "dashed": {"AWS_ENDPOINT_URL_ECR_PUBLIC": "https://env-public.example.com"},
        "ignored": {"AWS_ENDPOINT_URL": "https://env.example.com", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"},
    },
}


def suite_config():
    text = ""
    for name, values in SUITE["profiles"].items():
        text += f"[profile {name}]\n" + "".join(f"{k} = {v}\n" for k, v in values.items())
    for name, services in SUITE["services"].items():
        text += f"[services {name}]\n"
        for service, values in services.items():
            text += f"{service} =\n" + "".join(f"  {k} = {v}\n" for k, v in values.items())
    return text


def configured_url(service, profile, environment):
    with World({**SUITE["environments"][environment], "AWS_PROFILE": profile}, {"~/.aws/config": suite_config()}):
        url = botocore.session.Session().create_client(service).meta.endpoint_url
    with World({"AWS_PROFILE": "default"}, {"~/.aws/config": suite_config()}):
        own = botocore.session.Session().create_client(service).meta.endpoint_url
    return None if url == own else url


def configured_urls(here):
    tests = []
    for service, profile, environment in itertools.product(("ecr", "ecr-public", "sts"), SUITE["profiles"],
                                                            SUITE["environments"]):
        url = configured_url(service, profile, environment)
        tests.append({"name": f"{service}, profile {profile}, environment {environment}", "client_config": "default",
                      "service": service.replace("-", "_"), "profile": profile, "environment": environment,
                      "output": {"endpointUrl": url} if url else {}})
    out.document(f"{here}/endpoints/configured-endpoint-url-profile-tests.json",
                 {"testSuites": [{**SUITE, "endpointUrlTests": tests}]})
    return len(tests)


# ---- what a file says: config, credentials or both ----

FILES = {
    "empty files": ("", ""),
    "one profile": ("[profile a]\nregion = x\n", None),
    "the default profile": ("[default]\nregion = x\n", None),
    "two profiles": ("[profile a]\nregion = x\n[profile b]\nregion = y\n", None),
    "no space around the sign": ("[profile a]\nregion=x\noutput =json\n", None),
    "a value with signs": ("[profile a]\nrole_arn = arn:aws:iam::1:role/a=b\n", None),
    "an empty value": ("[profile a]\nregion =\n", None),
    "a colon": ("[profile a]\nregion: x\n", None),
    "upper case keys": ("[profile a]\nREGION = x\nOutPut = json\n", None),
    "tabs": ("[profile a]\nregion\t=\tx\n", None),
    "blank lines": ("\n\n[profile a]\n\nregion = x\n\n", None),
    "comments": ("# one\n; two\n[profile a]\n# three\nregion = x\n", None),
    "Windows line ends": ("[profile a]\r\nregion = x\r\n", None),
    "no last line end": ("[profile a]\nregion = x", None),
    "a quoted name": ('[profile "my team"]\nregion = x\n', None),
    "a session": ("[sso-session s]\nsso_region = x\nsso_start_url = https://example.com/start\n", None),
    "credentials alone": (None, "[a]\naws_access_key_id = A\naws_secret_access_key = S\n"),
    "both files": ("[profile a]\nregion = x\n", "[a]\naws_access_key_id = A\naws_secret_access_key = S\n"),
    "credentials come before the configuration": ("[profile a]\naws_access_key_id = C\nregion = x\n",
                                                  "[a]\naws_access_key_id = A\naws_secret_access_key = S\n"),
    "a key before any section": ("region = x\n[profile a]\n", None),
    "a line without sign": ("[profile a]\nregion\n", None),
    "an open bracket": ("[profile a\nregion = x\n", None),
    "a section twice": ("[profile a]\nregion = x\n[profile a]\noutput = json\n", None),
    "a key twice": ("[profile a]\nregion = x\nregion = y\n", None),
}


def file_case(name, config, credentials):
    given = {key: text for key, text in (("configFile", config), ("credentialsFile", credentials)) if text is not None}
    files = {f"~/.aws/{'config' if key == 'configFile' else 'credentials'}": text for key, text in given.items()}
    with World({}, files):
        try:
            full = botocore.session.Session().full_config
        except botocore.exceptions.ConfigParseError:
            return {"name": name, "input": given, "output": {"errorContaining": ""}}
    return {"name": name, "input": given,
            "output": {"config": {"profiles": full["profiles"], "sso_sessions": full.get("sso_sessions", {})}}}


LOCATIONS = {
    "under the home folder": {"HOME": "/home/user"},
    "another configuration": {"HOME": "/home/user", "AWS_CONFIG_FILE": "/etc/aws.config"},
    "other credentials": {"HOME": "/home/user", "AWS_SHARED_CREDENTIALS_FILE": "/run/keys"},
    "both elsewhere": {"HOME": "/x", "AWS_CONFIG_FILE": "/a/config", "AWS_SHARED_CREDENTIALS_FILE": "/a/credentials"},
    "under another home": {"HOME": "/srv/builds/7"},
}


def location(name, env):
    old = dict(os.environ)
    os.environ.update(env)
    session = botocore.session.Session()
    found = [os.path.expanduser(session.get_config_variable(key)) for key in ("config_file", "credentials_file")]
    os.environ.clear()
    os.environ.update(old)
    return {"name": name, "environment": env, "platform": "linux", "profile": "default",
            "configLocation": found[0], "credentialsLocation": found[1]}


def make(here):
    n = endpoints(here)
    urls = configured_urls(here)
    out.document(f"{here}/profiles/profile-parser-tests.json",
                 {"tests": [file_case(name, *texts) for name, texts in FILES.items()]})
    out.document(f"{here}/profiles/file-location-tests.json",
                 {"tests": [location(name, env) for name, env in LOCATIONS.items()]})
    return f"endpoints: {n}, configured: {urls}, files: {len(FILES)}, locations: {len(LOCATIONS)}"
