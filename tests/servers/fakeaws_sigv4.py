"""Signature version 4, seen from the server: who signed, and is it right?"""
import calendar
import hashlib
import hmac
import re
import time
import urllib.parse

ALGORITHM = "AWS4-HMAC-SHA256"
WINDOW = 15 * 60


class Refusal(Exception):
    """kind: missing, incomplete, unknown, expired, skew or signature."""

    def __init__(self, kind, text):
        super().__init__(text)
        self.kind, self.text = kind, text


def encode(text):
    return urllib.parse.quote(text, safe="-_.~")


def canonical_path(path):
    """Dot segments and double slashes removed, then what the client sent is encoded once more."""
    kept = []
    for part in path.split("/"):
        if part == "..":
            kept = kept[:-1]
        elif part not in ("", "."):
            kept.append(part)
    clean = "/" + "/".join(kept) + ("/" if kept and path.endswith("/") else "")
    return urllib.parse.quote(clean, safe="/-_.~")


def canonical_query(query):
    pairs = []
    for item in query.split("&") if query else []:
        name, _, value = item.partition("=")
        pairs.append((encode(urllib.parse.unquote(name)), encode(urllib.parse.unquote(value))))
    return "&".join(f"{name}={value}" for name, value in sorted(pairs))


def canonical_request(method, target, headers, signed, body):
    path, _, query = target.partition("?")
    lines = []
    for name in signed:
        values = [re.sub(r"\s+", " ", v.strip()) for v in headers.get_all(name, [])]
        lines.append(f"{name}:{','.join(values)}\n")
    return "\n".join([method, canonical_path(path), canonical_query(query), "".join(lines), ";".join(signed),
                      hashlib.sha256(body).hexdigest()])


def parse_authorization(value):
    """(access key, [date, region, service], signed headers, signature)."""
    algorithm, _, rest = value.partition(" ")
    if algorithm != ALGORITHM:
        raise Refusal("incomplete", f"Unsupported AWS 'algorithm': '{algorithm}'.")
    fields = {}
    for item in rest.split(","):
        name, _, text = item.strip().partition("=")
        fields[name] = text
    for name in ("Credential", "Signature", "SignedHeaders"):
        if not fields.get(name):
            raise Refusal("incomplete", f"Authorization header requires '{name}' parameter.")
    scope = fields["Credential"].rsplit("/", 4)
    if len(scope) != 5 or scope[4] != "aws4_request":
        raise Refusal("incomplete", "Credential must have exactly 5 slash-delimited elements, e.g. "
                                    "keyid/date/region/service/term")
    signed = fields["SignedHeaders"].split(";")
    if signed != sorted(set(signed)) or any(name != name.lower() for name in signed):
        raise Refusal("signature", "The SignedHeaders are not lower case, sorted and unique.")
    return scope[0], scope[1:4], signed, fields["Signature"]


def stamp_of(headers):
    stamp = headers.get("X-Amz-Date", "")
    if not re.fullmatch(r"\d{8}T\d{6}Z", stamp):
        raise Refusal("incomplete", "Authorization header requires existence of either a 'X-Amz-Date' or a "
                                    "'Date' header in the form YYYYMMDDTHHMMSSZ.")
    try:
        return stamp, calendar.timegm(time.strptime(stamp, "%Y%m%dT%H%M%SZ"))
    except ValueError:
        raise Refusal("incomplete", "Date must be in ISO-8601 'basic format'.") from None


def check_time(stamp, when, now):
    def text(seconds):
        return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(seconds))
    if when < now - WINDOW:
        raise Refusal("skew", f"Signature expired: {stamp} is now earlier than {text(now - WINDOW)} "
                              f"({text(now)} - 15 min.)")
    if when > now + WINDOW:
        raise Refusal("skew", f"Signature not yet current: {stamp} is still later than {text(now + WINDOW)} "
                              f"({text(now)} + 15 min.)")


def check_signed_headers(headers, signed):
    """host, and whatever of x-amz-* was sent, must be under the signature."""
    must = {"host"} | {n.lower() for n in headers.keys() if n.lower().startswith("x-amz-")}
    for name in sorted(must - set(signed)):
        shown = "-".join(part.capitalize() for part in name.split("-"))
        raise Refusal("signature", f"'{shown}' must be a 'SignedHeader' in the AWS Authorization.")


def find_principal(world, key, headers):
    principal = world.principal(key)
    token = headers.get("X-Amz-Security-Token")
    if principal is None or token != principal.token:
        raise Refusal("unknown", "The security token included in the request is invalid.")
    if principal.expires is not None and world.now() >= principal.expires:
        raise Refusal("expired", "The security token included in the request is expired")
    return principal


def check_scope(scope, stamp, region, service):
    date, got_region, got_service = scope
    if date != stamp[:8]:
        raise Refusal("signature", f"Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date "
                                   f"from HTTP: '{date}' != '{stamp[:8]}', from '{stamp}'.")
    if got_region != region:
        raise Refusal("signature", f"Credential should be scoped to a valid region, not '{got_region}'. "
                                   f"Expected: '{region}'.")
    if got_service != service:
        raise Refusal("signature", f"Credential should be scoped to correct service: '{service}'.")


def verify(world, handler, body, service, region):
    """The principal that signed this request; raises Refusal."""
    headers = handler.headers
    value = headers.get("Authorization")
    if not value:
        raise Refusal("missing", "Missing Authentication Token")
    if len(headers.get_all("Authorization")) > 1:
        raise Refusal("incomplete", "Only one Authorization header is allowed.")
    key, scope, signed, signature = parse_authorization(value)
    handler.note(user=key)
    principal = find_principal(world, key, headers)
    stamp, when = stamp_of(headers)
    check_time(stamp, when, world.now())
    check_scope(scope, stamp, region, service)
    check_signed_headers(headers, signed)
    request = canonical_request(handler.command, handler.path, headers, signed, body)
    text = "\n".join([ALGORITHM, stamp, "/".join(scope) + "/aws4_request",
                      hashlib.sha256(request.encode()).hexdigest()])
    chain = ("AWS4" + principal.secret).encode()
    for part in (*scope, "aws4_request", text):
        chain = hmac.new(chain, part.encode(), hashlib.sha256).digest()
    if not hmac.compare_digest(chain.hex(), signature):
        words = ("The request signature we calculated does not match the signature you provided. Check your AWS "
                 "Secret Access Key and signing method. Consult the service documentation for details.")
        if world.get("signature_details", default=False):
            words += f"\n\nThe Canonical String for this request should have been\n'{request}'\n"
        raise Refusal("signature", words)
    return principal
