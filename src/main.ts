import { spawn } from 'node:child_process';
import { loadSimulator, runCli, runProcess } from './cli/index.ts';

/** Bundle of the simulator, beside this one. */
const simulator = new URL('simulator.js', import.meta.url);
/** Directory of the page's files, for the browser. */
const page = new URL('page/', import.meta.url);

// Without a listener, Node starts its debugger on SIGUSR1.
process.on('SIGUSR1', () => undefined);

await runProcess(
  process,
  (program, args) => {
    const child = spawn(program, args, { stdio: 'ignore', detached: true });
    child.on('error', () => undefined).unref();
  },
  (io) =>
    runCli(io, {
      // Modules are loaded on demand: `dwd help` needs no Kubernetes client.
      runProber: async (deps) => {
        const [{ proberComponent }, { runComponent }] = await Promise.all([
          import('./prober/index.ts'),
          import('./process/index.ts'),
        ]);
        const component = proberComponent(deps);
        const { pageBindAddress: address } = deps;
        if (address === undefined) return runComponent(component, deps);
        const { pageServers } = await import('./page/server/index.ts');
        return runComponent(component, {
          ...deps,
          servers: pageServers({ address, directory: page }),
        });
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
        once: async (deps) => (await import('./care/index.ts')).runCareOnce(deps),
      },
      runPreflight: async (run) => (await import('./preflight/index.ts')).runPreflight(run),
      runStatus: async (run) => (await import('./status/index.ts')).readStatus(run),
      runPage: async (run) => (await import('./status/index.ts')).forwardPage(run),
      runPause: async (run) => (await import('./steer/index.ts')).runPause(run),
      runResume: async (run) => (await import('./steer/index.ts')).runResume(run),
      runRelease: async (run) => (await import('./steer/index.ts')).runRelease(run),
      runRehearse: async (...run) => (await loadSimulator(simulator)).runRehearse(...run),
      runDemo: async (...run) => (await loadSimulator(simulator)).runDemo(...run),
    }),
);
