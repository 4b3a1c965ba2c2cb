"""What the API server refuses: a user without the right, a namespace that is not there or is going, pods over a quota or
against the namespace's pod security, changes of what is immutable."""
import json
import os

from fakekube_kinds import kind_of
from fakekube_store import Refused, load

# ---- rights ----

ADMIN = ("", "admin")


def user():
    """Who asks: $FAKEKUBE_USER, unless the command says --as."""
    return os.environ.get("FAKEKUBE_USER", "")


def names_user(subjects, who):
    return any(s["kind"] == "User" and s["name"] == who for s in subjects or ())


def allows(rule, verb, kind, name):
    return (verb in rule["verbs"] or "*" in rule["verbs"]) and (
        kind.group in rule.get("apiGroups", ()) or "*" in rule.get("apiGroups", ())) and (
        kind.plural in rule.get("resources", ()) or "*" in rule.get("resources", ())) and (
        not rule.get("resourceNames") or name in rule["resourceNames"])


def rules_of(cluster, who, namespace):
    """The rules that bind a user: cluster-wide, and in a namespace."""
    bindings = cluster.of("clusterrolebindings.rbac.authorization.k8s.io") + [
        b for b in cluster.of("rolebindings.rbac.authorization.k8s.io") if b["metadata"]["namespace"] == namespace]
    for binding in bindings:
        if not names_user(binding.get("subjects"), who):
            continue
        ref = binding["roleRef"]
        at = binding["metadata"].get("namespace", "") if ref["kind"] == "Role" else ""
        role = cluster.live(f"{ref['kind'].lower()}s.rbac.authorization.k8s.io|{at}|{ref['name']}")
        yield from role.get("rules", ()) if role else ()


def check_right(cluster, verb, kind, namespace, name, about=""):
    """`about` stands before the complaint, as kubectl puts it there: error when creating "STDIN": ; without a name no
    object is named."""
    who = user()
    if who in ADMIN or any(allows(r, verb, kind, name) for r in rules_of(cluster, who, namespace)):
        return
    where = f'in the namespace "{namespace}"' if namespace else "at the cluster scope"
    what = f'{kind.resource} "{name}"' if name else kind.resource
    raise Refused(f'Error from server (Forbidden): {about}{what} is forbidden: User "{who}" cannot {verb} resource '
                  f'"{kind.plural}" in API group "{kind.group}" {where}')


# ---- the namespace ----

def check_namespace(cluster, o, about=""):
    """Of an object that is to be made."""
    name = o["metadata"].get("namespace")
    if not name:
        return
    space = cluster.namespace(name)
    if not space:
        raise Refused(f'Error from server (NotFound): {about}namespaces "{name}" not found')
    if space["status"]["phase"] == "Terminating":
        raise Refused(f'Error from server (Forbidden): {about}{kind_of(o).resource} "{o["metadata"]["name"]}" is forbidden: '
                      f'unable to create new content in namespace {name} because it is being terminated')


# ---- quotas ----

SUFFIXES = {"m": 0.001, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "Ki": 2 ** 10, "Mi": 2 ** 20, "Gi": 2 ** 30, "Ti": 2 ** 40}


def quantity(text):
    text = str(text)
    for suffix in sorted(SUFFIXES, key=len, reverse=True):
        if text.endswith(suffix):
            return float(text[:-len(suffix)]) * SUFFIXES[suffix]
    return float(text)


def asks(pod, resource):
    """What a pod asks for of "pods", "requests.cpu", "limits.memory"; None when it says nothing of it."""
    if resource in ("pods", "count/pods"):
        return 1
    which, _, name = resource.partition(".")
    if which not in ("requests", "limits"):
        which, name = "requests", resource
    said = [c.get("resources", {}) for c in pod["spec"].get("containers", ())]
    # A limit alone is a request as well.
    found = [r.get(which, {}).get(name, r.get("limits", {}).get(name)) for r in said]
    if None in found and "." not in name:
        return None
    return sum(quantity(q) for q in found if q is not None)


def shown(amount):
    return str(int(amount)) if amount == int(amount) else f"{int(amount * 1000)}m"


def used_of(cluster, quota, resource):
    space = quota["metadata"]["namespace"]
    if resource.startswith("count/") and resource != "count/pods":
        return len([o for o in cluster.of(resource[6:]) if o["metadata"]["namespace"] == space])
    pods = [p for p in cluster.of("pods") if p["metadata"]["namespace"] == space and
            p.get("status", {}).get("phase") not in ("Succeeded", "Failed")]
    return sum(asks(p, resource) or 0 for p in pods)


def over_quota(cluster, o):
    """Why a quota of the namespace refuses a new object; None when none does."""
    kind = kind_of(o)
    for quota in cluster.of("resourcequotas"):
        if quota["metadata"]["namespace"] != o["metadata"].get("namespace"):
            continue
        name, hard = quota["metadata"]["name"], quota.get("spec", {}).get("hard", {})
        concerned = {r: asks(o, r) for r in sorted(hard) if kind.resource == "pods" and not (
            r.startswith("count/") and r != "count/pods")} | ({f"count/{kind.resource}": 1}
                                                              if f"count/{kind.resource}" in hard else {})
        silent = [r for r, n in concerned.items() if n is None]
        if silent:
            containers = ",".join(c["name"] for c in o["spec"]["containers"])
            return f"failed quota: {name}: must specify " + ",".join(f"{r} for: {containers}" for r in silent)
        used = {r: used_of(cluster, quota, r) for r in concerned}
        over = [r for r, n in concerned.items() if n and used[r] + n > quantity(hard[r])]
        if over:
            return f"exceeded quota: {name}, " + ", ".join(
                f"{word}: " + ",".join(f"{r}={value(r)}" for r in over) for word, value in (
                    ("requested", lambda r: shown(concerned[r])), ("used", lambda r: shown(used[r])),
                    ("limited", lambda r: hard[r])))
    return None


# ---- pod security ----

def all_of(pod):
    return pod["spec"].get("initContainers", []) + pod["spec"].get("containers", [])


def quoted(names):
    names = [f'"{n}"' for n in names]
    return ("containers " if len(names) > 1 else "container ") + ", ".join(names)


def no_privileges(pod):
    bad = [c["name"] for c in all_of(pod) if c.get("securityContext", {}).get("privileged")]
    return bad and f"privileged ({quoted(bad)} must not set securityContext.privileged=true)"


def no_host(pod):
    bad = [k for k in ("hostNetwork", "hostPID", "hostIPC") if pod["spec"].get(k)]
    return bad and f"host namespaces ({', '.join(f'{k}=true' for k in bad)})"


def no_host_paths(pod):
    bad = [v["name"] for v in pod["spec"].get("volumes", ()) if "hostPath" in v]
    return bad and "hostPath volumes (" + ("volumes " if len(bad) > 1 else "volume ") + ", ".join(f'"{n}"' for n in bad) + ")"


def no_escalation(pod):
    bad = [c["name"] for c in all_of(pod) if c.get("securityContext", {}).get("allowPrivilegeEscalation") is not False]
    return bad and f"allowPrivilegeEscalation != false ({quoted(bad)} must set securityContext.allowPrivilegeEscalation=false)"


def no_capabilities(pod):
    bad = [c["name"] for c in all_of(pod)
           if "ALL" not in c.get("securityContext", {}).get("capabilities", {}).get("drop", ())]
    return bad and f'unrestricted capabilities ({quoted(bad)} must set securityContext.capabilities.drop=["ALL"])'


def no_root(pod):
    if pod["spec"].get("securityContext", {}).get("runAsNonRoot"):
        return None
    bad = [c["name"] for c in all_of(pod) if not c.get("securityContext", {}).get("runAsNonRoot")]
    return bad and f"runAsNonRoot != true (pod or {quoted(bad)} must set securityContext.runAsNonRoot=true)"


def seccomp(pod):
    if pod["spec"].get("securityContext", {}).get("seccompProfile"):
        return None
    bad = [c["name"] for c in all_of(pod) if not c.get("securityContext", {}).get("seccompProfile")]
    return bad and f'seccompProfile (pod or {quoted(bad)} must set securityContext.seccompProfile.type to ' \
                   '"RuntimeDefault" or "Localhost")'


BASELINE = (no_host, no_host_paths, no_privileges)
SECURITY = {"baseline": BASELINE, "restricted": BASELINE + (no_escalation, no_capabilities, no_root, seccomp)}


def insecure(cluster, pod):
    """Why the namespace's label pod-security.kubernetes.io/enforce refuses a pod."""
    space = cluster.namespace(pod["metadata"].get("namespace", ""))
    level = space and space["metadata"].get("labels", {}).get("pod-security.kubernetes.io/enforce", "privileged")
    found = [why for why in (check(pod) for check in SECURITY.get(level, ())) if why]
    return f'violates PodSecurity "{level}:latest": ' + ", ".join(found) if found else None


# ---- what a pod names ----

CLASSES = ("system-cluster-critical", "system-node-critical")


def dangling(cluster, pod):
    """A service account or a priority class that is not there."""
    space, spec = pod["metadata"]["namespace"], pod["spec"]
    account = spec.get("serviceAccountName") or "default"
    if account != "default" and not cluster.live(f"serviceaccounts|{space}|{account}"):
        return f'error looking up service account {space}/{account}: serviceaccount "{account}" not found'
    wanted = spec.get("priorityClassName")
    if wanted and wanted not in CLASSES and not cluster.live(f"priorityclasses.scheduling.k8s.io||{wanted}"):
        return f"no PriorityClass with name {wanted} was found"
    return None


def by_webhook(o):
    """$FAKEKUBE/admission.json: [{"resource": "pods", "webhook": NAME, "message": ...}], a policy of somebody's."""
    for rule in load("admission.json", []):
        if rule["resource"] == kind_of(o).resource:
            return f'admission webhook "{rule["webhook"]}" denied the request: {rule["message"]}'
    return None


def check_new(cluster, o, about=""):
    """Whatever speaks against making an object."""
    check_namespace(cluster, o, about)
    kind, denied = kind_of(o), by_webhook(o)
    if denied:
        raise Refused(f"Error from server: {about}{denied}")
    checks = (dangling, over_quota, insecure) if kind.resource == "pods" else (over_quota,)
    for check in checks:
        why = check(cluster, o)
        if why:
            raise Refused(f'Error from server (Forbidden): {about}{kind.resource} "{o["metadata"]["name"]}" is forbidden: {why}')


# ---- what may not change ----

JOB_IN_PLACE = ("ttlSecondsAfterFinished", "backoffLimit", "activeDeadlineSeconds", "parallelism", "suspend", "completions")


def fixed(o, names):
    return {k: v for k, v in o.get("spec", {}).items() if k not in names}


def volcano_fixed(o):
    spec = fixed(o, ("minAvailable", "ttlSecondsAfterFinished", "maxRetry", "priorityClassName"))
    return spec | {"tasks": [{k: v for k, v in t.items() if k != "replicas"} for t in spec.get("tasks", ())]}


def changed_job(old, new):
    for name in ("completionMode", "completions", "selector", "template"):
        if old["spec"].get(name) != new["spec"].get(name):
            return immutable(new, name)
    return None


def immutable(o, name):
    return f'spec.{name}: Invalid value: {json.dumps(o["spec"].get(name), separators=(",", ":"))}: field is immutable'


def changed_selector(old, new):
    if old["spec"].get("selector") == new["spec"].get("selector"):
        return None
    return immutable(new, "selector")


def changed_data(old, new):
    if not old.get("immutable") or old.get("data") == new.get("data"):
        return None
    return "data: Forbidden: field is immutable when `immutable` is set"


def changed_storage(old, new):
    def rest(o):
        return {k: v for k, v in o.items() if k in ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode")}
    name = next((k for k in rest(new) if rest(old).get(k) != rest(new)[k]), None)
    return name and f"{name}: Forbidden: updates to {name} are forbidden."


def changed_claim(old, new):
    spec = ("resources", "volumeName", "volumeAttributesClassName")
    if fixed(old, spec) == fixed(new, spec):
        return None
    return "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName " \
           "for bound claims"


INVALID = {
    "jobs.batch": changed_job, "daemonsets.apps": changed_selector, "deployments.apps": changed_selector,
    "configmaps": changed_data, "storageclasses.storage.k8s.io": changed_storage,
    "persistentvolumeclaims": changed_claim,
}


def check_change(old, new):
    """What the server's validation says to a change, or the webhook of an operator."""
    kind = kind_of(new)
    why = INVALID[kind.resource](old, new) if kind.resource in INVALID else None
    if why:
        raise Refused(f'The {kind.kind} "{new["metadata"]["name"]}" is invalid: {why}')
    if kind.by == "volcano" and kind.kind == "Job" and volcano_fixed(old) != volcano_fixed(new) or \
            kind.by == "jobset" and fixed(old, ("suspend", "ttlSecondsAfterFinished")) != fixed(
                new, ("suspend", "ttlSecondsAfterFinished")):
        raise Refused(f'Error from server: admission webhook "validate.{kind.resource}" denied the request: '
                      'the spec of a job is immutable')
