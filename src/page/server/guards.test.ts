import { describe, expect, it } from 'vitest';
import { isExpectedHost, isSameOrigin } from './guards.ts';

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

describe('the Origin header', () => {
  it.each([
    ['http://localhost:1', 'localhost:1', true],
    ['http://localhost:2', 'localhost:1', false],
    ['http://evil.example', 'localhost:1', false],
    ['null', 'localhost:1', false],
    [undefined, 'localhost:1', false],
    ['http://undefined', undefined, false],
  ])('%s, of a page at %s: same %s', (origin, host, same) => {
    expect(isSameOrigin(origin, host)).toBe(same);
  });
});
