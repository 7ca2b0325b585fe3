export { manyRuns, type Mutation, mutate, mutations } from './mutations.ts';
export { createTestCertificates, type TestCertificates } from './certificates.ts';
export { createFakeClock, type FakeClock } from './fake-clock.ts';
export { createRecordingLogger, type LogLine, type RecordingLogger } from './recording-logger.ts';
export { createRecordingMeter, type RecordingMeter } from './recording-meter.ts';
export { createScriptedClient, type ScriptedCall, type ScriptedClient } from './scripted-client.ts';
export { createScriptedKube, type ScriptedExchange, type ScriptedKube, type ScriptedStream } from './scripted-kube.ts';
export { startTcpServer, startTestServer, type TestServer, type TestServerOptions } from './test-server.ts';
export {
  type ConditionOptions,
  type MetaOptions,
  type ShootOptions,
  buildCluster,
  buildDeployment,
  buildLease,
  buildMachine,
  buildNode,
  buildShoot,
  microTime,
} from './builders.ts';
export { type ContractCase, contractCases } from './contract/index.ts';
export { type BrokenBodiesOptions, withBrokenBodies } from './broken-bodies.ts';
export { createSeededRandom, createSimApiServer, type SeededRandom, simKinds, withFaults } from '../sim/index.ts';
