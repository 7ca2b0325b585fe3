// Writes deploy/chart: node tools/chart/main.ts
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chartFiles } from './files.ts';

const folder = new URL('../../deploy/chart/', import.meta.url);

rmSync(folder, { recursive: true, force: true });
for (const [path, text] of Object.entries(await chartFiles())) {
  const file = fileURLToPath(new URL(path, folder));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
