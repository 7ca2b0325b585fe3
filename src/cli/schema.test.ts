import { describe, expect, it } from 'vitest';
import { dwd } from './testing/dwd.ts';

it('dwd schema prints the JSON Schema of a component', async () => {
  const { code, stdout, stderr } = await dwd('schema', '--component', 'prober');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toMatchObject({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    required: ['dependentResourceInfos'],
    else: { required: ['kubeConfigSecretName'] },
    additionalProperties: false,
    properties: { probeInterval: { default: '10s' } },
  });
  expect(stdout.endsWith('}\n')).toBe(true);
});
