// Makes dist/: dwd.js, which bin/dwd loads; page/, which it serves; simulator.js, which dwd.js loads for `dwd demo` and `dwd rehearse`; the entry points of the package, index.js and healthcheck.js, with their declarations; and the licences
// of all that is bundled. .cache/metafile.json says what is in which bundle.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { buildPage } from './build-page.mjs';
import { interfaceOf } from './config-types.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

/** The commit as 12 hex digits, with `-dirty` when tracked files differ from it; `unknown` outside a git checkout, where DWD_COMMIT says none. */
function commit() {
  if (process.env.DWD_COMMIT) return process.env.DWD_COMMIT;
  const git = (...args) =>
    execFileSync('git', ['--no-optional-locks', ...args], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  try {
    const dirty = git('status', '--porcelain', '--untracked-files=no') !== '';
    return git('rev-parse', '--verify', '--short=12', 'HEAD') + (dirty ? '-dirty' : '');
  } catch {
    return 'unknown';
  }
}

/** In the metafile, before the names of Node's own modules. */
const builtin = 'builtin:';

/**
 * Loads Node's own modules by require(). An `import` of one reads every export that it has, and `node:http` makes some of them only then:
 * reading `WebSocket` starts a second HTTP client, a quarter of the CPU of a start.
 */
const requireBuiltins = {
  name: 'require-builtins',
  setup({ onResolve, onLoad }) {
    const namespace = builtin.slice(0, -1);
    onResolve({ filter: /^node:/ }, ({ kind, path }) => (kind === 'require-call' ? undefined : { path, namespace }));
    onLoad({ filter: /.*/, namespace }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)});`,
    }));
  },
};

const common = {
  absWorkingDir: root,
  plugins: [requireBuiltins],
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // Apart: no comment in the bundle points to it, and the package leaves it out.
  sourcemap: 'external',
  metafile: true,
  logLevel: 'warning',
  // CommonJS dependencies call require() for Node's built-ins, which an ES module does not have.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);",
  },
};

const define = { __DWD_VERSION__: JSON.stringify(version), __DWD_COMMIT__: JSON.stringify(commit()) };
const program = {
  ...common,
  // What V8 need not read costs nothing, and one character of a comment beyond Latin-1 doubles what it keeps. Names stay, for stacks.
  minifyWhitespace: true,
  minifySyntax: true,
  define,
};
const dwd = await build({ ...program, entryPoints: ['src/main.ts'], outfile: 'dist/dwd.js' });
const simulator = await build({ ...program, entryPoints: ['simulator/cli/index.ts'], outfile: 'dist/simulator.js' });
const library = await build({
  ...common,
  entryPoints: ['src/healthcheck/index.ts'],
  outfile: 'dist/healthcheck.js',
});

const page = await buildPage(root);

const metafiles = [...[dwd, simulator, library].map(({ metafile }) => metafile), page];
const metafile = {
  inputs: Object.assign({}, ...metafiles.map(({ inputs }) => inputs)),
  outputs: Object.assign({}, ...metafiles.map(({ outputs }) => outputs)),
};
/** Node's own modules are part of no package. */
const withoutBuiltins = (key, value) => {
  if (key.startsWith(builtin)) return undefined;
  return Array.isArray(value) ? value.filter(({ path }) => path?.startsWith(builtin) !== true) : value;
};
mkdirSync(`${root}.cache`, { recursive: true });
writeFileSync(`${root}.cache/metafile.json`, JSON.stringify(metafile, withoutBuiltins));

const node = (...args) => execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' });

node('tools/third-party.mjs', '.cache/metafile.json', 'dist/THIRD-PARTY-LICENSES.txt');

const configurations = ['prober', 'weeder', 'care'].map((component) => {
  const schema = JSON.parse(node('bin/dwd', 'schema', '--component', component));
  return interfaceOf(schema.properties.kind.const, schema);
});
const constants = [
  ['version', 'Version of this package.', define.__DWD_VERSION__],
  [
    'commit',
    'The commit that it was built from, as 12 hex digits, with `-dirty` where it was changed.',
    define.__DWD_COMMIT__,
  ],
];
writeFileSync(
  `${root}dist/index.js`,
  constants.map(([name, , value]) => `export const ${name} = ${value};\n`).join(''),
);
writeFileSync(
  `${root}dist/index.d.ts`,
  [
    ...constants.map(([name, about]) => `/** ${about} */\nexport declare const ${name}: string;\n`),
    ...configurations,
  ].join('\n'),
);

// The types are checked elsewhere; here they are only written down.
rmSync(new URL('../dist/types', import.meta.url), { recursive: true, force: true });
execFileSync(process.execPath, ['node_modules/typescript-7/bin/tsc', '--project', 'tools/healthcheck-types.json'], {
  cwd: root,
  stdio: 'inherit',
});
