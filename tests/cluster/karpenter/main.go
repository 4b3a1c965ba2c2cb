// Karpenter as it is, with a cloud of the test's own behind it: instances are Node objects that KWOK keeps alive, their
// types are slipway's catalogue, their classes are EC2NodeClasses, and files say which types have no capacity.
//
// CATALOGUE=FILE    what `slipway instances --output json` prints
// NO_CAPACITY=DIR   for a fleet, in the file of its name, instance types that are refused; read at every launch
// ZONES=A,B         the region's zones
package main

import (
	"fmt"
	"os"
	"strings"

	"sigs.k8s.io/karpenter/pkg/cloudprovider/overlay"
	"sigs.k8s.io/karpenter/pkg/controllers"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/operator"
)

func main() {
	catalogue, err := readCatalogue(os.Getenv("CATALOGUE"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "karpenter:", err)
		os.Exit(1)
	}
	ctx, op := operator.NewOperator()
	cloud := &cloud{
		client:    op.GetClient(),
		catalogue: catalogue,
		zones:     strings.Split(os.Getenv("ZONES"), ","),
		shortage:  newShortage(os.Getenv("NO_CAPACITY"), op.Clock),
	}
	provider := overlay.Decorate(cloud, op.GetClient(), op.InstanceTypeStore)
	cluster := state.NewCluster(op.Clock, op.GetClient(), provider)
	op.WithControllers(ctx, controllers.NewControllers(ctx, op.Manager, op.Clock, op.GetClient(), op.EventRecorder,
		provider, cloud, cluster, op.InstanceTypeStore)...).
		WithControllers(ctx, &nodeClasses{client: op.GetClient(), zones: cloud.zones}).
		Start(ctx)
}
