import type { Result } from '../../kubernetes/api/errors.ts';
import type { Notification } from './notification.ts';

/** Formats a notification as the body of a POST. */
export type Render = (notification: Notification) => string;

export const renderJson: Render = (notification) => JSON.stringify(notification);

const heldInWords = ({ held }: Notification): string =>
  held.length === 0 ? '-' : held.map(({ name, replicas }) => `${name} ${String(replicas)}`).join(', ');

/** Defuses markup, because a reason may contain text of a shoot's API server: no mention of everybody in Slack (`<!channel>`), no link under another name. */
const inert = (text: string): string => text.replaceAll('<', '‹').replaceAll('>', '›').replaceAll('](', '] (');

/** Returns the fields that a template may name. */
const fieldsOf = (notification: Notification): Readonly<Record<string, string>> => {
  const { id, at, namespace, project, name, before, state, reason, next } = notification;
  const shoot = project === undefined ? name : `${project}/${name}`;
  return { id, at, namespace, shoot, before, state, reason, next, held: heldInWords(notification) };
};

/** A notification whose texts break the JSON unless they are escaped. */
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

/** Parses a template: JSON whose texts name fields, such as `{"text": "{{shoot}} is {{state}}"}`. Fields are escaped, so that the result stays JSON. */
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
