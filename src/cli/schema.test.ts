import { expect, it } from 'vitest';
import { proberConfig } from '../prober/config/config.ts';
import { dwd } from './testing/dwd.ts';

it('dwd schema prints the JSON Schema of a component', async () => {
  const { code, stdout, stderr } = await dwd('schema', '--component', 'prober');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toEqual(proberConfig.jsonSchema());
  expect(stdout.endsWith('}\n')).toBe(true);
});
