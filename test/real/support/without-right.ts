import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Grant, rightsOf } from '../../../src/process/rights/grants.ts';
import type { Access, RbacRule } from '../../envtest/access.ts';
import type { AuditedRequest } from './audit.ts';
import { type InProcess, startInProcess } from './in-process.ts';

type Place = 'seed' | 'garden' | 'shoot';
export type Grants = Readonly<Partial<Record<Place, readonly Grant[]>>>;

/** The missing right: one verb of one grant. */
interface Removal {
  readonly place: Place;
  readonly grant: Grant;
  readonly verb: string;
}

/** An installation of a component, with all rights or with all but one. */
export interface Variant {
  /** Unique name, used for its users, the namespace of its Lease, and its files. */
  readonly id: string;
  readonly grants: Grants;
  readonly removed?: Removal;
}

/** Returns a variant with all rights, and one without each verb of each grant. */
export const variantsOf = (prefix: string, grantsOf: (id: string) => Grants): readonly Variant[] => {
  const lines = (grants: Grants) => Object.entries(grants) as readonly (readonly [Place, readonly Grant[]])[];
  const removals = lines(grantsOf(prefix)).flatMap(([place, grants]) =>
    grants.flatMap(({ verbs }, index) => verbs.map((verb) => ({ place, index, verb }))),
  );
  const without = removals.map(({ place, index, verb }, number): Variant => {
    const id = `${prefix}-${String(number + 1)}`;
    const grants = grantsOf(id);
    return { id, grants, removed: { place, grant: grants[place]![index]!, verb } };
  });
  return [{ id: `${prefix}-0`, grants: grantsOf(`${prefix}-0`) }, ...without];
};

/** Names a variant by its missing right, such as `list clusters.extensions.gardener.cloud` or `patch deployments.apps one`; `all` if none is missing. */
export const nameOf = ({ id, removed }: Variant): string => {
  if (removed === undefined) return 'all';
  const { place, verb, grant } = removed;
  const names = grant.names?.filter((name) => name !== id) ?? [];
  const resource = grant.group === '' ? grant.resource : `${grant.resource}.${grant.group}`;
  return [verb, resource, ...names, ...(place === 'seed' ? [] : [`(${place})`])].join(' ');
};

const userOf = ({ id }: Variant, place: Place): string => (place === 'seed' ? id : `${id}-${place}`);

/** Returns the RBAC rules of a variant in a place. */
export const rulesOf = ({ grants, removed }: Variant, place: Place): readonly RbacRule[] => {
  const left = (grants[place] ?? []).map((grant) =>
    grant === removed?.grant ? { ...grant, verbs: grant.verbs.filter((verb) => verb !== removed.verb) } : grant,
  );
  return left
    .filter(({ verbs }) => verbs.length > 0)
    .map(({ group, resource, names, verbs, namespace }) => ({
      ...{ apiGroups: [group], resources: [resource], resourceNames: names, verbs, namespace },
    }));
};

/** Returns a kubeconfig for a user with the variant's rights in a place. */
export const accessOf = async (to: Access, variant: Variant, place: Place): Promise<string> => {
  return (await to.kubeconfigFor({ user: userOf(variant, place), rules: rulesOf(variant, place) })).text;
};

/** True if the request was refused for the removed right. A GET with an upgrade needs the right to create, too. */
const isRefusalOf = ({ grant, verb }: Removal, { verb: asked, resource, name }: AuditedRequest): boolean =>
  (asked === verb || (resource === 'pods/portforward' && asked === 'get')) &&
  resource === `${grant.resource}${grant.group === '' ? '' : `.${grant.group}`}` &&
  (grant.names === undefined || grant.names.includes(name ?? ''));

/** Returns the refused requests of a variant: its name if the removed right was the reason, else the request. */
export const refusedTo = (variant: Variant, requests: readonly AuditedRequest[]): readonly string[] => {
  const { removed } = variant;
  const users = (['seed', 'garden', 'shoot'] as const).map((place) => userOf(variant, place));
  const refused = requests.filter(({ user, status }) => status === 403 && users.includes(user));
  const words = refused.map((request) =>
    removed !== undefined && request.user === userOf(variant, removed.place) && isRefusalOf(removed, request)
      ? nameOf(variant)
      : `${request.verb} ${request.uri}`,
  );
  return [...new Set(words)];
};

/** Returns the missing rights that the permission check has logged, without their scope. */
const namedBy = (program: InProcess): readonly string[] =>
  program
    .lines()
    .filter(({ msg }) => msg?.startsWith('a right is missing'))
    .map(({ right }) => String(right).replace(/ (?:at the cluster scope|in the namespace .*)$/, ''));

/** Returns the missing rights that the permission check must log. It checks no rights in shoots. */
const toBeNamed = ({ removed }: Variant): readonly string[] => {
  if (removed === undefined || removed.place === 'shoot') return [];
  return rightsOf([{ ...removed.grant, verbs: [removed.verb] }]).map(({ right: { verb, resource, name, group } }) => {
    const named = name === undefined ? '' : ` "${name}"`;
    return `${verb} resource "${resource}"${named} in API group "${group}"`;
  });
};

export interface StartOptions {
  /** Name of the command: `prober`, `weeder` or `care`. */
  readonly component: string;
  readonly variant: Variant;
  readonly config: string;
  /** Text of the kubeconfig for the seed. */
  readonly kubeconfig: string;
  /** Directory for the test's files. */
  readonly directory: string;
  readonly flags?: readonly string[];
}

/** A running variant. */
export interface Running {
  readonly variant: Variant;
  readonly program: InProcess;
  /** Returns the missing rights that its permission check has logged, and those that it must log. */
  readonly named: () => { readonly is: readonly string[]; readonly expected: readonly string[] };
}

export const startVariant = (options: StartOptions): Running => {
  const { component, variant, config, kubeconfig, flags = [] } = options;
  const directory = join(options.directory, variant.id);
  mkdirSync(directory);
  const file = (name: string, text: string): string => {
    writeFileSync(join(directory, name), text, { mode: 0o600 });
    return join(directory, name);
  };
  const program = startInProcess([
    component,
    `--config-file=${file('config.yaml', config)}`,
    `--kubeconfig=${file('kubeconfig', kubeconfig)}`,
    '--enable-leader-election',
    `--leader-election-namespace=${variant.id}`,
    '--kube-api-qps=100',
    '--kube-api-burst=200',
    '--metrics-bind-addr=0',
    '--health-bind-addr=0',
    ...flags,
  ]);
  return { variant, program, named: () => ({ is: namedBy(program), expected: toBeNamed(variant) }) };
};
