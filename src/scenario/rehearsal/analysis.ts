import { type DependentResource, type ProberSettings, refKey, type ScaleInfo } from '../../domain/index.ts';
import { kubeControllerManager, machineControllerManager } from '../../sim/index.ts';
import { rehearsedKinds } from './dependents.ts';

/** A lease expires at this share of the grace, and the look that sees it comes up to a second later. */
const limitOfGrace = 0.75;
const lookMs = 1_000;
/** A level of a scale-down holds up the next one for this long at most. */
const longestLevelMs = 3_000;

/** One step of the way from a node's last sign of life until KCM is down; `at` in milliseconds after that sign. */
export interface RaceStep {
  readonly at: number;
  readonly text: string;
}

export const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)}s`;

const named = ({ dependentResources }: ProberSettings, name: string): DependentResource | undefined =>
  dependentResources.find(({ ref }) => ref.name === name);

const levelCost = ({ initialDelayMs, timeoutMs }: ScaleInfo): number =>
  initialDelayMs + Math.min(timeoutMs, longestLevelMs);

const inWords = ({ initialDelayMs, timeoutMs, level }: ScaleInfo): string => {
  const delay = initialDelayMs > 0 ? `${seconds(initialDelayMs)} initialDelay + ` : '';
  return `level ${String(level)}: ${delay}up to ${seconds(Math.min(timeoutMs, longestLevelMs))}`;
};

/** The slowest resource of each level that comes before `last`, ascending. */
const levelsBefore = ({ dependentResources }: ProberSettings, last: number): readonly ScaleInfo[] => {
  const slowest = new Map<number, ScaleInfo>();
  for (const { scaleDown } of dependentResources) {
    if (scaleDown === undefined || scaleDown.level >= last) continue;
    const known = slowest.get(scaleDown.level);
    if (known === undefined || levelCost(scaleDown) > levelCost(known)) slowest.set(scaleDown.level, scaleDown);
  }
  return [...slowest.values()].toSorted((a, b) => a.level - b.level);
};

/**
 * The way until KCM is scaled down, each level as slow as it may be; undefined for a configuration that does not scale it down. The
 * rules are those of the prober's `flow.ts` and `threshold.ts`.
 */
export const raceAgainstGrace = (settings: ProberSettings): readonly RaceStep[] | undefined => {
  const manager = named(settings, kubeControllerManager)?.scaleDown;
  if (manager === undefined) return undefined;
  const { initialDelayMs: delayMs, level } = manager;
  let at = limitOfGrace * settings.nodeMonitorGraceMs;
  const steps: RaceStep[] = [{ at, text: `threshold at ${seconds(at)}` }];
  const add = (ms: number, text: string): void => {
    at += ms;
    steps.push({ at, text });
  };
  add(lookMs, `look within ${seconds(lookMs)}`);
  for (const info of levelsBefore(settings, level)) add(levelCost(info), inWords(info));
  const delay = delayMs > 0 ? ` after ${seconds(delayMs)} initialDelay` : '';
  add(delayMs, `level ${String(level)}: ${kubeControllerManager}${delay} at ${seconds(at + delayMs)}`);
  return steps;
};

/** What operators decide alone, and no pod can make shorter: initial delays. */
const delaysOnTheWay = (settings: ProberSettings, manager: ScaleInfo): number =>
  levelsBefore(settings, manager.level).reduce((sum, { level }) => sum + longestDelay(settings, level), 0) +
  manager.initialDelayMs;

const longestDelay = ({ dependentResources }: ProberSettings, wanted: number): number =>
  Math.max(
    0,
    ...dependentResources.map(({ scaleDown }) => (scaleDown?.level === wanted ? scaleDown.initialDelayMs : 0)),
  );

const raceWarnings = (settings: ProberSettings): readonly string[] => {
  const manager = named(settings, kubeControllerManager)?.scaleDown;
  const steps = raceAgainstGrace(settings);
  const graceMs = settings.nodeMonitorGraceMs;
  if (steps === undefined || manager === undefined || (steps.at(-1)?.at ?? 0) < graceMs) return [];
  const sum = `${steps.map(({ text }) => text).join(', ')}: KCM acts at ${seconds(graceMs)}`;
  const isHopeless = limitOfGrace * graceMs + delaysOnTheWay(settings, manager) >= graceMs;
  return [
    isHopeless
      ? `scaling down cannot win: ${sum}`
      : `scaling down may come too late when pods are slow to stop: ${sum}`,
  ];
};

const managerWarnings = (settings: ProberSettings): readonly string[] => {
  const [kcm, mcm] = [named(settings, kubeControllerManager), named(settings, machineControllerManager)];
  const warnings: string[] = [];
  if (kcm?.scaleDown === undefined) {
    warnings.push(
      `no resource named ${kubeControllerManager} is scaled down: nothing stops KCM from giving up the nodes`,
    );
  }
  if (mcm?.scaleDown === undefined) {
    warnings.push(
      `no resource named ${machineControllerManager} is scaled down: nothing stops MCM from replacing machines of nodes that were given up`,
    );
  }
  if (kcm !== undefined && mcm !== undefined && mcm.scaleUp.level <= kcm.scaleUp.level) {
    warnings.push(
      `${machineControllerManager} is restored in level ${String(mcm.scaleUp.level)}, not after ${kubeControllerManager} in level ${String(kcm.scaleUp.level)}: it may replace machines before KCM has seen their nodes again`,
    );
  }
  return warnings;
};

const intervalWarnings = (settings: ProberSettings): readonly string[] => {
  const { probeIntervalMs, backoffJitterFactor, nodeMonitorGraceMs } = settings;
  const longestMs = probeIntervalMs * (1 + backoffJitterFactor);
  if (longestMs < nodeMonitorGraceMs) return [];
  return [
    `after a probe that fails the next one comes up to ${seconds(longestMs)} later (probeInterval ${seconds(probeIntervalMs)} x ${String(1 + backoffJitterFactor)}): KCM acts at ${seconds(nodeMonitorGraceMs)}`,
  ];
};

const kindWarnings = ({ dependentResources }: ProberSettings): readonly string[] => {
  const { byRef } = rehearsedKinds(dependentResources);
  const others = dependentResources.map(({ ref }) => refKey(ref)).filter((key) => !byRef.has(key));
  return others.map((key) => `${key} cannot be scaled: its kind has no scale subresource`);
};

const pathWarnings = ({ outsidePath }: ProberSettings): readonly string[] =>
  outsidePath?.mode === 'confirm'
    ? ['externalProbe.mode confirm: nodes that are cut off on their own side (--fault nat) are not protected']
    : [];

const nodeWarnings = (nodes: number): readonly string[] =>
  nodes < 2 ? ['a shoot with one node is never protected: one silent node proves nothing about the path'] : [];

/** What speaks against a configuration, from its numbers alone. */
export const analyse = (settings: ProberSettings, { nodes }: { readonly nodes: number }): readonly string[] => [
  ...raceWarnings(settings),
  ...managerWarnings(settings),
  ...intervalWarnings(settings),
  ...kindWarnings(settings),
  ...pathWarnings(settings),
  ...nodeWarnings(nodes),
];
