import { readFileSync } from 'node:fs';

/** One instruction of a Dockerfile: `COPY`, `--from=build /tree/ /`. */
export interface Instruction {
  readonly keyword: string;
  readonly content: string;
}

/** Reads the instructions of deploy/image/Dockerfile, without comments, with continued lines joined. Heredocs and the escape directive are not supported. */
export const readDockerfile = (): readonly Instruction[] =>
  readFileSync(new URL('../../deploy/image/Dockerfile', import.meta.url), 'utf8')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, keyword = '', content = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
      if (keyword === '') throw new Error(`no instruction of a Dockerfile: ${line}`);
      return { keyword, content };
    });

/** The part of an image's configuration that concerns its processes. */
export interface ImageConfig {
  readonly env: Readonly<Record<string, string>>;
  /** `uid:gid` */
  readonly user: string;
  readonly entrypoint: readonly string[];
}

/** Reads the configuration of the last stage, whose image is shipped. */
export const readImageConfig = (): ImageConfig => {
  const instructions = readDockerfile();
  const shipped = instructions.slice(instructions.findLastIndex(({ keyword }) => keyword === 'FROM'));
  const of = (wanted: string): readonly string[] =>
    shipped.filter(({ keyword }) => keyword === wanted).map(({ content }) => content);
  return {
    env: Object.fromEntries(of('ENV').map((line) => line.split(/=(.*)/s, 2) as [string, string])),
    user: of('USER').at(-1) ?? '0:0',
    entrypoint: JSON.parse(of('ENTRYPOINT').at(-1) ?? '[]') as string[],
  };
};
