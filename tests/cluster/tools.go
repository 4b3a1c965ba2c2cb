//go:build tools

// Package cluster pins the programs and the definitions that a test's control plane is made of: they are fetched by
// these names, and never copied into the tree.
package cluster

import (
	_ "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
	_ "k8s.io/kubernetes/cmd/kube-scheduler"
	_ "k8s.io/kubernetes/cmd/kubectl"
	_ "sigs.k8s.io/controller-tools/cmd/controller-gen"
	_ "sigs.k8s.io/jobset"
	_ "sigs.k8s.io/kwok/cmd/kwok"
	_ "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	_ "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
)
