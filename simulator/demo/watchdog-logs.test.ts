import { expect, it } from 'vitest';
import { readLogLine } from './watchdog-logs.ts';

it.each<[line: string, entry: ReturnType<typeof readLogLine>]>([
  [
    '{"namespace":"a","verdict":"unhealthy","reason":"3/5","msg":"verdict"}',
    { namespace: 'a', msg: 'verdict', verdict: { word: 'unhealthy', reason: '3/5' } },
  ],
  ['{"namespace":"a","msg":"probing"}', { namespace: 'a', msg: 'probing' }],
  ['{"namespace":"a","verdict":"skipped","msg":"x"}', { namespace: 'a', msg: 'x' }],
  ['{"verdict":"skipped","reason":"b"}', undefined],
  ['', undefined],
  ['not JSON', undefined],
  ['{"namespace":"a","verdi', undefined],
  ['null', undefined],
  ['3', undefined],
])('reads %j', (line, entry) => {
  expect(readLogLine(line)).toEqual(entry);
});
