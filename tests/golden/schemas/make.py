#!/usr/bin/env python3
"""Takes from published schemas what tests/k8s/validate and tests/k8s/consistent hold rendered objects against.

usage: tests/golden/schemas/make.py SCHEMAS     (then: tests/golden/record tests/golden/schemas)

SCHEMAS is a folder with kubernetes/swagger-*.json (the API server's OpenAPI), karpenter/VERSION/*.yaml, volcano/, jobset/
and mpi-operator/ (CustomResourceDefinitions), eksctl/schema.json (`eksctl utils schema`), cloudformation/
resource-types.json (resource types with their properties) and ec2/karpenter-instance-types.json (what Karpenter's pages
say of instance types). Of the kinds that slipway renders (a new one gets a row in KINDS) it keeps which fields there are,
of which type and within which bounds; no texts, no defaults. Equal parts are written once: a node that is a number stands
for that entry of `nodes`.
"""
import glob
import json
import os
import sys

import yaml

# Newest first: the first file that has a group, version and kind serves it.
KARPENTER = ("v1.14.1", "v0.37.8", "v0.32.10", "v0.31.5")
KINDS = {
    "v1": ("ConfigMap", "Namespace", "PersistentVolume", "PersistentVolumeClaim", "Pod", "Secret", "Service", "ServiceAccount"),
    "apps/v1": ("DaemonSet", "Deployment"),
    "batch/v1": ("Job",),
    "rbac.authorization.k8s.io/v1": ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"),
    "resource.k8s.io/v1": ("DeviceClass", "ResourceClaimTemplate"),
    "storage.k8s.io/v1": ("CSIDriver", "StorageClass"),
    "batch.volcano.sh/v1alpha1": ("Job",),
    "scheduling.volcano.sh/v1beta1": ("Queue",),
    "jobset.x-k8s.io/v1alpha2": ("JobSet",),
    "kubeflow.org/v2beta1": ("MPIJob",),
    "karpenter.sh/v1": ("NodePool",),
    "karpenter.sh/v1beta1": ("NodePool",),
    "karpenter.sh/v1alpha5": ("Provisioner",),
    "karpenter.sh/v1alpha1": ("NodeOverlay",),
    "karpenter.k8s.aws/v1": ("EC2NodeClass",),
    "karpenter.k8s.aws/v1beta1": ("EC2NodeClass",),
    "karpenter.k8s.aws/v1alpha1": ("AWSNodeTemplate",),
}
SCALARS = ("type", "required", "enum", "pattern", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems",
           "nullable", "x-kubernetes-int-or-string", "x-kubernetes-list-map-keys",
           "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource")
LISTS = ("anyOf", "oneOf", "allOf")
QUANTITY = r"^[+-]?[0-9.]+([eE][-+]?[0-9]+|[numkMGTPE]|[KMGTPE]i)?$"


class Nodes:
    """Nodes, each kept once."""

    def __init__(self):
        self.at, self.known = [], {}

    def add(self, node, definitions, depth=0):
        """The number of a schema's node. References are followed: what slipway renders holds no kind within itself."""
        assert depth < 60
        while "$ref" in node:
            node = definitions[node["$ref"].rsplit("/", 1)[1]]
        kept = {word: node[word] for word in SCALARS if node.get(word) not in (None, [], {})}
        if node.get("format") == "int-or-string":
            kept = {"x-kubernetes-int-or-string": True}
        below = lambda child: self.add(child, definitions, depth + 1)
        if node.get("properties") is not None:
            kept["properties"] = {name: below(child) for name, child in sorted(node["properties"].items())}
        for word in ("items", "additionalProperties"):
            if isinstance(node.get(word), dict):
                kept[word] = below(node[word])
        if node.get("additionalProperties") is False:
            kept["additionalProperties"] = False
        for word in LISTS:
            if node.get(word):
                kept[word] = [below(child) for child in node[word]]
        key = json.dumps(kept, sort_keys=True)
        if key not in self.known:
            self.known[key] = len(self.at)
            self.at.append(kept)
        return self.known[key]


def kubernetes(folder, nodes, kinds):
    with open(glob.glob(f"{folder}/kubernetes/swagger-*.json")[0], encoding="utf-8") as file:
        definitions = json.load(file)["definitions"]
    definitions["io.k8s.apimachinery.pkg.api.resource.Quantity"]["pattern"] = QUANTITY
    for definition in definitions.values():
        for gvk in definition.get("x-kubernetes-group-version-kind", []):
            version = f"{gvk['group']}/{gvk['version']}".lstrip("/")
            if gvk["kind"] in KINDS.get(version, ()):
                kinds[f"{version} {gvk['kind']}"] = nodes.add(definition, definitions)
    return definitions


def custom(folder, nodes, kinds, definitions):
    meta = {"$ref": "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}
    files = [f for version in KARPENTER for f in sorted(glob.glob(f"{folder}/karpenter/{version}/*.yaml"))]
    for path in files + sorted(glob.glob(f"{folder}/*/*.yaml")):
        with open(path, encoding="utf-8") as file:
            documents = [doc for doc in yaml.load_all(file, getattr(yaml, "CSafeLoader", yaml.SafeLoader)) if doc]
        for doc in (d for d in documents if d.get("kind") == "CustomResourceDefinition"):
            for version in doc["spec"]["versions"]:
                api, kind = f"{doc['spec']['group']}/{version['name']}", doc["spec"]["names"]["kind"]
                if kind in KINDS.get(api, ()) and f"{api} {kind}" not in kinds:
                    root = version["schema"]["openAPIV3Schema"]
                    root.setdefault("properties", {})["metadata"] = meta
                    kinds[f"{api} {kind}"] = nodes.add(root, definitions)


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def templates(folder):
    """Per resource type its properties, and whether each is required."""
    return {name: {key: about["required"] for key, about in sorted(one["properties"].items())}
            for name, one in sorted(read(f"{folder}/cloudformation/resource-types.json").items())}


def instances(folder):
    """Without the heads of the pages' tables."""
    return {name: {key: value for key, value in one["resources"].items() if key.strip() == key}
            for name, one in sorted(read(f"{folder}/ec2/karpenter-instance-types.json").items())}


def write(path, value):
    """A line per entry of each part, so that a difference can be read."""
    compact = lambda v: json.dumps(v, separators=(",", ":"), sort_keys=True)
    with open(path, "w", encoding="utf-8") as file:
        parts = []
        for name, part in value.items():
            if isinstance(part, list):
                lines = [compact(one) for one in part]
                parts.append(f'"{name}": [\n' + ",\n".join(lines) + "\n]")
            elif isinstance(part, dict):
                lines = [f"{compact(key)}: {compact(one)}" for key, one in sorted(part.items())]
                parts.append(f'"{name}": {{\n' + ",\n".join(lines) + "\n}")
            else:
                parts.append(f'"{name}": {compact(part)}')
        file.write("{\n" + ",\n".join(parts) + "\n}\n")


def main():
    folder, nodes, kinds = sys.argv[1], Nodes(), {}
    custom(folder, nodes, kinds, kubernetes(folder, nodes, kinds))
    missing = [f"{api} {kind}" for api, names in KINDS.items() for kind in names if f"{api} {kind}" not in kinds]
    if missing:
        sys.exit("no schema for " + ", ".join(missing))
    eksctl = read(f"{folder}/eksctl/schema.json")
    here = os.path.dirname(os.path.abspath(__file__))
    root = nodes.add(eksctl, eksctl["definitions"])
    write(f"{here}/facts.json", {"kinds": kinds, "eksctl": root, "templates": templates(folder), "nodes": nodes.at})
    write(f"{here}/instances.json", {"resources": instances(folder)})
    print(f"{len(kinds)} kinds, {len(nodes.at)} nodes")


main()
