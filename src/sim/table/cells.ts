import { labelSelectorText } from '../label-selector-text.ts';
import { asList, asMap, getPath, isMap, type JsonMap } from '../object.ts';
import { sinceText } from './age.ts';
import { type CellOf, countAt } from './column.ts';

// Cells of built-in kinds, each with the texts of https://github.com/kubernetes/kubernetes/blob/master/pkg/printers/internalversion/printers.go

const none = '<none>';
const textIn = (map: Readonly<JsonMap>, key: string): string => (typeof map[key] === 'string' ? map[key] : '');
const mapsAt = (object: unknown, ...path: readonly string[]): readonly JsonMap[] =>
  asList(getPath(object, path)).map(asMap);

const [readyReplicas, wantedReplicas] = [countAt('status', 'readyReplicas'), countAt('spec', 'replicas')];

export const readyOfWanted: CellOf = (object, now) =>
  `${String(readyReplicas(object, now))}/${String(wantedReplicas(object, now))}`;

/** `key` of each container in the template, joined. */
export const containers =
  (key: 'name' | 'image'): CellOf =>
  (object) =>
    mapsAt(object, 'spec', 'template', 'spec', 'containers')
      .map((container) => textIn(container, key))
      .join(',');

/** The selector of a workload, or `absent` where it selects nothing or all. */
export const workloadSelector =
  (absent: string): CellOf =>
  (object) =>
    labelSelectorText(getPath(object, ['spec', 'selector'])) || absent;

export const entries =
  (...keys: readonly string[]): CellOf =>
  (object) =>
    keys.reduce((sum, key) => sum + Object.keys(asMap(object[key])).length, 0);

export const nodeStatus: CellOf = (object) => {
  const ready = mapsAt(object, 'status', 'conditions').findLast(({ type }) => type === 'Ready');
  const status = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady';
  return getPath(object, ['spec', 'unschedulable']) === true ? `${status},SchedulingDisabled` : status;
};

const rolePrefix = 'node-role.kubernetes.io/';

export const nodeRoles: CellOf = (object) => {
  const labels = Object.entries(asMap(getPath(object, ['metadata', 'labels'])));
  const roles = labels.flatMap(([key, value]) => {
    if (key.startsWith(rolePrefix)) return key.slice(rolePrefix.length);
    return key === 'kubernetes.io/role' ? String(value) : [];
  });
  return [...new Set(roles.filter((role) => role !== ''))].sort().join(',') || none;
};

export const nodeAddress =
  (type: 'InternalIP' | 'ExternalIP'): CellOf =>
  (object) => {
    const found = mapsAt(object, 'status', 'addresses').find((address) => address.type === type);
    return found === undefined ? none : textIn(found, 'address');
  };

export const nodeKernel: CellOf = (object) => {
  const { kernelVersion, architecture } = asMap(getPath(object, ['status', 'nodeInfo']));
  const kernel = typeof kernelVersion === 'string' && kernelVersion !== '' ? kernelVersion : '<unknown>';
  return typeof architecture === 'string' && architecture !== '' ? `${kernel} (${architecture})` : kernel;
};

const eventFirstSeen: CellOf = ({ firstTimestamp, eventTime }, now) => sinceText(firstTimestamp ?? eventTime, now);

const eventLastSeen: CellOf = (object, now) => {
  const { series, lastTimestamp } = object;
  if (isMap(series)) return sinceText(series.lastObservedTime, now);
  return typeof lastTimestamp === 'string' ? sinceText(lastTimestamp, now) : eventFirstSeen(object, now);
};

const eventObject: CellOf = (object) => {
  const { kind, name } = asMap(object.involvedObject);
  return [kind, name]
    .filter((part) => typeof part === 'string' && part !== '')
    .map((part, index) => (index === 0 ? String(part).toLowerCase() : String(part)))
    .join('/');
};

const eventSource: CellOf = (object) => {
  const source = asMap(object.source);
  const component = textIn(source, 'component') || textIn(object, 'reportingComponent');
  const instance = textIn(source, 'host') || textIn(object, 'reportingInstance');
  return instance === '' ? component : `${component}, ${instance}`;
};

const eventCount: CellOf = ({ series, count }) => {
  if (isMap(series)) return countAt('count')(series, 0);
  return typeof count === 'number' && count > 0 ? count : 1;
};

export const event = {
  firstSeen: eventFirstSeen,
  lastSeen: eventLastSeen,
  object: eventObject,
  source: eventSource,
  count: eventCount,
  message: ((object) => textIn(object, 'message').trim()) satisfies CellOf,
};

/** The first three, and how many more there are. */
const firstThree = (items: readonly string[], absent = '<unset>'): string => {
  const shown = items.slice(0, 3).join(',');
  return items.length > 3 ? `${shown} + ${items.length - 3} more...` : shown || absent;
};

/** Each ready address with each port. What has subsets of which none is ready shows nothing at all. */
export const endpoints: CellOf = (object) => {
  const subsets = mapsAt(object, 'subsets');
  const shown = subsets.flatMap((subset) => {
    const addresses = mapsAt(subset, 'addresses').map((address) => textIn(address, 'ip'));
    const ports = mapsAt(subset, 'ports').map(({ port }) => `:${String(port)}`);
    return (ports.length === 0 ? [''] : ports).flatMap((port) => addresses.map((address) => `${address}${port}`));
  });
  return firstThree(shown, subsets.length === 0 ? none : '');
};

export const slicePorts: CellOf = (object) =>
  firstThree(
    mapsAt(object, 'ports').map((port) =>
      typeof port.port === 'number' ? String(port.port) : textIn(port, 'name') || '*',
    ),
  );

export const sliceEndpoints: CellOf = (object) =>
  firstThree(mapsAt(object, 'endpoints').flatMap(({ addresses }) => asList(addresses).map(String)));

export const serviceClusterIp: CellOf = (object) => {
  const [first] = asList(getPath(object, ['spec', 'clusterIPs']));
  return typeof first === 'string' ? first : none;
};

export const servicePorts: CellOf = (object) =>
  mapsAt(object, 'spec', 'ports')
    .map(({ port, nodePort, protocol }) => {
      const numbers = typeof nodePort === 'number' && nodePort > 0 ? `${String(port)}:${nodePort}` : String(port);
      return `${numbers}/${String(protocol)}`;
    })
    .join(',') || none;

export const serviceExternalIp: CellOf = (object) => {
  const spec = asMap(object.spec);
  const own = asList(spec.externalIPs).map(String);
  switch (spec.type) {
    case 'ClusterIP':
    case 'NodePort':
      return own.join(',') || none;
    case 'LoadBalancer': {
      const ingress = mapsAt(object, 'status', 'loadBalancer', 'ingress');
      const given = ingress.map((point) => textIn(point, 'ip') || textIn(point, 'hostname'));
      const addresses = [...new Set(given.filter((address) => address !== ''))].sort();
      return [...addresses, ...own].join(',') || '<pending>';
    }
    case 'ExternalName':
      return textIn(spec, 'externalName');
    default:
      return '<unknown>';
  }
};

export const serviceSelector: CellOf = (object) =>
  labelSelectorText({ matchLabels: asMap(object.spec).selector }) || none;
