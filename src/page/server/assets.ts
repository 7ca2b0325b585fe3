import { readFile, readdir } from 'node:fs/promises';

/** A static file of the page. */
export interface Asset {
  readonly contentType: string;
  readonly body: Buffer;
  /** True if the file's name changes with its content. */
  readonly isImmutable: boolean;
}

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/** Reads the files that vite has built into `directory`, by path: `/` and all files of `/assets`. Rejects if the page is not built. */
export const readAssets = async (directory: URL): Promise<ReadonlyMap<string, Asset>> => {
  const load = async (file: string): Promise<Asset> => ({
    contentType: types[file.split('.').at(-1) ?? ''] ?? 'application/octet-stream',
    body: await readFile(new URL(file, directory)),
    isImmutable: file.startsWith('assets/'),
  });
  const hashed = (await readdir(new URL('assets/', directory))).map((name) => `assets/${name}`);
  const named = await Promise.all(hashed.map(async (file) => [`/${file}`, await load(file)] as const));
  return new Map([['/', await load('index.html')], ...named]);
};
