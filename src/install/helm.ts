import { InstallError } from './context.ts';
import type { OwnedObject } from './inventory.ts';
import { type KubeObject, nameOf } from './object.ts';

/** A release of Helm, whose record outlives its objects. */
export interface HelmRelease {
  readonly name: string;
  readonly namespace: string;
}

/** What Helm sets on all that a release has made (`setMetadataVisitor` in its `pkg/action/validate.go`). */
const releaseName = 'meta.helm.sh/release-name';
const releaseNamespace = 'meta.helm.sh/release-namespace';

/** ConfigMaps outlive their release, so they say nothing of it. */
const releaseOf = ({ kind, metadata: { annotations = {} } }: KubeObject): HelmRelease | undefined => {
  if (kind === 'ConfigMap') return undefined;
  const { [releaseName]: name, [releaseNamespace]: namespace } = annotations;
  return name === undefined || namespace === undefined ? undefined : { name, namespace };
};

/** The releases that have made these objects, each once. */
export const helmReleasesOf = (owned: readonly OwnedObject[]): readonly HelmRelease[] => {
  const releases = owned.map(({ object }) => releaseOf(object)).filter((release) => release !== undefined);
  return [...new Map(releases.map((release) => [JSON.stringify(release), release])).values()];
};

/** Throws an InstallError where an installation would remove what a release of Helm has made under a name of its own. */
export const refuseHelms = (outdated: readonly OwnedObject[]): void => {
  const lines = outdated.flatMap(({ object }) => {
    const release = releaseOf(object);
    return release === undefined ? [] : [`${nameOf(object)}: of the release ${release.name}`];
  });
  if (lines.length === 0) return;
  throw new InstallError('this would remove what Helm has installed; nothing was changed', [
    ...lines,
    'go on with helm upgrade, or take the installation over with --force-conflicts',
  ]);
};
