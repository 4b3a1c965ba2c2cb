#include "builder/cli/renderers.h"

#include "base/attr.h"
#include "k8s/admission/admission.h"
#include "k8s/cluster/cluster.h"
#include "k8s/devices/devices.h"
#include "k8s/job/compile.h"
#include "k8s/job/job.h"
#include "k8s/monitoring/monitoring.h"
#include "k8s/nettest/nettest.h"
#include "k8s/storage/storage.h"
#include "karpenter/pools/pools.h"
#include "pipeline/render.h"

static const struct k8s_renderer *const rows[] = {
	&cluster_renderer,   &account_renderer, &namespace_renderer, &trust_renderer,
	&karpenter_renderer, &devices_renderer, &storage_renderer,   &monitoring_renderer,
	&scheduler_renderer, &compile_renderer, &jobs_renderer,      &nettest_renderer,
	&pipeline_renderer,
};

const struct k8s_renderers renderers = {rows, ARRAY_LEN(rows)};
