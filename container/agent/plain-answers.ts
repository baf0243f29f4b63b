import { type LanguageModelMiddleware, wrapLanguageModel } from 'ai';
import { ThoughtFilter, withoutThoughts } from '../../src/lib/thoughts.ts';

type Wrapped = ReturnType<typeof wrapLanguageModel>;
type StreamCall = Parameters<NonNullable<LanguageModelMiddleware['wrapStream']>>[0];
type StreamPart =
  Awaited<ReturnType<StreamCall['doStream']>>['stream'] extends ReadableStream<infer Part>
    ? Part
    : never;

/** Models that leave out the beginning of their thoughts, by name; found when such a thought ends. */
const beginInThought = new Set<string>();

export type PlainAnswerParts = {
  readonly model: Parameters<typeof wrapLanguageModel>[0]['model'];
  /** The longest answer where the call names none. */
  readonly answerTokens: number | undefined;
  /** How freely the model chooses its words where the call does not say it. */
  readonly temperature: number | undefined;
};

/**
 * Returns the model with two changes: its answers contain no thoughts between tags, and the owner's settings apply if
 * the call has none.
 */
export function withPlainAnswers({ model, answerTokens, temperature }: PlainAnswerParts): Wrapped {
  return wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: 'v4',
      transformParams: async ({ params }) => {
        const maxOutputTokens = params.maxOutputTokens ?? answerTokens;
        const ownTemperature = params.temperature ?? temperature;
        return {
          ...params,
          ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
          ...(ownTemperature === undefined ? {} : { temperature: ownTemperature }),
        };
      },
      async wrapStream({ doStream }) {
        const { stream, ...rest } = await doStream();
        return { ...rest, stream: stream.pipeThrough(plainText(model.modelId)) };
      },
      async wrapGenerate({ doGenerate }) {
        const answer = await doGenerate();
        const content = answer.content.map((part) =>
          part.type === 'text' ? { ...part, text: withoutThoughts(part.text) } : part,
        );
        return { ...answer, content };
      },
    },
  });
}

/** Marks the text before which all of the step was a thought: in the stream, since it is read later than it is written. */
const FORGET = { claw: { forget: true } };

/** Tells whether the text of this step turned out to be a thought whose opening tag was missing. */
export function wasThought({ providerMetadata }: { readonly providerMetadata?: unknown }): boolean {
  const marks = providerMetadata as { readonly claw?: { readonly forget?: unknown } } | undefined;
  return marks?.claw?.forget === true;
}

function plainText(model: string): TransformStream<StreamPart, StreamPart> {
  let isForgotten = false;
  const filters = new Map<string, ThoughtFilter>();
  return new TransformStream<StreamPart, StreamPart>({
    transform(part, controller) {
      if (part.type !== 'text-delta' && part.type !== 'text-end') return controller.enqueue(part);
      const filter = filters.get(part.id) ?? new ThoughtFilter(beginInThought.has(model));
      filters.set(part.id, filter);
      const isKnown = filter.beganInThought;
      const delta = part.type === 'text-end' ? filter.end() : filter.push(part.delta);
      if (filter.beganInThought && !isKnown) {
        beginInThought.add(model);
        isForgotten = true;
      }
      if (delta !== '') {
        const mark = isForgotten ? { providerMetadata: FORGET } : {};
        isForgotten = false;
        controller.enqueue({ type: 'text-delta', id: part.id, delta, ...mark });
      }
      if (part.type === 'text-end') controller.enqueue(part);
    },
  });
}
