// Builds dist/page, the page that `--page-bind-addr` serves, from src/page/browser.
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { build } from 'vite';

/** Directory of the package that contains a module. */
const packageOf = (path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];

/** Converts vite's output to an esbuild metafile. Style sheets have no rendered length; one of a package counts as 1 byte, so that its package is listed. */
const metafileOf = ({ output }, root) => {
  const inputsOf = ({ modules = {} }) =>
    Object.entries(modules).flatMap(([id, { renderedLength }]) => {
      const path = relative(root, id.replace(/\?.*$/, ''));
      const isFile = !path.startsWith('..') && !id.startsWith('\0');
      return isFile ? [[path, renderedLength || (packageOf(path) === undefined ? 0 : 1)]] : [];
    });
  const outputs = output.map((chunk) => {
    const inputs = inputsOf(chunk).map(([path, bytesInOutput]) => [path, { bytesInOutput }]);
    const size = Buffer.byteLength(chunk.code ?? chunk.source);
    return [
      `dist/page/${chunk.fileName}`,
      { bytes: size, imports: [], exports: [], inputs: Object.fromEntries(inputs) },
    ];
  });
  const paths = outputs.flatMap(([, { inputs }]) => Object.keys(inputs));
  const inputs = paths.map((path) => [path, { bytes: readFileSync(join(root, path)).byteLength, imports: [] }]);
  return { inputs: Object.fromEntries(inputs), outputs: Object.fromEntries(outputs) };
};

/** Builds the page and resolves with its contents, in the format of esbuild's metafile. */
export const buildPage = async (root) => {
  const result = await build({
    configFile: false,
    root: join(root, 'src/page/browser'),
    // A relative base lets the page work behind a proxy that serves it under another path.
    base: './',
    logLevel: 'warn',
    build: {
      outDir: join(root, 'dist/page'),
      emptyOutDir: true,
      target: 'es2023',
      // A data URL would need an exception in the Content-Security-Policy.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
    },
  });
  return metafileOf(result, dirname(join(root, 'package.json')));
};
