"""What ECR's service model says about the members of the requests that the fake understands.

A shape is ("structure", {member: (required, shape)}), ("list", shape, min, max), ("string", constraints),
("integer", min, max), ("boolean",) or ("any",).
"""
import re

REPOSITORY = r"[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(\/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*"
MUTABILITY = ("MUTABLE", "IMMUTABLE", "IMMUTABLE_WITH_EXCLUSION", "MUTABLE_WITH_EXCLUSION")


def text(low=0, high=1 << 30, pattern=None, enum=None):
    return ("string", low, high, pattern, enum)


def structure(**members):
    """A trailing underscore marks a required member."""
    return ("structure", {name.rstrip("_"): (name.endswith("_"), shape) for name, shape in members.items()})


ACCOUNT = text(pattern=r"[0-9]{12}")
NAME = text(2, 256, REPOSITORY)
IMAGE = structure(imageDigest=text(pattern=r"sha256:[0-9a-f]{64}"), imageTag=text(1, 300))
PAGE = ("integer", 1, 1000)
TAGS = ("list", structure(Key_=text(), Value_=text()), 0, 1 << 30)
FILTERS = ("list", structure(filterType_=text(enum=("WILDCARD",)),
                             filter_=text(1, 128, r"[0-9a-zA-Z._*-]{1,128}")), 1, 5)
SCAN = structure(scanOnPush=("boolean",))
ENCRYPTION = structure(encryptionType_=text(enum=("AES256", "KMS", "KMS_DSSE")), kmsKey=text(1, 2048))

SHAPES = {
    ("ecr", "GetAuthorizationToken"): structure(registryIds=("list", ACCOUNT, 1, 10)),
    ("ecr", "DescribeRepositories"): structure(registryId=ACCOUNT, repositoryNames=("list", NAME, 1, 100),
                                               nextToken=text(), maxResults=PAGE),
    ("ecr", "CreateRepository"): structure(
        registryId=ACCOUNT, repositoryName_=NAME, tags=TAGS, imageTagMutability=text(enum=MUTABILITY),
        imageTagMutabilityExclusionFilters=FILTERS, imageScanningConfiguration=SCAN,
        encryptionConfiguration=ENCRYPTION),
    ("ecr", "PutLifecyclePolicy"): structure(registryId=ACCOUNT, repositoryName_=NAME,
                                             lifecyclePolicyText_=text(100, 30720)),
    ("ecr", "PutImageTagMutability"): structure(
        registryId=ACCOUNT, repositoryName_=NAME, imageTagMutability_=text(enum=MUTABILITY),
        imageTagMutabilityExclusionFilters=FILTERS),
    ("ecr", "DescribeImages"): structure(registryId=ACCOUNT, repositoryName_=NAME, imageIds=("list", IMAGE, 1, 100),
                                         nextToken=text(), maxResults=PAGE, filter=("any",)),
    ("ecr", "BatchGetImage"): structure(registryId=ACCOUNT, repositoryName_=NAME, imageIds_=("list", IMAGE, 1, 100),
                                        acceptedMediaTypes=("list", text(), 1, 100)),
    ("ecr", "DescribeImageScanFindings"): structure(registryId=ACCOUNT, repositoryName_=NAME, imageId_=IMAGE,
                                                    nextToken=text(), maxResults=PAGE),
    ("ecr", "StartImageScan"): structure(registryId=ACCOUNT, repositoryName_=NAME, imageId_=IMAGE),
    ("ecr", "DescribeRegistry"): structure(),
    ("ecr", "GetAccountSetting"): structure(name_=text(1, 64)),
    ("ecr-public", "GetAuthorizationToken"): structure(),
    ("ecr-public", "DescribeRepositories"): structure(registryId=text(), repositoryNames=("list", NAME, 1, 100),
                                                      nextToken=text(), maxResults=PAGE),
    ("ecr-public", "CreateRepository"): structure(repositoryName_=text(2, 205, REPOSITORY), catalogData=("any",),
                                                  tags=TAGS),
}
KINDS = {"structure": dict, "list": list, "string": str, "integer": int, "boolean": bool}


def check_shape(shape, value, path):
    """None, or (kind, member, words): kind "type" for what is no such thing, "constraint" for a bad value."""
    kind = shape[0]
    if kind == "any":
        return None
    if not isinstance(value, KINDS[kind]) or (kind == "integer" and isinstance(value, bool)):
        return ("type", path, f"{path or 'The body'} must be a {kind}")
    return {"structure": check_structure, "list": check_list, "string": check_text,
            "integer": check_integer, "boolean": lambda *_: None}[kind](shape, value, path)


def check_structure(shape, value, path):
    for name, (required, inner) in shape[1].items():
        where = f"{path}.{name}" if path else name
        if name not in value:
            if required:
                return ("constraint", where, "Member must not be null")
            continue
        problem = check_shape(inner, value[name], where)
        if problem:
            return problem
    for name in value:
        if name not in shape[1]:
            return ("type", path, f"The model knows no member '{name}' here")
    return None


def check_list(shape, value, path):
    if not shape[2] <= len(value) <= shape[3]:
        return ("constraint", path, f"Member must have length between {shape[2]} and {shape[3]}, inclusive")
    for number, item in enumerate(value, 1):
        problem = check_shape(shape[1], item, f"{path}.{number}.member")
        if problem:
            return problem
    return None


def check_text(shape, value, path):
    _, low, high, pattern, enum = shape
    if enum and value not in enum:
        return ("constraint", path, f"Member must satisfy enum value set: [{', '.join(enum)}]")
    if not low <= len(value) <= high:
        return ("constraint", path, f"Member must have length between {low} and {high}, inclusive")
    if pattern and not re.fullmatch(pattern, value):
        return ("constraint", path, f"must satisfy regular expression '{pattern}'")
    return None


def check_integer(shape, value, path):
    if not shape[1] <= value <= shape[2]:
        return ("constraint", path, f"Member must have value between {shape[1]} and {shape[2]}, inclusive")
    return None
