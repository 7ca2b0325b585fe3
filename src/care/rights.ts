import { careExtensionKinds, heartbeatLeaseName } from '../gardener/extensions.ts';
import { type Grant, watched } from '../process/rights/index.ts';
import type { CareSettings } from './config.ts';

const health = 'to check the health of control planes';
const machines = 'to check the machines of shoots';
const reports = 'to read the reports of extensions';
const nodes = 'to check the nodes of a shoot';
const tunnel = 'to try the tunnel to the nodes';

const extensions = 'extensions.gardener.cloud';
const core = 'core.gardener.cloud';

/** Rights of care in a seed, in all namespaces. It only reads there. */
export const careGrants = ({ kubeConfigSecretName }: CareSettings): readonly Grant[] =>
  [
    { group: extensions, resource: 'clusters', purpose: 'to find the shoots' },
    { group: '', resource: 'secrets', names: [kubeConfigSecretName], purpose: 'to reach the API servers of shoots' },
    { group: 'apps', resource: 'deployments', purpose: health },
    { group: 'druid.gardener.cloud', resource: 'etcds', purpose: health },
    { group: 'resources.gardener.cloud', resource: 'managedresources', purpose: health },
    { group: 'machine.sapcloud.io', resource: 'machinedeployments', purpose: machines },
    { group: 'machine.sapcloud.io', resource: 'machines', purpose: machines },
    ...careExtensionKinds.map(({ resource }) => ({ group: extensions, resource, purpose: reports })),
    { group: 'coordination.k8s.io', resource: 'leases', names: [heartbeatLeaseName], purpose: reports },
  ].map((grant) => ({ ...grant, verbs: watched }));

const inCharge = 'to check if extensions are alive';

/** Rights of care in the garden, in all namespaces, for any configuration. */
export const careGardenGrants: readonly Grant[] = [
  { group: core, resource: 'controllerregistrations', verbs: watched, purpose: inCharge },
  { group: core, resource: 'controllerinstallations', verbs: watched, purpose: inCharge },
  { group: core, resource: 'shoots', verbs: ['get'], purpose: 'to read the stored Shoots' },
  { group: core, resource: 'shoots', verbs: ['patch'], purpose: 'to label a Shoot with its health' },
  { group: core, resource: 'shoots/status', verbs: ['patch'], purpose: 'to write the conditions of Shoots' },
];

/** Rights of care in a shoot. Every client may get `/healthz` (ClusterRole `system:public-info-viewer`). */
export const careShootGrants: readonly Grant[] = [
  { group: '', resource: 'nodes', verbs: ['list'], purpose: nodes },
  { group: 'coordination.k8s.io', resource: 'leases', namespace: 'kube-node-lease', verbs: ['list'], purpose: nodes },
  { group: '', resource: 'pods', namespace: 'kube-system', verbs: ['list'], purpose: tunnel },
  { group: '', resource: 'pods/portforward', namespace: 'kube-system', verbs: ['get', 'create'], purpose: tunnel },
];
