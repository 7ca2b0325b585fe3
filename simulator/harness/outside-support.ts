import type { ExternalProbeMode, ExternalProbeSettings } from '../../src/prober/index.ts';
import { simKinds } from '../apiserver/index.ts';
import { type Scenario, type ScenarioOptions, createScenario } from './harness.ts';

// What the tests of the outside path share.

export const outsideSecretName = 'outside-kubeconfig';

/** With the defaults of the configuration. */
export const externalProbe = (
  mode: ExternalProbeMode,
  given: Partial<ExternalProbeSettings> = {},
): ExternalProbeSettings => ({
  kubeConfigSecretName: outsideSecretName,
  timeoutMs: 5_000,
  failureThreshold: 3,
  successThreshold: 1,
  mode,
  ...given,
});

/** Puts the kubeconfig of its public way, or any other text, into a shoot's namespace. */
export const publishOutside = ({ world }: Scenario, name: string, text?: string): void => {
  const shoot = world.shoot(name);
  const kubeconfig = text ?? shoot.api.publicWay.kubeconfig();
  world.store.put(simKinds.Secret, shoot.secretObject(shoot.nameOf(outsideSecretName), kubeconfig));
};

/** A seed whose shoots all have an outside path. */
export const createOutsideScenario = (mode: ExternalProbeMode, options: ScenarioOptions): Scenario => {
  const scenario = createScenario({
    ...options,
    settings: { externalProbe: externalProbe(mode), ...options.settings },
  });
  for (const { name } of scenario.world.shoots) publishOutside(scenario, name);
  return scenario;
};

/** As when the load balancer fails: neither kubelets nor we get through. */
export const cutLoadBalancer = (
  { world }: Scenario,
  name: string,
  reachability: 'refused' | 'silent' = 'silent',
): void => {
  world.shoot(name).cutKubelets();
  world.shoot(name).api.publicWay.setReachability(reachability);
};

export const mendLoadBalancer = ({ world }: Scenario, name: string): void => {
  world.shoot(name).restoreKubelets();
  world.shoot(name).api.publicWay.setReachability('open');
};

/** Lines of the log about outside paths, without those for debugging. */
export const toldOfPaths = ({ log }: Scenario): readonly string[] =>
  log
    .filter(({ level, msg }) => level !== 'debug' && msg.includes('outside path'))
    .map(({ level, msg, namespace = '', state = '' }) =>
      `${level} ${msg} ${String(namespace)} ${String(state)}`.trim(),
    );

/** A series of the metrics, such as `dwd_x{namespace="a"}`, or undefined where there is none. */
export const metricOf = async (scenario: Scenario, series: string): Promise<number | undefined> => {
  const line = (await scenario.meter().metricsText()).split('\n').find((text) => text.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
};
