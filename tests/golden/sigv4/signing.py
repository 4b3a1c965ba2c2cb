"""Requests and their Signature Version 4, step by step."""
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

import out

KEY = ("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
JSON = ("Content-Type", "application/x-amz-json-1.1")
FORM = ("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
TARGET = "AmazonEC2ContainerRegistry_V20150921."


def ecr(operation, body, **more):
    return {"method": "POST", "service": "ecr", "host": "api.ecr.us-east-1.amazonaws.com", "body": body,
            "headers": [JSON, ("X-Amz-Target", TARGET + operation)], **more}


def get(path, *headers, **more):
    return {"path": path, "headers": list(headers), **more}


# Name: what is asked. A path is written as it would be sent; headers beside Host.
CASES = {
    "ecr-token": ecr("GetAuthorizationToken", "{}"),
    "ecr-token-session": ecr("GetAuthorizationToken", "{}", token="FwoGZXIvYXdzEXAMPLE//////////wEaDEtoken=="),
    "ecr-describe-china": ecr("DescribeImages", '{"repositoryName":"a/b"}', region="cn-north-1",
                              host="api.ecr.cn-north-1.amazonaws.com.cn"),
    "ecr-create-govcloud": ecr("CreateRepository", '{"repositoryName":"team/app"}', region="us-gov-west-1",
                               host="ecr-fips.us-gov-west-1.amazonaws.com"),
    "ecr-body-utf8": ecr("TagResource", '{"tags":[{"Key":"Zweck","Value":"größer ≥ 1"}]}'),
    "ecr-port": ecr("GetAuthorizationToken", "{}", host="localhost:4566"),
    "sts-identity": {"method": "POST", "service": "sts", "host": "sts.eu-west-1.amazonaws.com", "region": "eu-west-1",
                     "headers": [FORM], "body": "Action=GetCallerIdentity&Version=2011-06-15"},
    "sts-role": {"method": "POST", "service": "sts", "host": "sts.amazonaws.com", "headers": [FORM],
                 "body": "Action=AssumeRole&RoleArn=arn%3Aaws%3Aiam%3A%3A123456789012%3Arole%2Fa&Version=2011-06-15"},
    "path-empty": get("/"),
    "path-nested": get("/v2/team/app/manifests/latest"),
    "path-dots": get("/a/./b/../c"),
    "path-dots-above-root": get("/../../a"),
    "path-slashes": get("//a///b//"),
    "path-dot-slash": get("/./"),
    "path-trailing-slash": get("/a/b/"),
    "path-escaped-space": get("/a%20b/c"),
    "path-escaped-utf8": get("/gr%C3%B6%C3%9Fe"),
    "path-unreserved": get("/-._~0123456789ABCXYZabcxyz"),
    "path-reserved": get("/a:b@c,d;e=f+g$h!i*j'k(l)"),
    "query-one": get("/?Param1=value1"),
    "query-order": get("/?b=2&a=1&c=3&B=0"),
    "query-same-key": get("/?a=2&a=1&a=10"),
    "query-empty-value": get("/?a=&b"),
    "query-escaped": get("/?list%2Ftype=a%20b&marker=%C3%BC%2B"),
    "query-unreserved": get("/?-._~019AZaz=-._~019AZaz"),
    "header-case": get("/", ("X-Amz-UPPER", "Value"), ("x-amz-lower", "VALUE")),
    "header-order": get("/", ("Zeta", "1"), ("Alpha", "2"), ("alpha-beta", "3"), ("Alpha2", "4")),
    "header-space": get("/", ("My-Header1", "  a   b   c  "), ("My-Header2", "\t tab \t")),
    "header-empty": get("/", ("My-Header", "")),
    "header-accept": get("/", ("Accept", "application/json, text/plain;q=0.5"), ("Range", "bytes=0-1023")),
    "put-empty-body": {"method": "PUT", "path": "/blob", "headers": [("Content-Length", "0")]},
    "delete": {"method": "DELETE", "path": "/v2/a/blobs/sha256:" + "0" * 64, "headers": []},
    "token-in-scope": get("/", token="AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQW"),
    "end-of-year": get("/", moment="2099-12-31T23:59:59Z"),
    "leap-day": get("/", moment="2028-02-29T00:00:00Z"),
}


def make_case(folder, case):
    moment, host = case.get("moment", "2026-11-21T00:00:00Z"), case.get("host", "example.amazonaws.com")
    region, service = case.get("region", "us-east-1"), case.get("service", "service")
    path, body, method = case.get("path", "/"), case.get("body", ""), case.get("method", "GET")
    headers = [("Host", host), *case["headers"]]
    request = AWSRequest(method=method, url=f"https://{host}{path}", data=body.encode(), headers=dict(headers))
    request.context["timestamp"] = moment.replace("-", "").replace(":", "")
    auth = SigV4Auth(Credentials(*KEY, case.get("token")), service, region)
    auth._modify_request_before_signing(request)
    canonical = auth.canonical_request(request)
    signed = auth.string_to_sign(request, canonical)
    keys = {"access_key_id": KEY[0], "secret_access_key": KEY[1]}
    if "token" in case:
        keys["token"] = case["token"]
    out.document(f"{folder}/context.json", {
        "credentials": keys, "normalize": True, "region": region, "service": service, "sign_body": False,
        "timestamp": moment})
    lines = [f"{method} {path} HTTP/1.1", *[f"{name}:{value}" for name, value in headers]]
    out.text(f"{folder}/request.txt", "\n".join(lines) + (f"\n\n{body}" if body else ""))
    out.text(f"{folder}/header-canonical-request.txt", canonical)
    out.text(f"{folder}/header-string-to-sign.txt", signed)
    out.text(f"{folder}/header-signature.txt", auth.signature(signed, request))


def make(here):
    for name, case in CASES.items():
        make_case(f"{here}/signing/{name}", case)
    return f"signing: {len(CASES)} requests"
