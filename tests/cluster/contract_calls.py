"""The calls that tests/cluster/contract makes to both clusters, in this order. NS is the namespace of the run; %uid KEY%
and %version KEY% stand for what the cluster at hand has told of an object last (KEY is KIND/NAME)."""
import json

META = {"apiVersion": "v1", "kind": "ConfigMap"}
JSON = "-o json"


def config(name, data=None, namespace="NS", **more):
    meta = {"name": name, "namespace": namespace} | more.pop("meta", {})
    return META | {"metadata": meta} | ({"data": data} if data is not None else {}) | more


def listed(*items):
    return {"apiVersion": "v1", "kind": "List", "items": list(items)}


def namespace(name, **labels):
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name} | ({"labels": labels} if labels else {})}


def container(**more):
    return {"name": "main", "image": "example.com/x:1", "command": ["run"]} | more


def job(name, command="run", component="jobs", **spec):
    """Its pods run until they are stopped; those of another component end at once."""
    labels = {"app.kubernetes.io/component": component}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": "NS", "labels": labels}, "spec": {
        "completionMode": "Indexed", "completions": 2, "parallelism": 2, "backoffLimit": 0, "template": {
            "metadata": {"labels": {"app": name} | labels},
            "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "nodeSelector": {"kubernetes.io/arch": "amd64"},
                     "containers": [container(command=[command])]}}} | spec}


def pod(name, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "NS"},
            "spec": {"containers": [container()]} | spec}


def lease(holder, version=None):
    meta = {"name": "lock", "namespace": "NS"} | ({"resourceVersion": version} if version else {})
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": meta,
            "spec": {"holderIdentity": holder, "leaseDurationSeconds": 60}}


def daemonset(name, image, **spec):
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": name, "namespace": "NS"}, "spec": {
        "selector": {"matchLabels": {"app": name}}, "template": {
            "metadata": {"labels": {"app": name}}, "spec": {"containers": [container(image=image)]} | spec}}}


def claim(name, **spec):
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": "NS"}, "spec": {
        "accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}} | spec}


def volume(name, of):
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteMany"], "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": "", "claimRef": {"namespace": "NS", "name": of},
        "csi": {"driver": "fsx.csi.aws.com", "volumeHandle": "fs-0123456789abcdef0"}}}


def node_class(name):
    return {"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": name}, "spec": {
        "role": "r", "amiSelectorTerms": [{"alias": "al2023@latest"}], "subnetSelectorTerms": [{"tags": {"a": "b"}}],
        "securityGroupSelectorTerms": [{"tags": {"a": "b"}}]}}


def pool(name):
    return {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name}, "spec": {
        "template": {"spec": {"nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": name},
                              "requirements": [{"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}]}}}}


def role(name, verbs):
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": name, "namespace": "NS"},
            "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": verbs}]}


def binding(name, user):
    group = "rbac.authorization.k8s.io"
    return {"apiVersion": group + "/v1", "kind": "RoleBinding", "metadata": {"name": name, "namespace": "NS"},
            "roleRef": {"apiGroup": group, "kind": "Role", "name": name}, "subjects": [
                {"apiGroup": group, "kind": "User", "name": user}]}


def options(uid=None, version=None, policy="Background"):
    wanted = ({"uid": uid} if uid else {}) | ({"resourceVersion": version} if version else {})
    return {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": policy, "preconditions": wanted}


def call(name, words, sent=None, soon=False):
    """One call; `soon`: the server may take a while until it answers this, for its controllers are not instant."""
    return {"name": name, "words": words, "sent": json.dumps(sent) if sent is not None else "", "soon": soon}


def apply(name, o, manager="one", more=""):
    return call(name, f"apply --server-side --field-manager={manager} -f - {JSON} {more}", o)


RAW = "delete --raw /api/v1/namespaces/NS/configmaps/"
HELD = ["slipway.test/held"]

NAMESPACES = (
    call("create in a namespace that is not there", f"create -f - {JSON}", config("a")),
    apply("apply in a namespace that is not there", config("a")),
    apply("a dry run needs its namespace", config("a"), more="--dry-run=server"),
    apply("a dry run with its namespace in the same list", listed(namespace("NS"), config("a")), more="--dry-run=server"),
    call("get a namespace that is not there", f"get namespace NS {JSON}"),
    call("get it and ignore that", f"get namespace NS --ignore-not-found {JSON}"),
    apply("apply a namespace", namespace("NS", team="a")),
    apply("apply it again", namespace("NS", team="a")),
    call("get the namespace", f"get namespaces NS {JSON}"),
    call("what a namespace has from the beginning", f"get configmaps,serviceaccounts -n NS {JSON}", soon=True),
)

FIELDS = (
    apply("apply", config("a", {"x": "1", "y": "2"})),
    apply("apply the same again: no new version", config("a", {"x": "1", "y": "2"})),
    apply("another manager, another value: a conflict", config("a", {"x": "9"}), "two"),
    apply("another manager, two other values: conflicts", config("a", {"x": "9", "y": "9"}), "two"),
    apply("another manager, the same value: shared", config("a", {"x": "1"}), "two"),
    apply("what its manager no longer names goes, what is shared stays", config("a", {"y": "2"})),
    apply("a dry run changes nothing", config("a", {"y": "7"}), more="--dry-run=server"),
    call("as the get after it shows", f"get configmap a -n NS {JSON}"),
    apply("force takes the field", config("a", {"x": "1", "y": "8"}), "two", "--force-conflicts"),
    apply("and the former manager conflicts now", config("a", {"y": "2"})),
    call("patch", f"patch configmap a -n NS --type=merge -p {{\"data\":{{\"z\":\"5\"}}}} {JSON}"),
    apply("a patched field belongs to who patched it", config("a", {"z": "6"}), "three"),
    call("a patch of nothing: no new version", f"patch configmap a -n NS --type=merge -p {{\"data\":{{\"z\":\"5\"}}}} {JSON}"),
    call("a patch of another version", "patch configmap a -n NS --type=merge -p "
         f"{{\"metadata\":{{\"resourceVersion\":\"1\"}},\"data\":{{\"z\":\"7\"}}}} {JSON}"),
    call("replace with an old version", f"replace -f - {JSON}", config("a", {"x": "3"}, meta={"resourceVersion": "1"})),
    call("replace", f"replace -f - {JSON}", config("a", {"x": "3"})),
    call("replace what is not there", f"replace -f - {JSON}", config("nowhere", {"x": "3"})),
    call("create what is there", f"create -f - {JSON}", config("a")),
    call("create as a dry run", f"create -f - {JSON} --dry-run=server", config("b", {"x": "1"})),
    call("which made nothing", f"get configmap b -n NS {JSON}"),
    call("patch what is not there", f"patch configmap b -n NS --type=merge -p {{}} {JSON}"),
    apply("apply a list, one of which conflicts", listed(config("b", {"x": "1"}), config("a", {"x": "9"}), config("c", {"x": "1"}))),
    call("the others are there", f"get configmaps -n NS --field-selector metadata.name!=kube-root-ca.crt {JSON}"),
    apply("a kind that the cluster does not know", {"apiVersion": "example.com/v1", "kind": "Nothing", "metadata": {"name": "a"}}),
    apply("an immutable one", config("fixed", {"x": "1"}, immutable=True)),
    apply("cannot be changed", config("fixed", {"x": "2"}, immutable=True)),
)

LISTS = (
    apply("labels", listed(*(config(f"l{i}", meta={"labels": {"tier": t, "n": str(i)}}) for i, t in enumerate("aab")))),
    call("one label", f"get configmaps -n NS -l tier=a {JSON}"),
    call("two labels", f"get configmaps -n NS -l tier=a,n=1 {JSON}"),
    call("one of several values", "get configmaps -n NS -o json -l|tier in (b,c)"),
    call("a label that is there", "get configmaps -n NS -o name -l tier"),
    call("a label with another value", "get configmaps -n NS -o name -l tier!=a,tier"),
    call("none", f"get configmaps -n NS -l tier=z {JSON}"),
    call("two kinds", f"get configmaps,serviceaccounts -n NS -l tier=b {JSON}"),
    call("by field", "get configmaps -n NS -o name --field-selector metadata.name=l1"),
    call("by file, one of them missing", f"get -f - --ignore-not-found {JSON}", listed(config("l0"), config("none"), config("l2"))),
    call("by file, the missing one told", f"get -f - {JSON}", listed(config("l0"), config("none"))),
    call("by file, one", f"get -f - {JSON}", listed(config("l0"))),
    call("by file, one missing", f"get -f - --ignore-not-found {JSON}", listed(config("none"))),
    call("by file, an empty list", f"get -f - --ignore-not-found {JSON}", listed()),
    call("a resource that is none", f"get nothings -n NS {JSON}"),
)

DELETION = (
    call("another uid", RAW + "a -f -", options("00000000-0000-0000-0000-000000000000")),
    call("another version", RAW + "a -f -", options("%uid ConfigMap/a%", "1")),
    call("the right ones", RAW + "a -f -", options("%uid ConfigMap/a%", "%version ConfigMap/a%")),
    call("it is gone", RAW + "a -f -", options()),
    call("delete what is not there", "delete configmap a -n NS"),
    call("and ignore that", "delete configmaps a -n NS --ignore-not-found"),
    call("delete", "delete configmap b -n NS"),
    apply("a new one of the name has a uid of its own", config("a")),
    apply("one that somebody holds", config("held", meta={"finalizers": HELD})),
    call("does not go at once", "delete configmap held -n NS --wait=false"),
    call("it is Terminating", f"get configmap held -n NS {JSON}"),
    call("deleting it again changes nothing", RAW + "held -f -", options()),
    call("until its finalizer goes", "patch configmap held -n NS --type=json -o name -p "
         '[{"op":"test","path":"/metadata/name","value":"held"},{"op":"remove","path":"/metadata/finalizers"}]'),
    call("then it goes", f"get configmap held -n NS {JSON}"),
)

LEASES = (
    call("create a lease", f"create -f - {JSON}", lease("a/1")),
    call("renew it", f"replace -f - {JSON}", lease("a/1", "%version Lease/lock%")),
    call("another took it", "patch lease lock -n NS --type=merge -o name -p {\"spec\":{\"holderIdentity\":\"b/1\"}}"),
    call("renew what another took", f"replace -f - {JSON}", lease("a/1", "%version Lease/lock%")),
)

JOBS = (
    apply("a Job", job("work")),
    call("its pods run", f"get pods -n NS -l job-name=work {JSON}", soon=True),
    call("and it counts them: no new generation", f"get job work -n NS {JSON}", soon=True),
    apply("its template is immutable", job("work", command="other")),
    apply("what may change is a new generation", job("work", ttlSecondsAfterFinished=600)),
    call("deleted in the foreground", "delete --raw /apis/batch/v1/namespaces/NS/jobs/work -f -",
         options("%uid Job/work%", policy="Foreground")),
    call("it goes after its pods", f"get job work -n NS --ignore-not-found {JSON}", soon=True),
    call("none of them is left", "get pods -n NS -o name -l job-name=work", soon=True),
    apply("a Job that ends", job("work-short", component="other")),
    call("is Complete", f"get job work-short -n NS {JSON}", soon=True),
    call("its pods have succeeded", f"get pods -n NS -l job-name=work-short {JSON}", soon=True),
    call("deleted in the background it goes at once", "delete job work-short -n NS --wait=false"),
    call("as the server says", f"get job work-short -n NS {JSON}"),
    call("its pods follow", "get pods -n NS -o name -l app=work-short", soon=True),
)

REFUSALS = (
    apply("a quota", {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "NS"},
                      "spec": {"hard": {"pods": "0"}}}),
    call("is in force", "get resourcequotas q -n NS -o name", soon=True),
    call("a pod over the quota", f"create -f - {JSON}", pod("one")),
    apply("a Job is taken", job("work-quota")),
    call("and its pods are refused, as events tell", "get events -n NS -o json --field-selector "
         "type=Warning,involvedObject.name=work-quota", soon=True),
    call("it has none", "get pods -n NS -o name -l app=work-quota"),
    call("the Job goes", "delete job work-quota -n NS --wait=false"),
    call("the quota goes", "delete resourcequota q -n NS"),
    call("a service account that is not there", f"create -f - {JSON}", pod("one", serviceAccountName="nobody")),
    call("a priority class that is not there", f"create -f - {JSON}", pod("one", priorityClassName="nothing")),
    call("pod security", "patch namespace NS --type=merge -o name -p "
         '{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}'),
    call("refuses a pod", f"create -f - {JSON}", pod("one", hostNetwork=True)),
    apply("takes a Job", job("work-secure")),
    call("and refuses its pods, as events tell", "get events -n NS -o json --field-selector "
         "type=Warning,involvedObject.name=work-secure", soon=True),
    call("pod security goes", "patch namespace NS --type=merge -o name -p "
         '{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":null}}}'),
    call("and the Job", "delete job work-secure -n NS --wait=false"),
)

# Nodes that Karpenter brings meanwhile, for another story, do not count.
ORDINARY = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
    {"matchExpressions": [{"key": "karpenter.sh/nodepool", "operator": "DoesNotExist"}]}]}}}

WORKLOADS = (
    apply("a DaemonSet", daemonset("everywhere", "example.com/x:1", affinity=ORDINARY)),
    apply("one of some nodes", daemonset("arm", "example.com/x:1", nodeSelector={"kubernetes.io/arch": "arm64"})),
    apply("one of none", daemonset("nowhere", "example.com/x:1", nodeSelector={"example.com/none": "x"})),
    call("they count nodes: no new generation", f"get daemonsets.apps -n NS {JSON}", soon=True),
    apply("another image is a new generation", daemonset("nowhere", "example.com/x:2", nodeSelector={"example.com/none": "x"})),
    call("which its controller sees", f"get daemonset nowhere -n NS {JSON}", soon=True),
    apply("a selector is immutable", daemonset("nowhere", "example.com/x:2") | {"spec": {
        "selector": {"matchLabels": {"app": "other"}}, "template": {
            "metadata": {"labels": {"app": "other"}}, "spec": {"containers": [container()]}}}}),
)

VOLUMES = (
    apply("a claim without a volume", claim("none", storageClassName="")),
    apply("a claim of a class that is not there", claim("classless", storageClassName="nothing")),
    call("both stay Pending", f"get persistentvolumeclaims -n NS {JSON}", soon=True),
    call("why one does, events tell", "get events -n NS -o json --field-selector "
         "type=Warning,involvedObject.name=classless", soon=True),
    apply("a volume and its claim", listed(volume("NS-v", "bound"), claim("bound", storageClassName=""))),
    call("are bound", f"get persistentvolumeclaim bound -n NS {JSON}", soon=True),
    call("a claim in use by nobody goes", "delete persistentvolumeclaim bound -n NS --wait=false"),
    call("and its volume is Released", f"get persistentvolume NS-v {JSON}", soon=True),
    call("the volume goes", "delete persistentvolume NS-v --wait=false"),
)

RIGHTS = (
    call("no right to list", f"get configmaps -n NS --as alice {JSON}"),
    call("no right to list everywhere", f"get configmaps -A --as alice {JSON}"),
    call("no right to get", f"get configmap l0 -n NS --as alice {JSON}"),
    call("no right to create", f"create -f - --as alice {JSON}", config("alices")),
    apply("no right to patch", config("alices"), more="--as alice"),
    call("no right to delete", "delete configmap l0 -n NS --as alice"),
    apply("a Role", listed(role("reader", ["get", "list", "patch"]), binding("reader", "alice"))),
    call("gives the right to list", "get configmaps -n NS --as alice -o name -l tier", soon=True),
    call("of two kinds, one is refused", "get configmaps,secrets -n NS --as alice -o json -l tier"),
    apply("apply makes what is not there by the right to create", config("alices"), more="--as alice"),
    apply("and changes what is there by the right to patch", config("l0", {"x": "1"}), more="--as alice"),
)

POOLS = (
    apply("a pool without its class", pool("NS-pool")),
    call("is not Ready", f"get nodepool NS-pool {JSON}", soon=True),
    apply("its class", node_class("NS-pool")),
    call("which is held while nodes are of it", f"get ec2nodeclass NS-pool {JSON}", soon=True),
    call("is Ready", f"get nodepool NS-pool {JSON}", soon=True),
    call("the pool goes", "delete nodepools.karpenter.sh NS-pool --wait=false"),
    call("the class goes", "delete ec2nodeclasses.karpenter.k8s.aws NS-pool --wait=false"),
    call("both are gone", "get nodepools,ec2nodeclasses -o name --field-selector metadata.name=NS-pool", soon=True),
)

END = (
    apply("what holds the namespace", config("held", meta={"finalizers": HELD})),
    call("the namespace goes", "delete namespace NS --wait=false"),
    call("not at once", f"get namespace NS {JSON}"),
    call("nothing new meanwhile", f"create -f - {JSON}", config("new")),
    apply("in no way", config("new")),
    call("what was in it goes", "get configmaps -n NS -o name", soon=True),
    call("what held it", "patch configmap held -n NS --type=merge -o name -p {\"metadata\":{\"finalizers\":null}}"),
    call("then it is gone", "get namespace NS --ignore-not-found -o name", soon=True),
)

GROUPS = {"namespaces": NAMESPACES, "fields": FIELDS, "lists": LISTS, "deletion": DELETION, "leases": LEASES, "rights": RIGHTS,
          "pools": POOLS, "jobs": JOBS, "refusals": REFUSALS, "workloads": WORKLOADS, "volumes": VOLUMES, "end": END}
