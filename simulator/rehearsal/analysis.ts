import { type DependentResource, type ProberSettings, adviceOn } from '../../src/prober/index.ts';
import { worldSourceOf } from '../harness/index.ts';
import { kubeControllerManager, machineControllerManager } from '../world/index.ts';
import { componentOf } from './components.ts';

const named = ({ dependentResources }: ProberSettings, name: string): DependentResource | undefined =>
  dependentResources.find(({ ref }) => componentOf(ref.name) === name);

const managerWarnings = (settings: ProberSettings): readonly string[] => {
  const [kcm, mcm] = [named(settings, kubeControllerManager), named(settings, machineControllerManager)];
  const warnings: string[] = [];
  if (kcm?.scaleDown === undefined) {
    warnings.push(
      `no resource named ${kubeControllerManager} is scaled down: nothing stops KCM from giving up the nodes`,
    );
  }
  // Outside Gardener, the name of the controller that replaces machines is not known.
  if (mcm?.scaleDown === undefined && worldSourceOf(settings) === 'gardener') {
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

const nodeWarnings = (nodes: number): readonly string[] =>
  nodes < 2 ? ['a shoot with one node is never protected: one silent node proves nothing about the path'] : [];

/** Returns the weaknesses of a configuration that its settings alone show. */
export const analyse = (settings: ProberSettings, { nodes }: { readonly nodes: number }): readonly string[] => [
  ...adviceOn(settings).map(({ text }) => text),
  ...managerWarnings(settings),
  ...nodeWarnings(nodes),
];
