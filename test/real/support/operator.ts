import type { ControlPlane } from '../../envtest/control-plane.ts';
import { proberValues, renderChart } from './helm.ts';

/** Creates a user with the operator's roles of the chart for a configuration of the prober. Returns the path of a kubeconfig. */
export const operatorKubeconfig = async (seed: ControlPlane, config: string, user = 'op'): Promise<string> => {
  const values = { prober: proberValues(config), operator: { enabled: true } };
  const roles = await renderChart({ values, flags: ['--show-only=templates/operator.yaml'] });
  await seed.kubectl(['apply', '-f', '-'], roles);
  const clusterRole = 'dependency-watchdog.gardener.cloud:garden:dwd-operator';
  await seed.kubectl(['create', 'clusterrolebinding', user, `--clusterrole=${clusterRole}`, `--user=${user}`]);
  await seed.kubectl(['create', 'rolebinding', user, '-n', 'garden', '--role=dwd-operator', `--user=${user}`]);
  return (await seed.kubeconfigFor({ user, rules: [] })).file;
};
