import { describePause } from '../../annotations/pause.ts';
import type { EventRecorder } from '../../telemetry/index.ts';
import { namespaceRef } from '../config/ref-template.ts';
import { type Emit, type EventOf, observer } from './events.ts';
import { flappingIn, writeIn, Told } from './sentences.ts';

export interface KubernetesEventsDeps {
  readonly events: EventRecorder;
  /** True if this process leads. A standby records only its writes without the lead, and leaves the rest to the leader. */
  readonly leads: () => boolean;
  /** Returns the name of the seed, with which each message begins: Events are read where those of many seeds come together. */
  readonly seed?: () => string | undefined;
}

/** Returns the observer that records Kubernetes Events: about a write on the resource, about anything else on the Namespace of the cluster. */
export const recordEvents = ({ events: recorder, leads, seed }: KubernetesEventsDeps): Emit => {
  const events: EventRecorder = {
    record: (event) => {
      const name = seed?.();
      recorder.record(name === undefined ? event : { ...event, message: `Seed ${name}: ${event.message}` });
    },
  };
  const told = new Told();
  const warn = (namespace: string, reason: string, message: string): void =>
    events.record({ regarding: namespaceRef(namespace), type: 'Warning', reason, message });
  const warnAsLeader: typeof warn = (...warning) => {
    if (leads()) warn(...warning);
  };
  return observer({
    'cluster-checked': ({ cluster, problem }) => {
      const isNews = told.isNews(cluster, 'problem', problem);
      if (isNews && problem !== undefined) warnAsLeader(cluster, 'MeltdownProtectionSecretAmbiguous', problem);
    },
    'run-ended': (event) => {
      const flapping = flappingIn(event);
      if (flapping !== undefined) warnAsLeader(event.cluster, 'MeltdownProtectionFlapping', flapping);
    },
    'response-received': (event) => recordWrite(event, events),
    'protecting-without-lead': ({ cluster, why, reason }) =>
      warn(cluster, 'MeltdownProtectionWithoutLead', `protecting without the lead: ${why}; ${reason}`),
    'lack-changed': (event) => {
      if (leads()) recordLack(event, events);
    },
    'pause-changed': (event) => {
      if (leads()) recordPause(event, events);
    },
    'held-back': ({ cluster, pause, reason }) => {
      const message = `Not scaled down because of a pause, ${describePause(pause)}. The verdict: ${reason}`;
      warnAsLeader(cluster, 'MeltdownProtectionHeldBack', message);
    },
    forgotten: ({ cluster }) => told.forget(cluster),
  });
};

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const recordWrite = (event: EventOf<'response-received'>, events: EventRecorder): void => {
  const { cluster, ref, uid } = event;
  const write = writeIn(event);
  if (write === undefined || write.error !== undefined || ref === undefined) return;
  const { effect, act, counts, reason: why, undone } = write;
  const regarding = { namespace: cluster, ...ref, uid };
  if (undone !== undefined) {
    const { message } = undone;
    events.record({ regarding, type: 'Warning', reason: 'MeltdownProtectionForeignChange', message });
  }
  if (effect === undefined) return;
  const isDown = effect === 'down';
  events.record({
    regarding,
    type: isDown ? 'Warning' : 'Normal',
    reason: isDown ? 'MeltdownProtectionScaledDown' : 'MeltdownProtectionScaledUp',
    message: `${capitalize(act)} ${counts ?? ''}: ${why}`,
  });
};

const recordLack = (event: EventOf<'lack-changed'>, events: EventRecorder): void => {
  const regarding = namespaceRef(event.cluster);
  const { lack, former, why, do: what } = event;
  if (lack !== undefined) {
    const isBlind = lack === 'blind';
    const head = isBlind ? 'Blind: the last probes failed' : 'Not protected: an outage would not be met';
    const reason = isBlind ? 'MeltdownProtectionBlind' : 'MeltdownProtectionLacking';
    const message = `${head}: ${why}.${what === '' ? '' : ` To do: ${what}.`}`;
    events.record({ regarding, type: 'Warning', reason, message });
  } else {
    const message = `${former === 'blind' ? 'No longer blind' : 'Protected again'}: ${why}.`;
    events.record({ regarding, type: 'Normal', reason: 'MeltdownProtectionBack', message });
  }
};

const recordPause = ({ cluster, namespace, pause, isFound }: EventOf<'pause-changed'>, events: EventRecorder): void => {
  const regarding = namespaceRef(namespace);
  if (pause === undefined) {
    const message =
      'The pause of meltdown protection is over: an outage is met again, but not on resources with ignore-scaling.';
    events.record({ regarding, type: 'Normal', reason: 'MeltdownProtectionResumed', message });
  } else if (!isFound) {
    // The start of a pause that was found has been recorded by another process, or no process could.
    const whose = cluster === undefined ? 'all shoots are' : 'the shoot is';
    const message = `Meltdown protection is paused, ${whose} not scaled down ${describePause(pause)}`;
    events.record({ regarding, type: 'Warning', reason: 'MeltdownProtectionPaused', message });
  }
};
