// Table of allowed imports. Deny by default: a folder, package or built-in that is not listed here may not be imported.

/**
 * @typedef {object} Room
 * @property {readonly string[]} rooms Other rooms whose door (`index.ts`) this room may import.
 * @property {string} [inside] The room that this room is part of. It may import any file of that room.
 * @property {true} [open] True if other rooms may import any file of this room, because it has one file per kind or interface and no internals.
 * @property {readonly string[]} [packages] npm packages that this room may import.
 * @property {readonly string[]} [builtins] Node's modules that this room may import, without `node:`; `timers` includes `timers/promises`.
 */

const network = ['buffer', 'crypto', 'dns', 'events', 'http', 'https', 'net', 'stream', 'tls', 'url', 'zlib'];
const kinds = ['src/ports', 'src/kubernetes/api', 'src/gardener'];
const client = ['protobuf', 'transport', 'client', 'kubeconfig', 'connection', 'cache', 'leaderelection'].map(
  (name) => `src/kubernetes/${name}`,
);
const beneathWatches = ['src/ports', 'src/kubernetes/api', 'src/kubernetes/transport', 'src/kubernetes/client'];
const beneathComponents = [
  ...kinds,
  'src/annotations',
  'src/status/state',
  ...client,
  'src/telemetry',
  'src/config',
  'src/config/rules',
  'src/process',
  'src/process/rights',
];
const components = ['src/prober', 'src/weeder', 'src/care'];
const component = { rooms: beneathComponents, packages: ['zod'] };
const prober = { ...component, builtins: ['crypto'] };
const beneathCli = [...beneathComponents, ...components, 'src/preflight', 'src/status', 'src/steer'];
const simulated = ['simulator/time', 'simulator/apiserver', 'simulator/network', 'simulator/world'];
const aboveCli = [...beneathCli, ...simulated, 'simulator/harness'];

/** Rooms by path: a folder with the files directly in it, or a single file. A room may always import itself. @type {Readonly<Record<string, Room>>} */
export const house = {
  'src/ports': { rooms: ['src/kubernetes/api'], open: true },
  'src/kubernetes/api': { rooms: ['src/ports', 'src/kubernetes/protobuf'], open: true },
  'src/kubernetes/protobuf': { rooms: ['src/kubernetes/api'] },
  'src/kubernetes/transport': { rooms: ['src/ports', 'src/kubernetes/api'], packages: ['undici'], builtins: network },
  'src/kubernetes/client': {
    rooms: ['src/ports', 'src/kubernetes/api', 'src/kubernetes/protobuf', 'src/kubernetes/transport'],
    builtins: network,
  },
  'src/kubernetes/kubeconfig': {
    rooms: ['src/ports', 'src/kubernetes/api', 'src/kubernetes/transport', 'src/kubernetes/client'],
    packages: ['yaml'],
    builtins: [...network, 'child_process', 'fs', 'os', 'path'],
  },
  'src/kubernetes/connection': {
    rooms: [
      'src/ports',
      'src/kubernetes/api',
      'src/kubernetes/transport',
      'src/kubernetes/client',
      'src/kubernetes/kubeconfig',
      'src/kubernetes/cache',
    ],
    packages: ['ws'],
    builtins: network,
  },
  'src/kubernetes/cache': { rooms: beneathWatches },
  'src/kubernetes/leaderelection': { rooms: beneathWatches },
  'src/gardener': { rooms: ['src/kubernetes/api', 'src/kubernetes/protobuf'], open: true, builtins: ['util'] },
  'src/annotations': { rooms: ['src/kubernetes/api'], open: true },
  'src/telemetry': { rooms: ['src/ports', 'src/kubernetes/api'], packages: ['pino', 'prom-client'] },
  'src/config/rules': { rooms: kinds },
  'src/config': { rooms: [...kinds, 'src/telemetry', 'src/config/rules'], packages: ['yaml', 'zod'] },
  'src/process': {
    rooms: [...kinds, ...client, 'src/telemetry', 'src/config', 'src/config/rules', 'src/process/rights'],
    // ESLint allows perf_hooks and timers in clock.ts alone.
    builtins: ['crypto', 'events', 'fs', 'http', 'net', 'os', 'path', 'perf_hooks', 'stream', 'timers'],
  },
  'src/process/rights': { inside: 'src/process', rooms: kinds },
  'src/prober': prober,
  'src/status/state': { rooms: ['src/kubernetes/api', 'src/config/rules'], open: true, packages: ['zod'] },
  'src/weeder': component,
  'src/care': { ...component, builtins: ['os', 'util'] },
  'src/healthcheck': { rooms: beneathComponents },
  'src/steer': { rooms: [...beneathComponents, 'src/prober', 'src/status'] },
  'src/preflight': { rooms: [...beneathComponents, 'src/prober'] },
  'src/page/feed': { rooms: ['src/status/state'] },
  'src/page/server': {
    rooms: ['src/ports', 'src/process', 'src/page/feed', 'src/status/state'],
    builtins: ['fs', 'http', 'util', 'zlib'],
  },
  'src/page/browser': {
    rooms: ['src/kubernetes/api', 'src/page/feed', 'src/status/state'],
    packages: ['preact'],
  },
  'src/status': { rooms: [...beneathComponents, 'src/prober'], packages: ['zod'] },
  'src/cli': {
    rooms: beneathCli,
    packages: ['commander', 'yaml'],
    builtins: ['crypto', 'fs', 'os', 'path', 'url', 'util'],
  },
  'src/main.ts': { rooms: [...beneathCli, 'src/cli', 'src/page/server'], builtins: ['.*'] },
  'simulator/time': { rooms: ['src/ports'], builtins: ['timers'] },
  'simulator/apiserver': { rooms: [...kinds, ...client, ...simulated], builtins: ['crypto'] },
  'simulator/network': {
    rooms: [...kinds, ...client, ...simulated],
    packages: ['@peculiar/x509'],
    builtins: network,
  },
  'simulator/world': { rooms: [...kinds, ...client, ...simulated], builtins: network },
  'simulator/harness': { rooms: aboveCli },
  'simulator/outages': { rooms: aboveCli },
  'simulator/rehearsal': { rooms: [...aboveCli, 'simulator/outages', 'simulator/demo'] },
  'simulator/demo': { rooms: [...aboveCli, 'src/page/feed', 'src/page/server'] },
  'simulator/cli': {
    rooms: [...aboveCli, 'src/cli', 'src/page/server', 'simulator/rehearsal', 'simulator/demo'],
    builtins: ['child_process', 'fs', 'os', 'path', 'stream', 'url', 'util'],
  },
};

const names = Object.keys(house);
const pathOf = (room) => (room.endsWith('.ts') ? `^${room}$` : `^${room}/`);
const doorOf = (room) => (house[room].open ? pathOf(room) : `^${room}/index\\.ts$`);
const tests = String.raw`\.test\.ts$|/testing/`;
const data = String.raw`\.(?!tsx?$|mjs$|js$)\w+$`;
const packagePath = (name) => `(?:^|/)node_modules/${name}/`;
const builtinPath = (name) => `^(?:node:)?${name}(?:/|$)`;

/** Forbids a room to import anything except itself, the doors in its row, its packages and its built-ins. */
const roomRule = ([room, { rooms, inside = room, packages = [], builtins = [] }]) => ({
  name: room,
  comment: `not in the row of ${room} in tools/dependency-cruiser.mjs`,
  severity: 'error',
  from: { path: pathOf(room), pathNot: tests },
  to: {
    pathNot: [
      pathOf(inside),
      ...rooms.filter((other) => other !== room).map(doorOf),
      ...packages.map(packagePath),
      ...builtins.map(builtinPath),
    ],
  },
});

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...Object.entries(house).map(roomRule),
    {
      name: 'room',
      comment: 'in no room of the table',
      severity: 'error',
      from: { path: '^(?:src|simulator)/', pathNot: [...names.map(pathOf), tests] },
      to: {},
    },
    {
      name: 'shipped',
      comment: 'what is shipped imports no test',
      severity: 'error',
      from: { path: '^(?:src|simulator)/', pathNot: tests },
      to: { path: ['^(?:test|bench|tools|examples)/', tests] },
    },
    {
      name: 'bench',
      comment: 'a benchmark imports nothing of test/ but envtest',
      severity: 'error',
      from: { path: '^bench/' },
      to: { path: '^test/', pathNot: '^test/envtest/' },
    },
    {
      name: 'page',
      comment: 'the browser gets the types of the status, and not what checks them',
      severity: 'error',
      from: { path: '^src/page/(?:browser|feed)/' },
      to: { path: '^src/status/state/schema', dependencyTypesNot: ['type-only'] },
    },
    { name: 'cycle', comment: 'imports itself', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'missing',
      comment: 'does not exist',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: data },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(?:^|/)(?:dist|fixtures)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'node', 'default'] },
  },
};
