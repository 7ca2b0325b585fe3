import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse, parseAllDocuments } from 'yaml';
import { builtProgram, missingProgram } from '../../built-program.ts';
import type { RbacRule } from '../../envtest/access.ts';
import type { Missing } from '../../gate.ts';

export const chart = join(fileURLToPath(new URL('../../..', import.meta.url)), 'deploy', 'chart');

const helm = builtProgram('helm', 'helm.sh/helm/v4');

export const missingHelm = (): Missing => missingProgram(helm);

/** Runs helm without the user's configuration, with this as standard input. Resolves to stdout, rejects with stderr. */
export const runHelm = (args: readonly string[], input = ''): Promise<string> => {
  const home = { HOME: '/nonexistent', XDG_CACHE_HOME: '/nonexistent', XDG_CONFIG_HOME: '/nonexistent' };
  const running = promisify(execFile)(helm, args, { env: home, maxBuffer: 8 * 1024 * 1024 });
  running.child.stdin?.end(input);
  return running.then(({ stdout }) => stdout);
};

/** An image that no registry has. The node agent of the tests runs the built program for it. */
export const imageValues = (tag = '1.0.0'): object => ({ repository: 'registry.example/dependency-watchdog', tag });

export interface Rendering {
  /** Values beside those of `imageValues`. */
  readonly values?: object;
  /** Further files of values. */
  readonly files?: readonly string[];
  readonly namespace?: string;
  /** Further arguments of helm. */
  readonly flags?: readonly string[];
}

/** Renders the chart, with hooks. */
export const renderChart = ({ values = {}, files = [], namespace = 'garden', flags = [] }: Rendering = {}) => {
  const given = files.map((file) => `--values=${file}`);
  const args = ['template', 'watchdog', chart, `--namespace=${namespace}`, ...given, '--values=-', ...flags];
  return runHelm(args, JSON.stringify({ image: imageValues(), ...values }));
};

/** An object of the chart. */
export interface ChartObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly rules?: readonly RbacRule[];
  readonly spec?: {
    readonly template?: { readonly metadata: object; readonly spec: { readonly serviceAccountName: string } };
  };
}

/** Returns the objects of a rendering. */
export const objectsIn = (yaml: string): readonly ChartObject[] =>
  parseAllDocuments(yaml).flatMap((document) => (document.toJS() as ChartObject | null) ?? []);

interface ProberConfig {
  readonly dependentResourceInfos: readonly { readonly ref: { readonly kind: string } }[];
}

/** Returns the values for a configuration of the prober: the chart needs the plural of the tests' custom kind. */
export const proberValues = (config: string): { readonly config: object } => {
  const parsed = parse(config) as ProberConfig;
  const dependentResourceInfos = parsed.dependentResourceInfos.map((one) =>
    one.ref.kind === 'Watermill' ? { ...one, ref: { ...one.ref, resource: 'watermills' } } : one,
  );
  return { config: { ...parsed, dependentResourceInfos } };
};

/** Returns the values for a configuration of the weeder, without the services that the chart has by default. */
export const weederValues = (config: string): { readonly config: object } => {
  const { servicesAndDependantSelectors: own, ...rest } = parse(config) as {
    readonly servicesAndDependantSelectors: object;
  };
  const none = { 'etcd-main-client': null, 'kube-apiserver': null };
  return { config: { ...rest, servicesAndDependantSelectors: { ...none, ...own } } };
};
