import { describe, expect, it } from 'vitest';
import { isExpectedHost } from './guards.ts';

describe('the Host header on loopback', () => {
  it.each(['localhost', 'localhost:9645', '127.0.0.1:1', '[::1]:9645', 'LOCALHOST:9645'])('may be %s', (host) => {
    expect(isExpectedHost('127.0.0.1', host)).toBe(true);
  });

  it.each([
    undefined,
    '',
    'evil.example',
    'localhost.evil.example',
    'evil.example:9645',
    '127.0.0.1.nip.io',
    '10.0.0.1',
    'localhost:9645:1',
  ])('is refused as %s', (host) => {
    expect(isExpectedHost('127.0.0.1', host)).toBe(false);
    expect(isExpectedHost('::1', host)).toBe(false);
    expect(isExpectedHost('localhost', host)).toBe(false);
  });

  it('may be any host if the page is not served on loopback', () => {
    expect(isExpectedHost('', 'seed.example')).toBe(true);
  });
});
