import { z } from 'zod';
import { discoverExports } from '../../lib/discover.ts';
import type { PoolModel } from '../../lib/pipeline/calls.ts';

/** Kinds of work that a model may be better or worse at. */
export const TASK_TYPES = [
  'Chat',
  'CodeGeneration',
  'CodeReview',
  'Research',
  'Creative',
  'Analysis',
  'ToolUse',
  'Unknown',
] as const;
export type TaskType = (typeof TASK_TYPES)[number];

/** A turn's request, as far as its kind can be told by it. */
export type WorkRequest = {
  /** The last message, or the words of the task. */
  readonly text: string;
  /** The kinds of the files that came with it, such as `photo`. */
  readonly files: readonly string[];
  readonly hasPictures: boolean;
  readonly isTask: boolean;
  /** Names of the tools that the turn before this one called. */
  readonly toolsBefore: readonly string[];
};

/** The kind of a turn's work, and how hard it is: from 0 to 1. */
export type TaskProfile = { readonly type: TaskType; readonly complexity: number };

/** Somebody's explicit feedback on an answer. */
export type LearningSignal = {
  readonly feedbackType: 'reaction' | 'command';
  /** From -1, bad, to 1, good. */
  readonly value: number;
};

/** A turn that is over: what it was, who answered, what it cost, and what people said of it. */
export type Trajectory = TaskProfile & {
  readonly model: string;
  /** As the record of turns has it: `answered`, `failed` or `gave_up`. */
  readonly state: string;
  /** Null without a known price. */
  readonly costUsd: number | null;
  readonly decidedAt: number;
  readonly signals: readonly LearningSignal[];
  /** Whether the answer has the shape that was asked for; null where none was, or nothing is known. */
  readonly fitsShape: boolean | null;
  /** Calls of tools in the turn, and how many of them failed. */
  readonly toolCalls: number;
  readonly toolFailures: number;
};

/** A trajectory and its score: from 0 to 1, or null where nothing tells. */
export type Scored = { readonly trajectory: Trajectory; readonly reward: number | null };

/** Knowledge about one model at one type of work. */
export type Evidence = {
  readonly model: string;
  readonly turns: number;
  readonly rated: number;
  /** The sum of the scores of those that were rated. */
  readonly good: number;
  /** Turns that nobody rated and that have a score all the same, and the sum of these scores. */
  readonly checked?: number;
  readonly passed?: number;
  /** The mean of a turn; null without a known price. */
  readonly costUsd: number | null;
};

/** All that a choice among the models of a pool depends on. */
export type Choice = {
  readonly profile: TaskProfile;
  readonly hasPictures: boolean;
  /** Best first, by the pool. */
  readonly models: readonly PoolModel[];
  readonly evidence: readonly Evidence[];
  /** The worth of a good answer, in dollars. */
  readonly worthUsd: number;
  /** Draws from 0 to 1. */
  readonly random: () => number;
};

/** The model to ask first, and why, in words for the owner. */
export type Decision = { readonly first: string; readonly why: string };

/** The work of each stage. Only `classify` may wait for something. */
export type StageWork = {
  /** Tells the kind of work. One for a type is asked once the default has said this type. */
  classify(request: WorkRequest): TaskProfile | Promise<TaskProfile>;
  /** Chooses the model that is asked first; the others stand in for it in the pool's order. */
  route(choice: Choice): Decision;
  /** Says how large a window the host's assembly of the context may fill; empty for the pool's. */
  assemble(profile: TaskProfile, model: PoolModel): { readonly contextTokens?: number };
  /** Says how the host's proxy asks a model; empty for the pool's way. */
  transport(
    profile: TaskProfile,
    model: PoolModel,
  ): { readonly maxTokens?: number; readonly headers?: Readonly<Record<string, string>> };
  /** Scores a turn from 0 to 1; null where nothing tells. */
  score(trajectory: Trajectory): number | null;
  /** Makes knowledge of the turns of one type, newest first. */
  learn(turns: readonly Scored[]): readonly Evidence[];
};
export type StageKind = keyof StageWork;

/** The export `stage` of a file in `src/services/pipeline/stages/`. */
export type Stage<Kind extends StageKind = StageKind> = {
  /** Unique among the stages. */
  readonly name: string;
  readonly stage: Kind;
  /** The types of work that it is for; without them it is the default, of which there is one for each stage. */
  readonly for?: readonly TaskType[];
  readonly run: StageWork[Kind];
};

/** Defines a stage of the pipeline. */
export function defineStage<Kind extends StageKind>(stage: Stage<Kind>): Stage<Kind> {
  return stage;
}

const KINDS = ['classify', 'route', 'assemble', 'transport', 'score', 'learn'] as const;

const Shape = z.looseObject({
  name: z.string().min(1),
  stage: z.enum(KINDS),
  for: z.array(z.enum(TASK_TYPES)).min(1).optional(),
  run: z.function(),
});
const Discovered = z.custom<Stage>(
  (value) => Shape.safeParse(value).success,
  'must be made by defineStage({ name, stage, for, run })',
);

/** The stages of a tree. */
export interface Stages {
  /** Returns the stage for a type of work, else the default. */
  of<Kind extends StageKind>(kind: Kind, type: TaskType): StageWork[Kind];
  /** Tells the kind of work: by the default, then by the stage for the type that it has said. */
  profileOf(request: WorkRequest): Promise<TaskProfile>;
}

/** Takes a number of a stage of the owner's as one from 0 to 1; what is none is `otherwise`. */
export function shareOf<T>(value: number | null, otherwise: T): number | T {
  if (value === null || !Number.isFinite(value)) return otherwise;
  return Math.min(1, Math.max(0, value));
}

/** Returns the stages of this tree: of the files that export a `stage`. */
export async function discoverStages(folder = `${import.meta.dirname}/stages`): Promise<Stages> {
  return registryOf(await discoverExports(folder, 'stage', Discovered));
}

/**
 * Orders stages by kind and type.
 *
 * @throws Error where two are for the same, or a default is missing
 */
export function registryOf(stages: readonly Stage[]): Stages {
  const byKey = new Map<string, Stage>();
  for (const stage of stages) {
    for (const type of stage.for ?? ['default']) {
      const key = `${stage.stage} ${type}`;
      const holder = byKey.get(key);
      if (holder !== undefined) {
        throw new Error(
          `The stages ${holder.name} and ${stage.name} are both for ${key}. Take one out.`,
        );
      }
      byKey.set(key, stage);
    }
  }
  const lacking = KINDS.find((kind) => !byKey.has(`${kind} default`));
  if (lacking !== undefined) throw new Error(`The pipeline has no default for ${lacking}.`);
  function runOf<Kind extends StageKind>(kind: Kind, type: TaskType | 'default'): StageWork[Kind] {
    const stage = byKey.get(`${kind} ${type}`) ?? byKey.get(`${kind} default`);
    // The key begins with its kind.
    return (stage as unknown as Stage<Kind>).run;
  }

  return {
    of: runOf,
    async profileOf(request) {
      const first = await runOf('classify', 'default')(request);
      const own = byKey.has(`classify ${first.type}`) ? runOf('classify', first.type) : null;
      const { type, complexity } = own === null ? first : await own(request);
      return { type, complexity: shareOf(complexity, 0.5) };
    },
  };
}
