import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { CareProcessDeps } from '../../care/component.ts';
import type { CareResults, CareOnceDeps } from '../../care/once.ts';
import type { Result } from '../../kubernetes/api/errors.ts';
import type { ProberSettings } from '../../prober/config/settings.ts';
import type { ProcessDeps } from '../../process/run-component.ts';
import type { WeederSettings } from '../../weeder/config.ts';
import { CommandError, type Runners, runCli } from '../index.ts';
import type { CliIo } from '../io.ts';
import type { RunProber } from '../prober.ts';
import type { RunWeeder } from '../weeder.ts';

const example = readFileSync(fileURLToPath(new URL('../../../examples/prober-config.yaml', import.meta.url)), 'utf8');

const config = `kubeConfigSecretName: probe
probeInterval: 10s
kcmNodeMonitorGraceDuration: 40s
dependentResourceInfos:
  - ref: {apiVersion: apps/v1, kind: Deployment, name: kube-controller-manager}
    scaleUp: {level: 2}
`;

const weederConfig = `servicesAndDependantSelectors:
  etcd-main-client:
    podSelectors:
      - matchLabels: {role: apiserver}
`;

const selectorsConfig = `servicesAndDependantSelectors:
  etcd-main-client:
    podSelectors:
      - matchLabels: {token: a, secret: b}
        matchExpressions:
          - {key: gardener.cloud/role, operator: In, values: [token-requestor, controlplane]}
`;

const sharedFiles: Readonly<Record<string, string>> = {
  'example.yaml': example,
  'config.yaml': config,
  'odd.yaml': `${config}typo: 1\n`,
  'weeder.yaml': weederConfig,
  'selectors.yaml': selectorsConfig,
  'bad.yaml': config.replace('10s', '10').replace('level: 2', 'level: -2'),
  'manifest.yaml': `kind: ConfigMap\ndata:\n  config.yaml: |\n${config.replace(/^(?=.)/gm, '    ')}    typo: 1\n`,
  'warned.yaml': config.replace(/^kcm.*\n/m, ''),
  'wrong-kind.yaml': config.replace('kind: Deployment', 'kind: deployment'),
  'care.yaml': 'syncPeriod: 30s\n',
  'kind-weeder.yaml': `kind: WeederConfiguration\n${weederConfig}typo: 1\n`,
  'kind-manifest.yaml': `kind: ConfigMap\ndata:\n  config.yaml: |\n    kind: CareConfiguration\n    typo: 1\n`,
  'two-manifest.yaml': `kind: ConfigMap\ndata:\n  prober: |\n${config.replace(/^(?=.)/gm, '    ')}  weeder: |\n    kind: WeederConfiguration\n${weederConfig.replace(/^(?=.)/gm, '    ')}    typo: 1\n`,
  'secret.yaml': `${example}clusterSource: {kind: secret, key: value}\n`,
  'selector.yaml': `${example.replace(/^kubeConfigSecretName.*\n/m, '')}clusterSource: {kind: secret, selector: {app: tenant, role: admin}}\n`,
  'kcm-alone.yaml': `${config}    scaleDown: {level: 0}\nclusterSource: {kind: secret}\n`,
  '-': 'kubeConfigSecretName: probe\n',
};

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly started: readonly ProcessDeps<ProberSettings>[];
  readonly weeders: readonly ProcessDeps<WeederSettings>[];
  readonly cares: readonly CareProcessDeps[];
  readonly careOnce: readonly CareOnceDeps[];
  /** True if the command handles signals. */
  readonly listens: boolean;
}

interface Host {
  readonly out: string[];
  readonly err: string[];
  readonly files: Readonly<Record<string, string>>;
  readonly progress?: CliIo['progress'];
}

const createIo = (argv: readonly string[], { out, err, files, progress }: Host): CliIo & { listens(): boolean } => {
  let listens = false;
  return {
    argv,
    env: { KUBECONFIG: 'somewhere' },
    nodeVersion: 'v24.0.0',
    stdout: (text) => out.push(text),
    stderr: (text) => err.push(text),
    stdoutStyled: (text) => out.push(text),
    readFile: async (path) => files[path] ?? Promise.reject(new Error('no such file or directory')),
    readInput: async (path) => files[path] ?? Promise.reject(new Error('no such file or directory')),
    stopOnSignals: () => {
      listens = true;
      return new AbortController().signal;
    },
    progress,
    openLog: () => (line) => void err.push(line),
    reportCrashesTo: () => undefined,
    listens: () => listens,
  };
};

const noCluster = async (): Promise<never> => {
  throw new CommandError('no cluster here');
};

/** Runs a command line in a fake process. The component that it starts returns 7 at once. */
export const dwd = (...argv: readonly string[]): Promise<CommandResult> => dwdWith(async () => 7, argv);

/** Runs a command line like `dwd`, with this prober. `onceResult` is the result of `dwd care --once`; `others` replace fake runners. */
export const dwdWith = async (
  runProber: RunProber,
  argv: readonly string[],
  {
    onceResult = { ok: true, value: [] },
    files,
    progress,
    ...others
  }: Partial<Runners> & {
    readonly onceResult?: Result<CareResults, string>;
    /** Files beside those of every test, by path. */
    readonly files?: Readonly<Record<string, string>>;
    /** Present if stderr is a terminal. */
    readonly progress?: CliIo['progress'];
  } = {},
): Promise<CommandResult> => {
  const started: ProcessDeps<ProberSettings>[] = [];
  const weeders: ProcessDeps<WeederSettings>[] = [];
  const runWeeder: RunWeeder = async (options) => {
    weeders.push(options);
    return 7;
  };
  const [out, err]: [string[], string[]] = [[], []];
  const io = createIo(argv, { out, err, files: { ...sharedFiles, ...files }, progress });
  const cares: CareProcessDeps[] = [];
  const careOnce: CareOnceDeps[] = [];
  const code = await runCli(io, {
    runProber: async (options) => {
      started.push(options);
      return runProber(options);
    },
    runWeeder,
    runCare: {
      process: async (options) => {
        cares.push(options);
        return 7;
      },
      once: async (options) => {
        careOnce.push(options);
        return onceResult;
      },
    },
    runPage: noCluster,
    runPause: noCluster,
    runResume: noCluster,
    runRelease: noCluster,
    runPreflight: noCluster,
    runStatus: noCluster,
    runRehearse: async () => 7,
    runDemo: async () => 7,
    ...others,
  });
  return { code, stdout: out.join(''), stderr: err.join(''), started, weeders, cares, careOnce, listens: io.listens() };
};

/** Parses a JSON log into its records. */
export const logLines = (stderr: string) =>
  stderr
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
