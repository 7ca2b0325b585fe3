// Prevents the publication of the package unless its `repository` is the origin of this checkout, because readers trust that address.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const { repository } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
if (repository === undefined) {
  throw new Error('package.json has no repository: set it to the origin of this checkout before publishing');
}
const withoutForm = (url) =>
  url
    .trim()
    .replace(/^git\+/, '')
    .replace(/^git@([^:]+):/, 'https://$1/')
    .replace(/\.git$/, '');

const origin = execFileSync('git', ['remote', 'get-url', 'origin'], { encoding: 'utf8' });
if (withoutForm(origin) !== withoutForm(repository.url)) {
  throw new Error(`package.json has the repository ${repository.url}, and this checkout comes from ${origin.trim()}`);
}
