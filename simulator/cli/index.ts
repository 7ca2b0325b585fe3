// The entry of dist/simulator.js: what `dwd demo` and `dwd rehearse` do.
export { runDemo } from './demo.ts';
export { runRehearse } from './rehearse.ts';
