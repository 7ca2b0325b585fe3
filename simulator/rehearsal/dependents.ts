import { judgeKind } from '../../src/config/rules/index.ts';
import { type ResourceRef, refKey } from '../../src/kubernetes/api/resource-ref.ts';
import { type DependentResource, type ProberSettings, fillTemplate } from '../../src/prober/index.ts';
import { type SimDraft, type SimKind, apiVersionOf, customKind, simKinds } from '../apiserver/index.ts';
import {
  type World,
  type WorldSource,
  clusterAutoscaler,
  deploymentObject,
  machineControllerManager,
  secretObject,
} from '../world/index.ts';
import { componentOf } from './components.ts';

/** The kinds that the simulated seed serves for a configuration. */
export interface RehearsedKinds {
  /** All kinds, the built-in ones included. */
  readonly served: readonly SimKind[];
  /** Kinds of the dependent resources that can be scaled, by `refKey`. */
  readonly byRef: ReadonlyMap<string, SimKind>;
}

/** Creates a scalable kind, with its replicas in the usual fields. Only discovery uses its plural. */
const kindOf = (ref: ResourceRef): SimKind => {
  const [version = '', group = ''] = ref.apiVersion.split('/').reverse();
  const scale = { replicas: ['spec', 'replicas'], statusReplicas: ['status', 'replicas'] };
  const identity = { group, version, kind: ref.kind, resource: `${ref.kind.toLowerCase()}s` };
  return customKind(identity, { status: true, scale });
};

/** Returns the resources of unknown kinds: only a real seed shows if it serves them with a scale subresource. */
export const unknownResources = ({ dependentResources }: ProberSettings): readonly DependentResource[] =>
  dependentResources.filter(({ ref }) => judgeKind(ref).kind === 'unknown');

/**
 * Selects known kinds with a scale subresource. No other kind is served: a resource that could not be scaled
 * in a real seed is not scaled here either.
 */
export const rehearsedKinds = (resources: readonly DependentResource[]): RehearsedKinds => {
  const served: SimKind[] = Object.values(simKinds);
  const byRef = new Map<string, SimKind>();
  for (const { ref } of resources) {
    if (judgeKind(ref).kind !== 'scalable') continue;
    const isSame = (known: SimKind) => apiVersionOf(known) === ref.apiVersion && known.kind === ref.kind;
    const kind = served.find(isSame) ?? kindOf(ref);
    if (!served.includes(kind)) served.push(kind);
    byRef.set(refKey(ref), kind);
  }
  return { served, byRef };
};

const secretOf = (
  namespace: string,
  { name, labels = {} }: { readonly name: string; readonly labels?: Readonly<Record<string, string>> },
  data: Readonly<Record<string, string>>,
): SimDraft => ({
  metadata: { namespace, name, labels },
  data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')])),
});

/** Returns the name and labels by which a configuration finds the Secret of a cluster. Selectors have the form `a=b,c=d` (config.ts). */
const foundBy = ({ kubeConfigSecretName: name, clusterSource }: ProberSettings) => {
  const { selector } = clusterSource ?? {};
  if (selector === undefined) return { name };
  const labels = Object.fromEntries(selector.split(',').map((term) => term.split('=')) as [string, string][]);
  return { name: 'cluster-kubeconfig', labels };
};

/** Puts the configured Secrets into the namespace of every shoot, and the configured resources that do not exist yet. */
export const populate = (world: World, settings: ProberSettings, { byRef }: RehearsedKinds): void => {
  const { store } = world;
  const { clusterSource, externalProbe, dependentResources } = settings;
  const key = clusterSource?.key ?? 'kubeconfig';
  for (const { namespace, api } of world.shoots) {
    store.put(simKinds.Secret, secretOf(namespace, foundBy(settings), { [key]: api.kubeconfig() }));
    if (externalProbe !== undefined) {
      const kubeconfig = api.publicAddress.kubeconfig();
      store.put(simKinds.Secret, secretObject({ namespace, name: externalProbe.kubeConfigSecretName }, kubeconfig));
    }
    for (const { ref } of dependentResources) {
      const [kind, name] = [byRef.get(refKey(ref)), fillTemplate(ref.name, namespace)];
      if (kind === undefined || store.get(kind, { namespace, name }) !== undefined) continue;
      store.put(kind, deploymentObject(namespace, name, 1));
    }
  }
};

/** Returns replicas by component. Outside Gardener, MCM and CA run only if the configuration names them. */
export const initialCounts = ({
  source,
  settings,
}: {
  readonly source: WorldSource;
  readonly settings: ProberSettings;
}): Readonly<Record<string, number>> => {
  if (source === 'gardener') return {};
  const named = new Set(settings.dependentResources.map(({ ref }) => componentOf(ref.name)));
  const absent = [machineControllerManager, clusterAutoscaler].filter((name) => !named.has(name));
  return Object.fromEntries(absent.map((name) => [name, 0]));
};
