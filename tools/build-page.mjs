// Makes dist/page, the page that `--page-bind-addr` serves, from src/page/browser.
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { build } from 'vite';

/** The directory of the package that a module is in. */
const packageOf = (path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];

/** In the form of esbuild's metafile: vite names the modules of scripts, and style sheets stand for the package that they come from. */
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

/** Resolves with what is in it, as esbuild's metafile says it. */
export const buildPage = async (root) => {
  const result = await build({
    configFile: false,
    root: join(root, 'src/page/browser'),
    // Relative, so that the page also works behind a proxy that serves it under a path of its own.
    base: './',
    logLevel: 'warn',
    build: {
      outDir: join(root, 'dist/page'),
      emptyOutDir: true,
      target: 'es2023',
      // An address with data in it would need an exception in the Content-Security-Policy.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
    },
  });
  return metafileOf(result, dirname(join(root, 'package.json')));
};
