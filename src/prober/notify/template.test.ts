import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { Notification } from './notification.ts';
import { parseTemplate } from './template.ts';

const notification: Notification = {
  schemaVersion: 1,
  kind: 'ShootStateChanged',
  id: 'shoot--dev--one/protected/2026-01-01T00:00:00.000Z',
  at: '2026-01-01T00:00:00.000Z',
  namespace: 'shoot--dev--one',
  project: 'dev',
  name: 'one',
  before: 'healthy',
  state: 'protected',
  reason: '12/12 "leases"\nexpired \\',
  next: 'held',
  held: [
    { kind: 'Deployment', name: 'kcm', replicas: 2 },
    { kind: 'Deployment', name: 'mcm', replicas: 1 },
  ],
};

const rendered = (template: string): unknown => {
  const parsed = parseTemplate(template);
  if (!parsed.ok) throw new Error(parsed.error);
  return JSON.parse(parsed.value(notification));
};

it('inserts fields so that the result is JSON with the same texts', () => {
  const template =
    '{"a": "{{shoot}}: {{before}} -> {{ state }}", "b": ["{{reason}}"], "c": "{{held}} {{namespace}} {{id}}"}';
  expect(rendered(template)).toEqual({
    a: 'dev/one: healthy -> protected',
    b: ['12/12 "leases"\nexpired \\'],
    c: `kcm 2, mcm 1 shoot--dev--one ${notification.id}`,
  });
});

it('lets no text mention everybody, or hide the target of a link', () => {
  const parsed = parseTemplate('{"a": "<b> {{reason}}"}');
  if (!parsed.ok) throw new Error(parsed.error);
  const reason = '<!channel> <https://evil.example|here> [here](https://evil.example)';
  expect(JSON.parse(parsed.value({ ...notification, reason }))).toEqual({
    a: '<b> ‹!channel› ‹https://evil.example|here› [here] (https://evil.example)',
  });
});

it.each([
  ['{"a": "{{shot}}"}', /^there is no field "shot"; known: id, at, namespace, shoot/],
  ['{"a": {{shoot}}}', /^it is no JSON once the fields are put in/],
  ['{"a": ', /^it is no JSON/],
])('refuses %s', (template, problem) => {
  expect(parseTemplate(template)).toEqual({ ok: false, error: expect.stringMatching(problem) as string });
});

it.each(['notify-slack.json', 'notify-teams.json'])('accepts the example %s', (name) => {
  const text = readFileSync(new URL(`../../../examples/${name}`, import.meta.url), 'utf8');
  expect(JSON.stringify(rendered(text))).toContain('dev/one');
});
