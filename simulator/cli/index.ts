// Entry of dist/simulator.js: the implementations of `dwd demo` and `dwd rehearse`.
export { runDemo } from './demo.ts';
export { runRehearse } from './rehearse.ts';
