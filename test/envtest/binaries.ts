import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { buildCache, requiredVersion } from '../built-program.ts';

const binaryNames = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl'] as const;
export type BinaryName = (typeof binaryNames)[number];

/** The paths of the binaries, or the names of those that are missing. */
export type BinariesResult =
  | { readonly ok: true; readonly directory: string; readonly path: (name: BinaryName) => string }
  | {
      readonly ok: false;
      readonly directory: string;
      readonly missing: readonly BinaryName[];
      readonly remedy: string;
    };

export type Binaries = Extract<BinariesResult, { ok: true }>;

/**
 * Searches the directory `KUBEBUILDER_ASSETS`, or, if that is not set, the output directory of `tools/envtest/build.sh`.
 * Starts nothing and builds nothing.
 */
export function findBinaries(): BinariesResult {
  const assets = process.env.KUBEBUILDER_ASSETS;
  const directory = assets === undefined || assets === '' ? cacheDirectory() : assets;
  const path = (name: BinaryName) => join(directory, name);
  const missing = binaryNames.filter((name) => !isExecutable(path(name)));
  if (missing.length === 0) return { ok: true, directory, path };
  const remedy = directory === assets ? 'correct or unset KUBEBUILDER_ASSETS' : 'run `make envtest`';
  return { ok: false, directory, missing, remedy };
}

/** Returns one line for the developer, such as "kube-apiserver not found; run `make envtest`". */
export function describeMissing(result: Extract<BinariesResult, { ok: false }>): string {
  return `${result.missing.join(', ')} not found in ${result.directory}; ${result.remedy}`;
}

/** Returns the output directory of build.sh. */
function cacheDirectory(): string {
  const kubernetes = requiredVersion('envtest/kubernetes', 'k8s.io/kubernetes');
  const etcd = requiredVersion('envtest/kubernetes', 'go.etcd.io/etcd/server/v3');
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  return buildCache('envtest', `${kubernetes}-${etcd}-${process.platform}-${arch}`);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
