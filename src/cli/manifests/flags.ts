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
    `Comma-separated list of components and optional objects: ${manifestParts.join(', ')}`,
  ),
  'config-file': optionalFlag(
    text('path', 'a path, or COMPONENT=PATH several times with commas between'),
    'Path of the configuration file; for several components prober=PATH,weeder=PATH',
  ),
  namespace: flag(namespaceName, 'garden', 'Namespace of the installation', 'n'),
  image: flag(imageReference, `dependency-watchdog:${version}`, 'Container image whose entry point is dwd'),
  replicas: flag(integer({ min: 1 }), '2', 'Number of pods of each component; one of them leads'),
  'name-prefix': flag(namePrefix, 'dwd-', 'Prefix of the names of all objects'),
  profile: flag(
    choice('profile', profiles),
    'plain',
    'Kind of cluster: plain for any cluster, gardener-seed for a seed of Gardener',
  ),
  set: repeatedFlag('KEY=VALUE', 'Set another value, such as prober.logLevel=debug; may be repeated'),
} as const;

export type ManifestFlagValues = FlagValues<typeof manifestFlags>;
