import { beforeAll, describe, expect, it } from 'vitest';
import { clientProjections } from './client-projections.ts';
import { clusterApiProjections } from './cluster-api-projections.ts';
import { controllerProjections } from './controller-projections.ts';
import { libraryProjections } from './library-projections.ts';
import { type FixtureObject, readReference, upstreamTexts } from './fixture.ts';
import { installProjections } from './install-projections.ts';
import { type CheckedProgram, loadProgram } from './program.ts';
import { runProjection } from './projection.ts';
import { type ReadSite, findReadSites, findReaders } from './read-sites.ts';
import type { KeyRead } from './recorder.ts';
import { findUpstreamNames } from './upstream-names.ts';

// The source against what upstream has, so that no reader is left out of the projections and no name is made up.

/** Sites of what the program itself has made, and one of an object that has come through a projection before. */
const ownSites: readonly string[] = [
  'src/care/write.ts uid',
  'src/gardener/annotated.ts former',
  'src/gardener/annotated.ts key',
  'src/gardener/annotated.ts value',
  'src/gardener/json-annotation.ts by',
  'src/gardener/json-annotation.ts reason',
  'src/gardener/json-annotation.ts since',
  'src/gardener/json-annotation.ts until',
  // Of managedFields of what is annotated: the owner of an annotation that a configuration names.
  'src/kubernetes/api/scalable.ts f:annotations',
  'src/kubernetes/api/scalable.ts f:metadata',
  'src/kubernetes/api/scalable.ts undefined',
  'src/telemetry/console-format.ts level',
  'src/telemetry/console-format.ts msg',
  'src/telemetry/console-format.ts ts',
  'src/weeder/pod-watches.ts code',
];

/** Names that are not upstream's, and whose they are. */
const otherNames: readonly string[] = [
  // Our errors and their codes.
  'ApiError',
  'ConnectionError',
  'DecodeError',
  'KubeconfigError',
  'ProtobufError',
  // An Event of ours.
  'DependencyReady',
  // What the names of our Events end with.
  'Annotated',
  'AnnotationRestored',
  'ScaledDown',
  'ScaledUp',
  // Annotations of ours.
  'dependency-watchdog.gardener.cloud/held',
  'dependency-watchdog.gardener.cloud/paused',
  // A taint of cluster-autoscaler, as k8s.io/cloud-provider/controllers/service spells it (ToBeDeletedTaint).
  'ToBeDeletedByClusterAutoscaler',
  // Go's spelling of true.
  'TRUE',
  // Labels before gardener renamed them, for tools that still read them.
  'shoot.garden.sapcloud.io/status',
  'shoot.garden.sapcloud.io/unhealthy',
];

/** Lists the kinds of Kubernetes, which are compared with those that a real API server serves. */
const fileOfKinds = 'src/config/rules/known-kinds.ts';

/** Reasons of the prober's Events, and Node's codes of broken connections. */
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
    const projections = [
      controllerProjections,
      libraryProjections,
      clusterApiProjections,
      clientProjections,
      installProjections,
    ].flat();
    for (const projection of projections) {
      reads.push(...(await runProjection(projection)).reads);
    }
  }, 120_000);

  /** Kubeconfigs are YAML and are read through helpers that take the key. */
  const isOfKubeconfig = ({ file }: ReadSite): boolean =>
    file.startsWith('src/kubernetes/kubeconfig/') && !/\/(?:exec-plugin|untrusted).ts$/.test(file);

  it('asks for no key of JSON that no projection asks upstream for', () => {
    const asked = new Set(reads.filter(({ found }) => found !== 'missing').map(({ file, key }) => `${file} ${key}`));
    const own = sites.filter((site) => !isOfKubeconfig(site)).map(({ file, key }) => `${file} ${String(key)}`);
    expect(sites.length).toBeGreaterThan(200);
    const unasked = own.filter((site) => !asked.has(site));
    expect(sorted(unasked), 'a key that no projection of these tests asks for').toEqual(ownSites);
  });

  it('has no reader that no projection runs', () => {
    const run = new Set(reads.flatMap(({ functions }) => functions));
    const readers = findReaders(program);
    expect(readers.length).toBeGreaterThan(30);
    expect(sorted(readers.filter((reader) => !run.has(reader)))).toEqual([]);
  });

  it('asks for no key of a kubeconfig that upstream does not have', () => {
    const keys = new Set(keysIn(readReference('Config').object));
    const asked = sites.filter(isOfKubeconfig).flatMap(({ key }) => key ?? []);
    expect(asked.length).toBeGreaterThan(20);
    expect(sorted(asked.filter((key) => !keys.has(key)))).toEqual([]);
  });

  it('asks for no label, annotation or key of data that upstream has no name for', () => {
    const asked = reads.filter(({ found }) => found === 'entry').map(({ key }) => key);
    expect(asked.length).toBeGreaterThan(5);
    expect(sorted(asked.filter((key) => !upstreamTexts.has(key) && !otherNames.includes(key)))).toEqual([]);
  });

  it('makes up no name of a condition, reason, state, label or object', () => {
    const found = findUpstreamNames(program).filter(({ file }) => file !== fileOfKinds);
    const names = found.map(({ text }) => text);
    const unknown = names.filter((text) => !upstreamTexts.has(text) && !ownEvents.test(text));
    expect(names.length).toBeGreaterThan(100);
    expect(sorted(unknown), 'neither a name of upstream nor one of `otherNames`').toEqual(sorted(otherNames));
  });
});
