import type { ExternalProbeMode, ExternalProbeSettings } from '../../src/prober/index.ts';
import { simKinds } from '../apiserver/index.ts';
import { secretObject } from '../world/index.ts';
import { type Scenario, type ScenarioOptions, createScenario } from './scenario.ts';

const externalSecretName = 'outside-kubeconfig';

/** Settings of the external probe with the defaults of the configuration. */
export const externalProbe = (
  mode: ExternalProbeMode,
  given: Partial<ExternalProbeSettings> = {},
): ExternalProbeSettings => ({
  kubeConfigSecretName: externalSecretName,
  timeoutMs: 5_000,
  failureThreshold: 3,
  successThreshold: 1,
  mode,
  ...given,
});

/** Puts a Secret with the kubeconfig of a shoot's public address, or with any other text, into the shoot's namespace. */
export const publishExternalKubeconfig = ({ world }: Scenario, name: string, text?: string): void => {
  const { namespace, api } = world.shoot(name);
  const kubeconfig = text ?? api.publicAddress.kubeconfig();
  world.store.put(simKinds.Secret, secretObject({ namespace, name: externalSecretName }, kubeconfig));
};

/** Creates a seed whose shoots all have an external probe. */
export const createExternalProbeScenario = (mode: ExternalProbeMode, options: ScenarioOptions): Scenario => {
  const scenario = createScenario({
    ...options,
    settings: { externalProbe: externalProbe(mode), ...options.settings },
  });
  for (const { name } of scenario.world.shoots) publishExternalKubeconfig(scenario, name);
  return scenario;
};

/** Simulates a failure of the load balancer: neither kubelets nor the external probe reach the API server. */
export const cutLoadBalancer = (
  { world }: Scenario,
  name: string,
  reachability: 'refused' | 'silent' = 'silent',
): void => {
  world.shoot(name).cutKubelets();
  world.shoot(name).api.publicAddress.setReachability(reachability);
};

export const mendLoadBalancer = ({ world }: Scenario, name: string): void => {
  world.shoot(name).restoreKubelets();
  world.shoot(name).api.publicAddress.setReachability('open');
};

/** Log lines of the external probe, except those of level debug. */
export const externalProbeLogLines = ({ log }: Scenario): readonly string[] =>
  log
    .filter(({ level, msg }) => level !== 'debug' && msg.includes('external probe'))
    .map(({ level, msg, namespace = '', state = '' }) =>
      `${level} ${msg} ${String(namespace)} ${String(state)}`.trim(),
    );

/** Value of a metric series, such as `dwd_x{namespace="a"}`; undefined if it does not exist. */
export const metricOf = async (scenario: Scenario, series: string): Promise<number | undefined> => {
  const line = (await scenario.meter().metricsText()).split('\n').find((text) => text.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
};
