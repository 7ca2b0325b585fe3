// Bundles src/main.ts and what it imports into dist/dwd.js, which bin/dwd loads, and the entry point `dependency-watchdog/healthcheck`
// into dist/healthcheck.js with its declarations in dist/types.
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

/** The commit as 12 hex digits, with `-dirty` when tracked files differ from it; `unknown` outside a git checkout. */
function commit() {
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

const common = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  sourcemap: true,
  logLevel: 'warning',
  // CommonJS dependencies call require() for Node's built-ins, which an ES module does not have.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);",
  },
};

await build({
  ...common,
  entryPoints: ['src/main.ts'],
  outfile: 'dist/dwd.js',
  define: { __DWD_VERSION__: JSON.stringify(version), __DWD_COMMIT__: JSON.stringify(commit()) },
});

await build({ ...common, entryPoints: ['src/healthcheck/index.ts'], outfile: 'dist/healthcheck.js' });

// The types are checked elsewhere; here they are only written down.
rmSync(new URL('../dist/types', import.meta.url), { recursive: true, force: true });
execFileSync(process.execPath, ['node_modules/typescript-7/bin/tsc', '--project', 'tools/healthcheck-types.json'], {
  cwd: root,
  stdio: 'inherit',
});
