"""The kinds that fakekubectl's cluster knows, as the API server's discovery lists them."""

# kind, group, version, plural, namespaced, counts generations, whose: "" = of Kubernetes itself
ROWS = (
    ("Namespace", "", "v1", "namespaces", False, False, ""),
    ("ServiceAccount", "", "v1", "serviceaccounts", True, False, ""),
    ("ConfigMap", "", "v1", "configmaps", True, False, ""),
    ("Service", "", "v1", "services", True, False, ""),
    ("Secret", "", "v1", "secrets", True, False, ""),
    ("PersistentVolume", "", "v1", "persistentvolumes", False, False, ""),
    ("PersistentVolumeClaim", "", "v1", "persistentvolumeclaims", True, False, ""),
    ("Pod", "", "v1", "pods", True, True, ""),
    ("Node", "", "v1", "nodes", False, False, ""),
    ("ResourceQuota", "", "v1", "resourcequotas", True, False, ""),
    ("Event", "", "v1", "events", True, False, ""),
    ("DaemonSet", "apps", "v1", "daemonsets", True, True, ""),
    ("Deployment", "apps", "v1", "deployments", True, True, ""),
    ("StatefulSet", "apps", "v1", "statefulsets", True, True, ""),
    ("PriorityClass", "scheduling.k8s.io", "v1", "priorityclasses", False, True, ""),
    ("StorageClass", "storage.k8s.io", "v1", "storageclasses", False, False, ""),
    ("CSIDriver", "storage.k8s.io", "v1", "csidrivers", False, False, ""),
    ("ClusterRole", "rbac.authorization.k8s.io", "v1", "clusterroles", False, False, ""),
    ("ClusterRoleBinding", "rbac.authorization.k8s.io", "v1", "clusterrolebindings", False, False, ""),
    ("Role", "rbac.authorization.k8s.io", "v1", "roles", True, False, ""),
    ("RoleBinding", "rbac.authorization.k8s.io", "v1", "rolebindings", True, False, ""),
    ("NodePool", "karpenter.sh", "v1", "nodepools", False, True, "karpenter"),
    ("NodeClaim", "karpenter.sh", "v1", "nodeclaims", False, True, "karpenter"),
    ("NodeOverlay", "karpenter.sh", "v1alpha1", "nodeoverlays", False, True, "karpenter"),
    ("EC2NodeClass", "karpenter.k8s.aws", "v1", "ec2nodeclasses", False, True, "karpenter"),
    ("Job", "batch", "v1", "jobs", True, True, ""),
    ("Job", "batch.volcano.sh", "v1alpha1", "jobs", True, True, "volcano"),
    ("Queue", "scheduling.volcano.sh", "v1beta1", "queues", False, True, "volcano"),
    ("MPIJob", "kubeflow.org", "v2beta1", "mpijobs", True, True, "mpi"),
    ("JobSet", "jobset.x-k8s.io", "v1alpha2", "jobsets", True, True, "jobset"),
    ("Lease", "coordination.k8s.io", "v1", "leases", True, False, ""),
)


class Kind:
    """One row by its columns, and what is made of them: `resource` is PLURAL or PLURAL.GROUP."""

    __slots__ = ("kind", "group", "version", "plural", "namespaced", "generations", "by", "resource")

    def __init__(self, row):
        self.kind, self.group, self.version, self.plural, self.namespaced, self.generations, self.by = row
        self.resource = self.plural + (f".{self.group}" if self.group else "")


KINDS = tuple(Kind(row) for row in ROWS)
BY_RESOURCE = {k.resource: k for k in KINDS}
BY_KIND = {(k.group, k.kind): k for k in KINDS}


def kind_of(o):
    """The row of an object; None when the cluster does not know it."""
    return BY_KIND.get((o["apiVersion"].rpartition("/")[0], o["kind"]))


def kind_named(word):
    """The row that a word of the command line means: jobs, jobs.batch, job, jobs.v1.batch; None when there is none."""
    row = BY_RESOURCE.get(word)
    if row:
        return row
    name, _, group = word.partition(".")
    for k in KINDS:
        if name in (k.plural, k.kind.lower()) and group in ("", k.group, f"{k.version}.{k.group}"):
            return k
    return None


def key_of(o):
    """RESOURCE|NAMESPACE|NAME"""
    return "|".join([kind_of(o).resource, o["metadata"].get("namespace", ""), o["metadata"]["name"]])
