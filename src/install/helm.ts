import { InstallError } from './context.ts';
import type { OwnedObject } from './inventory.ts';
import { type KubeObject, nameOf } from './object.ts';

/** A Helm release. Its record outlives its objects. */
export interface HelmRelease {
  readonly name: string;
  readonly namespace: string;
}

/** Annotations that Helm sets on all objects of a release (`setMetadataVisitor` in its `pkg/action/validate.go`). */
const releaseName = 'meta.helm.sh/release-name';
const releaseNamespace = 'meta.helm.sh/release-namespace';

/** Returns the release of an object. ConfigMaps do not count, because they outlive their release. */
const releaseOf = ({ kind, metadata: { annotations = {} } }: KubeObject): HelmRelease | undefined => {
  if (kind === 'ConfigMap') return undefined;
  const { [releaseName]: name, [releaseNamespace]: namespace } = annotations;
  return name === undefined || namespace === undefined ? undefined : { name, namespace };
};

/** Returns the releases of these objects, each once. */
export const helmReleasesOf = (owned: readonly OwnedObject[]): readonly HelmRelease[] => {
  const releases = owned.map(({ object }) => releaseOf(object)).filter((release) => release !== undefined);
  return [...new Map(releases.map((release) => [JSON.stringify(release), release])).values()];
};

/** Throws an InstallError if the outdated objects, which an installation would remove, include objects of a Helm release. */
export const refuseHelms = (outdated: readonly OwnedObject[]): void => {
  const lines = outdated.flatMap(({ object }) => {
    const release = releaseOf(object);
    return release === undefined ? [] : [`${nameOf(object)} belongs to the release ${release.name}`];
  });
  if (lines.length === 0) return;
  throw new InstallError('this would remove objects of a Helm release; nothing was changed', [
    ...lines,
    'use helm upgrade instead, or take the installation over with --force-conflicts',
  ]);
};
