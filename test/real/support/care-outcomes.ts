import type { RightsOutcomes } from './rights-harness.ts';

/**
 * The effect of each missing right: the conditions of four shoots that differ from those with all rights, or their number if several have the
 * same result; `nothing` if care does not start or does not lead. `all`: the conditions that are not True with all rights.
 */
export const conditionsFound: RightsOutcomes = {
  all: [
    'four ControlPlaneHealthy Unknown OutdatedHealthCheckReport',
    'four EveryNodeReady False NodesScalingUp (3/4)',
    'four SystemComponentsHealthy False TunnelConnectionBroken',
    'one ObservabilityComponentsHealthy False OutdatedStatus (0/1)',
    'one SystemComponentsHealthy False TunnelConnectionBroken',
    'three ControlPlaneHealthy False NetworkUnhealthyReport',
    'three EveryNodeReady False WorkerUnhealthyReport',
    'three ObservabilityComponentsHealthy False OperatingSystemConfigUnhealthyReport',
    'three SystemComponentsHealthy False BackupEntryUnhealthyReport',
    'two ControlPlaneHealthy False ExtensionUnhealthyReport',
    'two EveryNodeReady False ControlPlaneUnhealthyReport',
    'two ObservabilityComponentsHealthy False ContainerRuntimeUnhealthyReport',
    'two SystemComponentsHealthy False InfrastructureUnhealthyReport',
  ].join(', '),
  'list clusters.extensions.gardener.cloud': 'nothing',
  'watch clusters.extensions.gardener.cloud': 'nothing',
  'list secrets': 'nothing',
  'watch secrets': '4 False APIServerDown, 8 Unknown ConditionCheckError',
  'list deployments.apps': '11 Unknown ConditionCheckError, 4 False APIServerDown',
  'watch deployments.apps': '3 False DeploymentMissing, 4 False APIServerDown, 8 Unknown ConditionCheckError',
  'list etcds.druid.gardener.cloud': 'one ControlPlaneHealthy Unknown ConditionCheckError',
  'watch etcds.druid.gardener.cloud': 'one ControlPlaneHealthy False EtcdMissing',
  'list managedresources.resources.gardener.cloud': '20 False ManagedResourceListingFailed',
  'watch managedresources.resources.gardener.cloud': 'one ObservabilityComponentsHealthy True',
  'list machinedeployments.machine.sapcloud.io': '2 Unknown ConditionCheckError',
  'watch machinedeployments.machine.sapcloud.io': '2 False NodesScalingDown (3/0)',
  'list machines.machine.sapcloud.io': '2 Unknown ConditionCheckError',
  'watch machines.machine.sapcloud.io': 'four EveryNodeReady False NodesScalingUp (0/4)',
  'list extensions.extensions.gardener.cloud': '16 Unknown ConditionCheckError',
  'watch extensions.extensions.gardener.cloud': '2 True',
  'list containerruntimes.extensions.gardener.cloud': '14 Unknown ConditionCheckError',
  'watch containerruntimes.extensions.gardener.cloud': 'two ObservabilityComponentsHealthy True',
  'list controlplanes.extensions.gardener.cloud': '13 Unknown ConditionCheckError',
  'watch controlplanes.extensions.gardener.cloud': 'two EveryNodeReady True',
  'list infrastructures.extensions.gardener.cloud': '12 Unknown ConditionCheckError',
  'watch infrastructures.extensions.gardener.cloud': 'two SystemComponentsHealthy False TunnelConnectionBroken',
  'list networks.extensions.gardener.cloud': '11 Unknown ConditionCheckError',
  'watch networks.extensions.gardener.cloud': 'three ControlPlaneHealthy True',
  'list operatingsystemconfigs.extensions.gardener.cloud': '10 Unknown ConditionCheckError',
  'watch operatingsystemconfigs.extensions.gardener.cloud': 'three ObservabilityComponentsHealthy True',
  'list workers.extensions.gardener.cloud': '9 Unknown ConditionCheckError',
  'watch workers.extensions.gardener.cloud': 'three EveryNodeReady True',
  'list backupentries.extensions.gardener.cloud': '8 Unknown ConditionCheckError',
  'watch backupentries.extensions.gardener.cloud': 'three SystemComponentsHealthy False TunnelConnectionBroken',
  'list leases.coordination.k8s.io gardener-extension-heartbeat': 'four ControlPlaneHealthy True',
  'watch leases.coordination.k8s.io gardener-extension-heartbeat': '8 Unknown OutdatedHealthCheckReport',
  'create leases.coordination.k8s.io': 'nothing',
  'get leases.coordination.k8s.io dwd-care-leader-election-dry-run': 'nothing',
  'update leases.coordination.k8s.io dwd-care-leader-election-dry-run': 'nothing',
  'list nodes (shoot)': '2 Unknown ConditionCheckError',
  'list leases.coordination.k8s.io (shoot)': 'one EveryNodeReady Unknown ConditionCheckError',
  'list pods (shoot)': '2 Unknown ConditionCheckError',
  'get pods/portforward (shoot)': '2 Unknown ConditionCheckError',
  'create pods/portforward (shoot)': '2 Unknown ConditionCheckError',
};

/** The effect of each missing right in the garden: the number of conditions, the label, and the conditions that are not True. */
export const conditionsWritten: RightsOutcomes = {
  all: '5 conditions, unhealthy, ObservabilityComponentsHealthy Unknown ExtensionOutdatedHealthCheckReport, SystemComponentsHealthy False TunnelConnectionBroken',
  'list controllerregistrations.core.gardener.cloud (garden)':
    '5 conditions, unhealthy, SystemComponentsHealthy False TunnelConnectionBroken',
  'watch controllerregistrations.core.gardener.cloud (garden)':
    '5 conditions, unhealthy, ControlPlaneHealthy Unknown ControlPlaneOutdatedHealthCheckReport, ObservabilityComponentsHealthy Unknown ExtensionOutdatedHealthCheckReport, SystemComponentsHealthy False TunnelConnectionBroken',
  'list controllerinstallations.core.gardener.cloud (garden)':
    '5 conditions, unhealthy, SystemComponentsHealthy False TunnelConnectionBroken',
  'watch controllerinstallations.core.gardener.cloud (garden)':
    '5 conditions, unhealthy, ControlPlaneHealthy Unknown ControlPlaneOutdatedHealthCheckReport, ObservabilityComponentsHealthy Unknown ExtensionOutdatedHealthCheckReport, SystemComponentsHealthy False TunnelConnectionBroken',
  'get shoots.core.gardener.cloud (garden)': '0 conditions, no label',
  'patch shoots.core.gardener.cloud (garden)':
    '5 conditions, no label, ObservabilityComponentsHealthy Unknown ExtensionOutdatedHealthCheckReport, SystemComponentsHealthy False TunnelConnectionBroken',
  'patch shoots/status.core.gardener.cloud (garden)': '0 conditions, no label',
};
