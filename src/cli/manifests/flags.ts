import { version } from '../build-info.ts';
import { choice, choices, imageReference, integer, namespaceName, text } from '../flag-types.ts';
import { type FlagValues, flag, optionalFlag, repeatedFlag, requiredFlag } from '../parse-flags.ts';
import { profiles } from './installation.ts';
import { manifestParts } from './render.ts';
import { namePrefix } from './value-types.ts';

/** Flags that define an installation. */
export const manifestFlags = {
  component: requiredFlag(
    choices('component', manifestParts),
    `What to run, or what is needed for it, separated by commas: ${manifestParts.join(', ')}`,
  ),
  'config-file': optionalFlag(
    text('path', 'a path, or COMPONENT=PATH several times with commas between'),
    'Its configuration; of several components prober=PATH,weeder=PATH',
  ),
  namespace: flag(namespaceName, 'garden', 'Where it runs', 'n'),
  image: flag(imageReference, `dependency-watchdog:${version}`, 'Image with dwd as its entry point'),
  replicas: flag(integer({ min: 1 }), '2', 'Pods of each component, of which one leads'),
  'name-prefix': flag(namePrefix, 'dwd-', 'What the names of all objects begin with'),
  profile: flag(
    choice('profile', profiles),
    'plain',
    'Where it runs: plain is any cluster, gardener-seed a seed of Gardener',
  ),
  set: repeatedFlag('KEY=VALUE', 'Another value, such as prober.logLevel=debug; may be given several times'),
} as const;

export type ManifestFlagValues = FlagValues<typeof manifestFlags>;
