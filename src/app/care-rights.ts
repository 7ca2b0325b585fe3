import { type CareSettings, careExtensionKinds, heartbeatLeaseName } from '../domain/index.ts';
import type { NeededRight } from './check-rights.ts';

const health = 'to know the health of control planes';
const nodes = 'to know the machines of shoots';
const reports = 'to hear what extensions report';

const extensionsGroup = 'extensions.gardener.cloud';
const core = 'core.gardener.cloud';

/** Rights in the seed that care takes, in all namespaces; it only reads there. */
export const neededByCare = ({ kubeConfigSecretName }: CareSettings): readonly NeededRight[] =>
  [
    { group: extensionsGroup, resource: 'clusters', purpose: 'to know which shoots there are' },
    { group: '', resource: 'secrets', name: kubeConfigSecretName, purpose: 'to reach the API servers of shoots' },
    { group: 'apps', resource: 'deployments', purpose: health },
    { group: 'druid.gardener.cloud', resource: 'etcds', purpose: health },
    { group: 'resources.gardener.cloud', resource: 'managedresources', purpose: health },
    { group: 'machine.sapcloud.io', resource: 'machinedeployments', purpose: nodes },
    { group: 'machine.sapcloud.io', resource: 'machines', purpose: nodes },
    ...careExtensionKinds.map(({ resource }) => ({ group: extensionsGroup, resource, purpose: reports })),
    { group: 'coordination.k8s.io', resource: 'leases', name: heartbeatLeaseName, purpose: reports },
  ].flatMap(({ purpose, ...right }) => ['list', 'watch'].map((verb) => ({ right: { verb, ...right }, purpose })));

const inCharge = 'to know whether extensions are alive';
const shoots = 'to know how Shoots are stored';
const writing = 'to tell how shoots are';

/** Rights in the garden that care takes, in all namespaces, whatever is configured. */
export const neededInGarden: readonly NeededRight[] = [
  { right: { verb: 'list', group: core, resource: 'controllerregistrations' }, purpose: inCharge },
  { right: { verb: 'watch', group: core, resource: 'controllerregistrations' }, purpose: inCharge },
  { right: { verb: 'list', group: core, resource: 'controllerinstallations' }, purpose: inCharge },
  { right: { verb: 'watch', group: core, resource: 'controllerinstallations' }, purpose: inCharge },
  { right: { verb: 'get', group: core, resource: 'shoots' }, purpose: shoots },
  { right: { verb: 'patch', group: core, resource: 'shoots' }, purpose: writing },
  { right: { verb: 'patch', group: core, resource: 'shoots/status' }, purpose: writing },
];
