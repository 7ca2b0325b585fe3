// Writes the licences of the packages in the bundles: node tools/third-party.mjs METAFILE OUTPUT
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** File names of licences, and of notices, which Apache-2.0 requires to be passed on too. */
const legal = /^(?:licen[cs]e|copying|unlicense|notice)/i;

const packageOf = (path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];

/** Directories of the packages that contribute code to an output. */
const bundledPackages = ({ outputs }) => {
  const inputs = Object.values(outputs).flatMap((output) => Object.entries(output.inputs));
  const found = inputs.flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? (packageOf(path) ?? []) : []));
  return [...new Set(found)].sort();
};

const entryOf = (directory) => {
  const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  const files = readdirSync(directory).filter((file) => legal.test(file));
  if (!files.some((file) => !/^notice/i.test(file)) || typeof license !== 'string') {
    throw new Error(`${name} ${version} is bundled and has no licence that could be passed on`);
  }
  const texts = files.map((file) => readFileSync(join(directory, file), 'utf8').trim());
  return [`${name} ${version} (${license})`, ...texts].join('\n\n');
};

const [metafile, output] = process.argv.slice(2);
const directories = bundledPackages(JSON.parse(readFileSync(metafile, 'utf8')));
const line = `\n\n${'-'.repeat(80)}\n\n`;
const head = 'The files in this directory contain the packages below, under their licences.';
if (!existsSync(dirname(output))) throw new Error(`${dirname(output)} does not exist`);
writeFileSync(output, `${[head, ...directories.map(entryOf)].join(line)}\n`);
