import type { Result } from '../../kubernetes/api/errors.ts';
import type { Notification } from './notification.ts';

/** A notification as the body of a POST. */
export type Render = (notification: Notification) => string;

export const renderJson: Render = (notification) => JSON.stringify(notification);

const heldInWords = ({ held }: Notification): string =>
  held.length === 0 ? '-' : held.map(({ name, replicas }) => `${name} ${String(replicas)}`).join(', ');

/** A reason may have words of a shoot's API server in it: no mention of everybody in Slack (`<!channel>`), no link with another name. */
const inert = (text: string): string => text.replaceAll('<', '‹').replaceAll('>', '›').replaceAll('](', '] (');

/** What a template may name. */
const fieldsOf = (notification: Notification): Readonly<Record<string, string>> => {
  const { id, at, namespace, project, name, before, state, reason, next } = notification;
  const shoot = project === undefined ? name : `${project}/${name}`;
  return { id, at, namespace, shoot, before, state, reason, next, held: heldInWords(notification) };
};

/** With what would break JSON that is put together wrongly. */
const sample: Notification = {
  schemaVersion: 1,
  kind: 'ShootStateChanged',
  id: '"',
  at: '"',
  namespace: '"',
  name: '"\\',
  before: 'healthy',
  state: 'protected',
  reason: '"\n',
  next: '"',
  held: [{ kind: '"', name: '"', replicas: 1 }],
};

const place = /\{\{([^{}]*)\}\}/g;

/** A template is JSON whose texts name fields, such as `{"text": "{{shoot}} is {{state}}"}`. Fields are put in so that it stays JSON. */
export const parseTemplate = (template: string): Result<Render, string> => {
  const known = Object.keys(fieldsOf(sample));
  const unknown = Array.from(template.matchAll(place), ([, name = '']) => name.trim()).find(
    (name) => !known.includes(name),
  );
  if (unknown !== undefined) {
    return { ok: false, error: `there is no field ${JSON.stringify(unknown)}; known: ${known.join(', ')}` };
  }
  const render: Render = (notification) => {
    const fields = fieldsOf(notification);
    return template.replaceAll(place, (_, name: string) =>
      JSON.stringify(inert(fields[name.trim()] ?? '')).slice(1, -1),
    );
  };
  try {
    JSON.parse(render(sample));
  } catch {
    return { ok: false, error: 'it is no JSON once the fields are put in: they belong between quotes' };
  }
  return { ok: true, value: render };
};
