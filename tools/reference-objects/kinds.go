package main

import (
	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientauthenticationv1 "k8s.io/client-go/pkg/apis/clientauthentication/v1"
	clientcmdv1 "k8s.io/client-go/tools/clientcmd/api/v1"
)

const (
	core       = "core.gardener.cloud/v1beta1"
	extensions = "extensions.gardener.cloud/v1alpha1"
	machine    = "machine.sapcloud.io/v1alpha1"
)

type kind struct {
	apiVersion, name string
	object           any
	// raw is the kind that a field of any type holds, by path of the field.
	raw map[string]string
	// protobuf is true if the program also reads the kind as protobuf.
	protobuf bool
}

// kinds are all kinds that the program reads or writes.
var kinds = []kind{
	{apiVersion: core, name: "Shoot", object: &gardencorev1beta1.Shoot{}},
	{apiVersion: core, name: "Seed", object: &gardencorev1beta1.Seed{}},
	{apiVersion: core, name: "ControllerRegistration", object: &gardencorev1beta1.ControllerRegistration{}},
	{apiVersion: core, name: "ControllerInstallation", object: &gardencorev1beta1.ControllerInstallation{}},
	{apiVersion: extensions, name: "Cluster", object: &extensionsv1alpha1.Cluster{}, raw: map[string]string{
		"spec.seed":  "Seed",
		"spec.shoot": "Shoot",
	}},
	{apiVersion: extensions, name: "BackupEntry", object: &extensionsv1alpha1.BackupEntry{}},
	{apiVersion: extensions, name: "Bastion", object: &extensionsv1alpha1.Bastion{}},
	{apiVersion: extensions, name: "ContainerRuntime", object: &extensionsv1alpha1.ContainerRuntime{}},
	{apiVersion: extensions, name: "ControlPlane", object: &extensionsv1alpha1.ControlPlane{}},
	{apiVersion: extensions, name: "DNSRecord", object: &extensionsv1alpha1.DNSRecord{}},
	{apiVersion: extensions, name: "Extension", object: &extensionsv1alpha1.Extension{}},
	{apiVersion: extensions, name: "Infrastructure", object: &extensionsv1alpha1.Infrastructure{}},
	{apiVersion: extensions, name: "Network", object: &extensionsv1alpha1.Network{}},
	{apiVersion: extensions, name: "OperatingSystemConfig", object: &extensionsv1alpha1.OperatingSystemConfig{}},
	{apiVersion: extensions, name: "Worker", object: &extensionsv1alpha1.Worker{}},
	{apiVersion: "resources.gardener.cloud/v1alpha1", name: "ManagedResource", object: &resourcesv1alpha1.ManagedResource{}},
	{apiVersion: machine, name: "Machine", object: &machinev1alpha1.Machine{}},
	{apiVersion: machine, name: "MachineDeployment", object: &machinev1alpha1.MachineDeployment{}},
	{apiVersion: "druid.gardener.cloud/v1alpha1", name: "Etcd", object: &druidv1alpha1.Etcd{}},
	{apiVersion: "apps/v1", name: "Deployment", object: &appsv1.Deployment{}},
	{apiVersion: "apps/v1", name: "StatefulSet", object: &appsv1.StatefulSet{}},
	{apiVersion: "rbac.authorization.k8s.io/v1", name: "ClusterRole", object: &rbacv1.ClusterRole{}},
	{apiVersion: "apps/v1", name: "DaemonSet", object: &appsv1.DaemonSet{}},
	{apiVersion: "apps/v1", name: "ReplicaSet", object: &appsv1.ReplicaSet{}},
	{apiVersion: "autoscaling/v1", name: "Scale", object: &autoscalingv1.Scale{}},
	{apiVersion: "batch/v1", name: "Job", object: &batchv1.Job{}},
	{apiVersion: "v1", name: "Pod", object: &corev1.Pod{}},
	{apiVersion: "v1", name: "NodeList", object: &corev1.NodeList{}, protobuf: true},
	{apiVersion: "v1", name: "Namespace", object: &corev1.Namespace{}},
	{apiVersion: "v1", name: "Secret", object: &corev1.Secret{}},
	{apiVersion: "v1", name: "Service", object: &corev1.Service{}},
	{apiVersion: "v1", name: "Event", object: &corev1.Event{}},
	{apiVersion: "v1", name: "ConfigMap", object: &corev1.ConfigMap{}},
	{apiVersion: "v1", name: "Endpoints", object: &corev1.Endpoints{}},
	{apiVersion: "coordination.k8s.io/v1", name: "LeaseList", object: &coordinationv1.LeaseList{}, protobuf: true},
	{apiVersion: "discovery.k8s.io/v1", name: "EndpointSlice", object: &discoveryv1.EndpointSlice{}},
	{apiVersion: "authorization.k8s.io/v1", name: "SelfSubjectAccessReview", object: &authorizationv1.SelfSubjectAccessReview{}},
	{apiVersion: "v1", name: "Status", object: &metav1.Status{}, protobuf: true},
	{apiVersion: "v1", name: "APIResourceList", object: &metav1.APIResourceList{}},
	{apiVersion: "v1", name: "APIGroup", object: &metav1.APIGroup{}},
	{apiVersion: "v1", name: "WatchEvent", object: &metav1.WatchEvent{}, raw: map[string]string{"object": "Secret"}},
	{apiVersion: "v1", name: "DeleteOptions", object: &metav1.DeleteOptions{}},
	{apiVersion: "v1", name: "Config", object: &clientcmdv1.Config{}},
	{apiVersion: "client.authentication.k8s.io/v1", name: "ExecCredential", object: &clientauthenticationv1.ExecCredential{}},
}

// source is an upstream module whose source code is read.
type source struct {
	module string
	// like is the module whose version applies to this one too; empty if this module is in go.mod itself.
	like string
	// constants are the packages whose exported string constants are printed.
	constants []string
	// words are the packages whose string literals are printed, except those with white space; comma-separated literals are split.
	words []string
}

// sources are the modules with the texts that the program compares values with.
var sources = []source{
	{
		module:    "github.com/gardener/gardener/pkg/apis",
		constants: []string{"core/v1beta1", "core/v1beta1/constants", "extensions/v1alpha1", "resources/v1alpha1"},
	},
	{
		module:    "github.com/gardener/gardener",
		like:      "github.com/gardener/gardener/pkg/apis",
		constants: []string{"pkg/extensions", "pkg/utils/secrets"},
		words: []string{
			"extensions/pkg/controller/healthcheck", "pkg/api/core/v1beta1/helper", "pkg/component/networking/vpn/shoot",
			"pkg/gardenlet/controller/shoot/care", "pkg/utils/kubernetes/health", "pkg/utils/kubernetes/health/checker",
		},
	},
	{
		module:    "github.com/gardener/machine-controller-manager",
		constants: []string{"pkg/apis/machine/v1alpha1", "pkg/controller", "pkg/util/provider/machineutils"},
		words:     []string{"pkg/util/provider/app/options"},
	},
	{module: "github.com/gardener/etcd-druid/api", constants: []string{"core/v1alpha1"}},
	{module: "k8s.io/api", constants: []string{"apps/v1", "core/v1", "discovery/v1"}},
	{module: "k8s.io/apimachinery", constants: []string{"pkg/apis/meta/v1", "pkg/watch"}},
}
