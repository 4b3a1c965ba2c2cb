package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	aws "github.com/aws/karpenter-provider-aws/pkg/apis/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

// instance is a row of slipway's catalogue: memory in MiB, disk in GB, processors in thousandths.
type instance struct {
	Type         string `json:"type"`
	Family       string `json:"family"`
	Architecture string `json:"architecture"`
	Vcpu         int64  `json:"vcpu"`
	Memory       int64  `json:"memory_mib"`
	Accelerator  string `json:"accelerator"`
	Resource     string `json:"resource"`
	Devices      int64  `json:"devices"`
	DeviceMemory int64  `json:"device_memory_mib"`
	NeuronCores  int64  `json:"neuron_cores"`
	Efa          int64  `json:"efa"`
	Network      int64  `json:"network_mbps"`
	Nvme         int64  `json:"nvme_gb"`
	FreeCPU      int64  `json:"allocatable_cpu_milli"`
	FreeMemory   int64  `json:"allocatable_memory_mib"`
	Pods         int64  `json:"pods"`
}

const mebibyte = 1 << 20

func readCatalogue(path string) ([]instance, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var rows []instance
	if err := json.Unmarshal(text, &rows); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(rows) == 0 {
		return nil, errors.New(path + ": no instance types")
	}
	return rows, nil
}

func (i instance) capacity() core.ResourceList {
	disk := max(i.Nvme, 200)
	list := core.ResourceList{
		core.ResourceCPU:              *resource.NewQuantity(i.Vcpu, resource.DecimalSI),
		core.ResourceMemory:           *resource.NewQuantity(i.Memory*mebibyte, resource.BinarySI),
		core.ResourceEphemeralStorage: *resource.NewQuantity(disk*1000*1000*1000, resource.DecimalSI),
		core.ResourcePods:             *resource.NewQuantity(i.Pods, resource.DecimalSI),
	}
	extended := map[core.ResourceName]int64{
		core.ResourceName(i.Resource): i.Devices,
		aws.ResourceAWSNeuronCore:     i.NeuronCores,
		aws.ResourceEFA:               i.Efa,
	}
	for name, count := range extended {
		if name != "" && count > 0 {
			list[name] = *resource.NewQuantity(count, resource.DecimalSI)
		}
	}
	return list
}

// share: what the plugins of a node offer in place of whole devices, as its labels tell them.
func (i instance) share(labels map[string]string, capacity core.ResourceList) {
	slices, _ := strconv.ParseInt(labels["slipway/time-slices"], 10, 64)
	profile := strings.TrimPrefix(labels["nvidia.com/mig.config"], "all-")
	parts := map[byte]int64{'1': 7, '2': 3, '3': 2, '7': 1}
	name, count := core.ResourceName("nvidia.com/gpu.shared"), i.Devices*slices
	if profile != "" {
		name, count = core.ResourceName("nvidia.com/mig-"+profile), i.Devices*parts[profile[0]]
	}
	if count > 0 {
		delete(capacity, core.ResourceName(i.Resource))
		capacity[name] = *resource.NewQuantity(count, resource.DecimalSI)
	}
}

func (i instance) overhead() *cloudprovider.InstanceTypeOverhead {
	return &cloudprovider.InstanceTypeOverhead{KubeReserved: core.ResourceList{
		core.ResourceCPU:    *resource.NewMilliQuantity(i.Vcpu*1000-i.FreeCPU, resource.DecimalSI),
		core.ResourceMemory: *resource.NewQuantity((i.Memory-i.FreeMemory)*mebibyte, resource.BinarySI),
	}}
}

// labels: those that Karpenter's AWS provider puts on a node of this type.
func (i instance) labels() map[string]string {
	category := strings.TrimRight(strings.SplitN(i.Family, "", 2)[0], "0123456789")
	labels := map[string]string{
		core.LabelInstanceTypeStable:      i.Type,
		core.LabelArchStable:              i.Architecture,
		core.LabelOSStable:                "linux",
		aws.LabelInstanceCategory:         category,
		aws.LabelInstanceFamily:           i.Family,
		aws.LabelInstanceSize:             i.Type[strings.IndexByte(i.Type, '.')+1:],
		aws.LabelInstanceCPU:              strconv.FormatInt(i.Vcpu, 10),
		aws.LabelInstanceMemory:           strconv.FormatInt(i.Memory, 10),
		aws.LabelInstanceNetworkBandwidth: strconv.FormatInt(i.Network, 10),
	}
	if i.Nvme > 0 {
		labels[aws.LabelInstanceLocalNVME] = strconv.FormatInt(i.Nvme, 10)
	}
	devices := strconv.FormatInt(i.Devices, 10)
	if i.Resource == string(aws.ResourceNVIDIAGPU) {
		labels[aws.LabelInstanceGPUName] = i.Accelerator
		labels[aws.LabelInstanceGPUManufacturer] = "nvidia"
		labels[aws.LabelInstanceGPUCount] = devices
		labels[aws.LabelInstanceGPUMemory] = strconv.FormatInt(i.DeviceMemory, 10)
	} else if i.Devices > 0 {
		labels[aws.LabelInstanceAcceleratorName] = i.Accelerator
		labels[aws.LabelInstanceAcceleratorManufacturer] = "aws"
		labels[aws.LabelInstanceAcceleratorCount] = devices
	}
	return labels
}

func is(key string, values ...string) *scheduling.Requirement {
	return scheduling.NewRequirement(key, core.NodeSelectorOpIn, values...)
}

// price: no bill is ever paid, but the cheaper of two types must be the smaller one, and spot cheaper than on demand.
func (i instance) price(capacityType string) float64 {
	price := float64(i.Vcpu + 64*i.Devices)
	if capacityType == karpenter.CapacityTypeSpot {
		return price / 3
	}
	return price
}

// instanceType: what Karpenter plans with. A zone's offering is there unless the type ran out of capacity.
func (i instance) instanceType(zones []string, available bool) *cloudprovider.InstanceType {
	requirements := scheduling.NewRequirements(is(core.LabelTopologyZone, zones...),
		is(karpenter.CapacityTypeLabelKey, karpenter.CapacityTypeSpot, karpenter.CapacityTypeOnDemand))
	for key, value := range i.labels() {
		requirements.Add(is(key, value))
	}
	kind := &cloudprovider.InstanceType{
		Name: i.Type, Requirements: requirements, Capacity: i.capacity(), Overhead: i.overhead(),
	}
	for _, zone := range zones {
		for _, capacityType := range []string{karpenter.CapacityTypeSpot, karpenter.CapacityTypeOnDemand} {
			kind.Offerings = append(kind.Offerings, &cloudprovider.Offering{
				Price:     i.price(capacityType),
				Available: available,
				Requirements: scheduling.NewRequirements(
					is(core.LabelTopologyZone, zone), is(karpenter.CapacityTypeLabelKey, capacityType),
					scheduling.NewRequirement(aws.LabelCapacityReservationID, core.NodeSelectorOpDoesNotExist),
					scheduling.NewRequirement(aws.LabelCapacityReservationType, core.NodeSelectorOpDoesNotExist)),
			})
		}
	}
	return kind
}
