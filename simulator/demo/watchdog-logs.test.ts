import { expect, it } from 'vitest';
import { weededNamespaceIn } from './watchdog-logs.ts';

it.each([
  ['{"namespace":"a","msg":"weeding starts: the service is ready"}', 'a'],
  ['{"namespace":"a","msg":"something else"}', undefined],
  ['{"namespace":"a","msg":"weeding', undefined],
  ['null', undefined],
])('of %s it reads %s', (line, namespace) => {
  expect(weededNamespaceIn(line)).toBe(namespace);
});
