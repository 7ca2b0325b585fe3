import { loadSimulator, runCli, runProcess } from './cli/index.ts';

/** The simulator is a bundle of its own, beside this one. */
const simulator = new URL('simulator.js', import.meta.url);

// Without a listener, Node opens its debugger.
process.on('SIGUSR1', () => undefined);

await runProcess(
  {
    argv: process.argv.slice(2),
    env: process.env,
    version: process.version,
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    isAttended: process.stderr.isTTY,
    ...(process.stdin.isTTY && process.stdout.isTTY
      ? { terminal: { keys: process.stdin, screen: process.stdout } }
      : {}),
    onSignal: (name, listener) => void process.on(name, listener),
    onCrash: (listener) => {
      process.on('uncaughtException', (error) => listener('uncaught exception', error));
      process.on('unhandledRejection', (error) => listener('unhandled rejection', error));
    },
    exit: (code) => process.exit(code),
  },
  (io) =>
    runCli(io, {
      // Loaded when it is needed: `dwd help` has no use for a Kubernetes client.
      runProber: async (deps) => {
        const [{ proberComponent }, { runComponent }] = await Promise.all([
          import('./prober/index.ts'),
          import('./process/index.ts'),
        ]);
        return runComponent(proberComponent, deps);
      },
      runWeeder: async (deps) => {
        const [{ weederComponent }, { runComponent }] = await Promise.all([
          import('./weeder/index.ts'),
          import('./process/index.ts'),
        ]);
        return runComponent(weederComponent, deps);
      },
      runCare: {
        process: async (deps) => {
          const { runCareProcess } = await import('./care/index.ts');
          return runCareProcess(deps);
        },
        round: async (deps) => (await import('./care/index.ts')).runCareRound(deps),
      },
      runInstall: async (run) => (await import('./install/index.ts')).runInstall(run),
      runUninstall: async (run) => (await import('./install/index.ts')).runUninstall(run),
      runRehearse: async (...run) => (await loadSimulator(simulator)).runRehearse(...run),
      runDemo: async (...run) => (await loadSimulator(simulator)).runDemo(...run),
    }),
);
