import {
  type JsonObject,
  decodeObject,
  optionalList,
  optionalObject,
  optionalString,
} from '../kubernetes/api/decode.ts';
import { listCall } from '../kubernetes/api/list-call.ts';
import { resourcePath } from '../kubernetes/api/resource-path.ts';
import { escapeControls } from '../telemetry/index.ts';
import { type InstallContext, callOptions } from './context.ts';
import { podsOf } from './inventory.ts';
import { type KubeObject, nameOf } from './object.ts';

/** Maximum number of lines about one Deployment. */
const mostLines = 12;
const longestLine = 300;

const cut = (line: string): string => (line.length > longestLine ? `${line.slice(0, longestLine)}...` : line);

const textOf = (from: JsonObject, name: string): string => optionalString(from[name], name) ?? '';

const listOf = (from: unknown, name: string): readonly JsonObject[] =>
  (optionalList(optionalObject(from, 'object')?.[name], name) ?? []).map((item) => decodeObject(item, name));

const inWords = (from: JsonObject): string =>
  [textOf(from, 'reason'), textOf(from, 'message')].filter(Boolean).map(escapeControls).join(': ');

/** Returns why a Deployment gets no pods, such as a quota, or an admission that refuses them. */
export const conditionsOf = ({ status }: KubeObject): readonly string[] =>
  listOf(status, 'conditions')
    .filter(
      ({ type, status: value }) =>
        (type === 'ReplicaFailure' && value === 'True') || (type === 'Progressing' && value === 'False'),
    )
    .map(inWords);

const stateOf = (container: JsonObject): string | undefined => {
  const { waiting, terminated } = optionalObject(container.state, 'state') ?? {};
  const found = optionalObject(waiting, 'waiting') ?? optionalObject(terminated, 'terminated');
  if (found === undefined) return undefined;
  const last = optionalObject(optionalObject(container.lastState, 'lastState')?.terminated, 'terminated');
  const exit = last?.exitCode === undefined ? '' : ` (last exit code ${JSON.stringify(last.exitCode)})`;
  return `container ${textOf(container, 'name')}: ${inWords(found)}${exit}`;
};

/** Returns the problems of a pod that the kubelet and the scheduler report. */
export const podProblems = (pod: KubeObject): readonly string[] => {
  const containers = [...listOf(pod.status, 'initContainerStatuses'), ...listOf(pod.status, 'containerStatuses')];
  const states = containers.map(stateOf).filter((state) => state !== undefined);
  const conditions = listOf(pod.status, 'conditions')
    .filter(({ status }) => status === 'False')
    .map((condition) => `${textOf(condition, 'type')} is False: ${inWords(condition)}`);
  return states.length > 0 ? states : conditions;
};

interface WarningEvent {
  readonly about: string;
  readonly text: string;
}

export const decodeWarning = (json: unknown): WarningEvent => {
  const event = decodeObject(json, 'event');
  return { about: textOf(decodeObject(event.involvedObject, 'event'), 'name'), text: inWords(event) };
};

/** Lists the warning Events of the Deployment, its ReplicaSets and pods, whose names begin with its own. */
const warningsAbout = async (deployment: KubeObject, context: InstallContext): Promise<readonly string[]> => {
  const { name, namespace = '' } = deployment.metadata;
  const path = resourcePath({ apiVersion: 'v1', resource: 'events', namespace });
  const call = listCall({ path, query: { fieldSelector: 'type=Warning' }, decode: decodeWarning });
  const { value } = await context.client.call(call, callOptions(context));
  return value.filter(({ about }) => about.startsWith(name)).map(({ about, text }) => `${about}: ${text}`);
};

/** Returns why a Deployment is not ready, from its conditions, pods and Events, each line once. */
export const whyNotReady = async (deployment: KubeObject, context: InstallContext): Promise<readonly string[]> => {
  const pods = await podsOf(deployment, context);
  const lines = [
    ...conditionsOf(deployment),
    ...pods.flatMap((pod) => podProblems(pod).map((problem) => `${nameOf(pod)}: ${problem}`)),
    ...(await warningsAbout(deployment, context)),
  ];
  return [...new Set(lines.filter(Boolean))].slice(0, mostLines).map(cut);
};
