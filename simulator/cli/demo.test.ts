import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { weederConfig } from '../../src/weeder/config.ts';
import { demoWeederConfig } from '../demo/setting.ts';

it('configures the weeder as the example file does', () => {
  const example = fileURLToPath(new URL('../../examples/weeder-config.yaml', import.meta.url));
  const settingsIn = (text: string): unknown => weederConfig.load(text, { unknownFields: 'error' }).settings;
  expect(settingsIn(demoWeederConfig)).toBeDefined();
  expect(settingsIn(demoWeederConfig)).toEqual(settingsIn(readFileSync(example, 'utf8')));
});
