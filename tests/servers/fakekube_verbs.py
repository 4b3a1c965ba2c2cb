"""kubectl's commands, and their output in its own form."""
import json
import os
import sys
import time

from fakekube_admit import check_change, check_namespace, check_new, check_right
from fakekube_apply import apply_to, tell_conflicts, updated
from fakekube_control import control
from fakekube_kinds import KINDS, key_of, kind_named, kind_of
from fakekube_store import Cluster, Refused, copy_of, merge, path

FLAGS = {"-n": "--namespace", "-l": "--selector", "-o": "--output", "-f": "--filename", "-p": "--patch", "-A": "--all-namespaces",
         "-c": "--container"}
SWITCHES = ("--all-namespaces", "--server-side", "--force-conflicts", "--ignore-not-found", "--watch", "--follow", "--previous",
            "--timestamps")
CREATING = 'error when creating "STDIN": '
REPLACING = 'error when replacing "STDIN": '


class Command:
    """A command line: its words, and its options by their long names."""

    limit = None  # how many objects an apply comes to

    def __init__(self, argv):
        self.words, self.options = [], {}
        rest = list(argv)
        while rest:
            word = rest.pop(0)
            if not word.startswith("-") or word == "-":
                self.words.append(word)
                continue
            name, equals, value = word.partition("=")
            name = FLAGS.get(name, name)
            if not equals and name not in SWITCHES and rest:
                value = rest.pop(0)
            self.options[name] = value or "true"
        if "--as" in self.options:
            os.environ["FAKEKUBE_USER"] = self.options["--as"]

    def get(self, name, default=None):
        return self.options.get(name, default)

    def dry(self):
        return self.get("--dry-run") == "server"


def items_of(text):
    """The objects on standard input; a list may be empty."""
    doc = json.loads(text)
    return doc.get("items", [doc])


def known(o):
    """The kind of an object that is sent; kubectl's mapper refuses others."""
    kind = kind_of(o)
    if kind and not is_missing(kind):
        return kind
    raise Refused(f'error: resource mapping not found for name: "{o["metadata"]["name"]}" namespace: '
                  f'"{o["metadata"].get("namespace", "")}" from "STDIN": no matches for kind "{o["kind"]}" in version '
                  f'"{o["apiVersion"]}"\nensure CRDs are installed first')


def is_missing(kind):
    """$FAKEKUBE_MISSING: what is in the name of a resource that the cluster does not have."""
    return os.environ.get("FAKEKUBE_MISSING", "none") in kind.resource


def printed(command, items, single):
    """As -o says; nothing for nothing that was asked for by name."""
    how = command.get("--output", "")
    if how == "json":
        doc = items[0] if single and len(items) == 1 else {
            "apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": items}
        return json.dumps(doc) + "\n" if items or not single else ""
    if how == "name":
        return "".join(f"{name_of(o)}\n" for o in items)
    return "".join(f"{o['metadata']['name']}\n" for o in items)


def name_of(o):
    kind = kind_of(o)
    return kind.kind.lower() + (f".{kind.group}" if kind.group else "") + "/" + o["metadata"]["name"]


def not_found(kind, name, about=""):
    return Refused(f'Error from server (NotFound): {about}{kind.resource} "{name}" not found')


# ---- apply ----

def of_dry_run(o, is_new):
    """What a dry run shows has no version of its own."""
    if is_new:
        del o["metadata"]["resourceVersion"]
    return o


def apply_one(cluster, command, wanted):
    kind, meta = known(wanted), wanted["metadata"]
    if kind.namespaced:
        meta.setdefault("namespace", command.get("--namespace", "default"))
    check_right(cluster, "patch", kind, meta.get("namespace"), meta["name"])
    entry = cluster.objects.get(key_of(wanted))
    old = entry["live"] if entry else None
    if not old:
        check_right(cluster, "create", kind, meta.get("namespace"), meta["name"])
        check_namespace(cluster, wanted)
    new, managers, found = apply_to(old, entry.get("managers", {}) if entry else {}, wanted,
                                    command.get("--field-manager", "kubectl"), "--force-conflicts" in command.options)
    if found:
        raise Refused(tell_conflicts(found))
    if not old:
        check_new(cluster, new)
        return of_dry_run(cluster.add(new, managers), True) if command.dry() else cluster.add(new, managers)
    check_change(old, new)
    version = old["metadata"]["resourceVersion"] if "resourceVersion" in old["metadata"] else "0"
    new = cluster.put(new, managers)
    if command.dry():
        new["metadata"]["resourceVersion"] = version
    return new


def apply(cluster, command):
    """As kubectl: one that is refused does not stop the others, and then nothing is printed."""
    done, refused = [], []
    for wanted in items_of(sys.stdin.read())[:command.limit]:
        try:
            done.append(copy_of(apply_one(cluster.trial() if command.dry() else cluster, command, wanted)))
        except Refused as why:
            refused.append(why.text)
    if refused:
        cluster.half_done = True
        raise Refused("\n".join(refused))
    return printed(command, done, True)


# ---- get ----

def field(o, name):
    for step in name.split("."):
        o = o.get(step, "") if isinstance(o, dict) else ""
    return o


def split_terms(selector):
    """a=b,c in (d,e)"""
    terms, depth, text = [], 0, ""
    for c in selector:
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            terms.append(text)
            text = ""
        else:
            text += c
    return terms + [text] if text else terms


def selects(term, value):
    """value of LABEL -> whether the term is true of it: a=b, a!=b, a in (b,c), a notin (b), a, !a"""
    if " in (" in term or " notin (" in term:
        label, _, names = term.rstrip(")").partition(" (")
        label, _, word = label.rpartition(" ")
        return (value(label) in [n.strip() for n in names.split(",")]) == (word == "in")
    if "!=" in term:
        label, _, wanted = term.partition("!=")
        return value(label) != wanted
    if "=" in term:
        label, _, wanted = term.partition("=")
        return value(label) == wanted.lstrip("=")
    return (value(term.lstrip("!")) is None) == term.startswith("!")


def selected(command, o):
    labels = o["metadata"].get("labels", {})
    space = command.get("--namespace")
    return (not space or "--all-namespaces" in command.options or o["metadata"].get("namespace", space) == space) and all(
        selects(t, labels.get) for t in split_terms(command.get("--selector", ""))) and all(
        selects(t, lambda name: field(o, name)) for t in split_terms(command.get("--field-selector", "")))


def kinds_named(words):
    found = []
    for word in words.split(","):
        kind = kind_named(word)
        if not kind or is_missing(kind):
            raise Refused(f'error: the server doesn\'t have a resource type "{word}"')
        found.append(kind)
    return found


def all_of(cluster, kind):
    if kind.resource != "namespaces":
        return cluster.of(kind.resource)
    always = [cluster.namespace(n) for n in ("default", "kube-node-lease", "kube-public", "kube-system")]
    return sorted(always + cluster.of("namespaces"), key=lambda o: o["metadata"]["name"])


def listed(cluster, command, kinds, refused):
    found = []
    for kind in kinds:
        space = None if not kind.namespaced or "--all-namespaces" in command.options else command.get("--namespace", "default")
        try:
            check_right(cluster, "list", kind, space, "")
        except Refused as why:
            refused.append(why.text)
            continue
        found += [o for o in all_of(cluster, kind) if selected(command, o) and (
            not space or o["metadata"].get("namespace") == space)]
    return found


def one(cluster, command, kind, name, space):
    check_right(cluster, "get", kind, space, name)
    o = cluster.namespace(name) if kind.resource == "namespaces" else cluster.live(f"{kind.resource}|{space or ''}|{name}")
    if o:
        return [o]
    if "--ignore-not-found" in command.options:
        return []
    raise not_found(kind, name)


def get(cluster, command):
    refused, found, words = [], [], command.words[1:]
    single = bool(words[1:])
    if command.get("--filename"):
        text = sys.stdin.read()
        single = "items" not in json.loads(text)
        for o in items_of(text):
            try:
                found += one(cluster, command, known(o), o["metadata"]["name"], o["metadata"].get("namespace"))
            except Refused as why:
                refused.append(why.text)
    elif single:
        kind = kinds_named(words[0])[0]
        for name in words[1:]:
            found += one(cluster, command, kind, name, command.get("--namespace", "default") if kind.namespaced else "")
    else:
        found = listed(cluster, command, kinds_named(words[0]), refused)
    said = printed(command, found, single or command.get("--filename") and not found)
    if refused:
        sys.stdout.write(said)
        raise Refused("\n".join(refused))
    return said


# ---- create, replace, patch ----

def write(cluster, command, old, new, manager):
    """A write that is no apply; conflicts of versions are told by who calls."""
    if command.dry():
        new = copy_of(new)
    entry = cluster.objects[key_of(new)] if old else None
    managers = updated(old, entry.get("managers", {}) if entry else {}, new, manager)
    return cluster.put(new, managers) if old else cluster.add(new, managers)


def create(cluster, command):
    o = items_of(sys.stdin.read())[0]
    kind = known(o)
    if kind.namespaced:
        o["metadata"].setdefault("namespace", command.get("--namespace", "default"))
    check_right(cluster, "create", kind, o["metadata"].get("namespace"), "", CREATING)
    check_namespace(cluster, o, CREATING)
    if key_of(o) in cluster.objects:
        raise Refused(f'Error from server (AlreadyExists): {CREATING}{kind.resource} "{o["metadata"]["name"]}" already exists')
    check_new(cluster, o, CREATING)
    made = write(cluster, command, None, o, "kubectl-create")
    return printed(command, [of_dry_run(made, True) if command.dry() else made], True)


def modified(o, about=""):
    return Refused(f'Error from server (Conflict): {about}Operation cannot be fulfilled on {kind_of(o).resource} '
                   f'"{o["metadata"]["name"]}": the object has been modified; please apply your changes to the latest '
                   'version and try again')


def replace(cluster, command):
    o = items_of(sys.stdin.read())[0]
    kind, meta = known(o), o["metadata"]
    if kind.namespaced:
        meta.setdefault("namespace", command.get("--namespace", "default"))
    check_right(cluster, "update", kind, meta.get("namespace"), meta["name"], REPLACING)
    old = cluster.live(key_of(o))
    if not old:
        raise not_found(kind, meta["name"], REPLACING)
    if meta.get("resourceVersion", old["metadata"]["resourceVersion"]) != old["metadata"]["resourceVersion"]:
        raise modified(o, REPLACING)
    if "status" in old:
        o["status"] = old["status"]
    if "finalizers" in old["metadata"]:
        meta.setdefault("finalizers", old["metadata"]["finalizers"])
    check_change(old, o)
    return printed(command, [write(cluster, command, old, o, "kubectl-replace")], True)


def json_patch(o, operations):
    """test, remove, add, replace of members of maps."""
    for op in operations:
        steps = [s.replace("~1", "/").replace("~0", "~") for s in op["path"].split("/")[1:]]
        at = o
        for step in steps[:-1]:
            at = at[int(step)] if isinstance(at, list) else at.get(step, {})
        if op["op"] == "test" and at.get(steps[-1]) != op["value"]:
            raise Refused("The request is invalid: the server rejected our request due to an error in our request")
        if op["op"] == "remove":
            del at[steps[-1]]
        elif op["op"] in ("add", "replace"):
            at[steps[-1]] = op["value"]


def patch(cluster, command):
    kind, name = kinds_named(command.words[1])[0], command.words[2]
    space = command.get("--namespace", "default") if kind.namespaced else ""
    check_right(cluster, "patch", kind, space, name)
    old = cluster.live(f"{kind.resource}|{space}|{name}")
    if not old:
        raise not_found(kind, name)
    change, new = json.loads(command.get("--patch")), copy_of(old)
    if command.get("--type") == "json":
        json_patch(new, change)
    else:
        merge(new, change)
    if new["metadata"].get("resourceVersion") != old["metadata"].get("resourceVersion"):
        raise modified(old)
    check_change(old, new)
    is_same = new == old
    done = write(cluster, command, old, new, "kubectl-patch")
    if "deletionTimestamp" in done["metadata"] and not command.dry():
        cluster.unfinalize(done)
    if command.get("--output"):
        return printed(command, [done], True)
    return f"{name_of(done)} patched{' (no change)' if is_same else ''}\n"


# ---- delete ----

def raw_target(text):
    """(kind, namespace, name) of /apis/GROUP/VERSION/namespaces/NAMESPACE/PLURAL/NAME"""
    parts = text.strip("/").split("/")
    group, rest = ("", parts[2:]) if parts[0] == "api" else (parts[1], parts[3:])
    space, rest = (rest[1], rest[2:]) if rest[0] == "namespaces" and len(rest) > 2 else ("", rest)
    return kind_named(rest[0] + (f".{group}" if group else "")), space, rest[1]


def precondition(o, what, wanted, has):
    return Refused(f'Error from server (Conflict): Operation cannot be fulfilled on {o["kind"]} "{o["metadata"]["name"]}": the '
                   f"{what} in the precondition ({wanted}) does not match the {what} in record ({has}). The object might have been "
                   + ("deleted and then recreated" if what == "UID" else "modified"))


def delete_raw(cluster, command):
    kind, space, name = raw_target(command.get("--raw"))
    options = json.loads(sys.stdin.read())
    check_right(cluster, "delete", kind, space, name)
    o = cluster.live(f"{kind.resource}|{space}|{name}")
    if not o:
        raise not_found(kind, name)
    wanted, meta = options.get("preconditions", {}), o["metadata"]
    for member, what in (("uid", "UID"), ("resourceVersion", "ResourceVersion")):
        if wanted.get(member, meta.get(member)) != meta.get(member):
            raise precondition(o, what, wanted[member], meta.get(member))
    if not cluster.delete(o, options.get("propagationPolicy", "Background")):
        return json.dumps(o) + "\n"
    details = {"name": name, "group": kind.group, "kind": kind.plural, "uid": meta.get("uid")}
    return json.dumps({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
                       "details": {k: v for k, v in details.items() if v}}) + "\n"


def delete(cluster, command):
    if command.get("--raw"):
        return delete_raw(cluster, command)
    kind, name = kinds_named(command.words[1])[0], command.words[2]
    space = command.get("--namespace", "default") if kind.namespaced else ""
    check_right(cluster, "delete", kind, space, name)
    o = cluster.live(f"{kind.resource}|{space}|{name}")
    if not o and "--ignore-not-found" in command.options:
        return ""
    if not o:
        raise not_found(kind, name)
    cascade = command.get("--cascade", "background")
    if not command.dry() and not cluster.delete(o, cascade.capitalize()) and command.get("--wait", "true") == "true":
        await_gone(cluster, o)
    group = f".{kind.group}" if kind.group else ""
    where = f" from {space} namespace" if kind.namespaced else ""
    return f'{kind.kind.lower()}{group} "{name}" deleted{where}\n'


def await_gone(cluster, o):
    """As long as controllers have something to do about it."""
    for _ in range(16):
        control(cluster)
        there = cluster.live(key_of(o))
        if not there or there["metadata"]["uid"] != o["metadata"]["uid"]:
            return
    raise Refused("error: timed out waiting for the condition on " + kind_of(o).plural + "/" + o["metadata"]["name"])


# ---- the cluster itself ----

def version(*_):
    return json.dumps({"clientVersion": {"minor": os.environ.get("FAKEKUBE_MINOR", "34")},
                       "serverVersion": {"minor": "34"}}) + "\n"


def api_resources(*_):
    return "".join(f"{k.resource}\n" for k in KINDS if not is_missing(k))


VERBS = {"apply": apply, "get": get, "create": create, "replace": replace, "delete": delete, "patch": patch,
         "version": version, "api-resources": api_resources}


# ---- what lasts ----

def watch(command):
    """get --watch -o name: after what is there, whatever changes, until the reader has gone."""
    def seen():
        cluster = Cluster()
        return {name_of(o): o["metadata"].get("resourceVersion") for o in listed(
            cluster, command, kinds_named(command.words[1]), [])}
    parent, before, last = os.getppid(), seen(), None
    while os.getppid() == parent:
        time.sleep(0.1)
        try:
            stamp = os.stat(path("objects.json")).st_mtime_ns
        except FileNotFoundError:
            continue
        if stamp == last:
            continue
        last, after = stamp, seen()
        changed = [n for n in after if after[n] != before.get(n)] + [n for n in before if n not in after]
        sys.stdout.write("".join(f"{n}\n" for n in changed))
        sys.stdout.flush()
        before = after


def logs(command):
    """logs -n NAMESPACE POD -c CONTAINER --timestamps [--follow] [--tail=N] [--since=D] [--previous]"""
    pod = command.words[1]
    name = path("logs/" + pod + (".previous" if "--previous" in command.options else ""))
    if not os.path.exists(name):
        raise Refused(f'Error from server (BadRequest): container "{command.get("--container", "")}" in pod "{pod}" is waiting '
                      'to start: ContainerCreating')
    tail = int(command.get("--tail", "-1"))
    with open(name, "rb") as f:
        lines = f.readlines()
        sys.stdout.buffer.writelines(lines[-tail:] if tail > 0 else lines[:0] if tail == 0 else lines)
        sys.stdout.flush()
        while "--follow" in command.options and not os.path.exists(path(f"logs/{pod}.end")):
            sys.stdout.buffer.write(f.read())
            sys.stdout.flush()
            time.sleep(0.05)

