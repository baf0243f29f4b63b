import Database from 'better-sqlite3';
import { openStore } from '../store/store.ts';

/** How much was said so far, over how many chats; one answer, in the first of them, is as long as a tool's output. */
export type LongHistory = {
  readonly path: string;
  readonly chats: number;
  readonly messages: number;
  readonly longBytes: number;
};

/** The address of a chat of `fillHistory`, by its number. */
export const chatOf = (at: number): string => `chat:room${at}`;

const WORDS =
  'the kettle is on and somebody has to buy milk bread apples before the train leaves at nine'.split(
    ' ',
  );

/**
 * Fills the database of an assistant that does not run with chats and what was said there, in one transaction. Every
 * fifth entry is an answer, with a list and a table as models write them.
 */
export function fillHistory({ path, chats, messages, longBytes }: LongHistory): void {
  const store = openStore({ path, now: 0 });
  store.transaction(() => {
    for (let at = 0; at < chats; at += 1) {
      const [jid, name] = [chatOf(at), `Room ${at}`];
      store.chats.see({ jid, channel: 'chat', name, isDirect: false }, 1);
      const group = { jid, folder: `room${at}`, name, triggerWord: null };
      store.groups.register({ ...group, needsTrigger: false, isMain: false }, 1);
    }
  });
  store.close();
  const database = new Database(path);
  // It is made anew where the machine fails meanwhile.
  database.pragma('synchronous = OFF');
  const message = database.prepare(
    "INSERT INTO messages (jid, id, sender, sender_name, is_owner, text, sent_at, stored_at) VALUES (?, ?, 'ada', 'Ada', 0, ?, ?, ?)",
  );
  const answer = database.prepare('INSERT INTO answers (jid, text, said_at) VALUES (?, ?, ?)');
  database.transaction(() => {
    for (let at = 0; at < messages; at += 1) {
      const jid = chatOf(at % chats);
      const text = sentence(at);
      const isAnswer = Math.floor(at / chats) % 5 === 4;
      if (isAnswer)
        answer.run(
          jid,
          `**${text}**\n\n- ${sentence(at + 1)}\n- ${sentence(at + 2)}\n\n| a | b |\n|---|---|\n| ${at} | 2 |`,
          at,
        );
      else message.run(jid, `m${at}`, text, at, at);
    }
    if (longBytes > 0) answer.run(chatOf(0), longText(longBytes), messages);
  })();
  database.close();
}

/** What a tool has printed, in lines. */
function longText(bytes: number): string {
  const line = (at: number) => `${at} ${sentence(at)}\n`;
  let text = 'Output:\n\n```\n';
  for (let at = 0; text.length < bytes; at += 1) text += line(at);
  return `${text}\`\`\`\n`;
}

function sentence(at: number): string {
  const length = 6 + (at % 14);
  return Array.from({ length }, (_, word) => WORDS[(at * 7 + word * 3) % WORDS.length]).join(' ');
}
