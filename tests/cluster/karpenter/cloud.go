package main

import (
	"context"
	"fmt"
	"maps"
	"strings"

	aws "github.com/aws/karpenter-provider-aws/pkg/apis/v1"
	"github.com/awslabs/operatorpkg/status"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

const (
	idPrefix = "slipway-test:///"
	// KWOK plays the kubelet of the nodes that carry this annotation.
	kwokKey = "kwok.x-k8s.io/node"
)

// cloud: an instance is its Node, made at once and named as its NodeClaim. What the Node is gone for, is terminated.
type cloud struct {
	client    client.Client
	catalogue []instance
	zones     []string
	shortage  *shortage
}

var _ cloudprovider.CloudProvider = &cloud{}

func (c *cloud) Name() string                                 { return "slipway-test" }
func (c *cloud) RepairPolicies() []cloudprovider.RepairPolicy { return nil }
func (c *cloud) GetSupportedNodeClasses() []status.Object {
	return []status.Object{&aws.EC2NodeClass{}}
}

func (c *cloud) IsDrifted(context.Context, *karpenter.NodeClaim) (cloudprovider.DriftReason, error) {
	return "", nil
}

func (c *cloud) GetInstanceTypes(_ context.Context, pool *karpenter.NodePool) ([]*cloudprovider.InstanceType, error) {
	var all []*cloudprovider.InstanceType
	for _, row := range c.catalogue {
		all = append(all, row.instanceType(c.zones, c.shortage.offered(pool.Labels[fleetKey], row.Type)))
	}
	return all, nil
}

// pick: the cheapest instance that the claim admits and that can be had; what was refused otherwise.
func (c *cloud) pick(claim *karpenter.NodeClaim) (*instance, *cloudprovider.Offering, error) {
	requirements := scheduling.NewNodeSelectorRequirementsWithMinValues(claim.Spec.Requirements...)
	admitted := requirements.Get(core.LabelInstanceTypeStable)
	var chosen *instance
	var best *cloudprovider.Offering
	var refused []string
	for i := range c.catalogue {
		row := &c.catalogue[i]
		if !admitted.Has(row.Type) {
			continue
		}
		offering := row.instanceType(c.zones, true).Offerings.Compatible(requirements).Cheapest()
		if offering == nil || (best != nil && offering.Price >= best.Price) {
			continue
		}
		if !c.shortage.launch(claim.Labels[fleetKey], row.Type) {
			refused = append(refused, row.Type)
			continue
		}
		chosen, best = row, offering
	}
	if chosen == nil {
		return nil, nil, cloudprovider.NewInsufficientCapacityError(fmt.Errorf("InsufficientInstanceCapacity: "+
			"we currently do not have sufficient capacity for %s", strings.Join(refused, ", ")))
	}
	return chosen, best, nil
}

func (c *cloud) ready(ctx context.Context, claim *karpenter.NodeClaim) error {
	class := &aws.EC2NodeClass{}
	err := c.client.Get(ctx, types.NamespacedName{Name: claim.Spec.NodeClassRef.Name}, class)
	if errors.IsNotFound(err) || (err == nil && !class.DeletionTimestamp.IsZero()) {
		return cloudprovider.NewInsufficientCapacityError(fmt.Errorf("EC2NodeClass %s is not there",
			claim.Spec.NodeClassRef.Name))
	}
	if err == nil && !class.StatusConditions().Root().IsTrue() {
		return cloudprovider.NewNodeClassNotReadyError(fmt.Errorf("EC2NodeClass %s is not ready", class.Name))
	}
	return err
}

func (c *cloud) Create(ctx context.Context, claim *karpenter.NodeClaim) (*karpenter.NodeClaim, error) {
	if err := c.ready(ctx, claim); err != nil {
		return nil, err
	}
	row, offering, err := c.pick(claim)
	if err != nil {
		return nil, err
	}
	node := node(claim, row, offering)
	if err := c.client.Create(ctx, node); client.IgnoreAlreadyExists(err) != nil {
		return nil, err
	}
	return claimOf(node), nil
}

// node: as it looks when the kubelet has joined: with its labels and devices, and not yet taken in by Karpenter.
func node(claim *karpenter.NodeClaim, row *instance, offering *cloudprovider.Offering) *core.Node {
	labels := row.labels()
	maps.Copy(labels, claim.Labels)
	labels[core.LabelTopologyZone] = offering.Zone()
	labels[karpenter.CapacityTypeLabelKey] = offering.CapacityType()
	labels[core.LabelHostname] = claim.Name
	kind := row.instanceType([]string{offering.Zone()}, true)
	row.share(labels, kind.Capacity)
	taints := append([]core.Taint{karpenter.UnregisteredNoExecuteTaint}, claim.Spec.StartupTaints...)
	return &core.Node{
		ObjectMeta: meta.ObjectMeta{Name: claim.Name, Labels: labels, Annotations: map[string]string{kwokKey: "fake"}},
		Spec:       core.NodeSpec{ProviderID: idPrefix + claim.Name, Taints: append(taints, claim.Spec.Taints...)},
		Status: core.NodeStatus{
			Phase:       core.NodePending,
			Capacity:    kind.Capacity,
			Allocatable: kind.Allocatable(),
			NodeInfo:    core.NodeSystemInfo{Architecture: row.Architecture, OperatingSystem: "linux"},
		},
	}
}

func claimOf(node *core.Node) *karpenter.NodeClaim {
	return &karpenter.NodeClaim{
		ObjectMeta: meta.ObjectMeta{
			Name: node.Name, Labels: node.Labels, Annotations: node.Annotations, CreationTimestamp: node.CreationTimestamp,
		},
		Status: karpenter.NodeClaimStatus{
			NodeName: node.Name, ProviderID: node.Spec.ProviderID, ImageID: "ami-test",
			Capacity: node.Status.Capacity, Allocatable: node.Status.Allocatable,
		},
	}
}

func (c *cloud) Get(ctx context.Context, id string) (*karpenter.NodeClaim, error) {
	node := &core.Node{}
	err := c.client.Get(ctx, types.NamespacedName{Name: strings.TrimPrefix(id, idPrefix)}, node)
	if errors.IsNotFound(err) {
		return nil, cloudprovider.NewNodeClaimNotFoundError(err)
	}
	if err != nil {
		return nil, err
	}
	return claimOf(node), nil
}

func (c *cloud) List(ctx context.Context) ([]*karpenter.NodeClaim, error) {
	nodes := &core.NodeList{}
	if err := c.client.List(ctx, nodes); err != nil {
		return nil, err
	}
	var claims []*karpenter.NodeClaim
	for i := range nodes.Items {
		if strings.HasPrefix(nodes.Items[i].Spec.ProviderID, idPrefix) {
			claims = append(claims, claimOf(&nodes.Items[i]))
		}
	}
	return claims, nil
}

// Delete: Karpenter drains and deletes a Node that it has taken in; one that it has not goes with its instance, which
// takes no time to end here.
func (c *cloud) Delete(ctx context.Context, claim *karpenter.NodeClaim) error {
	node := &core.Node{ObjectMeta: meta.ObjectMeta{Name: claim.Name}}
	if err := c.client.Delete(ctx, node); client.IgnoreNotFound(err) != nil {
		return err
	}
	return cloudprovider.NewNodeClaimNotFoundError(fmt.Errorf("instance %s is terminated", claim.Status.ProviderID))
}
