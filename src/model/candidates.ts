import type { Model } from './model.ts';
import type { ProtocolName } from './protocol.ts';

/** Work of a turn that can have models of its own: a summary of the conversation, and a loop of a tool's. */
export const SIDE_WORK = ['summary', 'subagent'] as const;
export type SideWork = (typeof SIDE_WORK)[number];

/** Models that may answer, best first. */
export type Candidates = readonly [Model, ...Model[]];

/** Models of one protocol that follow each other: the agent asks for them in one request. */
export type ProtocolRun = {
  readonly protocol: ProtocolName;
  /** The name of the first, which the request is for. */
  readonly model: string;
  /** The longest answer, in tokens; absent where the server's own limit counts. */
  readonly answerTokens?: number;
};

/**
 * Cuts candidates into runs of one protocol each. Where no model of a run answers, the agent asks again, in the
 * protocol of the next.
 */
export function runsOf(models: Candidates): readonly [ProtocolRun, ...ProtocolRun[]] {
  const runs: ProtocolRun[] = [];
  for (const { protocol, name, answerTokens } of models) {
    if (runs.at(-1)?.protocol === protocol.name) continue;
    const limit = answerTokens === null ? {} : { answerTokens };
    runs.push({ protocol: protocol.name, model: name, ...limit });
  }
  const [first, ...others] = runs;
  if (first === undefined) throw new TypeError('A turn has at least one model.');
  return [first, ...others];
}

/** The models of one run, and whether another run follows it. */
export type ModelsOfRun = { readonly models: Candidates; readonly isLast: boolean };

/** Returns the models of a run, counted from 0; null if there is none. */
export function modelsOfRun(models: Candidates, run: number): ModelsOfRun | null {
  let at = -1;
  let protocol: ProtocolName | null = null;
  const found: Model[] = [];
  for (const model of models) {
    if (model.protocol.name !== protocol) at += 1;
    protocol = model.protocol.name;
    if (at === run) found.push(model);
  }
  const [first, ...others] = found;
  return first === undefined ? null : { models: [first, ...others], isLast: at === run };
}
