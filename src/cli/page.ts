import type { PageRun } from '../status/index.ts';
import { type Command, defineCommand } from './command.ts';
import { integer } from './flag-types.ts';
import { flag } from './parse-flags.ts';
import { sessionOf, statusFlags } from './seed-flags.ts';

export type RunPage = (run: PageRun) => Promise<void>;

const description = `Finds the prober that leads, forwards a port of this machine to its page through the API server (pods/portforward; the chart has the role: operator.enabled), and prints the address. On a desktop it opens the page in the browser. When another replica leads, the same address shows the page of that one. Runs until interrupted.`;

const { namespace, selector, kubeconfig, context, timeoutMs } = statusFlags;

const flags = {
  namespace,
  selector,
  pagePort: flag(
    integer({ min: 1, max: 65_535 }),
    '9645',
    'Port at which the prober serves its page (--page-bind-addr)',
  ),
  localPort: flag(integer({ min: 0, max: 65_535 }), '0', 'Port of this machine; 0: any that is free'),
  kubeconfig,
  context,
  timeoutMs,
} as const;

export const pageCommand = (run: RunPage): Command =>
  defineCommand({
    name: 'page',
    summary: "open the leader's page, through a forwarded port",
    description,
    flags,
    run: async ({ flags: given }, io) => {
      // A browser asks again and again for a page that is away.
      let told = '';
      await run({
        ...given,
        ...sessionOf(io),
        onOpen: (url, whose) => {
          io.stdout(`${url.href} shows the page of ${whose}; Ctrl-C ends that\n`);
          io.openInBrowser?.(url);
        },
        onProblem: (problem) => {
          if (problem !== told) io.stderr(`dwd page: ${problem}\n`);
          told = problem;
        },
      });
      return 0;
    },
  });
