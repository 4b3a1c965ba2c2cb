package main

import (
	"context"
	"time"

	aws "github.com/aws/karpenter-provider-aws/pkg/apis/v1"
	runtime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// nodeClasses does what the AWS provider does for an EC2NodeClass: it resolves subnets and groups (here each zone has
// one), says that all is ready, and keeps the class until the last of its nodes is gone.
type nodeClasses struct {
	client client.Client
	zones  []string
}

func (n *nodeClasses) Register(_ context.Context, m manager.Manager) error {
	return runtime.NewControllerManagedBy(m).Named("nodeclass").For(&aws.EC2NodeClass{}).
		Complete(reconcile.AsReconciler(m.GetClient(), n))
}

func (n *nodeClasses) Reconcile(ctx context.Context, class *aws.EC2NodeClass) (reconcile.Result, error) {
	if !class.DeletionTimestamp.IsZero() {
		return n.release(ctx, class)
	}
	before := class.DeepCopy()
	if controllerutil.AddFinalizer(class, aws.TerminationFinalizer) {
		return reconcile.Result{}, n.client.Patch(ctx, class, client.MergeFrom(before))
	}
	n.resolve(class)
	return reconcile.Result{}, client.IgnoreNotFound(n.client.Status().Patch(ctx, class, client.MergeFrom(before)))
}

func (n *nodeClasses) resolve(class *aws.EC2NodeClass) {
	class.Status.Subnets = nil
	for _, zone := range n.zones {
		class.Status.Subnets = append(class.Status.Subnets, aws.Subnet{ID: "subnet-" + zone, Zone: zone})
	}
	class.Status.SecurityGroups = []aws.SecurityGroup{{ID: "sg-test"}}
	for _, condition := range []string{
		aws.ConditionTypeValidationSucceeded, aws.ConditionTypeSubnetsReady, aws.ConditionTypeSecurityGroupsReady,
		aws.ConditionTypeAMIsReady, aws.ConditionTypeInstanceProfileReady, aws.ConditionTypeCapacityReservationsReady,
		aws.ConditionTypePlacementGroupReady,
	} {
		class.StatusConditions().SetTrue(condition)
	}
}

func (n *nodeClasses) release(ctx context.Context, class *aws.EC2NodeClass) (reconcile.Result, error) {
	claims := &karpenter.NodeClaimList{}
	if err := n.client.List(ctx, claims); err != nil {
		return reconcile.Result{}, err
	}
	for i := range claims.Items {
		if claims.Items[i].Spec.NodeClassRef.Name == class.Name {
			return reconcile.Result{RequeueAfter: time.Second}, nil
		}
	}
	before := class.DeepCopy()
	controllerutil.RemoveFinalizer(class, aws.TerminationFinalizer)
	return reconcile.Result{}, client.IgnoreNotFound(n.client.Patch(ctx, class, client.MergeFrom(before)))
}
