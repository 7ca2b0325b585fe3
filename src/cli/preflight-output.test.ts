import { describe, expect, it } from 'vitest';
import type { PreflightCheck, PreflightFinding, PreflightReport } from '../preflight/index.ts';
import { formatPreflight } from './preflight-output.ts';

const tableOf = (...checks: readonly PreflightCheck[]): string => formatPreflight({ checks, exitCode: 1 }, 'table');

const secrets = (findings: readonly PreflightFinding[], detail = ''): PreflightCheck => ({
  subject: 'secrets',
  name: 'shoot-access-dependency-watchdog-probe',
  detail,
  findings,
});
const missing = (shoot: string): PreflightFinding => ({ code: 'secret-missing', shoot, detail: 'there is no Secret' });
const longer: PreflightFinding = { code: 'grace-longer', shoot: 'a', detail: 'KCM waits for 50s' };

describe('the table of a preflight', () => {
  it('has one line for each check, and names the two of a thousand shoots that fail', () => {
    const found = ['shoot--dev--seven', 'shoot--dev--nine'].map(missing);
    const rights: PreflightCheck = {
      subject: 'rights',
      name: 'of garden/p',
      detail: '9 of 9 rights granted',
      findings: [],
    };
    const left: PreflightCheck = { subject: 'rights', name: 'of nobody', detail: 'none', findings: [], leftOut: true };
    expect(tableOf(secrets(found, 'usable in 998 of 1000 shoots'), rights, left)).toBe(`rights
  ok        of garden/p: 9 of 9 rights granted
  left out  of nobody: none

secrets
  FAILED    shoot-access-dependency-watchdog-probe: usable in 998 of 1000 shoots
            [secret-missing]

FAILED secret-missing in 2 shoots
  shoot--dev--seven, shoot--dev--nine: there is no Secret
  -> Check kubeConfigSecretName, and the program that creates the Secret; until
  then the shoot is not protected.

3 checks: 1 failed, 1 ok, 1 left out
`);
  });

  it('has the worst findings first, and each failed read once', () => {
    const refused: PreflightFinding = { code: 'read-refused', detail: 'you may not list it' };
    const found = [refused, longer, missing('a'), refused];
    const heads = tableOf(...found.map((finding) => secrets([finding])))
      .split('\n')
      .filter((line) => /^[A-Z]/.test(line));
    expect(heads).toEqual([
      'FAILED secret-missing in 1 shoot',
      'WARNING grace-longer in 1 shoot',
      'UNKNOWN read-refused',
    ]);
  });

  it('names ten of a thousand shoots, and counts the others', () => {
    const all = Array.from({ length: 1_000 }, (_, index) => missing(`s${String(index)}`));
    const text = tableOf(secrets(all));
    expect(text).toContain('  s0, s1, s2, s3, s4, s5, s6, s7, s8, s9 and 990 more: there is no Secret\n');
    const different = all.map((finding, index) => ({ ...finding, detail: `reason ${String(index)}` }));
    const lines = tableOf(secrets(different)).split('\n');
    expect(lines.filter((line) => line.includes(': reason '))).toHaveLength(10);
    expect(lines).toContain('  and 990 more (-o json has all)');
  });

  it('fits into 80 columns', () => {
    const detail = 'words '.repeat(60).trim();
    const wide = tableOf(secrets([{ ...missing(`shoot--${'x'.repeat(40)}`), detail }], detail)).split('\n');
    expect(wide.filter((line) => line.length > 80)).toEqual([]);
  });

  it('escapes control characters that come from a cluster', () => {
    const evil: PreflightFinding = { code: 'cluster-unreadable', shoot: 'a\u001b[2J', detail: 'x\r\u202ey\u009b' };
    const check = { ...secrets([evil]), name: '\u0007n', detail: 'd\n' };
    expect(tableOf(check)).toContain('a\\u001b[2J: x\\u000d\\u202ey\\u009b');
    expect(tableOf(check)).toContain('\\u0007n: d\\u000a');
  });
});

it('prints everything as JSON', () => {
  const report: PreflightReport = { checks: [secrets([longer], 'well')], exitCode: 1 };
  expect(JSON.parse(formatPreflight(report, 'json'))).toEqual({
    exitCode: 1,
    counts: { ok: 0, failed: 0, warning: 1, unknown: 0, 'left out': 0 },
    checks: [
      {
        subject: 'secrets',
        name: 'shoot-access-dependency-watchdog-probe',
        status: 'warning',
        detail: 'well',
        findings: [
          {
            ...longer,
            severity: 'warning',
            todo: expect.stringMatching(/^Set kcmNodeMonitorGraceDuration /) as string,
          },
        ],
      },
    ],
  });
});
