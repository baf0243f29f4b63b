import { wrapLanguageModel } from 'ai';

/** More than any model needs in one step; they run beside each other. */
export const MAX_CALLS = 128;

/** A model that called more tools in one step than any needs. */
export class TooManyCalls extends Error {
  override readonly name = 'TooManyCalls';

  constructor() {
    super(
      `The model called more than ${MAX_CALLS} tools at once and was stopped; the first of them may have run. Ask for less at a time, or choose another model with \`/model\`.`,
    );
  }
}

type Wrapped = ReturnType<typeof wrapLanguageModel>;
type StreamPart =
  Awaited<ReturnType<Wrapped['doStream']>>['stream'] extends ReadableStream<infer Part>
    ? Part
    : never;

/** Returns the model, whose answers end with `TooManyCalls` at the call of a tool that is one too many. */
export function withBoundedCalls(model: Parameters<typeof wrapLanguageModel>[0]['model']): Wrapped {
  return wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: 'v4',
      async wrapStream({ doStream }) {
        const { stream, ...rest } = await doStream();
        // A call is begun before it is whole, and a model may begin them without end.
        let [begun, calls] = [0, 0];
        const bounded = new TransformStream<StreamPart, StreamPart>({
          transform(part, controller) {
            if (part.type === 'tool-call') calls += 1;
            if (part.type === 'tool-input-start') begun += 1;
            if (Math.max(begun, calls) > MAX_CALLS) throw new TooManyCalls();
            controller.enqueue(part);
          },
        });
        return { ...rest, stream: stream.pipeThrough(bounded) };
      },
      async wrapGenerate({ doGenerate }) {
        const answer = await doGenerate();
        const calls = answer.content.filter(({ type }) => type === 'tool-call').length;
        if (calls > MAX_CALLS) throw new TooManyCalls();
        return answer;
      },
    },
  });
}
