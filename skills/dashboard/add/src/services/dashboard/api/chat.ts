import { z } from 'zod';
import { asCommand, isCommandText } from '../../../host/contracts/match-command.ts';
import type { ServiceContext } from '../../../host/contracts/service.ts';
import { ApiProblem, defineApi, does, mayDoAll, reads } from '../api.ts';
import { hasCode, withoutCodes } from '../entry-codes.ts';

const Jid = z.string().max(300);
const Seq = z.coerce.number().int().nonnegative();
const Text = z.string().trim().max(20_000);
/** The text of a memory may be below a command. */
const CommandText = z.string().trim().min(1).max(33_000);
const PAGE = 50;
const FOUND = 50;
/** Characters of a long text that are sent at a time. */
const PART = 100_000;

/** Chats, what was said in them, and what the owner says there. */
export const api = defineApi({
  name: 'chat',
  actions: {
    chats: reads(z.object({}), (_, { context }) => ({
      own: ownChat(context),
      chats: context.store.groups
        .all()
        .map(({ jid, name, folder, isMain }) => ({ jid, name, folder, isMain })),
    })),
    history: reads(
      z.object({ jid: Jid, message: Seq.optional(), answer: Seq.optional() }),
      ({ jid, message, answer }, { context: { store, owner } }) => {
        const before = message === undefined || answer === undefined ? null : { message, answer };
        const entries = store.history.page(jid, before, PAGE);
        return { entries, isAll: entries.length < PAGE, questions: owner.questions(jid) };
      },
    ),
    whole: reads(
      z.object({ jid: Jid, kind: z.enum(['message', 'answer']), seq: Seq, from: Seq.default(0) }),
      ({ jid, kind, seq, from }, { context, device }) => {
        const text = context.store.history.whole(jid, kind, seq);
        // A part that begins inside of a code does not look like one.
        const shown = mayDoAll(device) || text === null ? text : withoutCodes(text);
        return shown?.slice(from, from + PART) ?? null;
      },
    ),
    search: reads(
      z.object({ text: z.string().trim().min(1).max(200) }),
      ({ text }, { context, device }) => {
        const { store, now } = context;
        const names = new Map(store.groups.all().map(({ jid, name }) => [jid, name]));
        // A part may not look like a code, and a code can be guessed by what is found.
        const isShown = ({
          jid,
          sender,
          seq,
        }: {
          jid: string;
          sender: string | null;
          seq: number;
        }) =>
          mayDoAll(device) ||
          !hasCode(store.history.whole(jid, sender === null ? 'answer' : 'message', seq) ?? '');
        return store.search
          .find({ jids: [...names.keys()], text, from: 0, until: now() + 86_400_000, limit: FOUND })
          .filter(isShown)
          .map((hit) => ({ ...hit, chat: names.get(hit.jid) ?? hit.jid }));
      },
    ),
    models: reads(z.object({ jid: Jid }), async ({ jid }, { context: { store, models } }) => ({
      now: models.of(store.groups.byJid(jid)?.folder ?? null),
      lists: await models.lists(),
    })),
    say: does(
      'talk',
      z
        .object({
          jid: Jid,
          text: Text,
          file: z.object({ id: z.uuid(), name: z.string().max(200) }).optional(),
        })
        .refine(({ text, file }) => text !== '' || file !== undefined),
      async ({ jid, text, file }, { context, device, takeFile }) => {
        // A command may do all that the owner may, whichever way it is said.
        const isTalk = !mayDoAll(device);
        const isMore = isCommandText(asCommand(text)) || mayAnswer(context, jid);
        if (isTalk && isMore) {
          throw new ApiProblem(
            'This browser may speak in chats. It gives no commands, and answers no questions.',
            'only-talk',
          );
        }
        const content = file === undefined ? null : takeFile(file.id);
        if (file !== undefined && content === null) {
          throw new ApiProblem('The file did not arrive. Send it again.', 'no-file');
        }
        const sent = file && content ? { name: file.name, content } : undefined;
        return { id: await context.owner.say(jid, text, sent, { isTalk }).catch(asProblem) };
      },
    ),
    command: does('admin', z.object({ text: CommandText }), async ({ text }, { context }) => {
      const jid = ownChat(context);
      if (jid === null)
        throw new ApiProblem('There is no chat of yours to give a command in.', 'no-own-chat');
      return { jid, id: await context.owner.say(jid, `/${text}`).catch(asProblem) };
    }),
    answer: does(
      'admin',
      z.object({ jid: Jid, id: z.string().max(100), word: z.string().max(100) }),
      async ({ jid, id, word }, { context: { owner } }) => {
        const question = owner.questions(jid).find((one) => one.id === id);
        if (question === undefined)
          throw new ApiProblem('This question is not open any more.', 'not-open');
        return { outcome: await owner.answer(question, word) };
      },
    ),
  },
});

/** Returns the owner's chat that is always there, in which commands of the page are given. */
function ownChat({ store }: ServiceContext): string | null {
  const mains = store.groups.all().filter(({ isMain }) => isMain);
  const terminal = mains.find(({ jid }) => jid.startsWith('terminal:'));
  return (terminal ?? mains[0])?.jid ?? null;
}

/**
 * An answer to a question may allow anything, in words as by a press; so while one is open for the owner, only a browser
 * that may do all speaks there. What the others say is never an answer, also to a question that is put meanwhile.
 */
function mayAnswer({ owner }: ServiceContext, jid: string): boolean {
  return owner.questions(jid).some(({ isForOwner }) => isForOwner);
}

function asProblem(error: unknown): never {
  throw new ApiProblem(error instanceof Error ? error.message : String(error));
}
