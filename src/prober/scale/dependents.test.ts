import { expect, it } from 'vitest';
import { buildDeployment } from '../../../test/doubles/builders.ts';
import { gardenSettings } from '../../../simulator/harness/settings.ts';
import { createVirtualClock } from '../../../simulator/time/clock.ts';
import { createScriptedClient } from '../../../test/doubles/scripted-client.ts';
import { refKey } from '../../kubernetes/api/resource-ref.ts';
import {
  meltdownProtectionAnnotation as active,
  replicasAnnotation as replicas,
} from '../../annotations/scaling-annotations.ts';
import { Dependents } from './dependents.ts';
import { type ObjectInit, dependent, deployment, objectOf, scalableOf, stateOf } from '../testing/resources.ts';
import { createStaticStore } from '../testing/static-store.ts';

const kcm = deployment('kcm');
const key = refKey(kcm);
const annotations = { [active]: '', [replicas]: '3' };
const settings = { ...gardenSettings, dependentResources: [dependent(kcm)] };

it('held resources are counted by the latest state, from the watch or from our own write', async () => {
  const clock = createVirtualClock();
  const seed = createScriptedClient(clock);
  let seen: ObjectInit | undefined = objectOf(kcm, { replicas: 3, version: 5 });
  const store = createStaticStore(() => seen && scalableOf(seen));
  const source = { served: () => ({ kind: 'served', resource: 'deployments' }) as const, store };
  const dependents = new Dependents('shoot', { seed, settings, dryRun: false, dependents: new Map([[key, source]]) });
  expect(dependents.facts().held).toHaveLength(0);

  const write = { base: stateOf(seen), kind: 'object', annotations, replicas: 0 } as const;
  const { signal } = new AbortController();
  const answer = dependents.send({ kind: 'write', key, write }, { urgent: true, signal, seed });
  seed.waiting[0]!.answer(buildDeployment({ name: 'kcm', replicas: 0, resourceVersion: '6', annotations }));
  await answer;
  expect(dependents.facts().held).toHaveLength(1);

  seen = objectOf(kcm, { replicas: 0, version: 6, annotations });
  expect(dependents.facts().held).toHaveLength(1);
  seen = objectOf(kcm, { replicas: 3, version: 7 });
  expect(dependents.facts().held).toHaveLength(0);
  seen = undefined;
  expect(dependents.facts().held).toHaveLength(0);
  expect(dependents.facts().missing).toEqual([{ kind: 'Deployment', name: 'kcm' }]);
});
