/**
 * The house as data: who may import what, and which globals are watched where. Deny by default: a folder, package or
 * built-in that is not listed here is not allowed.
 */

export interface FolderRule {
  /** Other folders whose door (`index.ts`) may be imported. */
  readonly folders: readonly string[];
  /** Any file of it may be imported: one file per kind or per interface, and nothing inside to hide. */
  readonly open?: true;
  readonly packages?: readonly string[];
  /** Node's built-ins; a trailing `*` stands for the rest of the name. */
  readonly builtins?: readonly string[];
  /** Built-ins for single files of the folder on top of the above. */
  readonly files?: Readonly<Record<string, readonly string[]>>;
}

const network = [
  'node:buffer',
  'node:crypto',
  'node:dns',
  'node:events',
  'node:http',
  'node:https',
  'node:net',
  'node:stream',
  'node:tls',
  'node:url',
  'node:zlib',
];
const kinds = ['src/ports', 'src/kubernetes/api', 'src/gardener'];
const client = [
  'src/kubernetes/protobuf',
  'src/kubernetes/client',
  'src/kubernetes/kubeconfig',
  'src/kubernetes/connection',
  'src/kubernetes/cache',
  'src/kubernetes/leaderelection',
];
const beneathComponents = [...kinds, ...client, 'src/telemetry', 'src/config', 'src/process'];
const component: FolderRule = { folders: beneathComponents, packages: ['zod'] };
const components = ['src/prober', 'src/weeder', 'src/care'];
const beneathCli = [...beneathComponents, ...components, 'src/install'];
const simulator = ['simulator/time', 'simulator/apiserver', 'simulator/network', 'simulator/world'];
const aboveCli = ['src/healthcheck', ...beneathCli, ...simulator, 'simulator/harness'];

/** Keys are folders, or files directly in one. A folder may always import itself. */
export const house: Readonly<Record<string, FolderRule>> = {
  'src/ports': { folders: ['src/kubernetes/api'], open: true },
  'src/kubernetes/api': { folders: ['src/ports', 'src/kubernetes/protobuf'], open: true },
  'src/kubernetes/protobuf': { folders: ['src/kubernetes/api'] },
  'src/kubernetes/client': {
    folders: ['src/ports', 'src/kubernetes/api', 'src/kubernetes/protobuf'],
    packages: ['undici'],
    builtins: network,
  },
  'src/kubernetes/kubeconfig': {
    folders: ['src/ports', 'src/kubernetes/api', 'src/kubernetes/client'],
    packages: ['yaml'],
    builtins: [...network, 'node:child_process', 'node:fs', 'node:fs/promises', 'node:os', 'node:path'],
  },
  'src/kubernetes/connection': {
    folders: [
      'src/ports',
      'src/kubernetes/api',
      'src/kubernetes/client',
      'src/kubernetes/kubeconfig',
      'src/kubernetes/cache',
    ],
    builtins: network,
  },
  'src/kubernetes/cache': { folders: ['src/ports', 'src/kubernetes/api', 'src/kubernetes/client'] },
  'src/kubernetes/leaderelection': { folders: ['src/ports', 'src/kubernetes/api', 'src/kubernetes/client'] },
  'src/gardener': { folders: ['src/kubernetes/api', 'src/kubernetes/protobuf'], open: true },
  'src/telemetry': { folders: ['src/ports', 'src/kubernetes/api'], packages: ['pino', 'prom-client'] },
  'src/config': { folders: [...kinds, 'src/telemetry'], packages: ['yaml', 'zod'] },
  'src/process': {
    folders: [...kinds, ...client, 'src/telemetry', 'src/config'],
    builtins: ['node:events', 'node:http', 'node:net', 'node:os', 'node:path', 'node:fs'],
    files: { 'clock.ts': ['node:perf_hooks', 'node:timers*'], 'random.ts': ['node:crypto'] },
  },
  'src/prober': { ...component, builtins: ['node:crypto'] },
  'src/weeder': component,
  'src/care': { ...component, builtins: ['node:os'] },
  'src/healthcheck': { folders: beneathComponents, files: { 'connect.ts': ['node:os'] } },
  'src/install': { folders: [...beneathComponents, ...components], builtins: ['node:os'] },
  'src/cli': {
    folders: [...aboveCli, 'simulator/rehearsal', 'simulator/demo'],
    packages: ['commander', 'yaml'],
    builtins: ['node:child_process', 'node:crypto', 'node:fs', 'node:os', 'node:path', 'node:url', 'node:util'],
  },
  'src/main.ts': { folders: [...beneathCli, 'src/cli'], packages: ['*'], builtins: ['node:*'] },
  'simulator/time': { folders: ['src/ports'], files: { 'clock.ts': ['node:timers*'] } },
  'simulator/apiserver': { folders: [...kinds, ...client, ...simulator], builtins: ['node:crypto'] },
  'simulator/network': {
    folders: [...kinds, ...client, ...simulator],
    packages: ['@peculiar/x509'],
    builtins: network,
  },
  'simulator/world': { folders: [...kinds, ...client, ...simulator], builtins: network },
  'simulator/harness': { folders: aboveCli },
  'simulator/outages': { folders: aboveCli },
  'simulator/rehearsal': { folders: [...aboveCli, 'simulator/demo'] },
  'simulator/demo': { folders: aboveCli },
};

/** What the `*.test.ts` beside the sources may import besides what their folders may. */
export const testFiles: FolderRule = { folders: Object.keys(house), packages: ['*'], builtins: ['node:*'] };

/** Files whose results depend on their arguments only. */
export const pureFiles = [
  /^src\/kubernetes\/api\//,
  /^src\/gardener\//,
  /^src\/prober\/(?:judge|plan)\//,
  /^src\/weeder\/judge\//,
  /^src\/care\/checks\//,
  /^src\/healthcheck\/(?:aggregate|details)\.ts$/,
  /^src\/install\/(?:calls|diff|object)\.ts$/,
];

/** The only files that may ask the machine for the time or wait on it. */
export const clockFiles = ['src/process/clock.ts', 'simulator/time/clock.ts'];

/** The only file that may ask the machine for a random number. */
export const randomFiles = ['src/process/random.ts'];

/** The only file that may touch `process`. */
export const processFiles = ['src/main.ts'];

/**
 * Uses as scan.ts names them: `Date` is the bare value, `Date.*` any member, `type Date` the type. Node's timers and clocks
 * can be imported as well; those specifiers follow.
 */
export const bans = {
  pure: [
    'Date',
    'Date.*',
    'new Date()',
    'new Date(…)',
    'instanceof Date',
    'type Date',
    'AbortSignal.timeout',
    'Math',
    'Math.random',
    'globalThis',
    'randomUUID',
    ...[
      'crypto',
      'fetch',
      'performance',
      'process',
      'queueMicrotask',
      'setImmediate',
      'setInterval',
      'setTimeout',
    ].flatMap((name) => [name, `${name}.*`, `type ${name}`]),
  ],
  clock: [
    'Date',
    'Date.now',
    'new Date()',
    'AbortSignal.timeout',
    'globalThis',
    'performance',
    'performance.*',
    'setImmediate',
    'setInterval',
    'setTimeout',
  ],
  random: ['Math', 'Math.random', 'randomUUID'],
  process: ['process', 'process.*'],
  style: ['export default', 'export =', 'enum'],
} as const;

export const pureExceptions = ['Date.parse', 'Date.UTC'];
export const clockModules = ['node:timers*', 'node:perf_hooks'];
export const processModules = ['node:process'];

/** Absolute paths of the machine that a session happened to run on. */
export const machinePath = /(?<![\w.*)\]}])\/(?:work|root)\/[\w.]/;
