// Builds dist/: dwd.js, which bin/dwd loads; page/, which dwd.js serves; simulator.js, which dwd.js loads for `dwd demo` and `dwd rehearse`;
// healthcheck.js, the package's library, with its declarations; chunks/, the code that these share or load on demand; and the licences of
// all bundled packages. .cache/metafile.json lists the contents of each file.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

/** DWD_COMMIT, or the commit as 12 hex digits, with `-dirty` if tracked files differ from it; `unknown` outside a git checkout. */
function commit() {
  if (process.env.DWD_COMMIT) return process.env.DWD_COMMIT;
  const args = ['--no-optional-locks', 'describe', '--always', '--dirty', '--abbrev=12', '--exclude=*'];
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : 'unknown';
}

/** Prefix of the names of Node's own modules in the metafile. */
const builtin = 'builtin:';

/**
 * Loads Node's own modules by require(). An `import` of a module reads all its exports, and `node:http` creates some of them only when they are
 * read: reading `WebSocket` loads a second HTTP client, which takes a quarter of the CPU time of a start.
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

const define = { __DWD_VERSION__: JSON.stringify(version), __DWD_COMMIT__: JSON.stringify(commit()) };

const program = await build({
  absWorkingDir: root,
  entryPoints: { dwd: 'src/main.ts', simulator: 'simulator/cli/index.ts', healthcheck: 'src/healthcheck/index.ts' },
  outdir: 'dist',
  // No code is there twice, and none is loaded before it is needed.
  splitting: true,
  chunkNames: 'chunks/[name]-[hash]',
  plugins: [requireBuiltins],
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node22',
  // A separate file: the bundle has no comment that refers to it, and the package does not include it.
  sourcemap: 'external',
  metafile: true,
  write: false,
  logLevel: 'warning',
  // Removes comments and white space, because V8 reads and keeps the source: one character beyond Latin-1 would double it. Keeps names, for stack traces.
  minifyWhitespace: true,
  minifySyntax: true,
  // Where `esbuildDetection` is defined, undici leaves out its second, experimental HTTP parser (150 KB).
  define: { ...define, esbuildDetection: 'true' },
  // CommonJS dependencies call require() for Node's built-ins, which an ES module does not have.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);",
  },
});

const browser = 'src/page/browser';
const page = await build({
  absWorkingDir: root,
  entryPoints: [`${browser}/main.tsx`, `${browser}/page.css`],
  outdir: 'dist/page/assets',
  entryNames: '[name]-[hash]',
  assetNames: '[name]-[hash]',
  // A relative path lets the page work behind a proxy that serves it under another one.
  publicPath: './assets',
  // A data URL would need an exception in the Content-Security-Policy.
  loader: { '.svg': 'file' },
  bundle: true,
  format: 'esm',
  target: 'es2023',
  minify: true,
  metafile: true,
  write: false,
  logLevel: 'warning',
});

/** Path from index.html of what `./NAME.EXTENSION` in it has become. */
const builtFile = (name) => {
  const file = Object.keys(page.metafile.outputs).find((path) => path.startsWith(`dist/page/assets/${name}-`));
  if (file === undefined) throw new Error(`index.html names ${name}, and nothing of that name is built`);
  return file.replace('dist/page/', './');
};
const html = readFileSync(`${root}${browser}/index.html`, 'utf8');
const shipped = html.replaceAll(/"\.\/([\w-]+)\.\w+"/g, (_, name) => `"${builtFile(name)}"`);

/** Replaces a file at once: nobody reads a half. */
const replaceFile = (path, contents) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.new`, contents);
  renameSync(`${path}.new`, path);
};
// bin/dwd may run meanwhile. So new files come before those that name them, and the former ones, whose names have other hashes, go last.
const hashed = [`${root}dist/chunks/`, `${root}dist/page/assets/`];
const isHashed = ({ path }) => hashed.some((directory) => path.startsWith(directory));
const built = [...program.outputFiles, ...page.outputFiles];
for (const { path, contents } of built.filter(isHashed)) replaceFile(path, contents);
for (const { path, contents } of built.filter((file) => !isHashed(file))) replaceFile(path, contents);
replaceFile(`${root}dist/page/index.html`, shipped);
const present = new Set(built.map(({ path }) => path));
for (const directory of hashed) {
  for (const name of readdirSync(directory)) if (!present.has(`${directory}${name}`)) rmSync(`${directory}${name}`);
}

const metafile = {
  inputs: { ...program.metafile.inputs, ...page.metafile.inputs },
  outputs: { ...program.metafile.outputs, ...page.metafile.outputs },
};
/** Removes Node's own modules, which belong to no package. */
const withoutBuiltins = (key, value) => {
  if (key.startsWith(builtin)) return undefined;
  return Array.isArray(value) ? value.filter(({ path }) => path?.startsWith(builtin) !== true) : value;
};
mkdirSync(`${root}.cache`, { recursive: true });
writeFileSync(`${root}.cache/metafile.json`, JSON.stringify(metafile, withoutBuiltins));

const node = (...args) => execFileSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
node('tools/third-party.mjs', '.cache/metafile.json', 'dist/THIRD-PARTY-LICENSES.txt');

// Writes the declarations only; `make types` checks the types.
rmSync(new URL('../dist/types', import.meta.url), { recursive: true, force: true });
node('node_modules/typescript-7/bin/tsc', '--project', 'tools/healthcheck-types.json');
