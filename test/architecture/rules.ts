/**
 * The house as data: who may import what, and which globals are watched where. Deny by default: a folder, package or
 * built-in that is not listed here is not allowed. The prose is in the design document.
 */

export interface FolderRule {
  /** Other folders of src/ whose door (`index.ts`) may be imported. */
  readonly folders: readonly string[];
  readonly packages?: readonly string[];
  /** Node's built-ins; a trailing `*` stands for the rest of the name. */
  readonly builtins?: readonly string[];
  /** Built-ins for single files of the folder on top of the above. */
  readonly files?: Readonly<Record<string, readonly string[]>>;
  /** Built-ins for the folder's `*.test.ts` on top of the above. */
  readonly tests?: readonly string[];
}

const controller: FolderRule = { folders: ['domain', 'ports'] };

const beneathApp = [
  'domain',
  'ports',
  'config',
  'kube',
  'telemetry',
  'runtime',
  'process',
  'controllers/prober',
  'controllers/weeder',
  'controllers/care',
  'healthcheck',
  'install',
  'sim',
];

/** Keys are folders of src/, or files directly in it. A folder may always import itself. */
export const house: Readonly<Record<string, FolderRule>> = {
  domain: { folders: [] },
  ports: { folders: ['domain'] },
  config: {
    folders: ['domain', 'ports'],
    packages: ['yaml', 'zod'],
    tests: ['node:fs', 'node:path', 'node:url'],
  },
  kube: {
    folders: ['domain', 'ports'],
    packages: ['undici', 'yaml'],
    builtins: [
      'node:buffer',
      'node:child_process',
      'node:crypto',
      'node:dns',
      'node:events',
      'node:fs',
      'node:fs/promises',
      'node:http',
      'node:https',
      'node:net',
      'node:os',
      'node:path',
      'node:stream',
      'node:tls',
      'node:url',
      'node:zlib',
    ],
  },
  telemetry: { folders: ['domain', 'ports'], packages: ['pino', 'prom-client'] },
  runtime: {
    folders: ['domain', 'ports'],
    builtins: ['node:events', 'node:http', 'node:net'],
    files: {
      'clock.ts': ['node:perf_hooks', 'node:timers*'],
      'random.ts': ['node:crypto'],
    },
  },
  'controllers/prober': controller,
  'controllers/weeder': controller,
  'controllers/care': controller,
  // What every process has, of this program and of an extension that uses the library.
  process: { folders: ['domain', 'ports', 'kube', 'runtime'], builtins: ['node:os'] },
  // Only connect.ts and json-logger.ts bring a real cluster and a real clock; the rest takes ports.
  healthcheck: {
    folders: ['domain', 'ports', 'kube', 'runtime', 'process', 'telemetry'],
    files: { 'connect.ts': ['node:os'] },
  },
  install: { folders: ['domain', 'ports', 'kube'] },
  sim: {
    folders: ['domain', 'ports'],
    packages: ['@peculiar/x509'],
    builtins: ['node:crypto', 'node:events', 'node:http', 'node:https', 'node:net', 'node:stream', 'node:tls'],
    files: { 'clock.ts': ['node:timers*'] },
  },
  app: { folders: beneathApp, builtins: ['node:crypto', 'node:fs', 'node:os', 'node:path'] },
  scenario: { folders: [...beneathApp, 'app'] },
  web: { folders: ['domain', 'ports'], packages: ['hono'] },
  cli: {
    folders: [...beneathApp, 'app', 'scenario', 'web'],
    packages: ['commander', 'yaml'],
    builtins: ['node:child_process', 'node:crypto', 'node:fs', 'node:os', 'node:path', 'node:url', 'node:util'],
  },
  testing: {
    folders: ['domain', 'ports', 'runtime', 'sim'],
    packages: ['fast-check', 'vitest'],
    builtins: ['node:*'],
  },
  'main.ts': { folders: [...beneathApp, 'app', 'scenario', 'web', 'cli'], packages: ['*'], builtins: ['node:*'] },
};

/** What the `*.test.ts` in src/ may import besides what their folders may. */
export const testFiles: FolderRule = { folders: ['testing'], packages: ['fast-check', 'vitest'] };

/** Files whose results depend on their arguments only. */
export const pureFiles = [
  /^src\/domain\//,
  /^src\/controllers\/[^/]+\/(?:decide|flow|lifecycle)\.ts$/,
  /^src\/controllers\/prober\/(?:decision|failure|flow-plan|look|moves|next-look|operation|operation-step|outside-majority|outside-path|outside-rules|shoot|snapshots|threshold|verdict)\.ts$/,
  /^src\/controllers\/weeder\/(?:owners|scopes|weedings)\.ts$/,
  /^src\/controllers\/care\/(?:api-server|control-plane|extensions|finding|machines|nodes|observability|observation|system-components|unreachable|workloads)\.ts$/,
  /^src\/healthcheck\/(?:aggregate|details)\.ts$/,
  /^src\/install\/(?:calls|diff|object)\.ts$/,
];

/** The only files that may ask the machine for the time or wait on it. */
export const clockFiles = ['src/runtime/clock.ts', 'src/sim/clock.ts'];

/** The only file that may ask the machine for a random number. */
export const randomFiles = ['src/runtime/random.ts'];

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
