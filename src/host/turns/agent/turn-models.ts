import { type Candidates, SIDE_WORK, type SideWork } from '../../../model/candidates.ts';
import type { ModelFailure } from '../../../model/failure.ts';
import type { CutPrompt } from '../../../model/metering/paying-turn.ts';
import type { Model } from '../../../model/model.ts';
import type { RoutedTurn } from '../../../model/router.ts';
import type { ChooseModels, Route } from '../../../model/routing.ts';
import type { ClockPort, LogPort, StorePort } from '../../contracts/ports.ts';
import type { ModelTroubles } from '../../models/model-troubles.ts';

export type TurnModelsOptions = StorePort &
  ClockPort &
  LogPort & {
    readonly chooseModels: ChooseModels;
    readonly modelTroubles: ModelTroubles;
    /** Tells the owner in their own chat. */
    readonly tellOwner: (text: string) => void;
  };

/** The models of one turn, and what becomes of them. */
export type TurnModels = {
  readonly models: Candidates;
  readonly sideModels: Readonly<Partial<Record<SideWork, Candidates>>>;
  passedOver(model: Model, failure: ModelFailure): void;
  answered(model: Model): void;
  promptCut(model: Model, cut: CutPrompt): void;
  /** Returns lines that the chat gets before the answer. */
  notices(): Promise<readonly string[]>;
};

/** Chooses the models of a turn, and those for its work aside. @returns a sentence where none can be asked */
export async function chooseTurnModels(
  options: TurnModelsOptions,
  turn: RoutedTurn,
): Promise<TurnModels | string> {
  const { modelTroubles, log } = options;
  const main = await options.chooseModels(turn);
  if (main.kind === 'none') return main.message;
  const side = new Map<SideWork, Route & { kind: 'models' }>();
  for (const work of SIDE_WORK) {
    const route = await options.chooseModels({ ...turn, taskType: work, pool: undefined });
    if (route.kind === 'models' && !isSame(route.models, main.models)) side.set(work, route);
  }
  const routes = [main, ...side.values()];
  const failures = new Map<string, ModelFailure>();
  const notices = new Set<string>(routes.flatMap(({ notice }) => notice ?? []));
  const routesOf = ({ id }: Model) =>
    routes.filter(({ models }) => models.some((model) => model.id === id));
  return {
    models: main.models,
    sideModels: Object.fromEntries([...side].map(([work, { models }]) => [work, models])),
    passedOver(model, failure) {
      noteKey(options, model, failure);
      failures.set(model.id, failure);
      const { message } = failure;
      if (modelTroubles.note(model.id, failure)) {
        log.warn('a model gave no answer, the next one is asked', { model: model.id, message });
      }
      for (const route of routesOf(model)) {
        const notice = route.onPassedOver?.(model.id, failure) ?? null;
        if (notice !== null) notices.add(notice);
      }
    },
    answered(model) {
      options.store.keyTroubles.forget(providerOf(model));
      modelTroubles.forget(model.id);
      for (const route of routesOf(model)) route.onAnswer?.(model.id);
    },
    promptCut(model, cut) {
      if (!modelTroubles.noteCut(model.id)) return;
      log.warn('the server of a model left out a part of the prompt', { model: model.id, ...cut });
      options.tellOwner(cutInWords(model, cut));
    },
    async notices() {
      // What a task says may be read by a program.
      if (turn.taskType !== 'chat') return [...notices];
      const gone = await Promise.all(
        [...failures].map((one) => modelTroubles.lineAboutGone(turn.group.folder, ...one)),
      );
      return [...notices, ...gone.filter((line) => line !== null)];
    },
  };
}

/** Warns of a key that is refused, once: another model answers, so nothing else would tell. */
function noteKey(
  { store, now, tellOwner }: TurnModelsOptions,
  model: Model,
  failure: ModelFailure,
) {
  if (failure.reason !== 'key') return;
  const trouble = { provider: providerOf(model), since: now(), message: failure.message };
  if (!store.keyTroubles.note(trouble)) return;
  tellOwner(
    `${failure.message} Until then other models answer in place of those of ${trouble.provider}.`,
  );
}

function cutInWords({ id }: Model, { sentTokens, countedTokens }: CutPrompt): string {
  const [counted, sent] = [countedTokens, sentTokens].map((count) => count.toLocaleString('en'));
  return (
    `The server of ${id} read only ${counted} of about ${sent} tokens of a prompt, so its model did not see the whole conversation. ` +
    'Give the model a larger window (Ollama: start it with `OLLAMA_CONTEXT_LENGTH=32768`, or set `num_ctx`), and set `MODEL_CONTEXT` in .env to the same number. I say this once for each model.'
  );
}

function providerOf({ id }: Model): string {
  return id.split('/', 1)[0] ?? id;
}

/** Tells whether the same models are asked in the same way; what a router adds to one makes it another. */
function isSame(one: Candidates, other: Candidates): boolean {
  return (
    one.length === other.length &&
    one.every((model, at) => model.id === other[at]?.id && model.server === other[at]?.server)
  );
}
