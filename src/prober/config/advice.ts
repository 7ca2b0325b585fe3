import { downLevelLimitMs } from '../scale/scaling.ts';
import { expiryShareOfGrace } from '../judge/judgement.ts';
import type { DependentResource, ProberSettings, ScaleInfo } from './settings.ts';

/** Name of the Deployment that the advice is about: it gives up silent nodes. */
const kubeControllerManager = 'kube-controller-manager';

/** The observation that shows an expired lease comes up to this time after the expiry, in milliseconds. */
const observationMs = 1_000;

/** One step between a node's last sign of life and the scale-down of KCM; `at` in milliseconds after that sign. */
export interface TimelineStep {
  readonly at: number;
  readonly text: string;
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)}s`;

/** An objection to settings that are valid. */
export interface Advice {
  /** Field of the configuration file. */
  readonly field: 'dependentResourceInfos' | 'probeInterval' | 'allSilentAfter';
  readonly text: string;
}

const named = ({ dependentResources }: ProberSettings, name: string): DependentResource | undefined =>
  dependentResources.find(({ ref }) => ref.name === name);

const levelCost = ({ initialDelayMs, timeoutMs }: ScaleInfo): number =>
  initialDelayMs + Math.min(timeoutMs, downLevelLimitMs);

const inWords = ({ initialDelayMs, timeoutMs, level }: ScaleInfo): string => {
  const delay = initialDelayMs > 0 ? `${seconds(initialDelayMs)} initialDelay + ` : '';
  return `level ${String(level)}: ${delay}up to ${seconds(Math.min(timeoutMs, downLevelLimitMs))}`;
};

/** Returns the slowest resource of each level before `last`, in ascending order. */
const levelsBefore = ({ dependentResources }: ProberSettings, last: number): readonly ScaleInfo[] => {
  const slowest = new Map<number, ScaleInfo>();
  for (const { scaleDown } of dependentResources) {
    if (scaleDown === undefined || scaleDown.level >= last) continue;
    const known = slowest.get(scaleDown.level);
    if (known === undefined || levelCost(scaleDown) > levelCost(known)) slowest.set(scaleDown.level, scaleDown);
  }
  return [...slowest.values()].toSorted((a, b) => a.level - b.level);
};

/** Returns the steps until KCM is scaled down, each level as slow as it may be; undefined if the configuration does not scale it down. */
export const scaleDownTimeline = (settings: ProberSettings): readonly TimelineStep[] | undefined => {
  const manager = named(settings, kubeControllerManager)?.scaleDown;
  if (manager === undefined) return undefined;
  const { initialDelayMs: delayMs, level } = manager;
  let at = expiryShareOfGrace * settings.nodeMonitorGraceMs;
  const steps: TimelineStep[] = [{ at, text: `threshold at ${seconds(at)}` }];
  const add = (ms: number, text: string): void => {
    at += ms;
    steps.push({ at, text });
  };
  add(observationMs, `observation within ${seconds(observationMs)}`);
  for (const info of levelsBefore(settings, level)) add(levelCost(info), inWords(info));
  const delay = delayMs > 0 ? ` after ${seconds(delayMs)} initialDelay` : '';
  add(delayMs, `level ${String(level)}: ${kubeControllerManager}${delay} at ${seconds(at + delayMs)}`);
  return steps;
};

/** Returns the sum of the initial delays, which operators decide alone: no pod can shorten them. */
const delaysOnTheWay = (settings: ProberSettings, manager: ScaleInfo): number =>
  levelsBefore(settings, manager.level).reduce((sum, { level }) => sum + longestDelay(settings, level), 0) +
  manager.initialDelayMs;

const longestDelay = ({ dependentResources }: ProberSettings, wanted: number): number =>
  Math.max(
    0,
    ...dependentResources.map(({ scaleDown }) => (scaleDown?.level === wanted ? scaleDown.initialDelayMs : 0)),
  );

const raceAdvice = (settings: ProberSettings): readonly Advice[] => {
  const manager = named(settings, kubeControllerManager)?.scaleDown;
  const steps = scaleDownTimeline(settings);
  const graceMs = settings.nodeMonitorGraceMs;
  if (steps === undefined || manager === undefined || (steps.at(-1)?.at ?? 0) < graceMs) return [];
  const sum = `${steps.map(({ text }) => text).join(', ')}: KCM acts at ${seconds(graceMs)}`;
  const isHopeless = expiryShareOfGrace * graceMs + delaysOnTheWay(settings, manager) >= graceMs;
  const text = isHopeless
    ? `the scale-down comes too late: ${sum}`
    : `the scale-down may come too late if pods are slow to stop: ${sum}`;
  return [{ field: 'dependentResourceInfos', text }];
};

/** With at most a quarter of the grace period, three runs fit between the last sign of life and the expiry of the lease, and one of them may fail. */
const intervalAdvice = (settings: ProberSettings): readonly Advice[] => {
  const { probeIntervalMs, backoffJitterFactor, nodeMonitorGraceMs } = settings;
  if (probeIntervalMs <= nodeMonitorGraceMs / 4) return [];
  const longestMs = probeIntervalMs * (1 + backoffJitterFactor);
  const text = `more than a quarter of the grace period: after a failed probe, the next one comes up to ${seconds(longestMs)} later (probeInterval ${seconds(probeIntervalMs)} x ${String(1 + backoffJitterFactor)}), and KCM acts at ${seconds(nodeMonitorGraceMs)}`;
  return [{ field: 'probeInterval', text }];
};

/** Kubelets renew every 10 s of 40 s: less than one and a half of these intervals is no silence. */
const silenceAdvice = ({ allSilentAfterMs = 0, nodeMonitorGraceMs }: ProberSettings): readonly Advice[] => {
  const leastMs = (3 / 8) * nodeMonitorGraceMs;
  if (allSilentAfterMs === 0 || allSilentAfterMs >= leastMs) return [];
  const text = `less than ${seconds(leastMs)}: healthy kubelets renew only every ${seconds(nodeMonitorGraceMs / 4)}, so a shoot may be scaled down without an outage`;
  return [{ field: 'allSilentAfter', text }];
};

/** Returns the objections that the numbers alone show in the race against KCM. */
export const adviceOn = (settings: ProberSettings): readonly Advice[] => [
  ...raceAdvice(settings),
  ...intervalAdvice(settings),
  ...silenceAdvice(settings),
];
