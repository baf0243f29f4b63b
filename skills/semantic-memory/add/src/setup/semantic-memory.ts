import { chooseModel } from '../tools/semantic-memory/embedder.ts';
import { LOCAL, MemoryEnvironment } from '../tools/semantic-memory/settings.ts';
import { defineSetup } from './step.ts';

const TIMEOUT_MS = 30_000;

/** Chooses what makes the vectors of the memory. */
export const setup = defineSetup({
  name: 'semantic-memory',
  help: 'choose the model by which notes are found by their meaning',
  settings: MemoryEnvironment.pick({ EMBEDDING_MODEL: true }),
  currentState: ({ settings: { EMBEDDING_MODEL: model } }) =>
    model === undefined || model === LOCAL ? null : `embeddings by ${model}`,
  async run({ ask, say, write, settings, embed }) {
    const { model: proposed, installed } = await chooseModel(settings.EMBEDDING_MODEL);
    say(
      'A model finds notes in other words than yours. One of a server reads all that is said. `local` asks none, and finds words and parts of words.',
    );
    for (const { name } of installed) say(`\`${name}\` works on this machine, without a server.`);
    let dimensions: number | null = null;
    const model = await ask({
      message: 'The embedding model, such as openai/text-embedding-3-small, or local',
      proposed,
      async check(typed) {
        const wrong = MemoryEnvironment.safeParse({ EMBEDDING_MODEL: typed }).error?.issues[0];
        if (wrong !== undefined) return `It ${wrong.message}.`;
        if (typed === LOCAL) return null;
        const result = await embed({
          model: typed,
          texts: ['hello, how are you?'],
          timeoutMs: TIMEOUT_MS,
        });
        if (result.kind === 'failed') return result.message;
        dimensions = result.vectors[0]?.length ?? null;
        return null;
      },
    });
    write({ EMBEDDING_MODEL: model });
    const size = dimensions === null ? '' : ` It answers with ${dimensions} numbers.`;
    return {
      summary: `Notes are found by embeddings of ${model}.${size} Those that are kept are made again where it is another than before.`,
      data: { model, dimensions },
    };
  },
});
