import { type JsonObject, childObject, childObjects, optionalList, optionalString } from '../kubernetes/api/decode.ts';
import { parseGoDuration } from '../kubernetes/api/duration.ts';

/** The program of a container in a pod template. */
export interface TemplateContainer {
  readonly image: string;
  /** `command`, followed by `args`. */
  readonly commandLine: readonly string[];
}

const decodeContainer = (container: JsonObject, path: string): TemplateContainer => {
  const words = (field: string): readonly string[] =>
    (optionalList(container[field], `${path}.${field}`) ?? []).map(
      (word, index) => optionalString(word, `${path}.${field}[${String(index)}]`) ?? '',
    );
  return {
    image: optionalString(container.image, `${path}.image`) ?? '',
    commandLine: [...words('command'), ...words('args')],
  };
};

/** Returns the containers of a workload's pod template, and none if the object has no such template. Throws a DecodeError. */
export const decodeTemplateContainers = (object: JsonObject, path: string): readonly TemplateContainer[] => {
  const template = childObject(childObject(object, path, 'spec'), `${path}.spec`, 'template');
  const spec = childObject(template, `${path}.spec.template`, 'spec');
  return childObjects(spec, `${path}.spec.template.spec`, 'containers').map((container) =>
    decodeContainer(container.object, container.path),
  );
};

/** The grace period of a KCM, from its Deployment: how long it waits for a silent node. */
export type KcmGrace =
  | { readonly kind: 'set'; readonly ms: number }
  /** The flag is not set: the default of this Kubernetes version applies. */
  | { readonly kind: 'default'; readonly ms: number; readonly version: string }
  /** `problem`: why the grace period cannot be read. */
  | { readonly kind: 'unknown'; readonly problem: string };

const flag = '--node-monitor-grace-period';
/** `_` in the name of a flag is `-` (`WordSepNormalizeFunc` in k8s.io/component-base/cli/flag). */
const flagWord = /^--node[-_]monitor[-_]grace[-_]period(?:=(.*))?$/s;

/** Returns the values of the flag, in order; KCM takes the last one. A value follows after `=` or is the next word (github.com/spf13/pflag, `parseLongArg`). */
const valuesIn = (words: readonly string[]): readonly string[] =>
  words.flatMap((word, index) => {
    const found = flagWord.exec(word);
    return found === null ? [] : [found[1] ?? words[index + 1] ?? ''];
  });

/** Returns the minor version of a tag such as `v1.33.5`, and undefined for any other text. */
const minorOf = (version: string): number | undefined => {
  const [, minor] = /^v?1\.(\d{1,3})(?:\.|$)/.exec(version) ?? [];
  return minor === undefined ? undefined : Number(minor);
};

const tagOf = (image: string): string => {
  const [name = ''] = image.split('@');
  const colon = name.lastIndexOf(':');
  return colon > name.lastIndexOf('/') ? name.slice(colon + 1) : '';
};

/**
 * The default of `--node-monitor-grace-period` in milliseconds: 40 s, and 50 s from Kubernetes 1.32 on
 * (`RecommendedDefaultNodeLifecycleControllerConfiguration` in k8s.io/kubernetes/pkg/controller/nodelifecycle/config/v1alpha1/defaults.go;
 * https://github.com/kubernetes/kubernetes/pull/126287).
 */
const defaultGraceMs = (minor: number): number => (minor < 32 ? 40_000 : 50_000);

const program = /^(?:[^\s=]*\/)?kube-controller-manager$/;
const imageOfProgram = /(?:^|\/)kube-controller-manager[^/]*$/;

const setsGrace = ({ commandLine }: TemplateContainer): boolean => valuesIn(commandLine).length > 0;

/** True if the container runs KCM itself: by its command line or, if that has flags alone, by its image. */
const isKcm = ({ commandLine, image }: TemplateContainer): boolean =>
  commandLine.some((word) => program.test(word)) ||
  ((commandLine[0] ?? '-').startsWith('-') && imageOfProgram.test(image));

/** True if one of the containers has the flag or runs the program. */
export const runsKcm = (containers: readonly TemplateContainer[]): boolean =>
  containers.some((container) => setsGrace(container) || isKcm(container));

/** Returns the container that runs KCM: the one with the flag, else the one with the program, else the only one. */
const kcmAmong = (containers: readonly TemplateContainer[]): TemplateContainer | undefined =>
  containers.find(setsGrace) ?? containers.find(isKcm) ?? (containers.length === 1 ? containers[0] : undefined);

const readDuration = (text: string): KcmGrace => {
  const duration = parseGoDuration(text);
  if (duration.ok && duration.value > 0) return { kind: 'set', ms: duration.value };
  return { kind: 'unknown', problem: `${flag} is ${JSON.stringify(text)}, which is no duration greater than 0` };
};

/** Words that may set the flag: a longer word around it, a variable, or OpenShift's configuration file. */
const maySetGrace = /node[-_]monitor[-_]grace[-_]period|^[$`]|^--openshift[-_]config(?:=|$)/;

/**
 * Reads the grace period of a KCM from the containers of its Deployment. `shootVersion`: Kubernetes version of the shoot, for an image whose tag is no version.
 */
export const kcmGraceOf = (containers: readonly TemplateContainer[], shootVersion = ''): KcmGrace => {
  const container = kcmAmong(containers);
  if (container === undefined) {
    return { kind: 'unknown', problem: 'none of its containers runs kube-controller-manager' };
  }
  const { image, commandLine } = container;
  const value = valuesIn(commandLine).at(-1);
  if (value !== undefined) return readDuration(value);
  if (!isKcm(container) || commandLine.some((word) => maySetGrace.test(word))) {
    return { kind: 'unknown', problem: `a script, a variable or a configuration file may set ${flag}` };
  }
  for (const version of [tagOf(image), shootVersion]) {
    const minor = minorOf(version);
    if (minor !== undefined) return { kind: 'default', ms: defaultGraceMs(minor), version };
  }
  return { kind: 'unknown', problem: `it does not set ${flag}, and its version, which has the default, is unknown` };
};
