import { describe, expect, it } from 'vitest';
import { introduce } from './introduction.ts';
import { runShow, seen, storyOf, untold } from './testing/show.ts';

describe('the demo', () => {
  it('shows what both watchdogs are for within a minute', async () => {
    const show = await runShow();
    expect(seen(show)).toEqual(show.findings.map(() => true));
    expect(show.findings).toHaveLength(9);
    expect(show.lastedMs).toBeLessThan(60_000);
    expect(
      untold(show.lines, [
        'all is up: 20 nodes Ready',
        'the prober has looked at all of them',
        'the weeder watches over their services',
        'alpha    the network between its kubelets and its API server is cut',
        'bravo    its etcd fails',
        'all are down, ',
        'bravo    etcd is mended',
        'the network is repaired',
        'the end',
      ]),
    ).toEqual([]);
    expect(show.lines.join('\n')).not.toMatch(/charlie|Unknown/);
  });

  it.each([1, 2, 3, 4, 5, 6])(
    'keeps every node whatever the phases (seed %i), and never tells more than 80 columns',
    async (seed) => {
      const show = await runShow({ seed });
      const { lines } = show;
      // Whether KCM's earliest moment was met as well is a matter of phases; that no node was lost is not.
      expect(seen(show).slice(1)).toEqual(show.findings.slice(1).map(() => true));
      expect(lines.filter((line) => line.length > 80)).toEqual([]);
      expect(lines.every((line) => /^ {0,4}\d{1,3}\.\ds {2}/.test(line))).toBe(true);
    },
  );

  it('tells each shoot only what concerns it', async () => {
    const { lines } = await runShow();
    expect(storyOf(lines, 'alpha').join('\n')).not.toMatch(/etcd|weeder|crash/);
    expect(storyOf(lines, 'bravo').join('\n')).not.toMatch(/lease|annotated|network/);
    expect(storyOf(lines, 'twin').join('\n')).not.toMatch(/deleted/);
  });
});

describe('the introduction', () => {
  it('says in at most 80 columns what will be seen, how the times were shortened, and where the logs are', () => {
    const init = {
      seedKubeconfig: '/tmp/d/seed.kubeconfig',
      shootKubeconfigs: ['/tmp/d/alpha.kubeconfig'],
      quietCluster: 'shoot--sim--charlie',
      careConfig: '/tmp/d/care.yaml',
    };
    const text = introduce({ ...init, proberLog: '/tmp/d-prober.log', weederLog: '/tmp/d-weeder.log' });
    expect(text.filter((line) => line.length > 80)).toEqual([]);
    const whole = text.join('\n');
    const words = text.join(' ');
    for (const part of [
      '  /tmp/d/alpha.kubeconfig',
      '/tmp/d-prober.log',
      '/tmp/d-weeder.log',
      'probeInterval: 2s',
      '  etcd-main-client:',
      '  bin/dwd care --once --config-file=/tmp/d/care.yaml',
    ]) {
      expect(whole).toContain(part);
    }
    for (const part of [
      'renews its lease every 5s (really 10s)',
      'Pods live 20 times as fast',
      'at last 15s (really 5m)',
      'Nobody protects twin',
    ]) {
      expect(words).toContain(part);
    }
    const without = introduce(init).join('\n');
    expect(without).toContain('--without-prober');
    expect(without).toContain('--without-weeder');
    expect(without).not.toMatch(/probeInterval|podSelectors/);
  });
});
