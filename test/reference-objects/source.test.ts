import { beforeAll, describe, expect, it } from 'vitest';
import { clientProjections } from './client-projections.ts';
import { controllerProjections } from './controller-projections.ts';
import { libraryProjections } from './library-projections.ts';
import { type FixtureObject, readReference, upstreamTexts } from './fixture.ts';
import { type CheckedProgram, loadProgram } from './program.ts';
import { runProjection } from './projection.ts';
import { type ReadSite, findReadSites } from './read-sites.ts';
import type { KeyRead } from './recorder.ts';
import { findUpstreamNames } from './upstream-names.ts';

// Compares the source with upstream: a projection reads every key, and every name exists upstream.

/** Places that read the program's own data, and two that read an object that a projection has read before. */
const ownSites: readonly string[] = [
  'src/annotations/json-annotation.ts apiVersion',
  'src/annotations/json-annotation.ts by',
  'src/annotations/json-annotation.ts cluster',
  'src/annotations/json-annotation.ts kind',
  'src/annotations/json-annotation.ts name',
  'src/annotations/json-annotation.ts namespace',
  'src/annotations/json-annotation.ts reason',
  'src/annotations/json-annotation.ts since',
  'src/annotations/json-annotation.ts until',
  'src/annotations/json-annotation.ts with',
  'src/care/act.ts uid',
  // The key is that of a list: `items`, or `shoots` of a status.
  'src/kubernetes/api/decode.ts undefined',
  'src/kubernetes/kubeconfig/untrusted.ts undefined',
  'src/kubernetes/leaderelection/election-calls.ts metadata',
  'src/telemetry/logger.ts level',
  'src/telemetry/logger.ts msg',
  'src/telemetry/logger.ts ts',
  'src/weeder/observe.ts code',
];

/** Names that are not in upstream's texts, grouped by origin. */
const otherNames: readonly string[] = [
  // Our errors and error codes.
  'ApiError',
  'ConnectionError',
  'DecodeError',
  'KubeconfigError',
  'ProtobufError',
  'ResponseError',
  'ServerError',
  // Outcome of one of our operations.
  // Reason of one of our Events.
  'DependencyReady',
  // Our annotations.
  'dependency-watchdog.gardener.cloud/held',
  'dependency-watchdog.gardener.cloud/holder',
  'dependency-watchdog.gardener.cloud/ignore-node',
  'dependency-watchdog.gardener.cloud/paused',
  // A taint of cluster-autoscaler, from k8s.io/cloud-provider/controllers/service (ToBeDeletedTaint).
  'ToBeDeletedByClusterAutoscaler',
  // Go's spelling of true.
  'TRUE',
  // The former name of Gardener's label, which some tools still read.
  'shoot.garden.sapcloud.io/status',
];

/** File with the kinds of Kubernetes. Another test compares them with those that a real API server serves. */
const fileOfKinds = 'src/config/rules/known-kinds.ts';

/** Matches the reasons of the prober's Events and Node's error codes of broken connections. */
const ownEvents = /^(?:MeltdownProtection[A-Z]|E[A-Z]{4,}$)/;

const sorted = (texts: Iterable<string>): readonly string[] => [...new Set(texts)].toSorted();

const keysIn = (value: unknown): readonly string[] => {
  if (Array.isArray(value)) return value.flatMap(keysIn);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value as FixtureObject).flatMap(([key, entry]) => [key, ...keysIn(entry)]);
};

describe('the source', () => {
  let program: CheckedProgram;
  let sites: readonly ReadSite[];
  const reads: KeyRead[] = [];

  beforeAll(async () => {
    program = loadProgram();
    sites = findReadSites(program);
    const projections = [controllerProjections, libraryProjections, clientProjections].flat();
    for (const projection of projections) {
      reads.push(...(await runProjection(projection)).reads);
    }
  }, 120_000);

  /** True for readers of kubeconfigs, which are YAML and are read by helpers that take the key as an argument. */
  const isOfKubeconfig = ({ file }: ReadSite): boolean =>
    file.startsWith('src/kubernetes/kubeconfig/') && !/\/(?:exec-plugin|untrusted).ts$/.test(file);

  it('reads no key of JSON that no projection reads', () => {
    const asked = new Set(reads.filter(({ found }) => found !== 'missing').map(({ file, key }) => `${file} ${key}`));
    const own = sites.filter((site) => !isOfKubeconfig(site)).map(({ file, key }) => `${file} ${String(key)}`);
    expect(sites.length).toBeGreaterThan(200);
    const unasked = own.filter((site) => !asked.has(site));
    expect(sorted(unasked), 'a key that no projection of these tests asks for').toEqual(ownSites);
  });

  it('reads no key of a kubeconfig that upstream does not have', () => {
    const keys = new Set(keysIn(readReference('Config').object));
    const asked = sites.filter(isOfKubeconfig).flatMap(({ key }) => key ?? []);
    expect(asked.length).toBeGreaterThan(20);
    expect(sorted(asked.filter((key) => !keys.has(key)))).toEqual([]);
  });

  it('reads no label, annotation or key of data without a constant upstream', () => {
    const asked = reads.filter(({ found }) => found === 'entry').map(({ key }) => key);
    expect(asked.length).toBeGreaterThan(5);
    expect(sorted(asked.filter((key) => !upstreamTexts.has(key) && !otherNames.includes(key)))).toEqual([]);
  });

  it('uses no name of a condition, reason, state, label or object that does not exist upstream', () => {
    const found = findUpstreamNames(program).filter(({ file }) => file !== fileOfKinds);
    const names = found.map(({ text }) => text);
    const unknown = names.filter((text) => !upstreamTexts.has(text) && !ownEvents.test(text));
    expect(names.length).toBeGreaterThan(100);
    expect(sorted(unknown), 'neither a name of upstream nor one of `otherNames`').toEqual(sorted(otherNames));
  });
});
